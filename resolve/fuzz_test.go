package resolve

import (
	"bytes"
	"context"
	"testing"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/cfi"
)

// FuzzFind reads any text: at every address where something begins or ends, the answer
// is the same as from a search through all records.
func FuzzFind(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte(head + "FILE 0 a\nINLINE_ORIGIN 0 0 x\nFUNC 0 100 0 f\nINLINE 0 5 0 10 20\nINLINE 1 6 0 18 8\n10 10 1 0\n0 10 2 0\n"))
	f.Add([]byte(head + "FUNC 100 100 0 f\nFUNC m 120 10 4 g\nFUNC 120 20 0 h\nFUNC 118 e8 0 i\nPUBLIC 300 0 p\nSTACK WIN 4 100 10 0 0 8 0 0 0 1 $eip\n"))
	f.Add([]byte("\xef\xbb\xbf" + head + " FUNC 0 ffffffffffffffff 0 f\r\n0 0 0 0\r\n\tSTACK CFI INIT 0 1 a: b\nSTACK  CFI 0 x: y"))
	f.Add([]byte(head + "STACK CFI INIT 0 8 .cfa: $rsp 8 +\nSTACK CFI 1 .cfa: $rsp\r16 +\nSTACK b\nSTACK CFI 4 .cfa: $rsp 8 +\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		result, err := symfmt.Read(context.Background(), bytes.NewReader(data), symfmt.ReadOptions{Tolerant: true})
		if err != nil || bytes.HasPrefix(data, []byte{0x1f, 0x8b}) || bytes.HasPrefix(data, []byte{0x28, 0xb5, 0x2f, 0xfd}) {
			openBytes(data) // must not panic
			return
		}
		r, err := openBytes(data)
		if err != nil {
			if m := result.Module; m.OS != "" || len(m.Funcs)+len(m.Publics)+len(m.Wins)+len(m.CFI.Blocks) > 0 {
				t.Fatal(err)
			}
			return
		}
		n := newNaive(result.Module)
		n.damaged = len(result.Problems) > 0
		compareNaive(t, r, n)
		compareWritten(t, n)
	})
}

// FuzzIndexFile reads any bytes as an index file: it is refused, or searches in it
// terminate.
func FuzzIndexFile(f *testing.F) {
	id := fingerprint{size: int64(len(small))}
	overlap := small + "FUNC 800 2000 0 outer\nSTACK WIN 4 1000 10 0 0 8 0 0 0 1 $eip\n"
	for _, text := range []string{small, overlap} {
		x := openString(f, text).x
		x.size = uint64(id.size)
		f.Add(encodeIndex(x, nil, id))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		copy(data, indexMagic)
		seal(data)
		x, _, err := decodeIndex(data, id)
		if err != nil {
			return
		}
		r := newTextResolver("test.sym", x, memoryText{bytes.NewReader([]byte(overlap))}, nil)
		var at Location
		for rva := symfmt.RVA(0x7f0); rva < 0x3000; rva += 7 {
			r.Nearest(t.Context(), rva, &at)
			r.Rules(t.Context(), rva, cfi.NewNames(nil))
			r.Win(rva)
		}
	})
}
