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

// framesAt returns the frames of an address, the innermost first, and how far it is into its function.
func framesAt(m *symfmt.Module, rva symfmt.RVA) (frames []frame, into symfmt.RVA) {
	i := sort.Search(len(m.Funcs), func(i int) bool { return m.Funcs[i].RVA > rva }) - 1
	if i < 0 || rva >= m.Funcs[i].RVA+symfmt.RVA(m.Funcs[i].Size) {
		return nil, 0
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

// written is what the records of a PDB say.
type written struct {
	rows    map[symfmt.RVA][]frame // all, by their addresses as linked, also those that others replace
	repeats []repeat
}

// repeat is a row of an inlined call that has the line of the row before it, from which other code separates it.
type repeat struct {
	row
	lines map[uint32]bool // of all rows of that call
}

// asWritten returns the rows of a PDB.
func asWritten(t *testing.T, data []byte) *written {
	t.Helper()
	d := databaseOf(t, data, "x")
	all := &written{rows: map[symfmt.RVA][]frame{}}
	add := func(r row) {
		d.room = d.size // for each name again
		all.rows[r.lo] = append(all.rows[r.lo], frame{string(d.nameAt(r.file)), r.line})
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
		lines := newLines()
		lines.read(d, c13, len(symbols))
		var of moduleSymbols
		of.read(d, symbols)
		for k := range of.procs {
			p := &of.procs[k]
			for i := range p.sites {
				for _, r := range lines.annotated(nil, p, &p.sites[i]) {
					add(r)
				}
				all.addRepeats(lines.expand(p, &p.sites[i]))
			}
		}
		eachC13(c13, func(kind uint32, b []byte) {
			if kind == c13Lines {
				rows, _, _ := lines.rowsOf(d, b)
				for _, r := range rows {
					add(r)
				}
			}
		})
	}
	return all
}

// addRepeats adds the rows of a call that repeat the line before them.
func (a *written) addRepeats(rows []row) {
	lines := map[uint32]bool{}
	for _, r := range rows {
		lines[r.line] = true
	}
	for i := 1; i < len(rows); i++ {
		if before, r := rows[i-1], rows[i]; before.line == r.line && before.file == r.file && before.hi < r.lo {
			a.repeats = append(a.repeats, repeat{r, lines})
		}
	}
}

// isRepeat reports whether a row that repeats the line before it says line at an address, and another row of its call says
// other.
func (a *written) isRepeat(at symfmt.RVA, line, other uint32) bool {
	return slices.ContainsFunc(a.repeats, func(r repeat) bool { return r.lo <= at && at < r.hi && r.line == line && r.lines[other] })
}

// whyOther returns why llvm-symbolizer has other frames for an address as linked than this package, or "". mozilla are
// those of Mozilla's file, start is the function's address.
func whyOther(got, want, mozilla []frame, at, start symfmt.RVA, all *written) string {
	rows := all.rows
	if slices.Equal(mozilla, got) {
		return "Mozilla's file has what is said here"
	}
	if n := len(got) - len(want); n > 0 && slices.EqualFunc(got[n:], want, sameFrame) {
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
		case sameFrame(g, w):
			why = "a file without a name, which a FILE record must have"
		case g.line == 0 && (w.line == lineStepOver || w.line == lineStepInto):
			why = "a number that is not a line but says how to step"
		case slices.ContainsFunc(both, func(a symfmt.RVA) bool { return slices.Contains(rows[a], w) }):
			why = "two rows at one address: the last counts here, the first for LLVM; a row without code describes nothing"
		case g.file != w.file && len(both) > 0 && len(rowsWith(rows, w, start, at)) > 0:
			why = "rows of two files: one lasts to the next row here, to the next of the same file for LLVM"
		case i < len(mozilla) && mozilla[i] == g:
			why = "LLVM takes the line of a row before or after that of the address; Mozilla's file has this frame"
		case g.file == w.file && all.isRepeat(at, g.line, w.line):
			why = "a row that repeats the line of the row before it, behind other code: Mozilla leaves it out, and LLVM takes the " +
				"line of another row of the call; the annotations have a length for each, which is what is said here"
		default:
			return ""
		}
	}
	return why
}

// sameFrame reports whether LLVM's frame is one of this package, where a file without a name has one.
func sameFrame(g, w frame) bool {
	return g == w || g.file == "<unknown>" && w.file == "" && g.line == w.line
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
	m := read(t, data, file, 0).Module
	image, rows, other := imageOf(t, data), asWritten(t, data), mozillas(t, file)
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
			mozilla, _ := framesAt(other, image(at))
			why := whyOther(got, want, mozilla, at, at-min(at, into), rows)
			if reasons[why]++; why == "" {
				t.Errorf("%s %#x: %v, want %v; Mozilla: %v", file, uint64(at), got, want, mozilla)
			}
		}
	}
}
