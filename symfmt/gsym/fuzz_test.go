package gsym

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

func FuzzRead(f *testing.F) {
	m := symtest.Module(f, head+"FILE 0 /src/a.c\nFILE 1 b.c\nINLINE_ORIGIN 0 i\nINLINE_ORIGIN 1 j\n"+
		"FUNC 10 40 0 a\nINLINE 0 3 0 0 12 4 20 4\nINLINE 1 4 1 1 13 1 21 2\n10 20 1 0\n34 10 70000 1\n"+
		"FUNC 20 8 0 b\n20 8 7 0\nFUNC 20 8 0 c\nPUBLIC 10 0 p\nPUBLIC 100 0 q\n")
	for _, o := range allOptions() {
		f.Add(write(f, m, o))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, problems, err := readAll(bytes.NewReader(data), int64(len(data)), ReadOptions{File: "x"})
		for _, p := range problems {
			if p.String() == "" {
				t.Error("empty problem")
			}
		}
		if err != nil {
			return
		}
		if err := symfmt.Write(io.Discard, m, symfmt.WriteOptions{Jobs: 1}); err != nil {
			t.Fatal(err)
		}
		Losses(m, Options{})
		for _, o := range allOptions() {
			o.Jobs = 1
			var b bytes.Buffer
			if err := Write(&b, m, o); err == nil {
				read(t, b.Bytes(), ReadOptions{})
			} else if len(m.Funcs)+len(m.Publics) > 0 {
				t.Fatal(err)
			}
		}
	})
}

// put appends numbers to a file of version 1, little-endian: bytes as they are,
// others in their size.
func put(b []byte, values ...any) []byte {
	for _, v := range values {
		switch v := v.(type) {
		case int:
			b = append(b, byte(v))
		case string:
			b = append(b, v...)
		default:
			b, _ = binary.Append(b, binary.LittleEndian, v)
		}
	}
	return b
}

// file1 returns a file of version 1 with one file a.c, the strings "", "a.c" and "f",
// and functions at 0 that all have the FunctionInfo at the end.
func file1(count int, info []byte) []byte {
	const strings = "\x00a.c\x00f\x00"
	tables := 48 + 8*count
	b := put(nil, uint32(magic), uint16(1), 4, 0, uint64(0), uint32(count), uint32(tables+20), uint32(len(strings)))
	b = append(b, make([]byte, maxUUID1+4*count)...)
	for range count {
		b = put(b, uint32(tables+20+8))
	}
	b = put(b, uint32(2), uint32(0), uint32(0), uint32(0), uint32(1), strings, 0)
	return append(b, info...)
}

// TestHostile checks that damage is reported with its place, and costs only its part.
func TestHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long with the race detector")
	}
	const end = "\x00\x00\x00\x00\x00\x00\x00\x00"
	function := func(kind uint32, payload string) []byte {
		return put(nil, uint32(16), uint32(5), kind, uint32(len(payload)), payload, end)
	}
	node := "\x01\x00\x10\x01\x05\x00\x00\x00\x01\x01"
	for _, c := range []struct {
		name  string
		data  []byte
		want  string // in the problem or error
		funcs int
	}{
		{"sound", file1(1, function(infoLines, "\x00\x00\x01\x04\x00")), "", 1},
		{"empty", nil, "not a GSYM file: it begins with , want 4753594d or 4d595347", 0},
		{"text", []byte("MODULE Linux"), "not a GSYM file: it begins with 4d4f4455", 0},
		{"version", put(nil, uint32(magic), uint16(7)), "offset 0x4: GSYM version 7, want 1 or 2", 0},
		{"short header", file1(1, nil)[:40], "GSYM header of 40 bytes, want 48", 0},
		{"address size", append(put(nil, uint32(magic), uint16(1), 3), make([]byte, 60)...), "offset 0x6: addresses of 3 bytes, want 1, 2, 4 or 8", 0},
		{"UUID size", append(put(nil, uint32(magic), uint16(1), 4, 21), make([]byte, 60)...), "offset 0x7: UUID of 21 bytes, want at most 20", 0},
		{"many addresses", append(put(nil, uint32(magic), uint16(1), 8, 0, uint64(0), ^uint32(0), uint32(48), uint32(1)), make([]byte, 60)...), "for 0 functions, want 4294967295 (lost: 4294967295 of 4294967295 functions)", 0},
		{"no strings", append(put(nil, uint32(magic), uint16(1), 4, 0, uint64(0), uint32(0), uint32(9999), uint32(9)), make([]byte, 60)...), "offset 0x270f: no strings", 0},
		{"short directory", put(nil, uint32(magic), uint16(2), 4, 0, uint64(0), uint32(1), uint32(1)), "offset 0x14: unterminated directory: 4 bytes left", 0},
		{"empty directory", append(put(nil, uint32(magic), uint16(2), 4, 0, uint64(0), uint32(1)), make([]byte, 20)...), "the directory has no", 0},
		{"encoding", append(put(nil, uint32(magic), uint16(2), 4, 1, uint64(0), uint32(1)), make([]byte, 20)...), "string encoding 1, want 0", 0},
		{"name", file1(1, put(nil, uint32(16), uint32(99), end)), "name at 0x63 in strings of 0x7 bytes", 0},
		{"no name", file1(1, put(nil, uint32(16), uint32(0), end)), "want one after offset 0", 0},
		{"no end", file1(1, put(nil, uint32(16), uint32(5))), "need 4 bytes, 0 left (lost: end of the function at 0x0)", 1},
		{"long payload", file1(1, put(nil, uint32(16), uint32(5), uint32(1), ^uint32(0))), "need 4294967295 bytes, 0 left", 1},
		{"LEB", file1(1, function(infoLines, "\x00\x00"+strings.Repeat("\xff", 11)+"\x00")), "ULEB128 of more than 64 bits (lost: rest of the lines", 1},
		{"no window", file1(1, function(infoLines, "\x02\x01\x01\x04\x00")), "special opcode 4 for line differences 2 to 1", 1},
		{"far row", file1(1, function(infoLines, "\x00\x00\x01\x02\x01\x02"+strings.Repeat("\xff", 9)+"\x01\x00")), "address 0x1+0xffffffffffffffff", 1},
		{"endless lines", file1(1, function(infoLines, "\x00\x00\x01\x04")), "need 1 bytes, 0 left", 1},
		{"ranges", file1(1, function(infoInlines, "\xff\xff\xff\xff\x0f")), "4294967295 ranges in 0 bytes", 1},
		{"range behind", file1(1, function(infoInlines, "\x01\x00\x11\x00")), "range of 0x11 bytes at 0x0+0x0 past the function's end at 0x10", 1},
		{"empty range", file1(1, function(infoInlines, "\x01\x00\x00\x00")), "inlined function without code", 1},
		{"inline name", file1(1, function(infoInlines, "\x01\x00\x10\x00\xff\x00\x00\x00\x01\x01")), "name at 0xff in strings of 0x7 bytes", 1},
		{"list without its end", file1(1, function(infoInlines, node)), "unterminated ULEB128", 1},
		{"merged count", file1(1, function(infoMerged, "\xff\xff\xff\xff")), "(lost: merged functions from number 0 of 4294967295 at 0x0)", 1},
		{"merged in merged", file1(1, function(infoMerged, "\x01\x00\x00\x00\x1c\x00\x00\x00\x10\x00\x00\x00\x05\x00\x00\x00\x03\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00"+end)), "merged functions in a merged function", 2},
		{"offset outside", file1(1, nil), "in a file of 0x54 bytes (lost: function at 0x0)", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, problems, err := readAll(bytes.NewReader(c.data), int64(len(c.data)), ReadOptions{File: "x"})
			var got string
			for _, p := range problems {
				got += p.String() + "\n"
			}
			if err != nil {
				got += err.Error()
			}
			if !strings.Contains(got, c.want) || c.want == "" && got != "" || c.want != "" && !strings.HasPrefix(got, "x: ") {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if m != nil && len(m.Funcs) != c.funcs {
				t.Errorf("%d functions, want %d", len(m.Funcs), c.funcs)
			}
		})
	}
}

// TestHostileSize checks that many references to one part, and deep nesting, take
// time in proportion to the file's bytes.
func TestHostileSize(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine")
	}
	deep := strings.Repeat("\x01\x00\x10\x01\x05\x00\x00\x00\x01\x01", 300_000)
	info := put(nil, uint32(16), uint32(5), uint32(infoInlines), uint32(len(deep)), deep, uint64(0))
	watch := testenv.StartWatch()
	for name, data := range map[string][]byte{"deep": file1(1, info), "shared": file1(100_000, info)} {
		m, problems, err := readAll(bytes.NewReader(data), int64(len(data)), ReadOptions{})
		if err != nil || len(problems) == 0 || len(m.Funcs) == 0 || len(m.Funcs) > 3 {
			t.Errorf("%s: %v, %v", name, err, problems)
			continue
		}
		if err := Write(io.Discard, m, Options{}); err != nil {
			t.Error(err)
		}
	}
	if took := watch.Took(); took > time.Minute {
		t.Errorf("took %v", took)
	}
}

// TestHostileModule checks that nested FUNCs, and INLINEs that do not form a tree,
// cost time and space in proportion to the records of the module.
func TestHostileModule(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine")
	}
	var nested, inner, across strings.Builder
	inner.WriteString(head + "FILE 0 a.c\nFUNC 0 100000 0 f\n")
	for i := range 20_000 {
		fmt.Fprintf(&inner, "%x 10 %d 0\n", 16*i, i)
	}
	for i := range 20_000 {
		fmt.Fprintf(&inner, "FUNC %x 8 0 g\n", 16*i+4)
	}
	nested.WriteString(head + "FILE 0 a.c\n")
	for i := range 20_000 {
		fmt.Fprintf(&nested, "FUNC %x %x 0 f\n%x 1 1 0\n", i, 100_000-2*i, i)
	}
	across.WriteString(head + "FILE 0 a.c\nINLINE_ORIGIN 0 i\nFUNC 0 10000 0 f\n")
	for i := range 20_000 {
		fmt.Fprintf(&across, "INLINE 0 1 0 0 %x 1\n", 2*i)
	}
	for i := range 2_000 {
		fmt.Fprintf(&across, "INLINE %d 1 0 0 0 10000\n", 1+i)
	}
	watch := testenv.StartWatch()
	for name, text := range map[string]string{"nested": nested.String(), "inner": inner.String(), "across": across.String()} {
		m := symtest.Module(t, text)
		if losses := Losses(m, Options{}); name != "nested" && len(losses) != 2 {
			t.Errorf("%s: losses %v", name, losses)
		}
		if data := write(t, m, Options{}); len(data) > 32*len(text) {
			t.Errorf("%s: %d bytes of %d", name, len(data), len(text))
		}
	}
	if took := watch.Took(); took > time.Minute {
		t.Errorf("took %v", took)
	}
}

// TestLongNames pins that many functions with one long name have names up to a limit
// that depends on the size of the file, and that the rest is reported.
func TestLongNames(t *testing.T) {
	m := symtest.LongNames()
	var b bytes.Buffer
	if err := Write(&b, m, Options{}); err != nil {
		t.Fatal(err)
	}
	read, problems, err := readAll(bytes.NewReader(b.Bytes()), int64(b.Len()), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	names := 0
	for _, f := range read.Funcs {
		names += len(f.Name)
	}
	if limit := freeText + 8*b.Len(); names < limit/2 || names > limit+len(m.Funcs) {
		t.Errorf("names of %d bytes in a file of %d, want up to %d", names, b.Len(), limit)
	}
	if len(problems) == 0 || !strings.Contains(problems[0].Err.Error(), "names with") {
		t.Errorf("problems %v", problems)
	}
}
