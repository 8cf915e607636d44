package symbolizer

import (
	"context"

	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/walk/dump"
)

// stackModule looks up what eu-stack prints for addresses in a module.
type stackModule struct {
	ctx     context.Context // of the call
	module  *dump.Module
	symbols resolve.Symbols // nil if the file is missing
	base    uint64          // link-time address of RVA 0 in the file
	names   map[uint64]string
}

// openModule opens the symbols of a module. A missing file is not an error: the module then has no symbols.
func openModule(ctx context.Context, b *supplier.Binaries, d *dump.Dump, module int) (t *stackModule, err error) {
	m := &d.Modules[module]
	t = &stackModule{ctx: ctx, module: m, names: map[uint64]string{}}
	if len(m.BuildID) == 0 && m.DebugID == "" {
		return t, nil
	}
	want := resolve.Module{Name: d.System.OS.Base(m.Path), DebugFile: m.DebugFile, DebugID: m.DebugID, CodeID: m.CodeID, Path: m.Path, BuildID: m.BuildID}
	if t.symbols, _, err = b.Symbols(ctx, want); t.symbols != nil {
		t.base, _ = t.symbols.Base()
	}
	return t, err
}

func (t *stackModule) close() {
	if t.symbols != nil {
		t.symbols.Close()
	}
}

// rva returns the RVA in the module of an address in the process.
func (t *stackModule) rva(addr uint64) symfmt.RVA { return symfmt.RVA(addr - t.module.Addr) }

// source returns the functions at an address in the process, innermost first.
func (t *stackModule) source(addr uint64) []symfmt.SourceFrame {
	if s, ok := t.symbols.(resolve.SourceSymbols); ok {
		return s.Source(t.ctx, t.rva(addr))
	}
	return nil
}

// name returns the name for an address in the process according to the symbol table, or "". It caches
// names, since many threads wait at the same place.
func (t *stackModule) name(addr uint64) string {
	name, known := t.names[addr]
	if !known {
		name = t.findName(t.rva(addr))
		t.names[addr] = name
	}
	return name
}

// findName searches the whole symbol table for the name at an RVA. Without a symbol table, it uses the
// records of symbols.
func (t *stackModule) findName(rva symfmt.RVA) string {
	if s, ok := t.symbols.(resolve.TableSymbols); ok {
		return elfutilsSymbol(s, rva).name
	}
	var at resolve.Location
	if t.symbols == nil {
		return ""
	}
	if found, err := resolve.Find(t.ctx, t.symbols, rva, &at); !found || err != nil {
		return ""
	}
	return at.Frames[len(at.Frames)-1].Function
}
