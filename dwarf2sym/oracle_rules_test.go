package dwarf2sym_test

import (
	"debug/elf"
	"slices"
	"strings"
)

// oracleRule describes where symtool and llvm-symbolizer may differ.
type oracleRule struct {
	name string
	why  string
	// address reports whether the rule explains everything at an address; frame reports
	// whether it explains the difference in frame i.
	address func(d *difference) bool
	frame   func(d *difference, i int) bool
}

const thumbBit = "a DIE by GNU as of a Thumb function has the address with the Thumb bit: llvm's function starts and ends one byte later"

var addressRules = []oracleRule{
	{
		name: "no-function",
		why:  "code of a line table outside of all functions (padding): a line record needs a FUNC",
		address: func(d *difference) bool {
			return d.ours == nil && len(d.theirs) == 1 && d.theirs[0].name == ""
		},
	},
	{
		name: "dead-code",
		why:  "functions that the linker dropped: their addresses lie outside of the code",
		address: func(d *difference) bool {
			return d.ours == nil && !slices.ContainsFunc(d.c.code, func(r [2]uint64) bool { return r[0] <= d.addr && d.addr < r[1] })
		},
	},
	{
		name: "no-unit",
		why:  "code with lines outside of its unit's ranges, which GNAT's procedures without a DIE are: symtool takes the ELF symbol, llvm finds no unit",
		address: func(d *difference) bool {
			return d.theirs == nil && len(d.ours) == 1 && d.ours[0].file != "" && d.symbol(d.ours[0].name)
		},
	},
	{
		name:    "folded",
		why:     "functions that were folded into one: symtool takes one of them with what is inlined into it, as debug/dwarf reads it, llvm another one, or frames of two",
		address: (*difference).oneOfFolded,
	},
	{
		name: "thumb-end",
		why:  thumbBit,
		address: func(d *difference) bool {
			return d.c.machine == elf.EM_ARM && d.ours == nil && len(d.theirs) == 1 && slices.Contains(d.c.dies.edges, d.addr+1)
		},
	},
	{
		name: "relaxed-assembly",
		why:  "GNU as gives a function of RISC-V assembly the size that it had before the linker relaxed it: behind its lines symtool has it without a line, up to the next function, llvm nothing",
		address: func(d *difference) bool {
			return d.c.machine == elf.EM_RISCV && d.theirs == nil && len(d.ours) == 1 && d.ours[0].file == "" && d.symbol(d.ours[0].name)
		},
	},
}

var frameRules = slices.Concat(ofNames(), []oracleRule{
	{
		name: "unknown-file",
		why:  "the file is not in the line table: symtool writes ?? and keeps the line, llvm drops both",
		frame: func(d *difference, i int) bool {
			a, b := &d.ours[i], &d.theirs[i]
			return a.name == b.name && a.file == "??" && b.file == "" && b.line == 0
		},
	},
	{
		name: "asm-label",
		why:  "a linkage name that is not mangled is what an asm label made of a C function (__GI_abort): symtool takes the plain name",
		frame: func(d *difference, i int) bool {
			return d.namesOnly(i) && d.plain(i) && slices.Contains(d.c.dies.plain[d.raw[i].name], d.ours[i].name)
		},
	},
	{
		name: "unique-internal",
		why:  "clang's -funique-internal-linkage-names, which pseudo-probes imply, mangles static functions of C and adds a hash of their file: symtool takes the plain name",
		frame: func(d *difference, i int) bool {
			return d.namesOnly(i) && strings.Contains(d.raw[i].name, ".__uniq.") && slices.Contains(d.c.dies.plain[d.raw[i].name], d.ours[i].name)
		},
	},
	{
		name: "several-names",
		why:  "functions of the same code (labels of assembly): symtool takes the one that comes first, llvm the last; both are ELF symbols there",
		frame: func(d *difference, i int) bool {
			return d.namesOnly(i) && d.outermost(i) && d.symbol(d.ours[i].name) && d.symbol(d.theirs[i].name)
		},
	},
	{
		name: "thumb-bit",
		why:  thumbBit,
		frame: func(d *difference, i int) bool {
			return d.namesOnly(i) && d.c.machine == elf.EM_ARM && len(d.ours) == 1 && (d.theirs[i].name == "" || d.symbol(d.ours[i].name)) && slices.Contains(d.c.dies.edges, d.addr+1)
		},
	},
	{
		name: "function-from-symbol",
		why:  "code with lines that no DIE describes (assembly; an equal function of which GCC kept one): symtool takes the ELF symbol, llvm has no name",
		frame: func(d *difference, i int) bool {
			return d.namesOnly(i) && len(d.ours) == 1 && d.theirs[i].name == "" && d.symbol(d.ours[i].name)
		},
	},
	{
		name: "no-linkage-name",
		why:  "llvm gives the plain name of a function without linkage name; symtool puts its namespaces and types before it",
		frame: func(d *difference, i int) bool {
			return d.namesOnly(i) && d.plain(i) && slices.Contains(d.c.dies.scoped[d.raw[i].name], d.ours[i].name)
		},
	},
	{
		name: "name-from-symbol",
		why:  "llvm gives the plain name of a function without linkage name; symtool takes the ELF symbol's, without a clone's suffix",
		frame: func(d *difference, i int) bool {
			return d.namesOnly(i) && d.plain(i) && d.outermost(i) && nameIn(d.ours[i].name, d.raw[i].name) &&
				(d.symbol(d.ours[i].name) || d.clone(d.ours[i].name))
		},
	},
})

// ofNames turns rules for names into rules for frames.
func ofNames() (rules []oracleRule) {
	for _, r := range nameRules {
		rules = append(rules, oracleRule{name: r.name, why: r.why, frame: func(d *difference, i int) bool {
			rule, _ := sameName(d.ours[i].name, d.c.names[d.raw[i].name])
			return d.namesOnly(i) && rule == r.name
		}})
	}
	return rules
}

// namesOnly reports whether only the names of frame i differ.
func (d *difference) namesOnly(i int) bool {
	return d.ours[i].file == d.theirs[i].file && d.ours[i].line == d.theirs[i].line
}

// nameIn reports whether a plain name is part of a name with scopes and parameters,
// ignoring its template arguments and the position of its lambda: "~(lambda at x.c:1:2)".
func nameIn(whole, plain string) bool {
	if i := strings.IndexAny(plain, "<("); i >= 0 {
		plain = plain[:i]
	}
	return strings.Contains(skeleton(whole), skeleton(plain))
}

// outermost reports whether frame i is the function itself, not inlined.
func (d *difference) outermost(i int) bool { return i == len(d.ours)-1 }

// plain reports whether llvm found no linkage name for frame i.
func (d *difference) plain(i int) bool { return !strings.HasPrefix(d.raw[i].name, "_Z") }

// clone reports whether an ELF symbol at the start of the FUNC is a clone of name.
func (d *difference) clone(name string) bool {
	return slices.ContainsFunc(d.symbols(), func(s *mangled) bool {
		return strings.HasPrefix(s.gnu, name+" [clone ") || strings.HasPrefix(s.gnu, name+".")
	})
}

// symbol reports whether an ELF symbol at the start of the FUNC has the name, with or
// without a version.
func (d *difference) symbol(name string) bool { return oneCalled(d.symbols(), name) }

// symbolAt reports whether an ELF symbol at rva has the name.
func (c *comparison) symbolAt(rva uint64, name string) bool {
	return oneCalled(c.symbols[rva+c.base], name)
}

func oneCalled(symbols []*mangled, name string) bool {
	return slices.ContainsFunc(symbols, func(s *mangled) bool {
		plain, _, versioned := strings.Cut(s.gnu, "@")
		_, same := sameName(name, s)
		return same || versioned && plain == name
	})
}

// symbols returns the ELF symbols at the start of the FUNC.
func (d *difference) symbols() []*mangled {
	return d.c.symbols[d.c.sym.funcAt(d.rva).lo+d.c.base]
}

// explain returns the rules that account for the difference, or nil if part of it
// remains.
func (d *difference) explain() []string {
	for _, r := range addressRules {
		if r.address(d) {
			return []string{r.name}
		}
	}
	if len(d.ours) != len(d.theirs) {
		return nil
	}
	used, _ := d.explainFrames()
	return used
}

// explainFrames returns the rules that account for the differences between frames, if
// both have the same number, and reports whether they explain everything.
func (d *difference) explainFrames() (used []string, ok bool) {
	for i := range d.ours {
		if d.ours[i] == d.theirs[i] {
			continue
		}
		rule := d.explainFrame(i)
		if rule == "" {
			return nil, false
		}
		used = append(used, rule)
	}
	return used, true
}

func (d *difference) explainFrame(i int) string {
	for _, r := range frameRules {
		if r.frame(d, i) {
			return r.name
		}
	}
	return ""
}
