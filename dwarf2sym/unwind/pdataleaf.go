package unwind

import (
	"encoding/binary"
	"slices"

	"github.com/symtool/symtool/internal/insn"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// leafFrame returns the frame at a function's first instruction.
func (p *pdataReader) leafFrame() pdataFrame {
	if p.r.in.Arch == arch.ARM64 {
		return pdataFrame{base: arm64SP}
	}
	return pdataFrame{base: x64SP, off: 8, sp: 8, ra: -8}
}

// writeLeaves writes blocks for the leaf functions between entries.
func (p *pdataReader) writeLeaves() {
	if p == nil || len(p.entries) == 0 || p.r.in.Padding == nil {
		return
	}
	covered := p.covered(p.r.sortBlocks())
	for _, code := range p.r.in.Code {
		for gap := range ranges.Gaps(code, covered) {
			p.leaves(gap.Lo, gap.Hi)
		}
	}
	p.r.sortBlocks()
}

// covered returns the code that blocks or entries describe, in order. An entry may describe code
// without having rules.
func (p *pdataReader) covered(blocks []symfmt.CFIBlock) []Range {
	all := make([]Range, 0, len(blocks)+len(p.entries))
	for _, b := range blocks {
		lo := p.r.in.Base + uint64(b.RVA)
		all = append(all, Range{lo, lo + b.Size})
	}
	for _, e := range p.entries {
		all = append(all, Range{e.lo, e.hi})
	}
	return ranges.Join(all)
}

// leaves writes blocks for the leaf functions in a gap. A function ends where padding follows an
// instruction after which execution does not continue.
func (p *pdataReader) leaves(lo, hi uint64) {
	_, code, ok := p.bytesAt(uint32(lo - p.r.in.Base))
	if !ok || !p.scanned(hi-lo) {
		return
	}
	code = code[:min(hi-lo, uint64(len(code)))]
	step := p.leafStep()
	for at := 0; at < len(code); {
		if n := p.r.in.Padding(code[at:]); n > 0 {
			at += n
			continue
		}
		end, leaf := p.function(code, at, step)
		if leaf {
			p.leaf(lo+uint64(at), lo+uint64(end))
		}
		at = end
	}
}

// leafStep returns the leafStep for the CPU.
func (p *pdataReader) leafStep() leafStep {
	if p.r.in.Arch == arch.ARM64 {
		return leafStepARM64
	}
	return leafStepX64
}

// leafStep decodes an instruction. It returns the size, or 0 if the bytes do not decode; whether
// a leaf may contain the instruction; and whether the code after it may belong to another
// function.
type leafStep func(code []byte) (size int, leaf, ends bool)

// function returns the end of the function that begins at an offset, and reports whether it is a
// leaf.
func (p *pdataReader) function(code []byte, at int, step leafStep) (end int, leaf bool) {
	leaf = true
	for ended := false; at < len(code); {
		if ended && p.r.in.Padding(code[at:]) > 0 {
			break
		}
		size, may, ends := step(code[at:])
		if size == 0 {
			size, may = 1, false
		}
		leaf, ended = leaf && may, ends
		at += size
	}
	return min(at, len(code)), leaf
}

// leaf writes the block of a leaf function.
func (p *pdataReader) leaf(lo, hi uint64) {
	f := p.leafFrame()
	p.start(lo, 0)
	p.r.w.start([]codePiece{{lo, hi, 0}})
	p.from(lo, &f)
	p.flush(hi)
	p.r.w.close()
}

// leafStepX64 is a leafStep (Intel SDM volume 2, appendix A).
func leafStepX64(code []byte) (size int, leaf, ends bool) {
	size, kind, _ := insn.AMD64(code, 0)
	if size == 0 || kind != insn.None {
		return size, false, false
	}
	i, rex := 0, byte(0)
	for i < size-1 && slices.Contains([]byte{0x66, 0x67, 0xf2, 0xf3, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65, 0xf0}, code[i]) {
		i++
	}
	if code[i]>>4 == 4 && i < size-1 {
		rex = code[i]
		i++
	}
	modRM := byte(0) // also read for opcodes without it, where it does not matter
	if i+1 < size {
		modRM = code[i+1]
	}
	field, isReg := modRM>>3&7, modRM>>6 == 3
	toReg := field == 4 && rex&4 == 0           // rsp is the register that ModRM names first
	toRM := isReg && modRM&7 == 4 && rex&1 == 0 // rsp is the register that ModRM names second
	switch op := code[i]; {
	case op>>4 == 5, op == 0x68, op == 0x6a, op == 0x8f, op == 0x9c, op == 0x9d, op == 0xc8, op == 0xc9: // push, pop, enter, leave
	case op == 0xff && field == 6: // push
	case (op == 0x81 || op == 0x83) && toRM && field != 7: // arithmetic with a number
	case rex&8 != 0 && toReg && slices.Contains([]byte{0x03, 0x0b, 0x23, 0x2b, 0x33, 0x8b, 0x8d}, op):
	case rex&8 != 0 && toRM && slices.Contains([]byte{0x01, 0x09, 0x21, 0x29, 0x31, 0x89}, op):
	case op == 0xc3, op == 0xc2, op == 0xcc, op == 0xcf, op == 0xe9, op == 0xeb, op == 0xff && field == 4, op == 0x0f && modRM == 0x0b:
		return size, true, true
	default:
		return size, true, false
	}
	return size, false, false
}

// leafStepARM64 is a leafStep (Arm Architecture Reference Manual, C4.1).
func leafStepARM64(code []byte) (size int, leaf, ends bool) {
	size, kind, _ := insn.ARM64(code, 0)
	if size == 0 {
		return 0, false, false
	}
	in := binary.LittleEndian.Uint32(code)
	rd, rn := in&31, in>>5&31
	changes := in&0xbf800000 == 0x91000000 && rd == 31 || // add, sub of an immediate
		in&0xbfe00000 == 0x8b200000 && rd == 31 || // of an extended register
		in&0x3a800000 == 0x28800000 && rn == 31 || // pairs, with a new base
		in&0x3b200400 == 0x38000400 && rn == 31 // single registers
	ends = in&0xfc000000 == 0x14000000 || in&0xfe000000 == 0xd6000000 && kind == insn.None || in&0xffe0001f == 0xd4200000
	return size, kind == insn.None && !changes, ends
}
