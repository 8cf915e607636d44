package code

import (
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// Process is the memory of a process.
type Process struct {
	Arch *arch.Arch
	// Bytes returns up to n bytes from an address on, which the caller does not change.
	Bytes func(addr uint64, n int) []byte
}

// FollowsCPU reports whether the instructions of a CPU are followed in memory: those of 32-bit ARM are not, since nothing
// there says which of its instruction sets an address is for.
func FollowsCPU(a *arch.Arch) bool { return cpus[a] != nil && cpus[a].isa == 0 }

// What is followed for one function: the code around it, and so many instructions.
const (
	memoryBefore = 4 << 10
	memoryBehind = 16 << 10
	memoryEffort = 1 << 13
)

// Function derives the rules of the function that begins at an address, and of those near it that it calls. RVAs of the
// table are addresses of the process. Other functions that it calls are taken to return.
func (p *Process) Function(start uint64) (t symfmt.CFITable) {
	lo := start - min(start, memoryBefore)
	bytes := p.Bytes(lo, int(start-lo)+memoryBehind)
	if uint64(len(bytes)) <= start-lo {
		if lo, bytes = start, p.Bytes(start, memoryBehind); len(bytes) == 0 {
			return t
		}
	}
	in := &input{
		cpu: cpus[p.Arch], parts: []codePart{{lo: lo, bytes: bytes}}, begins: []uint64{start}, effort: memoryEffort,
		data:     func(addr uint64) []byte { return p.Bytes(addr, wordSize) },
		pointer:  func(uint64) uint64 { return 0 },
		imported: func(slot uint64) (uint64, bool) { return p.word(slot), false },
		never:    func(uint64) bool { return false },
	}
	t.Rules.SetArch(p.Arch)
	appendRules(&t, in, 0)
	return t
}

const wordSize = 8

// word returns a word of the memory, or 0.
func (p *Process) word(addr uint64) (v uint64) {
	b := p.Bytes(addr, wordSize)
	if len(b) < wordSize {
		return 0
	}
	for i := range b {
		v |= uint64(b[i]) << (8 * i)
	}
	return v
}

// maxHops is how many jumps lead from where a call leads to the function: one in a procedure linkage table, and one more.
const maxHops = 3

// Called returns where a call in front of a return address leads, directly or by a word of the memory: where it leads
// first, then where that jumps.
func (p *Process) Called(ret uint64) (starts []uint64) {
	c := cpus[p.Arch]
	to := uint64(0)
	for n := uint64(4); n <= c.longest && n <= ret && to == 0; n++ {
		var s state
		if in := c.step(p.Bytes(ret-n, int(n)), ret-n, &s); in.flow == call && in.size == int(n) {
			to = p.target(&in)
		}
	}
	for to != 0 && len(starts) < maxHops {
		starts = append(starts, to)
		to = p.jump(to)
	}
	return starts
}

// target returns where a call or jump leads, or 0.
func (p *Process) target(in *step) uint64 {
	if in.to == 0 && in.slot != 0 {
		return p.word(in.slot)
	}
	return in.to
}

// jump returns where the code at an address jumps right away, or 0.
func (p *Process) jump(at uint64) uint64 {
	c, s := cpus[p.Arch], state{}
	for range maxHops {
		code := p.Bytes(at, int(c.longest))
		if len(code) == 0 {
			return 0
		}
		switch in := c.step(code, at, &s); in.flow {
		case next:
			at += uint64(in.size)
		case jump, indirect:
			return p.target(&in)
		default:
			return 0
		}
	}
	return 0
}
