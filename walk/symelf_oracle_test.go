package walk

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/oracle"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/symelf"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// gdb shows the same stacks for a program as for the program without symbols and
// .eh_frame and an ELF file made from its symbol file.
func TestOracleSymelfStacks(t *testing.T) {
	testenv.Oracle(t)
	frames, cases := 0, 0
	byRule := map[string]int{}
	most := 5 // gdb takes a second or two for each
	if testenv.OracleFull() {
		most = 1000
	}
	for _, core := range walktest.SharedDumps(t) {
		if cases == most {
			break
		}
		if filepath.Base(core) != "core" || strings.Contains(core, "riscv64") { // gdb 13 does not read riscv64's
			continue
		}
		name := filepath.Base(filepath.Dir(core))
		program := filepath.Join(filepath.Dir(core), "prog")
		dir := t.TempDir()
		bare := filepath.Join(dir, "bare")
		out, err := exec.Command(testenv.Tool(t, cmp.Or(objcopyOf[name], "llvm-objcopy-22")), "--strip-all", "--remove-section=.eh_frame", "--remove-section=.eh_frame_hdr",
			"--remove-section=.debug_frame", program, bare).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		base, offset := placeOf(t, core, program)
		ours := filepath.Join(dir, "ours.elf")
		symbolsAsELF(t, program, ours, base)
		want := symelfStacks(t, core, program)
		got := symelfStacks(t, core, bare, fmt.Sprintf("symbol-file %s -o %#x", ours, offset))
		none := symelfStacks(t, core, bare)
		if slices.Equal(none, want) {
			t.Errorf("%s: the stacks are the same without our file", name)
		}
		frames += len(want)
		cases++
		if !sameStacks(got, want, byRule) {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	t.Logf("%d cores, %d frames; %v", cases, frames, byRule)
	for rule, n := range byRule {
		if n > frames/10 {
			t.Errorf("%d frames differ by rule %s", n, rule)
		}
	}
	if cases < min(most, 10) || frames < 6*cases {
		t.Errorf("%d cores, %d frames only", cases, frames)
	}
}

// objcopyOf has the tools for programs whose relocations llvm-objcopy rejects. (For other programs,
// gdb does not find the shared libraries after binutils' objcopy.)
var objcopyOf = map[string]string{"arm": "arm-linux-gnueabihf-objcopy", "arm64": "aarch64-linux-gnu-objcopy", "mips64": "mips64-linux-gnuabi64-objcopy", "x86": "objcopy"}

// sameStacks compares frame by frame. What may differ:
//
//   - spelling: names are demangled as a whole, so they have result types, and lambdas
//     are {lambda}; gdb has operator(), and omits parameters. If a place has several
//     names, gdb may show another than the symbol file (__qsort_r);
//   - statement: gdb takes the last row of the line table that begins a statement. A
//     symbol file has each row, as other tools answer.
func sameStacks(got, want []string, byRule map[string]int) bool {
	if len(got) != len(want) {
		return false
	}
	for i := range got {
		g, w := symelfParts.FindStringSubmatch(got[i]), symelfParts.FindStringSubmatch(want[i])
		switch {
		case got[i] == want[i]:
			continue
		case g == nil || w == nil || g[1] != w[1] || g[3] != w[3]:
			return false
		}
		if symelfName(g[2]) != symelfName(w[2]) && w[2] != "operator" {
			return false
		}
		if g[2] != w[2] {
			byRule["spelling"]++
		}
		if g[4] != w[4] {
			byRule["statement"]++
		}
	}
	return true
}

var symelfParts = regexp.MustCompile(`^(#\d+) (.*?) (\S+)(?: (\d+))?$`)

// symelfName returns a function's name without result type, template arguments and parameters.
func symelfName(name string) string {
	name, _, _ = strings.Cut(name, "<")
	return strings.TrimLeft(name[strings.LastIndexByte(name, ' ')+1:], "_")
}

// placeOf returns the load base of a program, and the distance by which it was moved in a process.
func placeOf(t *testing.T, core, program string) (base, offset uint64) {
	t.Helper()
	f, err := objfile.Open(program, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d := walktest.Opened(t, core)
	i := slices.IndexFunc(d.Modules, func(m dump.Module) bool { return filepath.Base(m.Path) == "prog" })
	if i < 0 {
		return f.Base, 0
	}
	return f.Base, d.Modules[i].Bias
}

// symbolsAsELF writes an ELF file with a program's symbols.
func symbolsAsELF(t *testing.T, program, path string, base uint64) {
	t.Helper()
	f, err := objfile.Open(program, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	result, err := dwarf2sym.Read(context.Background(), f, dwarf2sym.Options{Demangle: true})
	if err != nil {
		t.Fatal(err)
	}
	m := result.Module
	var out bytes.Buffer
	if err := symelf.Write(&out, m, symelf.Options{Base: base}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

var (
	symelfFrame = regexp.MustCompile(`^#(\d+) +(?:0x[0-9a-f]+ in )?(.*?)(?: at (\S+):(\d+)| from (\S+))?$`)
	symelfArgs  = regexp.MustCompile(`\s*\(.*$`)
)

// symelfStacks returns gdb's frames of all threads: number, function without
// parameters, file without folders, line; up to main, after which gdb stops or not.
func symelfStacks(t *testing.T, core, program string, more ...string) (frames []string) {
	t.Helper()
	over := false
	for line := range strings.SplitSeq(oracle.GDBCore(t, core, program, append(more, "thread apply all bt 300")...), "\n") {
		if strings.HasPrefix(line, "Thread ") {
			over = false
			frames = append(frames, strings.Join(strings.Fields(line)[:2], " "))
		}
		if m := symelfFrame.FindStringSubmatch(line); m != nil && len(frames) > 0 && !over {
			over = strings.HasPrefix(m[2], "main (")
			frames = append(frames, strings.TrimSpace(fmt.Sprintf("#%s %s %s %s", m[1], symelfArgs.ReplaceAllString(m[2], ""), filepath.Base(m[3]), m[4])))
		}
	}
	return frames
}
