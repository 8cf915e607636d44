# Every unwind code of x64 ("x64 exception handling", UNWIND_CODE), where compilers write few of them.
# fn NAME: a function with an entry in .pdata.
	.macro fn name
	.globl \name
	.def \name; .scl 2; .type 32; .endef
	.p2align 2, 0xcc
	.seh_proc \name
\name:
	.endm
	.macro push reg
	pushq %\reg
	.seh_pushreg %\reg
	.endm
	.macro room bytes
	subq $\bytes, %rsp
	.seh_stackalloc \bytes
	.endm

	.text
# UWOP_SET_FPREG, with another register than rbp and an offset.
	fn from_r13
	push r13
	push rbx
	room 0x98
	leaq 0x60(%rsp), %r13
	.seh_setframe %r13, 0x60
	.seh_endprologue
	subq %rcx, %rsp
	movq %rsp, %rbx
	leaq 0x38(%r13), %rsp
	popq %rbx
	popq %r13
	ret
	.seh_endproc

# UWOP_SAVE_XMM128 and UWOP_SAVE_NONVOL: registers that are stored, above and below the room.
	fn stored
	room 0x58
	movaps %xmm8, 0x10(%rsp)
	.seh_savexmm %xmm8, 0x10
	movaps %xmm11, 0x30(%rsp)
	.seh_savexmm %xmm11, 0x30
	movq %r15, 0x48(%rsp)
	.seh_savereg %r15, 0x48
	movq %rbp, 0x60(%rsp)
	.seh_savereg %rbp, 0x60
	.seh_endprologue
	xorl %ebp, %ebp
	movq 0x60(%rsp), %rbp
	movq 0x48(%rsp), %r15
	movaps 0x30(%rsp), %xmm11
	movaps 0x10(%rsp), %xmm8
	addq $0x58, %rsp
	ret
	.seh_endproc

# UWOP_ALLOC_LARGE with a size in 16 bits: up to 512 KiB.
	fn wide
	push rdi
	push r14
	push r12
	movl $0x23450, %eax
	callq __chkstk
	subq %rax, %rsp
	.seh_stackalloc 0x23450
	.seh_endprologue
	movq %rsp, %rdi
	addq $0x23450, %rsp
	popq %r12
	popq %r14
	popq %rdi
	ret
	.seh_endproc

# The same with 32 bits, and UWOP_SAVE_NONVOL_FAR, UWOP_SAVE_XMM128_FAR.
	fn wider
	movl $0x2000008, %eax
	callq __chkstk
	subq %rax, %rsp
	.seh_stackalloc 0x2000008
	movq %rsi, 0x180000(%rsp)
	.seh_savereg %rsi, 0x180000
	movaps %xmm6, 0x1ff0000(%rsp)
	.seh_savexmm %xmm6, 0x1ff0000
	.seh_endprologue
	xorl %esi, %esi
	movaps 0x1ff0000(%rsp), %xmm6
	movq 0x180000(%rsp), %rsi
	addq $0x2000008, %rsp
	ret
	.seh_endproc

# UWOP_PUSH_MACHFRAME: what the system pushes, without and with an error code.
	fn interrupted
	.seh_pushframe
	push rax
	room 0x40
	.seh_endprologue
	incl (%rsp)
	addq $0x40, %rsp
	popq %rax
	iretq
	.seh_endproc

	fn faulted
	.seh_pushframe @code
	push rbp
	room 0x20
	.seh_endprologue
	incl (%rsp)
	addq $0x20, %rsp
	popq %rbp
	addq $8, %rsp
	iretq
	.seh_endproc

# UNW_FLAG_CHAININFO: a part of a function that saves more.
	fn in_parts
	push rbp
	room 0x30
	.seh_endprologue
	cmpq %rcx, %rdx
	jbe .Lrest
	.seh_startchained
	movq %rdi, 0x48(%rsp)
	.seh_savereg %rdi, 0x48
	movq %rbx, 0x50(%rsp)
	.seh_savereg %rbx, 0x50
	.seh_endprologue
	movq %rdx, %rdi
	movq %rcx, %rbx
	movq 0x50(%rsp), %rbx
	movq 0x48(%rsp), %rdi
	.seh_endchained
.Lrest:
	addq $0x30, %rsp
	popq %rbp
	ret
	.seh_endproc

# A register is in its caller's home area before anything is pushed; its code comes last.
	fn home_first
	movq %rsi, 0x10(%rsp)
	push rbx
	room 0x28
	.seh_savereg %rsi, 0x40
	.seh_endprologue
	movl %ecx, %esi
	movq 0x40(%rsp), %rsi
	addq $0x28, %rsp
	popq %rbx
	ret
	.seh_endproc

# Three ways out: a return, a return of another form, a jump to another function.
	fn three_exits
	push rdi
	room 0x20
	.seh_endprologue
	cmpl $1, %ecx
	ja 1f
	je 2f
	addq $0x20, %rsp
	popq %rdi
	ret
1:	xorl %eax, %eax
	addq $0x20, %rsp
	popq %rdi
	rep ret
2:	nop
	addq $0x20, %rsp
	popq %rdi
	jmp stored
	.seh_endproc

# Without an entry: a leaf function, and after it the compiler's probe.
	.globl increment
	.def increment; .scl 2; .type 32; .endef
	.p2align 4, 0xcc
increment:
	leal 1(%rcx), %eax
	ret
	.p2align 4, 0xcc
	.globl __chkstk
__chkstk:
	ret

# Without an entry, though it moves the stack pointer: nothing is to be said of it.
	.p2align 4, 0xcc
unknown:
	subq $0x18, %rsp
	movq %rcx, (%rsp)
	addq $0x18, %rsp
	ret
	.p2align 4, 0xcc
