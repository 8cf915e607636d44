package unwind

import (
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

// leafStep decodes an instruction. It returns the size, or 0 if the bytes do not decode; whether a leaf may contain the
// instruction, as it neither calls nor moves the stack pointer; and whether the code after it may belong to another
// function.
type leafStep func(code []byte) (size int, leaf, ends bool)

// leafStep returns the leafStep for the CPU.
func (p *pdataReader) leafStep() leafStep {
	effect, entry := insn.FrameAMD64, insn.Enter(8, 0)
	if p.r.in.Arch == arch.ARM64 {
		effect = insn.FrameARM64
	}
	return func(code []byte) (size int, leaf, ends bool) {
		f := entry
		size, flow, _ := effect(code, 0, &f)
		switch flow {
		case insn.Bad, insn.Call:
			return size, false, false
		case insn.Jump, insn.Switch, insn.Leave, insn.Return, insn.Stop:
			ends = true
		}
		return size, f.SPKnown && f.SP == entry.SP, ends
	}
}

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
