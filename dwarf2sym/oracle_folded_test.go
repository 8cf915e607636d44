package dwarf2sym_test

import (
	"debug/dwarf"
	"slices"
	"testing"
)

// foldedDIE is a function whose code several functions share, or a function inlined into
// it.
type foldedDIE struct {
	depth  int    // of the inlined functions: 0 is the function itself
	name   string // the linkage name, or else the plain one
	ranges [][2]uint64
	call   frame // where it is called, if inlined
}

// start is a DIE of a function that has code at an address.
type start struct {
	die, unit dwarf.Offset
}

// readFolded reads the functions that start at the same address as others.
func (facts *dieFacts) readFolded(t *testing.T) {
	t.Helper()
	facts.folded = map[uint64][][]foldedDIE{}
	files := map[dwarf.Offset][]*dwarf.LineFile{}
	for addr, all := range facts.starts {
		if len(all) < 2 {
			continue
		}
		for _, s := range all {
			if _, ok := files[s.unit]; !ok {
				files[s.unit] = facts.filesOf(t, s.unit)
			}
			tree, err := facts.inlinedIn(s.die, files[s.unit])
			if err != nil {
				t.Fatalf("debug/dwarf: DIE %#x: %v", s.die, err)
			}
			facts.folded[addr] = append(facts.folded[addr], tree)
		}
	}
}

// filesOf returns the files of a unit's line table.
func (facts *dieFacts) filesOf(t *testing.T, unit dwarf.Offset) []*dwarf.LineFile {
	t.Helper()
	facts.refs.Seek(unit)
	e, err := facts.refs.Next()
	if err != nil {
		t.Fatal(err)
	}
	lines, err := facts.d.LineReader(e)
	if err != nil {
		t.Fatalf("debug/dwarf: lines of the unit at %#x: %v", unit, err)
	}
	if lines == nil {
		return nil
	}
	return lines.Files()
}

// inlinedIn returns a function and the functions inlined into it, each before those
// inlined into it.
func (facts *dieFacts) inlinedIn(die dwarf.Offset, files []*dwarf.LineFile) (tree []foldedDIE, err error) {
	r := facts.d.Reader()
	r.Seek(die)
	depths := []int{0} // depth of the inlined functions in each open DIE
	for len(depths) > 0 {
		e, err := r.Next()
		if err != nil {
			return nil, err
		}
		depth := depths[len(depths)-1]
		switch {
		case e.Tag == 0:
			depths = depths[:len(depths)-1]
			continue
		case e.Tag == dwarf.TagInlinedSubroutine || e.Offset == die:
			in := foldedDIE{depth: depth, name: facts.anyName(e), call: callOf(e, files)}
			if in.ranges, err = facts.d.Ranges(e); err != nil {
				return nil, err
			}
			tree = append(tree, in)
			depth++
		case e.Tag == dwarf.TagSubprogram:
			r.SkipChildren()
			continue
		}
		if e.Children {
			depths = append(depths, depth)
		}
		if len(depths) == 1 {
			break // a function without children
		}
	}
	return tree, nil
}

// anyName returns the linkage name or, if there is none, the plain one.
func (facts *dieFacts) anyName(e *dwarf.Entry) string {
	linkage, named := facts.functionName(e)
	if linkage != "" || named == 0 {
		return linkage
	}
	facts.refs.Seek(named)
	if e, err := facts.refs.Next(); err == nil {
		name, _ := e.Val(dwarf.AttrName).(string)
		return name
	}
	return ""
}

func callOf(e *dwarf.Entry, files []*dwarf.LineFile) (call frame) {
	line, _ := e.Val(dwarf.AttrCallLine).(int64)
	call.line = int(line)
	if n, ok := e.Val(dwarf.AttrCallFile).(int64); ok && n < int64(len(files)) && files[n] != nil {
		call.file = files[n].Name
	}
	return call
}

// foldedNames returns the names of all functions that share code.
func (facts *dieFacts) foldedNames() (names [][]frame) {
	for _, trees := range facts.folded {
		for _, tree := range trees {
			for _, in := range tree {
				names = append(names, []frame{{name: in.name}})
			}
		}
	}
	return names
}

// stackAt returns the functions open at an address, innermost first, with names as they
// are in the file. at is the file and line there. The result is empty if the address is
// outside the function.
func stackAt(tree []foldedDIE, addr uint64, at frame) (stack []frame) {
	for _, in := range tree {
		if in.depth != len(stack) || !slices.ContainsFunc(in.ranges, func(r [2]uint64) bool { return r[0] <= addr && addr < r[1] }) {
			continue
		}
		if in.depth > 0 {
			stack[in.depth-1].file, stack[in.depth-1].line = in.call.file, in.call.line
		}
		stack = append(stack, frame{in.name, at.file, at.line})
	}
	slices.Reverse(stack)
	return stack
}

// oneOfFolded reports whether symtool's frames are those of one of several functions that
// share the code, as debug/dwarf reads it, apart from what frame rules explain.
func (d *difference) oneOfFolded() bool {
	f := d.c.sym.funcAt(d.rva)
	if f == nil || len(d.theirs) == 0 {
		return false
	}
	return slices.ContainsFunc(d.c.dies.folded[f.lo+d.c.base], func(tree []foldedDIE) bool {
		one := &difference{c: d.c, addr: d.addr, rva: d.rva, ours: d.ours, raw: stackAt(tree, d.addr, d.theirs[0])}
		for _, f := range one.raw {
			f.name = d.c.names[f.name].gnu
			one.theirs = append(one.theirs, f)
		}
		if len(one.ours) != len(one.theirs) {
			return false
		}
		_, ok := one.explainFrames()
		return ok
	})
}
