package unwind

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/symtool/symtool/internal/insn"
)

// Epilogues of x64. Version 1 of the codes does not describe them: the system decodes the
// instructions, which have one of few forms (Microsoft, "x64 prolog and epilog"):
//
//	add rsp, N, or lea rsp, [fp + N]    if there is something to free
//	pop reg ...                         in the reverse order of the prologue
//	ret, or a jump to other code
//
// An epilogue must leave the stack pointer where it was at the call. Also accepted are GCC's leave
// and mov rsp, rbp; pops of registers that were only pushed to align the stack; mov rsp, r11, which
// Microsoft's compiler writes after restores through r11; clang's vzeroupper and Go's nop before
// the return. Version 2 says where the pops begin.

// x64Body is the code of an entry, which is searched for epilogues.
type x64Body struct {
	p     *pdataReader
	e     *pdataEntry
	code  []byte // of the entry, and of an epilogue that continues in the next one
	at    int
	frame *pdataFrame // that applies at this offset
	found bool        // an epilogue was found

	walked  int // end of the instructions that branches has seen
	detours []x64Detour
}

// x64Detour is code after the prologue that a branch within the prologue leads to, and that does not continue into the
// code after it: Go's functions begin with a test of the stack's size, and end with the call that grows the stack and
// a jump to the start.
type x64Detour struct {
	lo, hi int
	frame  pdataFrame
}

// x64MaxEpilog is the maximum size in bytes of an epilogue: one that frees, pops all registers and jumps.
const x64MaxEpilog = 40

// body returns the body of an entry, or an empty one if its code cannot be read.
func (p *pdataReader) body(e *pdataEntry, f *pdataFrame) x64Body {
	b := x64Body{p: p, e: e, frame: f}
	if _, code, ok := p.bytesAt(uint32(e.lo - p.r.in.Base)); ok && p.scanned(e.hi-e.lo) {
		b.code = code[:min(e.hi-e.lo+x64MaxEpilog, uint64(len(code)))]
	}
	return b
}

// x64MaxDetour is the maximum size in bytes of a detour: one that saves and reloads all argument registers.
const x64MaxDetour = 1 << 10

// branches notes where the instructions before offset end branch to. prolog is where the prologue ends.
func (b *x64Body) branches(end, prolog int) {
	for b.walked < min(end, len(b.code)) {
		var f insn.Frame
		n, flow, target := insn.FrameAMD64(b.code[b.walked:], b.e.lo+uint64(b.walked), &f)
		if n == 0 {
			return
		}
		b.walked += n
		if flow != insn.Branch || target < b.e.lo || target >= b.e.hi {
			continue
		}
		d := x64Detour{lo: int(target - b.e.lo), frame: *b.frame}
		if d.lo < prolog {
			continue
		}
		if d.hi = b.leaves(d.lo); d.hi > 0 {
			b.detours = append(b.detours, d)
		}
	}
}

// leaves returns the end of the instruction that ends the path from an offset on, or 0 if there is none.
func (b *x64Body) leaves(at int) int {
	for end := at + x64MaxDetour; at < min(end, len(b.code)) && uint64(at) < b.e.hi-b.e.lo; {
		var f insn.Frame
		n, flow, _ := insn.FrameAMD64(b.code[at:], b.e.lo+uint64(at), &f)
		if at += n; n == 0 || flow == insn.Bad || !b.p.scanned(uint64(n)) {
			return 0
		}
		if flow == insn.Jump || flow == insn.Leave || flow == insn.Return || flow == insn.Stop {
			return at
		}
	}
	return 0
}

// epilogs writes the rows of the detours and of the epilogues that begin before an offset in the entry.
func (b *x64Body) epilogs(end uint64) {
	for b.at < len(b.code) && uint64(b.at) < min(end, b.e.hi-b.e.lo) {
		if i := slices.IndexFunc(b.detours, func(d x64Detour) bool { return d.lo == b.at }); i >= 0 {
			d := &b.detours[i]
			b.p.from(b.e.lo+uint64(d.lo), &d.frame)
			b.p.from(b.e.lo+uint64(d.hi), b.frame)
			b.at = d.hi
			continue
		}
		if n := b.p.epilog(b.e, b.code, b.at, b.frame); n > 0 {
			b.at += n
			b.found = true
			continue
		}
		n, _, _ := insn.AMD64(b.code[b.at:], b.e.lo+uint64(b.at))
		if n == 0 {
			b.at = len(b.code)
		}
		b.at += n
	}
}

// scanned charges the decoding of n bytes of code, as overlapping entries share code. It returns false once the budget
// is exhausted.
func (p *pdataReader) scanned(n uint64) bool {
	if n > p.scan {
		if !p.stopped {
			p.stopped = true
			p.r.problems.add(p.place(0), "epilogues of further functions", errorf(p.section.Name, 0, "entries overlap so often that their code is too long"))
		}
		return false
	}
	p.scan -= n
	return true
}

// epilog writes the rows of the epilogue at an offset of the code. It returns the epilogue's length, or 0 if there is
// none.
func (p *pdataReader) epilog(e *pdataEntry, code []byte, at int, body *pdataFrame) int {
	x := x64Epilogue{code: code, at: at, lo: e.lo, hi: e.hi, f: *body, steps: p.steps[:0], p: p}
	if sp := 8 + 8*int64(pops(code[at:])); returns(code[at:]) && sp != x.f.sp {
		// The entry begins inside an epilogue, or the codes are wrong: the return address is where these pops end.
		x.f.base, x.f.sp, x.f.off = x64SP, sp, sp
		x.f.free()
		x.steps = append(x.steps, pdataStep{e.lo + uint64(at), x.f})
	}
	ok := x.read()
	if p.steps = x.steps; !ok {
		return 0
	}
	for i := range x.steps {
		p.from(x.steps[i].addr, &x.steps[i].frame)
	}
	p.from(e.lo+uint64(x.at), body)
	return x.at - at
}

// declared writes the epilogues that version 2 declares and whose instructions were not recognised: each begins with
// pops of all pushed registers.
func (p *pdataReader) declared(e *pdataEntry, info *x64Info, f *pdataFrame) {
	if len(info.epilogs) == 0 {
		return
	}
	size := uint64(info.epilogs[0].off)
	for i := len(info.epilogs) - 1; i >= 0; i-- { // the last one is the first in the code
		c := info.epilogs[i]
		distance := uint64(c.off) | uint64(c.arg)<<8
		if i == 0 {
			if distance = size; c.arg&1 == 0 {
				continue
			}
		}
		if distance == 0 || distance > e.hi-e.lo-min(info.prolog, e.hi-e.lo) {
			continue
		}
		p.popAll(e.hi-distance, min(e.hi-distance+size, e.hi), f)
	}
}

// popAll writes the rows of pops that begin at lo and of the return that ends at hi.
func (p *pdataReader) popAll(lo, hi uint64, body *pdataFrame) {
	f := *body
	pushed := p.pushed()
	f.base, f.sp = x64SP, 8+8*int64(len(pushed))
	f.off = f.sp
	f.free()
	p.from(lo, &f)
	for i := len(pushed) - 1; i >= 0 && lo < hi; i-- {
		if lo++; pushed[i] >= 8 {
			lo++ // REX
		}
		f.pop(x64DWARF[pushed[i]])
		p.from(min(lo, hi), &f)
	}
	p.from(hi, body)
}

// pushed returns the pushed registers, in order, by their numbers in codes.
func (p *pdataReader) pushed() (regs []byte) {
	for i := len(p.infos) - 1; i >= 0; i-- {
		for _, c := range p.infos[i].codes {
			if c.op == x64Push {
				regs = append(regs, c.arg)
			}
		}
	}
	return regs
}

// free drops what was saved below the stack pointer, as it has been restored.
func (f *pdataFrame) free() {
	for reg := range f.at {
		if f.saved>>reg&1 != 0 && f.at[reg] < -f.sp {
			f.saved &^= 1 << reg
		}
	}
}

// pop moves the stack pointer above a register, whose value has been restored.
func (f *pdataFrame) pop(reg uint8) {
	if f.saved>>reg&1 != 0 && f.at[reg] == -f.sp {
		f.saved &^= 1 << reg
	}
	f.sp -= 8
	f.base, f.off = x64SP, f.sp
}

// x64Epilogue is an epilogue being decoded.
type x64Epilogue struct {
	code   []byte
	at     int
	lo, hi uint64 // of the code
	f      pdataFrame
	steps  []pdataStep
	p      *pdataReader
}

// read decodes an epilogue. It reports whether there is one.
func (x *x64Epilogue) read() bool {
	entry := int64(8)
	if x.f.saved>>x64SP&1 != 0 {
		entry = 40 // it returns with iretq
	}
	fp := x.f.base
	byFP := fp != x64SP
	x.release()
	for x.pop() {
	}
	if len(x.steps) == 0 || x.f.sp != entry {
		return false
	}
	if byFP && entry == 8 && x.f.saved>>fp&1 == 0 {
		return x.leavesLate()
	}
	if byFP && entry == 8 && !returns(x.code[x.at:]) {
		return false // the frame register is still that of this function
	}
	return x.leaves()
}

// x64MaxLate is the maximum number of instructions between the pop of the frame register and the end of the function.
const x64MaxLate = 128

// leavesLate decodes the rest of an epilogue that continues after the frame register has been restored, as in V8's
// built-in functions: they free a number of arguments given in a register, or jump to the next bytecode handler. The
// target of a branch has the frame at the branch. leavesLate reports whether it reached the end of the epilogue.
func (x *x64Epilogue) leavesLate() bool {
	f, late := insn.Enter(8, 0), map[int]insn.Frame{}
	at := x.at
	for range x64MaxLate {
		size, flow, target := insn.FrameAMD64(x.code[at:], x.lo+uint64(at), &f)
		if size == 0 || flow == insn.Bad || flow == insn.Call || !x.p.scanned(uint64(size)) {
			return false
		}
		to := int(int64(target) - int64(x.lo))
		switch at += size; {
		case flow == insn.Branch && to > at && to < len(x.code):
			late[to] = f
		case flow == insn.Jump && to > 0 && to < int(x.hi-x.lo), flow == insn.Branch && to <= at && to > 0:
			return false // a loop, or a jump to the body
		case flow != insn.Next && flow != insn.Branch:
			var goes bool
			if f, goes = late[at]; !goes {
				x.at = at
				return true
			}
		}
		if f.SP != x.f.sp || f.SPKnown == x.f.lost {
			x.f.sp, x.f.off, x.f.lost = f.SP, f.SP, !f.SPKnown
			x.steps = append(x.steps, pdataStep{x.lo + uint64(at), x.f})
		}
	}
	return false
}

// next records an instruction of the given size, after which the frame applies.
func (x *x64Epilogue) next(size int) {
	x.at += size
	x.steps = append(x.steps, pdataStep{x.lo + uint64(x.at), x.f})
}

// release decodes the instruction that frees the part of the frame that is not popped, if there is one.
func (x *x64Epilogue) release() {
	c := x.code[x.at:]
	switch {
	case bytes.HasPrefix(c, []byte{0x48, 0x83, 0xc4}) && len(c) >= 4: // add rsp, imm8
		x.raised(4, int64(int8(c[3])))
	case bytes.HasPrefix(c, []byte{0x48, 0x83, 0xec, 0x80}): // sub rsp, -128
		x.raised(4, 128)
	case bytes.HasPrefix(c, []byte{0x48, 0x81, 0xc4}) && len(c) >= 7: // add rsp, imm32
		x.raised(7, int64(int32(binary.LittleEndian.Uint32(c[3:]))))
	case bytes.HasPrefix(c, []byte{0xc9}) && x.f.base == x64DWARF[5]: // leave
		x.f.sp = x.f.off
		x.f.free()
		x.f.pop(x.f.base)
		x.next(1)
	case bytes.HasPrefix(c, []byte{0x49, 0x8b, 0xe3}): // mov rsp, r11, computed before
		x.freed(3, 8+8*int64(pops(c[3:])))
	default:
		if size, disp, ok := leaSP(c, x.f.base); ok {
			x.freed(size, x.f.off-disp)
		}
	}
}

// pops counts the pops at the start of code.
func pops(c []byte) int {
	n, _, _ := popped(c)
	return n
}

// returns reports whether code only pops registers and returns.
func returns(c []byte) bool {
	_, _, c = popped(c)
	c = c[idle(c):]
	if len(c) > 1 && c[0]&0xfe == 0xf2 { // rep, bnd
		c = c[1:]
	}
	return len(c) > 0 && c[0]&0xfe == 0xc2
}

// popped counts the pops at the start of code. It returns their number, the set of the DWARF numbers of their
// registers, and the code after them.
func popped(c []byte) (n int, regs uint32, behind []byte) {
	for {
		reg, size := popOf(c)
		if size == 0 {
			return n, regs, c
		}
		n, regs, c = n+1, regs|1<<x64DWARF[reg], c[size:]
	}
}

// popOf decodes a pop. It returns the register's number in codes and the size, or 0 if there is none. No epilogue pops
// rsp.
func popOf(c []byte) (reg byte, size int) {
	if len(c) > 1 && (c[0]&0xfe == 0x40 || c[0] == 0x48) { // REX; 48 has no effect
		reg, size, c = c[0]&1<<3, 1, c[1:]
	}
	if len(c) == 0 || c[0]&0xf8 != 0x58 || reg|c[0]&7 == 4 {
		return 0, 0
	}
	return reg | c[0]&7, size + 1
}

// raised records that a number was added to the stack pointer. The codes of a function with a frame register need not
// say what it took off the stack after setting that register, and Go's do not. Then the pops show where the stack
// pointer is, if they come before a return or restore the frame register.
func (x *x64Epilogue) raised(size int, n int64) {
	sp, behind := x.f.sp-n, x.code[x.at+size:]
	if x.f.base != x64SP {
		n, regs, _ := popped(behind)
		if regs>>x.f.base&1 == 0 && !returns(behind) {
			return
		}
		sp = 8 + 8*int64(n)
	}
	x.freed(size, sp)
}

// freed records that the stack pointer was set to sp.
func (x *x64Epilogue) freed(size int, sp int64) {
	x.f.base, x.f.sp, x.f.off = x64SP, sp, sp
	x.f.free()
	x.next(size)
}

// leaSP decodes lea rsp, [reg + disp] and mov rsp, reg, for the register with a DWARF number.
func leaSP(c []byte, dwarf uint8) (size int, disp int64, ok bool) {
	if len(c) < 3 || dwarf == x64SP || c[0]&0xfe != 0x48 && c[0]&0xfb != 0x48 {
		return 0, 0, false
	}
	reg := byte(0)
	for i, d := range x64DWARF {
		if d == dwarf {
			reg = byte(i)
		}
	}
	mod, field, rm := c[2]>>6, c[2]>>3&7, c[2]&7
	switch {
	case c[1] == 0x89 && mod == 3 && rm == 4 && c[0] == 0x48|reg>>3<<2 && field == reg&7,
		c[1] == 0x8b && mod == 3 && field == 4 && c[0] == 0x48|reg>>3 && rm == reg&7:
		return 3, 0, true
	case c[1] != 0x8d || field != 4 || c[0] != 0x48|reg>>3 || rm != reg&7:
		return 0, 0, false
	}
	size = 3
	if rm == 4 { // r12 needs a SIB byte
		if len(c) < 4 || c[3] != 0x24 {
			return 0, 0, false
		}
		size++
	}
	switch {
	case mod == 0 && rm != 5:
		return size, 0, true
	case mod == 1 && len(c) > size:
		return size + 1, int64(int8(c[size])), true
	case mod == 2 && len(c) >= size+4:
		return size + 4, int64(int32(binary.LittleEndian.Uint32(c[size:]))), true
	}
	return 0, 0, false
}

// pop decodes a pop. It reports whether there is one.
func (x *x64Epilogue) pop() bool {
	reg, size := popOf(x.code[x.at:])
	if size == 0 || x.f.sp <= 8 {
		return false
	}
	x.f.pop(x64DWARF[reg])
	x.next(size)
	return true
}

// idle returns the size of an instruction that may precede the return: clang's vzeroupper in functions with vectors,
// Go's nop.
func idle(c []byte) int {
	switch {
	case bytes.HasPrefix(c, []byte{0xc5, 0xf8, 0x77}):
		return 3
	case bytes.HasPrefix(c, []byte{0x90}):
		return 1
	}
	return 0
}

// leaves decodes the instruction that ends an epilogue. It reports whether there is one.
func (x *x64Epilogue) leaves() bool {
	x.at += idle(x.code[x.at:])
	c := x.code[x.at:]
	prefix := 0
	for prefix < len(c) && (c[prefix] == 0xf3 || c[prefix] == 0xf2 || c[prefix]&0xf0 == 0x40) {
		prefix++ // rep, bnd, REX
	}
	c = c[prefix:]
	if len(c) == 0 {
		return false
	}
	size := 1
	switch c[0] {
	case 0xc3, 0xcf: // ret, iret
	case 0xc2:
		size = 3
	case 0xeb, 0xe9:
		if size = 2; c[0] == 0xe9 {
			size = 5
		}
		if len(c) < size || x.within(c[:size], prefix) {
			return false
		}
	case 0xff:
		if len(c) < 2 || c[1]>>3&7 != 4 {
			return false
		}
		n, _, _ := insn.AMD64(x.code[x.at:], x.lo+uint64(x.at))
		size = n - prefix
	default:
		return false
	}
	if size <= 0 || len(c) < size {
		return false
	}
	x.at += prefix + size
	return true
}

// within reports whether a direct jump, whose opcode follows prefix bytes, stays in the entry's code: then it is not a
// jump to another function.
func (x *x64Epilogue) within(jump []byte, prefix int) bool {
	by := int64(int8(jump[1]))
	if len(jump) == 5 {
		by = int64(int32(binary.LittleEndian.Uint32(jump[1:])))
	}
	target := x.lo + uint64(x.at+prefix+len(jump)) + uint64(by)
	return target > x.lo && target < x.hi
}
