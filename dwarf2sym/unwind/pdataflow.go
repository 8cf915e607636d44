package unwind

import "github.com/symtool/symtool/internal/insn"

// uncoded writes the rows of an entry without codes, which the system treats as a leaf. Where that is wrong, as in
// assembly that moves the stack pointer, rows follow the instructions, and code whose frame they do not show has
// no rules. If there is a handler, it may know that the frame at the first instruction is not a leaf's: if a
// return contradicts the leaf's frame, the entry has no rules.
func (p *pdataReader) uncoded(e *pdataEntry, handled bool) {
	code := p.codeAt(e)
	if !p.scanned(2 * uint64(len(code))) {
		return
	}
	if p.staysLeaf(code) {
		f := p.leafFrame()
		p.from(e.lo, &f)
		p.flush(e.hi)
		return
	}
	if p.flow == nil {
		p.flow = p.r.newFollower(p.section)
	}
	p.flow.start(e.lo, e.offset)
	p.flow.uncoded(e, code, handled)
}

// codeAt returns the bytes of an entry's code that are in the file.
func (p *pdataReader) codeAt(e *pdataEntry) []byte {
	_, code, ok := p.bytesAt(uint32(e.lo - p.r.in.Base))
	if !ok {
		return nil
	}
	return code[:min(e.hi-e.lo, uint64(len(code)))]
}

// staysLeaf reports whether no instruction of code calls or changes the stack pointer.
func (p *pdataReader) staysLeaf(code []byte) bool {
	step := p.leafStep()
	for len(code) > 0 {
		size, leaf, _ := step(code)
		if size == 0 || !leaf {
			return false
		}
		code = code[min(size, len(code)):]
	}
	return true
}

// The callee-saved registers on Windows: on x64, they include rsi and rdi.
const pdataSaved = amd64CalleeSaved | 1<<4 | 1<<5

// uncoded writes the rows of the instructions of an entry without codes.
func (c *compactReader) uncoded(e *pdataEntry, code []byte, handled bool) {
	saves := uint32(pdataSaved)
	if c.leafFrame().base == arm64SP {
		saves = arm64CalleeSaved
	}
	c.code, c.byFP = code, false
	c.body = compactBody{pdataFrame: c.leafFrame(), none: true, saves: saves}
	entry := insn.Enter(c.body.sp, saves)
	w := &c.flow
	w.begin(e.lo, code, nil, entry)
	returns := w.try(0, entry, true)
	w.returns()
	c.seeds(e)
	if !w.full && (returns || !handled) {
		c.rows(0, c.unpadded(0, uint64(len(code))), true)
	}
}
