// Package pdb reads program databases, the debug information of Microsoft's compilers and of
// clang for Windows, into modules: functions, lines and inlined calls, public symbols, and the
// frames of x86.
//
// A PDB is a container of streams (msf.go). One lists the object files (dbi.go), each of which
// has a stream with its symbols (symbols.go) and its lines (lines.go, inline.go). They are read
// one by one, by several workers; types (types.go) are read where names need them. Memory use
// therefore does not grow with the size of the file.
//
// Structures: microsoft-pdb's cvinfo.h; LLVM's "The PDB File Format".
//
// # Rules
//
//   - A FUNC is a procedure, a thunk or a separated part of a procedure. There is one at each
//     address: the first of several, in order of the modules, marked with m if their names differ.
//   - Names include the arguments of their types: ns::C::f(int, char const*).
//   - Lines of inlined code are those of the innermost function. Line numbers that mean "step over
//     this" to a debugger (0xf00f00, 0xfeefee) are left out.
//   - Code of an inlined call outside its caller's code is left out.
//   - PUBLIC is written where no FUNC covers the address, with its name undecorated, as in
//     a FUNC. Labels of assembly, which are not marked as functions, get one too.
//   - The id is the GUID and the age of the debug information, as in CodeView entries: tools that
//     add to the file later raise the other age.
//   - Memory for streams, all modules together, names, and rows of lines is bounded by the file's size.
//   - If the image was reordered after the PDB was written (OMAP), there is a FUNC for each piece of a
//     function. Code that was injected between two pieces belongs to the function.
//   - The jumps through which an incrementally linked program calls are FUNCs. Debuggers name them @ILT+5(f):
//     the distance from the first one, and the function. Code that "edit and continue" adds to a running process
//     is not in any PDB.
//   - A PDB of /DEBUG:FASTLINK leaves functions and lines in the object files. What it does hold is read, and
//     the rest is a problem, ErrPartial.
package pdb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/intern"
	"github.com/symtool/symtool/internal/par"
	"github.com/symtool/symtool/symfmt"
)

// Options configure Read.
type Options struct {
	File      string // path, for messages and for MODULE's name
	Jobs      int    // number of workers; GOMAXPROCS if not positive
	NoInlines bool
	RawNames  bool // FUNC and PUBLIC have decorated names, if public symbols provide them
	Contents  bool // read the digests of source files: Module.Contents
}

// ID returns the id of a PDB in the form of MODULE.
func ID(r io.ReaderAt, size int64, file string) (string, error) {
	d, err := openDatabase(r, size, file)
	if err != nil {
		return "", err
	}
	return d.id(), nil
}

func (d *database) id() string { return fmt.Sprintf("%X%X", d.guid, d.age) }

func openDatabase(r io.ReaderAt, size int64, file string) (*database, error) {
	c, err := open(r, size, file)
	if err != nil {
		return nil, err
	}
	d := &database{container: c}
	return d, cmp.Or(d.readInfo(), d.readDebug())
}

// Read returns the symbols of the PDB in the first size bytes of r. An error means that nothing
// could be read; damage to parts is reported as problems.
func Read(ctx context.Context, r io.ReaderAt, size int64, o Options) (*symfmt.Result, error) {
	d, err := openDatabase(r, size, o.File)
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(d.readNames(), d.readSections()); err != nil {
		return nil, err
	}
	layout, err := d.readLayout()
	if err != nil {
		return nil, err
	}
	m := &merger{d: d, o: &o, files: map[symfmt.FileID]symfmt.FileID{}, plain: map[int]string{}}
	m.out = symfmt.Module{OS: "windows", Arch: machines[d.machine], ID: d.id(), Name: filepath.Base(o.File)}
	if m.out.Arch == "" {
		m.out.Arch = "unknown"
	}
	for _, stream := range []struct {
		number int
		table  **typeTable
	}{{typeStream, &m.types}, {idStream, &m.ids}} {
		if *stream.table, err = d.readTypes(stream.number); err != nil {
			m.problem("types", err)
		}
	}
	if d.partial {
		m.problem("functions and lines of object files", &bin.Error{File: d.file, Kind: ErrPartial, Msg: partialText})
	}
	if d.left > 0 {
		m.problem(fmt.Sprintf("%d modules", d.left), d.errorf("modules share streams so often that they have more bytes than the file"))
	}
	if err := m.modules(ctx); err != nil {
		return nil, err
	}
	m.nameOrigins()
	m.sortFuncs()
	m.nameJumps()
	if err := m.publics(); err != nil {
		m.problem("public symbols", err)
	}
	if m.out.Wins, err = d.frames(); err != nil {
		m.problem("STACK WIN", err)
	}
	if d.room < 0 {
		m.problem("names of files, and programs of STACK WIN", d.errorf("/names: they have more bytes together than the file"))
	}
	if layout != nil && !layout.translate(&m.out, d.placed) {
		m.problem("symbols of the reordered image", d.errorf("OMAP: too many pieces for the symbols that there are"))
	}
	result := &symfmt.Result{Module: &m.out}
	result.Problems = m.problems
	return result, nil
}

// ErrPartial is the kind of problem reported for a PDB that leaves debug information in the object files.
var ErrPartial = errors.New("debug information is in the object files")

const partialText = "linked with /DEBUG:FASTLINK, so functions and lines are in the object files and not in the PDB: link with /DEBUG:FULL, or complete it with mspdbcmf.exe"

// merger combines the symbols of the object files into a Module.
type merger struct {
	d          *database
	o          *Options
	types, ids *typeTable
	files      map[symfmt.FileID]symfmt.FileID // by the name's offset
	origins    intern.Table                    // the names of inlined functions
	numbers    []atomic.Uint32                 // one more than the number of the name, by id
	plain      map[int]string                  // the undecorated names of functions with decorated ones, by index
	buf        []byte                          // holds demangled names
	jumps      []jump                          // of incremental linking
	out        symfmt.Module
	problems   []symfmt.Problem
}

func (m *merger) problem(lost string, err error) {
	m.problems = append(m.problems, symfmt.Problem{Lost: lost, Err: err})
}

// object is the result of reading a module. In its functions, a FileID is the offset of the file's name, and an
// OriginID is the inlined function's id.
type object struct {
	functions []symfmt.Func
	names     map[uint32]textSpan // of inlined functions that had no number when the module was read, in text
	text      []byte
	jumps     []jump
	contents  []fileContents // with Options.Contents
	err       error
}

// textSpan is a part of a text.
type textSpan struct{ from, to int }

// worker reads modules, one at a time. Its memory is reused for the next module.
type worker struct {
	names   *names
	data    []byte // symbols
	c13     []byte
	symbols moduleSymbols
	lines   *moduleLines
	own     []row // of a function
	calls   calls
	body    symfmt.BodyBuilder
	arena   symfmt.Arena
	paint   painter
}

// modules reads all modules.
func (m *merger) modules(ctx context.Context) error {
	jobs := par.Jobs(m.o.Jobs)
	workers := make([]*worker, jobs)
	m.numbers = make([]atomic.Uint32, m.ids.count)
	return par.Ordered(ctx, jobs, len(m.d.modules), func(_ context.Context, k, i int) (object, error) {
		if workers[k] == nil {
			workers[k] = &worker{names: newNames(m.types, m.ids), lines: newLines()}
		}
		return workers[k].module(m, i), nil
	}, func(i int, o object) error {
		if o.err != nil {
			m.problem(fmt.Sprintf("functions or lines of module %d", i), o.err)
		}
		for k := range o.functions {
			o.functions[k].Body.Renumber(m.file, func(id symfmt.OriginID) symfmt.OriginID { return m.origin(uint32(id), &o) })
		}
		m.out.Funcs = append(m.out.Funcs, o.functions...)
		m.jumps = append(m.jumps, o.jumps...)
		m.contents(o.contents)
		return nil
	})
}

// module reads an object file's symbols and lines.
func (w *worker) module(m *merger, i int) (out object) {
	d, of := m.d, &m.d.modules[i]
	if of.stream == noStream || of.symBytes == 0 {
		return out
	}
	s := d.stream(of.stream)
	symbols, err := s.partIn(w.data, 0, of.symBytes)
	if err != nil {
		return object{err: err}
	}
	c13, err := s.partIn(w.c13, of.symBytes+of.c11Bytes, of.c13Len)
	out.err = err
	w.data, w.c13 = symbols, c13
	w.lines.read(d, c13, len(symbols))
	if m.o.Contents {
		out.contents = w.lines.contents()
	}
	w.symbols.read(d, symbols)
	out.jumps = slices.Clone(w.symbols.jumps)
	out.functions = make([]symfmt.Func, 0, len(w.symbols.procs))
	out.names = map[uint32]textSpan{}
	for i := range w.symbols.procs {
		p := &w.symbols.procs[i]
		if m.o.NoInlines {
			p.sites = nil
		}
		w.own = w.lines.of(w.own[:0], p.rva, p.rva+symfmt.RVA(p.size))
		calls := w.calls.read(w.lines, p, w.own)
		for _, c := range calls {
			w.nameInlinee(m, &out, c.inlinee)
		}
		out.functions = append(out.functions, symfmt.Func{
			RVA: p.rva, Size: uint64(p.size), Name: string(w.names.nameOf(p)), Body: w.bodyOf(p, calls),
		})
	}
	if w.lines.room < 0 && out.err == nil {
		out.err = s.errorf(0, "functions share lines so often that they have more than there are bytes")
	}
	return out
}

// bodyOf returns the inlined calls and the lines of a function.
func (w *worker) bodyOf(p *proc, calls []inlined) symfmt.Body {
	w.body.Reset(p.rva)
	for _, c := range calls {
		w.body.AddInline(&symfmt.Inline{
			Depth: uint32(c.depth), CallLine: c.call.line, CallFile: symfmt.FileID(c.call.file),
			Origin: symfmt.OriginID(c.inlinee), Ranges: c.ranges,
		})
	}
	for _, r := range w.paint.lines(w.own, calls) {
		if r.line != lineStepOver && r.line != lineStepInto {
			w.body.AddLine(symfmt.Line{RVA: r.lo, Size: uint64(r.hi - r.lo), Num: r.line, File: symfmt.FileID(r.file)})
		}
	}
	return w.body.Finish(&w.arena)
}

// nameInlinee adds the name of an inlined function to out, unless it already has a number.
func (w *worker) nameInlinee(m *merger, out *object, id uint32) {
	if n := m.number(id); n != nil && n.Load() != 0 {
		return
	}
	if _, named := out.names[id]; named {
		return
	}
	from := len(out.text)
	out.text = append(out.text, w.names.function(id)...)
	out.names[id] = textSpan{from, len(out.text)}
}

// number returns the element for the number of an inlined function's name, or nil if no type has the id.
func (m *merger) number(id uint32) *atomic.Uint32 {
	if i := uint64(id) - firstType; id >= firstType && i < uint64(len(m.numbers)) {
		return &m.numbers[i]
	}
	return nil
}

func (m *merger) file(at symfmt.FileID) symfmt.FileID {
	id, ok := m.files[at]
	if !ok {
		id = symfmt.FileID(len(m.out.Files))
		m.files[at] = id
		name := string(m.d.nameAt(uint32(at)))
		if name == "" {
			name = "<unknown>"
		}
		m.out.Files = append(m.out.Files, symfmt.File{ID: id, Name: name})
	}
	return id
}

// origin returns the number of an inlined function of a module. Functions with the same name share a number.
func (m *merger) origin(id uint32, o *object) symfmt.OriginID {
	n := m.number(id)
	if n != nil && n.Load() != 0 {
		return symfmt.OriginID(n.Load() - 1)
	}
	name := o.names[id]
	number := m.origins.Intern(o.text[name.from:name.to])
	if n != nil {
		n.Store(number + 1)
	}
	return symfmt.OriginID(number)
}

// nameOrigins makes the records of inlined functions, and releases the memory for finding their names.
func (m *merger) nameOrigins() {
	m.types, m.ids, m.numbers = nil, nil, nil
	m.origins.Freeze()
	m.out.Origins = make([]symfmt.InlineOrigin, m.origins.Len())
	for i := range m.out.Origins {
		m.out.Origins[i] = symfmt.InlineOrigin{ID: symfmt.OriginID(i), Name: m.origins.At(uint32(i))}
	}
	m.origins = intern.Table{}
}

// sortFuncs sorts the functions and keeps one at each address.
func (m *merger) sortFuncs() {
	funcs := m.out.Funcs
	slices.SortStableFunc(funcs, func(a, b symfmt.Func) int { return cmp.Compare(a.RVA, b.RVA) })
	m.out.Funcs = oneAtEach(funcs, func(f *symfmt.Func) (symfmt.RVA, string, *bool) { return f.RVA, f.Name, &f.Multiple })
}

// oneAtEach keeps the first of several records at an address, and marks it if another has a different
// name. all is sorted by address; of returns a record's address, name and mark.
func oneAtEach[T any](all []T, of func(*T) (rva symfmt.RVA, name string, multiple *bool)) []T {
	n := 0
	for i := range all {
		if n > 0 {
			first, name, multiple := of(&all[n-1])
			if rva, other, _ := of(&all[i]); rva == first {
				*multiple = *multiple || name != other
				continue
			}
		}
		all[n] = all[i]
		n++
	}
	return all[:n]
}
