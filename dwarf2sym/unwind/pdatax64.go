package unwind

import (
	"encoding/binary"
	"slices"
)

// x64SP is the DWARF number of rsp.
const x64SP = 7

// x64DWARF maps the numbers of general registers in x64's codes to DWARF numbers.
var x64DWARF = [16]uint8{0, 2, 1, 3, x64SP, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15}

// Operations of unwind codes.
const (
	x64Push       = 0
	x64AllocLarge = 1
	x64AllocSmall = 2
	x64SetFrame   = 3
	x64Save       = 4
	x64SaveFar    = 5
	x64Epilog     = 6 // version 2
	x64Spare      = 7
	x64SaveXMM    = 8
	x64SaveXMMFar = 9
	x64Machine    = 10
)

// x64Info is a UNWIND_INFO.
type x64Info struct {
	version byte
	prolog  uint64 // size in bytes
	reg     uint8  // DWARF number of the frame register
	hasReg  bool
	scaled  int64     // offset of that register from the stack pointer
	codes   []x64Code // in the order of execution
	epilogs []x64Code // of version 2
	handled bool      // it has an exception handler
	chained bool
	parent  [3]uint32 // the entry that it is chained to
}

// x64Code is an unwind code.
type x64Code struct {
	off byte // end of its instruction, from the start of the code
	op  byte
	arg byte
	val int64 // bytes
}

const (
	x64FlagHandler = 1 | 2
	x64FlagChained = 4
	x64MaxChain    = 32 // as in the system
)

// entryX64 reads an entry: begin, end, RVA of its codes. If bit 0 of the last word is set, it is the RVA of
// another entry.
func (p *pdataReader) entryX64(e *pdataEntry, words []byte) error {
	e.hi = p.r.in.Base + uint64(binary.LittleEndian.Uint32(words[4:]))
	e.info = binary.LittleEndian.Uint32(words[8:])
	return nil
}

// x64 writes the rows of an entry.
func (p *pdataReader) x64(e *pdataEntry) error {
	if err := p.chain(e); err != nil {
		return err
	}
	own := &p.infos[0]
	if len(own.codes) == 0 && !own.chained {
		p.uncoded(e, own.handled)
		return nil
	}
	f := p.leafFrame()
	whole := f
	p.runParents(&whole, 0)
	for _, c := range own.codes {
		p.step(&whole, own, c, 0)
	}
	// Saves are relative to the stack pointer after the prologue or, if there is a frame register, at the point
	// where it was set.
	base := whole.sp
	if whole.base != x64SP {
		for i := range p.infos {
			if p.infos[i].hasReg {
				base = whole.off + p.infos[i].scaled
				break
			}
		}
	}
	p.runParents(&f, base)
	p.from(e.lo, &f)
	// Registers may be saved late, after some paths have returned: the search for epilogues begins where the
	// stack pointer has its final place.
	body := p.body(e, &f)
	for _, c := range own.codes {
		body.branches(int(c.off), int(own.prolog))
		body.epilogs(uint64(c.off))
		p.step(&f, own, c, base)
		p.from(min(e.lo+uint64(c.off), e.hi), &f)
		if c.op != x64Save && c.op != x64SaveFar && c.op != x64SaveXMM && c.op != x64SaveXMMFar {
			body.at = max(body.at, int(c.off))
		}
	}
	if body.epilogs(e.hi - e.lo); !body.found {
		p.declared(e, own, &f)
	}
	p.flush(e.hi)
	return nil
}

// runParents executes the codes of the infos that the first info is chained to, the outermost first.
func (p *pdataReader) runParents(f *pdataFrame, base int64) {
	for i := len(p.infos) - 1; i > 0; i-- {
		for _, c := range p.infos[i].codes {
			p.step(f, &p.infos[i], c, base)
		}
	}
}

// step applies the instruction of a code to a frame.
func (p *pdataReader) step(f *pdataFrame, info *x64Info, c x64Code, base int64) {
	switch c.op {
	case x64Push:
		f.grow(x64SP, 8)
		f.save(x64DWARF[c.arg], -f.sp)
	case x64AllocLarge, x64AllocSmall:
		f.grow(x64SP, c.val)
	case x64SetFrame:
		f.base, f.off = info.reg, f.sp-info.scaled
	case x64Save, x64SaveFar:
		f.save(x64DWARF[c.arg], c.val-base)
	case x64Machine:
		// [error code] rip, cs, eflags, rsp, ss
		*f = pdataFrame{base: x64SP, off: 40 + 8*int64(c.arg), ra: -40}
		f.sp = f.off
		f.save(x64SP, -16)
	}
}

// chain reads the codes of an entry, and of the entries that it is chained to.
func (p *pdataReader) chain(e *pdataEntry) error {
	p.infos = p.infos[:0]
	rva := e.info
	for range x64MaxChain {
		if rva&1 != 0 { // another entry has the codes
			_, data, ok := p.bytesAt(rva &^ 1)
			if !ok || len(data) < 12 {
				return errorf(p.section.Name, e.offset+8, "another entry at RVA %#x, where the file has no data", rva&^1)
			}
			rva = binary.LittleEndian.Uint32(data[8:])
			if err := p.charge(1); err != nil {
				return err
			}
			continue
		}
		info, err := p.info(rva, e)
		if err != nil {
			return err
		}
		p.infos = append(p.infos, info)
		if !info.chained {
			return nil
		}
		rva = info.parent[2]
	}
	return errorf(p.section.Name, e.offset+8, "chained to more than %d others", x64MaxChain)
}

// info reads the codes at an RVA.
func (p *pdataReader) info(rva uint32, e *pdataEntry) (x64Info, error) {
	var info x64Info
	s, data, ok := p.bytesAt(rva)
	if !ok || len(data) < 4 {
		return info, errorf(p.section.Name, e.offset+8, "unwind codes at RVA %#x, where the file has no data", rva)
	}
	at := p.r.in.Base + uint64(rva) - s.Addr
	info.version = data[0] & 7
	if info.version != 1 && info.version != 2 {
		return info, errorf(s.Name, at, "unwind codes of version %d, want 1 or 2", info.version)
	}
	count := int(data[2])
	end := 4 + 2*((count+1)&^1)
	info.prolog = uint64(data[1])
	info.handled = data[0]>>3&x64FlagHandler != 0
	info.chained = data[0]>>3&x64FlagChained != 0
	if info.hasReg = data[3]&15 != 0; info.hasReg {
		info.reg, info.scaled = x64DWARF[data[3]&15], int64(data[3]>>4)*16
	}
	if len(data) < end || info.chained && len(data) < end+12 {
		return info, errorf(s.Name, at, "%d unwind codes extend past the section", count)
	}
	if err := p.charge(1 + count); err != nil {
		return info, err
	}
	if err := info.read(data[4:][:2*count]); err != nil {
		return info, errorf(s.Name, at+4, "%s", err.Error())
	}
	if info.chained {
		for i := range info.parent {
			info.parent[i] = binary.LittleEndian.Uint32(data[end+4*i:])
		}
	}
	return info, nil
}

// codeError is damage in unwind codes.
type codeError string

func (e codeError) Error() string { return string(e) }

const (
	errCodeEnd = codeError("the last unwind code is incomplete")
	errCodeOp  = codeError("unwind code with a reserved operation")
	errCodeReg = codeError("unwind code that sets a frame register, of which there is none")
)

// read decodes the slots, which are in the reverse order of execution.
func (info *x64Info) read(slots []byte) error {
	for len(slots) > 0 {
		c, used, err := info.code(slots)
		if err != nil {
			return err
		}
		slots = slots[2*used:]
		switch {
		case c.op != x64Epilog:
			info.codes = append(info.codes, c)
		case info.version != 1:
			info.epilogs = append(info.epilogs, c)
		}
	}
	slices.Reverse(info.codes)
	return nil
}

// code decodes the first code in slots, and returns the number of slots that it uses.
func (info *x64Info) code(slots []byte) (c x64Code, used int, err error) {
	c = x64Code{off: slots[0], op: slots[1] & 15, arg: slots[1] >> 4}
	size, unit := 0, int64(1) // of the operand after it, in bytes
	switch c.op {
	case x64Push, x64Machine:
	case x64AllocLarge:
		switch c.arg {
		case 0:
			size, unit = 2, 8
		case 1:
			size = 4
		default:
			return c, 0, errCodeOp
		}
	case x64AllocSmall:
		c.val = int64(c.arg)*8 + 8
	case x64SetFrame:
		if !info.hasReg {
			return c, 0, errCodeReg
		}
	case x64Save:
		size, unit = 2, 8
	case x64SaveXMM:
		size, unit = 2, 16
	case x64SaveFar, x64SaveXMMFar, x64Spare:
		size = 4
	case x64Epilog:
		if info.version == 1 {
			size = 2 // formerly a form of SAVE_XMM
		}
	default:
		return c, 0, errCodeOp
	}
	if len(slots) < 2+size {
		return c, 0, errCodeEnd
	}
	switch size {
	case 2:
		c.val = int64(binary.LittleEndian.Uint16(slots[2:])) * unit
	case 4:
		c.val = int64(binary.LittleEndian.Uint32(slots[2:]))
	}
	return c, 1 + size/2, nil
}
