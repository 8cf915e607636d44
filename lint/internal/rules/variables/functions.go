package variables

import (
	"fmt"
	"sort"

	"github.com/symtool/symtool/lint/internal/facts"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/vars"
)

// checker checks the variables that reader has read.
type checker struct {
	*reader
	in    *vars.Info
	lines vars.Lines
	ptr   int

	uses    [vars.UseObject + 1]facts.Bitset // expressions, by their use
	ofFrame facts.Bitset                     // expressions that need the frame base

	byAddress facts.Sorted[facts.Func]
	fn        function
}

// function is the F record that is being checked.
type function struct {
	*vars.Func
	line     int
	found    bool // its FUNC is in the file
	inlines  int  // number of INLINEs of its FUNC
	reported map[string]bool
}

func newChecker(r *reader, in *vars.Info) *checker {
	c := &checker{reader: r, in: in, lines: r.parser.Lines(), ptr: 8, byAddress: r.p.FuncsByRVA()}
	if r.p.Arch != nil {
		c.ptr = r.p.Arch.PtrSize
	}
	for i, e := range in.Exprs {
		for _, op := range e.Ops() {
			if op.Code == vars.OpFbreg {
				c.ofFrame.Set(uint32(i))
			}
		}
	}
	return c
}

func (c *checker) use(e vars.ExprID, as vars.Use) {
	if e != 0 {
		c.uses[as].Set(uint32(e))
	}
}

// functions checks the F records.
func (c *checker) functions() {
	for i := range c.in.Funcs {
		f := &c.in.Funcs[i]
		c.fn = function{Func: f, line: c.lines.Funcs[i]}
		if c.p.Functions.Len() > 0 {
			c.find()
		}
		c.use(f.FrameBase, vars.UseNumber)
		if root := f.Tree(c.in); root != nil {
			c.scope(root, []vars.Range{{Lo: 0, Hi: int64(f.Size)}})
		}
		c.sites()
	}
}

// find looks for the FUNC of an F record.
func (c *checker) find() {
	f := c.fn.Func
	all := c.byAddress
	i := sort.Search(all.Len(), func(i int) bool { return all.At(i).RVA >= f.RVA })
	for n := 0; n < facts.MaxShared && i < all.Len() && all.At(i).RVA == f.RVA; n, i = n+1, i+1 {
		if all.At(i).Size == f.Size {
			c.fn.found = true
			c.fn.inlines = int(*c.inlines.At(all.Index(i)))
			return
		}
	}
	c.report(noFunc, "variables of %#x bytes at %x, want a FUNC of this address and size", f.Size, f.RVA)
}

// report reports a finding about the function, at most one for each rule.
func (c *checker) report(rule string, format string, args ...any) {
	if c.fn.reported[rule] {
		return
	}
	if c.fn.reported == nil {
		c.fn.reported = map[string]bool{}
	}
	c.fn.reported[rule] = true
	c.p.As(rule, func() { c.p.ReportAt(c.fn.line, c.fn.RVA, "%s", fmt.Sprintf(format, args...)) })
}

// scope checks a nested scope. code has the ranges of the scope around it, or is nil if that is an INLINE: the
// ranges of millions of INLINEs are not kept for the few files that have variables.
func (c *checker) scope(b *vars.Block, code []vars.Range) {
	switch b.Kind {
	case vars.InlineScope:
		if c.fn.found && b.Inline >= c.fn.inlines {
			c.report(inlines, "variables of INLINE %d of the FUNC at %x, which has %d", b.Inline+1, c.fn.RVA, c.fn.inlines)
		}
		code = nil
	case vars.BlockScope:
		c.block(b, code)
		code = b.Ranges
	}
	for i := range b.Vars {
		l := &b.Vars[i]
		c.place(l.Whole)
		for _, e := range l.List {
			c.inCode("a location", e.Range)
			c.place(e.Expr)
		}
	}
	for i := range b.Blocks {
		c.scope(&b.Blocks[i], code)
	}
}

// place records that an expression gives the location of a variable of the function.
func (c *checker) place(e vars.ExprID) {
	c.use(e, vars.UsePlace)
	if c.fn.FrameBase == 0 && c.ofFrame.Has(uint32(e)) {
		c.report(badExpr, "expression %x needs the frame base of the function at %x, which has none", e, c.fn.RVA)
	}
}

// block checks that the ranges of a block are inside code.
func (c *checker) block(b *vars.Block, code []vars.Range) {
	for _, r := range b.Ranges {
		c.inCode("a block", r)
		if code != nil && !covers(code, r) && c.inFunc(r) {
			c.report(stray, "block %s outside the scope around it", c.text(r))
		}
	}
}

// covers reports whether r lies within the sorted ranges in all. Neighbours may touch.
func covers(all []vars.Range, r vars.Range) bool {
	at := r.Lo
	for _, x := range all {
		if x.Lo <= at && at < x.Hi {
			at = x.Hi
		}
	}
	return at >= r.Hi
}

// text returns a range for messages.
func (c *checker) text(r vars.Range) string {
	return fmt.Sprintf("[%x, %x)", c.fn.RVA+symfmt.RVA(r.Lo), c.fn.RVA+symfmt.RVA(r.Hi))
}

// inFunc reports whether a range is in the function.
func (c *checker) inFunc(r vars.Range) bool { return uint64(r.Hi) <= c.fn.Size }

func (c *checker) inCode(what string, r vars.Range) {
	if !c.inFunc(r) {
		c.report(outside, "%s at %s outside the function [%x, %x)", what, c.text(r), c.fn.RVA, c.fn.RVA+symfmt.RVA(c.fn.Size))
	}
}

// sites checks the calls of the function.
func (c *checker) sites() {
	for s := range c.fn.CallSites() {
		if uint64(s.Return-c.fn.RVA) > c.fn.Size || s.Return == c.fn.RVA {
			c.report(outside, "a call that returns to %x outside the function [%x, %x)", s.Return, c.fn.RVA, c.fn.RVA+symfmt.RVA(c.fn.Size))
		}
		c.use(s.TargetAt, vars.UseNumber)
		for _, p := range s.Params {
			c.use(p.Location, vars.UsePlace)
			c.use(p.Value, vars.UseNumber)
		}
	}
}
