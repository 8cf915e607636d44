package lint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// cfiLine is a parsed STACK CFI record.
type cfiLine struct {
	init  bool
	rva   uint64
	size  uint64
	rules []string // tokens
}

func parseCFI(line string) (c cfiLine, ok bool) {
	f := strings.Fields(line)
	if len(f) < 4 || f[0] != "STACK" || f[1] != "CFI" {
		return c, false
	}
	f = f[2:]
	if c.init = f[0] == "INIT"; c.init {
		c.rva, _ = strconv.ParseUint(f[1], 16, 64)
		c.size, _ = strconv.ParseUint(f[2], 16, 64)
		c.rules = f[3:]
	} else {
		c.rva, _ = strconv.ParseUint(f[0], 16, 64)
		c.rules = f[1:]
	}
	return c, true
}

func (c cfiLine) String() string {
	rules := strings.Join(c.rules, " ")
	if c.init {
		return fmt.Sprintf("STACK CFI INIT %x %x %s", c.rva, c.size, rules)
	}
	return fmt.Sprintf("STACK CFI %x %s", c.rva, rules)
}

// rule returns the indices of a register's name and of the token after its expression.
func (c cfiLine) rule(reg string) (from, to int) {
	from = slices.Index(c.rules, reg+":")
	if from < 0 {
		return -1, -1
	}
	for to = from + 1; to < len(c.rules) && !strings.HasSuffix(c.rules[to], ":"); to++ {
	}
	return from, to
}

// cfi returns the STACK CFI record at line i, if there is one.
func (s *symLines) cfi(i int) (c cfiLine, ok bool) {
	if i < 0 || i >= len(s.lines) {
		return c, false
	}
	return parseCFI(s.lines[i])
}

// initOf returns the line of the INIT that a row belongs to, or -1.
func (s *symLines) initOf(at int) (int, cfiLine) {
	for ; at >= 0; at-- {
		if c, ok := s.cfi(at); ok && c.init {
			return at, c
		}
	}
	return -1, cfiLine{}
}

// initWithin reports whether an INIT begins between two addresses.
func (s *symLines) initWithin(low, high uint64) bool {
	return s.find(0, func(i int) bool {
		c, ok := s.cfi(i)
		return ok && c.init && low < c.rva && c.rva < high
	}) >= 0
}

// maxTries is how many records are examined to find one that a damage fits.
const maxTries = 100

// atCFI returns a damage of a STACK CFI record. do returns the line at which the rule must report,
// or, if the record is not suitable, -1 without changing anything.
func atCFI(do func(s *symLines, at int, c cfiLine) int) func(*symLines) int {
	return func(s *symLines) int {
		all := s.all("STACK CFI", nil)
		for n := 0; n < maxTries && len(all) > 0; n++ {
			at := all[s.rng.IntN(len(all))]
			if c, ok := s.cfi(at); ok {
				if line := do(s, at, c); line >= 0 {
					return line
				}
			}
		}
		return -1
	}
}

// edit returns a damage that changes the record, and expects the finding there.
func edit(f func(c *cfiLine) bool) func(*symLines) int {
	return atCFI(func(s *symLines, at int, c cfiLine) int {
		if !f(&c) {
			return -1
		}
		s.lines[at] = c.String()
		return at
	})
}

var cfiDamages = []damage{
	{"row in front of all INITs", "SYM401", atCFI(func(s *symLines, at int, c cfiLine) int {
		if c.init {
			return -1
		}
		first := s.find(0, func(i int) bool { return strings.HasPrefix(s.lines[i], "STACK CFI INIT") })
		s.insert(first, c.String())
		return first
	})},
	{"INIT reaches into the next", "SYM402", atCFI(func(s *symLines, at int, c cfiLine) int {
		for i := at + 1; c.init && i < len(s.lines); i++ {
			if n, ok := s.cfi(i); ok && n.init {
				if c.size = n.rva - c.rva + 1; n.rva <= c.rva || n.size == 0 || s.initWithin(c.rva, n.rva) {
					return -1
				}
				s.lines[at] = c.String()
				return i
			}
		}
		return -1
	})},
	{"INIT twice", "SYM403", atCFI(func(s *symLines, at int, c cfiLine) int {
		if !c.init || c.size == 0 {
			return -1
		}
		s.insert(at+1, s.lines[at])
		return at + 1
	})},
	{"size 0", "SYM404", edit(func(c *cfiLine) bool { c.size = 0; return c.init })},
	{"rows exchanged", "SYM407", atCFI(func(s *symLines, at int, c cfiLine) int {
		if n, ok := s.cfi(at + 1); !ok || c.init || n.init || n.rva <= c.rva {
			return -1
		}
		s.lines[at], s.lines[at+1] = s.lines[at+1], s.lines[at]
		return at + 1
	})},
	{"two rows at one address", "SYM408", atCFI(func(s *symLines, at int, c cfiLine) int {
		n, ok := s.cfi(at + 1)
		if !ok || c.init || n.init || n.rva <= c.rva {
			return -1
		}
		n.rva = c.rva
		s.lines[at+1] = n.String()
		return at + 1
	})},
	{"row behind its INIT", "SYM409", atCFI(func(s *symLines, at int, c cfiLine) int {
		start, block := s.initOf(at)
		if c.init || start < 0 {
			return -1
		}
		c.rva = block.rva + block.size + s.rng.Uint64N(100)
		s.lines[at] = c.String()
		return at
	})},
	{"INIT without .ra", "SYM410", edit(func(c *cfiLine) bool {
		from, to := c.rule(".ra")
		if !c.init || from < 0 || c.size == 0 {
			return false
		}
		c.rules = slices.Delete(c.rules, from, to)
		return len(c.rules) > 0
	})},
	{"expression lost", "SYM411", edit(func(c *cfiLine) bool {
		from, to := c.rule(strings.TrimSuffix(c.rules[0], ":"))
		c.rules = slices.Delete(c.rules, from+1, to)
		return true
	})},
	{"operand lost", "SYM412", edit(func(c *cfiLine) bool {
		plus := slices.Index(c.rules, "+")
		if plus < 1 {
			return false
		}
		c.rules = slices.Delete(c.rules, plus-1, plus)
		return true
	})},
	{"operator lost", "SYM412", edit(func(c *cfiLine) bool {
		plus := slices.Index(c.rules, "+")
		if plus < 1 {
			return false
		}
		c.rules = slices.Delete(c.rules, plus, plus+1)
		return true
	})},
	{"constant that is none", "SYM412", edit(func(c *cfiLine) bool {
		plus := slices.Index(c.rules, "+")
		if plus < 1 {
			return false
		}
		c.rules[plus-1] = "0x8"
		return true
	})},
	{"name of a register in an expression", "SYM413", edit(func(c *cfiLine) bool {
		from, _ := c.rule(".cfa")
		if from < 0 {
			return false
		}
		c.rules[from+1] = otherName(c.rules[from+1])
		return true
	})},
	{"name of a register with a rule", "SYM414", edit(func(c *cfiLine) bool {
		for i, token := range c.rules {
			if strings.HasSuffix(token, ":") && token[0] != '.' {
				c.rules[i] = otherName(token)
				return true
			}
		}
		return false
	})},
	{"rule twice", "SYM415", edit(func(c *cfiLine) bool {
		c.rules = append(c.rules, c.rules...)
		return true
	})},
	{"row twice", "SYM416", atCFI(func(s *symLines, at int, c cfiLine) int {
		start, block := s.initOf(at)
		end := block.rva + block.size
		if n, ok := s.cfi(at + 1); ok && !n.init {
			end = n.rva
		}
		if c.init || start < 0 || c.rva+1 >= end {
			return -1
		}
		c.rva++
		s.insert(at+1, c.String())
		return at + 1
	})},
	{"saved register lost", "SYM417", atCFI(loseSaved)},
}

// otherName writes a register's name in another CPU's form.
func otherName(name string) string {
	if bare, ok := strings.CutPrefix(name, "$"); ok {
		return bare
	}
	return "$" + name
}

// loseSaved removes the rules of the register that a row's .cfa is based on.
func loseSaved(s *symLines, at int, c cfiLine) int {
	from, to := c.rule(".cfa")
	if c.init || from < 0 || to-from < 2 {
		return -1
	}
	reg := c.rules[from+1]
	start, block := s.initOf(at)
	if start < 0 || reg != "$rbp" && reg != "x29" && reg != "r11" || slices.Contains(block.rules, reg) {
		return -1
	}
	lines, lost := slices.Clone(s.lines[start:at+1]), false
	for i := start; i <= at; i++ {
		row, _ := s.cfi(i)
		if cfa, _ := row.rule(".cfa"); i < at && cfa >= 0 && row.rules[cfa+1] == reg {
			return -1 // the finding is at that row
		}
		if from, to := row.rule(reg); from >= 0 {
			row.rules = slices.Delete(row.rules, from, to)
			if lost = true; len(row.rules) == 0 {
				return -1
			}
			lines[i-start] = row.String()
		}
	}
	if !lost {
		return -1
	}
	copy(s.lines[start:], lines)
	return at
}

// atWin returns a damage of a STACK WIN record with a program.
func atWin(do func(s *symLines, f []string) []string) func(*symLines) int {
	return func(s *symLines) int {
		i := s.pick("STACK WIN", func(i int) bool {
			f := s.fields(i)
			return f[2] == "4" && len(f) > 12 && f[11] == "1" && s.hex(i, 4) > 0
		})
		if i >= 0 {
			s.lines[i] = strings.Join(do(s, s.fields(i)), " ")
		}
		return i
	}
}

var winDamages = []damage{
	{"type that is unknown", "SYM431", atWin(func(s *symLines, f []string) []string { f[2] = "3"; return f })},
	{"STACK WIN without bytes", "SYM432", atWin(func(s *symLines, f []string) []string { f[4] = "0"; return f })},
	{"type without a program", "SYM435", atWin(func(s *symLines, f []string) []string { f[2] = "0"; return f })},
	{"program lost", "SYM435", atWin(func(s *symLines, f []string) []string { f[11] = "0"; return append(f[:12], "1") })},
	{"token of a program lost", "SYM436", atWin(func(s *symLines, f []string) []string {
		i := 12 + s.rng.IntN(len(f)-12)
		for f[i] == "^" { // without it, the program is valid but different
			i--
		}
		return slices.Delete(f, i, i+1)
	})},
	{"$eip lost", "SYM437", atWin(func(s *symLines, f []string) []string {
		for i := range f {
			if f[i] == "$eip" {
				f[i] = "$T7"
			}
		}
		return f
	})},
	{"prologue longer than the code", "SYM439", atWin(func(s *symLines, f []string) []string { f[5] = "1" + f[4]; return f })},
}
