package show

import (
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/symfmt/vars"
)

// redactPattern returns a pattern as it is compared: in lower case, and without the word that C has before names of
// types, which the names of types here do not have.
func redactPattern(text string) string {
	text = strings.ToLower(text)
	for _, word := range []string{"struct ", "class ", "union ", "enum "} {
		text = strings.TrimPrefix(text, word)
	}
	return text
}

// Redacts reports whether there are patterns of names whose values are not shown.
func (p *Printer) Redacts() bool { return len(p.redact) > 0 }

// isRedacted reports whether a value is not to be shown.
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

// isRedactedType reports whether values of a type are not to be shown. A pattern that names a type also means its
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
	return false // it is made of itself, and has no values
}

// maxChain limits how many typedefs and qualifiers one type has.
const maxChain = 64

// matchesName reports whether one of the patterns matches the name of a type, in lower case, without its scopes or
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

// matches reports whether one of the patterns of what is redacted matches.
func (p *Printer) matches(name string) bool {
	return slices.ContainsFunc(p.redact, func(x pattern) bool { return x.matches(name) })
}

// holds reports whether a value of a type has members that are not to be shown, at any depth; true if they are
// nested too deep to know.
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
	p.holding[key] = false // of a type that contains itself, which no value can have
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

// shares reports whether a member is not to be shown, or has something that is not.
func (p *Printer) shares(in *vars.Info, name string, id vars.TypeID, depth int) bool {
	return p.isRedacted(in, name, id) || p.holds(in, id, depth-1)
}

// valueOf shows what a map has for a key whose text is given.
func (s *showing) valueOf(key string, value part, depth int) string {
	if s.Redacts() && s.matches(strings.ToLower(strings.Trim(key, `"`))) {
		return redacted
	}
	return s.text(value.value, value.id, depth)
}
