package resolve

import (
	"context"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt"
)

const damageHead = "MODULE Linux x86_64 D3096ED481217FD4C16B29CD9BC208BA0 m\nFILE 0 a\nINLINE_ORIGIN 0 o\n"

// The index reports orphaned records as symfmt.Read does, in the same words.
func TestOrphans(t *testing.T) {
	for name, text := range map[string]string{
		"line":              "1000 4 3 0\nFUNC 1000 10 0 f\n1000 10 1 0\n",
		"lines and INLINE":  "1000 4 3 0\n\n \t\r\nINLINE 0 1 0 0 1000 4\n1004 4 3 0\nFUNC 1000 10 0 f\n1000 10 1 0\n",
		"after blanks":      " 1000 4 3 0\nFUNC 1000 10 0 f\n",
		"INLINE, then line": "INLINE 0 1 0 0 1000 4\n1000 4 3 0\n",
		"nothing but it":    "1000 4 3 0\n",
		"row":               "STACK CFI 1000 .cfa: $rsp 8 +\nSTACK CFI INIT 1000 10 .cfa: $rsp 8 +\nSTACK CFI 1001 .cfa: $rsp 16 +\n",
		"rows":              "FUNC 1000 10 0 f\nSTACK CFI 1000 .cfa: $rsp 8 +\nSTACK CFI 1001 .cfa: $rsp 8 +\n",
		"lost FUNC":         "FUNC 1000 10 0 f\n1000 10 1 0\nFUNC 2000 zz 0 g\n2000 8 3 0\n2008 8 2 0\nPUBLIC 3000 0 p\n2010 8 2 0\nFUNC 4000 10 0 h\n4000 10 1 0\n",
		"lost FUNC alone":   "FUNC 2000 zz 0 g\nFUNC 2000 zz 0 g\n2000 8 3 0\n",
		"lost INIT":         "STACK CFI INIT 1000 zz .cfa: $rsp 8 +\nSTACK CFI 1004 .cfa: $rsp 8 +\nSTACK CFI INIT 2000 10 .cfa: $rsp 8 +\nSTACK CFI 2004 .cfa: $rsp 16 +\n",
		"sound":             "FUNC 1000 10 0 f\nPUBLIC 2000 0 p\n1000 10 1 0\nSTACK CFI INIT 1000 10 .cfa: $rsp 8 +\nPUBLIC 3000 0 p\nSTACK CFI 1004 .cfa: $rsp 16 +\n",
	} {
		t.Run(name, func(t *testing.T) {
			text = damageHead + text
			result, err := symfmt.Read(context.Background(), strings.NewReader(text), symfmt.ReadOptions{File: "test.sym", Tolerant: true})
			if err != nil {
				t.Fatal(err)
			}
			report := result.Report
			r, err := openBytes([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			var got, want []string
			for _, p := range r.Damage() {
				got = append(got, p.String())
			}
			for _, p := range report.Problems {
				want = append(want, p.String())
			}
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("%q\nwant\n%q", got, want)
			}
			if name != "sound" && len(got) == 0 {
				t.Error("no problem")
			}
		})
	}
}

// Bad records of a function are reported when an address in it is first asked for, once.
func TestDamageInFunction(t *testing.T) {
	r, err := openBytes([]byte(damageHead + "FUNC 1000 10 0 f\n1000 10 1 0\nFUNC 2000 10 0 g\n2000 8 q 0\n2008 8 2 0\nINLINE 0 x 0 0 2000 4\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := show(t, r, 0x1000); got != "f a:1" {
		t.Errorf("%s, %v", got, r.Damage())
	}
	found := len(r.Damage()) // the INLINE, which the index parses
	for range 2 {
		if got := show(t, r, 0x2008); got != "g a:2" {
			t.Error(got)
		}
	}
	all := r.Damage()
	if len(all) != found+1 {
		t.Fatalf("%v, want %d problems", all, found+1)
	}
	if got, want := all[found].String(), `test.sym: offset 0x81: line record: line "q": want decimal digits`; !strings.HasPrefix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
}
