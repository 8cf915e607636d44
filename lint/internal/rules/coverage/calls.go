package coverage

import (
	"slices"

	"github.com/symtool/symtool/internal/insn"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/lint/internal/facts"
	"github.com/symtool/symtool/symfmt"
)

// Return addresses follow call instructions. They are counted in one sweep over the code that
// starts anew at every function: an instruction's length gives the start of the next, but data
// between functions breaks this chain.

// countCalls counts the return addresses in code, and how many of them have call frame information.
// It returns nil without a binary whose calls can be decoded.
func countCalls(p *check.Pass, code []object.Range, known []symfmt.Range) *coverage.Share {
	var s coverage.Share
	b := p.Image
	read := eachCall(p, b, code, func(site uint64) {
		rva := b.RVA(site)
		for len(known) > 0 && uint64(rva-known[0].RVA) >= known[0].Size && rva >= known[0].RVA {
			known = known[1:]
		}
		s.Total++
		if len(known) > 0 && rva >= known[0].RVA {
			s.Covered++
		}
	})
	if !read {
		return nil
	}
	return &s
}

// eachCall calls fn for the last byte of each call instruction in ranges, which are ascending. It
// returns false if the binary has no code that can be decoded.
func eachCall(p *check.Pass, b *check.Image, ranges []object.Range, fn func(last uint64)) (read bool) {
	sweep := callSweep{b: b, exec: b.ExecRanges(), loose: b.Kind == object.Relocatable}
	modes := b.Modes()
	var code []byte // of the current section
	var start uint64
	starts := codeStarts(p.Facts)
	for _, r := range ranges {
		for r.Start < r.End {
			for len(starts) > 0 && b.Addr(starts[0]) <= r.Start {
				starts = starts[1:]
			}
			end := r.End
			if len(starts) > 0 {
				end = min(end, b.Addr(starts[0]))
			}
			if off := r.Start - start; code == nil || off >= uint64(len(code)) {
				code, start = b.CodeAt(r.Start), r.Start
			}
			if len(code) == 0 {
				r.Start = end
				continue
			}
			part := code[r.Start-start:]
			sweep.part(part[:min(end-r.Start, uint64(len(part)))], r.Start, &modes, fn)
			r.Start = end
		}
	}
	return sweep.read
}

// codeStarts returns the addresses where instructions are known to begin, in ascending order.
func codeStarts(f *facts.Facts) []symfmt.RVA {
	all := f.Starts()
	for _, b := range f.Blocks.All {
		all = append(all, b.RVA)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// callSweep finds calls in code.
type callSweep struct {
	b     *check.Image
	exec  []object.Range
	loose bool // an object file, in which the targets of calls are unknown
	read  bool
}

// part decodes the code at addr in the mode in force. It stops at bytes that do not decode.
func (c *callSweep) part(code []byte, addr uint64, modes *[]check.CodeMode, fn func(uint64)) {
	for len(code) > 0 {
		for len(*modes) > 1 && (*modes)[1].Addr <= addr {
			*modes = (*modes)[1:]
		}
		n := uint64(len(code))
		if len(*modes) > 1 {
			n = min(n, (*modes)[1].Addr-addr)
		}
		if len(*modes) > 0 && (*modes)[0].Addr <= addr && (*modes)[0].Step != nil {
			c.read = true
			c.sweep(code[:n], addr, (*modes)[0].Step, fn)
		}
		code, addr = code[n:], addr+n
	}
}

// sweep decodes instructions. A call to the next instruction, inside a function, only pushes that
// address and does not return.
func (c *callSweep) sweep(code []byte, addr uint64, step insn.Step, fn func(uint64)) {
	for len(code) > 0 {
		size, kind, target := step(code, addr)
		if size == 0 || size > len(code) {
			return
		}
		addr += uint64(size)
		code = code[size:]
		if kind == insn.Indirect || kind == insn.Direct && (c.loose || c.calls(target) && !(target == addr && len(code) > 0)) {
			fn(addr - 1)
		}
	}
}

// calls reports whether a call may have this target. A target outside code means that the bytes
// are data, or that a weak function is missing.
func (c *callSweep) calls(target uint64) bool {
	if len(c.exec) == 1 {
		return target-c.exec[0].Start < c.exec[0].End-c.exec[0].Start
	}
	return c.b.Executable(target)
}
