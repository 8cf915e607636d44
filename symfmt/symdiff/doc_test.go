package symdiff

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// doc is a symbol file to change: a module with its bodies unpacked.
type doc struct {
	m      *symfmt.Module
	funcs  []docFunc
	blocks []docBlock
}

type docFunc struct {
	symfmt.Func
	inlines []symfmt.Inline
	lines   []symfmt.Line
}

func (f *docFunc) stop() symfmt.RVA { return f.RVA + symfmt.RVA(f.Size) }

// docBlock is a STACK CFI INIT with its rows.
type docBlock struct {
	rva  symfmt.RVA
	size uint64
	init string
	rows []docRow
}

type docRow struct {
	rva   symfmt.RVA
	rules string
}

func newDoc(t testing.TB, text []byte) *doc {
	result, err := symfmt.Read(context.Background(), bytes.NewReader(text), symfmt.ReadOptions{Tolerant: true})
	if err != nil {
		t.Fatal(err)
	}
	m := result.Module
	m.Canonicalize()
	d := &doc{m: m}
	for i := range m.Funcs {
		f := docFunc{Func: m.Funcs[i]}
		for in := range m.Funcs[i].Inlines() {
			one := *in
			one.Ranges = slices.Clone(in.Ranges)
			f.inlines = append(f.inlines, one)
		}
		for l := range m.Funcs[i].Lines() {
			f.lines = append(f.lines, l)
		}
		d.funcs = append(d.funcs, f)
	}
	for _, b := range m.CFI.Blocks {
		block := docBlock{rva: b.RVA, size: b.Size, init: m.CFI.Rules.Text(b.Init)}
		for _, r := range m.CFI.Rows[b.First : b.First+b.Count] {
			block.rows = append(block.rows, docRow{r.RVA, m.CFI.Rules.Text(r.Rules)})
		}
		d.blocks = append(d.blocks, block)
	}
	m.Funcs, m.CFI = nil, symfmt.CFITable{}
	return d
}

// copy returns a copy of d that shares nothing that tests change.
func (d *doc) copy() *doc {
	m := *d.m
	m.Infos, m.Files, m.Origins = slices.Clone(m.Infos), slices.Clone(m.Files), slices.Clone(m.Origins)
	m.Publics, m.Wins = slices.Clone(m.Publics), slices.Clone(m.Wins)
	c := &doc{m: &m, funcs: slices.Clone(d.funcs), blocks: slices.Clone(d.blocks)}
	for i := range c.funcs {
		f := &c.funcs[i]
		f.lines, f.inlines = slices.Clone(f.lines), slices.Clone(f.inlines)
		for k := range f.inlines {
			f.inlines[k].Ranges = slices.Clone(f.inlines[k].Ranges)
		}
	}
	for i := range c.blocks {
		c.blocks[i].rows = slices.Clone(c.blocks[i].rows)
	}
	return c
}

// text writes the symbol file.
func (d *doc) text(t testing.TB) []byte {
	m := *d.m
	var arena symfmt.Arena
	var body symfmt.BodyBuilder
	for _, f := range d.funcs {
		body.Reset(f.RVA)
		for i := range f.inlines {
			body.AddInline(&f.inlines[i])
		}
		for _, l := range f.lines {
			body.AddLine(l)
		}
		f.Body = body.Finish(&arena)
		m.Funcs = append(m.Funcs, f.Func)
	}
	m.CFI = symfmt.CFITable{}
	for _, b := range d.blocks {
		first := uint32(len(m.CFI.Rows))
		for _, r := range b.rows {
			m.CFI.Rows = append(m.CFI.Rows, symfmt.CFIRow{RVA: r.rva, Rules: m.CFI.Rules.Parse([]byte(r.rules))})
		}
		m.CFI.Blocks = append(m.CFI.Blocks, symfmt.CFIBlock{RVA: b.rva, Size: b.size, Init: m.CFI.Rules.Parse([]byte(b.init)), First: first, Count: uint32(len(b.rows))})
	}
	var out bytes.Buffer
	if err := symfmt.Write(&out, &m, symfmt.WriteOptions{Jobs: 1}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// shift moves everything that begins at or after an address, and lengthens what contains it,
// as if bytes were inserted there.
func (d *doc) shift(from symfmt.RVA, by uint64) {
	move := func(rva *symfmt.RVA) {
		if *rva >= from {
			*rva += symfmt.RVA(by)
		}
	}
	for i := range d.funcs {
		f := &d.funcs[i]
		move(&f.RVA)
		for k := range f.lines {
			move(&f.lines[k].RVA)
		}
		for k := range f.inlines {
			for n := range f.inlines[k].Ranges {
				move(&f.inlines[k].Ranges[n].RVA)
			}
		}
	}
	for i := range d.m.Publics {
		move(&d.m.Publics[i].RVA)
	}
	for i := range d.m.Wins {
		move(&d.m.Wins[i].RVA)
	}
	for i := range d.blocks {
		move(&d.blocks[i].rva)
		for k := range d.blocks[i].rows {
			move(&d.blocks[i].rows[k].rva)
		}
	}
}

// top returns an address after all those in a file.
func (d *doc) top() (top symfmt.RVA) {
	for i := range d.funcs {
		top = max(top, d.funcs[i].stop())
	}
	for i := range d.m.Publics {
		top = max(top, d.m.Publics[i].RVA+1)
	}
	for i := range d.m.Wins {
		top = max(top, d.m.Wins[i].RVA+symfmt.RVA(d.m.Wins[i].CodeSize))
	}
	for _, b := range d.blocks {
		top = max(top, b.rva+symfmt.RVA(b.size))
	}
	return (top + 0xfff) &^ 0xfff
}

// compare compares two texts.
func compare(t testing.TB, a, b []byte, opts Options) *Result {
	t.Helper()
	r, err := Compare(context.Background(), NewSource(bytes.NewReader(a), int64(len(a)), "old.sym"), NewSource(bytes.NewReader(b), int64(len(b)), "new.sym"), opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// listed returns the changes of a result, one per line: addresses, and what differs.
func listed(r *Result) (lines []string) {
	for _, c := range r.Changes {
		lines = append(lines, listedChange(r, c))
	}
	for _, f := range r.Module {
		lines = append(lines, fmt.Sprintf("%s: %s > %s", f.Name, f.Old, f.New))
	}
	for _, p := range r.Paths {
		lines = append(lines, fmt.Sprintf("path %s > %s: %d", p.Old, p.New, p.Files))
	}
	return lines
}

func listedChange(r *Result, c Change) string {
	place := func(o *Outline, i int32) string {
		if i == None {
			return "-"
		}
		switch c.Kind {
		case Functions:
			return fmt.Sprintf("%x", o.Funcs[i].RVA)
		case Publics:
			return fmt.Sprintf("%x", o.Publics[i].RVA)
		case CFI:
			return fmt.Sprintf("%x", o.pieces[i].RVA)
		}
		return fmt.Sprintf("%x", o.Wins[i].RVA)
	}
	return fmt.Sprintf("%s %s>%s %s", c.Kind, place(r.Old, c.Old), place(r.New, c.New), strings.Join(c.What.Names(), " "))
}

// says returns a line in the form of those that listed returns.
func says(k Kind, old, new string, what Aspect) string {
	return fmt.Sprintf("%s %s>%s %s", k, old, new, strings.Join(what.Names(), " "))
}

func at(rva symfmt.RVA) string { return fmt.Sprintf("%x", rva) }

// realFiles returns symbol files of this project and of others.
func realFiles(t testing.TB) (paths []string) {
	paths, err := filepath.Glob(filepath.Join(testenv.Root(t), "golden", "dwarf2sym", "*.sym"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no symbol files", err)
	}
	paths = append(paths, testenv.Input(t, "crashes", "win.sym"))
	return append(paths, testenv.SharedGlob(t, "data", "minidumps", "*", "symbols", "*", "*", "*.sym")...)
}
