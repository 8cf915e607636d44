package dwarf2sym

import (
	"fmt"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
)

func TestRangeLists(t *testing.T) {
	// Each list belongs to a function; base is the unit's low_pc.
	old := func(header, list string) string {
		return fmt.Sprintf(`
			%s
			.debug_info
				unit 4
					compile_unit language/data1=2 low_pc/addr=0x1000
						subprogram name/string="f" ranges/sec_offset=&list
			.debug_ranges
				u64 0 0 0
				list:
				%s`, header, list)
	}
	runCoreCases(t, []coreCase{
		{name: "from the unit's base", in: old("", "addr 0x10 0x20 0x40 0x48 0 0 0x90 0x99"),
			want: "FUNC 1010 10 0 f\nFUNC 1040 8 0 f"},
		{name: "base selection", in: old("", "addr 0x10 0x20 0xffffffffffffffff 0x2000 0x10 0x20 0 0"),
			want: "FUNC 1010 10 0 f\nFUNC 2010 10 0 f"},
		{name: "base selection, 4 bytes, big-endian", in: old("big\naddrsize 4", "addr 0x10 0x20 0xffffffff 0x2000 0x10 0x20 0xffffffff 0 0x1000 0x1008 0 0"),
			want: "FUNC 1000 8 0 f\nFUNC 1010 10 0 f\nFUNC 2010 10 0 f"},
		{name: "empty and reversed entries", in: old("", "addr 0x10 0x10 0x30 0x20 1 1 0x40 0x48 0 0"),
			want: "FUNC 1040 8 0 f\n! test: .debug_ranges+0x28: code at 0x1030 ends before it begins, at 0x1020 (lost: code of the function at 0x15)"},
		{name: "pieces that touch, overlap, repeat, in any order", in: old("", "addr 0x30 0x40 0x10 0x20 0x20 0x28 0x10 0x18 0x30 0x40 0 0"),
			want: "FUNC 1010 18 0 f\nFUNC 1030 10 0 f"},
		{name: "dead pieces: -1 and 0 and 1 as bases", in: old("", "addr 0xffffffffffffffff 0 0x1 0x10 0xffffffffffffffff 0xffffffffffffffff 1 5 0xffffffffffffffff 0x1000 8 9 0 0"),
			want: "FUNC 1008 1 0 f"},
		{name: "no end", in: old("", "addr 0x10 0x20 0x30"),
			want: "FUNC 1010 10 0 f\n! test: .debug_ranges+0x28: range list without an end (lost: code of the function at 0x15)"},
		{name: "up to the end of 32-bit address space", in: old("addrsize 4\n.code 0xfffff000 0x100000000", "addr 0xffffffff 0 0xffffff00 0xfffffff0 0xffffffff 0xfffff000 0xff8 0x1000 0 0"),
			want: "FUNC ffffff00 f0 0 f\nFUNC fffffff8 8 0 f"},
		{name: "outside the section",
			in: `
			.debug_info
				unit 4
					compile_unit language/data1=2
						subprogram name/string="f" ranges/data4=0x99
						subprogram name/string="g" ranges/data4=0
			.debug_ranges
				addr 0x1000 0x1010 0 0`,
			want: "FUNC 1000 10 0 g\n! test: .debug_ranges+0x99: range list starts outside the section (lost: code of the function at 0xd)"},
		{name: "ranges win over low_pc, which may be the entry only",
			in: `
			.debug_info
				unit 4
					compile_unit language/data1=2 low_pc/addr=0
						subprogram name/string="f" low_pc/addr=0x1008 ranges/data4=0
			.debug_ranges
				addr 0x1000 0x1010 0 0`,
			want: "FUNC 1000 10 0 f"},
	})
}

func TestRnglists(t *testing.T) {
	list := func(unit, list string) string {
		return fmt.Sprintf(`
			.debug_info
				unit %s
					compile_unit language/data1=2 low_pc/addr=0x1000 addr_base/sec_offset=&addrs rnglists_base/sec_offset=&offs
						subprogram name/string="f" ranges/sec_offset=&list
						subprogram name/string="g" ranges/rnglistx=1
			.debug_addr
				u64 0
				addrs: addr 0x2000 0x2010 0x3000
			.debug_rnglists
				begin
				u16 5
				u8 8 0
				u32 2
				offs: u32 8
				u32 9
				u8 0                       # list 0
				u8 6                       # list 1: start_end
				addr 0x9000 0x9001
				u8 0
				list:
				%s`, unit, list)
	}
	const g = "FUNC 9000 1 0 g\n"
	runCoreCases(t, []coreCase{
		{name: "offset_pair from the unit's base", in: list("5", "u8 4\nuleb 0x10 0x20\nu8 0"), want: "FUNC 1010 10 0 f\n" + g},
		{name: "base_addressx, base_address", in: list("5", "u8 1\nuleb 2\nu8 4\nuleb 0 8\nu8 5\naddr 0x4000\nu8 4\nuleb 0 8\nu8 0"),
			want: "FUNC 3000 8 0 f\nFUNC 4000 8 0 f\n" + g},
		{name: "startx_endx, startx_length", in: list("5", "u8 2\nuleb 0 1\nu8 3\nuleb 2 0x80\nu8 0"),
			want: "FUNC 2000 10 0 f\nFUNC 3000 80 0 f\n" + g},
		{name: "start_end, start_length", in: list("5", "u8 6\naddr 0x4000 0x4001\nu8 7\naddr 0x5000\nuleb 0x100\nu8 0"),
			want: "FUNC 4000 1 0 f\nFUNC 5000 100 0 f\n" + g},
		{name: "empty, reversed, dead", in: list("5", "u8 4\nuleb 5 5\nu8 4\nuleb 9 5\nu8 5\naddr 0xffffffffffffffff\nu8 4\nuleb 0 0x1100\nu8 7\naddr 0\nuleb 9\nu8 4\nuleb 0x1001 0x1003\nu8 0"),
			want: g + "! test: .debug_rnglists+0x2a: code at 0x1009 ends before it begins, at 0x1005 (lost: code of the function at 0x1e)"},
		{name: "length that wraps around", in: list("5", "u8 7\naddr 0x4000\nuleb 0xffffffffffffffff\nu8 7\naddr 0x5000\nuleb 1\nu8 0"),
			want: "FUNC 5000 1 0 f\n" + g + "! test: .debug_rnglists+0x27: 0xffffffffffffffff bytes of code at 0x4000 extend past the highest address (lost: code of the function at 0x1e)"},
		{name: "base and offset that wrap around", in: list("5", "u8 5\naddr 0xffffffffffff0000\nu8 4\nuleb 0x11000 0x11010\nu8 7\naddr 0x5000\nuleb 1\nu8 0"),
			want: "FUNC 5000 1 0 f\n" + g + "! test: .debug_rnglists+0x30: code from 0x11000 to 0x11010 behind 0xffffffffffff0000 extends past the highest address (lost: code of the function at 0x1e)"},
		{name: "unknown entry keeps those before it", in: list("5", "u8 6\naddr 0x4000 0x4001\nu8 8"),
			want: "FUNC 4000 1 0 f\n" + g + "! test: .debug_rnglists+0x38: range list entry of kind 8, want 0 to 7 (lost: code of the function at 0x1e)"},
		{name: "index outside .debug_addr", in: list("5", "u8 3\nuleb 3 1\nu8 0"),
			want: g + "! test: .debug_rnglists+0x28: address index outside .debug_addr (lost: code of the function at 0x1e)"},
		{name: "ends within an entry", in: list("5", "u8 6\naddr 0x4000 0x4001\nu8 4 0x80"),
			want: "FUNC 4000 1 0 f\n" + g + "! test: .debug_rnglists+0x27: range list without an end (lost: code of the function at 0x1e)"},
		{name: "64-bit offsets",
			in: `
			.debug_info
				unit 5 64
					compile_unit language/data1=2 rnglists_base/sec_offset=&offs
						subprogram name/string="g" ranges/rnglistx=1
			.debug_rnglists
				begin64
				u16 5
				u8 8 0
				u32 2
				offs: u64 0 16
				u8 6
				addr 0x9000 0x9001
				u8 0`,
			want: g},
	})
}

// DW_AT_high_pc is an address, or a constant of any form (DWARF 5, 2.17.2).
func TestHighPC(t *testing.T) {
	for _, high := range []string{"addr=0x1010", "data1=16", "data2=16", "data4=16", "data8=16", "udata=16", "sdata=16", "implicit_const=16", "indirect:udata=16", "addrx=1", "addrx1=1", "LLVM_addrx_offset=<01 00 00 00 00>", "LLVM_addrx_offset=<00 10 00 00 00>"} {
		t.Run(high, func(t *testing.T) {
			c := coreOf(t, fmt.Sprintf(`
			.debug_info
				unit 5
					compile_unit language/data1=2
						subprogram name/string="f" low_pc/addrx=0 high_pc/%s
			.debug_addr
				u64 0
				addr 0x1000 0x1010`, high))
			if got := c.text(t, Options{}, coreRuns[0]); got != "FUNC 1000 10 0 f\n" {
				t.Error(got)
			}
		})
	}
	const lost = " (lost: code of the function at 0xe)\n"
	for _, c := range []struct{ low, high, problem string }{
		{low: "addr=0x1000", high: "data1=0"},
		{low: "addr=0x1000", high: "addr=0x1000"},
		{"addr=0x1000", "addr=0xfff", ".debug_info+0xe: code at 0x1000 ends before it begins, at 0xfff"},
		{"addr=0x1000", "data8=0xffffffffffffffff", ".debug_info+0xe: 0xffffffffffffffff bytes of code at 0x1000 extend past the highest address"},
		{"addr=0x1000", "sdata=-16", ".debug_info+0xe: 0xfffffffffffffff0 bytes of code at 0x1000 extend past the highest address"},
		{"addr=0x1000", "block1=<10>", ".debug_info+0xe: DW_AT_high_pc of form 0xa, want an address or a length"},
		{"addr=0x1000", "flag_present low_pc/addr=0x500", ""},
		{"data4=0x1000", "data1=16", ".debug_info+0xe: DW_AT_low_pc of form 0x6, want an address"},
		{"indirect:data4=0x1000", "data1=16", ".debug_info+0xe: DW_AT_low_pc of form 0x6, want an address"},
		{"exprloc=<50>", "data1=16", ".debug_info+0xe: DW_AT_low_pc is an expression that is not an address and an offset to add"},
		{"exprloc=<a1 00 0c 00 10 00 00 22>", "data1=16", ".debug_info+0xe: DW_AT_low_pc is an expression that is not an address and an offset to add"},
		{low: "addr=0xffffffffffffffff", high: "data4=0x2000"},
		{low: "addr=0xfffffffffffffffe", high: "data4=0x2000"},
	} {
		core := coreOf(t, fmt.Sprintf(`
			.debug_info
				unit 5
					compile_unit language/data1=2
						subprogram name/string="f" low_pc/%s high_pc/%s`, c.low, c.high))
		want := ""
		if c.problem != "" {
			want = "! test: " + c.problem + lost
		}
		if got := core.text(t, Options{}, coreRuns[0]); got != want {
			t.Errorf("%s, %s:\n%swant\n%s", c.low, c.high, got, want)
		}
	}
}

// LLVM writes addresses as sums, to save entries of .debug_addr.
func TestLowPCExpressions(t *testing.T) {
	for _, low := range []string{"<03 00 10 00 00 00 00 00 00>", "<a1 00>", "<a1 01 0c 00 01 00 00 22>", "<a1 01 23 80 02>", "<96 a1 01 08 f0 40 22 22>", "<a1 01 0a 00 01 22>", "<fb 01 10 80 02 22>"} {
		c := coreOf(t, fmt.Sprintf(`
			.debug_info
				unit 5
					compile_unit language/data1=2
						subprogram name/string="f" low_pc/exprloc=%s high_pc/data4=16
							inlined_subroutine low_pc/exprloc=<a1 00 33 22> high_pc/data4=4 call_line/data1=9
			.debug_addr
				u64 0
				addr 0x1000 0xf00`, low))
		want := "FILE 0 ??\nINLINE_ORIGIN 0 <name omitted>\nFUNC 1000 10 0 f\nINLINE 0 9 0 0 1003 4\n"
		if got := c.text(t, Options{}, coreRuns[0]); got != want {
			t.Errorf("%s:\n%swant\n%s", low, got, want)
		}
	}
}

func TestTidy(t *testing.T) {
	for _, c := range []struct{ in, want []dwarf.Span }{
		{nil, nil},
		{spansOf(5, 6), spansOf(5, 6)},
		{spansOf(1, 2, 3, 4), spansOf(1, 2, 3, 4)},
		{spansOf(3, 4, 1, 2), spansOf(1, 2, 3, 4)},
		{spansOf(1, 2, 2, 3), spansOf(1, 3)},
		{spansOf(1, 9, 2, 3, 8, 10), spansOf(1, 10)},
		{spansOf(4, 5, 1, 2, 1, 5), spansOf(1, 5)},
	} {
		got := dwarf.Tidy(append([]dwarf.Span(nil), c.in...))
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%v: %v, want %v", c.in, got, c.want)
		}
	}
}

// spansOf returns the spans with the given pairs of bounds.
func spansOf(bounds ...uint64) (all []dwarf.Span) {
	for ; len(bounds) >= 2; bounds = bounds[2:] {
		all = append(all, dwarf.Span{Lo: bounds[0], Hi: bounds[1]})
	}
	return all
}
