package unwind

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/symtool/symtool/internal/insn"
)

// Call frame information of macOS is synchronous: it is right only at calls. Rows of arm64 begin at the end of the
// prologue, and none describes an epilogue. If the instructions of an FDE reach its rows, they are replaced by the
// instructions' rows, up to its first row with an expression, as vectors of unknown size (SVE) need. Otherwise the FDE
// keeps its own rows, as it does for a signal frame and for code that does not decode. An FDE whose CFA is below the
// stack pointer is not trusted at all: old LLVM wrote such FDEs, with the wrong sign, for the functions that its
// outliner makes.

// takenRow is a row of an FDE.
type takenRow struct {
	lo   uint64
	body compactBody
}

// runFDE writes the rows of an FDE.
func (r *reader) runFDE(f *fdeInfo, pieces []codePiece) {
	w := &r.w
	blocks, rows := len(w.table.Blocks), len(w.table.Rows)
	if c := r.compact; c != nil && !r.cies[f.cie].signal {
		c.taken, c.plain = c.taken[:0], true
		w.taken = c.take
		stats, problems := r.stats, len(r.problems.list)
		defer func() {
			if c.plain {
				c.retake(f, pieces, blocks, rows)
				return
			}
			if c.until == f.lo || len(r.problems.list) > problems {
				return
			}
			before := fdeInfo{entryPos: f.entryPos, lo: f.lo, hi: c.until}
			if c.retake(&before, cut(pieces, f.lo, c.until), blocks, rows) {
				r.stats = stats // those rows are not counted
				r.writeFDE(f, cut(pieces, c.until, f.hi))
			}
		}()
	}
	r.writeFDE(f, pieces)
	w.taken = nil
}

// writeFDE writes the FDE's own rows for pieces of its range.
func (r *reader) writeFDE(f *fdeInfo, pieces []codePiece) {
	r.w.start(pieces)
	r.vm.runFDE(f)
	r.w.close()
}

// cut returns the parts of pieces in [lo, hi).
func cut(pieces []codePiece, lo, hi uint64) (out []codePiece) {
	for _, p := range pieces {
		if p.lo, p.hi = max(p.lo, lo), min(p.hi, hi); p.lo < p.hi {
			out = append(out, p)
		}
	}
	return out
}

// take records the current row of the VM, which begins at lo.
func (c *compactReader) take(lo uint64) {
	vm := &c.r.vm
	b := compactBody{pdataFrame: pdataFrame{base: uint8(vm.cur.cfa.ref), off: vm.cur.cfa.val}}
	known := vm.cur.cfa.kind == ruleReg && vm.cur.cfa.ref < 32 && vm.cur.perPC.empty()
	for i, m := range vm.cur.set {
		for ; m != 0; m &= m - 1 {
			rule := vm.cur.regs[64*i+bits.TrailingZeros64(m)]
			known = known && (rule.kind == ruleAt || rule.kind == ruleSame)
		}
	}
	if c.plain && !known {
		c.plain, c.until = false, lo
	}
	if !c.plain {
		return
	}
	for reg := range uint8(32) {
		slot := vm.cie.regs.slot(uint64(reg))
		if rule := vm.cur.regs[slot]; slot != slotRA && rule.kind == ruleAt {
			b.save(reg, rule.val)
		}
	}
	b.ra = vm.cur.regs[slotRA].val
	c.taken = append(c.taken, takenRow{lo, b})
}

// retake replaces the rows written for an FDE, which start at the given block and row numbers, by the rows of its
// instructions if these reach all rows of the FDE. It reports whether it replaced them.
func (c *compactReader) retake(f *fdeInfo, pieces []codePiece, blocks, rows int) bool {
	sp := c.leafFrame().base
	impossible := slices.ContainsFunc(c.taken, func(r takenRow) bool { return r.body.base == sp && r.body.off < 0 })
	c.taken = slices.DeleteFunc(c.taken, func(r takenRow) bool { return impossible || r.body.early(sp) })
	if len(c.taken) == 0 && !impossible || !c.confirms(f, impossible) {
		return false
	}
	t := &c.r.w.table
	t.Blocks, t.Rows = t.Blocks[:blocks], t.Rows[:rows]
	c.start(f.lo, f.offset)
	c.r.w.start(pieces)
	c.functions(entryOf(f))
	c.r.w.close()
	return true
}

// entryOf returns an entry with the range of an FDE.
func entryOf(f *fdeInfo) *pdataEntry { return &pdataEntry{lo: f.lo, hi: f.hi, offset: f.offset} }

// confirms reports whether the instructions of an FDE reach all of its rows. impossible means that it also had rows
// that cannot be right, and so does not say what is saved.
func (c *compactReader) confirms(f *fdeInfo, impossible bool) bool {
	e := entryOf(f)
	if c.code = c.codeAt(e); len(c.code) == 0 {
		return false
	}
	saves := uint32(0)
	c.body, c.byFP = compactBody{pdataFrame: c.leafFrame(), none: true}, false
	for i := range c.taken {
		b := &c.taken[i].body
		saves |= b.saved
		c.byFP = c.byFP || b.base != c.leafFrame().base
	}
	if c.leafFrame().ra == 0 {
		saves |= 1 << arm64X30
	}
	if !c.plain || impossible {
		saves = c.calleeSaved()
	}
	c.follow(e, saves)
	from, to := uint64(0), c.unpadded(0, uint64(len(c.code)))
	for i := range c.taken {
		if !c.reaches(from, to, &c.taken[i].body) {
			return false
		}
	}
	return true
}

// dropMisplaced drops FDEs that linkers left in the wrong place: no function begins there, and the instructions do not
// reach their rows.
func (r *reader) dropMisplaced() {
	c := r.compact
	if c == nil || len(r.in.Starts) == 0 {
		return
	}
	r.fdes = slices.DeleteFunc(r.fdes, func(f fdeInfo) bool {
		if _, found := slices.BinarySearch(r.in.Starts, f.lo); found || !f.eh || r.cies[f.cie].signal || !c.refutes(&f) {
			return false
		}
		r.problems.add(f.entryPos, fmt.Sprintf("STACK CFI of the function of the FDE at %#x", f.offset), errorf(r.in.Sections[f.section].Name, f.offset,
			"FDE for %#x bytes at %#x, where no function begins and the instructions have no such frame", f.hi-f.lo, f.lo))
		return true
	})
}

// refutes reports whether the instructions of an FDE fail to reach its rows before the next function begins.
func (c *compactReader) refutes(f *fdeInfo) bool {
	r, w := c.r, &c.r.w
	stats, problems, blocks, rows := r.stats, len(r.problems.list), len(w.table.Blocks), len(w.table.Rows)
	c.taken, c.plain = c.taken[:0], true
	w.taken = c.take
	r.writeFDE(f, []codePiece{{lo: f.lo, hi: f.hi}})
	w.taken = nil
	known := c.plain && len(r.problems.list) == problems
	w.table.Blocks, w.table.Rows = w.table.Blocks[:blocks], w.table.Rows[:rows]
	r.stats, r.problems.list = stats, r.problems.list[:problems]
	own := *f
	if i, _ := slices.BinarySearch(r.in.Starts, f.lo); i < len(r.in.Starts) {
		own.hi = min(own.hi, r.in.Starts[i])
	}
	return known && len(c.codeAt(entryOf(&own))) > 0 && (!c.confirms(&own, false) || c.flow.pops())
}

// pops reports whether code removes more from the stack than it put there, as the end of a function does without its
// start.
func (w *compactFlow) pops() bool {
	return slices.ContainsFunc(w.state, func(s insn.Stack) bool { return s.SPKnown && s.SP < w.entry.SP })
}

// early reports whether the CFA is so close to the stack pointer that a saved register would be below it. In a prologue
// that probes a large frame, LLVM describes the registers before it says where the CFA is.
func (f *pdataFrame) early(sp uint8) bool {
	for reg, at := range f.at {
		if f.base == sp && f.saved>>reg&1 != 0 && at < -f.off {
			return true
		}
	}
	return false
}

// bodyAt returns the frame that the FDE or the encoding gives for an address.
func (c *compactReader) bodyAt(addr uint64) *compactBody {
	if len(c.taken) == 0 {
		return &c.body
	}
	i, found := slices.BinarySearchFunc(c.taken, addr, func(r takenRow, addr uint64) int { return cmp.Compare(r.lo, addr) })
	if !found && i > 0 {
		i--
	}
	return &c.taken[i].body
}
