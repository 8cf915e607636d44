@ Entries of .ARM.exidx in every form: each function has another one.
	.syntax unified
	.arch armv7-a
	.arm
	.text

	.macro function name
	.globl \name
	.type \name, %function
	.fnstart
\name:
	bx lr
	.endm
	.macro done name
	.fnend
	.size \name, . - \name
	.endm
	@ A function whose instructions are these bytes, the last one first.
	.macro raw name, bytes:vararg
	function \name
	.unwind_raw 0, \bytes
	done \name
	.endm

	@ Before the first entry: nothing.
	.globl uncovered
	.type uncovered, %function
uncovered:
	bx lr
	.size uncovered, . - uncovered

	raw leaf, 0xb0
	raw add_small, 0x00
	raw add_large, 0x3f
	raw sub_small, 0x40
	raw sub_large, 0x3f, 0x3f, 0x7f
	raw add_uleb0, 0xb2, 0x00
	raw add_uleb3, 0xb2, 0x81, 0x80, 0x04
	raw refuse, 0x80, 0x00
	raw pop_lr, 0x84, 0x00
	raw pop_pc_and_lr, 0x8c, 0x01
	raw pop_sp, 0xb1, 0x0f, 0x8f, 0xff
	raw pop_r12, 0x81, 0x00
	raw pop_ranges, 0xa3
	raw pop_ranges_lr, 0xaf
	raw pop_low, 0xb1, 0x08, 0x84, 0x00
	raw from_fp, 0x9b, 0x41, 0x84, 0x80
	raw from_lr, 0x9e, 0x00
	raw from_popped, 0xa8, 0x94, 0x05, 0xa0
	raw vfp_x, 0xb3, 0x81
	raw vfp_x8, 0xb9, 0xa8
	raw vfp_d, 0xc9, 0x83, 0xa8
	raw vfp_d16, 0xc8, 0x0f
	raw vfp_d8, 0xd7
	raw wmmx, 0xc5, 0x84, 0x00
	raw wmmx_range, 0xc6, 0x23, 0x84, 0x00
	raw wcgr, 0xc7, 0x05, 0x84, 0x00
	raw pac, 0xb4, 0xb5, 0x84, 0x00
	raw finish_early, 0xa8, 0xb0, 0xa8

	raw spare_vsp_sp, 0x9d
	raw spare_vsp_pc, 0x9f
	raw spare_b1_0, 0xb1, 0x00
	raw spare_b1_10, 0xb1, 0x10
	raw spare_fpa6, 0xb6
	raw spare_fpa7, 0xb7
	raw spare_c7, 0xc7, 0x10
	raw spare_ca, 0xca
	raw spare_d8, 0xd8
	raw spare_ff, 0xff
	raw no_operand, 0xa8, 0xa8, 0xb1

	@ As compilers write them.
	function saved
	.save {r4, r5, r11, lr}
	.setfp r11, sp, #8
	.pad #32
	done saved
	function saved_vfp
	.save {r4, lr}
	.vsave {d8-d11}
	.pad #1024
	done saved_vfp
	function cant_unwind
	.cantunwind
	done cant_unwind
	@ cantunwind reaches over what follows.
	.globl no_entry
	.type no_entry, %function
no_entry:
	bx lr
	.size no_entry, . - no_entry

	@ Personality routines 0, 1 and 2, by number, with their data.
	function pr0
	.save {r4, lr}
	.personalityindex 0
	.handlerdata
	.word 0
	done pr0
	function pr1
	.save {r4-r8, lr}
	.pad #600
	.personalityindex 1
	.handlerdata
	.word 0
	done pr1
	function pr2
	.save {r4-r10, lr}
	.vsave {d8-d12}
	.pad #1600
	.personalityindex 2
	.handlerdata
	.word 0
	done pr2
	@ By address, with instructions in one word and in several.
	function generic
	.save {r4, lr}
	.pad #8
	.personality __gxx_personality_v0
	.handlerdata
	.word 0xffffffff
	done generic
	function generic_long
	.save {r4-r10, lr}
	.vsave {d8-d12}
	.pad #1600
	.personality __gxx_personality_v0
	.handlerdata
	.word 0xffffffff
	done generic_long

	.thumb
	.globl thumb
	.type thumb, %function
	.thumb_func
	.fnstart
thumb:
	push {r3, lr}
	.save {r3, lr}
	pop {r3, pc}
	.fnend
	.size thumb, . - thumb

	@ The last entry reaches to the end of .text.
	function last
	.save {r7, lr}
	done last
	nop

	.globl __gxx_personality_v0
	.type __gxx_personality_v0, %function
	.section .text.z, "ax", %progbits
__gxx_personality_v0:
	bx lr
	.size __gxx_personality_v0, . - __gxx_personality_v0
	.globl __aeabi_unwind_cpp_pr0, __aeabi_unwind_cpp_pr1, __aeabi_unwind_cpp_pr2
__aeabi_unwind_cpp_pr0:
__aeabi_unwind_cpp_pr1:
__aeabi_unwind_cpp_pr2:
	bx lr
