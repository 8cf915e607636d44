package walk

import "github.com/symtool/symtool/symfmt/cfi"

// side describes a source's part in a difference.
func side(u *Inspector, s *Step, d difference) Side {
	x := Side{Source: s.By.String(), CFA: Address(s.CFA), PC: Address(s.PC)}
	if d.reg != cfi.CFA && d.reg != cfi.RA {
		x.Register = u.Names().Name(d.reg)
	}
	if s.Row != nil {
		x.Rule = ruleText(u, s.Row, d.reg)
	}
	switch {
	case s.Err != nil:
		x.Error = s.Err.Error()
	case s.Outermost:
		x.Error = "no caller"
	case x.Register != "":
		v, ok := s.Regs.Get(d.reg)
		if x.Value = Address(v); !ok {
			x.Error = "unknown"
		}
	}
	return x
}

// ruleText is the rule of a register, after that of .cfa, on which it depends.
func ruleText(u *Inspector, row *cfi.Row, reg cfi.Reg) string {
	text := ".cfa: " + row.CFA.String()
	name := ".ra"
	if reg >= 0 {
		name = u.Names().Name(reg)
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
