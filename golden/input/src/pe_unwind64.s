# x64 unwind codes of every kind, in functions that LLVM's compiler would not make.
	.text
	.globl frame_reg, save_xmm, large_alloc, huge_alloc, chained, push_frame, late_saves, push_frame_err, two_epilogs, tail_jump
	.def frame_reg; .scl 2; .type 32; .endef
	.seh_proc frame_reg
frame_reg:
	pushq %rbp
	.seh_pushreg %rbp
	subq $0x70, %rsp
	.seh_stackalloc 0x70
	leaq 0x20(%rsp), %rbp
	.seh_setframe %rbp, 0x20
	.seh_endprologue
	subq %rax, %rsp
	nop
	leaq 0x50(%rbp), %rsp
	popq %rbp
	ret
	.seh_endproc

	.def save_xmm; .scl 2; .type 32; .endef
	.seh_proc save_xmm
save_xmm:
	subq $0x68, %rsp
	.seh_stackalloc 0x68
	movaps %xmm6, 0x20(%rsp)
	.seh_savexmm %xmm6, 0x20
	movaps %xmm15, 0x40(%rsp)
	.seh_savexmm %xmm15, 0x40
	movq %rsi, 0x70(%rsp)
	.seh_savereg %rsi, 0x70
	movq %rdi, 0x78(%rsp)
	.seh_savereg %rdi, 0x78
	.seh_endprologue
	nop
	movaps 0x20(%rsp), %xmm6
	movaps 0x40(%rsp), %xmm15
	movq 0x70(%rsp), %rsi
	movq 0x78(%rsp), %rdi
	addq $0x68, %rsp
	ret
	.seh_endproc

	.def large_alloc; .scl 2; .type 32; .endef
	.seh_proc large_alloc
large_alloc:
	pushq %rbx
	.seh_pushreg %rbx
	pushq %r12
	.seh_pushreg %r12
	movl $0x12348, %eax
	callq __chkstk
	subq %rax, %rsp
	.seh_stackalloc 0x12348
	.seh_endprologue
	nop
	addq $0x12348, %rsp
	popq %r12
	popq %rbx
	ret
	.seh_endproc

	.def huge_alloc; .scl 2; .type 32; .endef
	.seh_proc huge_alloc
huge_alloc:
	movl $0x1234568, %eax
	subq %rax, %rsp
	.seh_stackalloc 0x1234568
	movq %rbx, 0x100000(%rsp)
	.seh_savereg %rbx, 0x100000
	movaps %xmm7, 0x200000(%rsp)
	.seh_savexmm %xmm7, 0x200000
	.seh_endprologue
	nop
	movq 0x100000(%rsp), %rbx
	movaps 0x200000(%rsp), %xmm7
	addq $0x1234568, %rsp
	ret
	.seh_endproc

	.def push_frame; .scl 2; .type 32; .endef
	.seh_proc push_frame
push_frame:
	.seh_pushframe
	pushq %rbp
	.seh_pushreg %rbp
	subq $0x30, %rsp
	.seh_stackalloc 0x30
	.seh_endprologue
	nop
	addq $0x30, %rsp
	popq %rbp
	iretq
	.seh_endproc

	.def push_frame_err; .scl 2; .type 32; .endef
	.seh_proc push_frame_err
push_frame_err:
	.seh_pushframe @code
	subq $0x28, %rsp
	.seh_stackalloc 0x28
	.seh_endprologue
	nop
	addq $0x30, %rsp
	iretq
	.seh_endproc

	.def chained; .scl 2; .type 32; .endef
	.seh_proc chained
chained:
	pushq %rbx
	.seh_pushreg %rbx
	subq $0x40, %rsp
	.seh_stackalloc 0x40
	.seh_endprologue
	testq %rcx, %rcx
	je .Lout
	.seh_startchained
	movq %rsi, 0x60(%rsp)
	.seh_savereg %rsi, 0x60
	movq %r14, 0x68(%rsp)
	.seh_savereg %r14, 0x68
	.seh_endprologue
	movq %rcx, %rsi
	nop
	movq 0x60(%rsp), %rsi
	movq 0x68(%rsp), %r14
	.seh_endchained
.Lout:
	addq $0x40, %rsp
	popq %rbx
	ret
	.seh_endproc

	.def late_saves; .scl 2; .type 32; .endef
	.seh_proc late_saves
late_saves:
	movq %rbx, 8(%rsp)
	pushq %rdi
	.seh_pushreg %rdi
	subq $0x20, %rsp
	.seh_stackalloc 0x20
	.seh_savereg %rbx, 0x30
	.seh_endprologue
	nop
	movq 0x30(%rsp), %rbx
	addq $0x20, %rsp
	popq %rdi
	ret
	.seh_endproc

	.def two_epilogs; .scl 2; .type 32; .endef
	.seh_proc two_epilogs
two_epilogs:
	pushq %rsi
	.seh_pushreg %rsi
	subq $0x20, %rsp
	.seh_stackalloc 0x20
	.seh_endprologue
	testl %ecx, %ecx
	jne 1f
	addq $0x20, %rsp
	popq %rsi
	ret
1:	nop
	addq $0x20, %rsp
	popq %rsi
	ret
	.seh_endproc

	.def tail_jump; .scl 2; .type 32; .endef
	.seh_proc tail_jump
tail_jump:
	subq $0x28, %rsp
	.seh_stackalloc 0x28
	.seh_endprologue
	nop
	addq $0x28, %rsp
	jmp two_epilogs
	.seh_endproc

	.globl no_unwind_leaf
	.def no_unwind_leaf; .scl 2; .type 32; .endef
no_unwind_leaf:
	leaq 1(%rcx), %rax
	ret

	.globl __chkstk
__chkstk:
	ret

	# No entry, and no leaf either: nothing is to be said of it.
	.globl uncovered
	.p2align 4
uncovered:
	pushq %rax
	nop
	popq %rax
	ret
	.p2align 4, 0xcc

	.globl leaf
leaf:
	movl %ecx, %eax
	ret
