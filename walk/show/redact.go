package show

import (
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/symfmt/vars"
)

// redactPattern returns a pattern in the form in which it is compared: in lower case, and without C's keyword
// before names of types, which the names of types here do not have.
func redactPattern(text string) string {
	text = strings.ToLower(text)
	for _, word := range []string{"struct ", "class ", "union ", "enum "} {
		text = strings.TrimPrefix(text, word)
	}
	return text
}

// Redacts reports whether there are patterns of names whose values are hidden.
func (p *Printer) Redacts() bool { return len(p.redact) > 0 }

// isRedacted reports whether a value must be hidden.
func (p *Printer) isRedacted(in *vars.Info, name string, id vars.TypeID) bool {
	if len(p.redact) == 0 {
		return false
	}
	if name != "" && p.matches(strings.ToLower(name)) {
		return true
	}
	key := typeKey{in, id}
	yes, known := p.redacted[key]
	if !known {
		yes = p.isRedactedType(in, id)
		p.redacted[key] = yes
	}
	return yes
}

// isRedactedType reports whether values of a type must be hidden. A pattern that names a type also matches its
// typedefs and qualified types. The members of a union share their bytes.
func (p *Printer) isRedactedType(in *vars.Info, id vars.TypeID) bool {
	for range maxChain {
		t := &in.Types[id]
		if p.matches(strings.ToLower(in.TypeName(id))) || p.matchesName(strings.ToLower(t.Name)) {
			return true
		}
		switch t.Kind {
		case vars.Typedef, vars.Const, vars.Volatile, vars.Restrict, vars.Atomic, vars.Subrange:
			id = t.Elem
		case vars.Union:
			return p.holds(in, id, maxMask)
		default:
			return false
		}
	}
	return false // the type contains itself, and so has no values
}

// maxChain limits the number of typedefs and qualifiers of a type.
const maxChain = 64

// matchesName reports whether a pattern matches the name of a type, in lower case, either without its scopes or
// also without its arguments.
func (p *Printer) matchesName(name string) bool {
	last := text.LastPart(name)
	bare, _, _ := strings.Cut(last, "<")
	if !strings.Contains(name, "::") && strings.Contains(bare, ".") { // Go: path/name.Type[argument]
		bare, _, _ = strings.Cut(bare, "[")
		bare = bare[strings.LastIndexByte(bare, '.')+1:]
	}
	return bare != "" && (p.matches(last) || p.matches(bare))
}

// matches reports whether a redaction pattern matches name.
func (p *Printer) matches(name string) bool {
	return slices.ContainsFunc(p.redact, func(x pattern) bool { return x.matches(name) })
}

// holds reports whether a value of a type has members that must be hidden, at any depth. It returns true if they
// are nested too deep to know.
func (p *Printer) holds(in *vars.Info, id vars.TypeID, depth int) bool {
	t, id := in.Plain(id)
	if t == nil || depth == 0 {
		return true
	}
	key := typeKey{in, id}
	yes, known := p.holding[key]
	if known {
		return yes
	}
	p.holding[key] = false // no value can have a type that contains itself
	yes = (t.Kind == vars.Array || t.Kind == vars.Vector) && p.shares(in, "", t.Elem, depth)
	for m := range allMembers(t) {
		if yes {
			break
		}
		yes = m != nil && p.shares(in, m.Name, m.Type, depth)
	}
	p.holding[key] = yes
	return yes
}

// shares reports whether a member must be hidden, or contains something that must be.
func (p *Printer) shares(in *vars.Info, name string, id vars.TypeID, depth int) bool {
	return p.isRedacted(in, name, id) || p.holds(in, id, depth-1)
}

// valueOf shows the value of a map's element whose key is shown as key.
func (s *showing) valueOf(key string, value part, depth int) string {
	if s.Redacts() && s.matches(strings.ToLower(strings.Trim(key, `"`))) {
		return redacted
	}
	return s.text(value.value, value.id, depth)
}
