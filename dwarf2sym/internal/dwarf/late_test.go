package dwarf

import (
	"testing"

	"github.com/symtool/symtool/internal/dw"
)

// growing is a section that is inflated on demand, up to most bytes.
type growing struct {
	memory
	most int64
}

func (g *growing) Bytes(off, n int64, buf []byte) ([]byte, error) {
	g.most = max(g.most, off+n)
	return g.memory.Bytes(off, n, buf)
}

// A table is the same whether its section is whole or inflated on demand, which stops soon after the table. A table
// that the end of the section cuts off is an error.
func TestLateAbbrevs(t *testing.T) {
	var section []byte
	var starts []uint64
	for n := range 400 {
		starts = append(starts, uint64(len(section)))
		for code := range 1 + n%80 {
			section = append(section, byte(1+code), dw.TagSubprogram, 0, dw.AtName, dw.FormStrp, dw.AtLowPC, dw.FormAddr, 0, 0)
		}
		section = append(section, 0)
	}
	section = section[:len(section)-1]
	late := &growing{memory: section}
	whole, lazy := &Sections{Abbrev: section}, &Sections{LateAbbrev: late}
	for i, off := range starts {
		h := &Header{Abbrev: off, Version: 5, AddrSize: 8}
		var one, other AbbrevCache
		a, cost, err := one.Get(whole, h)
		b, lateCost, lateErr := other.Get(lazy, h)
		if (err == nil) != (i < len(starts)-1) || (err == nil) != (lateErr == nil) || cost != lateCost {
			t.Fatalf("table %d: %v and %v, %d and %d", i, err, lateErr, cost, lateCost)
		}
		if err == nil && len(a.dense) != len(b.dense) {
			t.Errorf("table %d: %d and %d declarations", i, len(a.dense), len(b.dense))
		}
		if end := int64(off) + 2*lateStep; late.most > end {
			t.Fatalf("%d bytes of %d were inflated for the table at %d", late.most, len(section), off)
		}
	}
	if all, err := lazy.AllAbbrevs(); err != nil || len(all) != len(section) {
		t.Errorf("%d bytes, %v", len(all), err)
	}
}
