package dwarf

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/symtool/symtool/internal/dw"
)

// declarations returns a table of functions with n codes.
func declarations(n int, code func(i int) uint64) (section []byte) {
	for i := range n {
		section = binary.AppendUvarint(section, code(i))
		section = append(section, dw.TagSubprogram, byte(i%2), dw.AtName, dw.FormString, dw.AtLowPC, dw.FormAddr, dw.AtHighPC, dw.FormData8, 0, 0)
	}
	return append(section, 0)
}

// codesOf are ways to choose the codes of n declarations.
var codesOf = map[string]func(i, n int) uint64{
	"dense":    func(i, _ int) uint64 { return uint64(i + 1) },
	"reversed": func(i, n int) uint64 { return uint64(n - i) },
	"sparse":   func(i, _ int) uint64 { return 1<<40 + uint64(i)*12345 },
	"falling":  func(i, n int) uint64 { return uint64(n-i) << 50 },
	"doubling": func(i, _ int) uint64 { return 1 << min(i+1, 63) },
	"gaps":     func(i, _ int) uint64 { return uint64(i*100 + 1) },
	"random":   func(i, n int) uint64 { return 1 + rand.New(rand.NewPCG(uint64(i), 0)).Uint64N(uint64(4*n)) },
}

// Each code has the declaration that was made last for it, whatever the codes are.
func TestCodes(t *testing.T) {
	for name, code := range codesOf {
		for _, n := range []int{1, 10, 100, 5000} {
			want := map[uint64]bool{} // whether it has children
			for i := range n {
				want[code(i, n)] = i%2 == 1
			}
			section := declarations(n, func(i int) uint64 { return code(i, n) })
			var tab Abbrevs
			for range 2 { // the second time with the storage of the first
				if err := tab.Parse(section, 0, FormSizes{8, 4, 4}); err != nil {
					t.Fatal(name, n, err)
				}
				for c, children := range want {
					if d := tab.lookup(c); !d.known || d.children != children || len(d.steps) != 3 {
						t.Fatalf("%s: code %d of %d: %+v", name, c, n, d)
					}
					if _, ok := want[c+1]; !ok && tab.lookup(c+1).known {
						t.Fatalf("%s: code %d is declared", name, c+1)
					}
				}
			}
		}
	}
}

// The memory of a table is proportional to its section: no code determines how much is allocated.
func TestCodesMemory(t *testing.T) {
	const most = 40 // bytes for each byte of the section, with what append leaves behind
	for name, code := range codesOf {
		for _, n := range []int{1, 1000, 40000} {
			section := declarations(n, func(i int) uint64 { return code(i, n) })
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			var tab Abbrevs
			if err := tab.Parse(section, 0, FormSizes{8, 4, 4}); err != nil {
				t.Fatal(name, err)
			}
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > uint64(most*len(section)+32<<10) {
				t.Errorf("%s: %d bytes allocated for %d declarations in %d bytes", name, used, n, len(section))
			}
		}
	}
}

// Declarations that are read in the same way share a program, even with others between them.
func TestSharedPrograms(t *testing.T) {
	const n = 5000
	forms := []byte{dw.FormString, dw.FormStrp}
	var section []byte
	for i := range n {
		section = binary.AppendUvarint(section, uint64(i+1))
		section = append(section, dw.TagSubprogram, 0, dw.AtName, forms[i%2], dw.AtLowPC, dw.FormAddr, 0, 0)
	}
	section = append(section, 0)
	var tab Abbrevs
	for _, sizes := range []FormSizes{{8, 4, 4}, {4, 4, 4}} { // the second with the storage of the first
		if err := tab.Parse(section, 0, sizes); err != nil {
			t.Fatal(err)
		}
		if most := 4 + 2*shared; tab.stepped > most { // the first ones are not shared
			t.Errorf("%d steps, want %d", tab.stepped, most)
		}
		for i := range n {
			if d := tab.lookup(uint64(i + 1)); len(d.steps) != 2 || d.steps[0].form != uint16(forms[i%2]) || int(d.steps[1].form) != dw.FormAddr {
				t.Fatalf("code %d: %+v", i+1, d)
			}
		}
	}
}
