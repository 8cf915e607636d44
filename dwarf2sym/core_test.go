package dwarf2sym

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/codemap"
	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/names"
	"github.com/symtool/symtool/dwarf2sym/internal/publics"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt"
)

func rvaOf(addr uint64) symfmt.RVA { return symfmt.RVA(addr) }

// memSource is a section in memory. If it copies, it returns pieces in the caller's
// buffer, like a file, after overwriting the old contents.
type memSource struct {
	data []byte
	copy bool
}

func (s *memSource) Size() int64 { return int64(len(s.data)) }

func (s *memSource) Bytes(off, n int64, buf []byte) ([]byte, error) {
	if off < 0 || n < 0 || off+n > int64(len(s.data)) {
		return nil, &bin.Error{Msg: fmt.Sprintf("%d bytes at %#x of %d", n, off, len(s.data))}
	}
	if !s.copy {
		return s.data[off : off+n : off+n], nil
	}
	buf = buf[:cap(buf)]
	for i := range buf {
		buf[i] = 0xa5
	}
	if int64(len(buf)) < n {
		buf = make([]byte, n)
	}
	return buf[:copy(buf, s.data[off:off+n])], nil
}

// core is debug information without an ELF file around it.
type core struct {
	order    binary.ByteOrder
	sections map[string][]byte
	code     []object.Range
	symbols  []publics.Symbol
}

// coreOf makes a core from a text. Code is at 0x1000 to 0x100000 unless the text says
// otherwise.
func coreOf(t testing.TB, text string) *core {
	t.Helper()
	a := assemble(t, text)
	c := &core{order: a.order, sections: a.secs, symbols: a.symbols}
	for _, r := range a.code {
		c.code = append(c.code, object.Range{Start: r[0], End: r[1]})
	}
	if c.code == nil {
		c.code = []object.Range{{Start: 0x1000, End: 0x100000}}
	}
	return c
}

func (c *core) debugData(copying bool) *units.Data {
	d := &units.Data{Sections: dwarf.Sections{
		File: "test", Order: c.order == binary.ByteOrder(binary.BigEndian),
		Abbrev: c.sections[".debug_abbrev"], Str: units.WholeStrings(c.sections[".debug_str"]),
		LineStr: units.WholeStrings(c.sections[".debug_line_str"]), StrOffsets: c.sections[".debug_str_offsets"],
		Addr: c.sections[".debug_addr"], Rnglists: c.sections[".debug_rnglists"], Ranges: c.sections[".debug_ranges"], Loc: c.sections[".debug_loc"],
		Info: &memSource{c.sections[".debug_info"], copying},
	}}
	if line, ok := c.sections[".debug_line"]; ok {
		d.Line = &memSource{line, copying}
	}
	return d
}

// coreRun is a way to read a core.
type coreRun struct {
	jobs    int
	batch   uint64
	copying bool
	base    uint64 // effortBase
	late    bool   // names are made while records are written
}

func (c *core) read(o Options, run coreRun) (*symfmt.Module, *Result, error) {
	m, report, err := c.readWith(o, run, false)
	if errors.Is(err, names.ErrNow) { // as in Read
		return c.readWith(o, run, true)
	}
	return m, report, err
}

func (c *core) readWith(o Options, run coreRun, namesNow bool) (*symfmt.Module, *Result, error) {
	o.Jobs, o.LateNames = run.jobs, run.late
	r := &reader{opts: &o, jobs: run.jobs, code: &codemap.Map{Exec: c.code}, symbols: slices.Clone(c.symbols), file: &object.File{Path: "test"}}
	r.module = symfmt.Module{OS: "Linux", Arch: "x86_64", ID: "0", Name: "test"}
	r.namesNow = namesNow
	d := c.debugData(run.copying)
	d.Batch, r.effortBase = run.batch, run.base
	if err := r.readUnits(context.Background(), d); err != nil {
		return nil, nil, err
	}
	if err := r.join(context.Background()); err != nil {
		return nil, nil, err
	}
	r.report.late = r.newLateNaming()
	r.report.Problems = r.sortedProblems()
	return &r.module, &r.report, nil
}

// text returns the result for a core: its records except MODULE, and its problems, which
// begin with "!".
func (c *core) text(t testing.TB, o Options, run coreRun) string {
	t.Helper()
	m, rep, err := c.read(o, run)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := symfmt.Write(&b, m, symfmt.WriteOptions{Jobs: 1, Names: rep.Names()}); err != nil {
		t.Fatal(err)
	}
	rep.Settle()
	_, text, _ := strings.Cut(b.String(), "\n")
	for _, p := range rep.Problems {
		text += "! " + p.String() + "\n"
	}
	return text
}

// coreRuns lists ways to read a core that must all give the same result.
var coreRuns = []coreRun{
	{jobs: 1}, {jobs: 1, copying: true}, {jobs: 1, batch: 1, copying: true}, {jobs: 2, batch: 1},
	{jobs: 3, batch: 1, copying: true, late: true}, {jobs: 8, batch: 1, copying: true},
}

// coreCase is a text and the expected result.
type coreCase struct {
	name string
	opts Options
	in   string
	want string
}

func runCoreCases(t *testing.T, cases []coreCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			want := dedent(c.want)
			in := coreOf(t, c.in)
			for _, run := range coreRuns {
				if got := in.text(t, c.opts, run); got != want {
					t.Fatalf("%+v:\ngot:\n%swant:\n%s", run, got, want)
				}
			}
		})
	}
}

// dedent removes the indentation and the blank lines of a text.
func dedent(s string) string {
	var b strings.Builder
	for _, line := range strings.Split(s, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}
