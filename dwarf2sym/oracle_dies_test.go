package dwarf2sym_test

import (
	"debug/dwarf"
	"debug/elf"
	"slices"
	"strings"
	"testing"
)

// dieFacts holds debug/dwarf's data about the functions of a file.
type dieFacts struct {
	edges []uint64 // where functions and inlined functions start and end

	// scoped maps a function's plain name to the names that it has after its scopes.
	scoped map[string][]string

	// plain maps a function's linkage name to its plain names, from DIEs that have both.
	plain map[string][]string

	starts map[uint64][]start       // functions by the start of their code
	folded map[uint64][][]foldedDIE // like starts, where several share the code

	unit   dwarf.Offset // the current one
	lang   int64        // of it
	d      *dwarf.Data
	refs   *dwarf.Reader
	open   []scopeDIE // around the current DIE
	nested []scopedName
}

// scopeDIE is a DIE with others below it. Only some are scopes.
type scopeDIE struct {
	text string       // of a namespace or type: its name and "::"
	fn   *dwarf.Entry // a function
}

// scopedName is a name after its scopes, which begin with a function or with nothing.
type scopedName struct {
	at      dwarf.Offset
	plain   string       // the name alone
	linkage string       // of the function around it
	outer   dwarf.Offset // if there is no linkage name: that function's DIE with a name, or 0
	rest    string       // scopes below that function, and the name
	full    string       // the complete name, once known
}

func readDIEs(t *testing.T, obj string) *dieFacts {
	t.Helper()
	f, err := elf.Open(obj)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d, err := f.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	facts := &dieFacts{scoped: map[string][]string{}, plain: map[string][]string{}, starts: map[uint64][]start{}, d: d, refs: d.Reader()}
	for r := d.Reader(); ; {
		e, err := r.Next()
		if err != nil {
			t.Fatalf("debug/dwarf: %s: %v", obj, err)
		}
		if e == nil {
			facts.assemble(t)
			facts.readFolded(t)
			return facts
		}
		if e.Tag == 0 {
			facts.open = facts.open[:len(facts.open)-1]
			continue
		}
		if err := facts.add(e); err != nil {
			t.Fatalf("debug/dwarf: %s: DIE %#x: %v", obj, e.Offset, err)
		}
	}
}

// langD is DW_LANG_D.
const langD = 0x13

// pastFunctions puts the open scopes except functions before a name: functions are nested
// in each other in D, and do not count as scopes. The name of a type in a function
// follows that function.
func (facts *dieFacts) pastFunctions(name string) string {
	in := false // a scope
	for i := len(facts.open) - 1; i >= 0; i-- {
		o := &facts.open[i]
		if o.fn == nil {
			in = in || o.text != ""
			name = o.text + name
		} else if linkage, _ := facts.functionName(o.fn); in && linkage != "" {
			return linkage + "::" + name
		}
	}
	return name
}

func (facts *dieFacts) add(e *dwarf.Entry) error {
	if e.Tag == dwarf.TagCompileUnit {
		facts.unit = e.Offset
		facts.lang, _ = e.Val(dwarf.AttrLanguage).(int64)
	}
	scope := scopeDIE{text: scopeName(e)}
	if facts.isLambda(e) {
		scope.text = "{lambda}::"
	}
	if e.Tag == dwarf.TagSubprogram || e.Tag == dwarf.TagInlinedSubroutine {
		ranges, err := facts.d.Ranges(e)
		if err != nil {
			return err
		}
		for _, x := range ranges {
			facts.edges = append(facts.edges, x[0], x[1])
			if e.Tag == dwarf.TagSubprogram && x[0] < x[1] {
				facts.starts[x[0]] = append(facts.starts[x[0]], start{e.Offset, facts.unit})
			}
		}
	}
	if e.Tag == dwarf.TagSubprogram {
		if name, ok := e.Val(dwarf.AttrName).(string); ok {
			facts.nested = append(facts.nested, facts.behindScopes(e.Offset, name))
			if facts.lang == langD {
				facts.scoped[name] = append(facts.scoped[name], facts.pastFunctions(name))
			}
			linkage, ok := e.Val(dwarf.AttrLinkageName).(string)
			if !ok {
				linkage, ok = e.Val(attrMIPSLinkageName).(string)
			}
			if ok && !slices.Contains(facts.plain[linkage], name) {
				facts.plain[linkage] = append(facts.plain[linkage], name)
			}
		}
		scope.fn = e
	}
	if e.Children {
		facts.open = append(facts.open, scope)
	}
	return nil
}

// behindScopes puts the open scopes before a function's name, back to the
// function around them.
func (facts *dieFacts) behindScopes(at dwarf.Offset, name string) scopedName {
	s := scopedName{at: at, plain: name, rest: name}
	for i := len(facts.open) - 1; i >= 0; i-- {
		o := &facts.open[i]
		s.rest = o.text + s.rest
		if o.fn != nil {
			s.linkage, s.outer = facts.functionName(o.fn)
			return s
		}
	}
	return s
}

// attrMIPSLinkageName is DW_AT_linkage_name in DWARF 2 and 3.
const attrMIPSLinkageName = dwarf.Attr(0x2007)

// functionName finds the linkage name of a function around others, or its DIE
// that has a name.
func (facts *dieFacts) functionName(e *dwarf.Entry) (linkage string, named dwarf.Offset) {
	for n := 0; e != nil && n < 8; n++ {
		for _, attr := range []dwarf.Attr{dwarf.AttrLinkageName, attrMIPSLinkageName} {
			if name, ok := e.Val(attr).(string); ok {
				return name, 0
			}
		}
		if _, ok := e.Val(dwarf.AttrName).(string); ok {
			named = e.Offset
		}
		next, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if !ok {
			next, ok = e.Val(dwarf.AttrSpecification).(dwarf.Offset)
		}
		if !ok {
			break
		}
		facts.refs.Seek(next)
		e, _ = facts.refs.Next()
	}
	return "", named
}

// assemble fills scoped.
func (facts *dieFacts) assemble(t *testing.T) {
	names, at := map[string]string{}, map[dwarf.Offset]int{}
	for i, s := range facts.nested {
		at[s.at] = i
		if s.linkage != "" {
			names[s.linkage] = s.linkage
		}
	}
	filter(t, names)
	for i := range facts.nested {
		s := &facts.nested[i]
		if full := facts.full(s, names, at); !slices.Contains(facts.scoped[s.plain], full) {
			facts.scoped[s.plain] = append(facts.scoped[s.plain], full)
		}
	}
}

// full prefixes a name with the names of the functions around it. A name that contains
// itself, in a damaged file, ends the recursion.
func (facts *dieFacts) full(s *scopedName, names map[string]string, at map[dwarf.Offset]int) string {
	if s.full != "" {
		return s.full
	}
	s.full = s.rest
	if s.linkage != "" {
		s.full = names[s.linkage] + "::" + s.rest
	} else if i, ok := at[s.outer]; ok {
		s.full = facts.full(&facts.nested[i], names, at) + "::" + s.rest
	}
	return s.full
}

// isLambda reports whether e is GCC's type for a lambda: it has no name, and its
// constructor or destructor is named like a lambda's.
func (facts *dieFacts) isLambda(e *dwarf.Entry) bool {
	if !e.Children || e.Tag != dwarf.TagStructType && e.Tag != dwarf.TagClassType || e.Val(dwarf.AttrName) != nil {
		return false
	}
	facts.refs.Seek(e.Offset)
	for _, err := facts.refs.Next(); err == nil; facts.refs.SkipChildren() {
		var member *dwarf.Entry
		if member, err = facts.refs.Next(); err != nil || member == nil || member.Tag == 0 {
			return false
		}
		if name, _ := member.Val(dwarf.AttrName).(string); strings.TrimPrefix(name, "~") == "<lambda>" {
			return true
		}
	}
	return false
}

// scopeName returns the prefix that a namespace or type adds to the names below it.
func scopeName(e *dwarf.Entry) string {
	kinds := map[dwarf.Tag]string{
		dwarf.TagNamespace: "namespace", dwarf.TagStructType: "struct", dwarf.TagClassType: "class",
		dwarf.TagUnionType: "union", dwarf.TagEnumerationType: "enum", dwarf.TagModule: "module",
	}
	kind, ok := kinds[e.Tag]
	if !ok {
		return ""
	}
	if name, ok := e.Val(dwarf.AttrName).(string); ok {
		return name + "::"
	}
	return "(anonymous " + kind + ")::"
}
