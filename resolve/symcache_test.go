package resolve

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/symcache"
)

// A symcache answers every address as this package does: by the look-up that the
// documentation of symbolic-symcache tells, in a decoder of its own, and by this
// package from what symcache.Read makes of it.
func TestSymcacheAnswers(t *testing.T) {
	for _, path := range symcacheInputs(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			for _, version := range []uint32{7, 8, 9} {
				compareSymcache(t, path, version)
			}
		})
	}
}

// TestSymcacheFile is TestSymcacheAnswers for the symbol file that
// SYMTOOL_SYMCACHE_FILE names.
func TestSymcacheFile(t *testing.T) {
	path := os.Getenv("SYMTOOL_SYMCACHE_FILE")
	if path == "" {
		t.Skip("SYMTOOL_SYMCACHE_FILE is not set")
	}
	compareSymcache(t, path, 8)
}

func symcacheInputs(t *testing.T) (paths []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(testenv.Root(t), "golden", "dwarf2sym", "*.sym"))
	if err != nil || len(paths) < 50 {
		t.Fatalf("%d symbol files, %v", len(paths), err)
	}
	return paths
}

func symcacheModule(t *testing.T, path string) *symfmt.Module {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, _, err := symfmt.Read(f, symfmt.ReadOptions{Tolerant: true})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func compareSymcache(t *testing.T, path string, version uint32) {
	m := symcacheModule(t, path)
	data := writeSymcache(t, m, version)
	again, problems, err := symcache.Read(bytes.NewReader(data), int64(len(data)), symcache.ReadOptions{File: "x.symcache"})
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	want := moduleResolver(t, m)
	back := moduleResolver(t, again)
	oracle := decodeSymcache(t, data)
	var at, got Location
	asked := symcacheEdges(m)
	for _, rva := range asked {
		known := find(t, want, rva, &at)
		expected := symcacheAnswer(known, &at)
		if answer := oracle.lookup(rva); answer != expected {
			t.Fatalf("version %d, %#x: decoded\n%s, want\n%s", version, rva, answer, expected)
		}
		known = find(t, back, rva, &got)
		if answer := symcacheAnswer(known, &got); answer != expected {
			t.Fatalf("version %d, %#x: read again\n%s, want\n%s", version, rva, answer, expected)
		}
	}
	if second := writeSymcache(t, again, version); !bytes.Equal(second, writeSymcache(t, readBack(t, second), version)) {
		t.Errorf("version %d: written, read and written, it is another file", version)
	}
	t.Logf("version %d: %d addresses", version, len(asked))
}

func readBack(t *testing.T, data []byte) *symfmt.Module {
	t.Helper()
	m, problems, err := symcache.Read(bytes.NewReader(data), int64(len(data)), symcache.ReadOptions{})
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	return m
}

func writeSymcache(t *testing.T, m *symfmt.Module, version uint32) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := symcache.Write(&b, m, symcache.Options{Version: version}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func moduleResolver(t *testing.T, m *symfmt.Module) *Resolver {
	t.Helper()
	r, err := FromModule(m, "module")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func find(t *testing.T, r *Resolver, rva symfmt.RVA, at *Location) bool {
	t.Helper()
	known, err := r.Find(rva, at)
	if err != nil {
		t.Fatal(err)
	}
	return known
}

// symcacheAnswer prints an answer. A file that is not known has no name.
func symcacheAnswer(known bool, at *Location) string {
	if !known {
		return "nothing"
	}
	var b []byte
	for _, f := range at.Frames {
		if f.File == symfmt.NoFile {
			f.File = ""
		}
		b = fmt.Appendf(b, "%s at %s:%d\n", f.Function, f.File, f.Line)
	}
	return string(b)
}

// symcacheEdges are the addresses where something begins or ends, and those beside
// them.
func symcacheEdges(m *symfmt.Module) []symfmt.RVA {
	return slices.DeleteFunc(newNaive(m).edges(), func(rva symfmt.RVA) bool { return rva >= 1<<32 })
}

// symcacheDecoder looks addresses up as symbolic's documentation tells, in the
// bytes themselves. It trusts them.
type symcacheDecoder struct {
	files, functions, locations, ranges, strings []byte
	version                                      uint32
	fileSize                                     int
}

func decodeSymcache(t *testing.T, data []byte) *symcacheDecoder {
	t.Helper()
	le := binary.LittleEndian
	d := &symcacheDecoder{version: le.Uint32(data[4:]), fileSize: 12}
	if string(data[:4]) != "SYMC" {
		t.Fatalf("magic %q", data[:4])
	}
	if d.version == 9 {
		d.fileSize = 24
	}
	pos := 80
	cut := func(count, size int) []byte {
		n := int(le.Uint32(data[count:])) * size
		s := data[pos:][:n]
		for pos += n; pos%8 != 0 && pos < len(data); pos++ {
			if data[pos] != 0 {
				t.Fatalf("padding at %#x is %#x", pos, data[pos])
			}
		}
		return s
	}
	d.files, d.functions = cut(44, d.fileSize), cut(48, 16)
	d.locations, d.ranges, d.strings = cut(52, 16), cut(56, 4), cut(60, 1)
	if pos != len(data) {
		t.Fatalf("%d bytes behind the last section", len(data)-pos)
	}
	return d
}

func (d *symcacheDecoder) lookup(rva symfmt.RVA) string {
	n := len(d.ranges) / 4
	k := sort.Search(n, func(i int) bool {
		return uint64(binary.LittleEndian.Uint32(d.ranges[4*i:])) > uint64(rva)
	})
	if k == 0 {
		return "nothing"
	}
	var b []byte
	for i := len(d.locations)/16 - n + k - 1; i != -1; {
		l := d.locations[16*i:]
		file, line := d.u32(l, 0), d.u32(l, 1)
		function, into := d.u32(l, 2), d.u32(l, 3)
		if file&line&function&into == 1<<32-1 {
			return "nothing"
		}
		name := d.text(d.u32(d.functions[16*function:], 0))
		path := ""
		if file != 1<<32-1 {
			f := d.files[d.fileSize*int(file):]
			if dir := d.text(d.u32(f, 1)); dir != "" {
				path = dir + "/"
			}
			path += d.text(d.u32(f, 2))
		}
		b = fmt.Appendf(b, "%s at %s:%d\n", name, path, line)
		i = int(int32(into))
	}
	return string(b)
}

func (d *symcacheDecoder) u32(b []byte, i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }

func (d *symcacheDecoder) text(at uint32) string {
	if at == 1<<32-1 {
		return ""
	}
	b := d.strings[at:]
	if d.version == 7 {
		return string(b[4:][:binary.LittleEndian.Uint32(b)])
	}
	n, used := binary.Uvarint(b)
	return string(b[used:][:n])
}
