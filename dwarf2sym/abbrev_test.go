package dwarf2sym

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
)

// formValues holds a value of each form, with a known length.
var formValues = []string{
	"addr=0x1122", "block2=<01 02 03>", "block4=<01>", "data2=7", "data4=7", "data8=7", `string="some text"`,
	"block=<01 02 03 04 05>", "block1=<>", "data1=7", "flag=1", "sdata=-129", "strp=7", "udata=0x4000", "ref_addr=0", "ref1=7",
	"ref2=7", "ref4=7", "ref8=7", "ref_udata=300", "sec_offset=7", "exprloc=<91 7f>", "flag_present", "strx=300",
	"addrx=300", "ref_sup4=7", "strp_sup=7", "data16=<00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f>", "line_strp=7",
	"ref_sig8=7", "implicit_const=-300", "loclistx=300", "rnglistx=300", "ref_sup8=7", "strx1=7", "strx2=7", "strx3=7",
	"strx4=7", "addrx1=7", "addrx2=7", "addrx3=7", "addrx4=7", "GNU_addr_index=300", "GNU_str_index=300",
	"GNU_ref_alt=7", "GNU_strp_alt=7", "LLVM_addrx_offset=<ac 02 07 00 00 00>", "indirect:udata=300",
	"indirect:indirect:data4=7", "indirect:exprloc=<91 7f>", `indirect:string="x"`, "indirect:flag_present",
}

func TestFormsAreKnown(t *testing.T) {
	have := make(map[uint64]bool)
	for _, v := range formValues {
		form, _, _ := strings.Cut(v, "=")
		form, _, _ = strings.Cut(form, ":")
		have[asmForms[form]] = true
	}
	for name, form := range asmForms {
		if !have[form] {
			t.Errorf("no value of form %s in this test", name)
		}
	}
}

// Each form is skipped by its length: in a DIE that is skipped, in one that is read, beside
// and as a wanted attribute, and in the unit's own DIE.
func TestForms(t *testing.T) {
	for _, header := range []string{"unit 5", "unit 5 64", "unit 4", "unit 2 addr=4"} {
		for _, v := range formValues {
			t.Run(header+" "+v, func(t *testing.T) {
				c := coreOf(t, fmt.Sprintf(`
				.debug_info
					%s
						compile_unit producer/%[2]s language/data1=2 type/%[2]s
							variable const_value/%[2]s decl_line/data1=1
							namespace producer/%[2]s name/string="n"
								member data_bit_offset/%[2]s
							array_type type/%[2]s
								member
							subprogram const_value/%[2]s name/string="f" type/%[2]s low_pc/addr=0x1000 high_pc/data1=16
								inlined_subroutine decl_line/%[2]s low_pc/addr=0x1004 high_pc/data1=4 call_line/data1=3
							subprogram name/%[2]s linkage_name/%[2]s specification/%[2]s
							subprogram call_line/%[2]s low_pc/addr=0x2000 high_pc/data1=16 name/string="g"`, header, v))
				const want = "FILE 0 ??\nINLINE_ORIGIN 0 <name omitted>\nFUNC 1000 10 0 f\nINLINE 0 3 0 0 1004 4\nFUNC 2000 10 0 g\n"
				got := c.text(t, Options{}, coreRun{jobs: 1, copying: true})
				if got = misfits.ReplaceAllString(got, ""); got != want {
					t.Errorf("got:\n%swant:\n%s", got, want)
				}
			})
		}
	}
}

// misfits matches the attributes in TestForms that cannot have a form, or whose value is
// invalid.
var misfits = regexp.MustCompile(`(?m)^! test: \S+: (?:DW_AT_\w+ of form|string).*\n`)

func TestUnknownForms(t *testing.T) {
	runCoreCases(t, []coreCase{
		{name: "unknown form ends the unit, not the dump",
			in: `
			.debug_info
				unit 5
					compile_unit name/string="a.c" language/data1=2
						subprogram name/string="f" low_pc/addr=0x1000 high_pc/data1=16
						variable name/0x2d=<00>
						subprogram name/string="g" low_pc/addr=0x1100 high_pc/data1=16
				unit 5
					compile_unit name/string="b.c" language/data1=2
						subprogram name/string="h" low_pc/addr=0x1200 high_pc/data1=16`,
			want: `
				FUNC 1000 10 0 f
				FUNC 1200 10 0 h
				! test: .debug_info+0x1e: attribute with unknown form 0x2d (lost: unit at 0x0, a.c from there on)`},
		{name: "a declaration that is not used may have any form",
			in: `
			.debug_abbrev
				uleb 1 0x11
				u8 1
				uleb 0x13 0x0b 0 0
				uleb 2 0x2e
				u8 0
				uleb 3 8 0x11 1 0x12 0x0b 0 0
				uleb 3 0x34
				u8 0
				uleb 3 0x7777 0 0 0
			.debug_info
				unit 5 abbrev=0
					u8 1 2
					u8 2
					"f"
					addr 0x1000
					u8 16
					u8 0`,
			want: `FUNC 1000 10 0 f`},
		{name: "in the unit's own DIE",
			in: `
			.debug_info
				unit 5
					compile_unit name/0x7f=<01>`,
			want: `! test: .debug_info+0xd: attribute with unknown form 0x7f (lost: unit at 0x0)`},
		{name: "attribute 0",
			in: `
			.debug_abbrev
				uleb 1 0x11
				u8 1
				uleb 0x13 0x0b 0 0x0b 0 0 0
			.debug_info
				unit 5 abbrev=0
					u8 1 2 0
					u8 0`,
			want: `! test: .debug_info+0xd: attribute that is 0, or has the form 0 (lost: unit at 0x0)`},
		{name: "an end of the DIEs before the end of the unit",
			in: `
			.debug_abbrev
				uleb 1 0x11
				u8 1
				uleb 0x13 0x0b 0 0
				uleb 2 0x2e
				u8 0
				uleb 3 8 0x11 1 0x12 0x0b 0 0 0
			.debug_info
				unit 5 abbrev=0
					u8 1 2
					u8 2
					"f"
					addr 0x1000
					u8 16
					u8 0
					u8 2
					"g"
					addr 0x1010
					u8 16
					u8 0
				unit 5 abbrev=0
					u8 1 2
					u8 2
					"h"
					addr 0x1020
					u8 16
					u8 0 0 0 0`, // as padding is
			want: `
				FUNC 1000 10 0 f
				FUNC 1020 10 0 h
				! test: .debug_info+0x1b: 13 bytes behind the unit's last DIE (lost: unit at 0x0 from there on)`},
		{name: "indirect to implicit_const, and without an end",
			in: `
			.debug_info
				unit 5
					compile_unit
						subprogram name/string="f" low_pc/addr=0x1000 high_pc/data1=16
						variable decl_line/0x16=<21>
				unit 5
					compile_unit
						variable decl_line/0x16=<16 16 16 16 16 16 16 16 16 16 16 16>`,
			want: `
				FUNC 1000 10 0 f
				! test: .debug_info+0x19: unit ends within a DIE (lost: unit at 0x0 from there on)
				! test: .debug_info+0x29: unit ends within a DIE (lost: unit at 0x1c from there on)`},
	})
}

func TestAbbrevTables(t *testing.T) {
	const unit = `
			.debug_info
				unit 4 abbrev=0
					u8 1 2
					"a.c"
					u8 2
					"f"
					addr 0x1000
					u8 16`
	const table = `
			.debug_abbrev
				uleb 1 0x11
				u8 1
				uleb 0x13 0x0b 3 8 0 0
				uleb 2 0x2e
				u8 0
				uleb 3 8 0x11 1 0x12 0x0b 0 0`
	runCoreCases(t, []coreCase{
		{name: "large codes, and codes in any order",
			in: `
			.debug_abbrev
				uleb 0xfffffffffffffff 0x2e
				u8 0
				uleb 3 8 0x11 1 0x12 0x0b 0 0
				uleb 20000 0x11
				u8 1
				uleb 0x13 0x0b 3 8 0 0
				uleb 5 0x2e
				u8 0
				uleb 0x11 1 3 8 0x12 0x0b 0 0
				u8 0
			.debug_info
				unit 4 abbrev=0
					uleb 20000
					u8 2
					"a.c"
					uleb 0xfffffffffffffff
					"f"
					addr 0x1000
					u8 16
					uleb 5
					addr 0x1100
					"g"
					u8 16`,
			want: "FUNC 1000 10 0 f\nFUNC 1100 10 0 g"},
		{name: "the table ends with its section", in: table + unit,
			want: `! test: .debug_abbrev+0x14: unterminated ULEB128 (lost: unit at 0x0)`},
		{name: "the table ends within a declaration", in: table + "\nuleb 3 0x34" + unit,
			want: `! test: .debug_abbrev+0x16: need 1 bytes, 0 left (lost: unit at 0x0)`},
		{name: "a code over 64 bits", in: table + "\n<ff ff ff ff ff ff ff ff ff 7f>" + unit,
			want: `! test: .debug_abbrev+0x14: ULEB128 of more than 64 bits (lost: unit at 0x0)`},
		{name: "whole", in: table + "\nu8 0" + unit, want: "FUNC 1000 10 0 f"},
	})
}

// With DW_AT_sibling the scan skips the children of a type. Wrong values are ignored.
func TestSiblings(t *testing.T) {
	for _, sibling := range []string{"ref4=&next", "ref8=&next", "ref4=0", "ref4=1", "ref4=0xffffffff", "ref8=0xffffffffffffffff", "ref_udata=3", "ref2=&next"} {
		t.Run(sibling, func(t *testing.T) {
			c := coreOf(t, fmt.Sprintf(`
			.debug_info
				unit 4
					compile_unit language/data1=2
						structure_type name/strp="s" sibling/%[1]s
							member name/string="m"
						next: subroutine_type sibling/%[1]s
							formal_parameter
						subprogram name/string="f" low_pc/addr=0x1000 high_pc/data1=16`,
				sibling))
			if got := c.text(t, Options{}, coreRuns[0]); got != "FUNC 1000 10 0 f\n" {
				t.Error(got)
			}
		})
	}
	// Skipped bytes are not examined, even if they do not form a DIE.
	c := coreOf(t, `
			.debug_info
				unit 4
					compile_unit language/data1=2
						structure_type name/strp="s" sibling/ref4=&next
							member name/string="m"
							<77 77>
						next: subprogram name/string="f" low_pc/addr=0x1000 high_pc/data1=16`)
	if got := c.text(t, Options{}, coreRuns[0]); got != "FUNC 1000 10 0 f\n" {
		t.Error(got)
	}
}

func TestDeepNesting(t *testing.T) {
	deep := func(n int) string {
		var b strings.Builder
		b.WriteString("\t.debug_info\n\tunit 4\n\t\tcompile_unit language/data1=4\n")
		b.WriteString("\t\t\tsubprogram name/string=\"f\" low_pc/addr=0x1000 high_pc/data1=16\n")
		for i := range n {
			b.WriteString(strings.Repeat("\t", 4+i) + "lexical_block\n")
		}
		b.WriteString("\t\t\tsubprogram name/string=\"g\" low_pc/addr=0x1100 high_pc/data1=16\n")
		return b.String()
	}
	if got := coreOf(t, deep(1000)).text(t, Options{}, coreRuns[0]); got != "FUNC 1000 10 0 f\nFUNC 1100 10 0 g\n" {
		t.Error(got)
	}
	got := coreOf(t, deep(2*dwarf.MaxDepth)).text(t, Options{}, coreRuns[0])
	if !strings.HasPrefix(got, "FUNC 1000 10 0 f\n! ") || !strings.Contains(got, "DIEs nested more than 4096 deep") {
		t.Error(got)
	}
}
