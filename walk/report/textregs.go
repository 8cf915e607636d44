package report

import (
	"fmt"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk"
)

// registerColumns is the maximum width of a line of registers.
const registerColumns = 80

// registers writes the known registers of a frame, without the line's
// beginning and end.
func (p *textWriter) registers(s *viewStack, f *walk.Frame) {
	a := p.archOf(s)
	if a == nil {
		return
	}
	column := 0
	one := func(r arch.ShownReg) {
		i, ok := a.RegIndex(r.Reg)
		if !ok {
			return
		}
		v, ok := f.Register(i)
		if !ok {
			return
		}
		text := fmt.Sprintf(" %5s = 0x%0*x", r.Label, a.Shown.Digits, v)
		if column += len(text); column > registerColumns {
			p.put("\n ")
			column = len(text)
		}
		p.put("%s", text)
	}
	for _, r := range a.Shown.Regs {
		one(r)
	}
	if hasAll(a, f, a.Shown.Whole) {
		for _, r := range a.Shown.Whole {
			one(r)
		}
	}
}

func hasAll(a *arch.Arch, f *walk.Frame, list []arch.ShownReg) bool {
	for _, r := range list {
		i, _ := a.RegIndex(r.Reg)
		if _, ok := f.Register(i); !ok {
			return false
		}
	}
	return true
}

// archOf returns the CPU of a thread's registers, which may differ from the dump's.
func (v *view) archOf(s *viewStack) *arch.Arch {
	if c := v.d.Registers(s.Thread); c != nil {
		return c.Arch
	}
	return v.d.Arch
}
