package intern

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// The table agrees with a map and a list, in whatever order and form the strings are
// added, and does not keep the bytes that it is given.
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

// rewrite changes only the strings of one chunk, and keeps the memory of one
// where nothing changes.
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
	}
}
