package walk

import (
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// The value at entry of a function that may end with a call into another module is certain if it is known that nothing
// leads from there back into the function. The word with the address of the other function is in memory.
func TestEntryBeforeTailCalls(t *testing.T) {
	const program = "FUNC 100 20 0 main\nFUNC 200 20 0 f\nSTACK CFI INIT 100 200 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n" +
		"INFO VAR 1 all full\nINFO VAR T b#4 \"int %5\nINFO VAR E entry(r:5),v r:5 c:7 a:4000,d:8\nINFO VAR V p1:x\nINFO VAR G 1\n" +
		"INFO VAR F 100 20 0 - HG>200i3\nINFO VAR F 200 20 0 1=1 HO!*4\n"
	const library = "FUNC 100 20 0 g\nFUNC 200 20 0 h\nINFO VAR 1 all full\nINFO VAR E a:400,d:8 r:0\n"
	const none = "optimized_out: no call site says what the value was when the function was called"
	for _, tt := range []struct {
		name, library string
		word          uint64 // with the address of the function that the library calls last
		want          string
	}{
		{"ends there", library, 0, "07000000"},
		{"no variables", "FUNC 100 20 0 g\n", 0, none},
		{"through a pointer", library + "INFO VAR F 100 20 0 - HO!*2\n", 0, none},
		{"another function", library + "INFO VAR F 100 20 0 - HO!*1\n", 0x20200, "07000000"},
		{"itself", library + "INFO VAR F 100 20 0 - HO!*1\n", 0x20100, "07000000"},
		{"back", library + "INFO VAR F 100 20 0 - HO!*1\n", 0x10200, none},
		{"nowhere", library + "INFO VAR F 100 20 0 - HO!*1\n", 0x999, none},
	} {
		a := walktest.Assemble(t, arch.X86_64, dump.Linux).Module("prog", 0x10000, 0x8000, program).Module("lib", 0x20000, 0x8000, tt.library)
		a.At(0x14000).Word(0x20100).At(0x20400).Word(tt.word)
		a.At(0x70000).Word(0x10110).Zeros(8).Regs("$rip", 0x10208, "$rsp", 0x70000)
		r, err := NewWalker(&SymbolSet{Symbols: a.Supplier()}, Config{}).Walk(t.Context(), a.Build())
		if err != nil {
			t.Fatal(err)
		}
		_, all := r.Variables(t.Context()).Of(0, 0)
		if len(all) != 1 || len(all[0]) != 1 {
			t.Fatalf("%s: got %+v", tt.name, all)
		}
		v := &all[0][0]
		got := v.Hex()
		if v.Why != "" {
			got = v.Status().String() + ": " + v.Why
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

// A word with an address that the dump lacks is named: stacks alone do not have it.
func TestEntryWithoutWord(t *testing.T) {
	const program = "FUNC 100 20 0 main\nSTACK CFI INIT 100 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n" +
		"INFO VAR 1 all full\nINFO VAR E r:5 c:7 a:4000,d:8\nINFO VAR F 100 20 0 - HG*3h2\n"
	const library = "FUNC 100 20 0 g\nSTACK CFI INIT 100 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n" +
		"INFO VAR 1 all full\nINFO VAR T b#4 \"int %5\nINFO VAR E entry(r:5),v\nINFO VAR V p1:x\nINFO VAR G 1\nINFO VAR F 100 20 0 1=1\n"
	for _, has := range []bool{true, false} {
		a := walktest.Assemble(t, arch.X86_64, dump.Linux).Module("prog", 0x10000, 0x8000, program).Module("lib", 0x20000, 0x8000, library)
		if has {
			a.At(0x14000).Word(0x20100)
		}
		a.At(0x70000).Word(0x10110).Zeros(8).Regs("$rip", 0x20108, "$rsp", 0x70000)
		r, err := NewWalker(&SymbolSet{Symbols: a.Supplier()}, Config{}).Walk(t.Context(), a.Build())
		if err != nil {
			t.Fatal(err)
		}
		_, all := r.Variables(t.Context()).Of(0, 0)
		v := &all[0][0]
		if has && v.Hex() != "07000000" || !has && (v.Status().String() != "unavailable" || v.Why != "the dump does not have the memory at 0x14000") {
			t.Errorf("%v: got %s, %v %s", has, v.Hex(), v.Status(), v.Why)
		}
	}
}
