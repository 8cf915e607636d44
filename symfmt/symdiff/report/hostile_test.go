package report

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/symdiff"
)

// hostile lists files that would take disproportionate time or memory if each pair of records
// were examined: n records of a kind that are all alike, or all different.
var hostile = []struct {
	name string
	line func(b *bytes.Buffer, i int, new bool)
}{
	{"functions of one name", func(b *bytes.Buffer, i int, new bool) {
		fmt.Fprintf(b, "FUNC %x %x 0 f\n", 16*i+int(flag(new)), 1+i%7+i/1000*int(flag(new)))
	}},
	{"functions of one name with lines", func(b *bytes.Buffer, i int, new bool) {
		fmt.Fprintf(b, "FUNC %x 8 0 f\n%x 8 %d 0\n", 16*i, 16*i, 1+i*(1+int(flag(new))))
	}},
	{"functions at one address", func(b *bytes.Buffer, i int, new bool) {
		fmt.Fprintf(b, "FUNC 1000 10 0 f%d\n", i+50*int(flag(new)))
	}},
	{"functions over each other", func(b *bytes.Buffer, i int, new bool) {
		fmt.Fprintf(b, "FUNC %x ffffffff 0 f%d\n", i, i+50*int(flag(new)))
	}},
	{"functions without a name", func(b *bytes.Buffer, i int, new bool) {
		fmt.Fprintf(b, "FUNC %x %x 0 <name omitted>\n", 16*i, 1+i%5+int(flag(new)))
	}},
	{"other functions", func(b *bytes.Buffer, i int, new bool) {
		fmt.Fprintf(b, "FUNC %x %x 0 f%d.cold\n", 16*i, 1+i%5, 2*i+int(flag(new)))
	}},
	{"parts of one function", func(b *bytes.Buffer, i int, new bool) {
		switch {
		case i == 0:
			fmt.Fprintf(b, "FUNC 0 %x 0 f\n", 8+8*flag(new))
		case i%2 == 0:
			fmt.Fprintf(b, "%x 1 %d 0\n", i, i)
		case new:
			fmt.Fprintf(b, "FUNC %x 3 0 g%d\n%x 1 %d 0\n%x 1 %d 0\n%x 1 %d 0\n", 64*i, i, 64*i, i, 64*i+1, i+1, 64*i+2, i+2)
		}
	}},
	{"parts with the name of their function", func(b *bytes.Buffer, i int, new bool) {
		if new || i == 0 {
			fmt.Fprintf(b, "FUNC %x 10 0 f\n%x 8 %d 1\nINLINE 0 5 0 0 %x 8\n%x 8 %d 1\n", 64*i, 64*i, 2*i+1, 64*i, 64*i+8, i+5)
		}
	}},
	{"functions gone over PUBLICs of their name", func(b *bytes.Buffer, i int, new bool) {
		if !new {
			fmt.Fprintf(b, "FUNC %x ffffffff 0 f\n", i)
		}
		fmt.Fprintf(b, "PUBLIC %x 0 g%d\n", i, i)
	}},
	{"STACK CFIs of different rules", func(b *bytes.Buffer, i int, new bool) {
		if i == 0 {
			b.WriteString("FUNC 0 ffffffff 0 f\nSTACK CFI INIT 0 ffffffff .cfa: $rsp 8 + .ra: .cfa 8 - ^\n")
		}
		fmt.Fprintf(b, "STACK CFI %x .cfa: $rsp %d +\n", i+1, 8*i+int(flag(new)))
	}},
	{"STACK CFIs of different registers", func(b *bytes.Buffer, i int, new bool) {
		if i == 0 {
			b.WriteString("FUNC 0 ffffffff 0 f\nSTACK CFI INIT 0 ffffffff .cfa: $rsp 8 + .ra: .cfa 8 - ^\n")
		}
		fmt.Fprintf(b, "STACK CFI %x r%d: .cfa %d - ^\n", i+1, i, 8+int(flag(new)))
	}},
	{"STACK CFI INITs without end", func(b *bytes.Buffer, i int, new bool) {
		fmt.Fprintf(b, "STACK CFI INIT %x ffffffffffff .cfa: $rsp %d + .ra: .cfa 8 - ^\n", i, 8+i%9+int(flag(new)))
	}},
	{"functions over one STACK CFI INIT", func(b *bytes.Buffer, i int, new bool) {
		fmt.Fprintf(b, "FUNC 0 ffffffff 0 f%d\nSTACK CFI INIT %x 1 .cfa: $rsp %d + .ra: .cfa 8 - ^\n", i, i, 8+8*(i%2)+int(flag(new)))
	}},
	{"functions over STACK WINs", func(b *bytes.Buffer, i int, new bool) {
		fmt.Fprintf(b, "FUNC 0 ffffffff 0 f%d\nSTACK WIN 4 %x 1 0 0 0 0 %x 0 0 0\n", i, i, flag(new))
	}},
	{"PUBLICs at one address", func(b *bytes.Buffer, i int, new bool) {
		fmt.Fprintf(b, "PUBLIC 1000 0 p%d\n", 2*i+int(flag(new)))
	}},
	{"PUBLICs of one name", func(b *bytes.Buffer, i int, new bool) {
		fmt.Fprintf(b, "PUBLIC %x 0 p\n", 8*i+int(flag(new)))
	}},
	{"lines of different files", func(b *bytes.Buffer, i int, new bool) {
		if i == 0 {
			b.WriteString("FUNC 0 ffffffff 0 f\n")
		}
		fmt.Fprintf(b, "%x 1 %d %d\n", i, i, 1+uint32(i*(2+int(flag(new))))*40503)
	}},
	{"ranges of inlined calls", func(b *bytes.Buffer, i int, new bool) {
		if i == 0 {
			b.WriteString("FUNC 0 ffffffff 0 f\n")
		}
		fmt.Fprintf(b, "INLINE %d %d 0 0 %x 2 %x 1\n", i%50, i, 4*i, 4*i+3+int(flag(new))*4)
	}},
	{"ranges of one inlined call", func(b *bytes.Buffer, i int, new bool) {
		if i == 0 {
			fmt.Fprintf(b, "FUNC 0 ffffffff 0 f\nINLINE 0 %d 0 0", 1+flag(new))
		}
		fmt.Fprintf(b, " %x 1", 2*i)
	}},
	{"files of one base name", func(b *bytes.Buffer, i int, new bool) {
		fmt.Fprintf(b, "FILE %d /%d/%d/x.c\n", i, i, flag(new))
	}},
	{"INFOs", func(b *bytes.Buffer, i int, new bool) { fmt.Fprintf(b, "INFO K%d %d\n", i, flag(new)) }},
}

func flag(on bool) uint64 {
	if on {
		return 1
	}
	return 0
}

// countWriter counts the bytes that are written to it.
type countWriter int

func (w *countWriter) Write(p []byte) (int, error) {
	*w += countWriter(len(p))
	return len(p), nil
}

// hostileRecords is how many records the smaller of the hostile files have.
const hostileRecords = 2000

// diffHostile compares two files of n records, checks that the output has a limit, and
// returns the processor time.
func diffHostile(t *testing.T, n int, line func(b *bytes.Buffer, i int, new bool)) time.Duration {
	t.Helper()
	var texts [2][]byte
	for i := range texts {
		var b bytes.Buffer
		b.WriteString("MODULE Linux x86_64 0 a\nFILE 0 a.c\nINLINE_ORIGIN 0 o\n")
		for k := range n {
			line(&b, k, i == 1)
		}
		b.WriteByte('\n') // a line may not have ended
		texts[i] = b.Bytes()
	}
	watch := testenv.StartWatch()
	r := compareTexts(t, string(texts[0]), string(texts[1]), symdiff.Options{Jobs: 1})
	if r.Same() {
		t.Error("no difference reported")
	}
	for _, format := range []string{"text", "raw", "html"} {
		var out countWriter
		if err := Write(&out, format, r, Options{Detail: true}); err != nil && !errors.Is(err, symdiff.ErrListings) {
			t.Error(err)
		}
		if limit := 64<<20 + 8*(len(texts[0])+len(texts[1])); int(out) > limit {
			t.Errorf("%d bytes of %s, want at most %d", out, format, limit)
		}
	}
	return watch.Took()
}

func TestHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long with the race detector")
	}
	for _, h := range hostile {
		t.Run(h.name, func(t *testing.T) { diffHostile(t, hostileRecords, h.line) })
	}
}

// TestHostileGrowth checks that time grows with the file, not with its square: ten times
// as many records may take 30 times as long. `make hostile` runs it.
func TestHostileGrowth(t *testing.T) {
	if os.Getenv("SYMTOOL_HOSTILE_RUNS") == "" {
		t.Skip("measures time: make hostile sets SYMTOOL_HOSTILE_RUNS")
	}
	for _, h := range hostile {
		t.Run(h.name, func(t *testing.T) {
			const n = hostileRecords
			took := func(n int) time.Duration { return diffHostile(t, n, h.line) }
			few, many := took(n), took(10*n)
			// Other load on the machine also increases processor time, but not in each run.
			for range 4 {
				if many > 15*max(few, 10*time.Millisecond) {
					few, many = max(few, took(n)), min(many, took(10*n))
				}
			}
			t.Logf("%d records %v, %d %v", n, few, 10*n, many)
			if many > 30*max(few, 10*time.Millisecond) {
				t.Errorf("%d records take %v, and %d %v", n, few, 10*n, many)
			}
		})
	}
}
