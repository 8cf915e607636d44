# Functions with what SFrame has rows for: a saved frame pointer, a frame of its
# own, a tail that leaves early; and a call through the PLT.
	.text
	.globl plain, framed
	.type plain, @function
plain:
	.cfi_startproc
	pushq %rbx
	.cfi_def_cfa_offset 16
	call elsewhere@PLT
	popq %rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size plain, . - plain
	.type framed, @function
framed:
	.cfi_startproc
	pushq %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq %rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq $2000, %rsp
	call plain@PLT
	leave
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size framed, . - framed
	.section .note.GNU-stack, "", @progbits
