# A section that is there and empty, as ld 2.47 leaves it.
	.section .sframe, "a", @progbits
