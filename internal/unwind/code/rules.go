package code

import (
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
	reg       int8
	kind      ruleKind
}

// byCFA stands for the CFA where a rule has a register.
const byCFA = -1

// row has the rules at an instruction.
type row struct {
	cfa   rule
	saved [len(savedAMD64)]rule
}

// row returns the rules in a state, if they are known.
func (s *state) row() (r row, ok bool) {
	if r.cfa = s.cfaRule(); r.cfa.kind == undef || !s.hasReturn() {
		return r, false
	}
	for i, reg := range savedAMD64 {
		r.saved[i] = s.savedRule(reg)
	}
	return r, true
}

// bases are the registers that a rule may be based on, by preference.
var bases = [...]int8{amdSP, amdBP, amdBX, 12, 13, 14, 15, 10, 11, amdAX, 8, 9}

// based returns the register with an address in the stack of a kind.
func (s *state) based(b base) (reg int8, off int64, ok bool) {
	for _, reg := range bases {
		if v := s.regs[reg]; v.base == b {
			return reg, v.off, true
		}
	}
	return 0, 0, false
}

// cfaRule returns the rule of the CFA.
func (s *state) cfaRule() rule {
	if reg, off, ok := s.based(cfa); ok {
		return rule{kind: sum, reg: reg, off: -off}
	}
	reg, off, ok := s.based(aligned)
	for _, k := range s.slots {
		if ok && k.place.base == aligned && k.value.base == cfa {
			return rule{kind: loaded, reg: reg, off: k.place.off - off, plus: -k.value.off}
		}
	}
	return rule{kind: undef}
}

// savedRule returns the rule of a register that functions must restore.
func (s *state) savedRule(reg uint8) rule {
	want := value{base: initial, off: int64(reg)}
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
		} else if by, off, ok := s.based(aligned); ok {
			r = rule{kind: loaded, reg: by, off: k.place.off - off}
		}
	}
	if r.kind == undef {
		for _, by := range bases {
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
	regs  [16]cfi.Reg // by DWARF number
	set   cfi.Rules

	open bool
	now  row    // in force
	hi   uint64 // the end of its last instruction
}

// appendRules adds to a table the rules of code that it does not describe, and returns the number of bytes that have rules
// now. base is the address of RVA 0. The table's blocks are not in order afterwards.
func appendRules(t *symfmt.CFITable, in *input, base uint64) (size uint64) {
	w := &writer{t: t, in: in, base: base, names: t.Rules.Names()}
	w.build = w.names.Builder()
	a := w.names.Arch()
	for i := range w.regs {
		if name, ok := a.RegName(uint64(i)); ok {
			w.regs[i] = w.names.Lookup(name)
		}
	}
	first := len(t.Blocks)
	followAll(in, w.instruction)
	w.close()
	for _, b := range t.Blocks[first:] {
		size += b.Size
	}
	return size
}

// instruction takes the state before the instruction in [lo, hi).
func (w *writer) instruction(lo, hi uint64, s *state) {
	r, ok := s.row()
	if lo = max(lo, w.hi); lo >= hi {
		return // in the middle of another instruction, which has a prefix
	}
	if w.open && lo > w.hi && !w.padding(w.hi, lo) || w.in.starts(lo) {
		w.close()
	}
	switch {
	case !ok:
		w.close()
	case !w.open:
		id := w.rules(&r, nil)
		w.t.Blocks = append(w.t.Blocks, symfmt.CFIBlock{RVA: symfmt.RVA(lo - w.base), Init: id, First: uint32(len(w.t.Rows))})
		w.open = true
	case r != w.now:
		w.t.Rows = append(w.t.Rows, symfmt.CFIRow{RVA: symfmt.RVA(lo - w.base), Rules: w.rules(&r, &w.now)})
		w.t.Blocks[len(w.t.Blocks)-1].Count++
	}
	w.now, w.hi = r, hi
}

// padding reports whether all of [lo, hi) is padding.
func (w *writer) padding(lo, hi uint64) bool {
	const longest = 64
	part, off, ok := w.in.part(lo)
	if code := w.in.parts[part].bytes; ok && hi-lo < longest && hi-lo <= uint64(len(code)-off) {
		code = code[off:][:hi-lo]
		for n := 1; n > 0 && len(code) > 0; code = code[n:] {
			n = w.in.skip(code)
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
		w.open = false
	}
}

// rules returns the number of the rules that differ from those of the row before, or of all.
func (w *writer) rules(r, was *row) symfmt.RuleID {
	w.set = w.set[:0]
	if was == nil || r.cfa != was.cfa {
		w.set = append(w.set, cfi.Rule{Reg: cfi.CFA, Expr: w.expr(&r.cfa, cfi.CFA)})
	}
	if was == nil {
		w.set = append(w.set, cfi.Rule{Reg: cfi.RA, Expr: w.names.Load(cfi.CFA, -8)})
	}
	for i, reg := range savedAMD64 {
		if now := &r.saved[i]; was == nil && now.kind != same || was != nil && *now != was.saved[i] {
			w.set = append(w.set, cfi.Rule{Reg: w.regs[reg], Expr: w.expr(now, w.regs[reg])})
		}
	}
	return w.t.Rules.Add(w.set)
}

// expr returns the expression of the rule of a register.
func (w *writer) expr(r *rule, of cfi.Reg) cfi.Expr {
	reg := cfi.CFA
	if r.reg >= 0 {
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
