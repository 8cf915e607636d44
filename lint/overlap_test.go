package lint

import (
	"strings"
	"testing"
)

// One defect is one finding above a note, although several rules look at the place.
func TestOneFinding(t *testing.T) {
	const good = "FILE 0 /a.c\nFUNC 2000 10 0 g\n2000 10 1 0\nSTACK CFI INIT 2000 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"
	for _, c := range []struct{ name, text, want string }{
		{"no defect", head + good, ""},
		{"CR in a name", head + good + "PUBLIC 3000 0 a\rb\n", "SYM119"},
		{"Latin-1 in a name", head + good + "PUBLIC 3000 0 gr\xf6e\n", "SYM604"},
		{"Latin-1 in a rule", head + good + "STACK CFI 2001 .cfa: $r\xf6 8 +\n", "SYM115 SYM413"},
		{"FUNC of size 0 with a line", head + strings.Replace(good, "FUNC 2000", "FUNC 1000 0 0 f\n1000 4 1 0\nFUNC 2000", 1), "SYM301"},
		{"same block twice", head + good + "STACK CFI INIT 2000 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", "SYM403"},
		{"Thumb bit", armModule + "FILE 0 /a.c\nFUNC 2001 10 0 g\n2001 10 1 0\nSTACK CFI INIT 2000 10 .cfa: sp 0 + .ra: lr\n", "SYM326"},
		{"end at the top", head + good + "FUNC ffffffff80000000 80000000 0 f\nffffffff80000000 80000000 1 0\n", "SYM305"},
	} {
		var ids []string
		for _, f := range lintText(t, c.text).Findings {
			if f.Severity > Note {
				ids = append(ids, f.Rule.ID)
			}
		}
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
