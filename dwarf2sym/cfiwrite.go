package dwarf2sym

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"strconv"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/cfi"
)

// cfiWriter turns rows into blocks and records. Rule texts are looked up by the
// rules that changed, so that most rows cost one look-up and no printing.
type cfiWriter struct {
	r      *cfiReader
	table  symfmt.CFITable
	texts  map[string]cfiInterned // by key
	near   [1024]cfiInterned      // the last ones by hash, in front of texts
	key    []byte                 // describes the record being made
	hash   uint64                 // of key
	text   []byte
	room   int // bytes of rule texts that are left
	toPC   int // addresses left at which expressions may be evaluated
	mostPC int // of how many

	pieces []cfiPiece // what the FDE may cover, ascending
	open   bool       // there is a block to continue
	lo     uint64     // its start
	end    uint64     // end of its last row
	said   cfiState   // rules in force in it, as the records say them
	pc     uint64     // where the current row starts
	full   bool       // a limit ended this FDE
}

// cfiInterned is a rule set that has a number.
type cfiInterned struct {
	key string
	id  symfmt.RuleID
}

// cfiPiece is a part of an FDE's code that no better FDE describes.
type cfiPiece struct {
	lo, hi uint64
	fde    int32
}

func (w *cfiWriter) init(r *cfiReader, size int) {
	w.r = r
	w.texts = make(map[string]cfiInterned)
	w.room = 1<<16 + cfiTextFactor*size
	w.table.Rows = make([]symfmt.CFIRow, 0, size/8) // compilers need 7 to 9 bytes for a row
	w.toPC = cfiMaxPC
	if n := r.in.codeBytes; n > 0 && n < cfiMaxPC {
		w.toPC = int(n)
	}
	w.mostPC = w.toPC
}

// start begins an FDE.
func (w *cfiWriter) start(pieces []cfiPiece) {
	w.pieces, w.open, w.full = pieces, false, false
}

// row takes the rules of the VM for [lo, hi), which follows the last row.
func (w *cfiWriter) row(lo, hi uint64) {
	for len(w.pieces) > 0 {
		p := &w.pieces[0]
		if hi <= p.lo {
			return
		}
		if from, to := max(lo, p.lo), min(hi, p.hi); from < to {
			w.cover(from, to)
		}
		if hi < p.hi {
			return
		}
		w.close()
		w.pieces = w.pieces[1:]
	}
}

// cover writes what changes in [lo, hi).
func (w *cfiWriter) cover(lo, hi uint64) {
	vm := &w.r.vm
	w.pc = lo
	if w.open && vm.cur.cfa == w.said.cfa && vm.dirty.empty() && !w.full {
		w.holds(hi)
		return
	}
	slots := vm.cur.perPC
	if vm.cur.cfa.kind != cfiPC && slots.empty() {
		w.emit(hi)
		return
	}
	for ; w.pc < hi; w.pc++ {
		if w.toPC == 0 {
			w.stop("%d addresses with expressions that depend on the pc", w.mostPC)
			return
		}
		w.toPC--
		w.r.stats.PerPC++
		vm.dirty = vm.dirty.with(slots)
		w.emit(w.pc + 1)
	}
	// The rules in force are those of the last address.
	vm.dirty = vm.dirty.with(slots)
}

// emit writes the record, if one is needed, for the row from w.pc to hi.
func (w *cfiWriter) emit(hi uint64) {
	vm := &w.r.vm
	cfa := w.resolve(vm.cur.cfa)
	if w.full || !w.writable(cfa) {
		w.close()
		return
	}
	changed, init := vm.dirty, !w.open
	if init {
		w.said.clear()
		changed = vm.cur.set
		changed.add(cfiSlotRA)
		if !vm.cie.regs.spIsCFA && vm.cie.regs.sp >= 0 {
			changed.add(vm.cie.regs.sp)
		}
	}
	w.key, w.hash = append(w.key[:0], byte(vm.cie.regs.id)), 0
	if cfa != w.said.cfa {
		w.said.cfa = cfa
		w.addKey(0xff, cfa)
	}
	for i, m := range changed {
		for ; m != 0; m &= m - 1 {
			slot := 64*i + bits.TrailingZeros64(m)
			if rule := w.effect(slot); rule != w.said.regs[slot] {
				w.said.put(slot, rule)
				w.addKey(slot, rule)
			}
		}
	}
	vm.dirty = cfiMask{}
	if len(w.key) > 1 {
		id, ok := w.rules()
		if !ok {
			return
		}
		w.record(id, init)
	}
	w.holds(hi)
}

// holds says that the rules in force hold from w.pc to hi.
func (w *cfiWriter) holds(hi uint64) {
	w.end = hi
	if !w.r.vm.cur.signed {
		return
	}
	x, rva := &w.r.stats.Extra, symfmt.RVA(w.pc-w.r.in.base)
	if n := len(x.Signed); n > 0 && x.Signed[n-1].RVA+symfmt.RVA(x.Signed[n-1].Size) == rva {
		x.Signed[n-1].Size += hi - w.pc
		return
	}
	x.Signed = append(x.Signed, symfmt.Range{RVA: rva, Size: hi - w.pc})
}

// writable tells whether a CFA rule has a text.
func (w *cfiWriter) writable(cfa cfiRule) bool {
	switch cfa.kind {
	case cfiReg:
		return w.r.vm.cie.regs.slot(uint64(cfa.ref)) != 0
	case cfiText:
		return true
	}
	return false
}

// resolve computes a rule that depends on the pc.
func (w *cfiWriter) resolve(rule cfiRule) cfiRule {
	if rule.kind != cfiPC {
		return rule
	}
	e := &w.r.eval
	out := e.at(rule.ref, w.pc)
	if x := &e.byPC[rule.ref]; x.err != nil {
		w.r.vm.lostAt(x.form, x.err)
		x.err = nil
	}
	return out
}

// effect is a slot's rule as a record says it: none means that nothing is
// written, and nothing has to be.
func (w *cfiWriter) effect(slot int) cfiRule {
	cie := w.r.vm.cie
	rule, said := w.resolve(w.r.vm.cur.regs[slot]), w.said.regs[slot].kind != cfiNone
	if slot == cfiSlotRA {
		return cfiReturnAddress(cie, rule)
	}
	cfaIsSP := slot == cie.regs.sp && cie.regs.spIsCFA
	switch rule.kind {
	case cfiNone:
		switch {
		case cfaIsSP && said:
			return cfiRule{kind: cfiIs}
		case said, slot == cie.regs.sp && !cfaIsSP:
			return cfiRule{kind: cfiSame}
		}
	case cfiIs:
		if cfaIsSP && rule.val == 0 && !said {
			return cfiRule{}
		}
	case cfiUndef, cfiLost:
		if rule.kind == cfiUndef && !said && !cie.regs.saved.has(slot) {
			return cfiRule{}
		}
		return cfiRule{kind: cfiLost}
	}
	return rule
}

// cfiReturnAddress is the effect of the return-address column's rule.
func cfiReturnAddress(cie *cfiCIE, rule cfiRule) cfiRule {
	switch rule.kind {
	case cfiNone, cfiSame:
		if slot := cie.regs.slot(cie.ra); slot != 0 && slot != cie.regs.pc {
			return cfiRule{kind: cfiReg, ref: uint32(cie.ra)}
		}
		return cfiRule{kind: cfiLost}
	case cfiUndef:
		return cfiRule{kind: cfiEnd}
	}
	return rule
}

func (w *cfiWriter) addKey(slot int, rule cfiRule) {
	head := uint64(rule.ref)<<16 | uint64(rule.kind)<<8 | uint64(slot)
	w.key = binary.LittleEndian.AppendUint64(w.key, head)
	w.key = binary.LittleEndian.AppendUint64(w.key, uint64(rule.val))
	w.hash = (w.hash ^ head ^ uint64(rule.val)<<32) * 0x9e3779b97f4a7c15
	w.hash ^= w.hash >> 32
}

// rules returns the number of the rule set that w.key describes.
func (w *cfiWriter) rules() (symfmt.RuleID, bool) {
	near := &w.near[w.hash%uint64(len(w.near))]
	if near.key == string(w.key) {
		return near.id, true
	}
	known, ok := w.texts[string(w.key)]
	if !ok {
		if known, ok = w.intern(); !ok {
			return 0, false
		}
	}
	*near = known
	return known.id, true
}

// intern prints a new rule set.
func (w *cfiWriter) intern() (cfiInterned, bool) {
	w.text = w.text[:0]
	for k := w.key[1:]; len(k) > 0; k = k[16:] {
		head, val := binary.LittleEndian.Uint64(k), int64(binary.LittleEndian.Uint64(k[8:]))
		w.print(int(head&0xff), cfiRule{kind: cfiKind(head >> 8), ref: uint32(head >> 16), val: val})
	}
	if w.room -= len(w.text); w.room < 0 {
		w.stop("rule sets of more than %d times the size of the sections", cfiTextFactor)
		return cfiInterned{}, false
	}
	known := cfiInterned{string(w.key), w.table.Rules.Intern(w.text)}
	w.texts[known.key] = known
	return known, true
}

// print appends "name: expression".
func (w *cfiWriter) print(slot int, rule cfiRule) {
	regs := w.r.vm.cie.regs
	name := ".cfa"
	if slot != 0xff {
		name = regs.names[slot]
	}
	if len(w.text) > 0 {
		w.text = append(w.text, ' ')
	}
	w.text = append(append(w.text, name...), ": "...)
	switch rule.kind {
	case cfiSame:
		w.text = append(w.text, name...)
	case cfiLost:
		w.text = append(w.text, ".undef"...)
	case cfiEnd:
		w.text = append(w.text, cfi.EndOfStack...)
	case cfiAt:
		w.offset(".cfa", rule.val)
		w.text = append(w.text, " ^"...)
	case cfiIs:
		w.offset(".cfa", rule.val)
	case cfiReg:
		if slot != 0xff && rule.val == 0 {
			w.text = append(w.text, regs.name(uint64(rule.ref))...)
		} else {
			w.offset(regs.name(uint64(rule.ref)), rule.val)
		}
	case cfiText:
		w.text = append(w.text, w.r.eval.posts[rule.ref]...)
	}
}

func (w *cfiWriter) offset(base string, val int64) {
	w.text = append(append(w.text, base...), ' ')
	w.text = append(strconv.AppendInt(w.text, val, 10), " +"...)
}

// record adds a STACK CFI INIT or STACK CFI record for the row at w.pc.
func (w *cfiWriter) record(id symfmt.RuleID, init bool) {
	rva := symfmt.RVA(w.pc - w.r.in.base)
	t := &w.table
	if len(t.Rows) >= math.MaxUint32 {
		w.stop("more than %d STACK CFI records before it", uint32(math.MaxUint32))
		return
	}
	if init {
		t.Blocks = append(t.Blocks, symfmt.CFIBlock{RVA: rva, Init: id, First: uint32(len(t.Rows))})
		w.open, w.lo = true, w.pc
		return
	}
	t.Rows = append(t.Rows, symfmt.CFIRow{RVA: rva, Rules: id})
	t.Blocks[len(t.Blocks)-1].Count++
}

// close ends the block, if there is one.
func (w *cfiWriter) close() {
	if w.open {
		w.table.Blocks[len(w.table.Blocks)-1].Size = w.end - w.lo
		w.open = false
	}
}

// stop ends the FDE where a limit is reached.
func (w *cfiWriter) stop(format string, args ...any) {
	w.close()
	if w.full {
		return
	}
	w.full = true
	vm := &w.r.vm
	w.r.problems.add(vm.fde.cfiPlace, fmt.Sprintf("%s, from %#x on", vm.entry(), w.pc),
		cfiErrorf(vm.s.name, vm.fde.offset, format, args...))
}
