package callframe_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/sframe"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/symsframe"
)

// asmRules gives the reasons why GNU as 2.47 writes SFrame for a function that differs from
// the SFrame that we make from its .eh_frame. lacks means that as writes none.
var asmRules = []sframeRule{
	{"aarch64-unrep", "cfa_x9 ra_in_x17 fp_in_x9 retcol esc", true, "as uses FLEX on AMD64 and s390x only"},
	{"aarch64-unrep", "fp_only same_ra", true, "as drops a frame pointer that is saved without the return address"},
	{"aarch64-unrep", "sve_vg", true, "as drops the function; here the CFA that has no text costs what follows it"},
	{"amd64-unrep", "esc_cfa_expr_other esc_args_size_sp retcol", true, "as knows two escapes and the usual column; these have rows all the same"},
	{"amd64-unrep", "sigframe_unrep", false, "as writes no rows for this escape; it is *(rsp+40)"},
	{"amd64-unrep", "remember_nested", false, "as remembers one state"},
	{"amd64-unrep", "simple_startproc", false, "DWARF has no rule for the return address"},
	{"amd64-sig", ".text", false, "as writes no rows for this escape; and a return address that is undefined stays so"},
	{"amd64-extreme", ".text", false, "an offset of -1 is none in .eh_frame, where as counts in eights"},
	{"s390x-unrep", "cfa_unaligned offs", false, "as cuts CFA offsets to multiples of 8; we write no wrong rows"},
}

// Our SFrame from .eh_frame equals GNU as's for the same source, function by function:
// flags, and rows, except rows that repeat the one before or cover nothing.
func TestSFrameAgainstAssembler(t *testing.T) {
	testenv.Oracle(t)
	sources, err := filepath.Glob(filepath.Join(testenv.Shared(t, "data", "sframe", "asm"), "*.s"))
	if err != nil || len(sources) < 20 {
		t.Fatalf("%d sources, %v", len(sources), err)
	}
	e := newExplainer(t, asmRules)
	funcs, rows := 0, 0
	for _, source := range sources {
		out := filepath.Join(t.TempDir(), "a.o")
		args := append(assemblerFor(source), "--gsframe", "-o", out, source)
		if text, err := exec.Command(testenv.Shared(t, "tools", "suite-tool"), append([]string{"sid"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if f := openSFrameFile(t, out); f != nil {
			n, m := compareAssembled(t, &e, strings.TrimSuffix(filepath.Base(source), ".s"), f)
			funcs, rows = funcs+n, rows+m
		}
	}
	e.finish()
	t.Logf("%d functions, %d rows of %d sources", funcs, rows, len(sources))
	if rows < 300 {
		t.Error("too few")
	}
}

// assemblerFor returns the assembler for a source, which is named after its CPU.
func assemblerFor(source string) []string {
	cpu, _, _ := strings.Cut(filepath.Base(source), "-")
	switch cpu {
	case "aarch64":
		return []string{"aarch64-linux-gnu-as"}
	case "aarch64be":
		return []string{"aarch64-linux-gnu-as", "-EB"}
	case "s390x":
		return []string{"s390x-linux-gnu-as"}
	}
	return []string{"as"}
}

func compareAssembled(t *testing.T, e *explainer, name string, f *sframeFile) (funcs, rows int) {
	target := sframe.Target{Version: 3, ABI: f.section.Headers[0].ABI}
	ours, _ := symsframe.FromCFI(f.cfi, target.ABI, f.Base)
	data, _, err := sframe.Encode(ours, target)
	if err != nil {
		t.Fatal(err)
	}
	own, err := sframe.Decode(data, sframe.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ours, _ = own.Funcs()
	theirs, _ := f.section.Funcs()
	for _, got := range ours {
		fn := f.name(symfmt.RVA(got.Start - f.Base))
		k := slices.IndexFunc(theirs, func(o sframe.Func) bool { return o.Start == got.Start && o.Size == got.Size })
		if k < 0 {
			if !e.explained(name, fn, true) {
				t.Errorf("%s: %s: as has no such function", name, fn)
			}
			continue
		}
		want := theirs[k]
		theirs = slices.Delete(theirs, k, k+1)
		if want.Rows = needed(want); fmt.Sprint(got) != fmt.Sprint(want) && !e.explained(name, fn, false) {
			t.Errorf("%s: %s:\n%+v, as has\n%+v", name, fn, got, want)
		}
		funcs, rows = funcs+1, rows+len(got.Rows)
	}
	for _, want := range theirs {
		fn := f.name(symfmt.RVA(want.Start - f.Base))
		if want.Size > 0 && !e.explained(name, fn, false) {
			t.Errorf("%s: %s: only as has it: %+v", name, fn, want)
		}
	}
	return funcs, rows
}

// needed returns the rows that Encode would write.
func needed(f sframe.Func) (rows []sframe.Row) {
	for i, r := range f.Rows {
		if r.Start >= f.Size || i+1 < len(f.Rows) && f.Rows[i+1].Start == r.Start {
			continue
		}
		if n := len(rows); n > 0 {
			last := r
			if last.Start = rows[n-1].Start; last == rows[n-1] {
				continue
			}
		}
		rows = append(rows, r)
	}
	return rows
}

// The round trip of large binaries, some of them for other CPUs.
func TestSFrameRoundTripSystem(t *testing.T) {
	testenv.Oracle(t)
	for _, f := range []struct{ path, pkg string }{
		{"/usr/lib/x86_64-linux-gnu/libc.so.6", "libc6"},
		{"/usr/lib/x86_64-linux-gnu/libcrypto.so.3", "libssl3"},
		{"/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus", "g++-12"},
		{"/usr/aarch64-linux-gnu/lib/libc.so.6", "libc6-arm64-cross"},
		{"/usr/aarch64-linux-gnu/lib/libstdc++.so.6", "libstdc++6-arm64-cross"},
		{"/usr/s390x-linux-gnu/lib/libc.so.6", "libc6-s390x-cross"},
		{"/usr/s390x-linux-gnu/lib/libstdc++.so.6", "libstdc++6-s390x-cross"},
	} {
		t.Run(strings.ReplaceAll(f.path, "/", "_"), func(t *testing.T) {
			path := testenv.File(t, f.path, f.pkg)
			if st, err := os.Stat(path); err != nil || st.Size() > 8<<20 && !testenv.OracleFull() {
				t.Skipf("large: make oracle-full (%v)", err)
			}
			for _, version := range []uint8{2, 3} {
				roundTrip(t, path, version)
			}
		})
	}
}
