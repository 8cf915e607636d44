package symdiff

import (
	"context"
	"fmt"
	"strings"

	"github.com/symtool/symtool/internal/par"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/vars"
)

// variables holds a file's variables in the form in which they are compared: without the numbers
// of types and expressions and the places of INLINEs, which change with the rest of the file.
type variables struct {
	in    *vars.Info
	types []typeEntry // those with a name, sorted

	vars  []hash // by VarID; 0 if not yet known
	exprs []hash // by ExprID, for those that refer to no variable
}

// labels are the names of the variables to which expressions in a scope may refer; for each label, the
// innermost is last. Labels repeat in the units of a file, so the scope decides which variable one means.
type labels map[uint32][]string

// enter adds the variables of a scope, and leave removes them.
func (v *variables) enter(in labels, scope vars.GroupID) {
	for _, id := range v.in.Groups[scope] {
		if x := &v.in.Vars[id]; x.Label != 0 {
			in[x.Label] = append(in[x.Label], x.Name)
		}
	}
}

func (v *variables) leave(in labels, scope vars.GroupID) {
	for _, id := range v.in.Groups[scope] {
		if x := &v.in.Vars[id]; x.Label != 0 {
			in[x.Label] = in[x.Label][:len(in[x.Label])-1]
		}
	}
}

// readVariables reads the variables of both files, if they are compared.
func (r *Result) readVariables(ctx context.Context) error {
	if !r.Options.On(OnVariables) {
		return nil
	}
	outlines := [...]*Outline{r.Old, r.New}
	infos, err := par.Map(ctx, r.Options.Jobs, len(outlines), func(_ context.Context, _, i int) (*vars.Info, error) {
		o := outlines[i]
		in, err := o.Source.readVars()
		if err == nil && in.Vars == nil {
			o.Problems = append(o.Problems, in.Problems...)
			in, err = symfmt.ReadVarsBeside(o.Source.Name, o.ID)
		}
		if err != nil {
			return nil, err
		}
		o.Problems = append(o.Problems, in.Problems...)
		return in.Vars, nil
	})
	if err != nil {
		return err
	}
	full := true // types are compared with their members, if both files have them
	for i, in := range infos {
		if in == nil {
			in = &vars.Info{Types: make([]vars.Type, 1), Vars: make([]vars.Variable, 1), Exprs: make([]vars.Expr, 1), Groups: make([][]vars.VarID, 1), FullTypes: true}
		}
		full = full && in.FullTypes
		outlines[i].variables = newVariables(in)
	}
	for _, o := range outlines {
		o.variables.listTypes(full)
	}
	return nil
}

func newVariables(in *vars.Info) *variables {
	return &variables{in: in, vars: make([]hash, len(in.Vars)), exprs: make([]hash, len(in.Exprs))}
}

// of returns the variables of a function, or nil.
func (v *variables) of(f *funcEntry) *vars.Func {
	if x := v.in.Func(f.RVA); x != nil && x.RVA == f.RVA {
		return x
	}
	return nil
}

// hash returns a hash of all variables of a function, including, if places is set, where in the code they
// hold.
func (v *variables) hash(f *vars.Func, places bool) hash {
	if f == nil {
		return 0
	}
	in, root := labels{}, f.Tree(v.in)
	if root == nil {
		return mix(numberSalt, uint64(v.expr(f.FrameBase, in)))
	}
	v.enter(in, root.Group) // a frame base may be a variable of the function
	h := mix(numberSalt, uint64(v.expr(f.FrameBase, in)))
	v.leave(in, root.Group)
	return v.block(h, root, in, places)
}

func (v *variables) block(h hash, b *vars.Block, in labels, places bool) hash {
	v.enter(in, b.Group)
	defer v.leave(in, b.Group)
	h = mix(h, uint64(b.Kind))
	if places {
		h = ranges(h, b.Ranges...)
	}
	for i, id := range v.in.Groups[b.Group] {
		l := &b.Vars[i]
		h = mix(mix(h, uint64(v.variable(id))), uint64(v.expr(l.Whole, in)))
		for _, e := range l.List {
			if places {
				h = ranges(h, e.Range)
			}
			h = mix(h, uint64(v.expr(e.Expr, in)))
		}
	}
	for i := range b.Blocks {
		h = v.block(h, &b.Blocks[i], in, places)
	}
	return mix(h, uint64(len(b.Blocks)))
}

func ranges(h hash, list ...vars.Range) hash {
	for _, r := range list {
		h = mix(mix(h, uint64(r.Lo)), uint64(r.Hi))
	}
	return h
}

func (v *variables) variable(id vars.VarID) hash {
	if v.vars[id] == 0 {
		v.vars[id] = hashString(v.name(id))
	}
	return v.vars[id]
}

func (v *variables) expr(id vars.ExprID, in labels) hash {
	if h := v.exprs[id]; h != 0 {
		return h
	}
	text, scoped := v.place(id, in)
	h := hashString(text)
	if !scoped {
		v.exprs[id] = h
	}
	return h
}

// name describes a variable.
func (v *variables) name(id vars.VarID) string {
	x := &v.in.Vars[id]
	kind := "local"
	if x.Param {
		kind = "parameter"
	}
	name := x.Name
	if name == "" {
		name = "(made by the compiler)"
	}
	return kind + " " + name + " (" + v.in.TypeName(x.Type) + ")"
}

// maxPlace limits the text of an expression and those that it refers to, in bytes.
const maxPlace = 4 << 10

// place returns an expression as text, and whether it refers to variables in scope. Addresses in the module are
// left out, because they change with it.
func (v *variables) place(id vars.ExprID, in labels) (text string, scoped bool) {
	if id == 0 {
		return "optimized out", false
	}
	p := placePrinter{v: v, in: in}
	p.ops(v.in.Exprs[id].Ops(), 8)
	return p.b.String(), p.scoped
}

type placePrinter struct {
	v      *variables
	in     labels
	b      strings.Builder
	scoped bool // a label was printed
}

func (p *placePrinter) ops(ops []vars.Op, depth int) {
	for i := range ops {
		if p.b.Len() > maxPlace || depth == 0 {
			p.b.WriteString("...")
			return
		}
		if i > 0 {
			p.b.WriteByte(',')
		}
		p.op(ops[i], depth)
	}
}

func (p *placePrinter) op(op vars.Op, depth int) {
	typ, label, expr, sub := op.Type, op.Label, op.Expr, op.Sub
	op.Type, op.Label, op.Expr, op.Sub = 0, 0, 0, nil
	switch {
	case op.Code == vars.OpAddr:
		p.b.WriteString("address")
		return
	case op.Code == vars.OpEntryValue:
		p.b.WriteString("entry(")
		p.ops(sub, depth-1)
		p.b.WriteByte(')')
		return
	}
	p.b.WriteString(vars.NewExpr([]vars.Op{op}).String())
	switch {
	case typ != 0:
		p.b.WriteString("<" + p.v.in.TypeName(typ) + ">")
	case label != 0:
		p.label(label)
	case expr != 0:
		p.b.WriteByte('<')
		p.ops(p.v.in.Exprs[expr].Ops(), depth-1)
		p.b.WriteByte('>')
	}
}

func (p *placePrinter) label(label uint32) {
	p.scoped = true
	name := ""
	if names := p.in[label]; len(names) > 0 {
		name = names[len(names)-1]
	}
	p.b.WriteString("<" + name + ">")
}

// variables lists the variables of a function.
func (s *textCursor) variables(f *funcEntry, places bool) []item {
	v := s.o.variables
	if v == nil {
		return nil
	}
	fn := v.of(f)
	if fn == nil {
		return nil
	}
	base, _ := v.place(fn.FrameBase, nil)
	out := s.keep(nil, item{text: "frame base " + base})
	if root := fn.Tree(v.in); root != nil {
		out = s.block(out, root, labels{}, "", places)
	}
	return out
}

// maxIndent limits how far listings are indented: a file may nest blocks to any depth.
const maxIndent = 32

// block lists the variables of a scope and of the scopes in it.
func (s *textCursor) block(out []item, b *vars.Block, in labels, indent string, places bool) []item {
	v := s.o.variables
	v.enter(in, b.Group)
	defer v.leave(in, b.Group)
	switch b.Kind {
	case vars.InlineScope:
		out = s.keep(out, item{text: fmt.Sprintf("%sINLINE %d", indent, b.Inline+1)})
	case vars.BlockScope:
		out = s.keep(out, item{text: indent + "block" + rangesText(places, b.Ranges...)})
	}
	if b.Kind != vars.FuncScope && len(indent) < maxIndent {
		indent += "  "
	}
	for i, id := range v.in.Groups[b.Group] {
		l := &b.Vars[i]
		var text strings.Builder
		text.WriteString(indent + v.name(id) + ":")
		if l.Whole != 0 || len(l.List) == 0 {
			place, _ := v.place(l.Whole, in)
			text.WriteString(" " + place)
		}
		for _, e := range l.List {
			if int64(text.Len()) > s.room {
				break
			}
			place, _ := v.place(e.Expr, in)
			text.WriteString(rangesText(places, e.Range) + " " + place)
		}
		if out = s.keep(out, item{text: text.String()}); s.room < 0 {
			return nil
		}
	}
	for i := range b.Blocks {
		if out = s.block(out, &b.Blocks[i], in, indent, places); s.room < 0 {
			return nil
		}
	}
	return out
}

func rangesText(places bool, list ...vars.Range) string {
	var b strings.Builder
	for _, r := range list {
		if places {
			fmt.Fprintf(&b, " +%x..+%x", r.Lo, r.Hi)
		}
	}
	return b.String()
}
