# A section of version 3, byte by byte (the assemblers that make it are newer
# than the ones of this folder), and the code that it is about. DAMAGE makes the
# last row's words a size that does not exist.
	.text
	.globl first, second, stubs
first:	.fill 32, 1, 0x90
second:	.fill 32, 1, 0x90
stubs:	.fill 64, 1, 0x90
	.section .sframe, "a", @progbits
header:	.short 0xdee2
	.byte 3, 5, 3            # version; flags SORTED and PCREL; AMD64
	.byte 0, -8, 0           # fixed FP, fixed RA, auxiliary header
	.long 3, 15, end - fres  # FDEs, rows, bytes of rows
	.long 0, fres - fdes     # both from the header's end
fdes:	.quad first - .          # start, size, attributes
	.long 32, of_first - fres
	.quad second - .
	.long 32, of_second - fres
	.quad stubs - .
	.long 64, of_stubs - fres
fres:
of_first:
	.short 5                 # rows; info; info2; block
	.byte 0, 0, 0
	.byte 0, 3, 8            # start, info, words: sp+8
	.byte 1, 5, 16, -16      # sp+16, FP at c-16
	.byte 4, 4, 16, -16      # fp+16
	.byte 8, 0x43            # sp+1000000
	.long 1000000
	.byte 9, 0               # no caller
of_second:
	.short 8
	.byte 0x80, 1, 0         # signal frame, flexible rows
	.byte 0, 4, 0x39, 8      # sp+8
	.byte 1, 4, 0x51, 0      # r10+0
	.byte 2, 10, 0x33, -8, 0, 0x33, 0    # (fp-8), RA padding, FP (fp+0)
	.byte 3, 10, 0x39, 8, 0, 2, -16      # FP at c-16
	.byte 4, 8, 0x39, 16, 2, -16         # RA at c-16
	.byte 5, 12, 0x39, 16, 0x3b, -4, 1, 0   # RA at (sp-4), FP is r0
	.byte 6, 6, 0x39, 8, 0               # RA padding
	.byte 7, 14, 0x39, 8, 2, -8, 2, -16, 5  # a word too many
of_stubs:
	.short 2
	.byte 0x10, 0, 16        # PCMASK, blocks of 16 bytes
	.byte 0, 3, 8
.ifdef DAMAGE
	.byte 11, 0x63, 16
.else
	.byte 11, 3, 16
.endif
end:
