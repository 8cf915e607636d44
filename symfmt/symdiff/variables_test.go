package symdiff

import (
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt/vars"
)

// labelled returns two functions, each with a parameter that has label 1, and a block with an implicit pointer
// to whatever label 1 is. The variables are numbered in the order of names.
func labelled(names ...string) *vars.Info {
	in := &vars.Info{
		Types:  []vars.Type{{}, {Name: "int"}},
		Vars:   make([]vars.Variable, 1),
		Exprs:  make([]vars.Expr, 3),
		Groups: [][]vars.VarID{nil},
	}
	in.Exprs[1] = vars.NewExpr([]vars.Op{{Code: vars.OpImplicitPointer, Label: 1}})
	in.Exprs[2] = vars.NewExpr([]vars.Op{{Code: vars.OpReg, Reg: 5}})
	pointer := vars.VarID(len(names) + 1)
	for i, name := range names {
		in.Vars = append(in.Vars, vars.Variable{Name: name, Type: 1, Param: true, Label: 1})
		in.Groups = append(in.Groups, []vars.VarID{vars.VarID(i + 1)})
	}
	in.Vars = append(in.Vars, vars.Variable{Name: "p", Type: 1})
	in.Groups = append(in.Groups, []vars.VarID{pointer})
	for i, name := range []string{"a", "b"} {
		var group vars.GroupID
		for k := range names {
			if names[k] == name {
				group = vars.GroupID(k + 1)
			}
		}
		rva := vars.RVA(0x100 * (i + 1))
		var b vars.Builder
		b.Reset(rva)
		b.Func(group)
		b.Location(&vars.Location{Whole: 2})
		b.Block([]vars.Range{{Hi: 16}}, vars.GroupID(pointer))
		b.Location(&vars.Location{Whole: 1})
		b.End()
		b.End()
		in.Funcs = append(in.Funcs, vars.Func{RVA: rva, Size: 16, Body: b.Finish()})
	}
	return in
}

// Labels repeat in a file: the scope of an expression, not their order, decides which variable a label
// means.
func TestLabels(t *testing.T) {
	one, other := newVariables(labelled("a", "b")), newVariables(labelled("b", "a"))
	for i, want := range []string{"a", "b"} {
		f, g := &one.in.Funcs[i], &other.in.Funcs[i]
		if one.hash(f, true) != other.hash(g, true) {
			t.Errorf("function %d differs, although only the order of variables does", i)
		}
		s := &textCursor{o: &Outline{variables: one}, room: 1 << 20}
		var lines []string
		for _, x := range s.variables(&funcEntry{RVA: f.RVA}, true) {
			lines = append(lines, x.text)
		}
		if got := strings.Join(lines, "\n"); !strings.Contains(got, "<"+want+">") {
			t.Errorf("function %d: got\n%s\nwant <%s>", i, got, want)
		}
	}
	if f := one.in.Funcs; one.hash(&f[0], true) == one.hash(&f[1], true) {
		t.Error("pointers to variables with the same label are the same, want them to differ by name")
	}
}
