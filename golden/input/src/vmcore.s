# A core of the kernel kernel-high.elf on two CPUs, moved by KASLR: its headers, notes and memory, as /proc/vmcore has them.
# The stack of the first CPU is in the direct map, and that of the second one in pages that only page tables lead to.
	.set	kaslr, 0x10000000
	.set	text, 0xffffffff81000000 + kaslr
	.set	direct, 0xffff888000000000
	.set	vmapped, 0xffffc90000100000
	.set	textphys, 0x1000000
	.set	tablesphys, 0x2000000
	.set	stackphys, 0x3000000

	.macro	load file, addr, phys, size
	.long	1, 7			# PT_LOAD, PF_R | PF_W | PF_X
	.quad	\file, \addr, \phys, \size, \size, 0
	.endm

	.macro	note type, size, name
	.long	1f - 0f, \size, \type
0:	.asciz	"\name"
1:	.balign	4
	.endm

	# NT_PRSTATUS
	.macro	prstatus pid, pc, sp
	note	1, 336, CORE
	.zero	32
	.long	\pid
	.zero	112 - 36 + 16 * 8
	.quad	\pc, 0x10, 2, \sp, 0x18
	.zero	336 - 112 - 21 * 8
	.endm

	.macro	entry index, phys
	.rept	\index
	.quad	0
	.endr
	.quad	\phys + 3		# present, writable
	.zero	4096 - 8 * (\index + 1)
	.endm

	.data
begin:	.byte	0x7f, 'E', 'L', 'F', 2, 1, 1, 0
	.quad	0
	.short	4, 62			# ET_CORE, EM_X86_64
	.long	1
	.quad	0, 64, 0
	.long	0
	.short	64, 56, 4, 0, 0, 0
	.long	4, 0			# PT_NOTE
	.quad	notes - begin, 0, 0, notesend - notes, notesend - notes, 0
	load	core_text-begin, text, textphys, 0x2000
	load	core_tables-begin, direct+tablesphys, tablesphys, 0x3000
	load	core_stacks-begin, direct+stackphys, stackphys, 0x2000

notes:	prstatus 77, text+0x34, direct+stackphys+0xf00
	prstatus 0, text+0x154, vmapped+0xe00
	note	0, infoend-info, VMCOREINFO
info:	.ascii	"OSRELEASE=6.1.0-test\n"
	.ascii	"BUILD-ID=be092b2920528c64c205a701ad9a128d013db145\n"
	.ascii	"PAGESIZE=4096\n"
	.ascii	"SYMBOL(swapper_pg_dir)=ffffffff91001000\n"
	.ascii	"SYMBOL(_stext)=ffffffff91000000\n"
	.ascii	"NUMBER(phys_base)=-268435456\n"
	.ascii	"NUMBER(pgtable_l5_enabled)=0\n"
	.ascii	"KERNELOFFSET=10000000\n"
	.ascii	"CRASHTIME=1700000000\n"
infoend:
	.balign	4
notesend:

	.balign	4096
core_text:
	.incbin	"kernel-high.elf", 0x2000, 0x260
	.zero	4096 - 0x260
	entry	402, tablesphys
core_tables:
	entry	0, tablesphys+0x1000
	entry	0, tablesphys+0x2000
	entry	256, stackphys+0x1000
core_stacks:
	.zero	0xf00			# of the first CPU
	.quad	text + 0x193
	.zero	0x100 - 8
	.zero	0xe00			# of the second one
	.quad	text + 0x165, text + 0x193
	.zero	0x200 - 16
