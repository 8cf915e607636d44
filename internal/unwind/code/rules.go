package code

import (
	"slices"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/cfi"
)

// ruleKind is a kind of rule.
type ruleKind uint8

const (
	same   ruleKind = iota // the register has the caller's value
	undef                  // the value is not known
	sum                    // register reg plus off
	loaded                 // the word at register reg plus off
)

// rule is the rule of a register, or of the CFA. plus is added to a word that is loaded.
type rule struct {
	off, plus int64
	reg       uint8
	kind      ruleKind
}

// byCFA stands for the CFA where a rule has a register.
const byCFA = 255

// row has the rules at an instruction.
type row struct {
	cfa, ra rule
	saved   []rule
	marks   symfmt.CFIMarks
}

func (r *row) equal(o *row) bool {
	return r.cfa == o.cfa && r.ra == o.ra && r.marks == o.marks && slices.Equal(r.saved, o.saved)
}

// row sets r to the rules in a state, and reports whether they are known.
func (c *cpu) row(s *state, r *row) bool {
	r.cfa, r.saved = c.cfaRule(s), r.saved[:0]
	r.ra, r.marks = c.returnRule(s)
	if r.cfa.kind == undef || r.ra.kind == undef {
		return false
	}
	for _, reg := range c.saved {
		r.saved = append(r.saved, c.savedRule(s, reg, initially(reg)))
	}
	return true
}

// based returns the register with an address in the stack of a kind.
func (c *cpu) based(s *state, b base) (reg uint8, off int64, ok bool) {
	for _, reg := range c.bases {
		if v := s.regs[reg]; v.base == b {
			return reg, v.off, true
		}
	}
	return 0, 0, false
}

// cfaRule returns the rule of the CFA.
func (c *cpu) cfaRule(s *state) rule {
	if reg, off, ok := c.based(s, cfa); ok {
		return rule{kind: sum, reg: reg, off: -off}
	}
	reg, off, ok := c.based(s, aligned)
	for _, k := range s.slots {
		if ok && k.place.base == aligned && k.value.base == cfa {
			return rule{kind: loaded, reg: reg, off: k.place.off - off, plus: -k.value.off}
		}
	}
	return rule{kind: undef}
}

// returnRule returns the rule of the return address, and marks if it is signed.
func (c *cpu) returnRule(s *state) (r rule, m symfmt.CFIMarks) {
	if len(c.entry.slots) > 0 {
		if c.hasReturn(s) {
			return rule{kind: loaded, reg: byCFA, off: c.entry.slots[0].place.off}, 0
		}
		return rule{kind: undef}, 0
	}
	v := initially(c.ra)
	for _, m := range [...]symfmt.CFIMarks{0, keyA: symfmt.MarkSigned, keyB: symfmt.MarkSigned | symfmt.MarkKeyB} {
		if r = c.stackRule(s, v); r.kind != undef {
			return r, m
		}
		if r = c.savedRule(s, c.ra, v); r.kind != undef {
			return r, m
		}
		v.n++
	}
	return r, 0
}

// stackRule returns the rule of a value that is on the stack, not below the stack pointer. There, a return address outlives
// the calls of a function, at which it may still be in its register, too.
func (c *cpu) stackRule(s *state, want value) (r rule) {
	r.kind = undef
	sp := s.regs[c.sp]
	for _, k := range s.slots {
		if k.value == want && k.place.base == cfa && (sp.base != cfa || k.place.off >= sp.off) {
			r = rule{kind: loaded, reg: byCFA, off: k.place.off}
		}
	}
	return r
}

// savedRule returns the rule of a register that functions must restore, whose value is wanted.
func (c *cpu) savedRule(s *state, reg uint8, want value) rule {
	if s.regs[reg] == want {
		return rule{kind: same}
	}
	r := rule{kind: undef}
	for _, k := range s.slots { // the highest place is the one that a prologue uses
		if k.value != want {
			continue
		}
		if k.place.base == cfa {
			r = rule{kind: loaded, reg: byCFA, off: k.place.off}
		} else if by, off, ok := c.based(s, aligned); ok {
			r = rule{kind: loaded, reg: by, off: k.place.off - off}
		}
	}
	if r.kind == undef {
		for _, by := range c.bases {
			if s.regs[by] == want {
				return rule{kind: sum, reg: by}
			}
		}
	}
	return r
}

// writer writes rows as blocks of STACK CFI.
type writer struct {
	t     *symfmt.CFITable
	in    *input
	base  uint64 // the address of RVA 0
	names *cfi.Names
	build cfi.Builder
	regs  [maxRegs]cfi.Reg
	set   cfi.Rules

	open bool
	now  row    // in force
	new  row    // of the current instruction
	hi   uint64 // the end of the last instruction that now is for
}

// appendRules adds to a table the rules of code that it does not describe. base is the address of RVA 0. The table's blocks
// are not in order afterwards.
func appendRules(t *symfmt.CFITable, in *input, base uint64) (n Derived) {
	w := &writer{t: t, in: in, base: base, names: t.Rules.Names()}
	w.build = w.names.Builder()
	a := w.names.Arch()
	for i := range w.regs {
		if name, ok := a.RegName(in.cpu.dwarf(uint8(i))); ok {
			w.regs[i] = w.names.Lookup(name)
		}
	}
	first := len(t.Blocks)
	e := followAll(in)
	e.each(w.instruction)
	w.close()
	for _, b := range t.Blocks[first:] {
		n.Size += b.Size
	}
	if e.over {
		n.Limit = maxSize
	}
	return n
}

// instruction takes the state before the instruction in [lo, hi).
func (w *writer) instruction(lo, hi uint64, s *state) {
	if lo = max(lo, w.hi); lo >= hi {
		return // in the middle of another instruction, which has a prefix
	}
	if w.open && lo > w.hi && !w.padding(w.hi, lo) || w.in.starts(lo) && !w.in.stub(lo) {
		w.close()
	}
	known := w.in.cpu.row(s, &w.new)
	switch {
	case !known:
		w.close()
	case !w.open:
		id := w.rules(&w.new, nil)
		w.t.Blocks = append(w.t.Blocks, symfmt.CFIBlock{RVA: symfmt.RVA(lo - w.base), Init: id, First: uint32(len(w.t.Rows)), Marks: w.new.marks | symfmt.MarkCode})
		w.open = true
	case !w.new.equal(&w.now):
		w.t.Rows = append(w.t.Rows, symfmt.CFIRow{RVA: symfmt.RVA(lo - w.base), Rules: w.rules(&w.new, &w.now), Marks: w.new.marks | symfmt.MarkCode})
		w.t.Blocks[len(w.t.Blocks)-1].Count++
	}
	w.now, w.new, w.hi = w.new, w.now, hi
}

// padding reports whether all of [lo, hi) is padding.
func (w *writer) padding(lo, hi uint64) bool {
	const longest = 64
	part, off, ok := w.in.part(lo)
	if code := w.in.parts[part].bytes; ok && hi-lo < longest && hi-lo <= uint64(len(code)-off) {
		code = code[off:][:hi-lo]
		for n := 1; n > 0 && len(code) > 0; code = code[n:] {
			n = w.in.cpu.skip(code)
		}
		return len(code) == 0
	}
	return false
}

// close ends the block, if there is one.
func (w *writer) close() {
	if w.open {
		b := &w.t.Blocks[len(w.t.Blocks)-1]
		b.Size = w.hi - w.base - uint64(b.RVA)
		// A function has one key.
		rows := w.t.Rows[b.First:][:b.Count]
		if slices.ContainsFunc(rows, func(r symfmt.CFIRow) bool { return r.Marks&symfmt.MarkKeyB != 0 }) {
			b.Marks |= symfmt.MarkKeyB
			for i := range rows {
				rows[i].Marks |= symfmt.MarkKeyB
			}
		}
		w.open = false
	}
}

// rules returns the number of the rules that differ from those of the row before, or of all.
func (w *writer) rules(r, was *row) symfmt.RuleID {
	w.set = w.set[:0]
	if was == nil || r.cfa != was.cfa {
		w.set = append(w.set, cfi.Rule{Reg: cfi.CFA, Expr: w.expr(&r.cfa, cfi.CFA)})
	}
	if was == nil || r.ra != was.ra {
		w.set = append(w.set, cfi.Rule{Reg: cfi.RA, Expr: w.expr(&r.ra, w.regs[w.in.cpu.ra])})
	}
	for i, reg := range w.in.cpu.saved {
		if now := &r.saved[i]; was == nil && now.kind != same || was != nil && *now != was.saved[i] {
			w.set = append(w.set, cfi.Rule{Reg: w.regs[reg], Expr: w.expr(now, w.regs[reg])})
		}
	}
	return w.t.Rules.Add(w.set)
}

// expr returns the expression of the rule of a register.
func (w *writer) expr(r *rule, of cfi.Reg) cfi.Expr {
	reg := cfi.CFA
	if r.reg != byCFA {
		reg = w.regs[r.reg]
	}
	switch {
	case r.kind == same:
		w.build.Value(of)
	case r.kind == undef:
		return w.names.Undef()
	case r.kind == sum && r.off == 0 && of != cfi.CFA:
		w.build.Value(reg)
	default:
		w.build.Sum(reg, r.off)
	}
	if r.kind == loaded {
		w.build.Apply('^')
		if r.plus != 0 {
			w.build.Const(uint64(r.plus))
			w.build.Apply('+')
		}
	}
	return w.build.Expr()
}
