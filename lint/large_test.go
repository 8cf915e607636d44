package lint

import (
	"bufio"
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// benchmarkFile checks the symbol file named by SYMTOOL_BENCH_SYM with all rules.
func benchmarkFile(b *testing.B) {
	path := os.Getenv("SYMTOOL_BENCH_SYM")
	if path == "" {
		b.Skip("SYMTOOL_BENCH_SYM names no symbol file")
	}
	for range b.N {
		f, err := os.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		r, err := Run(context.Background(), symfmt.TextRecords(f), Options{File: path})
		if err != nil {
			b.Fatal(err)
		}
		f.Close()
		b.SetBytes(r.Bytes)
	}
}

// largeText is the size of the file of BenchmarkLarge, in bytes.
const largeText = 500 << 20

// BenchmarkLarge checks a file of 500 MB at the path in SYMTOOL_BENCH_LARGE: the symbols of
// SYMTOOL_BENCH_SYM repeated, each time at higher addresses. If the file is missing, it is written
// first.
func BenchmarkLarge(b *testing.B) {
	path, source := os.Getenv("SYMTOOL_BENCH_LARGE"), os.Getenv("SYMTOOL_BENCH_SYM")
	if path == "" || source == "" {
		b.Skip("SYMTOOL_BENCH_LARGE and SYMTOOL_BENCH_SYM name no symbol files")
	}
	if _, err := os.Stat(path); err != nil {
		text, err := os.ReadFile(source)
		if err != nil {
			b.Fatal(err)
		}
		if err := writeRepeated(path, text, largeText); err != nil {
			b.Fatal(err)
		}
	}
	b.Setenv("SYMTOOL_BENCH_SYM", path)
	b.ResetTimer() // writing the file is not measured
	benchmarkFile(b)
}

// writeRepeated writes a canonical symbol file, and repeats its functions, public symbols
// and blocks until it has size bytes.
func writeRepeated(path string, text []byte, size int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	parts := textParts(text)
	w := bufio.NewWriterSize(f, 1<<20)
	w.Write(parts[0])
	low, high := bounds(text)
	stride := (high-low)&^0xffff + 0x100000
	var once int // bytes of one copy at these addresses
	for _, part := range parts[1:] {
		c := &counter{}
		cw := bufio.NewWriter(c)
		writeShifted(cw, part, 0x1000+stride-low)
		cw.Flush()
		once += c.n
	}
	copies := max(1, size/once+1)
	for _, part := range parts[1:] {
		for i := range copies {
			writeShifted(w, part, 0x1000+uint64(i)*stride-low)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

type counter struct{ n int }

func (c *counter) Write(p []byte) (int, error) {
	c.n += len(p)
	return len(p), nil
}

// textParts cuts the text at the first FUNC, PUBLIC and STACK.
func textParts(text []byte) (parts [][]byte) {
	for _, start := range []string{"\nFUNC ", "\nPUBLIC ", "\nSTACK "} {
		if i := bytes.Index(text, []byte(start)); i >= 0 {
			parts, text = append(parts, text[:i+1]), text[i+1:]
		}
	}
	return append(parts, text)
}

// addressFields returns which fields of a record, split at blanks, are addresses.
func addressFields(fields [][]byte) (list []int) {
	switch string(fields[0]) {
	case "FUNC", "PUBLIC":
		if string(fields[1]) == "m" {
			return []int{2}
		}
		return []int{1}
	case "INLINE":
		for i := 5; i < len(fields); i += 2 {
			list = append(list, i)
		}
		return list
	case "STACK":
		if string(fields[2]) == "INIT" {
			return []int{3}
		}
		return []int{2}
	}
	return []int{0}
}

// bounds returns the lowest and the highest address at which something begins.
func bounds(text []byte) (low, high uint64) {
	low = math.MaxUint64
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte("FUNC ")) || bytes.HasPrefix(line, []byte("PUBLIC ")) || bytes.HasPrefix(line, []byte("STACK CFI INIT ")) {
			fields := bytes.Split(line, []byte(" "))
			for _, i := range addressFields(fields) {
				v, _ := strconv.ParseUint(string(fields[i]), 16, 64)
				low, high = min(low, v), max(high, v)
			}
		}
	}
	return low, high
}

func writeShifted(w *bufio.Writer, text []byte, shift uint64) {
	var out []byte
	for line := range bytes.Lines(text) {
		fields := bytes.Split(line, []byte(" "))
		for _, i := range addressFields(fields) {
			v, _ := strconv.ParseUint(string(fields[i]), 16, 64)
			fields[i] = strconv.AppendUint(nil, v+shift, 16)
		}
		out = append(out[:0], fields[0]...)
		for _, field := range fields[1:] {
			out = append(append(out, ' '), field...)
		}
		w.Write(out)
	}
}

// The file for the benchmark is as valid as its original: a rule without findings in the original
// has none in the copy.
func TestWriteRepeated(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(testenv.Root(t), "golden", "dwarf2sym", "scopes-gcc5.sym"))
	if err != nil {
		t.Fatal(err)
	}
	path := t.TempDir() + "/large.sym"
	if err := writeRepeated(path, text, 10*len(text)); err != nil {
		t.Fatal(err)
	}
	large, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(large) < 10*len(text) || !bytes.HasPrefix(large, text[:100]) {
		t.Fatalf("%d bytes of %d", len(large), len(text))
	}
	one, many := passOfText(t, string(text)), passOfText(t, string(large))
	for id, n := range many.Result.Counts {
		if n > 0 && one.Result.Counts[id] == 0 {
			t.Errorf("%s: %d findings in copies of a file with none", id, n)
		}
	}
	if many.Functions.Len() < 10*one.Functions.Len() || many.Blocks.Len() < 10*one.Blocks.Len() {
		t.Errorf("%d functions and %d blocks of %d and %d", many.Functions.Len(), many.Blocks.Len(), one.Functions.Len(), one.Blocks.Len())
	}
}
