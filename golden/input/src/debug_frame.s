# A .debug_frame written out: CIE versions 1, 3 and 4, an address size and a segment size, 64-bit DWARF, an unknown augmentation.
	.text
	.globl v1, v3, v4, v64, strange
	.macro func name
	.type \name, @function
\name:	.fill 16, 1, 0x90
\name\()_end:
	.size \name, 16
	.endm
	func v1
	func v3
	func v4
	func v64
	func strange

	.section .debug_frame,"",@progbits
cie1:	.long 2f-1f
1:	.long -1
	.byte 1
	.asciz ""
	.uleb128 1
	.sleb128 -8
	.byte 16
	.byte 0x0c, 7, 8, 0x90, 1
	.balign 8, 0
2:	.long 2f-1f
1:	.long cie1
	.quad v1, v1_end-v1
	.byte 0x01               # set_loc
	.quad v1+4
	.byte 0x0e, 16
	.balign 8, 0
2:
cie3:	.long 2f-1f
1:	.long -1
	.byte 3
	.asciz ""
	.uleb128 1
	.sleb128 -8
	.uleb128 16
	.byte 0x0c, 7, 8, 0x90, 1
	.balign 8, 0
2:	.long 2f-1f
1:	.long cie3
	.quad v3, v3_end-v3
	.byte 0x44, 0x0e, 24
	.balign 8, 0
2:
cie4:	.long 2f-1f
1:	.long -1
	.byte 4
	.asciz ""
	.byte 8, 0
	.uleb128 2               # code alignment
	.sleb128 -4              # data alignment
	.uleb128 16
	.byte 0x0c, 7, 8, 0x90, 2
	.balign 8, 0
2:	.long 2f-1f
1:	.long cie4
	.quad v4, v4_end-v4
	.byte 0x42, 0x0e, 16, 0x83, 4
	.byte 0x43, 0xc3
	.balign 8, 0
2:
cie64:	.long -1
	.quad 2f-1f
1:	.quad -1
	.byte 4
	.asciz ""
	.byte 8, 0
	.uleb128 1
	.sleb128 -8
	.uleb128 16
	.byte 0x0c, 7, 8, 0x90, 1
	.balign 8, 0
2:	.long -1
	.quad 2f-1f
1:	.quad cie64
	.quad v64, v64_end-v64
	.byte 0x1d               # MIPS_advance_loc8
	.quad 5
	.byte 0x0e, 40
	.balign 8, 0
2:
odd:	.long 2f-1f
1:	.long -1
	.byte 4
	.asciz "vendor"
	.byte 8, 0
	.uleb128 1
	.sleb128 -8
	.uleb128 16
	.byte 0x0c, 7, 8, 0x90, 1
	.balign 8, 0
2:	.long 2f-1f
1:	.long odd
	.quad strange, strange_end-strange
	.balign 8, 0
2:
	.section .note.GNU-stack,"",@progbits
