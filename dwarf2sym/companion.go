package dwarf2sym

import "github.com/symtool/symtool/internal/object"

// companion is a file that describes the code of a binary: the binary, its
// separate debug file, the file in its .gnu_debugdata.
type companion struct {
	*object.File

	// moved is what to add, modulo 2^64, to an address in this file to get the
	// one in the binary: a prelinked binary, or one that "objcopy
	// --change-addresses" moved, has others than its debug file. RVAs are always
	// those of the binary: it is what is loaded.
	moved uint64

	mini bool // it was in .gnu_debugdata
}

// findCompanions fills in r.companions: the binary, then its debug file, if
// any, then, where neither has a .symtab, the file in .gnu_debugdata.
func (r *reader) findCompanions() error {
	r.companions = []companion{{File: r.file}}
	symtab := r.file.HasSymbols(object.Symtab)
	if r.debug != nil {
		moved, err := r.file.Moved(r.debug)
		if err != nil {
			return err
		}
		r.companions = append(r.companions, companion{File: r.debug, moved: moved})
		symtab = symtab || r.debug.HasSymbols(object.Symtab)
	}
	if symtab {
		return nil
	}
	mini, err := r.file.Embedded()
	if mini == nil {
		if err != nil {
			r.problem(problemFile, "the symbols in it", err)
		}
		return nil
	}
	moved, err := r.file.Moved(mini)
	if err != nil {
		r.problem(problemFile, "the symbols in it", err)
		return nil
	}
	r.companions = append(r.companions, companion{mini, moved, true})
	return nil
}

// described returns the file whose debug information is read.
func (r *reader) described() companion {
	for _, c := range r.companions[1:] {
		if c.File == r.debug && c.HasDWARF() {
			return c
		}
	}
	return r.companions[0]
}

// newCompanionMap returns the code of a file, as RVAs of the binary, whose load base
// is base. Code that would lie below it is in no segment of the binary.
func newCompanionMap(c companion, base uint64) *codeMap {
	m := &codeMap{base: base - c.moved}
	for _, r := range c.CodeRanges() {
		m.starts = append(m.starts, r.Start)
	}
	for _, r := range c.ExecRanges() {
		size := r.End - r.Start
		start := r.Start + c.moved
		below0 := int64(base) >= 0 && int64(c.moved) < 0 && r.Start < -c.moved
		if below0 || start < base {
			lead := min(base-start, size)
			r.Start, size = r.Start+lead, size-lead
		}
		if size > 0 {
			m.exec = append(m.exec, r)
		}
	}
	return m
}
