package supplier

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
)

const (
	partCode  = 0x1000
	partLines = 2000
)

// linesPart returns a part with one function of partCode bytes with many lines.
func linesPart(start symfmt.RVA) *part {
	var build symfmt.BodyBuilder
	var arena symfmt.Arena
	build.Reset(start)
	for i := range partLines {
		build.AddLine(symfmt.Line{RVA: start + symfmt.RVA(i), Size: 1, Num: uint32(1 + i), File: 0})
	}
	f := symfmt.Func{RVA: start, Size: partCode, Name: fmt.Sprintf("f%x", start), Body: build.Finish(&arena)}
	return newPart(&symfmt.Module{Files: []symfmt.File{{Name: "f.c"}}, Funcs: []symfmt.Func{f}}, "")
}

// The parts that are kept stay below the limit in bytes, however many addresses are looked up. The part used
// last is not read again.
func TestPartsHaveALimit(t *testing.T) {
	var c partCache[int]
	reads := 0
	c.init(func(_ context.Context, i int) *part {
		reads++
		return linesPart(symfmt.RVA(i * partCode))
	})
	ask := func(part int) {
		t.Helper()
		var at resolve.Location
		rva := symfmt.RVA(part*partCode + 7)
		if found, err := c.get(t.Context(), part).Find(t.Context(), rva, &at); !found || err != nil || at.Frames[0].Line != 8 {
			t.Fatalf("%#x: %v %v %+v", uint64(rva), found, err, at)
		}
		if kept := c.kept.Held(); kept > c.kept.Limit {
			t.Fatalf("%d bytes are kept, limit %d", kept, c.kept.Limit)
		}
	}
	ask(0)
	size := c.kept.Held()
	if size < partLines {
		t.Fatalf("a part with %d lines counts for %d bytes", partLines, size)
	}
	c.kept.Limit = 10 * size
	for part := range 1000 {
		ask(part)
	}
	if n := c.kept.Len(); n < 5 || n > 10 {
		t.Errorf("%d parts are kept, of %d bytes each", n, size)
	}
	before := reads
	ask(999)
	if reads != before {
		t.Error("the part that was used last is read again")
	}
	if ask(0); reads == before {
		t.Error("a part that was not used for long is kept")
	}
}

// When many addresses are looked up in order, part by part, fewer parts are kept.
func TestManyAtOnceKeepLess(t *testing.T) {
	set, o := openPair(t, testenv.Input(t, "walk-sources.elf"), "")
	l, err := openLazy(t.Context(), set, o)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if order := slices.Concat(resolve.Order(t.Context(), l, make([]symfmt.RVA, manyAtOnce+1))...); len(order) != manyAtOnce+1 {
		t.Fatalf("%d addresses in order", len(order))
	}
	if l.parts.kept.Limit != heldInOrder {
		t.Errorf("the limit is %d, want %d", l.parts.kept.Limit, heldInOrder)
	}
}
