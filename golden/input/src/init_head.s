# The first parts of _init and _fini; those of init_tail.s follow in the same sections.
	.section .init,"ax",@progbits
	.globl _init
	.type _init, @function
_init:
	endbr64
	subq $8, %rsp

	.section .fini,"ax",@progbits
	.globl _fini
	.type _fini, @function
_fini:
	endbr64
	subq $8, %rsp
