	.globl _start
	.type _start, @function
_start:
	.cfi_startproc
	.cfi_undefined rip
	xor %ebp, %ebp
	mov (%rsp), %rdi
	and $-16, %rsp
	call main
	mov $231, %eax
	syscall
	.cfi_endproc
	.size _start, .-_start

# bare(n, f): a large frame, and no rules.
	.globl bare
	.type bare, @function
bare:
	sub $1208, %rsp
	call *%rsi
	add $1208, %rsp
	ret
	.size bare, .-bare

# clone3(args, size, f, data), as C libraries have it: no rules from the system
# call on, and the new thread has no caller.
	.globl clone3
	.type clone3, @function
clone3:
	.cfi_startproc
	mov %rcx, %r8
	.cfi_endproc
	mov $435, %eax
	syscall
	test %rax, %rax
	jz 1f
	ret
1:
	.cfi_startproc
	.cfi_undefined rip
	xor %ebp, %ebp
	mov %r8, %rdi
	call *%rdx
	hlt
	.cfi_endproc
	.size clone3, .-clone3

# into(f): through a function of a name of Go's, which goes over to another stack
# and whose rules do not say so.
	.globl into
	.type into, @function
into:
	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	mov %rdi, %rax
	xor %edi, %edi
	call runtime.mcall
	pop %rbp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size into, .-into

	.globl runtime.mcall
	.type runtime.mcall, @function
runtime.mcall:
	.cfi_startproc
	lea stack+4096-64(%rip), %rsp
	call *%rax
	hlt
	.cfi_endproc
	.size runtime.mcall, .-runtime.mcall

# What a fault in Go's code calls: runtime.sigpanic, which crashes below.
	.globl injected
	.type injected, @function
injected:
	.cfi_startproc
	jmp runtime.sigpanic
	.cfi_endproc
	.size injected, .-injected

	.globl runtime.sigpanic
	.type runtime.sigpanic, @function
runtime.sigpanic:
	.cfi_startproc
	sub $8, %rsp
	.cfi_def_cfa_offset 16
	call down
	ud2
	.cfi_endproc
	.size runtime.sigpanic, .-runtime.sigpanic

	.type down, @function
down:
	.cfi_startproc
	ud2
	.cfi_endproc
	.size down, .-down

	.globl restorer
	.globl __restore_rt
	.type __restore_rt, @function
restorer:
__restore_rt:
	mov $15, %rax
	syscall
	.size __restore_rt, .-__restore_rt

	.data
	.balign 16
stack:
	.fill 4096-64, 1, 0
	.quad 0x1ffffffffffff78
	.fill 56, 1, 0

	.section .note.GNU-stack, "", @progbits
