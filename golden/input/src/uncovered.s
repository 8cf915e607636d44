# Assembly without .cfi directives: 1.2 KB that calls, and a table behind it.
	.text
	.globl grind
	.type grind, @function
grind:
	push %rbx
	mov %edi, %ebx
	.rept 230
	imul $3, %ebx, %ebx
	add $7, %bl
	.endr
	call grain
	add %ebx, %eax
	pop %rbx
	ret
	.size grind, .-grind

	.p2align 6
	.rept 64
	.byte 0x06, 0x0e, 0x16, 0x1e
	.endr

	.p2align 4
	.type grain, @function
grain:
	lea 1(%rdi), %eax
	ret
	.size grain, .-grain
	.section .note.GNU-stack, "", @progbits
