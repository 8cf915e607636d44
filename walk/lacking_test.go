package walk_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/walktest"
	"github.com/symtool/symtool/walk/internal/walktest/walks"
)

// vectorCores returns a core of a program with frames of SVE's vectors, and the same core without its NT_ARM_SVE; and
// the program.
func vectorCores(t *testing.T) (whole, bare, program string) {
	from := func(name string) []byte { return testenv.Gunzip(t, testenv.Shared(t, "data", "found3", "walk", name)) }
	data := from("sve2.core.gz")
	i := strings.Index(string(data), "\x05\x04\x00\x00LINUX\x00")
	if i < 0 {
		t.Fatal("no NT_ARM_SVE")
	}
	without := slices.Clone(data)
	without[i+1] = 0x7f
	return walktest.WriteFile(t, "whole.core", data), walktest.WriteFile(t, "bare.core", without), walktest.WriteFile(t, "sve", from("sve.gz"))
}

func functions(frames []walk.Frame) (names []string) {
	for i := range frames {
		names = append(names, frames[i].Function())
	}
	return names
}

// The frame pointer of functions that do not set it leads past their callers. The program's source has the truth.
func TestFramesOfVectors(t *testing.T) {
	whole, bare, program := vectorCores(t)
	want := []string{"boom", "spill", "mid", "main", "__libc_start_call_main", "__libc_start_main", "_start"}
	for _, c := range []struct {
		core  string
		by    walk.Technique // of mid
		notes string
	}{
		{whole, walk.ByEHFrame, ""},
		{bare, walk.ByScan, "1 frame needs the register vg by its rules, and the dump lacks it: callers may be missing"},
	} {
		s := walks.Dump(t, c.core, walks.BinarySources(t, program), walk.Config{Trace: true}).Stacks[0]
		if got := functions(s.Frames); !slices.Equal(got, want) {
			t.Fatalf("%s: %q, want %q", c.core, got, want)
		}
		if notes := strings.Join(s.Notes, "; "); s.Frames[2].By != c.by || notes != c.notes {
			t.Errorf("%s: mid by %v, notes %q, want %v, %q", c.core, s.Frames[2].By, notes, c.by, c.notes)
		}
		if trace := strings.Join(s.Trace, "\n"); strings.Contains(trace, "may not have set x29") != (c.notes != "") {
			t.Errorf("%s: %s", c.core, trace)
		}
	}
}

// vlenb has the same value in all frames.
func TestFramesOfRISCVVectors(t *testing.T) {
	const symbols = "MODULE Linux riscv64 000000000000000000000000000000000 a\nFUNC 1000 100 0 spill\nFUNC 2000 100 0 mid\nFUNC 3000 100 0 main\n" +
		"STACK CFI INIT 1000 100 .cfa: sp 16 vlenb 2 * + + .ra: .cfa -8 + ^\n" +
		"STACK CFI INIT 2000 100 .cfa: sp 16 vlenb + + .ra: .cfa -8 + ^\n"
	for _, vlenb := range []int{16, 64} {
		a := walktest.Assemble(t, arch.RISCV64, dump.Linux).Module("a", 0x10000, 0x4000, symbols)
		a.At(0x80000).Zeros(vlenb*2/8 + 1).Words(0x12004).Zeros(vlenb/8 + 1).Words(0x13004).Zeros(8)
		s := walks.Assembled(a.Regs("pc", 0x11010, "sp", 0x80000, "vlenb", vlenb), walk.Config{}).Stacks[0]
		if got := functions(s.Frames); !slices.Equal(got, []string{"spill", "mid", "main"}) {
			t.Errorf("vectors of %d bytes: %q", vlenb, got)
		}
	}
}
