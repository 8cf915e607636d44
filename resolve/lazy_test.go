package resolve

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/symtool/symtool/symfmt"
)

// manyParts are parts of partCode bytes, each of which has one function with many lines.
type manyParts struct {
	Parts[symfmt.RVA] // not called
	reads             atomic.Int64
}

const (
	partCode  = 0x1000
	partLines = 2000
)

func (p *manyParts) Areas(first, _ symfmt.RVA) []Area[symfmt.RVA] {
	start := first / partCode * partCode
	return []Area[symfmt.RVA]{{First: start, Last: start + partCode - 1, Part: start}}
}

func (p *manyParts) Read(start symfmt.RVA) (*symfmt.Module, bool) {
	p.reads.Add(1)
	var build symfmt.BodyBuilder
	var arena symfmt.Arena
	build.Reset(start)
	for i := range partLines {
		build.AddLine(symfmt.Line{RVA: start + symfmt.RVA(i), Size: 1, Num: uint32(1 + i), File: 0})
	}
	f := symfmt.Func{RVA: start, Size: partCode, Name: fmt.Sprintf("f%x", start), Body: build.Finish(&arena)}
	return &symfmt.Module{Files: []symfmt.File{{Name: "f.c"}}, Funcs: []symfmt.Func{f}}, true
}

func (p *manyParts) Name(name string) string { return name }

func (p *manyParts) Order(at []symfmt.RVA) [][]int {
	order := make([]int, len(at))
	for i := range order {
		order[i] = i
	}
	return [][]int{order}
}

// The parts that are kept stay below the limit in bytes, however many addresses are looked up. The part used
// last is not read again.
func TestPartsHaveALimit(t *testing.T) {
	p := &manyParts{}
	l := FromParts(&symfmt.Module{}, p, ModuleOptions{Extents: &symfmt.Extents{}}).(*lazy[symfmt.RVA])
	ask := func(part int) {
		t.Helper()
		var at Location
		rva := symfmt.RVA(part*partCode + 7)
		if found, err := l.Find(rva, &at); !found || err != nil || at.Frames[0].Line != 8 {
			t.Fatalf("%#x: %v %v %+v", uint64(rva), found, err, at)
		}
		if kept := l.kept.Held(); kept > l.kept.Limit {
			t.Fatalf("%d bytes are kept, limit %d", kept, l.kept.Limit)
		}
	}
	ask(0)
	size := l.kept.Held()
	if size < partLines {
		t.Fatalf("a part with %d lines counts for %d bytes", partLines, size)
	}
	l.kept.Limit = 10 * size
	for part := range 1000 {
		ask(part)
	}
	if n := l.kept.Len(); n < 5 || n > 10 {
		t.Errorf("%d parts are kept, of %d bytes each", n, size)
	}
	reads := p.reads.Load()
	ask(999)
	if p.reads.Load() != reads {
		t.Error("the part that was used last is read again")
	}
	if ask(0); p.reads.Load() == reads {
		t.Error("a part that was not used for long is kept")
	}
}

// When many addresses are looked up in order, part by part, fewer parts are kept.
func TestManyAtOnceKeepLess(t *testing.T) {
	l := FromParts(&symfmt.Module{}, &manyParts{}, ModuleOptions{Extents: &symfmt.Extents{}}).(*lazy[symfmt.RVA])
	if order := slices.Concat(Order(l, make([]symfmt.RVA, manyAtOnce+1))...); len(order) != manyAtOnce+1 {
		t.Fatalf("%d addresses in order", len(order))
	}
	if l.kept.Limit != heldInOrder {
		t.Errorf("the limit is %d, want %d", l.kept.Limit, heldInOrder)
	}
}
