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
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// frame is a symbolizer's answer for an address.
type frame struct {
	file string
	line uint32
}

// framesAt returns the frames of an address, the innermost first, and how far it is into its function.
func framesAt(m *symfmt.Module, rva symfmt.RVA) (frames []frame, into symfmt.RVA) {
	i := sort.Search(len(m.Funcs), func(i int) bool { return m.Funcs[i].RVA > rva }) - 1
	if i < 0 || rva >= m.Funcs[i].RVA+symfmt.RVA(m.Funcs[i].Size) {
		return nil, 0
	}
	f := &m.Funcs[i]
	name := func(id symfmt.FileID) string { return m.Files[id].Name }
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
	return frames, rva - f.RVA
}

// imageOf returns what maps addresses as linked, which llvm-symbolizer has, to those of the image.
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

// rowsAsWritten returns all rows of a PDB by their addresses as linked: those of functions and of inlined calls, also
// the ones that others replace.
func rowsAsWritten(t *testing.T, data []byte) map[symfmt.RVA][]frame {
	t.Helper()
	d, err := openDatabase(bytes.NewReader(data), int64(len(data)), "x")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.readNames(); err != nil {
		t.Fatal(err)
	}
	if err := d.readSections(); err != nil {
		t.Fatal(err)
	}
	all := map[symfmt.RVA][]frame{}
	add := func(r row) {
		d.room = d.size // for each name again
		all[r.lo] = append(all[r.lo], frame{string(d.nameAt(r.file)), r.line})
	}
	for _, m := range d.modules {
		s := d.stream(m.stream)
		symbols, err := s.part(0, m.symBytes)
		if err != nil {
			continue
		}
		c13, err := s.part(m.symBytes+m.c11Bytes, m.c13Len)
		if err != nil {
			t.Fatal(err)
		}
		lines := d.lines(c13, len(symbols))
		for _, p := range d.procs(symbols) {
			for i := range p.sites {
				for _, r := range lines.annotated(p, &p.sites[i]) {
					add(r)
				}
			}
		}
		eachC13(c13, func(kind uint32, b []byte) {
			if kind == c13Lines {
				rows, _, _ := d.rowsOf(lines, b)
				for _, r := range rows {
					add(r)
				}
			}
		})
	}
	return all
}

// whyOther returns why llvm-symbolizer has other frames for an address as linked than this package, or "". rows are
// those of rowsAsWritten, start is the function's address.
func whyOther(got, want []frame, at, start symfmt.RVA, rows map[symfmt.RVA][]frame) string {
	if n := len(got) - len(want); n > 0 && slices.Equal(got[n:], want) {
		return "Microsoft's compiler writes no lengths of rows: a call reaches to the next row of the same call here, " +
			"and LLVM leaves out its first rows; Mozilla's files have the call"
	}
	if len(got) != len(want) {
		return ""
	}
	why := ""
	for i, g := range got {
		w := want[i]
		if g == w {
			continue
		}
		switch both := rowsWith(rows, g, start, at); {
		case g.file == "<unknown>" && w.file == "" && g.line == w.line:
			why = "a file without a name, which a FILE record must have"
		case g.line == 0 && (w.line == lineStepOver || w.line == lineStepInto):
			why = "a number that is not a line but says how to step"
		case slices.ContainsFunc(both, func(a symfmt.RVA) bool { return slices.Contains(rows[a], w) }):
			why = "two rows at one address: the last counts here, the first for LLVM; a row without code describes nothing"
		case g.file != w.file && len(both) > 0 && len(rowsWith(rows, w, start, at)) > 0:
			why = "rows of two files: one lasts to the next row here, to the next of the same file for LLVM"
		default:
			return ""
		}
	}
	return why
}

// rowsWith returns the addresses from lo to hi at which a row is for a file and a line.
func rowsWith(rows map[symfmt.RVA][]frame, f frame, lo, hi symfmt.RVA) (at []symfmt.RVA) {
	for a := lo; a <= hi; a++ {
		if slices.Contains(rows[a], f) {
			at = append(at, a)
		}
	}
	return at
}

// Functions, inlined calls and lines are those that llvm-symbolizer finds, at each address where a row
// or a call begins or ends, but for the reasons in whyOther.
func TestSymbolizer(t *testing.T) {
	eachSymbolizer(t, func(path string, data, answers []byte, reasons map[string]int) {
		compareFrames(t, path, data, answers, reasons)
	})
}

// eachSymbolizer calls compare with each shared PDB and llvm-symbolizer's answers about it, and logs how often
// there was each reason for a difference.
func eachSymbolizer(t *testing.T, compare func(path string, data, answers []byte, reasons map[string]int)) {
	t.Helper()
	reasons := map[string]int{}
	for _, oracle := range testenv.SharedGlob(t, "data", "pe", "*", "*", "oracle", "*.pdb.symbolizer.json.gz") {
		path := filepath.Join(filepath.Dir(filepath.Dir(oracle)), strings.TrimSuffix(filepath.Base(oracle), ".symbolizer.json.gz"))
		data, err := os.ReadFile(path)
		if err != nil {
			continue // basic32.pdb is in a cabinet
		}
		compare(path, data, testenv.Gunzip(t, oracle), reasons)
	}
	for why, n := range reasons {
		t.Logf("%6d %s", n, why)
	}
}

// unsettled are addresses for which neither answer has a second witness.
var unsettled = map[string][]symfmt.RVA{
	"dump_syms_regtest64.pdb": {0x9fd5, 0xa78b},
	"crash.pdb":               {0x1bbc, 0x2eca},
	"foo.pdb":                 {0x78f1, 0x7921, 0x7e63, 0x7e93, 0x94a4, 0xac22},
}

// mozillas returns the symbols that Mozilla's dump_syms wrote for a PDB, or an empty module.
func mozillas(t *testing.T, path string) *symfmt.Module {
	t.Helper()
	folder := filepath.Dir(path)
	name := filepath.Base(folder) + "__" + filepath.Base(path) + ".sym"
	peer := filepath.Join(filepath.Dir(filepath.Dir(folder)), "peer-mozilla", filepath.Base(filepath.Dir(folder)), name)
	var text []byte
	if _, err := os.Stat(peer + ".gz"); err == nil {
		text = testenv.Gunzip(t, peer+".gz")
	} else if text, err = os.ReadFile(peer); err != nil {
		return &symfmt.Module{}
	}
	return readText(t, string(text))
}

func compareFrames(t *testing.T, file string, data, answers []byte, reasons map[string]int) {
	t.Helper()
	m := read(t, data, file, 0).Module
	image, rows, other := imageOf(t, data), rowsAsWritten(t, data), mozillas(t, file)
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
		got, into := framesAt(m, image(at))
		switch {
		case got == nil || want[0].line == 0:
			reasons["no function, or no line for LLVM"]++
		case slices.Equal(got, want):
			reasons["the same"]++
		default:
			why := whyOther(got, want, at, at-min(at, into), rows)
			if theirs, _ := framesAt(other, image(at)); why == "" && slices.Equal(theirs, got) {
				why = "Mozilla's file has what is said here"
			} else if why == "" && slices.Contains(unsettled[filepath.Base(file)], at) {
				why = "lines in inlined calls of Microsoft's compiler: Mozilla's file has a third answer"
			}
			if reasons[why]++; why == "" {
				t.Errorf("%s %#x: %v, want %v", file, uint64(at), got, want)
			}
		}
	}
}
