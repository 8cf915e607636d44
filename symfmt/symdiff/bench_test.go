package symdiff

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// grow writes a file of about size bytes: the functions and blocks of a real file
// several times, each copy with its own addresses, names and lines. In the changed
// file, one function in a hundred has another name, other lines or other rules, some
// are missing, and code is inserted.
// rules, some are missing, and code is inserted.
func grow(text []byte, path string, size int64, changed bool) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	g := grower{w: w, changed: changed, rng: rand.New(rand.NewPCG(1, 2))}
	for line := range strings.Lines(string(text)) {
		switch word, _, _ := strings.Cut(line, " "); word {
		case "MODULE", "INFO", "FILE", "INLINE_ORIGIN":
			w.WriteString(line)
		default:
			g.body = append(g.body, strings.Fields(line))
			g.note(g.body[len(g.body)-1])
		}
	}
	for copies := 0; g.written < size; copies++ {
		g.copy(copies)
	}
	return w.Flush()
}

type grower struct {
	w       *bufio.Writer
	body    [][]string
	top     uint64
	shift   uint64
	written int64
	changed bool
	rng     *rand.Rand
}

func hexOf(s string) uint64 {
	v, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		panic(err)
	}
	return v
}

// note finds the end of all functions.
func (g *grower) note(f []string) {
	if f[0] == "FUNC" && f[1] != "m" {
		g.top = max(g.top, hexOf(f[1])+hexOf(f[2]))
	}
}

// copy writes all records once more.
func (g *grower) copy(n int) {
	leaveOut, other := false, false
	for _, f := range g.body {
		if f[0] == "FUNC" {
			k := g.rng.IntN(1000)
			leaveOut, other = g.changed && k == 0, g.changed && 1 <= k && k <= 10
		}
		if leaveOut && f[0] != "PUBLIC" && f[0] != "STACK" {
			continue
		}
		g.record(f, n, other)
	}
	g.shift += (g.top + 0xfff) &^ 0xfff
	if g.changed {
		g.shift += 0x1000
	}
}

// record writes one record, moved.
func (g *grower) record(f []string, n int, other bool) {
	var moved []int
	name, more := -1, ""
	switch {
	case f[0] == "INLINE":
		for i := 5; i < len(f); i += 2 {
			moved = append(moved, i)
		}
	case f[0] == "STACK" && f[2] == "INIT":
		moved = []int{3}
	case f[0] == "STACK":
		moved = []int{2}
		if g.changed && g.rng.IntN(1000) == 0 {
			more = " $r15: 0"
		}
	case f[0] == "FUNC", f[0] == "PUBLIC":
		at := 1
		if f[1] == "m" {
			at = 2
		}
		moved, name = []int{at}, len(f)-1
	default:
		moved = []int{0}
		if other && g.rng.IntN(4) == 0 {
			more = "1"
		}
	}
	for i, word := range f {
		if i > 0 {
			g.w.WriteByte(' ')
			g.written++
		}
		for len(moved) > 0 && moved[0] < i {
			moved = moved[1:]
		}
		if len(moved) > 0 && moved[0] == i {
			word = strconv.FormatUint(hexOf(word)+g.shift, 16)
		}
		g.w.WriteString(word)
		g.written += int64(len(word))
	}
	if name >= 0 && n > 0 {
		more = fmt.Sprintf("_%d", n)
	}
	g.w.WriteString(more)
	g.w.WriteByte('\n')
	g.written += int64(len(more)) + 1
}

func cpuTime() int64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return r.Utime.Nano() + r.Stime.Nano()
}

// BenchmarkLarge compares the file named by SYMTOOL_BENCH_SYM with itself. With
// SYMTOOL_BENCH_LARGE=PREFIX it also makes PREFIX-old.sym and PREFIX-new.sym, of 500
// MB each, which .ci/bench compares in a separate process.
func BenchmarkLarge(b *testing.B) {
	path := os.Getenv("SYMTOOL_BENCH_SYM")
	if path == "" {
		b.Skip("SYMTOOL_BENCH_SYM names no symbol file")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	if prefix := os.Getenv("SYMTOOL_BENCH_LARGE"); prefix != "" {
		for i, name := range [...]string{"-old.sym", "-new.sym"} {
			if err := grow(text, prefix+name, 500e6, i == 1); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.SetBytes(2 * int64(len(text)))
	start := cpuTime()
	for b.Loop() {
		source := func(name string) *Source { return NewSource(bytes.NewReader(text), int64(len(text)), name) }
		r, err := Compare(context.Background(), source("old"), source("new"), Options{Jobs: 1})
		if err != nil || !r.Same() {
			b.Fatal(err)
		}
	}
	b.ReportMetric(2*float64(len(text))*float64(b.N)/float64(cpuTime()-start)*1e3, "MB/cpu-s")
}
