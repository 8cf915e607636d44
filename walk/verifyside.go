package walk

import "github.com/symtool/symtool/symfmt/cfi"

// side describes a source's part in a difference.
func (u *unwinder) side(s *ruleStep, d difference) Side {
	x := Side{Source: s.by.String(), CFA: Address(s.cfa), PC: Address(s.pc)}
	if d.reg != cfi.CFA && d.reg != cfi.RA {
		x.Register = u.names.Name(d.reg)
	}
	if s.row != nil {
		x.Rule = u.ruleText(s.row, d.reg)
	}
	switch {
	case s.err != nil:
		x.Error = s.err.Error()
	case s.outermost:
		x.Error = "no caller"
	case x.Register != "":
		v, ok := s.regs.Get(d.reg)
		if x.Value = Address(v); !ok {
			x.Error = "unknown"
		}
	}
	return x
}

// ruleText is the rule of a register, after that of .cfa, on which it depends.
func (u *unwinder) ruleText(row *cfi.Row, reg cfi.Reg) string {
	text := ".cfa: " + row.CFA.String()
	name := ".ra"
	if reg >= 0 {
		name = u.names.Name(reg)
	}
	if reg == cfi.CFA {
		return text
	}
	if e := row.Rule(reg); !e.IsZero() {
		return text + " " + name + ": " + e.String()
	}
	return text + ", none for " + name
}

// says formats a side for people.
func (x *Side) says(d difference) string {
	text := x.Value.String()
	switch {
	case x.Error != "":
		text = x.Error
	case d.reg == cfi.CFA:
		text = x.CFA.String()
	case x.Register == "":
		text = x.PC.String()
	}
	if x.Rule == "" {
		return text
	}
	return text + " (" + x.Rule + ")"
}
