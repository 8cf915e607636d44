// Package show shows values of variables as text, in the style of their language, and as a tree of members.
// Well-known types of C++, Rust and Go are shown as what they represent, a std::string as its text, by the rules in
// rules.txt.
//
// Values come from the memory of a process that crashed. Whatever they are, the text contains no character that
// could affect a terminal, and its length and the work for it are limited.
package show

import (
	"bytes"
	"strings"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/symfmt/vars"
	"github.com/symtool/symtool/walk/eval"
)

// The defaults of Options.
const (
	DefaultDepth  = 8
	DefaultLength = 32
)

// Options configure how values are shown. The zero value has the defaults.
type Options struct {
	Depth  int // how many levels of nested structures are shown; 0 means DefaultDepth
	Length int // elements shown of an array; of a text, four times as many characters; 0 means DefaultLength
	// Redact are patterns of names whose values are hidden: names of variables, members and types, and texts that
	// are keys of maps. A type also matches by its name without scopes and template arguments, and by the names of
	// the types behind its typedefs and qualifiers. In a pattern, * stands for any text, and case does not matter. A
	// union is hidden if one of its members is.
	Redact []string
	// Symbol returns the symbol that contains an address, or "". It is nil if there are no symbols.
	Symbol func(addr uint64) string
}

// Printer shows the values of variables. It must not be used concurrently.
type Printer struct {
	o      Options
	redact []pattern

	names    map[*vars.Info]map[string]vars.TypeID // types by name, for modules in which one was looked up
	langs    map[typeKey]language
	sizes    map[typeKey]typeSize
	redacted map[typeKey]bool // by type: whether its values are hidden; only types that were met
	holding  map[typeKey]bool // by type: whether a value contains something hidden

	within   int // calls of languageOf that are running
	allLooks int // of maxLookedAll
}

// New returns a Printer.
func New(o Options) *Printer {
	if o.Depth <= 0 {
		o.Depth = DefaultDepth
	}
	if o.Length <= 0 {
		o.Length = DefaultLength
	}
	p := &Printer{o: o, allLooks: maxLookedAll, names: map[*vars.Info]map[string]vars.TypeID{}, langs: map[typeKey]language{}, sizes: map[typeKey]typeSize{}, redacted: map[typeKey]bool{}, holding: map[typeKey]bool{}}
	for _, text := range o.Redact {
		p.redact = append(p.redact, newPattern(redactPattern(text)))
	}
	return p
}

// maxParts limits the members, elements and targets of pointers shown for one variable.
const maxParts = 400

// redacted replaces values that match Options.Redact.
const redacted = "<redacted>"

// Text returns the value of a variable of a frame as text.
func (p *Printer) Text(f *eval.Frame, v *eval.Variable) string {
	if p.isRedacted(f.Info, v.Name, v.Type) {
		return redacted
	}
	s := p.start(f)
	return text.Printable(s.text(v.Value, v.Type, 0))
}

// start prepares for a variable.
func (p *Printer) start(f *eval.Frame) *showing {
	return &showing{Printer: p, f: f, in: f.Info, left: maxParts, looks: maxLooked, bytes: maxBytes, toMask: maxMaskParts}
}

// typeKey is a type of a module.
type typeKey struct {
	in *vars.Info
	id vars.TypeID
}

// typeSize is the size of a type in bytes, if it is known.
type typeSize struct {
	size  uint64
	known bool
}

// sizeOf returns the size of a type, if it is the same for all values. The size of a type that is made of many
// others takes long to compute.
func (s *showing) sizeOf(id vars.TypeID) (uint64, bool) {
	key := typeKey{s.in, id}
	x, met := s.sizes[key]
	if !met {
		x.size, x.known = s.in.SizeOf(id, s.f.Arch.PtrSize)
		s.sizes[key] = x
	}
	return x.size, x.known
}

// showing is the state of showing one variable.
type showing struct {
	*Printer
	f         *eval.Frame
	in        *vars.Info
	left      int  // of maxParts
	looks     int  // of maxLooked
	bytes     int  // of maxBytes
	toMask    int  // of maxMaskParts
	following bool // showing the target of a pointer
	lost      bool // the dump lacks a node of the current container
}

// missing says why a value is not shown.
func missing(v *eval.Value) string {
	word := "<optimized out"
	if v.Status() == eval.NotInDump {
		word = "<unavailable"
	}
	if v.Why != "" {
		word += ": " + v.Why
	}
	return word + ">"
}

// partly shows a scalar with some unknown bytes.
func partly(v *eval.Value) string {
	if len(v.Bytes) > maxPartly {
		first := v.Part(0, maxPartly)
		return "<partly known: " + first.Hex() + "...>"
	}
	return "<partly known: " + v.Hex() + ">"
}

// maxPartly is the maximum number of bytes shown of a value with unknown bytes.
const maxPartly = 64

// text returns a value as text.
func (s *showing) text(v eval.Value, id vars.TypeID, depth int) string {
	if s.left--; s.left < 0 {
		return "..."
	}
	if len(s.redact) > 0 && s.isRedacted(s.in, "", id) {
		return redacted
	}
	t, plain := s.in.Plain(id)
	switch {
	case t != nil && t.Kind == vars.Unspecified && strings.Contains(t.Name, "nullptr"): // it has one value, and no size
		return "nullptr"
	case t == nil || v.Status() != eval.HasValue || len(v.Bytes) == 0 && len(v.States) == 0 && v.Why != "":
		return missing(&v)
	case v.Pointee != nil:
		return "<no address> -> " + s.pointee(v.Pointee, t, depth)
	}
	if r, parts := s.ruleOf(v, id, plain); r != nil {
		return s.shape(r, parts, v, id, depth)
	}
	switch t.Kind {
	case vars.Struct, vars.Class, vars.Union:
		return s.structure(v, t, id, depth)
	case vars.Array, vars.Vector:
		return s.array(v, t, plain, depth)
	case vars.String:
		return s.limited(v.Bytes, &v)
	}
	if s.isX87(t) { // the rest is padding
		v = v.Part(0, min(x87Size, len(v.Bytes)))
	}
	if !v.Whole() {
		return partly(&v)
	}
	return s.scalar(v, t, depth)
}

// pointee shows the target of an implicit pointer.
func (s *showing) pointee(to *eval.Pointee, t *vars.Type, depth int) string {
	if to.Var == 0 {
		return s.pointeeWithoutName(to, t.Elem, depth)
	}
	id := s.in.Vars[to.Var].Type
	if s.isRedacted(s.in, s.in.Vars[to.Var].Name, id) {
		return redacted
	}
	if size, ok := s.sizeOf(t.Elem); ok && to.Offset != 0 && to.Offset > 0 {
		return s.text(to.Value.Part(int(to.Offset), int(size)), t.Elem, depth+1)
	}
	return s.text(to.Value, id, depth+1)
}

// pointeeWithoutName shows the target of an implicit pointer that is not a variable of the frame: a text, or the
// memory at a fixed address.
func (s *showing) pointeeWithoutName(to *eval.Pointee, id vars.TypeID, depth int) string {
	v, at := to.Value, int64(len(to.Value.Bytes))
	size, ok := s.sizeOf(id)
	elem, _ := s.in.Plain(id)
	if v.InMemory && ok && size <= eval.MaxValue {
		addr := v.Address + uint64(to.Offset)
		if elem != nil && isCharacter(elem) {
			if text := s.terminated(addr, elem); text != "" {
				return text
			}
		}
		return s.text(s.f.Read(addr, int(size)), id, depth+1)
	}
	if to.Offset >= 0 && to.Offset < at {
		at = to.Offset
	}
	rest := v.Part(int(at), len(v.Bytes)-int(at))
	rest.Bytes = bytes.TrimSuffix(rest.Bytes, []byte{0})
	return s.limited(rest.Bytes, &rest)
}
