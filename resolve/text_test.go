package resolve

import (
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// A small compressed file may expand to any length: it is read up to a limit, and the rest is reported
// as lost.
func TestCompressedTooLong(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, in one goroutine only")
	}
	const most = 4 << 20
	head := "MODULE windows x86 5A9832E5287241C1838ED98914E9B7FF1 a\nFILE 0 a.c\nFUNC 1000 10 0 f\n1000 10 7 0\n"
	filler := make([]byte, most) // not a bomb: its bytes are nearly random
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range filler {
		filler[i] = "\n\n\n\n\n\n\r\r"[rng.IntN(8)]
	}
	tooLong := regexp.MustCompile(" bytes or more, want at most 4194304")
	// Which limit a bomb reaches first depends on how far gzip and zstd read ahead.
	bomb := regexp.MustCompile(" bytes or more, want at most 4194304| bytes decompress to more than [0-9]+: the limit is 50 times as many")
	for _, c := range []struct {
		name, text string
		lost       *regexp.Regexp // nil: nothing is
	}{
		{"just", head + string(filler[len(head):]), nil},
		{"one more", head + string(filler[len(head)-1:]), tooLong},
		{"bomb of lines", head + strings.Repeat("1000 10 7 0\n", 3<<20), bomb},
		{"bomb without lines", head + strings.Repeat("x", 64<<20), bomb},
	} {
		for ext, pack := range map[string]func(testing.TB, []byte) []byte{".gz": testenv.Gzip[[]byte], ".zst": testenv.Zstd[[]byte]} {
			t.Run(c.name+ext, func(t *testing.T) {
				path := writeFile(t, "a.sym"+ext, pack(t, []byte(c.text)))
				f, err := os.Open(path)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				x, text, problems, err := openTextFrom(f, f, path, most, 0)
				if err != nil || x.funcs.len() != 1 || x.size > most {
					t.Fatalf("%v, %v", x, err)
				}
				text.Close()
				if c.lost == nil {
					if len(problems) > 0 {
						t.Errorf("%v; want no problem", problems)
					}
					return
				}
				var last string
				if len(problems) > 0 {
					last = problems[len(problems)-1].String()
				}
				if !strings.HasPrefix(last, path+": after line ") || !c.lost.MatchString(last) || !strings.Contains(last, "the rest of the file") {
					t.Errorf("%d problems, the last %q; want %q, and the rest of the file lost", len(problems), last, c.lost)
				}
			})
		}
	}
}
