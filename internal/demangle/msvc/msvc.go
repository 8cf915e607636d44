// Package msvc prints mangled names of Microsoft's compilers, and of clang for Windows. There
// is no specification of the scheme: this package follows what clang writes and LLVM reads, and
// its tests compare with llvm-undname.
//
// A name is read into nodes (node.go), as its parts refer to each other: the first ten names
// and the first ten types of parameters are numbered, separately in each list of template
// arguments.
package msvc

import (
	"sync"

	"github.com/symtool/symtool/internal/demangle/mangled"
)

// Nodes and lists of them, by number.
type (
	ref  = mangled.Ref
	span = mangled.Span
)

var decoders = sync.Pool{New: func() any { return new(decoder) }}

// Append appends the source form of a name that begins with a question mark, in the form that
// names have in FUNC and PUBLIC records of a PDB.
func Append(dst []byte, raw string) ([]byte, error) { return appendForm(dst, raw, record) }

// AppendLLVM is like Append, in the form of llvm-symbolizer: types of variables and empty lists of parameters are written.
func AppendLLVM(dst []byte, raw string) ([]byte, error) { return appendForm(dst, raw, symbolizer) }

// appendForm appends the source form of a name in a form.
func appendForm(dst []byte, raw string, form form) ([]byte, error) {
	d := decoders.Get().(*decoder)
	out, err := d.appendName(dst, raw, form)
	decoders.Put(d)
	return out, err
}

// form says which parts of a name are left out.
type form uint8

const (
	noAccess   form = 1 << iota // public:
	noCall                      // __cdecl
	noMember                    // static, virtual, extern "C"
	noReturn                    // result types
	noVariable                  // types of variables
	compact                     // struct, __cdecl of pointers, some blanks: the form of FUNC records
	inArgs                      // with compact: in template arguments, which compilers print

	full       form = 0
	symbolizer      = noAccess | noCall | noMember | noReturn
	record          = symbolizer | noVariable | compact
)

// decoder reads names of Microsoft's scheme. Its memory is reused for the next name.
type decoder struct {
	mangled.Scanner
	printer
	nodes []node
	known known
}

// known holds the names and parameters that others refer to by a digit.
type known struct {
	names  [10]knownName
	params [10]ref
	nNames int
	nParam int
}

// knownName is a name and its place in the mangled name, by which it is compared.
type knownName struct{ r, from, to ref }

func (d *decoder) appendName(dst []byte, raw string, form form) ([]byte, error) {
	d.Start(raw, 0)
	d.Steps, d.Costly = mangled.StepsAllowed(raw), false
	d.nodes, d.Lists = append(d.nodes[:0], node{}), d.Lists[:0]
	d.known.nNames, d.known.nParam = 0, 0
	root := d.symbol()
	if d.Pos != len(d.Src) {
		d.Fail()
	}
	out := dst
	if !d.Failed {
		out = d.write(dst, root, form)
	}
	d.Src = ""
	if cap(d.nodes) > mangled.KeptNodes {
		d.nodes, d.Lists, d.Stack = nil, nil, nil
	}
	switch {
	case d.Costly:
		return dst, mangled.ErrCostly
	case d.Failed || len(out) == len(dst):
		return dst, mangled.ErrNotMangled
	}
	return out, nil
}

// next skips a byte and returns it, or 0 at the end.
func (d *decoder) next() byte {
	c := d.Peek()
	if d.Pos < len(d.Src) {
		d.Pos++
	}
	return c
}

// number skips a number: [?] and a digit, which is one less, or hexadecimal digits A to P up
// to @. It returns the number's place.
func (d *decoder) number() ref {
	at := d.Pos
	_, _, end, ok := parseNumber(d.Src, at)
	if !ok {
		return d.Fail()
	}
	d.Pos = end
	return ref(at)
}

// offset skips a number below 2^63.
func (d *decoder) offset() ref {
	at := d.number()
	if n, _, _, _ := parseNumber(d.Src, int(at)); n >= 1<<63 {
		return d.Fail()
	}
	return at
}

// unsigned skips a number that is not negative.
func (d *decoder) unsigned() ref {
	if d.Peek() == '?' {
		return d.Fail()
	}
	return d.number()
}

// parseNumber returns the number at a place, and where it ends.
func parseNumber(s string, at int) (n uint64, negative bool, end int, ok bool) {
	if at < len(s) && s[at] == '?' {
		negative = true
		at++
	}
	if at < len(s) && mangled.IsDigit(s[at]) {
		return uint64(s[at]-'0') + 1, negative, at + 1, true
	}
	for ; at < len(s); at++ {
		c := s[at]
		if c == '@' {
			return n, negative, at + 1, true
		}
		if c < 'A' || c > 'P' || n >= 1<<60 {
			break
		}
		n = n<<4 | uint64(c-'A')
	}
	return 0, false, at, false
}
