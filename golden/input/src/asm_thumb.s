@ Thumb functions in assembly: GNU as describes them by their symbols, whose values have the Thumb bit.
	.syntax unified
	.text
	.thumb
	.globl thumb_first
	.type thumb_first, %function
	.thumb_func
thumb_first:
	push {r4, lr}
	movs r4, r0
	pop {r4, pc}
	.size thumb_first, .-thumb_first

	.type thumb_local, %function
	.thumb_func
thumb_local:
	movs r0, #0
	bx lr
	.size thumb_local, .-thumb_local

	.arm
	.globl arm_code
	.type arm_code, %function
arm_code:
	mov r0, r1
	bx lr
	.size arm_code, .-arm_code
	.section .note.GNU-stack,"",%progbits
