package pdb

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// frame is a symbolizer's answer for an address.
type frame struct {
	file string
	line uint32
}

// framesAt returns the frames at an address, innermost first.
func framesAt(m *symfmt.Module, rva symfmt.RVA) (frames []frame) {
	i := sort.Search(len(m.Funcs), func(i int) bool { return m.Funcs[i].RVA > rva }) - 1
	if i < 0 || rva >= m.Funcs[i].RVA+symfmt.RVA(m.Funcs[i].Size) {
		return nil
	}
	f := &m.Funcs[i]
	name := func(id symfmt.FileID) string {
		return m.Files[slices.IndexFunc(m.Files, func(f symfmt.File) bool { return f.ID == id })].Name
	}
	at := frame{}
	for l := range f.Lines() {
		if l.RVA <= rva && rva < l.RVA+symfmt.RVA(l.Size) {
			at = frame{name(l.File), l.Num}
		}
	}
	var calls []symfmt.Inline
	for in := range f.Inlines() {
		for _, r := range in.Ranges {
			if r.RVA <= rva && rva < r.RVA+symfmt.RVA(r.Size) {
				calls = append(calls, *in)
			}
		}
	}
	slices.SortFunc(calls, func(a, b symfmt.Inline) int { return int(b.Depth) - int(a.Depth) })
	frames = []frame{at}
	for _, c := range calls {
		frames = append(frames, frame{name(c.CallFile), c.CallLine})
	}
	return frames
}

// imageOf returns a function that maps addresses as linked, which llvm-symbolizer uses, to those of the
// image.
func imageOf(t *testing.T, data []byte) func(symfmt.RVA) symfmt.RVA {
	d, err := openDatabase(bytes.NewReader(data), int64(len(data)), "x")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.readSections(); err != nil {
		t.Fatal(err)
	}
	l, err := d.readLayout()
	if err != nil {
		t.Fatal(err)
	}
	return func(rva symfmt.RVA) symfmt.RVA {
		if l == nil {
			return rva
		}
		if r := l.image(rva, rva+1); len(r) > 0 {
			return r[0].RVA
		}
		return 0
	}
}

// sameFrame reports whether two frames are equal. The file name <unknown> counts as a missing one.
func sameFrame(g, w frame) bool {
	unnamed := func(f frame) frame {
		if f.file == "<unknown>" {
			f.file = ""
		}
		return f
	}
	return unnamed(g) == unnamed(w)
}

// Functions, inlined calls and lines are those that llvm-symbolizer finds, at each address where a row or a
// call begins or ends, except for the reasons in llvm_test.go, which trace both answers to the records.
func TestSymbolizer(t *testing.T) {
	eachSymbolizer(t, func(path string, data, answers []byte, reasons map[string]int) {
		compareFrames(t, path, data, answers, reasons)
	})
}

// eachSymbolizer calls compare with each shared PDB and llvm-symbolizer's answers for it, and logs how often
// each reason for a difference occurred.
func eachSymbolizer(t *testing.T, compare func(path string, data, answers []byte, reasons map[string]int)) {
	t.Helper()
	reasons := map[string]int{}
	sharedPDBs(t, ".symbolizer.json.gz", func(path string, data, answers []byte) { compare(path, data, answers, reasons) })
	for why, n := range reasons {
		t.Logf("%6d %s", n, why)
	}
}

// mozillas returns the symbols that Mozilla's dump_syms wrote for a PDB, or an empty module.
func mozillas(t *testing.T, path string) *symfmt.Module {
	t.Helper()
	folder := filepath.Dir(path)
	peers := filepath.Join(filepath.Dir(filepath.Dir(folder)), "peer-mozilla", filepath.Base(filepath.Dir(folder)))
	for _, name := range []string{filepath.Base(folder) + "__" + filepath.Base(path), filepath.Base(path)} {
		peer := filepath.Join(peers, name+".sym")
		if text, err := os.ReadFile(peer); err == nil {
			return readText(t, string(text))
		}
		if _, err := os.Stat(peer + ".gz"); err == nil {
			return readText(t, string(testenv.Gunzip(t, peer+".gz")))
		}
	}
	return &symfmt.Module{}
}

func compareFrames(t *testing.T, file string, data, answers []byte, reasons map[string]int) {
	t.Helper()
	c := newFrameComparison(t, file, data, reasons)
	image := imageOf(t, data)
	scan := bufio.NewScanner(bytes.NewReader(answers))
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		var answer struct {
			A     string
			S     [][]any
			Error string
		}
		if err := json.Unmarshal(scan.Bytes(), &answer); err != nil || answer.Error != "" || len(answer.S) == 0 {
			continue
		}
		a, _ := strconv.ParseUint(answer.A, 0, 64)
		at := symfmt.RVA(a)
		var want []frame
		for _, s := range answer.S {
			line, _ := s[2].(float64)
			name, _ := s[1].(string)
			want = append(want, frame{name, uint32(line)})
		}
		c.compare(at, image(at), want)
	}
}

// frameComparison compares this package's frames with llvm-symbolizer's.
type frameComparison struct {
	t       *testing.T
	file    string
	module  *symfmt.Module
	view    *llvmView
	places  func(symfmt.RVA) []place
	reasons map[string]int
}

func newFrameComparison(t *testing.T, file string, data []byte, reasons map[string]int) *frameComparison {
	v := newLLVMView(t, data)
	return &frameComparison{t, filepath.Base(file), read(t, data, file, 0).Module, v, v.places(), reasons}
}

// compare compares the frames at an address as linked, which is elsewhere in a reordered image.
func (c *frameComparison) compare(at, image symfmt.RVA, want []frame) {
	c.t.Helper()
	switch got := framesAt(c.module, image); {
	case got == nil || want[0].line == 0:
		c.reasons["no function, or no line for LLVM"]++
	case slices.Equal(got, want):
		c.reasons["the same"]++
	default:
		for _, why := range c.view.why(c.places(at), at, got, want) {
			if c.reasons[why]++; why == "" {
				c.t.Errorf("%s %#x: %v, want %v", c.file, uint64(at), got, want)
			}
		}
	}
}
