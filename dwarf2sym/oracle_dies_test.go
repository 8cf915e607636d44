package dwarf2sym_test

import (
	"debug/dwarf"
	"debug/elf"
	"slices"
	"testing"
)

// dieFacts is what debug/dwarf says about the functions of a file.
type dieFacts struct {
	edges []uint64 // where functions and inlined functions start and end

	// A function's plain name -> the names that it has behind its scopes.
	scoped map[string][]string

	// A function's linkage name -> its plain name, where the DIE has both.
	plain map[string]string

	d      *dwarf.Data
	refs   *dwarf.Reader
	open   []scopeDIE // around the DIE at hand
	nested []scopedName
}

// scopeDIE is a DIE with others below it. Only some make a scope.
type scopeDIE struct {
	text string       // of a namespace or type: its name and "::"
	fn   *dwarf.Entry // a function
	at   int          // index in dieFacts.nested of the function's own name
}

// scopedName is a name behind its scopes, which begin with a function or with
// nothing.
type scopedName struct {
	plain   string // the name alone
	linkage string // of the function around it
	outer   int    // without linkage: index of that function in nested, or -1
	rest    string // scopes below that function, and the name
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
	facts := &dieFacts{scoped: map[string][]string{}, plain: map[string]string{}, d: d, refs: d.Reader()}
	for r := d.Reader(); ; {
		e, err := r.Next()
		if err != nil {
			t.Fatalf("debug/dwarf: %s: %v", obj, err)
		}
		if e == nil {
			facts.assemble(t)
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

func (facts *dieFacts) add(e *dwarf.Entry) error {
	scope := scopeDIE{text: scopeName(e), at: -1}
	if e.Tag == dwarf.TagSubprogram || e.Tag == dwarf.TagInlinedSubroutine {
		ranges, err := facts.d.Ranges(e)
		if err != nil {
			return err
		}
		for _, x := range ranges {
			facts.edges = append(facts.edges, x[0], x[1])
		}
	}
	if e.Tag == dwarf.TagSubprogram {
		if name, ok := e.Val(dwarf.AttrName).(string); ok {
			facts.nested = append(facts.nested, facts.behindScopes(name))
			scope.at = len(facts.nested) - 1
			if linkage, ok := e.Val(dwarf.AttrLinkageName).(string); ok {
				facts.plain[linkage] = name
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
func (facts *dieFacts) behindScopes(name string) scopedName {
	s := scopedName{plain: name, outer: -1, rest: name}
	for i := len(facts.open) - 1; i >= 0; i-- {
		o := &facts.open[i]
		s.rest = o.text + s.rest
		if o.fn != nil {
			s.linkage, s.outer = facts.functionName(o)
			return s
		}
	}
	return s
}

// attrMIPSLinkageName is what DWARF 2 and 3 have for DW_AT_linkage_name.
const attrMIPSLinkageName = dwarf.Attr(0x2007)

// functionName finds the linkage name of a function around others, or its
// index in nested.
func (facts *dieFacts) functionName(o *scopeDIE) (linkage string, at int) {
	at = o.at
	for e, n := o.fn, 0; e != nil && n < 8; n++ {
		for _, attr := range []dwarf.Attr{dwarf.AttrLinkageName, attrMIPSLinkageName} {
			if name, ok := e.Val(attr).(string); ok {
				return name, -1
			}
		}
		if name, ok := e.Val(dwarf.AttrName).(string); ok && at < 0 {
			at = slices.IndexFunc(facts.nested, func(s scopedName) bool { return s.plain == name })
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
	return "", at
}

// assemble fills scoped.
func (facts *dieFacts) assemble(t *testing.T) {
	names := map[string]string{}
	for _, s := range facts.nested {
		if s.linkage != "" {
			names[s.linkage] = s.linkage
		}
	}
	filter(t, names)
	full := make([]string, len(facts.nested))
	for i, s := range facts.nested {
		full[i] = s.rest
		if s.linkage != "" {
			full[i] = names[s.linkage] + "::" + s.rest
		} else if s.outer >= 0 {
			full[i] = full[s.outer] + "::" + s.rest
		}
		if !slices.Contains(facts.scoped[s.plain], full[i]) {
			facts.scoped[s.plain] = append(facts.scoped[s.plain], full[i])
		}
	}
}

// scopeName returns what a namespace or type puts before the names below it.
func scopeName(e *dwarf.Entry) string {
	kinds := map[dwarf.Tag]string{
		dwarf.TagNamespace: "namespace", dwarf.TagStructType: "struct", dwarf.TagClassType: "class",
		dwarf.TagUnionType: "union", dwarf.TagEnumerationType: "enum",
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
