package resolve

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/symcache"
)

// The answers from a symcache equal those of this package for every address: by the look-up that the
// documentation of symbolic-symcache describes, in a separate decoder, and by this package from the
// module that symcache.Read returns.
func TestSymcacheAnswers(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine")
	}
	for _, path := range symcacheInputs(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			for _, version := range []uint32{7, 8, 9} {
				compareSymcache(t, path, symcache.Options{Version: version})
			}
		})
	}
}

// TestSymcacheFile is TestSymcacheAnswers for a large file: the symbol file that
// SYMTOOL_SYMCACHE_FILE names, with the base SYMTOOL_SYMCACHE_BASE.
func TestSymcacheFile(t *testing.T) {
	path, o := symcacheFile(t)
	if path == "" {
		t.Skip("SYMTOOL_SYMCACHE_FILE is not set")
	}
	compareSymcache(t, path, o)
}

func symcacheFile(t *testing.T) (path string, o symcache.Options) {
	t.Helper()
	if base := os.Getenv("SYMTOOL_SYMCACHE_BASE"); base != "" {
		n, err := strconv.ParseUint(base, 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		o.Base = symfmt.RVA(n)
	}
	return os.Getenv("SYMTOOL_SYMCACHE_FILE"), o
}

func symcacheInputs(t *testing.T) (paths []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(testenv.Root(t), "golden", "dwarf2sym", "*.sym"))
	if err != nil || len(paths) < 50 {
		t.Fatalf("%d symbol files, %v", len(paths), err)
	}
	return paths
}

// Real files of other writers: old INLINEs, Windows paths, PUBLICs inside FUNCs.
func TestSymcacheAnswersReal(t *testing.T) {
	for _, path := range symcacheReal(t) {
		t.Run(filepath.Base(path), func(t *testing.T) { compareSymcache(t, path, symcache.Options{}) })
	}
}

func symcacheReal(t *testing.T) (paths []string) {
	t.Helper()
	symbols := testenv.Shared(t, "data", "minidumps")
	for _, path := range []string{
		"rust-minidump/symbols/crash-client/509C0610949836F7B70BD88BCF03E5400/crash-client.sym",
		"breakpad/symbols/test_app.pdb/5A9832E5287241C1838ED98914E9B7FF1/test_app.sym",
		"breakpad/symbols/kernel32.pdb/BCE8785C57B44245A669896B6A19B9542/kernel32.sym",
		"breakpad/symbols/libc-2.13.so/F4F8DFCD5A5FB5A7CE64717E9E6AE3890/libc-2.13.so.sym",
	} {
		paths = append(paths, filepath.Join(symbols, filepath.FromSlash(path)))
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
	result, err := symfmt.Read(context.Background(), f, symfmt.ReadOptions{Tolerant: true})
	if err != nil {
		t.Fatal(err)
	}
	m := result.Module
	return m
}

func compareSymcache(t *testing.T, path string, o symcache.Options) {
	m := symcacheModule(t, path)
	data := writeSymcache(t, m, o)
	again := readSymcache(t, data, o)
	want, back := moduleResolver(t, m), moduleResolver(t, again)
	oracle := decodeSymcache(t, data)
	var at, got Location
	asked := symcacheEdges(m, o.Base)
	var expected, answer []byte
	for _, rva := range asked {
		expected = appendAnswer(expected[:0], find(t, want, rva, &at), &at)
		if answer = oracle.lookup(answer[:0], rva-o.Base); !bytes.Equal(answer, expected) {
			t.Fatalf("version %d, %#x: decoded\n%s, want\n%s", o.Version, rva, answer, expected)
		}
		if answer = appendAnswer(answer[:0], find(t, back, rva, &got), &got); !bytes.Equal(answer, expected) {
			t.Fatalf("version %d, %#x: read again\n%s, want\n%s", o.Version, rva, answer, expected)
		}
	}
	if second := writeSymcache(t, again, o); !bytes.Equal(second, writeSymcache(t, readSymcache(t, second, o), o)) {
		t.Errorf("version %d: written, read and written again, the file differs", o.Version)
	}
	t.Logf("version %d: %d addresses in %d ranges", o.Version, len(asked), len(oracle.ranges)/4)
}

func readSymcache(t *testing.T, data []byte, o symcache.Options) *symfmt.Module {
	t.Helper()
	result, err := symcache.Read(context.Background(), bytes.NewReader(data), int64(len(data)), symcache.ReadOptions{File: "x.symcache", Base: o.Base})
	if err != nil || len(result.Problems) > 0 {
		t.Fatal(err, result)
	}
	return result.Module
}

func writeSymcache(t *testing.T, m *symfmt.Module, o symcache.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := symcache.Write(&b, m, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func moduleResolver(t *testing.T, m *symfmt.Module) *Resolver {
	t.Helper()
	r := FromModule(m, ModuleOptions{Path: "module"})
	t.Cleanup(func() { r.Close() })
	return r
}

func find(t *testing.T, r *Resolver, rva symfmt.RVA, at *Location) bool {
	t.Helper()
	known, err := r.Nearest(t.Context(), rva, at)
	if err != nil {
		t.Fatal(err)
	}
	return known
}

// appendAnswer prints an answer. A file that is unknown has no name.
func appendAnswer(b []byte, known bool, at *Location) []byte {
	if !known {
		return append(b, "nothing"...)
	}
	for _, f := range at.Frames {
		if f.File == symfmt.NoFile {
			f.File = ""
		}
		b = appendFrame(b, []byte(f.Function), nil, []byte(f.File), f.Line)
	}
	return b
}

func appendFrame(b, function, dir, file []byte, line uint32) []byte {
	b = append(append(b, function...), " at "...)
	if b = append(b, dir...); bytes.ContainsRune(dir, '\\') || len(dir) > 1 && dir[1] == ':' {
		b = append(b, '\\')
	} else if len(dir) > 0 {
		b = append(b, '/')
	}
	b = append(append(b, file...), ':')
	return append(strconv.AppendUint(b, uint64(line), 10), '\n')
}

// symcacheEdges returns the addresses where something begins or ends, and their
// neighbours, if a symcache can hold them.
func symcacheEdges(m *symfmt.Module, base symfmt.RVA) []symfmt.RVA {
	return slices.DeleteFunc(newNaive(m).edges(), func(rva symfmt.RVA) bool { return rva < base || rva-base >= 1<<32 })
}

// symcacheDecoder looks up addresses in the bytes, as symbolic's documentation describes. It
// does not check them.
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
		t.Fatalf("%d bytes after the last section", len(data)-pos)
	}
	return d
}

func (d *symcacheDecoder) lookup(b []byte, rva symfmt.RVA) []byte {
	n := len(d.ranges) / 4
	k := sort.Search(n, func(i int) bool {
		return uint64(binary.LittleEndian.Uint32(d.ranges[4*i:])) > uint64(rva)
	})
	if k == 0 {
		return append(b, "nothing"...)
	}
	for i := len(d.locations)/16 - n + k - 1; i != -1; {
		l := d.locations[16*i:]
		file, line := d.u32(l, 0), d.u32(l, 1)
		function, into := d.u32(l, 2), d.u32(l, 3)
		if file&line&function&into == 1<<32-1 {
			return append(b, "nothing"...)
		}
		var dir, name []byte
		if file != 1<<32-1 {
			f := d.files[d.fileSize*int(file):]
			dir, name = d.text(d.u32(f, 1)), d.text(d.u32(f, 2))
		}
		b = appendFrame(b, d.text(d.u32(d.functions[16*function:], 0)), dir, name, line)
		i = int(int32(into))
	}
	return b
}

func (d *symcacheDecoder) u32(b []byte, i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }

func (d *symcacheDecoder) text(at uint32) []byte {
	if at == 1<<32-1 {
		return nil
	}
	b := d.strings[at:]
	if d.version == 7 {
		return b[4:][:binary.LittleEndian.Uint32(b)]
	}
	n, used := binary.Uvarint(b)
	return b[used:][:n]
}
