# Functions of no size, in each other and across each other, with several names, and one chosen at load time.
	.text
	.globl whole
	.type whole, @function
whole:
	nop
	.globl inside
	.type inside, @function
inside:
	nop
	nop
	.size inside, .-inside
	nop
	.type across, @function
across:
	nop
	.size whole, .-whole
	nop
	nop
	.size across, .-across

	.globl no_size
	.type no_size, @function
no_size:
	nop
	ret

	.globl alias_of, sized
	.weak weak_alias
	.type alias_of, @function
	.type sized, @function
	.type weak_alias, @function
alias_of: # no size: that of another name counts
weak_alias:
sized:
	nop
	ret
	.size sized, .-sized

	.globl empty, behind_empty
	.type empty, @function
	.type behind_empty, @function
empty:
	.size empty, 0
behind_empty:
	ret
	.size behind_empty, .-behind_empty

	.globl chosen
	.type chosen, @gnu_indirect_function
chosen:
	leaq across(%rip), %rax
	ret
	.size chosen, .-chosen

	.type last_no_size, @function
last_no_size:
	nop
	ret
	.section .note.GNU-stack,"",@progbits
