package report

import (
	"fmt"
	"slices"

	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/eval"
	"github.com/symtool/symtool/walk/show"
)

// Variables holds the variables of a walk's frames, and how to write them. It must not be used
// concurrently.
type Variables struct {
	of      *walk.Variables
	printer *show.Printer
	locals  bool
	left    int // bytes of values that may still be written
}

// Limits on the values that are written for a dump, in bytes: a base, and an amount for each byte of
// its memory. Real values need a few bytes for each byte of stack.
const (
	valuesBase  = 4 << 20
	valuesRatio = 4
)

// limited replaces values beyond the limits.
const limited = "<not shown: there are too many values>"

// VariableOptions configure NewVariables. With the zero value, only parameters are shown.
type VariableOptions struct {
	Locals bool         // local variables, too
	Show   show.Options // Symbol is replaced by the walk's
}

// NewVariables returns the variables of a walk. Addresses are shown with the walk's symbols.
func NewVariables(of *walk.Variables, o VariableOptions) *Variables {
	o.Show.Symbol = of.Symbol
	return &Variables{of, show.New(o.Show), o.Locals, valuesBase + valuesRatio*int(of.MemorySize())}
}

// at returns the variables of a frame that are to be written, by index in Frame.Names.
func (v *Variables) at(stack, frame int) (*eval.Frame, [][]eval.Variable) {
	f, all := v.of.Of(stack, frame)
	for k := range all {
		all[k] = slices.DeleteFunc(all[k], func(x eval.Variable) bool { return !v.locals && !x.Param })
	}
	return f, all
}

// maxTypeName limits the length of a type's name in text: C++ has names of kilobytes.
const maxTypeName = 100

// variables writes the variables of the function at index k of a frame's names.
func (p *textWriter) variables(s *viewStack, frame, k int) {
	if p.o.Variables == nil {
		return
	}
	f, all := p.o.Variables.at(s.index, frame)
	if k >= len(all) || len(all[k]) == 0 {
		return
	}
	p.put("    Variables:\n")
	for i := range all[k] {
		v := &all[k][i]
		kind, hidden := "local", ""
		if v.Param {
			kind = "param"
		}
		if v.Hidden > 0 {
			hidden = "  (hidden by another " + v.Name + ")"
		}
		name := v.Name
		if name == "" {
			name = "<anonymous>"
		}
		line := fmt.Sprintf("      %s (%s) %s = ", kind, safe(shortened(show.TypeName(f.Info, v.Type))), safe(name))
		if !p.o.Variables.charge(len(line)) {
			p.put("      %s\n", limited)
			return
		}
		value := safe(p.o.Variables.printer.Text(f, v))
		p.o.Variables.charge(len(value))
		p.put("%s%s%s\n", line, value, safe(hidden))
	}
	if len(all[k]) == eval.MaxVariables {
		p.put("      <variables after the first %d are not shown>\n", eval.MaxVariables)
	}
}

// redacts reports whether values are hidden because of their names.
func (v *Variables) redacts() bool { return v != nil && v.printer.Redacts() }

// charge charges n bytes of values, and reports whether the limits allow them.
func (v *Variables) charge(n int) bool {
	v.left -= n
	return v.left >= 0
}

// shortened returns the first part of a long name.
func shortened(name string) string {
	if r := []rune(name); len(r) > maxTypeName {
		return string(r[:maxTypeName-3]) + "..."
	}
	return name
}

// docVariable is a variable of a frame, or a member of one.
type docVariable struct {
	Address   *string `json:"address,omitempty"` // of a value in memory
	BitOffset *int    `json:"bit_offset,omitempty"`
	BitSize   int     `json:"bit_size,omitempty"` // of a bit field
	Bytes     string  `json:"bytes"`              // in hexadecimal, in the order of memory, with ".." for each unknown byte
	Depth     *int    `json:"depth,omitempty"`    // of the block in its function, 0 for the innermost; variables only
	Kind      string  `json:"kind,omitempty"`     // "param" or "local"; variables only

	Members          []docVariable `json:"members,omitempty"`
	MembersTruncated bool          `json:"members_truncated,omitempty"`

	Name   string  `json:"name"`             // "[2]" for an element, "::Base" for a base class, "<anonymous>" if it has none
	Offset *uint64 `json:"offset,omitempty"` // of a member, in the value that contains it
	Shadow int     `json:"shadow,omitempty"` // number of variables in inner scopes that hide this one
	Status string  `json:"status"`           // "value", "optimized_out" or "unavailable"
	Type   string  `json:"type"`
	Value  string  `json:"value"` // as text; empty if the value has members
	Why    string  `json:"why,omitempty"`
}

// variables adds the variables of a frame.
func (m *documentMaker) variables(doc *docFrame, stack, frame int) {
	f, all := m.o.Variables.at(stack, frame)
	doc.Symtool.Variables = []docVariable{}
	for k := range all {
		list := make([]docVariable, len(all[k]))
		for i := range all[k] {
			list[i] = m.variable(f, &all[k][i])
		}
		if k == len(all)-1 {
			doc.Symtool.Variables = list
		} else {
			doc.Inlines[k].more().Variables = list
		}
	}
	for k := range doc.Inlines {
		if in := doc.Inlines[k].more(); in.Variables == nil {
			in.Variables = []docVariable{}
		}
	}
}

// more returns what we add to the schema for an inlined function, allocating it if necessary.
func (in *docInline) more() *docInlineExtra {
	if in.Symtool == nil {
		in.Symtool = &docInlineExtra{}
	}
	return in.Symtool
}

func (m *documentMaker) variable(f *eval.Frame, v *eval.Variable) docVariable {
	n := show.Node{Name: v.Name, Type: f.Info.TypeName(v.Type), Value: limited, Status: v.Status()}
	if m.o.Variables.charge(len(n.Type)) {
		n = m.o.Variables.printer.Tree(f, v)
	}
	doc := m.node(&n)
	doc.Kind, doc.Depth, doc.Shadow = "local", &v.Block, v.Hidden
	if v.Param {
		doc.Kind = "param"
	}
	return doc
}

// nodeSize is the size of a value in JSON without its texts.
const nodeSize = 100

// node is a variable or a member.
func (m *documentMaker) node(n *show.Node) docVariable {
	m.o.Variables.charge(nodeSize + len(n.Name) + len(n.Type) + len(n.Value) + len(n.Bytes) + len(n.Why))
	doc := docVariable{
		Name: n.Name, Type: n.Type, Value: n.Value, Bytes: n.Bytes, Status: n.Status.String(), Why: n.Why, MembersTruncated: n.Cut,
	}
	if n.InMemory {
		doc.Address = m.hexPtr(n.Address)
	}
	if n.BitSize > 0 {
		doc.BitOffset, doc.BitSize = &n.BitOffset, n.BitSize
	}
	for i := range n.Members {
		member := m.node(&n.Members[i])
		member.Offset = &n.Members[i].Offset
		doc.Members = append(doc.Members, member)
	}
	return doc
}
