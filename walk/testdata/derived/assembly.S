// Functions in assembly, with rules: what no compiler writes. crash(n) crashes if n is the place.
	.intel_syntax noprefix
	.macro FUNCTION name
	.globl	\name
	.type	\name, @function
\name:
	.cfi_startproc
	.endm
	.macro END name
	.cfi_endproc
	.size	\name, .-\name
	.endm
	.macro AT n
	mov	edi, \n
	call	crash
	.endm
	.text

FUNCTION pushes // arguments are pushed, and their caller removes them
	push	rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbx, 0
	push	1
	.cfi_adjust_cfa_offset 8
	push	2
	.cfi_adjust_cfa_offset 8
	AT	0
	add	rsp, 16
	.cfi_adjust_cfa_offset -16
	pop	rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore rbx
	jmp	enters
END pushes

FUNCTION enters // enter and leave
	enter	80, 0
	.cfi_def_cfa rbp, 16
	.cfi_offset rbp, -16
	AT	1
	call	moves
	leave
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	ret
END enters

FUNCTION moves // registers are saved by mov
	sub	rsp, 40
	.cfi_adjust_cfa_offset 40
	mov	[rsp+24], r12
	.cfi_rel_offset r12, 24
	mov	[rsp+16], rbp
	.cfi_rel_offset rbp, 16
	xor	r12d, r12d
	mov	ebp, 3
	AT	2
1:	inc	r12
	dec	ebp
	jnz	1b
	call	switches
	mov	rbp, [rsp+16]
	.cfi_restore rbp
	mov	r12, [rsp+24]
	.cfi_restore r12
	lea	rsp, [rsp+40]
	.cfi_adjust_cfa_offset -40
	ret
END moves

FUNCTION switches // a table of offsets, with a case that has a frame of its own
	sub	rsp, 8
	.cfi_adjust_cfa_offset 8
	mov	eax, 2
	xor	ecx, ecx
	cmp	dword ptr place[rip], 3
	cmove	eax, ecx
	cmp	eax, 3
	ja	9f
	lea	rdx, table[rip]
	movsxd	rax, dword ptr [rdx+rax*4]
	add	rax, rdx
	jmp	rax
5:	AT	3
	jmp	9f
6:	push	r13
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset r13, 0
	sub	rsp, 8
	.cfi_adjust_cfa_offset 8
	AT	4
	call	aligns
	add	rsp, 8
	.cfi_adjust_cfa_offset -8
	pop	r13
	.cfi_adjust_cfa_offset -8
	.cfi_restore r13
9:	add	rsp, 8
	.cfi_adjust_cfa_offset -8
	ret
END switches
	.section .rodata
	.balign	4
table:	.long	5b-table, 5b-table, 6b-table, 9b-table
	.text

FUNCTION aligns // rsp is aligned, and kept in a register
	push	r14
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset r14, 0
	mov	r14, rsp
	.cfi_def_cfa_register r14
	sub	rsp, 100
	and	rsp, -64
	AT	5
	call	early
	mov	rsp, r14
	.cfi_def_cfa_register rsp
	pop	r14
	.cfi_adjust_cfa_offset -8
	.cfi_restore r14
	ret
END aligns

FUNCTION early // returns early, before there is a frame
	test	rsp, rsp
	jnz	1f
	ret
1:	push	rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbp, 0
	mov	rbp, rsp
	.cfi_def_cfa_register rbp
	push	rbx
	.cfi_offset rbx, -24
	push	r15
	.cfi_offset r15, -32
	AT	6
	call	red
	lea	rsp, [rbp-16]
	pop	r15
	pop	rbx
	pop	rbp
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	ret
END early

FUNCTION red // a leaf that uses the red zone, and saves flags
	mov	[rsp-16], rbx
	mov	[rsp-24], r12
	xor	ebx, ebx
	cmp	dword ptr place[rip], 7
	jne	1f
	mov	dword ptr [8], 7
1:	pushfq
	.cfi_adjust_cfa_offset 8
	cld
	popfq
	.cfi_adjust_cfa_offset -8
	mov	rbx, [rsp-16]
	sub	rsp, 0x1008
	.cfi_adjust_cfa_offset 0x1008
	or	dword ptr [rsp], 0
	AT	8
	call	copies
	add	rsp, 0x1008
	.cfi_adjust_cfa_offset -0x1008
	ret
END red

FUNCTION copies // string instructions, and a call through a register
	push	rdi
	.cfi_adjust_cfa_offset 8
	lea	rax, crash[rip]
	mov	edi, 9
	call	rax
	pop	rdi
	.cfi_adjust_cfa_offset -8
	ret
END copies
	.section .note.GNU-stack, "", @progbits
