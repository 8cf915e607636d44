package hostile

import (
	"fmt"
	"strings"
)

// hostileName describes a mangled name that contains pieces n times, one after the other.
type hostileName struct {
	n      int
	pieces [][2]string // text that occurs once, and text that follows it n times
	last   string
}

func nested(n int, before, open, between, shut, after string) hostileName {
	return hostileName{n, [][2]string{{before, open}, {between, shut}}, after}
}

func chain(n int, before, piece, after string) hostileName {
	return hostileName{n, [][2]string{{before, piece}}, after}
}

// mangledNames are names that a demangler may take too long for, or recurse too deeply for.
var mangledNames = map[string]hostileName{
	"itanium-local":            nested(2000, "", "_ZZ", "1fvE", "1fvE", ""),
	"itanium-packs":            nested(5000, "_Z1fI", "J", "i", "E", "Evv"),
	"itanium-sums":             nested(5000, "_Z1fIX", "pl", "Li1E", "Li1E", "EEvv"),
	"itanium-parameters":       nested(5000, "_Z1fI", "i", "EvDpT_", "T_", ""),
	"itanium-conversions":      chain(3000, "_Zcv", "T_cv", "i"),
	"itanium-function-types":   nested(5000, "_Z1f", "PFv", "i", "E", ""),
	"itanium-arrays":           chain(5000, "_Z1f", "A1_", "i"),
	"itanium-local-scopes":     chain(2000, "_ZN", "Z1fvE", "1gE"),
	"itanium-qualifiers":       chain(5000, "_Z1f", "U1a", "i"),
	"itanium-decltype":         nested(5000, "_Z1f", "DT", "Li1E", "E", ""),
	"itanium-unresolved":       chain(3000, "_Z1fIXsrN", "1a", "EE1bEEvv"),
	"itanium-requirements":     nested(3000, "_Z1fQ", "rq", "XLi1EE", "E", "vv"),
	"itanium-closures":         chain(2000, "_ZNUl", "UlvE_", "E_clEv"),
	"itanium-tags":             chain(10000, "_Z1f", "B1a", "v"),
	"itanium-clones":           chain(10000, "_Z1fv", ".isra.0", ""),
	"itanium-blocks":           chain(5000, "___Z1fv", "_block_invoke", ""),
	"rust-references":          nested(3000, "_RNvC1a1b", "I", "", "B_", ""),
	"rust-generics":            nested(3000, "_R", "I", "C1a", "lE", ""),
	"rust-tuples":              nested(3000, "_RINvC1a1bT", "T", "l", "E", "EE"),
	"rust-traits":              chain(1000, "_RINvC1a1bDGzz_", "NtC1a1b", "EL_E"),
	"rust-strings":             chain(50000, "_RINvC1a1bKRe", "61", "_E"),
	"rust-legacy":              chain(20000, "_ZN", "1a", "17h0123456789abcdefE"),
	"msvc-templates":           nested(3000, "?f@", "?$a@", "H", "@", "@YAXXZ"),
	"msvc-references":          chain(20000, "?f@@YAXPEAUa@@", "0", "@Z"),
	"msvc-function-types":      nested(3000, "?f@@YAX", "P6AX", "X", "Z", "@Z"),
	"msvc-doubled":             chain(2000, "?f@@YAX", "P6AX01Z@", "@Z"),
	"msvc-local-scopes":        chain(3000, "?f@", "?1??g@", "@YAXXZ"),
	"msvc-arrays":              chain(3000, "?f@@YAXPEAY", "Y0BA@", "H@Z"),
	"d-scopes":                 chain(10000, "_D", "1a", "FZv"),
	"d-templates":              nested(3000, "_D1a", "__T1bT", "i", "Z", "FZv"),
	"d-references":             chain(10000, "_D1a1bFPQbQcQd", "Qb", "Zv"),
	"swift-functions":          chain(10000, "$s1a1b", "yyc", "F"),
	"swift-substitutions":      chain(10000, "$s4main1aV", "AAC", "yyF"),
	"swift-generics":           nested(5000, "$s4main1a", "y", "", "x", "lF"),
	"ocaml":                    chain(20000, "caml", "A__", "f_12"),
	"ada":                      chain(20000, "a", "__b", ""),
	"go-types":                 nested(20000, "main.f[go.shape.", "struct{", "", "}", "]"),
	"versions":                 chain(50000, "f", "@", "V1"),
	"objective-c":              nested(20000, "-[", "a", " ", "b:", "]"),
	"lines":                    chain(20000, "f", "\nFUNC 1 1 0 x", ""),
	"lines-of-other-languages": chain(20000, "f", "\u2028\u202e\u0085", ""),
}

func (h hostileName) text(n int) string {
	var b strings.Builder
	for _, p := range h.pieces {
		b.WriteString(p[0] + strings.Repeat(p[1], n))
	}
	return b.String() + h.last
}

// doublingName returns a name with substitutions that each stand for the previous one twice. Written out, there
// would be 2^n names.
func doublingName(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "JS%d_S%[1]d_E", i)
	}
	return "_Z1fI" + b.String() + "Evv"
}

// punycodeName returns a Rust identifier whose characters are all inserted one at a time (RFC 3492).
func punycodeName(n int) string {
	const before, piece = "a_", "9a"
	return fmt.Sprintf("_RNvC1au%d_%s", len(before)+len(piece)*n, before) + strings.Repeat(piece, n)
}

// hostileNames returns binaries and symbol files with one such name each.
func hostileNames() (kinds []hostileKind) {
	add := func(name string, n int, text func(n int) string) {
		kinds = append(kinds, hostileKind{name: name, n: n, files: hostileFiles{
			"m.elf": func(n int) []byte { return namedSymbols(1, func(int) string { return text(n) }) },
			"m.sym": func(n int) []byte {
				return []byte(symLinux + "FUNC 1000 10 0 " + strings.ReplaceAll(text(n), "\n", "") + "\n")
			},
		}, commands: []string{"dump -o dumped.sym m.elf", "doctor m.elf", "as llvm-symbolizer -e m.elf 0x401001", "lint m.sym", "convert --to symcache -o m.symcache m.sym"}})
	}
	for name, h := range mangledNames {
		add(name, h.n, h.text)
	}
	add("itanium-doubled", 200, doublingName)
	add("rust-punycode", 20000, punycodeName)
	return kinds
}
