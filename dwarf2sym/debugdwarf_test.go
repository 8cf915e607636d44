package dwarf2sym

import (
	"cmp"
	"context"
	"debug/dwarf"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/codemap"
	ours "github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// The functions and lines of real files are those that Go's debug/dwarf reads, which
// shares no code with this package: each piece of each subprogram is a FUNC with that
// address, size and name, and each row of a line table that lies in a FUNC is in our
// record. Where they differ, one of the rules below says why; the number of uses of each
// rule is logged.
func TestDebugDwarf(t *testing.T) {
	for _, file := range fixtures(t) {
		name := strings.TrimSuffix(filepath.Base(file), ".elf")
		t.Run(name, func(t *testing.T) { compareDebugDwarf(t, name, file, 0) })
	}
	if testing.Short() {
		return
	}
	for name, file := range largeFiles(t) {
		t.Run(name, func(t *testing.T) { compareDebugDwarf(t, name, file, 200) })
	}
}

// unreadByGo lists the fixtures on which debug/dwarf fails, or is wrong.
var unreadByGo = map[string]string{
	"bad-form":      "stops at the form that nobody knows",
	"bad-cycle":     "is not asked about damage",
	"clang-dwarf64": "ends with \"underflow\" in .debug_str",
	"forms":         "does not know DW_FORM_GNU_*, nor indirect ones",
	"line-v2":       "refuses a file whose directory is not there",
	"dwz4":          "knows no supplementary files",
	"dwz5":          "knows no supplementary files",
	"line-v5-forms": "ends with \"underflow\" in .debug_line_str",
}

// goReader is the other side of the comparison.
type goReader struct {
	*dwarf.Data
	t     testing.TB
	code  *codemap.Map
	arm   bool
	funcs []symfmt.Func
	files map[symfmt.FileID]string
	rules map[string]int // how often each rule explained a difference
	units map[symfmt.RVA]dwarf.Offset
	n     struct{ funcs, rows int }

	compDir string // of the current unit
}

func compareDebugDwarf(t *testing.T, name, file string, least int) {
	if why, ok := unreadByGo[name]; ok {
		t.Skip("debug/dwarf " + why)
	}
	if strings.HasPrefix(name, "split-") {
		t.Skip("debug/dwarf reads no .dwo files")
	}
	f := symtest.Open(t, file)
	if !f.HasDWARF() {
		t.Skip("no debug information")
	}
	rep, err := Read(context.Background(), f, Options{Demangle: true, NoCFI: true})
	if err != nil {
		t.Fatal(err)
	}
	m := rep.Module
	for _, p := range rep.Problems {
		t.Error(p)
	}
	g := &goReader{Data: goData(t, f), t: t, code: codemap.Of(f), arm: f.Arch == arch.ARM, funcs: m.Funcs,
		files: make(map[symfmt.FileID]string), rules: make(map[string]int), units: make(map[symfmt.RVA]dwarf.Offset)}
	for _, file := range m.Files {
		g.files[file.ID] = file.Name
	}
	g.compareFuncs()
	g.compareRows()
	t.Logf("%d functions, %d rows; differences by rule: %v", g.n.funcs, g.n.rows, g.rules)
	if g.n.funcs < least || g.n.rows < 50*least {
		t.Errorf("compared %d functions and %d rows only", g.n.funcs, g.n.rows)
	}
}

// goData opens the sections with debug/dwarf.
func goData(t *testing.T, f *object.File) *dwarf.Data {
	section := func(name string) []byte {
		s := f.Section(name)
		if s == nil || !s.HasData() {
			return nil
		}
		data, err := s.Data()
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	d, err := dwarf.New(section(".debug_abbrev"), nil, nil, section(".debug_info"), section(".debug_line"), nil, section(".debug_ranges"), section(".debug_str"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".debug_addr", ".debug_line_str", ".debug_str_offsets", ".debug_rnglists"} {
		if err := d.AddSection(name, section(name)); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// goFunc is a piece of a subprogram.
type goFunc struct {
	lo, hi uint64
	name   goName
	unit   dwarf.Offset
	asm    bool
}

// goName is what a chain of DIEs says about a name.
type goName struct{ linkage, plain string }

func (g *goReader) compareFuncs() {
	all := g.pieces()
	slices.SortStableFunc(all, func(a, b goFunc) int { return cmp.Compare(a.lo, b.lo) })
	for i := range all {
		p := &all[i]
		f := g.funcAt(p.lo)
		g.n.funcs++
		same := func(j int) bool { return j >= 0 && j < len(all) && all[j].lo == p.lo }
		switch {
		case f == nil || f.RVA != g.code.RVA(p.lo):
			g.t.Errorf("%#x %s: no FUNC", p.lo, p.name)
		case f.Size != p.hi-p.lo && (same(i-1) || same(i+1)):
			g.rules["another function at the address, of another size"]++
		case f.Size != p.hi-p.lo && i+1 < len(all) && g.code.RVA(all[i+1].lo) == f.RVA+symfmt.RVA(f.Size):
			g.rules["cut where the next function starts"]++
		case f.Size != p.hi-p.lo:
			g.t.Errorf("%#x %s: %d bytes, FUNC has %d", p.lo, p.name, p.hi-p.lo, f.Size)
		case g.sameName(f.Name, p.name):
		case same(i-1) || same(i+1):
			g.rules["another function at the address names it"]++
		case p.name == goName{}:
			g.rules["no name in the debug information"]++
		default:
			g.t.Errorf("%#x: FUNC is called %q, the DIE %q", p.lo, f.Name, p.name)
		}
		if f != nil && f.Size == p.hi-p.lo {
			if _, ok := g.units[f.RVA]; !ok {
				g.units[f.RVA] = p.unit
			}
		}
	}
}

// sameName reports whether a FUNC's name is what the debug information says: the linkage
// name, demangled, or the plain name after its scopes. If the debug information has only
// a plain name, the FUNC may also have the mangled ELF symbol.
func (g *goReader) sameName(name string, want goName) bool {
	if want.linkage != "" && name == sourceName(want.linkage, true) {
		return true
	}
	if want.plain == "" {
		return false
	}
	if name == want.plain || strings.HasSuffix(name, "::"+want.plain) {
		return true
	}
	if plain, _, _ := strings.Cut(want.plain, "<"); want.linkage == "" && strings.Contains(name, plain) {
		g.rules["plain name from the mangled symbol"]++
		return true
	}
	return false
}

func (g *goReader) funcAt(addr uint64) *symfmt.Func {
	rva := g.code.RVA(addr)
	i := sort.Search(len(g.funcs), func(i int) bool { return g.funcs[i].RVA > rva }) - 1
	if i < 0 || rva >= g.funcs[i].RVA+symfmt.RVA(g.funcs[i].Size) {
		return nil
	}
	return &g.funcs[i]
}

// pieces returns the code of all subprograms that is in the file.
func (g *goReader) pieces() (all []goFunc) {
	r := g.Reader()
	var unit *dwarf.Entry
	for {
		e, err := r.Next()
		if err != nil {
			g.t.Fatal(err)
		}
		if e == nil {
			return all
		}
		switch e.Tag {
		case dwarf.TagCompileUnit, dwarf.TagPartialUnit, dwarf.TagTypeUnit:
			unit = e
		case dwarf.TagSubprogram:
			ranges, err := g.Ranges(e)
			if err != nil {
				g.t.Errorf("DIE at %#x: %v", e.Offset, err)
				continue
			}
			var spans []ours.Span
			for _, r := range ranges {
				if g.arm && r[0]&1 != 0 {
					r[0], r[1] = r[0]-1, r[1]-1
					g.rules["address with the Thumb bit"]++
				}
				if r[0] < r[1] {
					spans = append(spans, ours.Span{Lo: r[0], Hi: r[1]})
				}
			}
			lang, _ := unit.Val(dwarf.AttrLanguage).(int64)
			for _, s := range ours.Tidy(g.code.Keep(spans)) {
				all = append(all, goFunc{s.Lo, s.Hi, g.nameOf(e), unit.Offset, lang == 0x8001})
			}
		}
	}
}

// nameOf finds the names of a DIE through its references.
func (g *goReader) nameOf(e *dwarf.Entry) (n goName) {
	for range 16 {
		for _, at := range []dwarf.Attr{dwarf.AttrLinkageName, 0x2007} {
			if s, ok := e.Val(at).(string); ok && n.linkage == "" {
				n.linkage = s
			}
		}
		if s, ok := e.Val(dwarf.AttrName).(string); ok && n.plain == "" {
			n.plain = s
		}
		off, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if !ok {
			off, ok = e.Val(dwarf.AttrSpecification).(dwarf.Offset)
		}
		if !ok {
			return n
		}
		r := g.Reader()
		r.Seek(off)
		next, err := r.Next()
		if err != nil || next == nil {
			return n
		}
		e = next
	}
	return n
}

// compareRows compares the line table of each unit.
func (g *goReader) compareRows() {
	r := g.Reader()
	for {
		e, err := r.Next()
		if err != nil {
			g.t.Fatal(err)
		}
		if e == nil {
			return
		}
		if e.Tag == dwarf.TagCompileUnit {
			g.compareUnit(e)
		}
		r.SkipChildren()
	}
}

func (g *goReader) compareUnit(unit *dwarf.Entry) {
	g.compDir, _ = unit.Val(dwarf.AttrCompDir).(string)
	lr, err := g.LineReader(unit)
	if err != nil {
		g.t.Errorf("unit at %#x: %v", unit.Offset, err)
		return
	}
	if lr == nil {
		return
	}
	var e dwarf.LineEntry
	var rows []goRow
	for {
		err := lr.Next(&e)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			g.t.Errorf("unit at %#x: %v", unit.Offset, err)
			return
		}
		if n := len(rows); n > 0 && !rows[n-1].EndSequence {
			rows[n-1].end = e.Address
		}
		rows = append(rows, goRow{e, 0})
	}
	for i := range rows {
		// Of several rows at the same address the last one counts.
		if r := &rows[i]; r.Address < r.end {
			g.compareRow(unit.Offset, r, rows)
		}
	}
}

// goRow is a row of a line table, valid up to end; end is 0 for the last one of
// a sequence.
type goRow struct {
	dwarf.LineEntry
	end uint64
}

// compareRow compares a row of a unit with the records of its FUNC.
func (g *goReader) compareRow(unit dwarf.Offset, e *goRow, rows []goRow) {
	f := g.funcAt(e.Address)
	if f == nil {
		g.rules["row outside of all functions"]++
		return
	}
	if u, ok := g.units[f.RVA]; ok && u != unit {
		g.rules["row in a function of another unit"]++
		return
	}
	g.n.rows++
	rva := g.code.RVA(e.Address)
	for l := range f.Lines() {
		if l.RVA > rva || rva >= l.RVA+symfmt.RVA(l.Size) {
			continue
		}
		if want := g.fileOf(e); l.Num != uint32(e.Line) && g.otherRow(e, rows, l.Num) {
			g.rules["sequences overlap: dropped or folded functions"]++
		} else if l.Num != uint32(e.Line) || !g.sameFile(g.files[l.File], want) {
			g.t.Errorf("%#x: line %d of %s, debug/dwarf says %d of %s", e.Address, l.Num, g.files[l.File], e.Line, want)
		}
		if most := min(e.end, g.code.Addr(f.RVA)+f.Size); g.code.Addr(l.RVA)+l.Size < most {
			g.t.Errorf("%#x: the record ends at %#x, the row at %#x", e.Address, g.code.Addr(l.RVA)+l.Size, most)
		}
		return
	}
	g.t.Errorf("%#x: no line record, debug/dwarf says %d of %s", e.Address, e.Line, g.fileOf(e))
}

// otherRow reports whether another sequence of the unit has the line at the address
// of e.
func (g *goReader) otherRow(e *goRow, rows []goRow, line uint32) bool {
	return slices.ContainsFunc(rows, func(r goRow) bool {
		return r.Address <= e.Address && e.Address < r.end && uint32(r.Line) == line
	})
}

func (g *goReader) sameFile(ours, theirs string) bool {
	if path.Clean(ours) == path.Clean(theirs) {
		return true
	}
	if !path.IsAbs(theirs) && path.Clean(ours) == path.Clean(g.compDir+"/"+theirs) {
		g.rules["debug/dwarf does not join relative directories of version 5"]++
		return true
	}
	return false
}

func (g *goReader) fileOf(e *goRow) string {
	if e.File == nil {
		return "??"
	}
	return e.File.Name
}

func (n goName) String() string { return fmt.Sprintf("%s (%s)", n.plain, n.linkage) }
