# Functions that only the public symbols know, for x86 and x64: the assembler writes no records.
	.text
	.p2align 4
	.globl halved, _halved
	.def halved; .scl 2; .type 32; .endef
	.def _halved; .scl 2; .type 32; .endef
halved:
_halved:
	movl $21, %eax
	ret
	.p2align 4, 0xcc
	.globl __chkstk, __except_list
	.def __chkstk; .scl 2; .type 32; .endef
__chkstk:
	ret
	.set __except_list, 0
	.globl "@feat.00"
	.set "@feat.00", 1
