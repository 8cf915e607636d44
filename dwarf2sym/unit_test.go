package dwarf2sym

import (
	"fmt"
	"strings"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/units"
)

func TestUnitVersions(t *testing.T) {
	const dies = `
			compile_unit name/string="a.c" language/data1=0x0c stmt_list/%[1]s=0 comp_dir/string="/src"
				subprogram name/string="f" low_pc/addr=0x1000 high_pc/addr=0x1010
				subprogram name/string="g" low_pc/addr=0x1010 high_pc/addr=0x1020
	.debug_line
		program 3
			file "a.c" 0
			set_address 0x1000
			special 0x13              # line 2
			special 0xf3              # 16 bytes on, line 3
			advance_pc 16
			end_sequence`
	const want = `
		FILE 0 /src/a.c
		FUNC 1000 10 0 f
		1000 10 2 0
		FUNC 1010 10 0 g
		1010 10 3 0`
	var cases []coreCase
	for _, big := range []string{"", "big"} {
		for _, addr := range []int{4, 8} {
			for _, unit := range []string{"2", "3", "3 64", "4", "4 64", "5", "5 64"} {
				form := "sec_offset"
				if unit[0] < '4' {
					form = "data4"
				}
				if unit == "3 64" {
					form = "data8"
				}
				cases = append(cases, coreCase{
					name: fmt.Sprintf("%s %saddr%d", unit, big, addr),
					in:   fmt.Sprintf("%s\naddrsize %d\n.debug_info\n\t\tunit %s", big, addr, unit) + fmt.Sprintf(dies, form),
					want: want,
				})
			}
		}
	}
	runCoreCases(t, cases)
}

func TestUnitHeaders(t *testing.T) {
	runCoreCases(t, []coreCase{
		{name: "types are skipped, and their line table is not read",
			in: `
			.debug_info
				unit 5 type=2
					type_unit stmt_list/sec_offset=99999
						subprogram name/string="no" low_pc/addr=0x1000 high_pc/data1=9
				unit 5 type=6
					type_unit
				unit 5 type=4
					skeleton_unit dwo_name/string="a.dwo"
				unit 5
					compile_unit language/data1=2
						subprogram name/string="f" low_pc/addr=0x2000 high_pc/data1=9`,
			want: `
				FUNC 2000 9 0 f
				! test: .debug_info+0x58: the unit's functions are in a.dwo, which is not found: looked for a.dwo (lost: unit at 0x44)`},
		{name: "bad headers cost their unit",
			in: `
			.debug_info
				begin                        # version 6
				u16 6
				u32 0 0
				end
				begin                        # address size 3
				u16 4
				u32 0
				u8 3
				end
				begin                        # ends within its header
				u16 4
				end
				begin                        # nothing but a header, as Apple's dsymutil leaves
				u16 4
				u32 0
				u8 8
				end
				unit 4
					compile_unit language/data1=2
						subprogram name/string="f" low_pc/addr=0x2000 high_pc/data1=9
				endunit
				u32 0xfffffff1`,
			want: `
				FUNC 2000 9 0 f
				! test: .debug_info+0x0: DWARF version 6, want 2 to 5 (lost: unit at 0x0)
				! test: .debug_info+0xe: addresses of 3 bytes, want 2, 4 or 8 (lost: unit at 0xe)
				! test: .debug_info+0x19: unit of 6 bytes ends within its header (lost: unit at 0x19)
				! test: .debug_info+0x44: reserved unit length 0xfffffff1 (lost: unit at 0x44)`},
		{name: "a length that leaves the section ends the walk",
			in: `
			.debug_info
				unit 4
					compile_unit language/data1=2
						subprogram name/string="f" low_pc/addr=0x2000 high_pc/data1=9
				endunit
				u32 0x100
				u16 4`,
			want: `
				FUNC 2000 9 0 f
				! test: .debug_info+0x1a: unit of 256 bytes, 2 left in the section (lost: unit at 0x1a)`},
		{name: "64-bit length that leaves the section",
			in: `
			.debug_info
				u32 0xffffffff
				u64 0xffffffffffffffff
				u16 4`,
			want: `! test: .debug_info+0x0: unit of 18446744073709551615 bytes, 2 left in the section (lost: unit at 0x0)`},
		{name: "first DIE is no unit",
			in: `
			.debug_info
				unit 4
					subprogram name/string="f" low_pc/addr=0x2000 high_pc/data1=9`,
			want: `! test: .debug_info+0xb: first DIE is not a unit (abbreviation 1) (lost: unit at 0x0)`},
		{name: "abbreviations outside of their section",
			in: `
			.debug_info
				unit 4 abbrev=0x40
					compile_unit`,
			want: `! test: .debug_abbrev+0x40: table starts outside the section's 0 bytes (lost: unit at 0x0)`},
		{name: "unit that ends within a DIE keeps what was whole",
			in: `
			.debug_info
				unit 4 unended
					compile_unit name/string="a.c" language/data1=2
						subprogram name/string="f" low_pc/addr=0x2000 high_pc/data1=9
							inlined_subroutine low_pc/addr=0x2002 high_pc/data1=2
						subprogram name/string="g" low_pc/addr=0x3000 high_pc/data4=9
						u8 2
						"h"
						u32 0`,
			want: `
				FILE 0 ??
				INLINE_ORIGIN 0 <name omitted>
				FUNC 2000 9 0 f
				INLINE 0 0 0 0 2002 2
				FUNC 3000 9 0 g
				! test: .debug_info+0x37: unit ends within a DIE (lost: unit at 0x0, a.c from there on)`},
		{name: "closing zeros left out",
			in: `
			.debug_info
				unit 4 unended
					compile_unit language/data1=2
						subprogram name/string="f" low_pc/addr=0x2000 high_pc/data1=9
							lexical_block
								variable name/string="x"`,
			want: `FUNC 2000 9 0 f`},
		{name: "undeclared abbreviation",
			in: `
			.debug_info
				unit 4
					compile_unit name/string="a.c" language/data1=2
						subprogram name/string="f" low_pc/addr=0x2000 high_pc/data1=9
						u8 0x44
						subprogram name/string="g" low_pc/addr=0x3000 high_pc/data1=9`,
			want: `
				FUNC 2000 9 0 f
				! test: .debug_info+0x1d: abbreviation is not declared at .debug_abbrev+0x0 (lost: unit at 0x0, a.c from there on)`},
		{name: "bases after what needs them",
			in: `
			.debug_info
				unit 5
					compile_unit name/strx1=1 low_pc/addrx1=1 language/data1=0x1d str_offsets_base/sec_offset=&names addr_base/sec_offset=&addrs
						subprogram name/strx=0 low_pc/addrx=0 high_pc/addrx=1
						subprogram name/strx3=2 low_pc/addrx4=1 high_pc/data1=7
			.debug_str
				s0: "f"
				s1: "unit.c"
				s2: "g"
			.debug_str_offsets
				u32 0 0 0 0
				names: off &s0 &s1 &s2
			.debug_addr
				u64 0
				addrs: addr 0x1230 0x1240`,
			want: `
				FUNC 1230 10 0 f
				FUNC 1240 7 0 g`},
		{name: "no bases: the tables behind the first header",
			in: `
			.debug_info
				unit 5
					compile_unit language/data1=0x1d
						subprogram name/strx2=1 low_pc/addrx2=1 high_pc/data1=7
						subprogram name/strx4=0 ranges/rnglistx=0
			.debug_str
				s0: "f"
				s1: "g"
			.debug_str_offsets
				begin
				u16 5 0
				off &s0 &s1
			.debug_addr
				begin
				u16 5
				u8 8 0
				addr 0x1230 0x1240
			.debug_rnglists
				begin
				u16 5
				u8 8 0
				u32 1
				offs: u32 4
				u8 3                           # startx_length
				uleb 0 5
				u8 0`,
			want: `
				FUNC 1230 5 0 f
				FUNC 1240 7 0 g`},
		{name: "GNU split forms of version 4",
			in: `
			.debug_info
				unit 4
					compile_unit language/data1=0x0c GNU_addr_base/sec_offset=8
						subprogram name/GNU_str_index=1 low_pc/GNU_addr_index=1 high_pc/data1=7
			.debug_str
				s0: "f"
				s1: "g"
			.debug_str_offsets
				off &s0 &s1
			.debug_addr
				addr 0 0x1230 0x1240`,
			want: `FUNC 1240 7 0 g`},
		{name: "indices outside of their tables",
			in: `
			.debug_info
				unit 5
					compile_unit language/data1=0x1d
						subprogram name/strx=9 low_pc/addr=0x1000 high_pc/data1=7
						subprogram name/string="a" low_pc/addrx=9 high_pc/data1=7
						subprogram name/string="b" low_pc/addr=0x1100 high_pc/addrx=9
						subprogram name/string="c" ranges/rnglistx=9
						subprogram name/strp=0x7777 low_pc/addr=0x1200 high_pc/data1=7`,
			want: `
				FUNC 1000 7 0 <name omitted>
				FUNC 1200 7 0 <name omitted>
				! test: .debug_info+0xe: string index 9 outside .debug_str_offsets (lost: name of the function at 0xe)
				! test: .debug_info+0x19: address index 9 outside .debug_addr (lost: code of the function at 0x19)
				! test: .debug_info+0x1e: address index 9 outside .debug_addr (lost: code of the function at 0x1e)
				! test: .debug_info+0x2a: range list index 9 outside .debug_rnglists (lost: code of the function at 0x2a)
				! test: .debug_info+0x2e: string at 0x7777 outside .debug_str (lost: name of the function at 0x2e)`},
	})
}

func TestProblemsAreBounded(t *testing.T) {
	// 3000 units of 4 bytes, each of them too short.
	c := &core{order: coreOf(t, "").order, sections: map[string][]byte{".debug_info": make([]byte, 12000)}}
	for _, run := range coreRuns {
		lines := strings.Split(strings.TrimSpace(c.text(t, Options{}, run)), "\n")
		if len(lines) != units.AllProblems+1 || lines[units.AllProblems] != "! test: .debug_info+0x0: 2000 more problems" {
			t.Fatalf("%d lines, last %q", len(lines), lines[len(lines)-1])
		}
	}
}

func TestUnitProblemsAreBounded(t *testing.T) {
	// 100 units of 20 functions whose addresses are missing.
	var b strings.Builder
	b.WriteString(".debug_info\n")
	for range 100 {
		b.WriteString("\tunit 5\n\t\tcompile_unit\n")
		for range 20 {
			b.WriteString("\t\t\tsubprogram low_pc/addrx=1 high_pc/data1=2\n")
		}
	}
	c := coreOf(t, b.String())
	want := c.text(t, Options{}, coreRuns[0])
	if n := strings.Count(want, "\n"); n != units.AllProblems+1 || !strings.HasSuffix(want, ": 1000 more problems\n") {
		t.Errorf("%d lines, ending in %q", n, want[max(0, len(want)-100):])
	}
	for _, run := range coreRuns {
		if got := c.text(t, Options{}, run); got != want {
			t.Errorf("%+v: not the same problems", run)
		}
	}
}
