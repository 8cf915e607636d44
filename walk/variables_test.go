package walk

import (
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// An address is shown by the function that contains it. The last PUBLIC does not extend over the data after it.
func TestSymbolOfAddress(t *testing.T) {
	a := walktest.Assemble(t, arch.X86_64, dump.Linux).Module("prog", 0x10000, 0x8000, "FUNC 100 20 0 work\nPUBLIC 200 0 _fini\n").
		At(0x70000).Zeros(8).Regs("$rip", 0x10100, "$rsp", 0x70000)
	r, err := NewWalker(&SymbolSet{Symbols: a.Supplier()}, Config{}).Walk(t.Context(), a.Build())
	if err != nil {
		t.Fatal(err)
	}
	v := r.Variables(t.Context())
	for addr, want := range map[uint64]string{
		0x10000: "prog", 0x10100: "prog!work", 0x1011f: "prog!work + 0x1f", 0x10200: "prog!_fini", 0x14080: "prog + 0x4080", 0x18000: "",
	} {
		if got := v.Symbol(addr); got != want {
			t.Errorf("%#x: %q, want %q", addr, got, want)
		}
	}
}
