package resolve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/gsym"
)

// gsymFrame is a line of llvm-gsymutil's answer.
type gsymFrame struct {
	name    string
	offset  uint64 // from the function's start
	file    string
	line    uint64
	inlined bool
}

// parseGSYMFrame parses "name + 5 @ file:3 [inlined]", in which everything but the name
// may be missing.
func parseGSYMFrame(text string) (f gsymFrame) {
	text, f.inlined = strings.CutSuffix(text, " [inlined]")
	if i := strings.LastIndex(text, " @ "); i >= 0 {
		if k := strings.LastIndexByte(text, ':'); k > i {
			if n, err := strconv.ParseUint(text[k+1:], 10, 32); err == nil {
				f.file, f.line, text = text[i+3:k], n, text[:i]
			}
		}
	}
	if i := strings.LastIndex(text, " + "); i >= 0 {
		if n, err := strconv.ParseUint(text[i+3:], 10, 64); err == nil {
			f.offset, text = n, text[:i]
		}
	}
	f.name = text
	return f
}

// askGSYM asks llvm-gsymutil for addresses, and calls fn with the frames of each; an
// address that is not found has none.
func askGSYM(t *testing.T, file string, base uint64, addrs []symfmt.RVA, fn func(rva symfmt.RVA, frames []gsymFrame)) {
	t.Helper()
	cmd := exec.Command(testenv.Tool(t, "llvm-gsymutil-22"), "--addresses-from-stdin")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		w := bufio.NewWriter(in)
		for _, a := range addrs {
			fmt.Fprintf(w, "%#x %s\n", base+uint64(a), file)
		}
		w.Flush()
		in.Close()
	}()
	r := bufio.NewReaderSize(out, 1<<20)
	const head = len("0x0000000000000000: ")
	for _, a := range addrs {
		var frames []gsymFrame
		for n := 0; ; n++ {
			line, err := r.ReadString('\n')
			if err != nil {
				t.Fatalf("%#x: %v\n%s", uint64(a), err, stderr.Bytes())
			}
			line = strings.TrimSuffix(line, "\n")
			if line == "" {
				break
			}
			if n == 0 && !strings.HasPrefix(line, fmt.Sprintf("0x%016x: ", base+uint64(a))) {
				t.Fatalf("%q is not an answer for %#x", line, uint64(a))
			}
			if text := line[head:]; !strings.HasPrefix(text, "error: ") {
				frames = append(frames, parseGSYMFrame(text))
			} else if !strings.HasSuffix(text, "is not in GSYM") {
				t.Errorf("%#x: %s", uint64(a), text)
			}
		}
		fn(a, frames)
	}
	io.Copy(io.Discard, r)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
}

// gsymAddresses returns the addresses where something begins or ends in m, the addresses
// before them, and the ends of the FUNCs.
func gsymAddresses(m *symfmt.Module) (all []symfmt.RVA) {
	for i := range m.Funcs {
		f := &m.Funcs[i]
		all = append(append(all, functionEdges(f)...), f.RVA-1, f.RVA+symfmt.RVA(f.Size))
	}
	for i := range m.Publics {
		all = append(all, m.Publics[i].RVA-1, m.Publics[i].RVA, m.Publics[i].RVA+1)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if n := len(all); n > 0 && all[n-1] == ^symfmt.RVA(0) {
		all = all[:n-1] // before 0
	}
	if testenv.OracleFull() {
		return all
	}
	const enough = 2000
	step, some := 1+len(all)/enough, all[:0]
	for i := 0; i < len(all); i += step {
		some = append(some, all[i])
	}
	return some
}

// sameGSYM reports whether llvm-gsymutil's frames are the same as a location's.
func sameGSYM(frames []gsymFrame, at *Location, rva symfmt.RVA) bool {
	if len(frames) != len(at.Frames) {
		return false
	}
	for i, f := range frames {
		want := at.Frames[i]
		if f.name != want.Function || f.file != want.File || f.line != uint64(want.Line) || f.inlined != want.Inlined {
			return false
		}
	}
	return len(frames) == 0 || frames[len(frames)-1].offset == uint64(rva-at.Start)
}

// compareGSYM writes a symbol file as GSYM, and compares llvm-gsymutil's answers from it
// with our answers from the symbol file. It returns how many differences each rule
// explains.
func compareGSYM(t *testing.T, m *symfmt.Module, r *Resolver, o gsym.Options, addrs []symfmt.RVA) (rules map[string]int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "x.gsym")
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := gsym.Write(out, m, o); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	rules = make(map[string]int)
	var at Location
	shown := 0
	askGSYM(t, file, o.Base, addrs, func(rva symfmt.RVA, frames []gsymFrame) {
		if _, err := r.Nearest(t.Context(), rva, &at); err != nil {
			t.Fatal(err)
		}
		if sameGSYM(frames, &at, rva) {
			return
		}
		if rule := writeRule(r, rva, frames, &at); rule != "" {
			rules[rule]++
		} else if shown < 20 {
			shown++
			t.Errorf("%#x: %+v, want %+v", uint64(rva), frames, at)
		}
	})
	return rules
}

// writeRule names the rule for a difference, "" if no rule covers it.
func writeRule(r *Resolver, rva symfmt.RVA, frames []gsymFrame, at *Location) string {
	switch {
	case at.Source == Public && insideFunc(r, at.Start) && (len(frames) == 0 || len(frames) == 1 && frames[0].file == ""):
		// In Breakpad, a PUBLIC inside a FUNC is found for addresses after the FUNC:
		// GSYM would treat it as the end of the FUNC, so it is not written.
		return "PUBLIC inside a FUNC"
	case at.Source == None && len(frames) == 1 && frames[0].offset == uint64(rva):
		return "PUBLIC at 0" // Breakpad ignores it
	case at.Source != Func || len(frames) != len(at.Frames):
		return ""
	}
	rule := ""
	if behindInner(r, rva) {
		// The rest of a FUNC after another one inside it is a function of its own, whose start
		// is what offsets count from.
		rule = "offset behind a FUNC inside of another"
		frames[len(frames)-1].offset = uint64(rva - at.Start)
	}
	for i := range frames[1:] {
		// Without the file of a call, llvm-gsymutil leaves out what was inlined.
		if f := &frames[i+1]; f.file == symfmt.NoFile && at.Frames[i+1].File == "" {
			rule, f.file = "call in a file that is not known", ""
		} else if f.file == symfmt.NoFile && r.x.OldInlines && i+2 == len(frames) {
			// Package resolve also uses lines after the FUNC's end.
			rule, f.file = "call in a file that lines outside of the FUNC name", at.Frames[i+1].File
		}
	}
	if !sameGSYM(frames, at, rva) {
		return ""
	}
	return rule
}

func insideFunc(r *Resolver, rva symfmt.RVA) bool { return r.x.funcs.find(rva) >= 0 }

// TestOracleGSYM compares at every address where a line, an inlined function or a function
// begins or ends, and at the address before it; in large files at some of these, unless
// SYMTOOL_ORACLE is full.
func TestOracleGSYM(t *testing.T) {
	testenv.Oracle(t)
	for _, c := range []struct {
		name string
		path func(t *testing.T) string
	}{
		{"c++", func(t *testing.T) string { return testenv.Templates(t) }},
		{"go", goProgram}, {"rust", rustProgram}, {"vmlinux", vmlinux},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name != "c++" && !testenv.OracleFull() {
				t.Skip("runs with SYMTOOL_ORACLE=full: a large program")
			}
			m, text := dumpOf(t, c.path(t), true)
			checkGSYM(t, m, writeFile(t, "x.sym", text))
		})
	}
}

// TestOracleGSYMOfTexts is TestOracleGSYM for symbol files of many compilers, and for those
// that other programs wrote.
func TestOracleGSYMOfTexts(t *testing.T) {
	testenv.Oracle(t)
	files, err := filepath.Glob(filepath.Join(testenv.Root(t), "golden", "dwarf2sym", "*.sym"))
	if err != nil || len(files) < 100 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	more, _ := filepath.Glob(filepath.Join(testenv.Shared(t, "data", "symfiles"), "*.sym"))
	files = append(files, more...)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			result, err := symfmt.Read(context.Background(), bytes.NewReader(text), symfmt.ReadOptions{Tolerant: true})
			if err != nil || len(result.Module.Funcs)+len(result.Module.Publics) == 0 {
				t.Skip("no functions")
			}
			checkGSYM(t, result.Module, file)
		})
	}
}

// checkGSYM compares in both byte orders.
func checkGSYM(t *testing.T, m *symfmt.Module, file string) {
	t.Helper()
	r := openFile(t, file)
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		addrs := gsymAddresses(m)
		rules := compareGSYM(t, m, r, gsym.Options{ByteOrder: order, Base: 0x400000}, addrs)
		t.Logf("%v: %d addresses of %d functions, differences: %v", order, len(addrs), len(m.Funcs), rules)
	}
}

func goProgram(t *testing.T) string { return testenv.Symtool(t) }

func rustProgram(t *testing.T) string {
	dir := t.TempDir()
	source := filepath.Join(dir, "x.rs")
	const text = `use std::collections::BTreeMap;
fn main() {
    let mut m: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for (i, a) in std::env::args().enumerate() { m.entry(a).or_default().push(i as u32); }
    println!("{:?}", m.iter().map(|(k, v)| format!("{k} {v:?}")).collect::<Vec<_>>());
}
`
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	ask(t, nil, testenv.Tool(t, "rustc"), "-g", "-O", "-o", filepath.Join(dir, "x"), source)
	return filepath.Join(dir, "x")
}

func vmlinux(t *testing.T) string {
	files, _ := filepath.Glob("/usr/lib/debug/boot/vmlinux-*")
	if len(files) == 0 {
		t.Skip("no /usr/lib/debug/boot/vmlinux-*: apt-get install linux-image-amd64-dbg")
	}
	return files[0]
}

// checkOdd compares at every address of a module around 0x1000.
func checkOdd(t *testing.T, m *symfmt.Module, file string) (asked int, rules map[string]int) {
	t.Helper()
	var addrs []symfmt.RVA
	for rva := symfmt.RVA(0xff0); rva < 0x1700; rva++ {
		addrs = append(addrs, rva)
	}
	return len(addrs), compareGSYM(t, m, openFile(t, file), gsym.Options{}, addrs)
}
