# A note of another owner, of the type of a build id, before the GNU note.
	.section .note.GNU-stack,"",@progbits
	.section .note.Xen,"a",@note
	.balign 4
	.long 4, 8, 3
	.asciz "Xen"
	.quad 0x1122334455667788
