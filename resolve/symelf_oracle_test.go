package resolve

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/oracle"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/symelf"
	"github.com/symtool/symtool/symfmt/symlist"
)

// symelfGoldens lists symbol files of all CPUs, and of C, C++ and Rust.
var symelfGoldens = []string{
	"cpu-arm", "cpu-arm64", "cpu-i686", "cpu-mips", "cpu-mipsel", "cpu-mips64", "cpu-ppc", "cpu-ppc64", "cpu-ppc64le",
	"cpu-riscv", "cpu-riscv64", "cpu-s390x", "cpu-thumb", "rust-v0", "rust-legacy", "gcc-dwarf5", "hotcold-gcc5", "scopes-gcc5",
	"scopes-clang5", "split-gcc5", "line0", "lto-gcc", "icf-lld",
}

// symelfInputs returns symbol files as text: goldens, a C++ program's and, if there is
// time, a Go program's.
func symelfInputs(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, name := range symelfGoldens {
		text, err := os.ReadFile(filepath.Join(testenv.Root(t), "golden", "dwarf2sym", name+".sym"))
		if err != nil {
			t.Fatal(err)
		}
		all[name], _, _ = bytes.Cut(text, []byte("\n# "))
	}
	_, all["C++"] = dumpOf(t, testenv.Templates(t), true)
	if !testenv.OracleFull() {
		return all
	}
	dir := filepath.Join(t.TempDir(), "go")
	cmd := exec.Command(testenv.Tool(t, "go"), "build", "-o", dir, "./cmd/symtool")
	cmd.Dir = testenv.Root(t)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	_, all["Go"] = dumpOf(t, dir, true)
	return all
}

// elfTool is a tool that answers addresses from an ELF file.
type elfTool struct {
	name  string
	every int // asks for one address in this many in a large file
	ask   func(t *testing.T, file string, addrs []uint64) [][]Frame
	rules []elfRule
}

// elfRule is a way in which a tool's answers differ.
type elfRule struct {
	name, why string
	is        func(got, want []Frame) bool // got is the tool's answer
}

// noLine returns the tools' answer where the compiler gave no line.
func noLine(frames []Frame) []Frame {
	frames = slices.Clone(frames)
	for i := range frames {
		frames[i].Inlined = false
		if frames[i].Line == 0 {
			frames[i].File = ""
		}
	}
	return frames
}

var elfTools = []elfTool{
	{"llvm-symbolizer-22", 1, func(t *testing.T, file string, addrs []uint64) [][]Frame {
		return framesOf(oracle.LLVM(t, file, addrs, "--no-demangle", "--inlines"))
	}, nil},
	{"addr2line", 10, func(t *testing.T, file string, addrs []uint64) [][]Frame {
		return framesOf(oracle.Addr2line(t, file, addrs, "-i"))
	}, nil},
	{"eu-addr2line", 300, func(t *testing.T, file string, addrs []uint64) [][]Frame {
		return framesOf(oracle.EUAddr2line(t, file, addrs, "-i"))
	}, []elfRule{
		{
			"relative", "elfutils puts a slash before a file name that has no folder",
			func(got, want []Frame) bool {
				return slices.EqualFunc(got, want, sameButFolder)
			},
		},
		{
			"scopes", "elfutils takes callers whose ranges do not have the address, where the ranges of inlined functions alternate (as in euRules): the innermost is ours, or the FUNC is",
			func(got, want []Frame) bool {
				return sameButFolder(got[0], want[0]) || got[0].Function == want[len(want)-1].Function
			},
		},
	}},
}

// sameButFolder reports whether frames are the same but for the slash that elfutils puts before a relative path.
func sameButFolder(got, want Frame) bool {
	plain := func(file string) string { return strings.TrimPrefix(path.Clean("/"+file), "/") }
	got.File, want.File = plain(got.File), plain(want.File)
	return got == want
}

// Other tools' answers from an ELF file made from a symbol file equal those of the symbol
// file, at every edge of a line or an inlined function.
func TestOracleSymelf(t *testing.T) {
	testenv.Oracle(t)
	inputs := symelfInputs(t)
	for _, tool := range elfTools {
		total, frames, counts := 0, 0, map[string]int{}
		for name, text := range inputs {
			result, err := symfmt.Read(context.Background(), bytes.NewReader(text), symfmt.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			m := result.Module
			elfFile := writeSymelf(t, m)
			addrs := edgesOf(m)
			every := 1
			if len(addrs) > 10000 {
				every = tool.every
				if len(addrs) > 100000 {
					every *= 20
				}
			}
			var asked []uint64
			for i := 0; i < len(addrs); i += every {
				asked = append(asked, uint64(addrs[i]))
			}
			answers := tool.ask(t, elfFile, asked)
			r := openFile(t, writeFile(t, "x.sym", text))
			bad := 0
			var at Location
			for i, rva := range asked {
				if _, err := r.Nearest(t.Context(), symfmt.RVA(rva), &at); err != nil {
					t.Fatal(err)
				}
				total++
				frames += len(answers[i])
				got, want := noLine(answers[i]), noLine(at.Frames)
				if slices.Equal(got, want) {
					continue
				}
				k := slices.IndexFunc(tool.rules, func(r elfRule) bool { return r.is(got, want) })
				if k >= 0 {
					counts[tool.rules[k].name]++
				} else if bad++; bad <= 3 {
					t.Errorf("%s, %s, %#x:\n%swant\n%s", tool.name, name, uint64(rva), frameText(answers[i]), frameText(at.Frames))
				}
			}
			if bad > 3 {
				t.Errorf("%s, %s: %d more differences", tool.name, name, bad-3)
			}
		}
		t.Logf("%s: %d addresses, %d frames; by rule: %v", tool.name, total, frames, counts)
		for rule, n := range counts {
			if n > total/10 {
				t.Errorf("%s: %d answers differ by rule %s", tool.name, n, rule)
			}
		}
		if total < 500 {
			t.Errorf("%s: %d addresses only", tool.name, total)
		}
	}
}

// nm lists the symbols of our ELF file as symlist does.
func TestOracleSymelfNM(t *testing.T) {
	testenv.Oracle(t)
	lines := 0
	for name, text := range symelfInputs(t) {
		result, err := symfmt.Read(context.Background(), bytes.NewReader(text), symfmt.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		m := result.Module
		var list bytes.Buffer
		if err := symlist.Write(&list, m, symlist.Options{Format: symlist.NM}); err != nil {
			t.Fatal(err)
		}
		got := strings.Split(strings.TrimSpace(list.String()), "\n")
		want := strings.Split(strings.TrimSpace(string(ask(t, nil, testenv.Tool(t, "nm"), "-S", "-C", "-n", "--defined-only", writeSymelf(t, m)))), "\n")
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d lines, nm has %d", name, len(got), len(want))
		}
		lines += len(want)
	}
	t.Logf("%d lines", lines)
	if lines < 400 {
		t.Errorf("%d lines only", lines)
	}
}

func writeSymelf(t *testing.T, m *symfmt.Module) string {
	t.Helper()
	var out bytes.Buffer
	if err := symelf.Write(&out, m, symelf.Options{}); err != nil {
		t.Fatal(err)
	}
	return writeFile(t, "x.elf", out.Bytes())
}

// edgesOf returns the first and last addresses of FUNCs, lines and inlined
// functions, and the addresses of PUBLICs.
func edgesOf(m *symfmt.Module) (all []symfmt.RVA) {
	for i := range m.Funcs {
		f := &m.Funcs[i]
		for _, rva := range functionEdges(f) {
			if holds(f.RVA, f.Size, rva) {
				all = append(all, rva)
			}
		}
	}
	for _, p := range m.Publics {
		all = append(all, p.RVA)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
