package symbolizer

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/symfmt"
)

// module is a binary that is open.
type module struct {
	file     *object.File
	symbols  resolve.Symbols
	named    *object.File // has the symbol table: file or, for binutils and elfutils, the debug file
	which    object.Table // of named
	table    []symbol     // in order of address; of those at one address, the last is LLVM's choice
	reported int          // number of problems that were reported
	err      error
}

// symbol is an entry of a symbol table.
type symbol struct {
	name       string
	addr, size uint64
	file       string // of a local symbol, or of the declaration; "" if it is unknown
	line       uint32 // of the declaration, or 0
	number     int32  // in the table of the file
	data       bool   // the symbol is known to name data
	code       bool   // or a function
}

// module returns the binary of a request.
func (s *Symbolizer) module(r *request) (*module, error) {
	if r.kind == frameRequest || !r.ok && r.symbol == "" {
		return nil, nil
	}
	key := cmp.Or(r.build, r.file)
	m := s.modules[key]
	if m == nil {
		m = &module{}
		path := r.file
		if r.build != "" {
			path, m.err = s.fileWith(r.build)
		}
		if m.err == nil {
			m.err = m.open(s, path)
		}
		s.modules[key] = m
	}
	if m.err != nil {
		return nil, m.err
	}
	if s.Section != "" {
		section := m.file.Section(s.Section)
		if section == nil {
			return nil, fmt.Errorf("%s: no section %s", r.file, s.Section)
		}
		r.place += section.Addr
	}
	return m, nil
}

// opened returns the binary of a request that is open, or nil.
func (s *Symbolizer) opened(r *request) *module {
	if m := s.modules[cmp.Or(r.build, r.file)]; m != nil && m.err == nil {
		return m
	}
	return nil
}

// sectionAt returns the name of the section at an address, or "".
func (m *module) sectionAt(addr uint64) string {
	for _, section := range m.file.Sections {
		if section.Alloc && section.Holds(addr) {
			return section.Name
		}
	}
	return ""
}

// fileWith returns the path of the file with a build-id in the folders of debug files.
func (s *Symbolizer) fileWith(build string) (string, error) {
	if len(build) > 2 {
		for _, dir := range s.DebugDirs {
			path := filepath.Join(dir, ".build-id", build[:2], build[2:]+".debug")
			if _, err := os.Stat(path); err == nil {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("no file with build-id %s in %s", build, strings.Join(s.DebugDirs, ", "))
}

// ofCPU returns the path of a file, and the CPU that chooses one of its binaries: LLVM takes FILE:CPU for FILE.
func (s *Symbolizer) ofCPU(name string) (path, cpu string) {
	if i := strings.LastIndexByte(name, ':'); i > 0 && s.Style.ofLLVM() {
		if _, err := os.Stat(name); err != nil {
			if _, err := os.Stat(name[:i]); err == nil {
				return name[:i], name[i+1:]
			}
		}
	}
	return name, s.CPU
}

// open opens a binary and its debug files.
func (m *module) open(s *Symbolizer, name string) error {
	path, cpu := s.ofCPU(name)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%q: no such file", path)
	}
	var err error
	which := resolve.Module{}
	m.file, err = objfile.Open(path, object.DefaultLimits())
	switch {
	case !errors.Is(err, object.ErrSeveral) || !s.Style.ofLLVM():
	case cpu == "":
		return fmt.Errorf("%s: %s: choose one with --default-arch, or as %s:CPU", path, bin.Bare(err, path), path)
	default:
		lim := object.DefaultLimits()
		lim.CPU = cpu
		if m.file, err = objfile.Open(path, lim); err == nil {
			which.BuildID = m.file.BuildID()
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %s", path, bin.Bare(err, path))
	}
	is := m.file.CPU
	if m.file.Arch != nil {
		is = m.file.Arch.Name
	}
	if name != path && cpu != is && cpu != m.file.CPU {
		m.file.Close()
		return fmt.Errorf("%q: no such file, and %s is for %s", name, path, is)
	}
	b, err := supplier.NewBinaries([]string{path}, supplier.BinaryOptions{DebugDirs: s.DebugDirs, Package: s.Package})
	if err == nil {
		m.symbols, _, err = b.Symbols(s.ctx, which)
	}
	if err == nil && m.symbols == nil {
		err = fmt.Errorf("%s: no symbols", path)
	}
	if err != nil {
		m.file.Close()
		return err
	}
	if err = m.openTable(s.Style); err != nil {
		m.close()
		return err
	}
	m.readTable()
	return nil
}

// openTable finds the symbol table. LLVM reads that of the file alone, others also the one of its debug file, which is
// better than the names that the file exports.
func (m *module) openTable(style Style) (err error) {
	m.named, m.which = m.file, object.Symtab
	if m.file.HasSymbols(object.Symtab) {
		return nil
	}
	if path := m.symbols.Identity().DebugPath; path != "" && !style.ofLLVM() {
		debug, err := objfile.Open(path, object.DefaultLimits())
		if err != nil {
			return err
		}
		if debug.HasSymbols(object.Symtab) {
			m.named = debug
			return nil
		}
		debug.Close()
	}
	m.which = object.Dynamic
	return nil
}

func (m *module) close() {
	if m.err == nil {
		if m.named != m.file {
			m.named.Close()
		}
		m.symbols.Close()
		m.file.Close()
	}
}

// report reports the damage that was found since it was called last.
func (m *module) report(s *Symbolizer) {
	if m.symbols.Damaged() > m.reported {
		damage := m.symbols.Damage()
		for _, p := range damage[m.reported:] {
			s.note("%v", p.Err)
		}
		m.reported = len(damage)
	}
}

// readTable reads the symbols of code and data, as LLVM's SymbolizableObjectFile does: those of .dynsym only in
// a file without .symtab. Of those at the same address the longest counts, or else the last. Symbols of macOS have no
// sizes: each reaches up to the next one, or to the end of its section.
func (m *module) readTable() {
	file, unsized := "", m.file.Format == "Mach-O"
	// Damage is reported by the reader of symbols.
	_ = m.named.Symbols(m.which, func(sym *object.Symbol) {
		if sym.Kind == object.OtherKind && sym.Absolute {
			file = string(sym.Name)
		}
		if sym.Undefined || sym.Absolute || sym.Section == nil || !sym.Section.Alloc || sym.Kind == object.Label || sym.Kind == object.OtherKind {
			return
		}
		one := symbol{name: string(sym.Name), addr: sym.Addr, size: sym.Size, number: int32(len(m.table)), data: sym.Kind == object.Data}
		if sym.IsFunction() {
			one.code = true
			one.addr &^= m.file.ISABit
		}
		if sym.Bind == object.Local {
			one.file = file
		}
		if unsized {
			one.size = sym.Section.Addr + sym.Section.FileSize - sym.Addr
		}
		m.table = append(m.table, one)
	})
	m.named.ReleaseSymbols()
	slices.SortFunc(m.table, func(a, b symbol) int {
		return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(a.size, b.size), cmp.Compare(a.number, b.number))
	})
	next := uint64(math.MaxUint64)
	for i := len(m.table) - 1; i >= 0 && unsized; i-- {
		one := &m.table[i]
		if i+1 < len(m.table) && m.table[i+1].addr != one.addr {
			next = m.table[i+1].addr
		}
		one.size = min(one.size, next-one.addr)
	}
}

// chosen reports whether a symbol of the table is LLVM's choice at its address.
func (m *module) chosen(i int) bool {
	return i+1 == len(m.table) || m.table[i+1].addr != m.table[i].addr
}

// address returns the address of the first symbol with a name that is asked for.
func (m *module) address(asked func(string) bool) (addr uint64, found bool) {
	_ = m.named.Symbols(m.which, func(sym *object.Symbol) {
		if found || sym.Undefined || sym.Kind == object.OtherKind || !asked(string(sym.Name)) {
			return
		}
		addr, found = sym.Addr, true
		if sym.IsFunction() {
			addr &^= m.file.ISABit
		}
	}) // damage was reported by the reader of symbols
	m.named.ReleaseSymbols()
	return addr, found
}

// symbolAt returns the last symbol at or before an address, unless it ends before. It returns nil if there is
// none.
func (m *module) symbolAt(addr uint64) *symbol {
	i := m.before(addr)
	if i < 0 || m.table[i].size != 0 && addr-m.table[i].addr >= m.table[i].size {
		return nil
	}
	return &m.table[i]
}

// functionBefore returns the last function at or before an address in its section, as binutils do, which do not
// look where it ends. It returns nil if there is none.
func (m *module) functionBefore(addr uint64) (best *symbol) {
	k := slices.IndexFunc(m.file.Sections, func(s *object.Section) bool { return s.Alloc && s.Holds(addr) })
	if k < 0 {
		return nil
	}
	for i := m.before(addr); i >= 0 && m.table[i].addr >= m.file.Sections[k].Addr; i-- {
		switch s := &m.table[i]; {
		case best != nil && s.addr != best.addr:
			return best
		case !s.data && (best == nil || s.fits(best, addr)):
			best = s
		}
	}
	return best
}

// fits reports whether binutils prefer a symbol to another at the same address (better_fit in elf.c): one that has the
// place that is asked for, a function, a shorter one, or else the first. If none has the place, the longest is chosen.
func (s *symbol) fits(old *symbol, place uint64) bool {
	size, oldSize := max(s.size, 1), max(old.size, 1)
	reaches, oldReaches := place-s.addr < size, place-old.addr < oldSize
	switch {
	case !reaches && !oldReaches && size != oldSize:
		return size > oldSize
	case reaches != oldReaches:
		return reaches
	case reaches && s.code != old.code:
		return s.code
	case reaches && size != oldSize:
		return size < oldSize
	}
	return s.number < old.number
}

// before returns the index of the last symbol at or before an address, or -1.
func (m *module) before(addr uint64) int {
	return sort.Search(len(m.table), func(i int) bool { return m.table[i].addr > addr }) - 1
}

// declare sets where a symbol is declared, if the debug information has that.
func (m *module) declare(sym *symbol) {
	base, _ := m.symbols.Base()
	s, ok := m.symbols.(resolve.SourceSymbols)
	if !ok || sym.addr < base {
		return
	}
	if file, line := s.Declared(symfmt.RVA(sym.addr - base)); line != 0 {
		sym.file, sym.line = file.Path, line
	}
}

// source returns the frames at an address from the debug information. Symbols that are not DWARF's have fewer
// details.
func (m *module) source(addr uint64) []symfmt.SourceFrame {
	base, _ := m.symbols.Base()
	if addr < base {
		return nil
	}
	rva := symfmt.RVA(addr - base)
	if s, ok := m.symbols.(resolve.SourceSymbols); ok {
		return s.Source(rva)
	}
	var at resolve.Location
	if found, err := m.symbols.Find(rva, &at); !found || err != nil {
		return nil
	}
	frames := make([]symfmt.SourceFrame, len(at.Frames))
	for i, f := range at.Frames {
		frames[i] = symfmt.SourceFrame{Name: f.Function, File: symfmt.SourceFile{Path: f.File, Relative: f.File}, Line: f.Line, Inlined: f.Inlined}
	}
	return frames
}
