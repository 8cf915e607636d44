package symdiff

import (
	"context"
	"fmt"
	"strings"

	"github.com/symtool/symtool/internal/par"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/vars"
)

// variables is what a file says about variables, as it is compared: without the numbers of types,
// expressions and INLINEs' places, which change with the rest of the file.
type variables struct {
	in     *vars.Info
	types  []typeEntry       // those with a name, sorted
	labels map[uint32]string // names of variables to which expressions refer

	vars  []hash // by VarID; 0: not known yet
	exprs []hash
}

// readVariables reads the variables of both files, where they are wanted.
func (r *Result) readVariables(ctx context.Context) error {
	if !r.Options.On(OnVariables) {
		return nil
	}
	outlines := [...]*Outline{r.Old, r.New}
	infos, err := par.Map(ctx, r.Options.Jobs, len(outlines), func(_ context.Context, _, i int) (*vars.Info, error) {
		o := outlines[i]
		in, err := symfmt.ReadVars(o.Source.reader(0, o.Source.size), o.Source.Name)
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
	v := &variables{in: in, labels: map[uint32]string{}, vars: make([]hash, len(in.Vars)), exprs: make([]hash, len(in.Exprs))}
	for i := range in.Vars {
		if x := &in.Vars[i]; x.Label != 0 && v.labels[x.Label] == "" {
			v.labels[x.Label] = x.Name
		}
	}
	return v
}

// of returns the variables of a function, or nil.
func (v *variables) of(f *funcEntry) *vars.Func {
	if x := v.in.Func(f.RVA); x != nil && x.RVA == f.RVA {
		return x
	}
	return nil
}

// hash returns what all variables of a function say; with places, where in the code they hold, too.
func (v *variables) hash(f *vars.Func, places bool) hash {
	if f == nil {
		return 0
	}
	h := mix(numberSalt, uint64(v.expr(f.FrameBase)))
	if root := f.Tree(v.in); root != nil {
		h = v.block(h, root, places)
	}
	return h
}

func (v *variables) block(h hash, b *vars.Block, places bool) hash {
	h = mix(h, uint64(b.Kind))
	if places {
		h = ranges(h, b.Ranges...)
	}
	for i, id := range v.in.Groups[b.Group] {
		l := &b.Vars[i]
		h = mix(mix(h, uint64(v.variable(id))), uint64(v.expr(l.Whole)))
		for _, e := range l.List {
			if places {
				h = ranges(h, e.Range)
			}
			h = mix(h, uint64(v.expr(e.Expr)))
		}
	}
	for i := range b.Blocks {
		h = v.block(h, &b.Blocks[i], places)
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

func (v *variables) expr(id vars.ExprID) hash {
	if v.exprs[id] == 0 {
		v.exprs[id] = hashString(v.place(id))
	}
	return v.exprs[id]
}

// name returns what a variable is.
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

// maxPlace limits the text of an expression with those that it refers to, in bytes.
const maxPlace = 4 << 10

// place returns an expression as text. Addresses of the module are left out, as they change with it.
func (v *variables) place(id vars.ExprID) string {
	if id == 0 {
		return "optimized out"
	}
	var b strings.Builder
	v.ops(&b, v.in.Exprs[id].Ops(), 8)
	return b.String()
}

func (v *variables) ops(b *strings.Builder, ops []vars.Op, depth int) {
	for i := range ops {
		if b.Len() > maxPlace || depth == 0 {
			b.WriteString("...")
			return
		}
		if i > 0 {
			b.WriteByte(',')
		}
		v.op(b, ops[i], depth)
	}
}

func (v *variables) op(b *strings.Builder, op vars.Op, depth int) {
	typ, label, expr, sub := op.Type, op.Label, op.Expr, op.Sub
	op.Type, op.Label, op.Expr, op.Sub = 0, 0, 0, nil
	switch {
	case op.Code == vars.OpAddr:
		b.WriteString("address")
		return
	case op.Code == vars.OpEntryValue:
		b.WriteString("entry(")
		v.ops(b, sub, depth-1)
		b.WriteByte(')')
		return
	}
	b.WriteString(vars.NewExpr([]vars.Op{op}).String())
	switch {
	case typ != 0:
		b.WriteString("<" + v.in.TypeName(typ) + ">")
	case label != 0:
		b.WriteString("<" + v.labels[label] + ">")
	case expr != 0:
		b.WriteByte('<')
		v.ops(b, v.in.Exprs[expr].Ops(), depth-1)
		b.WriteByte('>')
	}
}

// variables lists the variables of a function.
func (s *side) variables(f *funcEntry, places bool) []item {
	v := s.o.variables
	if v == nil {
		return nil
	}
	fn := v.of(f)
	if fn == nil {
		return nil
	}
	out := s.keep(nil, item{text: "frame base " + v.place(fn.FrameBase)})
	if root := fn.Tree(v.in); root != nil {
		out = s.block(out, root, "", places)
	}
	return out
}

// maxIndent limits how far listings are indented, as blocks are nested as deep as a file wants.
const maxIndent = 32

// block lists the variables of a scope, and of those in it.
func (s *side) block(out []item, b *vars.Block, indent string, places bool) []item {
	v := s.o.variables
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
			text.WriteString(" " + v.place(l.Whole))
		}
		for _, e := range l.List {
			if int64(text.Len()) > s.room {
				break
			}
			text.WriteString(rangesText(places, e.Range) + " " + v.place(e.Expr))
		}
		if out = s.keep(out, item{text: text.String()}); s.room < 0 {
			return nil
		}
	}
	for i := range b.Blocks {
		if out = s.block(out, &b.Blocks[i], indent, places); s.room < 0 {
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
