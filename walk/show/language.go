package show

import (
	"strings"

	"github.com/symtool/symtool/symfmt/vars"
)

// language is the style in which a value is shown.
type language uint8

const (
	langC language = iota // also for C++ and all other languages
	langRust
	langGo
)

// scalarsOf are names of base types that exist in only one language.
var scalarsOf = map[string]language{
	"i8": langRust, "i16": langRust, "i32": langRust, "i64": langRust, "i128": langRust, "isize": langRust,
	"u8": langRust, "u16": langRust, "u32": langRust, "u64": langRust, "u128": langRust, "usize": langRust,
	"f32": langRust, "f64": langRust, "()": langRust,
	"int8": langGo, "int16": langGo, "int32": langGo, "int64": langGo, "uint": langGo, "uint8": langGo, "uint16": langGo,
	"uint32": langGo, "uint64": langGo, "uintptr": langGo, "float32": langGo, "float64": langGo,
	"complex64": langGo, "complex128": langGo,
}

// language returns the language in whose style a value of a type is shown: the function's, if it is known.
func (s *showing) language(id vars.TypeID) language {
	if s.f.Func == nil || s.f.Func.Language == 0 {
		return s.languageOf(s.in, id)
	}
	switch s.f.Func.Language {
	case vars.Rust:
		return langRust
	case vars.Go:
		return langGo
	}
	return langC
}

// languageOf returns the language of a type, judging by the scalars in it, because a module may have code in
// several languages.
func (p *Printer) languageOf(in *vars.Info, id vars.TypeID) language {
	key := typeKey{in, id}
	if l, ok := p.langs[key]; ok {
		return l
	}
	if p.within++; p.within > maxWithin {
		p.within--
		return langC
	}
	p.langs[key] = langC // for a type that contains itself
	l := p.findLanguage(in, id)
	p.langs[key] = l
	p.within--
	return l
}

// maxWithin limits how many nested types are searched for a scalar.
const maxWithin = 100

func (p *Printer) findLanguage(in *vars.Info, id vars.TypeID) language {
	t := &in.Types[id]
	switch {
	case t.Kind == vars.Base:
		if t.Name == "char" && t.Encoding == vars.UTF {
			return langRust
		}
		return scalarsOf[t.Name]
	case strings.HasPrefix(t.Name, "core::") || strings.HasPrefix(t.Name, "alloc::") || strings.HasPrefix(t.Name, "&") || len(t.Variants()) > 0:
		return langRust
	case t.Name == "string" && t.Kind == vars.Struct, strings.HasPrefix(t.Name, "[]"), strings.HasPrefix(t.Name, "map["):
		return langGo
	}
	for _, m := range t.Members {
		if l := p.languageOf(in, m.Type); l != langC {
			return l
		}
	}
	if t.Elem != 0 {
		return p.languageOf(in, t.Elem)
	}
	return langC
}
