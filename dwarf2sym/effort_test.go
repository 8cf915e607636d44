package dwarf2sym

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/dwarf2sym/internal/codemap"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
)

// Real files need a small part of the work that is allowed.
func TestEffortOfRealFiles(t *testing.T) {
	files := make(map[string]string)
	for _, path := range fixtures(t) {
		files[filepath.Base(path)] = path
	}
	if !testing.Short() {
		for name, path := range largeFiles(t) {
			files[name] = path
		}
	}
	const large = 1 << 20 // smaller ones have effortBase
	most, where := 0.0, ""
	for name, path := range files {
		f := symtest.Open(t, path)
		if !f.HasDWARF() {
			continue
		}
		r := &reader{opts: &Options{}, file: f, jobs: 2, code: codemap.Of(f), files: filesOf(f)}
		r.readSymbols()
		d := r.openDebugData()
		if d == nil {
			t.Fatal(name, r.problems)
		}
		if err := r.readUnits(context.Background(), d); err != nil {
			t.Fatal(name, err)
		}
		spent, size := d.Effort.Spent.Load(), (d.Effort.Limit-units.EffortBase)/units.EffortRatio
		if share := float64(spent) / float64(size); share > most && size > large {
			most, where = share, name
		}
		if spent > d.Effort.Limit/4 {
			t.Errorf("%s: %d of %d", name, spent, d.Effort.Limit)
		}
	}
	t.Logf("%s: at most %.2f bytes of work for each byte of debug sections", where, most)
	if most > units.EffortRatio/4 {
		t.Errorf("%s: %.2f of %d allowed", where, most, units.EffortRatio)
	}
}

// Data that the units of a damaged file share do not take excessive time and memory, and
// the losses are the same for any number of workers.
func TestEffortIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, which tests with -short run with")
	}
	lines := func(n int) string {
		var b strings.Builder
		b.WriteString("\t.debug_line\n\tprogram 4\n\tfile \"x.c\" 0\n\tset_address 0x1000\n")
		for range n {
			b.WriteString("\tspecial 0x21\n\tspecial 0x1f\n")
		}
		return b.String() + "\tadvance_pc 1\n\tend_sequence\n"
	}
	// repeat writes the numbers from 0 on, modulo mod, into the format.
	repeatMod := func(n, mod int, format string) string {
		if !strings.Contains(format, "%") {
			return strings.Repeat(format, n)
		}
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i%mod)
		}
		return b.String()
	}
	repeat := func(n int, format string) string { return repeatMod(n, n, format) }
	const unit = "\t.debug_info\n\tunit 4\n\t\tcompile_unit language/data1=4 stmt_list/sec_offset=0\n"
	for _, c := range []struct {
		name, in string
		lost     bool // all functions
	}{
		{"one line program for 20,000 units",
			"\t.debug_info\n" + repeat(20000, "\tunit 4 abbrev=0\n\t\t<01 00 00 00 00 02>\n\t\taddr 0x1000\n\t\tu8 1\n") + lines(20000) +
				"\t.debug_abbrev\n\t<01 11 01 10 17 00 00 02 2e 00 11 01 12 0b 00 00 00>", true},
		{"one abbreviation table for 20,000 units, each from another place on",
			"\t.debug_info\n" + repeat(20000, "\tbegin\n\tu16 4\n\tu32 %d\n\tu8 8 1\n\tend\n") +
				"\t.debug_abbrev\n\t<" + strings.Repeat("01 11 01 00 00 ", 40000) + ">", true},
		{"one range list for 20,000 functions",
			unit + repeat(20000, "\t\t\tsubprogram ranges/data4=0\n") + "\t.debug_ranges\n\taddr " + repeat(20000, "0x%d000 0x1000 "), true},
		{"one range list of nothing but bases",
			unit + repeat(20000, "\t\t\tsubprogram ranges/data4=0\n") + "\t.debug_ranges\n\taddr " + strings.Repeat("-1 0x1000 ", 20000), true},
		{"all lines for each of 20,000 functions",
			unit + repeat(20000, "\t\t\tsubprogram low_pc/addr=0x1000 high_pc/data4=%d\n") + lines(20000), true},
		{"one long string, from another place on for each of 20,000 functions",
			unit + repeat(20000, "\t\t\tsubprogram name/strp=%d low_pc/addr=0x1000 high_pc/data4=1\n") + "\t.debug_str\n\t\"" + strings.Repeat("a", 100000) + "\"", true},
		{"one long linkage name, from another place on for each of 20,000 functions",
			unit + repeat(20000, "\t\t\tsubprogram linkage_name/strp=%d low_pc/addr=0x1000 high_pc/data4=1\n") + "\t.debug_str\n\t\"" + strings.Repeat("a", 100000) + "\"", true},
		{"one long string of many places for each file",
			unit + "\t\t\tsubprogram low_pc/addr=0x1000 high_pc/data4=200000\n\t.debug_str\n\t\"" + strings.Repeat("a", 100000) + "\"\n\t.debug_line\n\tprogram 5\n\tdirs path/string\n\tdir \"/\"\n\tfiles path/strp\n" +
				repeat(20000, "\tfile %d\n") + "\tset_address 0x1000\n" + repeat(20000, "\tset_file %d\n\tspecial 0x22\n") + "\tend_sequence\n", true},
		{"a chain of origins with long names",
			unit + "\t\t\td: subprogram linkage_name/strp=0 call_line/string=\"" + strings.Repeat("x", 50000) + "\"\n" +
				repeat(20000, "\t\t\tsubprogram specification/ref4=&d low_pc/addr=0x1000 high_pc/data4=%d\n") + "\t.debug_str\n\t\"f\"", true},
		{"many pieces, many inlines",
			unit + "\t\t\tsubprogram ranges/data4=0\n" + repeat(20000, "\t\t\t\tinlined_subroutine low_pc/addr=0x1000 high_pc/data4=0xffff\n") +
				"\t.debug_ranges\n\taddr " + repeat(9000, "0x%d0 0x%[1]d8 ") + "0 0", true},
		{"deep inlines that do not nest",
			unit + "\t\t\tsubprogram low_pc/addr=0x1000 high_pc/data4=0xffff\n" + nestedInlines(3000, 5000), true},
		{"inlines that do not nest, within reason",
			unit + "\t\t\tsubprogram low_pc/addr=0x1000 high_pc/data4=0xffff\n" + nestedInlines(20, 3000), false},
		{"references into many units in turn, of one table",
			"\t.debug_info\n" + repeat(2000, "\tunit 4 abbrev=0\n\t\t<01 04>\n\tf%d:\n\t<02 66 00 00>\n") +
				"\tunit 4 abbrev=0\n\t\t<01 04>\n" + repeatMod(50000, 2000, "\t\t<03>\n\t\tu32 &f%d\n\t\taddr 0x1000\n\t\t<01>\n") +
				"\t.debug_abbrev\n\t<01 11 01 13 0b 00 00 02 2e 00 03 08 00 00 03 2e 00 47 10 11 01 12 0b 00 00 " + strings.Repeat("04 11 01 00 00 ", 1000) + "00>", false},
		{"references into many units in turn, each of another table",
			"\t.debug_info\n" + repeat(2000, "\tunit 4 abbrev=%d0\n\t\t<01>\n\tf%[1]d:\n\t<02 00>\n") +
				"\tunit 4 abbrev=20000\n\t\t<01>\n" + repeatMod(50000, 2000, "\t\t<03>\n\t\tu32 &f%d\n\t\taddr 0x1000\n\t\t<01>\n") +
				"\t.debug_abbrev\n\t<" + strings.Repeat("01 11 01 00 00 ", 4001) + "02 2e 00 00 00 03 2e 00 47 10 11 01 12 0b 00 00 " + strings.Repeat("04 11 01 00 00 ", 100000) + "00>", true},
		{"DIEs of one byte with many attributes",
			"\t.debug_info\n\tunit 4 abbrev=0\n\t\t<01 04 00" + strings.Repeat(" 02", 20000) + ">\n" +
				"\t.debug_abbrev\n\t<01 11 01 13 05 00 00 02 2e 00 " + strings.Repeat("58 21 01 ", 20000) + "00 00 00>", true},
		{"scopes of one byte with many attributes",
			"\t.debug_info\n\tunit 4 abbrev=0\n\t\t<01 04 00" + strings.Repeat(" 02 00", 20000) + ">\n" +
				"\t.debug_abbrev\n\t<01 11 01 13 05 00 00 02 13 01 " + strings.Repeat("03 21 01 ", 20000) + "00 00 00>", true},
		{"units of one byte with many attributes",
			"\t.debug_info\n" + repeat(20000, "\tunit 4 abbrev=0\n\t\t<01>\n") +
				"\t.debug_abbrev\n\t<01 11 00 " + strings.Repeat("13 21 01 ", 20000) + "00 00 00>", true},
		{"references to a DIE of one byte with many attributes",
			"\t.debug_info\n\tunit 4 abbrev=0\n\t\t<01 04 00>\n\td:\n\t\t<02>\n" + repeat(20000, "\t\t<03>\n\t\tu32 &d\n\t\taddr 0x1000\n\t\t<01>\n") +
				"\t.debug_abbrev\n\t<01 11 01 13 05 00 00 02 2e 00 " + strings.Repeat("58 21 01 ", 20000) + "00 00 03 2e 00 47 10 11 01 12 0b 00 00 00>", true},
		{"functions inside of one with all lines",
			unit + "\t\t\tsubprogram low_pc/addr=0x1000 high_pc/data4=40002\n" + insideFuncs(20000) + lines(20000), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := coreOf(t, c.in)
			size := 0
			for _, s := range in.sections {
				size += len(s)
			}
			var want string
			const base = 4 << 20 // less than effortBase, so that the limit is soon reached
			for _, run := range []coreRun{{jobs: 1, base: base}, {jobs: 2, batch: 1000, base: base}, {jobs: 3, base: base}} {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				watch := testenv.StartWatch()
				got := in.text(t, Options{}, run)
				took := watch.Took()
				runtime.ReadMemStats(&after)
				if took > 20*time.Second {
					t.Errorf("%+v: took %v", run, took)
				}
				if mem := after.TotalAlloc - before.TotalAlloc; mem > 16*(base+units.EffortRatio*uint64(size)) {
					t.Errorf("%+v: allocated %d bytes for %d", run, mem, size)
				}
				t.Logf("%d bytes: %v, %d MB allocated", size, took.Round(time.Millisecond), (after.TotalAlloc-before.TotalAlloc)>>20)
				if lost := strings.HasSuffix(got, "bytes (lost: all functions)\n") && strings.Contains(got, "stand for more than"); lost != c.lost {
					t.Errorf("%+v: lost %v: %.300s", run, lost, got)
				}
				if want == "" {
					want = got
				}
				if run.batch == 0 && got != want {
					t.Errorf("%+v: other records", run)
				}
			}
		})
	}
}

// insideFuncs returns lines of n functions of one byte, at every second address.
func insideFuncs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "\t\t\tsubprogram name/string=\"f\" low_pc/addr=%d high_pc/data4=1\n", 0x1001+2*i)
	}
	return b.String()
}

// nestedInlines returns lines of inlined subroutines, deep ones inside each other
// and then many side by side, which overlap.
func nestedInlines(deep, wide int) string {
	var b strings.Builder
	for i := range deep {
		fmt.Fprintf(&b, "%sinlined_subroutine low_pc/addr=0x1000 high_pc/data4=0xffff\n", strings.Repeat("\t", 4+i))
	}
	for i := range wide {
		fmt.Fprintf(&b, "%sinlined_subroutine low_pc/addr=%d high_pc/data4=2\n", strings.Repeat("\t", 4+deep), 0x1000+i)
	}
	return b.String()
}
