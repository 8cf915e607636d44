package publics

import (
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt"
)

// source is one symbol table of a file.
type source struct {
	object.Companion
	which object.Table
}

// Entries gives access to the symbols of a binary and its debug files as they are in the tables.
type Entries struct {
	base   uint64
	opd    *opdTable
	chosen []source
	own    []source
}

// entriesOf returns the entries of the tables from which Read chooses. If no table names code, it uses the first
// table there is.
func entriesOf(base uint64, files []object.Companion, chosen []source) *Entries {
	e := &Entries{base: base, opd: opdOf(files), chosen: chosen, own: ownTables(files)}
	for _, which := range []object.Table{object.Symtab, object.Dynamic} {
		for _, f := range files {
			if len(e.chosen) == 0 && f.File != nil && f.HasSymbols(which) {
				e.chosen = []source{{f, which}}
			}
		}
	}
	return e
}

// OpenEntries returns the entries of a binary and its debug file, which may be nil.
func OpenEntries(file, debug *object.File) (*Entries, []bin.Problem, error) {
	files, lost, err := object.Companions(file, debug)
	if err != nil {
		return nil, nil, err
	}
	t, problems := collect(file.Base, files)
	return entriesOf(file.Base, files, t.from), append(lost, problems...), nil
}

// ownTables returns the binary's own tables: .symtab or, if it is stripped, .dynsym and what .gnu_debugdata adds to
// it.
func ownTables(files []object.Companion) []source {
	if files[0].HasSymbols(object.Symtab) {
		return []source{{files[0], object.Symtab}}
	}
	own := []source{{files[0], object.Dynamic}}
	for _, f := range files[1:] {
		if f.Mini {
			own = append(own, source{f, object.Symtab})
		}
	}
	return own
}

// Each calls found with each defined symbol, in the order of the tables: the tables from which Read chooses or,
// if own is set, the binary's own. Damaged entries are left out; they were reported when the Publics were read.
func (e *Entries) Each(own bool, found func(*symfmt.TableSymbol)) {
	tables := e.chosen
	if own {
		tables = e.own
	}
	for _, t := range tables {
		e.each(t, found)
	}
}

func (e *Entries) each(t source, found func(*symfmt.TableSymbol)) {
	var file []byte
	_ = t.Symbols(t.which, func(s *object.Symbol) {
		if s.Kind == object.OtherKind && s.Absolute {
			file = s.Name // ELF's STT_FILE, before the local symbols of the file
		}
		if s.Undefined || s.Kind == object.OtherKind {
			return
		}
		entry := symfmt.TableSymbol{Name: s.Name, RVA: e.place(t.Companion, s), Size: s.Size, Kind: entryKind(s), Bind: entryBind(s.Bind), Absolute: s.Absolute}
		if s.Bind == object.Local {
			entry.File = file
		}
		if s.Section != nil {
			entry.Loaded = s.Section.Alloc
			entry.Section.Start, entry.Section.Size = symfmt.RVA(s.Section.Addr+t.Moved-e.base), s.Section.FileSize
		}
		found(&entry)
	})
	t.ReleaseSymbols()
}

// place returns the RVA of a symbol in the binary. A function descriptor stands for its code.
func (e *Entries) place(f object.Companion, s *object.Symbol) symfmt.RVA {
	if s.Section != nil && e.opd != nil {
		if addr, ok := e.opd.code(f, s); ok {
			return symfmt.RVA(addr - e.base)
		}
	}
	addr := s.Addr
	if s.IsFunction() {
		addr &^= f.ISABit
	}
	if !s.Absolute {
		addr += f.Moved
	}
	return symfmt.RVA(addr - e.base)
}

func entryKind(s *object.Symbol) symfmt.TableKind {
	switch {
	case s.IsFunction():
		return symfmt.CodeEntry
	case s.Kind == object.Data:
		return symfmt.DataEntry
	case s.Kind == object.Label:
		return symfmt.LabelEntry
	}
	return symfmt.UntypedEntry
}

func entryBind(b object.Bind) symfmt.TableBind {
	switch b {
	case object.Global:
		return symfmt.GlobalBind
	case object.Weak:
		return symfmt.WeakBind
	}
	return symfmt.LocalBind
}
