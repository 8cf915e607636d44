# Forms that compilers seldom write, in units of versions 4 and 5. The bases come after the attributes that need them.
	.text
	.globl fa, fb, fc, fd
fa:	.fill 16, 1, 0x90
fb:	.fill 16, 1, 0x90
fc:	.fill 16, 1, 0x90
fd:	.fill 16, 1, 0x90
end:

	.section .debug_abbrev,"",@progbits
ab5:
	.uleb128 1, 0x11
	.byte 1
	.uleb128 0x03, 0x25, 0x11, 0x29, 0x12, 0x0f # name strx1, low_pc addrx1, high_pc udata
	.uleb128 0x72, 0x17, 0x73, 0x17, 0x10, 0x17 # str_offsets_base, addr_base, stmt_list
	.uleb128 0x1b, 0x1f, 0, 0                   # comp_dir line_strp
	.uleb128 2, 0x2e         # strx2, addrx2
	.byte 1
	.uleb128 0x03, 0x26, 0x11, 0x2a, 0x12, 0x05, 0x3f, 0x19, 0, 0
	.uleb128 3, 0x2e         # strx3, addrx3, high_pc addrx
	.byte 0
	.uleb128 0x03, 0x27, 0x11, 0x2b, 0x12, 0x1b, 0x1c, 0x0d, 0, 0
	.uleb128 4, 0x2e         # strx4, addrx4; high_pc implicit_const 16; const_value data16
	.byte 0
	.uleb128 0x03, 0x28, 0x11, 0x2c, 0x12, 0x21
	.sleb128 16
	.uleb128 0x1c, 0x1e, 0, 0
	.uleb128 5, 0x1d         # origin ref1, pc by indirect, call_line data2, call_file implicit_const
	.byte 0
	.uleb128 0x31, 0x11, 0x11, 0x16, 0x12, 0x16, 0x59, 0x05, 0x58, 0x21
	.sleb128 1
	.uleb128 0, 0
	.uleb128 6, 0x2e         # inline, with every block
	.byte 0
	.uleb128 0x03, 0x1a, 0x20, 0x0b, 0x02, 0x0a, 0x38, 0x03, 0x40, 0x04, 0x46, 0x09, 0x48, 0x18, 0, 0
	.uleb128 7, 0x34         # references and flags: ref2 ref4 ref8 ref_udata ref_sig8 ref_addr flag sec_offset sup
	.byte 0
	.uleb128 0x49, 0x12, 0x31, 0x13, 0x47, 0x14, 0x18, 0x15, 0x69, 0x20, 0x1d, 0x10, 0x3c, 0x0c, 0x17, 0x17
	.uleb128 0x2101, 0x1c, 0x2102, 0x1d, 0x2103, 0x24, 0x2104, 0x22, 0x2105, 0x23, 0x2106, 0x08, 0, 0
	.byte 0
ab4:
	.uleb128 1, 0x11
	.byte 1
	.uleb128 0x03, 0x16, 0x11, 0x01, 0x12, 0x07, 0, 0 # name by indirect; high_pc data8
	.uleb128 2, 0x2e
	.byte 0
	.uleb128 0x03, 0x0e, 0x11, 0x01, 0x12, 0x0b, 0, 0
	.byte 0

	.section .debug_info,"",@progbits
unit5:
	.long 2f-1f
1:	.short 5
	.byte 1, 8
	.long ab5
	.uleb128 1
	.byte 0                  # strx1
	.byte 0                  # addrx1
	.uleb128 48
	.long str_base, addr_base, 0, ls_dir
	.uleb128 2
	.short 1
	.short 0
	.short 16
5:	.uleb128 5
	.byte origin-unit5
	.uleb128 0x01            # indirect: addr
	.quad fa+4
	.uleb128 0x0f            # indirect: udata
	.uleb128 8
	.short 77
	.byte 0                  # end of fa's children
	.uleb128 3
	.byte 2, 0, 0
	.byte 1, 0, 0
	.uleb128 2               # high_pc is an address here
	.sleb128 -5
	.uleb128 4
	.long 3
	.long 2
	.octa 1
origin:
	.uleb128 6
	.uleb128 4               # strx
	.byte 1
	.byte 2, 0x91, 0x00      # block1
	.short 1
	.byte 0x9c               # block2
	.long 1
	.byte 0x9c               # block4
	.uleb128 1
	.byte 0x9c               # block
	.uleb128 1
	.byte 0x9c               # exprloc
	.uleb128 7
	.short origin-unit5
	.long origin-unit5
	.quad origin-unit5
	.uleb128 origin-unit5
	.quad 0x1122334455667788
	.long origin
	.byte 1
	.long 0
	.long 0                  # ref_sup4
	.long 0                  # strp_sup
	.quad 0                  # ref_sup8
	.uleb128 0               # loclistx
	.uleb128 0               # rnglistx
	.asciz "last"
	.byte 0
2:
unit4:
	.long 2f-1f
1:	.short 4
	.long ab4
	.byte 8
	.uleb128 1
	.uleb128 0x16, 0x08      # indirect to indirect to string
	.asciz "four.c"
	.quad fd
	.quad 16
	.uleb128 2
	.long s_fd
	.quad fd
	.byte 16
	.byte 0
2:

	.section .debug_str,"MS",@progbits,1
s_unit:	.asciz "five.c"
s_fa:	.asciz "fa"
s_fb:	.asciz "fb"
s_fc:	.asciz "fc"
s_in:	.asciz "inlined"
s_fd:	.asciz "fd"

	.section .debug_str_offsets,"",@progbits
	.long 2f-1f
1:	.short 5, 0
str_base:
	.long s_unit, s_fa, s_fb, s_fc, s_in
2:
	.section .debug_addr,"",@progbits
	.long 2f-1f
1:	.short 5
	.byte 8, 0
addr_base:
	.quad fa, fb, fc
2:
	.section .debug_line_str,"MS",@progbits,1
ls_dir:	.asciz "/src"
	.section .debug_line,"",@progbits
	.long 3f-1f
1:	.short 5
	.byte 8, 0
	.long 4f-2f
2:	.byte 1, 1, 1, -5, 14, 13
	.byte 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1
	.byte 1
	.uleb128 1, 0x08
	.uleb128 1
	.asciz "/src"
	.byte 2
	.uleb128 1, 0x08, 2, 0x0b
	.uleb128 2
	.asciz "five.c"
	.byte 0
	.asciz "five.h"
	.byte 0
4:	.byte 0, 9, 2
	.quad fa
	.byte 13+5+2, 13+5+1+14*16, 13+5+1+14*16
	.byte 2
	.uleb128 16
	.byte 0, 1, 1
3:
	.section .note.GNU-stack,"",@progbits
