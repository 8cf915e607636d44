package check

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/symtool/symtool/internal/insn"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt/arch"
)

// CodeMode says how to decode code from an address onwards.
type CodeMode struct {
	Addr uint64
	Step insn.Step // nil for data
}

// Modes returns the addresses where instructions and data begin according to mapping symbols, in
// ascending order. There is at least one entry, for the CPU's instructions.
func (b *Image) Modes() []CodeMode {
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
		return []CodeMode{{}}
	}
	modes := []CodeMode{{0, step}}
	if b.Arch == arch.ARM64 {
		modes = b.mapping(modes, map[string]insn.Step{"$x": step, "$d": nil})
	}
	return modes
}

// mapping appends the addresses marked by mapping symbols (ELF for the Arm Architecture, section
// 5.5.5), whose names may be followed by a dot and any text.
func (b *Image) mapping(modes []CodeMode, known map[string]insn.Step) []CodeMode {
	err := b.Symbols(object.Symtab, func(s *object.Symbol) {
		if len(s.Name) < 2 || s.Name[0] != '$' || len(s.Name) > 2 && s.Name[2] != '.' {
			return
		}
		if step, ok := known[string(s.Name[:2])]; ok && !s.Absolute && b.Executable(s.Addr) {
			modes = append(modes, CodeMode{s.Addr, step})
		}
	})
	b.Problem("symbols", err)
	slices.SortStableFunc(modes, func(a, b CodeMode) int { return cmp.Compare(a.Addr, b.Addr) })
	return modes
}

// modesARM returns the addresses where A32, T32 and data begin. Without mapping symbols, the
// functions' addresses decide if all agree.
func (b *Image) modesARM() []CodeMode {
	modes := b.mapping(nil, map[string]insn.Step{"$a": insn.ARM, "$t": insn.Thumb, "$d": nil})
	if len(modes) > 0 {
		return modes
	}
	var seen [2]bool
	for _, table := range [...]object.Table{object.Symtab, object.Dynamic} {
		b.Problem("symbols", b.Symbols(table, func(s *object.Symbol) {
			if s.Kind == object.Function && !s.Undefined && b.Executable(s.Addr&^1) {
				seen[s.Addr&1] = true
			}
		}))
	}
	switch seen {
	case [2]bool{true, false}:
		return []CodeMode{{0, insn.ARM}}
	case [2]bool{false, true}:
		return []CodeMode{{0, insn.Thumb}}
	}
	return []CodeMode{{}}
}
