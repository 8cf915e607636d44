package walk_test

import (
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/internal/walktest"
	"github.com/symtool/symtool/walk/internal/walktest/walks"
	"github.com/symtool/symtool/walk/show"
)

// Variables in registers that XSAVE saves, and behind pointers with tags. The programs' sources have the values; gdb
// shows the same.
func TestVariablesInNotes(t *testing.T) {
	for _, c := range []struct {
		program  string
		function string
		want     map[string]string
	}{
		{"avx", "f", map[string]string{
			"zz": "{2, 3, 4, 5, 6, 7, 8, 9}", "yy": "{2, 4, 6, 8, 10, 12, 14, 16}", "xx": "{4, 5, 6, 7}", "acc": "3", "k": `255 '\xff'`,
		}},
		{"mte", "boom", map[string]string{
			"n": `0xb00000000498f80: {v = 41, name = 0x700000000498fa0 "tagged string", next = 0x0}`,
			"s": `0x700000000498fa0 "tagged string"`,
		}},
	} {
		from := func(ext string) string {
			return walktest.WriteFile(t, c.program+ext, testenv.Gunzip(t, testenv.Shared(t, "data", "found3", "walk", c.program+ext+".gz")))
		}
		r := walks.Dump(t, from(".core"), walks.BinarySources(t, from("")), walk.Config{})
		if got := r.Stacks[0].Frames[0].Function(); got != c.function {
			t.Errorf("%s: in %s, want %s", c.program, got, c.function)
		}
		frame, all := r.Variables(t.Context()).Of(0, 0)
		if frame == nil {
			t.Fatalf("%s: no variables", c.program)
		}
		got := map[string]string{}
		for i := range all[0] {
			got[all[0][i].Name] = show.New(show.Options{}).Text(frame, &all[0][i])
		}
		for name, want := range c.want {
			if got[name] != want {
				t.Errorf("%s: %s = %s, want %s", c.program, name, got[name], want)
			}
		}
	}
}
