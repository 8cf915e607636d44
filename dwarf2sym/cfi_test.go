package dwarf2sym

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/elfobj"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// cfiOpen reads the call frame information of an ELF file.
func cfiOpen(t testing.TB, path string) (*cfiInput, *elfobj.File) {
	t.Helper()
	f, err := elfobj.Open(path, elfobj.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	a := arch.ByELF(f.Machine, f.Class)
	if a == nil {
		t.Fatalf("%s: unknown CPU %v", path, f.Machine)
	}
	in, problems := newCFIInput(a, f, nil)
	for _, p := range problems {
		t.Fatal(p)
	}
	return in, f
}

// cfiTable is the text of a table.
func cfiTableText(t *symfmt.CFITable) string {
	var b strings.Builder
	for _, k := range t.Blocks {
		fmt.Fprintf(&b, "STACK CFI INIT %x %x %s\n", uint64(k.RVA), k.Size, t.Rules.Text(k.Init))
		for _, row := range t.Rows[k.First : k.First+k.Count] {
			fmt.Fprintf(&b, "STACK CFI %x %s\n", uint64(row.RVA), t.Rules.Text(row.Rules))
		}
	}
	return b.String()
}

func cfiRead(in *cfiInput) (symfmt.CFITable, cfiStats, []bin.Problem) {
	return readCFI(context.Background(), in)
}
