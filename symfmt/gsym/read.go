package gsym

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"sort"
	"strings"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt"
)

// Read reads a GSYM file of size bytes. A damaged FunctionInfo is reported as a
// problem and the others are kept; the error is non-nil if nothing in the file is
// usable.
//
// It uses as much memory as the file and its contents.
func Read(ctx context.Context, r io.ReaderAt, size int64, o ReadOptions) (*symfmt.Result, error) {
	data, err := bin.ReadUpTo(bin.ContextReader(ctx, io.NewSectionReader(r, 0, size)), size)
	if err != nil {
		return nil, &bin.Error{File: o.File, Offset: uint64(len(data)), Err: err}
	}
	var p problems
	g := image{path: o.File, data: data}
	if err := g.open(&p); err != nil {
		return nil, err
	}
	d := newReader(&g, &p)
	d.findEnds()
	d.files()
	if err := d.functions(ctx, imageBase(&g, o)); err != nil {
		return nil, err
	}
	d.dropPieces()
	d.module(o)
	d.reportDropped(o)
	return &symfmt.Result{Module: d.m, Report: symfmt.Report{Problems: p.all()}}, nil
}

// imageBase returns the absolute address of RVA 0.
func imageBase(g *image, o ReadOptions) uint64 {
	if o.Base != nil {
		return *o.Base
	}
	return g.base
}

// reader turns an image into a module.
type reader struct {
	g        *image
	problems *problems
	m        *symfmt.Module

	strings   string   // the table
	ends      []uint64 // where its strings end, as offsets
	left      uint64   // bytes of FunctionInfos that may still be read; see entry
	namesLeft int      // bytes that function names may still take
	fileCount uint32
	hasName   []bool // by file: the entry has a name
	unknown   []bool // by file: it is named symfmt.NoFile
	origins   map[uint64]symfmt.OriginID
	body      symfmt.BodyBuilder
	arena     symfmt.Arena
	rows      []row
	lists     []inlineList
	ranges    []symfmt.Range

	callSites, otherInfos, symbolInfos int // FunctionInfos with contents that are dropped
}

func newReader(g *image, p *problems) *reader {
	d := &reader{
		g: g, problems: p, m: &symfmt.Module{}, strings: string(g.part(g.strings)),
		left: uint64(len(g.data)), origins: make(map[uint64]symfmt.OriginID),
	}
	d.namesLeft = d.textLimit()
	return d
}

// maxString is the length at which names are cut. C++ compilers write names of
// some 100 kB; without a limit, many offsets into one long string would become
// names with the square of the file's size.
const maxString = 1 << 20

// str returns the string at an offset.
func (d *reader) str(at uint64) (s string, ok bool) {
	if at >= uint64(len(d.strings)) {
		return "", false
	}
	end := uint64(len(d.strings))
	if i := sort.Search(len(d.ends), func(i int) bool { return d.ends[i] >= at }); i < len(d.ends) {
		end = d.ends[i]
	}
	return d.strings[at:min(end, at+maxString)], true
}

// findEnds finds the ends of all strings: searching for each would take long
// where many offsets point into one long string.
func (d *reader) findEnds() {
	d.ends = make([]uint64, 0, strings.Count(d.strings, "\x00"))
	for at := 0; ; {
		n := strings.IndexByte(d.strings[at:], 0)
		if n < 0 {
			return
		}
		d.ends = append(d.ends, uint64(at+n))
		at += n + 1
	}
}

// freeText is how many bytes of paths, and of function names, are allowed in
// addition to eight times the file's size. An entry is only an offset or two, but
// may refer to a string of any length.
const freeText = 16 << 20

func (d *reader) textLimit() int { return 8*len(d.g.data) + freeText }

// files reads the table of files: a FILE has the number of its entry.
func (d *reader) files() {
	g := d.g
	c := bin.NewAt("", g.part(g.files), g.files.offset, g.order)
	n := c.U32()
	d.hasName = make([]bool, 0, min(uint64(n), uint64(c.Len()/(2*g.strSize))))
	left := d.textLimit()
	for i := range n {
		at := c.Offset()
		dirAt, baseAt := c.Uint(g.strSize), c.Uint(g.strSize)
		if c.Err() != nil {
			break
		}
		dir, ok1 := d.str(dirAt)
		base, ok2 := d.str(baseAt)
		path := joinPath(dir, base)
		switch {
		case !ok1 || !ok2:
			d.problems.add(fmt.Sprintf("file %d", i), g.fail(at, "strings %#x and %#x in a table of %#x bytes", dirAt, baseAt, len(d.strings)))
			path = symfmt.NoFile
		case len(path) > left:
			d.problems.add(fmt.Sprintf("files from number %d", i), g.fail(at, "paths of more than %d bytes in a file of %d bytes", d.textLimit(), len(g.data)))
			d.fileCount = i
			return
		}
		left -= len(path)
		d.fileCount = i + 1
		d.hasName = append(d.hasName, path != "")
		d.unknown = append(d.unknown, path == symfmt.NoFile)
		if path != "" {
			d.m.Files = append(d.m.Files, symfmt.File{ID: symfmt.FileID(i), Name: path})
		}
	}
	if err := c.Err(); err != nil && g.files.size > 0 {
		d.problems.add(fmt.Sprintf("files from number %d", d.fileCount), g.fail(g.files.offset, "table of %d files: only %d bytes left", n, max(len(g.part(g.files))-4, 0)))
	}
}

// functions reads all FunctionInfos in the order of the address table.
func (d *reader) functions(ctx context.Context, base uint64) error {
	g := d.g
	before, unsorted := uint64(0), false
	for i := range g.count {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		diff := g.addr(i)
		if diff < before && !unsorted {
			unsorted = true
			d.problems.add("", g.fail(g.addrs.offset+i*uint64(g.addrSize), "address %#x after %#x: want ascending addresses", diff, before))
		}
		before = diff
		addr := g.base + diff
		if addr < diff || addr < base {
			d.problems.add(fmt.Sprintf("function %d", i), g.fail(g.addrs.offset+i*uint64(g.addrSize), "address %#x+%#x, want %#x or more", g.base, diff, base))
			continue
		}
		if !d.entry(i, symfmt.RVA(addr-base)) {
			d.problems.add(fmt.Sprintf("functions from number %d", i), g.fail(g.offsets.offset+i*uint64(g.strSize), "FunctionInfos take more bytes than the file has: entries share them"))
			break
		}
	}
	return nil
}

// checkEvery is the number of functions after which the context is checked.
const checkEvery = 1 << 10

// entry reads the FunctionInfo of entry i. It returns false if those read so far
// have more bytes than the file: in a sound file entries do not share bytes, so
// reading takes time and memory in proportion to the file.
func (d *reader) entry(i uint64, rva symfmt.RVA) bool {
	g := d.g
	at, ok := g.info(i)
	if !ok {
		d.problems.add(fmt.Sprintf("function at %#x", uint64(rva)), g.fail(g.offsets.offset+i*uint64(g.strSize), "FunctionInfo at %#x in a file of %#x bytes", at, len(g.data)))
		return true
	}
	if d.left == 0 {
		return false
	}
	end := min(g.funcs.end(), uint64(len(g.data)))
	c := bin.NewAt("", g.data[at:end], at, g.order)
	d.function(&c, rva, false)
	d.left -= min(d.left, uint64(c.Pos()))
	return true
}

// lost records the loss of a function.
func (d *reader) lost(rva symfmt.RVA, what string, err error) {
	if at, ok := err.(*bin.Error); ok {
		at.File = d.g.path
	}
	d.problems.add(fmt.Sprintf("%s at %#x", what, uint64(rva)), err)
}

// dropPieces removes the pieces that the writer made of functions with others
// inside them (plan.close): functions with the name, the end and the lines of
// one that begins earlier.
func (d *reader) dropPieces() {
	funcs := d.m.Funcs
	type key struct {
		name string
		end  symfmt.RVA
	}
	type place struct{ index, tries int }
	var outer map[key]place
	reach, kept := symfmt.RVA(0), 0
	for i := range funcs {
		f := &funcs[i]
		end := f.RVA + symfmt.RVA(f.Size)
		if f.RVA < reach && outer == nil {
			outer = make(map[key]place)
			for j := range kept {
				outer[key{funcs[j].Name, funcs[j].RVA + symfmt.RVA(funcs[j].Size)}] = place{index: j}
			}
		}
		if outer != nil {
			o, ok := outer[key{f.Name, end}]
			if o.tries++; ok && o.tries <= maxPieces && funcs[o.index].RVA < f.RVA && isPiece(&funcs[o.index], f) {
				outer[key{f.Name, end}] = o
				continue
			}
			outer[key{f.Name, end}] = place{kept, o.tries}
		}
		reach = max(reach, end)
		funcs[kept] = *f
		kept++
	}
	clear(funcs[kept:])
	d.m.Funcs = funcs[:kept]
}

// isPiece reports whether f's lines are those of outer from f's start on.
func isPiece(outer, f *symfmt.Func) bool {
	a, b := outer.LineReader(), f.LineReader()
	for b.Next() {
		for {
			if !a.Next() {
				return false
			}
			if a.Line.RVA+symfmt.RVA(a.Line.Size) > f.RVA {
				break
			}
		}
		if a.Line.File != b.Line.File || a.Line.Num != b.Line.Num || max(a.Line.RVA, f.RVA) != b.Line.RVA {
			return false
		}
	}
	return !a.Next() || a.Line.RVA+symfmt.RVA(a.Line.Size) <= f.RVA
}

// module sets what the header records and the options provide.
func (d *reader) module(o ReadOptions) {
	m := d.m
	m.OS, m.Arch = cmp.Or(o.OS, "unknown"), cmp.Or(o.Arch, "unknown")
	m.Name = o.Name
	if m.Name == "" {
		m.Name = strings.TrimSuffix(filepath.Base(o.File), ".gsym")
	}
	if o.File == "" && o.Name == "" {
		m.Name = "unknown"
	}
	setID(m, bytes.Clone(d.g.uuid), d.g.order)
}

func (d *reader) reportDropped(o ReadOptions) {
	if o.Dropped == nil {
		return
	}
	for _, l := range []symfmt.Loss{
		{What: "functions with call sites", Count: d.callSites, Why: "symbol files have no place for them"},
		{What: "FunctionInfos with information of a kind over 4", Count: d.otherInfos},
		{What: "functions of size 0 with lines or inlined functions", Count: d.symbolInfos, Why: "their ends are not known"},
	} {
		if l.Count > 0 {
			o.Dropped(l)
		}
	}
}
