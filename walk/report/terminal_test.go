package report

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/symtool/symtool/walk"
)

// On a terminal, frames are coloured by their trust, and their lines fit.
func TestTerminal(t *testing.T) {
	r := manyThreads(1, 6)
	s := &r.Stacks[0]
	long := "std::map<std::string, std::vector<int> >::insert(std::pair<std::string const, std::vector<int> > const&)"
	s.Frames[1].Names[0].Function, s.Frames[1].Trust = long, walk.TrustFramePtr
	s.Frames[2].Names[0].Function, s.Frames[2].Trust = strings.Repeat("é", 200), walk.TrustScan
	s.Frames[3].Names[0].Function = "f<" + strings.Repeat("<", 1<<20)
	for _, c := range []struct {
		o    TextOptions
		want []string
	}{
		{TextOptions{Color: true, ShortNames: true, Width: 72}, []string{
			"\x1b[32m 0\x1b[m  app!\x1b[1mapp::inlined\x1b[m (inlined) [in.h : 3 + 0x400000]\n", "\x1b[32m 1\x1b[m  app!\x1b[1mapp::Worker<...>::step_0(int)\x1b[m [worker0.cc : 1 + ",
			"\x1b[33m 2\x1b[m  app!\x1b[1mstd::map<...>::insert(...)\x1b[m [", "\x1b[31m 3\x1b[m  app!\x1b[1m" + strings.Repeat("é", 30), "app!\x1b[1mf<...>\x1b[m [",
			"Found by: \x1b[31mstack scanning\x1b[m\n", "hostile",
		}},
		{TextOptions{ShortNames: true, Brief: true}, []string{"app!std::map<...>::insert(std::pair<...> const&) [", "app!app::inlined (inlined) [", strings.Repeat("é", 200) + " ["}},
		{TextOptions{}, []string{"app!" + long + " [", " 0  app!app::inlined [in.h : 3 + 0x400000]\n"}},
	} {
		var b bytes.Buffer
		if err := WriteText(&b, r, c.o); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%+v: got\n%.2000s\nwant %q in it", c.o, &b, want)
			}
		}
		plain := strings.NewReplacer(colorEnd, "", colorBold, "", colorGreen, "", colorYellow, "", colorRed, "").Replace(b.String())
		if strings.Contains(plain, "\x1b") || !c.o.Color && plain != b.String() {
			t.Errorf("%+v: escape characters that are not ours", c.o)
		}
		for line := range strings.Lines(plain) {
			if n := utf8.RuneCountInString(line) - 1; c.o.Width > 0 && strings.Contains(line, "worker") && n > c.o.Width {
				t.Errorf("%d columns, want at most %d: %s", n, c.o.Width, line)
			}
		}
	}
}
