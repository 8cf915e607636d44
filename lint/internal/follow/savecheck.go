package follow

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/symtool/symtool/symfmt/cfi"
)

// saveRule holds the rules of a row for CPU.saves, with a bit for each register.
type saveRule struct {
	made bool
	none uint16          // the value is in the register
	mem  uint16          // the value is on the stack, slot words below the CFA
	slot [maxSaves]int16 // words below the CFA
}

// saveRule returns the rules of a set for the saved registers.
func (f *follower) saveRule(id uint32) *saveRule {
	if f.rules == nil {
		f.rules = make([]saveRule, len(f.table.sets))
	}
	r := &f.rules[id]
	if !r.made {
		f.make(r, &f.table.sets[id])
	}
	return r
}

func (f *follower) make(r *saveRule, set *saveSet) {
	r.made = true
	for k, reg := range f.table.saves {
		if k == 0 && f.cpu.link {
			reg = f.table.Names.Lookup(f.table.CPU.RA)
		}
		p := f.table.places[set[k]]
		// Words above the CFA were pushed by the code before the function, the procedure linkage
		// table.
		own := p.Off < 0 || k == 0 && !f.cpu.link
		switch {
		case p.Kind == PlaceNone && k > 0, p.Kind == PlaceSum && p.Base == reg && p.Off == 0:
			r.none |= 1 << k
		case p.Kind == PlaceLoad && own && p.Base == cfi.CFA && p.Off%saveWord == 0 && p.Off/saveWord == int64(int16(p.Off/saveWord)):
			r.mem |= 1 << k
			r.slot[k] = int16(-p.Off / saveWord)
		}
	}
}

// ruledSaves returns the registers for which a block must have a rule once they are overwritten. A
// block with rules for .ra only, or for .ra and the frame pointer only, may be from a language whose
// functions do not preserve registers (Go, OCaml); what looks like a save is then a temporary value.
func (f *follower) ruledSaves(b *Block) uint16 {
	mem := uint16(1)
	for i := b.first; i < b.end; i++ {
		mem |= f.saveRule(f.table.rows[i].saves).mem
	}
	if mem&^(1|f.cpu.savedFP()) != 0 {
		return ^uint16(0)
	}
	return mem
}

// savedFP returns the frame pointer's bit among the saved registers.
func (c *CPU) savedFP() uint16 {
	return 1 << slices.Index(c.saves, c.regs[frameFP])
}

// enteredSaves returns the facts at a function's first instruction.
func (f *follower) enteredSaves() saveFacts {
	s := saveFacts{keep: 1<<len(f.cpu.saves) - 1}
	f.pushedRA(&s)
	return s
}

// anchoredSaves returns the facts implied by rules.
func (f *follower) anchoredSaves(r *saveRule) saveFacts {
	s := saveFacts{saved: r.mem, slot: r.slot}
	f.pushedRA(&s)
	return s
}

// pushedRA sets the location of the return address, just below the CFA, on CPUs whose calls push it.
func (f *follower) pushedRA(s *saveFacts) {
	if !f.cpu.link {
		s.keep &^= 1
		s.saved |= 1
		s.slot[0] = 1
	}
}

// wrongSaves returns the registers whose rules are wrong: the rule says on the stack but the code
// never wrote the register or wrote it elsewhere, or there is no rule although the code wrote the
// register to the stack and then overwrote it.
func (f *follower) wrongSaves(id uint32, s *frameState) (wrong uint16) {
	r, facts := f.saveRule(id), &s.saves
	wrong = r.mem & facts.keep &^ (facts.saved | facts.many)
	wrong |= r.none & facts.lost & facts.saved & f.ruled &^ facts.many
	for both := r.mem & facts.saved &^ facts.many; both != 0; both &= both - 1 {
		if k := bits.TrailingZeros16(both); r.slot[k] != facts.slot[k] {
			wrong |= 1 << k
		}
	}
	return wrong
}

// comparable returns the registers whose locations are known from both the rules and the code.
func (f *follower) comparable(id uint32, s *frameState) uint16 {
	r, facts := f.saveRule(id), &s.saves
	both := r.mem&(facts.saved|facts.keep) | r.none&(facts.keep|facts.lost&facts.saved&f.ruled)
	return both &^ facts.many
}

// saveMismatch is the finding in a block about the caller's registers.
type saveMismatch struct {
	addr   uint64 // address of the first wrong instruction
	line   uint32
	reg    string
	ra     bool
	absent bool // there is no rule, or the rule says that the register holds the value
	kept   bool // according to the code, the register was not stored
	slot   int16
	rule   int16
	count  int // number of instructions
	calls  int // how many of count are at calls
	of     int
}

// compareSaves compares the rules of a row with the facts at an instruction.
func (f *follower) compareSaves(v *verdictOf, at uint32, row *Row, s *frameState) {
	v.saves += bits.OnesCount16(f.comparable(row.saves, s))
	wrong := f.wrongSaves(row.saves, s)
	if wrong == 0 {
		return
	}
	if v.save == nil {
		k := bits.TrailingZeros16(wrong)
		r := f.saveRule(row.saves)
		v.save = &saveMismatch{addr: f.start + uint64(at), line: row.Line, reg: f.cpu.saves[k], ra: k == 0,
			absent: r.none>>k&1 != 0, kept: s.saves.saved>>k&1 == 0, slot: s.saves.slot[k], rule: r.slot[k]}
	}
	v.save.count++
	if f.sites[at] {
		v.save.calls++
	}
}

func (m *saveMismatch) String() string {
	reg := m.reg
	if m.ra {
		reg = "the return address"
	}
	slot, rule := signedHex(-int64(m.slot)*saveWord), signedHex(-int64(m.rule)*saveWord)
	say := fmt.Sprintf("by the instructions %s is saved at .cfa %s, the rule says at .cfa %s", reg, slot, rule)
	switch {
	case m.absent:
		say = fmt.Sprintf("by the instructions %s is saved at .cfa %s and its register overwritten, no rule says where it is", reg, slot)
	case m.kept:
		say = fmt.Sprintf("by the instructions %s is in its register and was not saved yet, the rule says at .cfa %s", reg, rule)
	}
	if m.count > 1 {
		say += fmt.Sprintf(": wrong at %d of the STACK CFI INIT's %d instructions, %d of them calls", m.count, m.of, m.calls)
	}
	return say
}
