package unwind

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// DWARF numbers.
const (
	arm64FP = 29
	arm64LR = 30
	arm64SP = 31
)

// arm64Kind is what an instruction of a prologue does.
type arm64Kind uint8

const (
	arm64Nop    arm64Kind = iota
	arm64Alloc            // lowers the stack pointer
	arm64Save             // stores count registers at off, the first of which is reg
	arm64SetFP            // x29 = sp + off
	arm64Sign             // pacibsp
	arm64Next             // stores the pair after the last one
	arm64EndC             // the fragment's own codes end here
	arm64Record           // the caller's state is a record on the stack
)

// arm64Op is an unwind code: one instruction.
type arm64Op struct {
	kind arm64Kind
	reg  uint8 // first register; above 31 it is a floating-point register
	also uint8 // second register of a pair, if count is 2
	n    uint8 // number of registers
	off  int64
	pre  int64 // decrement of the stack pointer before the store
}

const arm64NoReg = 64 // for a floating-point register, which has no rule

// entryARM64 reads an entry: begin, and packed codes or the RVA of .xdata.
func (p *pdataReader) entryARM64(e *pdataEntry, words []byte) error {
	e.info = binary.LittleEndian.Uint32(words[4:])
	for range x64MaxChain {
		if e.info&3 != 3 {
			break
		}
		_, data, ok := p.bytesAt(e.info &^ 3)
		if !ok || len(data) < 8 {
			return errorf(p.section.Name, e.offset+4, "another entry at RVA %#x, where the file has no data", e.info&^3)
		}
		if err := p.charge(1); err != nil {
			return err
		}
		e.info = binary.LittleEndian.Uint32(data[4:])
	}
	length := uint64(e.info>>2&0x7ff) * 4
	switch e.info & 3 {
	case 0:
		_, data, ok := p.bytesAt(e.info)
		if !ok || len(data) < 4 {
			return errorf(p.section.Name, e.offset+4, "unwind codes at RVA %#x, where the file has no data", e.info)
		}
		length = uint64(binary.LittleEndian.Uint32(data)&(1<<18-1)) * 4
	case 3:
		return errorf(p.section.Name, e.offset+4, "chained to more than %d others", x64MaxChain)
	}
	e.hi = e.lo + length
	return nil
}

// arm64 writes the rows of an entry.
func (p *pdataReader) arm64(e *pdataEntry) error {
	if e.info&3 != 0 {
		return p.packed(e)
	}
	return p.unpacked(e)
}

// arm64Data is the .xdata of an entry.
type arm64Data struct {
	name    string
	at      uint64 // offset of the codes in the section
	codes   []byte
	scopes  []arm64Scope
	handled bool // it has an exception handler
}

// arm64Scope is an epilogue.
type arm64Scope struct {
	at    uint64 // address
	index int    // index of the first byte of its codes
	last  bool   // the epilogue ends with the function, wherever it begins
}

func (p *pdataReader) unpacked(e *pdataEntry) error {
	d, err := p.data(e)
	if err != nil {
		return err
	}
	ops, err := p.codes(&d, 0)
	if err != nil {
		return err
	}
	if len(ops) == 0 {
		p.uncoded(e, d.handled)
		return nil
	}
	own := len(ops)
	if i := slices.IndexFunc(ops, func(o arm64Op) bool { return o.kind == arm64EndC }); i >= 0 {
		own = i
		ops = slices.Delete(ops, i, i+1)
	}
	body, ok := p.prologue(e, ops, own)
	if !ok {
		return nil
	}
	for i := range d.scopes {
		s := &d.scopes[i]
		ops, err := p.codes(&d, s.index)
		if err != nil {
			return err
		}
		ops = slices.DeleteFunc(ops, func(o arm64Op) bool { return o.kind == arm64EndC })
		if s.last {
			s.at = e.hi - min(4*uint64(len(ops)+1), e.hi-e.lo)
		}
		p.epilogue(e, s.at, ops, &body)
	}
	p.flush(e.hi)
	return nil
}

// prologue writes the rows of a prologue, whose codes are in reverse order of execution; only the
// first own of them are instructions of this entry. It returns the frame of the body, or false if
// there are no rules.
func (p *pdataReader) prologue(e *pdataEntry, ops []arm64Op, own int) (pdataFrame, bool) {
	f := p.leafFrame()
	if slices.ContainsFunc(ops, func(o arm64Op) bool { return o.kind == arm64Record }) {
		return f, false
	}
	at := e.lo
	p.from(at, &f)
	for i := len(ops) - 1; i >= 0; i-- {
		f.run(ops[i:])
		if i < own {
			at += 4
		}
		p.from(min(at, e.hi), &f)
	}
	return f, true
}

// epilogue writes the rows of an epilogue: before each instruction, the remaining codes are still
// to be undone.
func (p *pdataReader) epilogue(e *pdataEntry, at uint64, ops []arm64Op, body *pdataFrame) {
	end := at + 4*uint64(len(ops)+1) // including the return
	if at < p.lo || at < e.lo || at >= e.hi || slices.ContainsFunc(ops, func(o arm64Op) bool { return o.kind == arm64Record }) {
		return
	}
	for i := range len(ops) + 1 {
		f := p.leafFrame()
		for k := len(ops) - 1; k >= i; k-- {
			f.run(ops[k:])
		}
		if i == 0 {
			continue // the body's rule applies to the first instruction
		}
		p.from(min(at+4*uint64(i), e.hi), &f)
	}
	p.from(min(end, e.hi), body)
}

// run executes the first instruction of ops; the others have already been executed.
func (f *pdataFrame) run(ops []arm64Op) {
	o := ops[0]
	switch o.kind {
	case arm64Alloc:
		f.grow(arm64SP, o.off)
	case arm64SetFP:
		f.base, f.off = arm64FP, f.sp-o.off
	case arm64Sign:
		f.signed = true
	case arm64Next:
		o = pairBehind(ops)
		fallthrough
	case arm64Save:
		f.grow(arm64SP, o.pre)
		f.store(o.reg, o.off)
		if o.n == 2 {
			f.store(o.also, o.off+8)
		}
	}
}

// pairBehind returns the meaning of save_next: the pair after the one saved before it.
func pairBehind(ops []arm64Op) arm64Op {
	n := int64(0)
	for _, o := range ops {
		switch o.kind {
		case arm64Next:
			n++
			continue
		case arm64Save:
			o.off, o.pre = o.off+16*n, 0
			if o.reg < arm64NoReg {
				o.reg += 2 * uint8(n)
				o.also = o.reg + 1
			}
			return o
		}
		break
	}
	return arm64Op{kind: arm64Save, reg: arm64NoReg, n: 1}
}

// store records that a register is at an offset from the stack pointer.
func (f *pdataFrame) store(reg uint8, off int64) {
	switch {
	case reg == arm64LR:
		f.ra = off - f.sp
	case reg >= 19 && reg <= arm64FP:
		f.save(reg, off-f.sp)
	}
}

// data reads .xdata up to the codes.
func (p *pdataReader) data(e *pdataEntry) (d arm64Data, err error) {
	s, b, ok := p.bytesAt(e.info)
	at := p.r.in.Base + uint64(e.info) - s.Addr
	d.name = s.Name
	short := errorf(s.Name, at, "unwind codes extend past the section")
	if !ok || len(b) < 4 {
		return d, short
	}
	head := binary.LittleEndian.Uint32(b)
	if version := head >> 18 & 3; version != 0 {
		return d, errorf(s.Name, at, "unwind codes of version %d, want 0", version)
	}
	d.handled = head>>20&1 != 0
	single := head>>21&1 != 0
	count, words := int(head>>22&31), int(head>>27)
	used := 4
	if count == 0 && words == 0 {
		if len(b) < 8 {
			return d, short
		}
		more := binary.LittleEndian.Uint32(b[4:])
		count, words, used = int(more&0xffff), int(more>>16&0xff), 8
	}
	if single {
		d.scopes = []arm64Scope{{index: count, last: true}}
		count = 0
	}
	if len(b) < used+4*count+4*words {
		return d, short
	}
	if err := p.charge(1 + count + 4*words); err != nil {
		return d, err
	}
	for i := range count {
		scope := binary.LittleEndian.Uint32(b[used+4*i:])
		d.scopes = append(d.scopes, arm64Scope{at: e.lo + 4*uint64(scope&(1<<18-1)), index: int(scope >> 22)})
	}
	slices.SortStableFunc(d.scopes, func(a, b arm64Scope) int { return cmp.Compare(a.at, b.at) })
	used += 4 * count
	d.at, d.codes = at+uint64(used), b[used:][:4*words]
	return d, nil
}

// arm64Sizes has the sizes in bytes of codes from 0xe0 on; 0 means reserved.
var arm64Sizes = [32]int{
	0x00: 4, 0x01: 1, 0x02: 2, 0x03: 1, 0x04: 1, 0x05: 1, 0x06: 1, 0x07: 3,
	0x08: 1, 0x09: 1, 0x0a: 1, 0x0b: 1, 0x0c: 1, 0x1c: 1,
}

// codes decodes the codes from a byte on, up to their end. They are in reverse order of
// execution; each is an instruction. The result is valid until the next call.
func (p *pdataReader) codes(d *arm64Data, index int) ([]arm64Op, error) {
	p.ops = p.ops[:0]
	for i := index; i < len(d.codes); {
		b := d.codes[i]
		size := 1
		switch {
		case b >= 0xe0:
			if size = arm64Sizes[b-0xe0]; size == 0 {
				return nil, errorf(d.name, d.at+uint64(i), "reserved unwind code %#x", b)
			}
		case b >= 0xc0:
			size = 2
		}
		if i+size > len(d.codes) {
			return nil, errorf(d.name, d.at+uint64(i), "unwind code %#x of %d bytes is incomplete", b, size)
		}
		if b == 0xe4 {
			return p.ops, p.charge(len(p.ops) * len(p.ops) / 8)
		}
		p.ops = append(p.ops, arm64Code(d.codes[i:i+size]))
		i += size
	}
	return p.ops, nil
}

// arm64Code decodes a code.
func arm64Code(c []byte) arm64Op {
	b := c[0]
	var x uint16 // of two-byte codes
	if len(c) == 2 {
		x = binary.BigEndian.Uint16(c)
	}
	low6, reg := int64(x&0x3f)*8, uint8(x>>6&15)
	switch {
	case b < 0x20:
		return arm64Op{kind: arm64Alloc, off: int64(b) * 16}
	case b < 0x40: // stp x19, x20, [sp, #-z]!
		return pairOf(19, 0, int64(b&0x1f)*8)
	case b < 0x80:
		return pairOf(arm64FP, int64(b&0x3f)*8, 0)
	case b < 0xc0:
		return pairOf(arm64FP, 0, int64(b&0x3f)*8+8)
	case b < 0xc8:
		return arm64Op{kind: arm64Alloc, off: int64(x&0x7ff) * 16}
	case b < 0xcc:
		return pairOf(19+reg, low6, 0)
	case b < 0xd0:
		return pairOf(19+reg, 0, low6+8)
	case b < 0xd4:
		return oneOf(19+reg, low6, 0)
	case b < 0xd6:
		return oneOf(19+uint8(x>>5&15), 0, int64(x&0x1f)*8+8)
	case b < 0xd8: // with the link register
		o := pairOf(19+2*uint8(x>>6&7), low6, 0)
		o.also = arm64LR
		return o
	case b < 0xda:
		return floats(2, low6, 0)
	case b < 0xdc:
		return floats(2, 0, low6+8)
	case b < 0xde:
		return floats(1, low6, 0)
	case b < 0xe0:
		return floats(1, 0, int64(x&0x1f)*8+8)
	}
	switch b {
	case 0xe0:
		return arm64Op{kind: arm64Alloc, off: int64(binary.BigEndian.Uint32(c)&0xffffff) * 16}
	case 0xe1:
		return arm64Op{kind: arm64SetFP}
	case 0xe2:
		return arm64Op{kind: arm64SetFP, off: int64(c[1]) * 8}
	case 0xe5:
		return arm64Op{kind: arm64EndC}
	case 0xe6:
		return arm64Op{kind: arm64Next}
	case 0xe7:
		return anyReg(c)
	case 0xe8, 0xe9, 0xea, 0xeb:
		return arm64Op{kind: arm64Record}
	case 0xfc:
		return arm64Op{kind: arm64Sign}
	}
	return arm64Op{} // nop, clear_unwound_to_call
}

func pairOf(reg uint8, off, pre int64) arm64Op {
	return arm64Op{kind: arm64Save, reg: reg, also: reg + 1, n: 2, off: off, pre: pre}
}

func oneOf(reg uint8, off, pre int64) arm64Op {
	return arm64Op{kind: arm64Save, reg: reg, n: 1, off: off, pre: pre}
}

// floats returns the code for saving floating-point registers, whose only effect here is the
// change of the stack pointer.
func floats(n uint8, off, pre int64) arm64Op {
	return arm64Op{kind: arm64Save, reg: arm64NoReg, also: arm64NoReg, n: n, off: off, pre: pre}
}

// anyReg decodes save_any_reg: 0pxrrrrr, then 00oooooo or, for d and q registers, 01 and 10. p
// means a pair, x that the stack pointer is decremented by the offset.
func anyReg(c []byte) arm64Op {
	pair, pre, reg := c[1]>>6&1 != 0, c[1]>>5&1 != 0, c[1]&31
	off := int64(c[2] & 0x3f)
	unit := int64(8)
	if pair || pre || c[2]>>6 == 2 {
		unit = 16
	}
	off *= unit
	o := oneOf(reg, off, 0)
	if pre {
		o.off, o.pre = 0, off+unit
	}
	if pair {
		o.n, o.also = 2, reg+1
	}
	if c[2]>>6 != 0 {
		o.reg, o.also = arm64NoReg, arm64NoReg
	}
	return o
}
