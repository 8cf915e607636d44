package symbolizer

import (
	"context"
	"slices"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/walk/dump"
)

// openInput returns the module of a fixture, as if it were loaded at address 0.
func openInput(t *testing.T, name string) *stackModule {
	t.Helper()
	b, err := supplier.NewBinaries([]string{testenv.Input(t, name)}, supplier.BinaryOptions{SymbolTables: true})
	if err != nil {
		t.Fatal(err)
	}
	symbols, _, err := b.Symbols(context.Background(), resolve.Module{})
	if symbols == nil || err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	t.Cleanup(func() { symbols.Close() })
	base, _ := symbols.Base()
	return &stackModule{ctx: t.Context(), module: &dump.Module{}, symbols: symbols, base: base, names: map[uint64]string{}}
}

// codeNamed returns the address of the function with the name, according to resolve.
func codeNamed(t *testing.T, m *stackModule, name string) uint64 {
	t.Helper()
	code := m.symbols.(resolve.NamedSymbols).Named(name)
	if len(code) == 0 {
		t.Fatalf("no %s", name)
	}
	return uint64(code[0].Start)
}

// TestNamesAreKept checks that a name is looked up only once: each of several threads that wait at the same place
// would otherwise read the symbol table.
func TestNamesAreKept(t *testing.T) {
	m := openInput(t, "realign-x86_64.elf")
	at := codeNamed(t, m, "main")
	if got := m.name(at); got != "main" {
		t.Fatalf("%#x is %q, want main", at, got)
	}
	m.symbols = nil
	if got := m.name(at); got != "main" {
		t.Errorf("asked again: %q, want main", got)
	}
}

// TestNamesAreThoseOfResolve checks that the drop-in programs give each function the same name as resolve, whichever
// file has its symbol: the binary, its debug file, .gnu_debugdata. Descriptors of 64-bit PowerPC stand for their
// code. Of several names at an address, LLVM takes the name of the longest symbol, or the last, and binutils the
// first.
func TestNamesAreThoseOfResolve(t *testing.T) {
	for _, name := range []string{"minidebug.elf", "pair.elf", "soname.elf", "cpu-ppc64.elf", "cpu-arm.elf", "gcc-dwarf5.elf"} {
		stacks := openInput(t, name)
		functions, aliases := 0, map[symfmt.RVA][]string{}
		stacks.symbols.(resolve.TableSymbols).EachSymbol(false, func(s *symfmt.TableSymbol) {
			aliases[s.RVA] = append(aliases[s.RVA], demangled(string(s.Name)))
		})
		for style, modules := range map[string]func(uint64) string{
			"eu-stack":        stacks.name,
			"llvm-symbolizer": symbolNames(t, LLVM, name),
			"addr2line":       symbolNames(t, Addr2line, name),
			"eu-addr2line":    symbolNames(t, Elfutils, name),
		} {
			stacks.symbols.(resolve.TableSymbols).EachSymbol(false, func(s *symfmt.TableSymbol) {
				var at resolve.Location
				if s.Kind != symfmt.CodeEntry || s.Size == 0 {
					return
				}
				if found, err := resolve.Find(t.Context(), stacks.symbols, s.RVA, &at); !found || err != nil {
					t.Errorf("%s: %#x: %t, %v", name, s.RVA, found, err)
					return
				}
				functions++
				got, want := demangled(modules(uint64(s.RVA))), at.Frames[0].Function
				if alias := style == "llvm-symbolizer" || style == "addr2line"; got != want && !(alias && slices.Contains(aliases[s.RVA], got)) {
					t.Errorf("%s: as %s, %#x is %q, want %q", name, style, s.RVA, got, want)
				}
			})
		}
		if functions < 8 {
			t.Errorf("%s: %d functions", name, functions)
		}
	}
}

// symbolNames returns a function that names an address in a fixture by the symbols that count in a style.
func symbolNames(t *testing.T, style Style, name string) func(uint64) string {
	t.Helper()
	s, m := &Symbolizer{Options: Options{Style: style}, ctx: t.Context()}, &module{ctx: t.Context()}
	if err := m.open(s, testenv.Input(t, name)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.close)
	return func(rva uint64) string {
		sym := m.symbolAt(rva + m.base)
		switch style {
		case Elfutils:
			return elfutilsSymbol(m.tables, symfmt.RVA(rva)).name
		case Addr2line:
			sym = m.functionBefore(rva + m.base)
		}
		if sym == nil {
			return ""
		}
		return sym.name
	}
}
