package walk

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/once"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/damage"
	"github.com/symtool/symtool/symfmt/vars"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/goroutine"
)

// Symbols is the state of a module's symbols.
type Symbols struct {
	Asked bool // a walk wanted them

	// Resolver has the symbols of the symbol file, or of the binary's debug information. It is nil
	// without symbols.
	Resolver resolve.Symbols
	Tried    []symfmt.Tried // where symbols were looked for and not found
	// OtherBinaries are files with the module's name but from other builds, found while looking for
	// the binary.
	OtherBinaries []string
	Err           error // why symbols that were found could not be used
	// Binary means that the symbols are from the binary, and InDump that the dump itself contains
	// the binary.
	Binary, InDump bool
	// Damage lists rules that could not be read during walks, and errors in those tables of the
	// binary that were used.
	Damage []string
	// VarsProblems are problems with the variables of frames that were requested, unless they are in
	// Resolver: problems of NAME.vars or of the binary.
	VarsProblems []symfmt.Problem

	state *moduleState
}

// HasBinary reports whether the module's binary is known.
func (s *Symbols) HasBinary(ctx context.Context) bool {
	return s.state != nil && s.state.file(ctx) != nil
}

// Looked reports whether symbols were looked for: a walk wanted them, and there was a place to look.
func (s *Symbols) Looked() bool {
	return s.Asked && s.state != nil && (s.state.sources.Symbols != nil || s.state.sources.Binaries != nil)
}

// maxDamage limits Symbols.Damage.
const maxDamage = 100

// damaged adds messages to Damage, without duplicates.
func (s *Symbols) damaged(err error) {
	if text := err.Error(); len(s.Damage) < maxDamage && !slices.Contains(s.Damage, text) {
		s.Damage = append(s.Damage, text)
	}
}

// SymbolSet holds symbols and binaries for many dumps. It looks for the symbols of a module once. Its
// methods may be called concurrently.
type SymbolSet struct {
	Symbols  resolve.Supplier   // of symbol files; may be nil
	Binaries *supplier.Binaries // ELF files, whose debug information replaces a missing symbol file; may be nil
	// Last, if non-nil, supplies symbols for modules for which the others have none with lines, such
	// as stripped binaries.
	Last resolve.Supplier

	mu      sync.Mutex
	modules map[string]*moduleState
	open    []io.Closer // symbols and binaries
}

// NewSymbolSet returns a SymbolSet that tries the suppliers in turn, and then binaries, which may be nil.
func NewSymbolSet(suppliers []resolve.Supplier, binaries *supplier.Binaries) *SymbolSet {
	s := &SymbolSet{Binaries: binaries}
	if len(suppliers) > 0 {
		chain := supplier.NewChain(suppliers...)
		chain.MaxMemory = 1 // the SymbolSet keeps what walks use
		s.Symbols = chain
		s.hold(chain)
	}
	return s
}

// Renew returns a SymbolSet for later dumps, which looks in the same places and has nothing open yet. Close of either
// closes what is theirs, and Close of s closes both.
func (s *SymbolSet) Renew() *SymbolSet {
	next := &SymbolSet{Symbols: s.Symbols, Binaries: s.Binaries, Last: s.Last}
	s.hold(next)
	return next
}

// Memory returns roughly how many bytes the symbols hold that walks have used.
func (s *SymbolSet) Memory() (sum int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.open {
		if r, ok := f.(resolve.Symbols); ok {
			sum += r.Memory()
		}
	}
	return sum
}

// moduleState is the state of a module's symbols, shared by all modules with the same id.
type moduleState struct {
	m       resolve.Module
	image   []byte // the file of the vdso as it is in the dump's memory; may be nil
	sources *SymbolSet

	symbols once.Value[moduleSymbols]
	binary  once.Value[elfFile]
	tables  [2]once.Value[cfiTable] // the binary's .eh_frame and .sframe
	vars    once.Value[moduleVars]
	runtime once.Value[moduleGlobals]
	sourced once.Value[describedBy]
	coded   once.Value[describedBy] // for rules derived from the binary
}

type moduleSymbols struct {
	resolver resolve.Symbols // nil if there is none
	binary   bool            // the resolver is from the binary
	lines    resolve.Symbols // from the binary, if it has lines and the symbol file has none; otherwise nil
	tried    []symfmt.Tried
	err      error
}

type elfFile struct {
	file  *object.File
	tried []symfmt.Tried
}

// cfiTable holds the rules of a section of the binary.
type cfiTable struct {
	resolver resolve.Symbols // nil if there are none
	problems []damage.Problem
	err      error
}

// module returns the state of a module of a dump.
func (s *SymbolSet) module(d *dump.Dump, i int) *moduleState {
	m := &d.Modules[i]
	want := resolve.Module{
		Name: d.System.OS.Base(m.Path), DebugFile: m.DebugFile, DebugID: m.DebugID, CodeID: m.CodeID, Path: m.Path, BuildID: m.BuildID,
	}
	image := imageOf(d, m)
	key := fmt.Sprintf("%q %q %q %q %x %x", want.Name, want.DebugFile, want.DebugID, want.Path, want.BuildID, sha256.Sum256(image))
	s.mu.Lock()
	defer s.mu.Unlock()
	if st := s.modules[key]; st != nil {
		return st
	}
	st := &moduleState{m: want, image: image, sources: s}
	if len(want.BuildID) == 0 && want.DebugID == "" {
		// Another dump may have a different module with that name.
		return st
	}
	if s.modules == nil {
		s.modules = map[string]*moduleState{}
	}
	s.modules[key] = st
	return st
}

// Close closes the symbols and the binaries that walks have used. Results of walks must not be used any more.
func (s *SymbolSet) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, f := range s.open {
		errs = append(errs, f.Close())
	}
	s.modules, s.open = nil, nil
	return errors.Join(errs...)
}

// resolver returns the module's symbols, or nil.
func (st *moduleState) resolver(ctx context.Context) resolve.Symbols {
	return st.symbolsFrom(ctx).resolver
}

// symbolsFrom returns the symbols of the module and where they are from, after looking for them.
func (st *moduleState) symbolsFrom(ctx context.Context) *moduleSymbols {
	return st.symbols.Do(ctx, func(y *moduleSymbols) {
		if s := st.sources.Symbols; s != nil {
			y.ask(ctx, s, st.m)
		}
		if s := st.binaries(); s != nil && y.resolver == nil {
			y.ask(ctx, s, st.m)
			y.binary = y.resolver != nil
		}
		if s := st.sources.Last; s != nil && (y.resolver == nil || y.resolver.Detail(ctx) < resolve.LineDetail) {
			y.askLast(ctx, s, st.m)
		}
		if y.resolver != nil && !y.binary && y.resolver.Detail(ctx) < resolve.LineDetail && st.binaries() != nil && st.file(ctx) != nil {
			y.lines = st.binaryLines(ctx)
		}
		if f := st.fileInMemory(); f != nil && y.resolver == nil {
			var err error
			y.resolver, _, err = readModule(ctx, f, dwarf2sym.Options{Demangle: true})
			y.binary, y.err = true, errors.Join(y.err, err)
		}
		for _, r := range []resolve.Symbols{y.resolver, y.lines} {
			if r != nil {
				st.sources.hold(r)
			}
		}
	})
}

// binaryLines returns the symbols of the binary if it has lines, otherwise nil. An error in the
// binary does not affect the symbol file.
func (st *moduleState) binaryLines(ctx context.Context) resolve.Symbols {
	r, _, _ := st.binaries().Symbols(ctx, st.m)
	if r == nil || r.Detail(ctx) == resolve.LineDetail {
		return r
	}
	r.Close()
	return nil
}

// names returns the symbols for functions and lines: the symbol file, or the binary if the symbol
// file has no lines, or nil if there is neither. Rules come from resolver.
func (st *moduleState) names(ctx context.Context) resolve.Symbols {
	y := st.symbolsFrom(ctx)
	return cmp.Or(y.lines, y.resolver)
}

func (y *moduleSymbols) ask(ctx context.Context, s resolve.Supplier, m resolve.Module) {
	r, tried, err := s.Symbols(ctx, m)
	y.resolver, y.tried, y.err = r, append(y.tried, tried...), errors.Join(y.err, err)
}

// askLast replaces the symbols with those from s, if these have more. If there are symbols already,
// an error of s does not make them damaged.
func (y *moduleSymbols) askLast(ctx context.Context, s resolve.Supplier, m resolve.Module) {
	r, tried, err := s.Symbols(ctx, m)
	y.tried = append(y.tried, tried...)
	switch {
	case y.resolver == nil:
		y.resolver, y.err = r, errors.Join(y.err, err)
	case r != nil && r.Detail(ctx) > y.resolver.Detail(ctx):
		y.resolver.Close()
		y.resolver, y.binary = r, false
	case r != nil:
		r.Close()
	}
}

// readModule reads the symbols of a binary.
func readModule(ctx context.Context, f *object.File, o dwarf2sym.Options) (resolve.Symbols, []damage.Problem, error) {
	result, err := dwarf2sym.Read(ctx, f, o)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	return resolve.FromModule(result.Module, resolve.ModuleOptions{Path: f.Path, Extents: &result.Extents}), result.Problems, nil
}

// binaries returns the places where the module's binary may be, or nil. A binary given alone would
// match any module about which nothing is known. If such a binary agrees with the dump's memory, the
// dump's reader has given its id to the module.
func (st *moduleState) binaries() *supplier.Binaries {
	if m := &st.m; len(m.BuildID) == 0 && m.DebugID == "" && m.Name == "" && m.DebugFile == "" {
		return nil
	}
	return st.sources.Binaries
}

// file returns the module's binary, or nil.
func (st *moduleState) file(ctx context.Context) *object.File {
	return st.binary.Do(ctx, func(b *elfFile) {
		if s := st.binaries(); s != nil {
			binary, tried, _ := s.Binary(ctx, st.m) // errors are reported with the module's symbols
			b.file, _ = object.Of(binary)           // Binaries opened it
			b.tried = tried
			if b.file != nil {
				st.sources.hold(b.file)
			}
		}
		if b.file == nil {
			b.file = st.fileInMemory()
		}
	}).file
}

// hold keeps symbols or a file open until Close.
func (s *SymbolSet) hold(f io.Closer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = append(s.open, f)
}

// fileInMemory returns the binary that the dump itself contains, or nil.
func (st *moduleState) fileInMemory() *object.File {
	if st.image == nil {
		return nil
	}
	return openImage(st.image, st.m.String(), object.DefaultLimits()).Object()
}

// The indices of a binary's tables.
const (
	tableEHFrame = 0
	tableSFrame  = 1
)

// rules returns the rules of a section of the binary, and damage to the section.
func (st *moduleState) rules(ctx context.Context, table int) *cfiTable {
	return st.tables[table].Do(ctx, func(t *cfiTable) {
		f := st.file(ctx)
		if f == nil || table == tableSFrame && len(f.SectionsNamed(".sframe")) == 0 {
			return
		}
		o := dwarf2sym.Options{CFIOnly: true, CFI: dwarf2sym.CFIDWARF}
		if table == tableSFrame {
			o.CFI = dwarf2sym.CFISFrame
		}
		if t.resolver, t.problems, t.err = readModule(ctx, f, o); t.resolver != nil {
			st.sources.hold(t.resolver)
		}
	})
}

// moduleGlobals holds the variables of Go's runtime in a module. info is nil if there are none.
type moduleGlobals struct {
	info     *vars.Info
	problems []symfmt.Problem
	err      error
}

// globals returns the variables of Go's runtime in the binary of the module.
func (st *moduleState) globals(ctx context.Context) *moduleGlobals {
	return st.runtime.Do(ctx, func(g *moduleGlobals) {
		if b := st.binaries(); b != nil {
			g.info, g.problems, g.err = b.Globals(ctx, st.m, goroutine.Globals())
		}
	})
}

// described returns the symbols with the most information about source files, or nil.
func (st *moduleState) described(ctx context.Context) resolve.Symbols {
	y := st.symbolsFrom(ctx)
	switch {
	case y.lines != nil:
		return y.lines
	case y.binary || st.binaries() == nil || st.file(ctx) == nil:
		return y.resolver
	}
	return st.sourced.Do(ctx, func(d *describedBy) {
		if d.binary = st.binaryLines(ctx); d.binary != nil {
			st.sources.hold(d.binary)
		}
	}).binary
}

// describedBy holds the symbols of a binary, in addition to those of a symbol file. binary is nil if it has no
// lines.
type describedBy struct{ binary resolve.Symbols }
