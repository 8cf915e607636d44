# The last parts of _init and _fini, and code of its own without a symbol.
	.section .init,"ax",@progbits
	addq $8, %rsp
	ret

	.section .fini,"ax",@progbits
	addq $8, %rsp
	ret

	.text
	nop
	ret
