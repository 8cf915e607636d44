package report

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/elfcore"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// peerFrame is a frame, or an inlined call, reduced to what two tools spell alike.
type peerFrame struct{ function, place string }

func (f peerFrame) is(g peerFrame) bool {
	return f.place != "" && f.place == g.place || f.function != "" && f.function == g.function
}

func sourcePlace(file, line string) string {
	if file == "" || line == "" || line == "0" {
		return ""
	}
	return filepath.Base(file) + ":" + line
}

// peerCrash is a crash: a dump that Breakpad reads, and the stacks that gdb found.
type peerCrash struct {
	name, dump, program string
	truth               [][]peerFrame
}

// gdbFramesOf returns the stacks of a file with gdb's backtraces.
func gdbFramesOf(t *testing.T, path string) (stacks [][]peerFrame) {
	t.Helper()
	for _, stack := range gdbStacksOf(t, path) {
		frames := make([]peerFrame, len(stack))
		for i, name := range stack {
			frames[i].function = name
		}
		stacks = append(stacks, frames)
	}
	return stacks
}

// truthFrames returns the stacks in a truth.json, without the frames that gdb inferred.
func truthFrames(t *testing.T, path string) (stacks [][]peerFrame) {
	t.Helper()
	var doc struct {
		Threads []struct {
			Frames []struct {
				Function, File string
				Line           int
				TailCall       bool
			}
		}
	}
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &doc)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range doc.Threads {
		var stack []peerFrame
		for _, f := range thread.Frames {
			if f.Function != "" && !f.TailCall {
				stack = append(stack, peerFrame{plainFunction(f.Function), sourcePlace(f.File, fmt.Sprint(f.Line))})
			}
		}
		stacks = append(stacks, stack)
	}
	return stacks
}

// peerCrashes returns the crashes. The dumps are Breakpad's own on x86-64, and converted from
// cores on other CPUs.
func peerCrashes(t *testing.T) (all []peerCrash) {
	t.Helper()
	for _, dump := range testenv.SharedGlob(t, "data", "crashes", "*", "dump.dmp") {
		dir := filepath.Dir(dump)
		all = append(all, peerCrash{filepath.Base(dir), dump, filepath.Join(dir, "prog"), gdbFramesOf(t, filepath.Join(dir, "gdb_bt.txt"))})
	}
	programs := "[cf]*-O2-dw5" // Go's and Rust's take half of the time
	if testenv.OracleFull() {
		programs = "*"
	}
	for _, packed := range testenv.SharedGlob(t, "data", "vars", programs, "core2md.dmp.gz") {
		dir := filepath.Dir(packed)
		all = append(all, peerCrash{filepath.Base(dir), testenv.Unpacked(t, strings.TrimSuffix(packed, ".gz")), testenv.Unpacked(t, filepath.Join(dir, "prog")), truthFrames(t, filepath.Join(dir, "truth.json"))})
	}
	for _, cpu := range []string{"arm", "arm64", "mips64", "x86"} {
		dir := testenv.Shared(t, "data", "arch", cpu)
		program := filepath.Join(dir, "prog")
		text, err := os.ReadFile(filepath.Join(dir, "gdb_bt.txt"))
		if err != nil {
			t.Fatal(err)
		}
		var stack []peerFrame
		for _, f := range walktest.LastBacktrace(t, string(text)) {
			name, _, _ := strings.Cut(f.Function, " (")
			stack = append(stack, peerFrame{plainFunction(name), sourcePlace(f.File, fmt.Sprint(f.Line))})
		}
		all = append(all, peerCrash{cpu, convertedCore(t, filepath.Join(dir, "core"), program), program, [][]peerFrame{stack}})
	}
	return all
}

// convertedCore returns a minidump made from a core and the code of its binaries, without symtool's stream.
func convertedCore(t *testing.T, core string, binaries ...string) string {
	t.Helper()
	file, err := dumpfile.Open(t.Context(), core, dumpfile.Options{Core: elfcore.Options{Binaries: binaries}})
	if err != nil {
		t.Fatal(err)
	}
	d := file.Dump
	defer file.Close()
	data, _ := walktest.Written(t, "minidump", d)
	path := filepath.Join(t.TempDir(), "dump.dmp")
	if err := os.WriteFile(path, walktest.WithoutRest(t, data), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// peerStore returns a store with the symbol files of Breakpad's dump_syms.
func peerStore(t *testing.T, cases []peerCrash) string {
	t.Helper()
	store, debug := t.TempDir(), t.TempDir()
	tool := testenv.BreakpadTool(t, "dump_syms")
	system := testenv.SharedGlob(t, "data", "crashes", "system", "*.so*")
	var binaries []string
	for _, path := range append(system, testenv.Shared(t, "data", "crashes", "sharedlib", "libcb.so")) {
		if !strings.HasSuffix(path, ".debug") {
			binaries = append(binaries, path)
			linkDebug(t, debug, path)
		}
	}
	for _, c := range cases {
		binaries = append(binaries, c.program)
	}
	for _, path := range binaries {
		text, err := exec.Command(tool, "-d", path, debug).Output()
		head, _, _ := strings.Cut(string(text), "\n")
		fields := strings.SplitN(head, " ", 5)
		if len(text) == 0 {
			t.Logf("dump_syms writes nothing for %s: %v", path, err) // it has no debug information
			continue
		}
		if len(fields) != 5 {
			t.Fatalf("dump_syms %s: %v, %q", path, err, head)
		}
		name := filepath.Base(fields[4])
		to := filepath.Join(store, name, fields[3], name+".sym")
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

// linkDebug puts the debug file of a library, if there is one beside it, into a folder
// under the name that the library asks for.
func linkDebug(t *testing.T, to, library string) {
	t.Helper()
	f, err := elf.Open(library)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := f.Section(".gnu_debuglink")
	if _, err := os.Stat(library + ".debug"); err != nil || s == nil {
		return
	}
	data, err := s.Data()
	name, _, _ := bytes.Cut(data, []byte{0})
	if err == nil {
		err = os.Symlink(library+".debug", filepath.Join(to, string(name)))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// breakpadFramesOf returns the stacks that Breakpad's walker finds with a store.
func breakpadFramesOf(t *testing.T, dump, symbols string) map[string][]peerFrame {
	t.Helper()
	stacks := map[string][]peerFrame{}
	out := runBreakpad(t, testenv.BreakpadTool(t, "minidump_stackwalk"), "-m", dump, symbols)
	for line := range strings.SplitSeq(out, "\n") {
		// Thread, frame, module, function, file, line, offset.
		if f := strings.Split(line, "|"); len(f) == 7 && walkedFrame.MatchString(line) {
			stacks[f[0]] = append(stacks[f[0]], peerFrame{plainFunction(f[3]), sourcePlace(f[4], f[5])})
		}
	}
	return stacks
}

// lostOf returns the frames of a stack, in its order, that are missing from whichever of
// stacks has the most of them.
func lostOf(want []peerFrame, stacks map[string][]peerFrame) []peerFrame {
	best := want
	for _, got := range stacks {
		lost := []peerFrame{}
		for _, f := range want {
			if i := slices.IndexFunc(got, f.is); i >= 0 {
				got = got[i+1:]
			} else {
				lost = append(lost, f)
			}
		}
		if len(lost) < len(best) {
			best = lost
		}
	}
	return best
}

// In each crash, Breakpad's walker finds more of gdb's frames with symtool's symbol
// files than with the files of Breakpad's dump_syms.
func TestOracleBreakpadPeers(t *testing.T) {
	testenv.Oracle(t)
	cases := peerCrashes(t)
	theirs, ours := peerStore(t, cases), namedStore(t)
	for _, c := range cases {
		if err := walktest.WriteSymbols(c.program, ours); err != nil {
			t.Fatal(err)
		}
	}
	var all, found, peer int
	for _, c := range cases {
		withOurs, withTheirs := breakpadFramesOf(t, c.dump, ours), breakpadFramesOf(t, c.dump, theirs)
		n, m, total := 0, 0, 0
		var lost []peerFrame
		for _, stack := range c.truth {
			missed := lostOf(stack, withOurs)
			total += len(stack)
			n += len(stack) - len(missed)
			m += len(stack) - len(lostOf(stack, withTheirs))
			lost = append(lost, missed...)
		}
		t.Logf("%s: %d of %d frames, %d with dump_syms; lost %v", c.name, n, total, m, lost)
		if n < m {
			t.Errorf("%s: %d frames, %d with dump_syms", c.name, n, m)
		}
		all, found, peer = all+total, found+n, peer+m
	}
	t.Logf("%d of %d frames, %d with dump_syms", found, all, peer)
	// Full: 980 of 1,017, and 894. The lost ones are names that gdb spells differently,
	// libc's inlined functions, and frames after the signal handlers of x86 and mips64.
	if share := 100 * found / all; share < 94 || found-peer < all/20 {
		t.Errorf("%d of %d frames, %d with dump_syms; want 94 %%, and 5 %% more", found, all, peer)
	}
}
