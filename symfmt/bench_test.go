package symfmt

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
)

// bigText is a symbol text of a large C program, in the proportions of a Linux
// kernel: 79 MB, 45,000 FUNCs, 315,000 INLINEs, 2.2 million lines, 315,000 CFI
// rows.
var bigText = sync.OnceValue(func() []byte { return makeText(45_000) })

// mediumText is a tenth of it, for tests.
var mediumText = sync.OnceValue(func() []byte { return makeText(4_500) })

// makeText returns a symbol text that differs in form from what our writer
// writes.
func makeText(funcs int) []byte {
	var b bytes.Buffer
	rnd := rand.New(rand.NewPCG(1, 2))
	const files, origins = 4_000, 20_000
	b.WriteString("MODULE Linux x86_64 D3096ED481217FD4C16B29CD9BC208BA0 vmlinux\nINFO CODE_ID 84D60E9D1248D47FC16B29CD9BC208BA\n")
	for i := range files {
		fmt.Fprintf(&b, "FILE %d /build/linux-6.1/drivers/subsystem-%d/source_%d.c\n", i, i%97, i)
	}
	for i := range origins {
		fmt.Fprintf(&b, "INLINE_ORIGIN %d inlined_helper_%d\n", i, i)
	}
	rva := uint64(0x1000000)
	starts := make([]uint64, funcs)
	for i := range funcs {
		starts[i] = rva
		rva = bigFunc(&b, rnd, rva, i, files, origins)
	}
	for i, start := range starts {
		fmt.Fprintf(&b, "PUBLIC %x 0 alias_%d\n", start+4, i)
	}
	for _, start := range starts {
		fmt.Fprintf(&b, "STACK CFI INIT %x 100 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", start)
		for row := range uint64(7) {
			fmt.Fprintf(&b, "STACK CFI %x .cfa: $rsp %d + $rbx: .cfa -%d + ^\n", start+1+2*row, 16+8*row, 16+8*row)
		}
	}
	return b.Bytes()
}

func bigFunc(b *bytes.Buffer, rnd *rand.Rand, rva uint64, i, files, origins int) uint64 {
	lines := 20 + rnd.IntN(60)
	size := uint64(lines * 9)
	fmt.Fprintf(b, "FUNC %x %x 0 subsystem_%d_function_number_%d\n", rva, size, i%97, i)
	for k := range 7 {
		fmt.Fprintf(b, "INLINE %d %d %d %d %x %x\n", k%3, 10+rnd.IntN(3000), rnd.IntN(files), rnd.IntN(origins),
			rva+uint64(k*8), 3+rnd.IntN(30))
	}
	file, line := rnd.IntN(files), rnd.IntN(4000)
	other := rnd.IntN(files)
	at := rva
	for range lines {
		n := uint64(1 + rnd.IntN(17))
		use := file
		if rnd.IntN(4) == 0 {
			use = other
		}
		line = max(1, line+rnd.IntN(20)-8)
		fmt.Fprintf(b, "%x %x %d %d\n", at, n, line, use)
		at += n
	}
	return (rva + max(size, at-rva) + 15) &^ 15
}

func benchTexts(b *testing.B, each func(b *testing.B, text []byte)) {
	run := func(b *testing.B, text []byte) {
		before := cpuTime(b)
		each(b, text)
		cpu := (cpuTime(b) - before).Seconds() / float64(b.N)
		b.ReportMetric(float64(len(text))/1e6/cpu, "MB/cpu-s")
	}
	b.Run("generated", func(b *testing.B) { run(b, bigText()) })
	b.Run("crash-client", func(b *testing.B) {
		all := testenv.SharedGlob(b, "data", "minidumps", "rust-minidump", "symbols", "crash-client", "*", "*.sym")
		if len(all) == 0 {
			b.Skip("no crash-client.sym")
		}
		text, err := os.ReadFile(all[0])
		if err != nil {
			b.Fatal(err)
		}
		run(b, text)
	})
}

func BenchmarkReader(b *testing.B) {
	benchTexts(b, func(b *testing.B, text []byte) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			r := NewReader(bytes.NewReader(text), ReadOptions{})
			for {
				if _, err := r.Next(); err == io.EOF {
					break
				} else if err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	benchTexts(b, func(b *testing.B, text []byte) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := read(bytes.NewReader(text), ReadOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkWrite(b *testing.B) {
	for _, jobs := range []int{1, 2} {
		b.Run(fmt.Sprint("jobs=", jobs), func(b *testing.B) {
			benchTexts(b, func(b *testing.B, text []byte) {
				m := mustRead(b, text)
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					if err := Write(io.Discard, m, WriteOptions{Jobs: jobs}); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}

// benchLines runs the loop over all lines of the generated text.
func benchLines(b *testing.B, run func(f *Func) (lines int)) {
	m := mustRead(b, bigText())
	lines := 0
	before := cpuTime(b)
	for b.Loop() {
		for i := range m.Funcs {
			lines += run(&m.Funcs[i])
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(lines), "ns/line")
	b.ReportMetric(float64(cpuTime(b)-before)/float64(lines), "cpu-ns/line")
}

func BenchmarkLineReader(b *testing.B) {
	benchLines(b, func(f *Func) (lines int) {
		for r := f.LineReader(); r.Next(); {
			lines++
		}
		return lines
	})
}

func BenchmarkAppendLines(b *testing.B) {
	buf := make([]byte, 0, 1<<20)
	benchLines(b, func(f *Func) (lines int) {
		buf = buf[:0]
		for r := f.LineReader(); r.Next(); lines++ {
			buf = appendLine(buf, &r.Line)
		}
		return lines
	})
}

func BenchmarkAddLine(b *testing.B) {
	var body BodyBuilder
	var arena Arena
	benchLines(b, func(f *Func) (lines int) {
		body.Reset(f.RVA)
		for r := f.LineReader(); r.Next(); lines++ {
			body.AddLine(r.Line)
		}
		body.Finish(&arena)
		return lines
	})
}

// cpuTime returns the processor time of the process: on a busy machine, it is more
// meaningful than the clock.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkCanonicalize(b *testing.B) {
	text := bigText()
	m := mustRead(b, text)
	funcs, files, origins := m.Funcs, m.Files, m.Origins
	b.ReportAllocs()
	for b.Loop() {
		// The first round numbers by first use; later ones find all in order,
		// but do the same work.
		m.Funcs, m.Files, m.Origins = funcs, files, origins
		m.Canonicalize()
		files, origins = m.Files, m.Origins
	}
}
