# References that never end: an origin that is itself, two that name each other, a chain longer than any compiler's,
# and one out of the section.
	.text
	.globl selfish, mutual, chained, outside
selfish: .fill 8, 1, 0x90
mutual:	.fill 8, 1, 0x90
chained: .fill 8, 1, 0x90
outside: .fill 8, 1, 0x90

	.section .debug_abbrev,"",@progbits
	.uleb128 1, 0x11
	.byte 1
	.uleb128 0x03, 0x08, 0, 0
	.uleb128 2, 0x2e         # origin, code
	.byte 0
	.uleb128 0x31, 0x13, 0x11, 0x01, 0x12, 0x0b, 0, 0
	.uleb128 3, 0x2e         # specification only
	.byte 0
	.uleb128 0x47, 0x13, 0, 0
	.uleb128 4, 0x2e         # the end of the chain
	.byte 0
	.uleb128 0x03, 0x08, 0, 0
	.byte 0

	.section .debug_info,"",@progbits
unit:	.long 2f-1f
1:	.short 4
	.long 0
	.byte 8
	.uleb128 1
	.asciz "cycle.c"
self:	.uleb128 2
	.long self-unit
	.quad selfish
	.byte 8
m1:	.uleb128 2
	.long m2-unit
	.quad mutual
	.byte 8
m2:	.uleb128 3
	.long m1-unit
	.uleb128 2
	.long chain-unit
	.quad chained
	.byte 8
chain:
	.rept 200
	.uleb128 3
	.long .+4-unit
	.endr
	.uleb128 4
	.asciz "end_of_chain"
	.uleb128 2
	.long 0x7fffffff
	.quad outside
	.byte 8
	.byte 0
2:
	.section .note.GNU-stack,"",@progbits
