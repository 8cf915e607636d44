package symbolizer

import (
	"context"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/walk/dump"
)

// symbolTable has what eu-stack prints about the addresses of a module.
type symbolTable struct {
	module  *dump.Module
	symbols resolve.Symbols // nil if the file is missing
	file    *object.File    // with the names, or nil
	table   object.Table
	base    uint64 // the address in the file that RVAs count from
	names   map[uint64]string
}

// openTable opens the symbols of a module. Without a file there are none, which is no error.
func openTable(ctx context.Context, b *supplier.Binaries, d *dump.Dump, module int) (t *symbolTable, err error) {
	m := &d.Modules[module]
	t = &symbolTable{module: m, names: map[uint64]string{}}
	if len(m.BuildID) == 0 && m.DebugID == "" {
		return t, nil
	}
	want := resolve.Module{Name: d.System.OS.Base(m.Path), DebugFile: m.DebugFile, DebugID: m.DebugID, CodeID: m.CodeID, Path: m.Path, BuildID: m.BuildID}
	if t.symbols, _, err = b.Symbols(ctx, want); t.symbols == nil || err != nil {
		return t, err
	}
	t.base, _ = t.symbols.Base()
	return t, t.openNames()
}

// openNames opens the file with the names: the module's own, its debug file, or else the names that it exports.
func (t *symbolTable) openNames() error {
	for _, table := range []object.Table{object.Symtab, object.Dynamic} {
		for _, path := range t.paths() {
			f, err := objfile.Open(path, object.DefaultLimits())
			if err != nil {
				return err
			}
			if f.HasSymbols(table) {
				t.file, t.table = f, table
				return nil
			}
			f.Close()
		}
	}
	return nil
}

// paths returns the paths of the file and of its debug file, as far as they are known.
func (t *symbolTable) paths() (all []string) {
	if t.symbols == nil {
		return nil
	}
	id := t.symbols.Identity()
	for _, path := range []string{id.Path, id.DebugPath} {
		if path != "" {
			all = append(all, path)
		}
	}
	return all
}

func (t *symbolTable) close() {
	if t.file != nil {
		t.file.Close()
	}
	if t.symbols != nil {
		t.symbols.Close()
	}
}

// source returns the functions at an address of the process, the innermost first.
func (t *symbolTable) source(addr uint64) []symfmt.SourceFrame {
	if s, ok := t.symbols.(resolve.SourceSymbols); ok {
		return s.Source(symfmt.RVA(addr - t.module.Addr))
	}
	return nil
}

// name returns the name at an address of the process by the symbol table, or "". Names are kept, as many threads wait at
// the same place.
func (t *symbolTable) name(addr uint64) string {
	name, known := t.names[addr]
	if !known {
		name = t.findName(addr)
		t.names[addr] = name
	}
	return name
}

// findName looks for the name at an address in the whole symbol table.
func (t *symbolTable) findName(addr uint64) string {
	if t.file == nil {
		return ""
	}
	return elfutilsSymbol(t.file, t.table, addr+t.base-t.module.Addr).name
}

// elfutilsSymbol returns the symbol at an address that elfutils choose (dwfl_module_addrinfo), with the name "" if there
// is none: a global symbol before a local one, and of these the one that begins last, then one that binds more strongly,
// then the shortest. Symbols without a size, of which the last counts, are chosen if no other has the address, and
// absolute ones only where they are.
func elfutilsSymbol(f *object.File, table object.Table, addr uint64) candidate {
	var sized, unsized [2]candidate // global ones, local ones
	ends := uint64(0)               // of symbols, the last
	_ = f.Symbols(table, func(s *object.Symbol) {
		start := s.Addr
		if s.IsFunction() {
			start &^= f.ISABit
		}
		if s.Undefined || s.Kind == object.OtherKind || len(s.Name) == 0 || start > addr {
			return
		}
		ends = max(ends, start+s.Size)
		local := 0
		if s.Bind == object.Local {
			local = 1
		}
		switch c := (candidate{start: start, size: s.Size, bind: strength(s.Bind), known: true}); {
		case s.Size == 0:
			if start >= unsized[local].start && (s.Section != nil && s.Section.Holds(addr) || s.Absolute && start == addr) {
				unsized[local] = c.named(s)
			}
		case addr-start < s.Size && c.better(&sized[local]):
			sized[local] = c.named(s)
		}
	}) // damage was reported by the reader of symbols
	f.ReleaseSymbols()
	for _, c := range sized {
		if c.known {
			return c
		}
	}
	for _, c := range unsized {
		if c.known && c.start >= ends {
			return c
		}
	}
	return candidate{}
}

// candidate is a symbol that may name an address.
type candidate struct {
	start, size uint64
	bind        int
	name        string
	known       bool
}

func (c candidate) named(s *object.Symbol) candidate {
	c.name = string(s.Name)
	return c
}

// better reports whether c names an address better than old.
func (c *candidate) better(old *candidate) bool {
	switch {
	case !old.known || c.start != old.start:
		return !old.known || c.start > old.start
	case c.bind != old.bind:
		return c.bind > old.bind
	}
	return c.size < old.size
}

// strength ranks how a symbol binds.
func strength(b object.Bind) int {
	switch b {
	case object.Global:
		return 2
	case object.Weak:
		return 1
	}
	return 0
}
