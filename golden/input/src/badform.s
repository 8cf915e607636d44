# Three units. The second has a form that nobody has defined: it costs that unit, not its neighbours.
	.text
	.globl before, lost, after
before:	.fill 8, 1, 0x90
lost:	.fill 8, 1, 0x90
after:	.fill 8, 1, 0x90

	.section .debug_abbrev,"",@progbits
good:
	.uleb128 1, 0x11
	.byte 1
	.uleb128 0x03, 0x08, 0, 0
	.uleb128 2, 0x2e
	.byte 0
	.uleb128 0x03, 0x08, 0x11, 0x01, 0x12, 0x0b, 0, 0
	.byte 0
bad:
	.uleb128 1, 0x11
	.byte 1
	.uleb128 0x03, 0x08, 0, 0
	.uleb128 2, 0x2e
	.byte 0
	.uleb128 0x2107, 0x7f, 0x03, 0x08, 0x11, 0x01, 0x12, 0x0b, 0, 0
	.byte 0

	.macro unit abbrev, name, odd
	.long 2f-1f
1:	.short 4
	.long \abbrev
	.byte 8
	.uleb128 1
	.asciz "\name\().c"
	.uleb128 2
	\odd
	.asciz "\name"
	.quad \name
	.byte 8
	.byte 0
2:
	.endm
	.section .debug_info,"",@progbits
	unit good, before
	unit bad, lost, ".long 0"
	unit good, after
	.section .note.GNU-stack,"",@progbits
