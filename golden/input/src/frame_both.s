# Both sections describe both functions, and one is only in each. .debug_frame has CIE version 4 or as the command says.
	.cfi_sections .eh_frame, .debug_frame
	.text
	.globl both
	.type both, @function
both:
	.cfi_startproc
	push %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	nop
	pop %rbx
	.cfi_restore %rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size both, .-both
	.section .note.GNU-stack,"",@progbits
