package variables

import (
	"fmt"
	"sort"

	"github.com/symtool/symtool/lint/internal/facts"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/vars"
)

// checker checks an Info that was read.
type checker struct {
	*reader
	in    *vars.Info
	lines vars.Lines
	ptr   int

	uses    [vars.UseObject + 1]facts.Bitset // expressions by what they are for
	ofFrame facts.Bitset                     // expressions that need the frame base

	byAddress facts.Sorted[facts.Func]
	fn        function
}

// function is the F record that is being checked.
type function struct {
	*vars.Func
	line     int
	found    bool // its FUNC is in the file
	inlines  int  // of its FUNC
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
			c.scope(root, scope{start: f.RVA, known: true, code: []vars.Range{{Lo: 0, Hi: int64(f.Size)}}})
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

// report reports a finding about the function, one for each rule.
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

// scope is where a scope is. That of an INLINE starts somewhere in the function: what the file says about
// millions of INLINEs is not kept for the few files that have variables.
type scope struct {
	start symfmt.RVA   // what its ranges count from
	known bool         // start is
	code  []vars.Range // of the block, from start; nil: not known
}

// scope checks a scope that is in another.
func (c *checker) scope(b *vars.Block, s scope) {
	switch b.Kind {
	case vars.InlineScope:
		if c.fn.found && b.Inline >= c.fn.inlines {
			c.report(inlines, "variables of INLINE %d of the FUNC at %x, which has %d", b.Inline+1, c.fn.RVA, c.fn.inlines)
		}
		s = scope{}
	case vars.BlockScope:
		s = c.block(b, s)
	}
	for i := range b.Vars {
		l := &b.Vars[i]
		c.place(l.Whole)
		for _, e := range l.List {
			c.inCode("a location", s, e.Range)
			c.place(e.Expr)
		}
	}
	for i := range b.Blocks {
		c.scope(&b.Blocks[i], s)
	}
}

// place notes that an expression says where a variable of the function is.
func (c *checker) place(e vars.ExprID) {
	c.use(e, vars.UsePlace)
	if c.fn.FrameBase == 0 && c.ofFrame.Has(uint32(e)) {
		c.report(badExpr, "expression %x needs the frame base of the function at %x, which has none", e, c.fn.RVA)
	}
}

// block checks the ranges of a block.
func (c *checker) block(b *vars.Block, s scope) scope {
	for _, r := range b.Ranges {
		c.inCode("a block", s, r)
		if s.code != nil && !covers(s.code, r) && c.inFunc(s, r) {
			c.report(stray, "block %s outside the scope around it", s.text(r))
		}
	}
	if len(b.Ranges) == 0 {
		return s
	}
	first := b.Ranges[0].Lo
	in := scope{start: s.start + symfmt.RVA(first), known: s.known, code: make([]vars.Range, len(b.Ranges))}
	for i, r := range b.Ranges {
		in.code[i] = vars.Range{Lo: r.Lo - first, Hi: r.Hi - first}
	}
	return in
}

// covers reports whether a range is within sorted ranges, of which neighbours may touch.
func covers(all []vars.Range, r vars.Range) bool {
	at := r.Lo
	for _, x := range all {
		if x.Lo <= at && at < x.Hi {
			at = x.Hi
		}
	}
	return at >= r.Hi
}

// text returns a range of the scope for messages.
func (s scope) text(r vars.Range) string {
	if s.known {
		return fmt.Sprintf("[%x, %x)", s.start+symfmt.RVA(r.Lo), s.start+symfmt.RVA(r.Hi))
	}
	return fmt.Sprintf("[%x, %x) of an INLINE", r.Lo, r.Hi)
}

// inFunc reports whether a range of a scope is, or may be, in the function.
func (c *checker) inFunc(s scope, r vars.Range) bool {
	if !s.known { // the scope starts at one of the function's bytes
		return r.Lo > -int64(c.fn.Size) && r.Hi <= int64(c.fn.Size)
	}
	from := int64(s.start - c.fn.RVA)
	return from+r.Lo >= 0 && uint64(from+r.Hi) <= c.fn.Size
}

func (c *checker) inCode(what string, s scope, r vars.Range) {
	if !c.inFunc(s, r) {
		c.report(outside, "%s at %s outside the function [%x, %x)", what, s.text(r), c.fn.RVA, c.fn.RVA+symfmt.RVA(c.fn.Size))
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
