# An .eh_frame written out: one CIE for each pointer encoding, the augmentations P, L, R, S, and the old "eh".
	.text
	.globl text_base
text_base:
	.macro func name
	.globl \name
	.type \name, @function
\name:	.fill 16, 1, 0x90
	.size \name, 16
	.endm
	func absptr
	func udata4
	func udata8
	func sdata4
	func sdata8
	func uleb
	func pc_absptr
	func pc_sdata4
	func pc_sdata8
	func pc_sdata2
	func textrel
	func aligned
	func plsr
	func eh
	func zero_aug

	.section .eh_frame,"a",@progbits
	.macro cie enc
	.long 92f-91f
91:	.long 0
	.byte 1
	.asciz "zR"
	.uleb128 1
	.sleb128 -8
	.uleb128 16
	.uleb128 1
	.byte \enc
	.byte 0x0c, 7, 8, 0x90, 1
	.balign 4, 0
92:
	.endm
	.macro fde what:vararg
	.long 94f-93f
93:	.long 93b-91b+4
	\what
	.uleb128 0
	.byte 0x44, 0x0e, 16
	.balign 4, 0
94:
	.endm
	cie 0x00
	fde .quad absptr, 16
	cie 0x03
	fde .long udata4, 16
	cie 0x04
	fde .quad udata8, 16
	cie 0x0b
	fde .long sdata4, 16
	cie 0x0c
	fde .quad sdata8, 16
	cie 0x01
	.long 94f-93f
93:	.long 93b-91b+4
	.uleb128 0x400340        # uleb, where -Ttext puts it
	.uleb128 16
	.uleb128 0
	.byte 0x44, 0x0e, 16
	.balign 4, 0
94:	cie 0x10
	fde .quad pc_absptr-., 16
	cie 0x1b
	fde .long pc_sdata4-., 16
	cie 0x1c
	fde .quad pc_sdata8-., 16
	cie 0x1a
	fde .short pc_sdata2-., 16
	cie 0x2b
	fde .long textrel-text_base, 16
	cie 0x50                 # aligned: the pointer lies at a multiple of its size
	.long 94f-93f
93:	.long 93b-91b+4
	.balign 8, 0
	.quad aligned, 16
	.uleb128 0
	.byte 0x44, 0x0e, 16
	.balign 4, 0
94:
	# P, L, R, S together; P is indirect and pc-relative.
	.long 92f-91f
91:	.long 0
	.byte 1
	.asciz "zPLRS"
	.uleb128 1
	.sleb128 -8
	.uleb128 16
	.uleb128 7
	.byte 0x9b
	.long personality_cell-.
	.byte 0x1b               # L
	.byte 0x1b               # R
	.byte 0x0c, 7, 8, 0x90, 1
	.balign 4, 0
92:	.long 94f-93f
93:	.long 93b-91b+4
	.long plsr-., 16
	.uleb128 4
	.long lsda-.
	.byte 0x44, 0x0e, 16
	.balign 4, 0
94:	# GCC 2: "eh" has a pointer before the alignment factors, and no lengths.
	.long 92f-91f
91:	.long 0
	.byte 1
	.asciz "eh"
	.quad personality_cell
	.uleb128 1
	.sleb128 -8
	.byte 16
	.byte 0x0c, 7, 8, 0x90, 1
	.balign 4, 0
92:	.long 94f-93f
93:	.long 93b-91b+4
	.quad eh, 16
	.byte 0x44, 0x0e, 16
	.balign 4, 0
94:	# No augmentation at all.
	.long 92f-91f
91:	.long 0
	.byte 1
	.asciz ""
	.uleb128 1
	.sleb128 -8
	.byte 16
	.byte 0x0c, 7, 8, 0x90, 1
	.balign 4, 0
92:	.long 94f-93f
93:	.long 93b-91b+4
	.quad zero_aug, 16
	.byte 0x44, 0x0e, 16
	.balign 4, 0
94:	.long 0                  # end of the section

	.data
	.balign 8
personality_cell: .quad text_base
lsda:	.quad 0
	.section .note.GNU-stack,"",@progbits
