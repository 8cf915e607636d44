# Functions in assembly: lines come from -g, or from the .loc of a compiler.
	.text
	.globl asm_first
	.type asm_first, @function
asm_first:
	.cfi_startproc
	pushq %rbp
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbp, -16
	movq %rsp, %rbp
	.cfi_def_cfa_register %rbp
	nop
	popq %rbp
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
	.cfi_endproc
	.size asm_first, .-asm_first

	.type asm_local, @function
asm_local:
	.cfi_startproc
	xorl %eax, %eax
	ret
	.cfi_endproc
	.size asm_local, .-asm_local

	.globl asm_notype
asm_notype:
	nop
	ret

	.section .text.apart,"ax",@progbits
	.globl asm_apart
	.type asm_apart, @function
asm_apart:
	nop
	nop
	ret
	.size asm_apart, .-asm_apart
	.section .note.GNU-stack,"",@progbits
