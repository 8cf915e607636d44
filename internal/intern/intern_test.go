package intern

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"
)

// The table agrees with a map and a list, in whatever order and form strings are
// added, and does not retain the bytes passed to it.
func TestStringTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var table Table
	want := map[string]uint32{}
	var list []string
	buf := make([]byte, 0, 64<<10)
	for i := range 50_000 {
		s := fmt.Sprintf("name%d", rng.IntN(20_000))
		if i%9999 == 7 {
			s = strings.Repeat(s, textChunk/4) // more than a chunk
		}
		id, known := want[s]
		if !known {
			id = uint32(len(list))
			want[s], list = id, append(list, s)
		}
		var got uint32
		if i%2 == 0 {
			buf = append(buf[:0], s...)
			got = table.Intern(buf)
			clear(buf)
		} else {
			got = table.InternString(s)
		}
		if got != id {
			t.Fatalf("number of %.20q is %d, want %d", s, got, id)
		}
	}
	for i, s := range list {
		if table.At(uint32(i)) != s {
			t.Fatalf("string %d is %.20q, want %.20q", i, table.At(uint32(i)), s)
		}
	}
}

func TestStringTableEmptyString(t *testing.T) {
	var table Table
	if a, b := table.Intern(nil), table.InternString(""); a != 0 || b != 0 || len(table.places) != 1 {
		t.Errorf("the empty string is %d and %d of %d", a, b, len(table.places))
	}
}

// Rewrite changes only the strings of one chunk, and reuses the chunk's
// memory if nothing changes.
func TestStringTableRewrite(t *testing.T) {
	var table Table
	var want []string
	for i := range 5000 {
		s := fmt.Sprintf("_Zname%d", i)
		table.InternString(s)
		want = append(want, s)
	}
	if len(table.chunks) < 3 {
		t.Fatalf("%d chunks", len(table.chunks))
	}
	before := &table.chunks[0][0]
	buf := table.Rewrite(0, nil, func(dst []byte, s string) []byte { return append(dst, s...) })
	buf = table.Rewrite(1, buf, func(dst []byte, s string) []byte { return append(append(dst, s[2:]...), "()"...) })
	table.Rewrite(len(table.chunks)-1, buf, func(dst []byte, _ string) []byte { return dst })
	if &table.chunks[0][0] != before {
		t.Error("a chunk without changes has new memory")
	}
	last := table.firsts[len(table.firsts)-1]
	for i, s := range want {
		n := uint32(i)
		switch {
		case n >= last:
			s = ""
		case n >= table.firsts[1] && n < table.firsts[2]:
			s = s[2:] + "()"
		}
		if got := table.At(n); got != s {
			t.Fatalf("string %d is %q, want %q", i, got, s)
		}
		if table.Hash(n) != Hash(s) {
			t.Fatalf("the hash of string %d is that of another", i)
		}
	}
}

// Each string in two tables gets one number, whichever table had it first. Chunks of the second
// table are taken over until they are rewritten, including strings that the first table had, too.
func TestStringTableJoin(t *testing.T) {
	var a, b Table
	inA := map[string]uint32{}
	for i := range 5000 {
		if s := fmt.Sprintf("_Zname%d", i); i%3 != 0 {
			inA[s] = a.InternString(s)
		}
	}
	var names []string
	common := 0
	for i := 0; i < 9000; i += 2 {
		s := fmt.Sprintf("_Zname%d", i)
		b.InternString(s)
		names = append(names, s)
		if _, ok := inA[s]; ok {
			common++
		}
	}
	chunk, before := unsafe.SliceData(b.chunks[len(b.chunks)-1]), a.Len()
	numbers := a.Join(&b)
	if len(numbers) != len(names) || a.Len() != before+len(names)-common {
		t.Fatalf("%d numbers of %d names, %d strings after %d, of which %d are in both", len(numbers), len(names), a.Len(), before, common)
	}
	if unsafe.SliceData(a.chunks[len(a.chunks)-1]) != chunk {
		t.Error("the last chunk was copied")
	}
	later := a.InternString("later")
	check := func() {
		t.Helper()
		for n, s := range names {
			if old, ok := inA[s]; ok && numbers[n] != old || a.At(numbers[n]) != s {
				t.Fatalf("%s has number %d, which is %q", s, numbers[n], a.At(numbers[n]))
			}
		}
		if got := a.At(later); got != "later" {
			t.Errorf("%q, want later", got)
		}
	}
	check()
	var buf []byte
	for c := range a.Chunks() {
		buf = a.Rewrite(c, buf, func(dst []byte, s string) []byte { return append(dst, s...) })
	}
	check()
	size, text := 0, 0
	for n := range a.Len() {
		size += len(a.At(uint32(n)))
	}
	for _, c := range a.chunks {
		text += len(c)
	}
	if text != size {
		t.Errorf("after Rewrite, %d bytes are kept of strings of %d bytes", text, size)
	}
}
