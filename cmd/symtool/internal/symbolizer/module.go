package symbolizer

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/symfmt"
)

// module is an open binary.
type module struct {
	ctx      context.Context // of the call
	file     *object.File
	symbols  resolve.Symbols
	tables   resolve.TableSymbols
	own      bool         // names in the file itself come before names in its debug file, as in LLVM
	base     uint64       // link-time address of RVA 0
	table    func() table // reads the table at the first call
	others   func() table // with own, returns the symbols of the debug file
	reported int          // number of problems reported
	err      error
}

// module opens the binary of a request, unless it is already open.
func (s *Symbolizer) module(r *request) (*module, error) {
	if r.kind == frameRequest || !r.ok && r.symbol == "" {
		return nil, nil
	}
	key := cmp.Or(r.build, r.file)
	m := s.modules[key]
	if m == nil {
		m = &module{ctx: s.ctx}
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

// opened returns the binary of a request if it is open, or nil.
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

// fileWith returns the path of the file with a build-id, or of its debug file. It searches the folders of debug files,
// then a server.
func (s *Symbolizer) fileWith(build string) (string, error) {
	id, err := hex.DecodeString(build)
	if err != nil {
		return "", fmt.Errorf("build-id %s: want two digits for each byte", build)
	}
	for _, fetcher := range []supplier.Fetcher{nil, s.Fetcher} {
		b, err := supplier.NewBinaries(nil, supplier.BinaryOptions{DebugDirs: s.DebugDirs, Fetcher: fetcher, AtPaths: true})
		if err != nil {
			return "", err
		}
		f, _, err := b.Binary(s.ctx, resolve.Module{BuildID: id})
		if err != nil {
			return "", err
		}
		if f, err := object.Of(f); f != nil && err == nil {
			return f.Path, f.Close()
		}
	}
	return "", fmt.Errorf("no file with build-id %s in %s", build, strings.Join(s.DebugDirs, ", "))
}

// ofCPU returns the path of a file, and the CPU that selects one of its binaries: LLVM accepts FILE:CPU as FILE.
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
		return errors.New(cli.Named(path, err))
	}
	is := m.file.CPU
	if m.file.Arch != nil {
		is = m.file.Arch.Name
	}
	if name != path && cpu != is && cpu != m.file.CPU {
		m.file.Close()
		return fmt.Errorf("%q: no such file, and %s is for %s", name, path, is)
	}
	b, err := supplier.NewBinaries([]string{path}, supplier.BinaryOptions{DebugDirs: s.DebugDirs, Fetcher: s.Fetcher, Package: s.Package})
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
	if err = m.openTables(s.Style.ofLLVM()); err != nil {
		m.close()
	}
	return err
}

// openTables finds the symbol tables. LLVM reads only the file's own table. For an address that has no name there, the
// debug file's table is used, as in resolve.
func (m *module) openTables(own bool) (err error) {
	m.own = own
	m.base, _ = m.symbols.Base()
	var ok bool
	if m.tables, ok = m.symbols.(resolve.TableSymbols); !ok { // the symbols come from a PDB or from object files
		m.base = m.file.Base
		if m.tables, err = dwarf2sym.OpenTables(m.file); err != nil {
			return err
		}
	}
	unsized := m.file.Format == "Mach-O"
	m.table = sync.OnceValue(func() table { return readTable(m.tables, m.base, own, unsized) })
	m.others = sync.OnceValue(func() table {
		if !own || m.file.HasSymbols(object.Symtab) || m.symbols.Identity().DebugPath == "" {
			return nil
		}
		return readTable(m.tables, m.base, false, unsized)
	})
	return nil
}

func (m *module) close() {
	if m.err == nil {
		m.symbols.Close()
		m.file.Close()
	}
}

// report reports the damage found since the last call.
func (m *module) report(s *Symbolizer) {
	damage := m.symbols.Damage()
	for _, p := range damage[m.reported:] {
		s.note("%v", p.Err)
	}
	m.reported = len(damage)
}

// address returns the address of the first symbol for whose name asked returns true.
func (m *module) address(asked func(string) bool) (addr uint64, found bool) {
	return addressNamed(m.tables, m.base, m.own, asked)
}

// symbolAt returns the symbol that LLVM chooses for an address, or nil.
func (m *module) symbolAt(addr uint64) *symbol {
	if s := m.table().at(addr); s != nil {
		return s
	}
	return m.others().at(addr)
}

// functionBefore returns the last function at or before an address in the section that contains it, or nil.
func (m *module) functionBefore(addr uint64) *symbol {
	k := slices.IndexFunc(m.file.Sections, func(s *object.Section) bool { return s.Alloc && s.Holds(addr) })
	if k < 0 {
		return nil
	}
	return m.table().functionBefore(m.file.Sections[k].Addr, addr)
}

// declare sets the place where a symbol is declared, if the debug information has it.
func (m *module) declare(sym *symbol) {
	s, ok := m.symbols.(resolve.SourceSymbols)
	if !ok || sym.addr < m.base {
		return
	}
	if file, line := s.Declared(m.ctx, symfmt.RVA(sym.addr-m.base)); line != 0 {
		sym.file, sym.line = file.Path, line
	}
}

// source returns the frames at an address according to the debug information. Without DWARF, they have fewer details.
func (m *module) source(addr uint64) []symfmt.SourceFrame {
	base, _ := m.symbols.Base()
	if addr < base {
		return nil
	}
	rva := symfmt.RVA(addr - base)
	if s, ok := m.symbols.(resolve.SourceSymbols); ok {
		return s.Source(m.ctx, rva)
	}
	var at resolve.Location
	if found, err := resolve.Find(m.ctx, m.symbols, rva, &at); !found || err != nil {
		return nil
	}
	frames := make([]symfmt.SourceFrame, len(at.Frames))
	for i, f := range at.Frames {
		frames[i] = symfmt.SourceFrame{Name: f.Function, File: symfmt.SourceFile{Path: f.File, Relative: f.File}, Line: f.Line, Inlined: f.Inlined}
	}
	return frames
}
