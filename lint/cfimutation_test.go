package lint

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// cfiDamage is one kind of damage: it changes lines, of which at is a STACK CFI
// record, and returns the line, from 1, where a rule must find it; 0 if that
// record does not lend itself.
type cfiDamage struct {
	name string
	rule string
	do   func(lines *[]string, at int, r *rand.Rand) int
}

// cfiLine is a STACK CFI record taken apart.
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

// rule is where a register's name and the token behind its expression are.
func (c cfiLine) rule(reg string) (from, to int) {
	from = slices.Index(c.rules, reg+":")
	if from < 0 {
		return -1, -1
	}
	for to = from + 1; to < len(c.rules) && !strings.HasSuffix(c.rules[to], ":"); to++ {
	}
	return from, to
}

// initOf is the line of the INIT that a row belongs to.
func initOf(lines []string, at int) (int, cfiLine) {
	for ; at >= 0; at-- {
		if c, ok := parseCFI(lines[at]); ok && c.init {
			return at, c
		}
	}
	panic("a row without an INIT")
}

// edit changes the record at a line, and expects the finding there.
func edit(f func(c *cfiLine, r *rand.Rand) bool) func(*[]string, int, *rand.Rand) int {
	return func(lines *[]string, at int, r *rand.Rand) int {
		c, _ := parseCFI((*lines)[at])
		if !f(&c, r) {
			return 0
		}
		(*lines)[at] = c.String()
		return at + 1
	}
}

// next returns the record behind a line.
func next(lines []string, at int) (c cfiLine, ok bool) {
	if at+1 >= len(lines) {
		return c, false
	}
	return parseCFI(lines[at+1])
}

var cfiDamages = []cfiDamage{
	{"row in front of all INITs", "SYM401", func(lines *[]string, at int, _ *rand.Rand) int {
		c, _ := parseCFI((*lines)[at])
		if c.init {
			return 0
		}
		first := slices.IndexFunc(*lines, func(s string) bool { return strings.HasPrefix(s, "STACK CFI INIT") })
		*lines = slices.Insert(*lines, first, c.String())
		return first + 1
	}},
	{"INIT reaches into the next", "SYM402", func(lines *[]string, at int, _ *rand.Rand) int {
		c, _ := parseCFI((*lines)[at])
		for i := at + 1; c.init && i < len(*lines); i++ {
			if n, ok := parseCFI((*lines)[i]); ok && n.init {
				if c.size = n.rva - c.rva + 1; n.rva <= c.rva {
					return 0
				}
				(*lines)[at] = c.String()
				return i + 1
			}
		}
		return 0
	}},
	{"INIT twice", "SYM403", func(lines *[]string, at int, _ *rand.Rand) int {
		if c, _ := parseCFI((*lines)[at]); !c.init || c.size == 0 {
			return 0
		}
		*lines = slices.Insert(*lines, at+1, (*lines)[at])
		return at + 2
	}},
	{"size 0", "SYM404", edit(func(c *cfiLine, _ *rand.Rand) bool { c.size = 0; return c.init })},
	{"rows exchanged", "SYM407", func(lines *[]string, at int, _ *rand.Rand) int {
		c, _ := parseCFI((*lines)[at])
		if n, ok := next(*lines, at); !ok || c.init || n.init || n.rva <= c.rva {
			return 0
		}
		(*lines)[at], (*lines)[at+1] = (*lines)[at+1], (*lines)[at]
		return at + 2
	}},
	{"two rows at one address", "SYM408", func(lines *[]string, at int, _ *rand.Rand) int {
		c, _ := parseCFI((*lines)[at])
		n, ok := next(*lines, at)
		if !ok || c.init || n.init || n.rva <= c.rva {
			return 0
		}
		n.rva = c.rva
		(*lines)[at+1] = n.String()
		return at + 2
	}},
	{"row behind its INIT", "SYM409", func(lines *[]string, at int, r *rand.Rand) int {
		c, _ := parseCFI((*lines)[at])
		if c.init {
			return 0
		}
		_, block := initOf(*lines, at)
		c.rva = block.rva + block.size + uint64(r.IntN(100))
		(*lines)[at] = c.String()
		return at + 1
	}},
	{"INIT without .ra", "SYM410", edit(func(c *cfiLine, _ *rand.Rand) bool {
		from, to := c.rule(".ra")
		if !c.init || from < 0 || c.size == 0 {
			return false
		}
		c.rules = slices.Delete(c.rules, from, to)
		return len(c.rules) > 0
	})},
	{"expression lost", "SYM411", edit(func(c *cfiLine, r *rand.Rand) bool {
		from, to := c.rule(strings.TrimSuffix(c.rules[0], ":"))
		c.rules = slices.Delete(c.rules, from+1, to)
		return true
	})},
	{"operand lost", "SYM412", edit(func(c *cfiLine, r *rand.Rand) bool {
		plus := slices.Index(c.rules, "+")
		if plus < 1 {
			return false
		}
		c.rules = slices.Delete(c.rules, plus-1, plus)
		return true
	})},
	{"operator lost", "SYM412", edit(func(c *cfiLine, r *rand.Rand) bool {
		plus := slices.Index(c.rules, "+")
		if plus < 1 {
			return false
		}
		c.rules = slices.Delete(c.rules, plus, plus+1)
		return true
	})},
	{"constant that is none", "SYM412", edit(func(c *cfiLine, r *rand.Rand) bool {
		plus := slices.Index(c.rules, "+")
		if plus < 1 {
			return false
		}
		c.rules[plus-1] = "0x8"
		return true
	})},
	{"name of a register in an expression", "SYM413", edit(func(c *cfiLine, r *rand.Rand) bool {
		from, _ := c.rule(".cfa")
		if from < 0 {
			return false
		}
		c.rules[from+1] = otherName(c.rules[from+1])
		return true
	})},
	{"name of a register with a rule", "SYM414", edit(func(c *cfiLine, r *rand.Rand) bool {
		for i, token := range c.rules {
			if strings.HasSuffix(token, ":") && token[0] != '.' {
				c.rules[i] = otherName(token)
				return true
			}
		}
		return false
	})},
	{"rule twice", "SYM415", edit(func(c *cfiLine, r *rand.Rand) bool {
		c.rules = append(c.rules, c.rules...)
		return true
	})},
	{"row twice", "SYM416", func(lines *[]string, at int, _ *rand.Rand) int {
		c, _ := parseCFI((*lines)[at])
		_, block := initOf(*lines, at)
		end := block.rva + block.size
		if n, ok := next(*lines, at); ok && !n.init {
			end = n.rva
		}
		if c.init || c.rva+1 >= end {
			return 0
		}
		c.rva++
		*lines = slices.Insert(*lines, at+1, c.String())
		return at + 2
	}},
	{"saved register lost", "SYM417", loseSaved},
}

// otherName writes a register's name as another CPU's.
func otherName(name string) string {
	if bare, ok := strings.CutPrefix(name, "$"); ok {
		return bare
	}
	return "$" + name
}

// loseSaved takes the rules of the register away from which a row counts .cfa.
func loseSaved(lines *[]string, at int, _ *rand.Rand) int {
	c, _ := parseCFI((*lines)[at])
	from, to := c.rule(".cfa")
	if c.init || from < 0 || to-from < 2 {
		return 0
	}
	reg := c.rules[from+1]
	start, block := initOf(*lines, at)
	if reg != "$rbp" && reg != "x29" && reg != "r11" || slices.Contains(block.rules, reg) {
		return 0
	}
	lost := false
	for i := start; i <= at; i++ {
		row, _ := parseCFI((*lines)[i])
		if cfa, _ := row.rule(".cfa"); i < at && cfa >= 0 && row.rules[cfa+1] == reg {
			return 0 // the finding is at that row
		}
		if from, to := row.rule(reg); from >= 0 {
			row.rules = slices.Delete(row.rules, from, to)
			if lost = true; len(row.rules) == 0 {
				return 0
			}
			(*lines)[i] = row.String()
		}
	}
	if !lost {
		return 0
	}
	return at + 1
}

// cfiFiles are symbol files to damage.
func cfiFiles(t *testing.T) (files [][]string) {
	t.Helper()
	for _, name := range []string{"gcc-dwarf5", "cpu-arm64", "cpu-arm", "lang-fortran", "split-gcc5", "cpu-i686", "realign-x86_64"} {
		text, err := os.ReadFile(filepath.Join(testenv.Root(t), "golden", "dwarf2sym", name+".sym"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, strings.Split(strings.TrimRight(string(text), "\n"), "\n"))
	}
	return files
}

// Each kind of damage is put into real files at random places, and found there.
func TestCFIDamage(t *testing.T) {
	files := cfiFiles(t)
	const tries = 60
	for _, d := range cfiDamages {
		t.Run(d.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, uint64(len(d.name))))
			done, hits := 0, 0
			for n := 0; n < 40000 && done < tries; n++ {
				lines := files[r.IntN(len(files))]
				at := r.IntN(len(lines))
				if _, ok := parseCFI(lines[at]); !ok {
					continue
				}
				damaged := slices.Clone(lines)
				want := d.do(&damaged, at, r)
				if want == 0 {
					continue
				}
				done++
				found := slices.ContainsFunc(lintText(t, strings.Join(damaged, "\n")+"\n").Findings, func(f Finding) bool {
					return f.Rule.ID == d.rule && f.Line == want
				})
				before := slices.ContainsFunc(lintText(t, strings.Join(lines, "\n")+"\n").Findings, func(f Finding) bool {
					return f.Rule.ID == d.rule && f.Rule.ID != "SYM416"
				})
				if !found || before {
					t.Errorf("not found at line %d: %s\nwas %s", want, damaged[want-1], lines[at])
					continue
				}
				hits++
			}
			if done < tries {
				t.Errorf("only %d of %d places", done, tries)
			}
			t.Logf("%s: %d of %d found", d.rule, hits, done)
		})
	}
}
