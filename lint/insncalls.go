package lint

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/insn"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/lint/extent"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// Return addresses follow call instructions. They are counted in one sweep over the code that
// begins anew at every function: an instruction gives the start of the next one, and data in
// between do not.

// coverage measures, with the binary if there is one.
func (p *Pass) coverage(minCFI, minLines float64) *Coverage {
	c, code := p.measure()
	if code != nil && code.share.Of == CodeOfBinary {
		c.Calls = p.calls(code.counted, c.known)
	}
	c.judge(p.Facts, minCFI, minLines)
	return c
}

// sameBinary reports whether there is a binary, and the symbols are of it.
func (p *Pass) sameBinary() bool {
	if p.binary == nil || !p.HasModule || p.Options.OwnBinary {
		return p.binary != nil && p.HasModule
	}
	if cpu := p.binary.Arch; cpu == nil || p.Arch != cpu {
		return false
	}
	id, _ := p.binary.moduleID()
	return id == "" || strings.EqualFold(id, p.DebugID)
}

// calls counts the return addresses in code, and those that have call frame
// information; nil without a binary whose calls can be read.
func (p *Pass) calls(code []object.Range, known extent.Ranges) *Share {
	var s Share
	read := p.eachCall(code, func(site uint64) {
		rva := p.binary.rva(site)
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

// eachCall calls fn for the last byte of each call instruction of the code in ranges,
// which ascend; false if the binary has no code that can be read.
func (p *Pass) eachCall(ranges []object.Range, fn func(last uint64)) (read bool) {
	sweep := callSweep{b: p.binary, exec: p.binary.ExecRanges(), loose: p.binary.Kind == object.Relocatable}
	modes := p.binary.codeModes()
	var code []byte // of a section
	var start uint64
	starts := p.codeStarts()
	for _, r := range ranges {
		for r.Start < r.End {
			for len(starts) > 0 && p.binary.addr(starts[0]) <= r.Start {
				starts = starts[1:]
			}
			end := r.End
			if len(starts) > 0 {
				end = min(end, p.binary.addr(starts[0]))
			}
			if off := r.Start - start; code == nil || off >= uint64(len(code)) {
				code, start = p.binary.code(r.Start), r.Start
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

// codeStarts are the addresses where instructions are known to begin, ascending.
func (p *Pass) codeStarts() []symfmt.RVA {
	all := p.starts()
	for _, b := range p.Blocks.All {
		all = append(all, b.RVA)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// codeMode is how to decode code from an address on.
type codeMode struct {
	addr uint64
	step insn.Step // nil for data
}

// codeModes are the places where instructions and data begin, ascending, by
// mapping symbols; at least one for the CPU's instructions.
func (b *elfBinary) codeModes() []codeMode {
	var step insn.Step
	switch {
	case b.Arch == arch.X86_64:
		step = insn.AMD64
	case b.Arch == arch.X86:
		step = insn.X86
	case b.Arch == arch.ARM64:
		step = insn.ARM64
	case b.Arch == arch.ARM && b.Order == binary.ByteOrder(binary.LittleEndian):
		return b.modesARM()
	default:
		return []codeMode{{}}
	}
	modes := []codeMode{{0, step}}
	if b.Arch == arch.ARM64 {
		modes = b.mapping(modes, map[string]insn.Step{"$x": step, "$d": nil})
	}
	return modes
}

// mapping adds the places that mapping symbols mark (ELF for the Arm Architecture, section 5.5.5):
// a name, and anything behind a dot.
func (b *elfBinary) mapping(modes []codeMode, known map[string]insn.Step) []codeMode {
	err := b.Symbols(object.Symtab, func(s *object.Symbol) {
		if len(s.Name) < 2 || s.Name[0] != '$' || len(s.Name) > 2 && s.Name[2] != '.' {
			return
		}
		if step, ok := known[string(s.Name[:2])]; ok && !s.Absolute && b.Executable(s.Addr) {
			modes = append(modes, codeMode{s.Addr, step})
		}
	})
	b.problem("symbols", err)
	slices.SortStableFunc(modes, func(a, b codeMode) int { return cmp.Compare(a.addr, b.addr) })
	return modes
}

// modesARM are the places where A32, T32 and data begin. Without mapping symbols the functions'
// addresses decide, if all agree.
func (b *elfBinary) modesARM() []codeMode {
	modes := b.mapping(nil, map[string]insn.Step{"$a": insn.ARM, "$t": insn.Thumb, "$d": nil})
	if len(modes) > 0 {
		return modes
	}
	var seen [2]bool
	for _, table := range [...]object.Table{object.Symtab, object.Dynamic} {
		b.problem("symbols", b.Symbols(table, func(s *object.Symbol) {
			if s.Kind == object.Function && !s.Undefined && b.Executable(s.Addr&^1) {
				seen[s.Addr&1] = true
			}
		}))
	}
	switch seen {
	case [2]bool{true, false}:
		return []codeMode{{0, insn.ARM}}
	case [2]bool{false, true}:
		return []codeMode{{0, insn.Thumb}}
	}
	return []codeMode{{}}
}

// callSweep reads code.
type callSweep struct {
	b     *elfBinary
	exec  []object.Range
	loose bool // an object file: what is called is not known
	read  bool
}

// part reads code at addr up to its end, in the mode that is in force. It stops at bytes that do
// not decode.
func (c *callSweep) part(code []byte, addr uint64, modes *[]codeMode, fn func(uint64)) {
	for len(code) > 0 {
		for len(*modes) > 1 && (*modes)[1].addr <= addr {
			*modes = (*modes)[1:]
		}
		n := uint64(len(code))
		if len(*modes) > 1 {
			n = min(n, (*modes)[1].addr-addr)
		}
		if len(*modes) > 0 && (*modes)[0].addr <= addr && (*modes)[0].step != nil {
			c.read = true
			c.sweep(code[:n], addr, (*modes)[0].step, fn)
		}
		code, addr = code[n:], addr+n
	}
}

// sweep decodes instructions. A call of the next instruction, within a function, only pushes its
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

// calls reports whether a call may have this target. A target outside of code means that the bytes
// are data, or that a weak function is missing.
func (c *callSweep) calls(target uint64) bool {
	if len(c.exec) == 1 {
		return target-c.exec[0].Start < c.exec[0].End-c.exec[0].Start
	}
	return c.b.Executable(target)
}
