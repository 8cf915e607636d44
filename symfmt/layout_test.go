package symfmt

import (
	"io"
	"strings"
	"testing"
)

func TestLayout(t *testing.T) {
	const module = "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a"
	for _, c := range []struct {
		name, text string
		want       Layout
		mixed      int
	}{
		{"plain", module + "\nFUNC 1000 10 0 f\n1000 10 1 0\n", Layout{}, 0},
		{"CR LF", module + "\r\nFUNC 1000 10 0 f\r\n1000 10 1 0\r\n", Layout{CR: Places{3, 1}}, 0},
		{"CR CR LF", module + "\r\r\n1000 10 1 0\r\r\n", Layout{CR: Places{2, 1}, ManyCR: Places{2, 1}}, 0},
		{"LF, then CR LF", module + "\n1000 10 1 0\n1010 10 1 0\r\n", Layout{CR: Places{1, 3}}, 3},
		{"CR LF, then LF", module + "\r\n1000 10 1 0\r\n1010 10 1 0\nFILE 0 a\r\n", Layout{CR: Places{3, 1}}, 3},
		{"no end behind CR LF", module + "\r\n1000 10 1 0", Layout{CR: Places{1, 1}, noEnd: true}, 0},
		{"byte order mark", "\xef\xbb\xbf" + module + "\n", Layout{BOM: true}, 0},
		{"blank lines", module + "\n\n \t\nFUNC 1000 10 0 f\n", Layout{Blank: Places{2, 2}}, 0},
		{"blank line before a line record", module + "\n\n1000 10 1 0\n\r\nINLINE 0 1 2 3 4 5\n",
			Layout{Blank: Places{2, 2}, Split: Places{2, 3}, CR: Places{1, 4}}, 4},
		{"blanks around records", " " + module + "\n1000\t10 1 0\n1010 10 1 0 \nFILE\t0 a\n",
			Layout{OddBlanks: Places{4, 1}}, 0},
		{"blanks in and behind names", module + " \nFILE 0 a\tb\nFUNC 1000 10 0 f\t\nFILE  1  c\n", Layout{}, 0},
	} {
		r := NewReader(strings.NewReader(c.text), ReadOptions{Tolerant: true})
		for {
			if _, err := r.Next(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(c.name, err)
			}
		}
		report := r.Report()
		got := report.Layout
		got.crPrefix = 0
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
		if mixed := report.Layout.Mixed(report.Lines); mixed != c.mixed {
			t.Errorf("%s: ends mix at line %d, want %d", c.name, mixed, c.mixed)
		}
	}
}

func TestLost(t *testing.T) {
	r := NewReader(strings.NewReader("FUNC x 10 0 f\n1000 10 1 0\nFUNC 1000 10 0\nFUNC y\n"), ReadOptions{Tolerant: true, MaxProblems: 1})
	for {
		if _, err := r.Next(); err != nil {
			break
		}
	}
	if n := r.Lost(KindFunc); n != 2 { // the second lacks only a name
		t.Errorf("%d FUNCs are lost, want 2", n)
	}
}
