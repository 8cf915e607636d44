# Return addresses that are signed with key B.
	.text
	.globl signed_b
	.type signed_b, %function
signed_b:
	.cfi_startproc
	.cfi_b_key_frame
	hint #27 // pacibsp
	.cfi_negate_ra_state
	stp x29, x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset 29, -32
	.cfi_offset 30, -24
	mov x29, sp
	nop
	ldp x29, x30, [sp], #32
	.cfi_restore 30
	.cfi_restore 29
	.cfi_def_cfa_offset 0
	hint #31 // autibsp
	.cfi_negate_ra_state
	ret
	.cfi_endproc
	.size signed_b, . - signed_b
