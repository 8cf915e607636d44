# Call frame information: every instruction, by directive where there is one, else by .cfi_escape.
	.text
	.macro func name
	.globl \name
	.type \name, @function
\name:
	.endm
	.macro done name
	nop
	.cfi_endproc
	.size \name, .-\name
	.endm

func sigreturn           # as libc's __restore_rt: CFA and registers are expressions over the signal frame
	.cfi_startproc
	.cfi_signal_frame
	.cfi_escape 0x0f, 4, 0x77, 0xa0, 0x01, 0x06            # def_cfa_expression: breg7 160; deref
	.cfi_escape 0x10, 8, 2, 0x77, 0x28                     # r8: expression: breg7 40
	.cfi_escape 0x10, 3, 3, 0x77, 0x80, 0x01               # rbx: breg7 128
	.cfi_escape 0x10, 7, 3, 0x77, 0xa0, 0x01               # rsp: breg7 160
	.cfi_escape 0x10, 16, 3, 0x77, 0xa8, 0x01              # return address: breg7 168
	mov $15, %rax
	syscall
done sigreturn

func realigned
	.cfi_startproc
	lea 8(%rsp), %r10
	.cfi_def_cfa %r10, 0
	and $-32, %rsp
	push -8(%r10)
	push %rbp
	.cfi_escape 0x10, 6, 2, 0x76, 0x00                     # rbp: breg6 0
	mov %rsp, %rbp
	push %r10
	.cfi_escape 0x0f, 3, 0x76, 0x78, 0x06                  # CFA: breg6 -8; deref
	pop %r10
	.cfi_def_cfa %r10, 0
	pop %rbp
	lea -8(%r10), %rsp
	.cfi_def_cfa %rsp, 8
	ret
done realigned

func nested_states       # remember and restore, one inside the other
	.cfi_startproc
	push %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	nop
	.cfi_remember_state
	push %r12
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r12, 0
	nop
	.cfi_remember_state
	push %r13
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r13, 0
	nop
	.cfi_restore_state
	nop
	.cfi_restore %r12
	nop
	.cfi_restore_state
	nop
	.cfi_restore %rbx
done nested_states

func values
	.cfi_startproc
	.cfi_val_offset %rbx, 16
	nop
	.cfi_escape 0x14, 3, 2                                 # val_offset rbx 2*-8
	nop
	.cfi_escape 0x15, 12, 0x7d                             # val_offset_sf r12 -3*-8
	nop
	.cfi_escape 0x16, 13, 4, 0x77, 0x10, 0x23, 0x08        # val_expression r13: breg7 16; plus_uconst 8
	nop
	.cfi_escape 0x2f, 6, 2                                 # GNU_negative_offset_extended rbp 2
	nop
	.cfi_escape 0x2e, 32                                   # GNU_args_size 32
	nop
	.cfi_escape 0x2e, 0
	nop
	.cfi_register %rbx, %r12
	nop
	.cfi_same_value %rbx
	nop
	.cfi_undefined %r12
	nop
	.cfi_escape 0x05, 3, 4                                 # offset_extended
	nop
	.cfi_escape 0x11, 3, 5                                 # offset_extended_sf
	nop
	.cfi_escape 0x06, 3                                    # restore_extended
	nop
	.cfi_escape 0x12, 7, 0x7e                              # def_cfa_sf: rsp, -2*-8
	nop
	.cfi_escape 0x13, 0x7c                                 # def_cfa_offset_sf: -4*-8
	nop
	.cfi_undefined %rip
done values

func operators           # a CFA that needs many operations
	.cfi_startproc
	nop
	# breg7 8; lit16; plus; const1u 255; and; const2s -16; plus; dup; lit2; mul; swap; minus; lit1; shl; breg6 0; over; drop; minus; neg; abs
	.cfi_escape 0x0f, 27, 0x77, 8, 0x40, 0x22, 0x08, 255, 0x1a, 0x0b, 0xf0, 0xff, 0x22, 0x12, 0x32, 0x1e, 0x16, 0x1c, 0x31, 0x24, 0x76, 0, 0x14, 0x13, 0x1c, 0x1f, 0x19, 0x96, 0x96
	nop
	# breg7 0; lit15; and; lit11; ge; lit3; shl; breg7 8; plus   (the PLT's, over the stack pointer)
	.cfi_escape 0x0f, 11, 0x77, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x77, 8, 0x22
	nop
	# bra and skip: what postfix cannot say
	.cfi_escape 0x0f, 12, 0x77, 0, 0x28, 5, 0, 0x77, 8, 0x2f, 2, 0, 0x77, 16
	nop
	# bregx 7 8; deref_size 4; const8u
	.cfi_escape 0x0f, 15, 0x92, 7, 8, 0x94, 4, 0x0e, 1, 0, 0, 0, 0, 0, 0, 0, 0x22
	nop
	# addr: an address of this module
	.cfi_escape 0x0f, 10, 0x03, 0, 0, 0, 0, 0, 0, 0, 0, 0x06
	nop
	.cfi_def_cfa %rsp, 8
done operators

func by_pc               # expressions over the return address column, as in a PLT
	.cfi_startproc
	# breg7 8; breg16 0; lit15; and; lit11; ge; lit3; shl; plus
	.cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22
	.fill 40, 1, 0x90
done by_pc

func far
	.cfi_startproc
	.fill 100, 1, 0x90
	.cfi_def_cfa_offset 16   # advance_loc1
	.fill 1000, 1, 0x90
	.cfi_def_cfa_offset 24   # advance_loc2
	.cfi_escape 0x04, 16, 0, 0, 0                          # advance_loc4
	.cfi_def_cfa_offset 32
	.fill 32, 1, 0x90
	.cfi_escape 0x40                                       # advance by 0
	.cfi_def_cfa_offset 8
	.fill 64, 1, 0x90
done far

func simple              # no initial instructions from the assembler
	.cfi_startproc simple
	.cfi_def_cfa %rsp, 8
	.cfi_offset %rip, -8
	nop
	.cfi_return_column 16
done simple

func no_cfi
	nop
	ret
	.size no_cfi, .-no_cfi
	.section .note.GNU-stack,"",@progbits
