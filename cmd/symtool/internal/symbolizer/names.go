package symbolizer

import (
	"strings"

	"github.com/symtool/symtool/internal/demangle"
	"github.com/symtool/symtool/internal/demangle/itanium"
	"github.com/symtool/symtool/internal/demangle/msvc"
)

// demangle returns the source form of a name. As in LLVM, the hash of old Rust names stays, and what follows a dot.
func (s *Symbolizer) demangle(name string) string {
	if !s.Style.ofLLVM() {
		return demangled(name)
	}
	switch {
	case strings.HasPrefix(name, "_D"):
		return orRaw(demangle.AppendD, name)
	case strings.HasPrefix(name, "?"):
		return orRaw(msvc.AppendLLVM, name)
	case strings.HasPrefix(name, "__Z"), strings.HasPrefix(name, "____Z"): // with the additional underscore of macOS
		if out := s.demangle(name[1:]); out != name[1:] {
			return out
		}
		return name
	case strings.HasPrefix(name, "_GLOBAL_"): // LLVM does not change these
		return name
	}
	if plain, suffix, dotted := strings.Cut(name, "."); dotted && strings.HasPrefix(name, "_R") {
		if out, err := demangle.Append(nil, plain); err == nil {
			return string(out) + " (." + suffix + ")"
		}
	}
	if !strings.HasPrefix(name, "_Z") {
		return demangled(name)
	}
	if out, err := itanium.AppendLLVM(nil, name); err == nil {
		return string(out)
	}
	dot := strings.LastIndex(name, ".llvm.") // follows names of Rust, which contain dots themselves
	if dot < 0 {
		dot = strings.IndexByte(name, '.')
	}
	if dot < 0 {
		return name
	}
	out, err := itanium.AppendLLVM(nil, name[:dot])
	if err != nil {
		return name
	}
	return string(out) + " (" + name[dot:] + ")"
}

// demangled returns the source form of a name, or the name itself if it has none.
func demangled(name string) string { return orRaw(demangle.Append, name) }

// orRaw returns the form of a name that form appends, or the name itself if form fails.
func orRaw(form func([]byte, string) ([]byte, error), name string) string {
	if out, err := form(nil, name); err == nil {
		return string(out)
	}
	return name
}
