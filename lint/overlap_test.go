package lint

import (
	"strings"
	"testing"

	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/lint/internal/check"
)

// A defect is one finding more severe than a note, even if several rules examine the place.
func TestOneFinding(t *testing.T) {
	const good = "FILE 0 /a.c\nFUNC 2000 10 0 g\n2000 10 1 0\nSTACK CFI INIT 2000 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"
	inFunc := check.Head + "FILE 0 /a.c\nINLINE_ORIGIN 0 o\nSTACK CFI INIT 2000 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nFUNC 2000 10 0 g\n"
	for _, c := range []struct{ name, text, want string }{
		{"no defect", check.Head + good, ""},
		{"CR in a name", check.Head + good + "PUBLIC 3000 0 a\rb\n", "SYM119"},
		{"Latin-1 in a name", check.Head + good + "PUBLIC 3000 0 gr\xf6e\n", "SYM604"},
		{"Latin-1 in a rule", check.Head + good + "STACK CFI 2001 .cfa: $r\xf6 8 +\n", "SYM115 SYM413"},
		{"FUNC of size 0 with a line", check.Head + strings.Replace(good, "FUNC 2000", "FUNC 1000 0 0 f\n1000 4 1 0\nFUNC 2000", 1), "SYM301"},
		{"same block twice", check.Head + good + "STACK CFI INIT 2000 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", "SYM403"},
		{"Thumb bit", "MODULE Linux arm 0123456789ABCDEF0123456789ABCDEF0 a\n" + "FILE 0 /a.c\nFUNC 2001 10 0 g\n2001 10 1 0\nSTACK CFI INIT 2000 10 .cfa: sp 0 + .ra: lr\n", "SYM326"},
		{"end at the top", check.Head + good + "FUNC ffffffff80000000 80000000 0 f\nffffffff80000000 80000000 1 0\n", "SYM305"},
		{"tombstone of size 0", check.Head + good + "FUNC fffffffffffff001 0 0 f\n", "SYM305"},
		{"size 0 below the tombstones", check.Head + good + "FUNC ffffffffffffefff 0 0 f\n", "SYM301"},
		{"end below the tombstones", check.Head + good + "FUNC ffffffffffffeff0 10 0 f\n", ""},
		{"end at the first tombstone", check.Head + good + "FUNC ffffffffffffeff0 11 0 f\n", "SYM305"},
		{"PUBLIC below the tombstones", check.Head + good + "PUBLIC ffffffffffffefff 0 f\n", ""},
		{"PUBLIC at the first tombstone", check.Head + good + "PUBLIC fffffffffffff000 0 f\n", "SYM305"},
		{"control character in MODULE", strings.Replace(check.Head, " a\n", " a\x01\n", 1) + good, "SYM614"},
		{"level without a parent", inFunc + "INLINE 1 5 0 0 2000 4\n2000 10 1 0\n", "SYM325"},
		{"level without a parent, of several ranges", inFunc + "INLINE 2 5 0 0 2000 2 2004 2 2008 2\n2000 10 1 0\n", "SYM325"},
		{"level skipped, one range has no parent", inFunc + "INLINE 0 5 0 0 2000 4\nINLINE 2 5 0 0 2000 2 2008 2\nINLINE 1 5 0 0 2000 4\n2000 10 1 0\n", "SYM325"},
		{"level skipped, the parent comes later", inFunc + "INLINE 0 5 0 0 2000 4\nINLINE 2 5 0 0 2000 2\nINLINE 1 5 0 0 2000 4\n2000 10 1 0\n", "SYM313"},
		{"absurd level", inFunc + "INLINE 0 5 0 0 2000 4\nINLINE 600 5 0 0 2000 2\n2000 10 1 0\n", "SYM127"},
		{"outside of FUNC and parent", inFunc + "INLINE 0 5 0 0 2000 4\nINLINE 1 5 0 0 2010 2\n2000 10 1 0\n", "SYM314"},
		{"inside of FUNC, outside of parent", inFunc + "INLINE 0 5 0 0 2000 4\nINLINE 1 5 0 0 200e 2\n2000 10 1 0\n", "SYM325"},
		{"with another's parent", inFunc + "INLINE 0 5 0 0 2000 4\nINLINE 1 5 0 0 2004 2\nINLINE 0 5 0 0 2004 4\n2000 10 1 0\n", "SYM315"},
	} {
		var ids []string
		for _, f := range lintText(t, c.text).Findings {
			if f.Severity > finding.Note {
				ids = append(ids, f.Rule.ID)
			}
		}
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
