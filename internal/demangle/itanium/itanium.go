// Package itanium prints mangled names of the Itanium C++ ABI (section 5.1).
//
// A decoder reads a name into nodes (node.go) and prints them (print.go). Names that it does
// not know, such as those with a vendor's operators, are left to a library: library.go decides
// which names are cheap enough for that.
package itanium

import (
	"strings"
	"sync"

	"github.com/symtool/symtool/internal/demangle/mangled"
)

// Nodes and lists of them, by number.
type (
	ref  = mangled.Ref
	span = mangled.Span
)

var decoders = sync.Pool{New: func() any { return new(decoder) }}

// Append appends the source form of a name of the Itanium ABI. Names that the decoder does not
// know are left to the library, except those with unresolved names (sr): after these the
// library counts substitutions wrongly, and prints wrong types.
func Append(dst []byte, raw string) ([]byte, error) { return appendAs(dst, raw, asFilt) }

// AppendLLVM is like Append, in the form of llvm-cxxfilt. Most expressions, constraints, and parameters of lambdas whose types are
// arguments of the template around them are still printed as c++filt does.
func AppendLLVM(dst []byte, raw string) ([]byte, error) {
	for _, prefix := range unknownToLLVM {
		if strings.HasPrefix(raw, prefix) {
			return nil, mangled.ErrNotMangled
		}
	}
	return appendAs(dst, raw, asLLVM)
}

// unknownToLLVM are special names that LLVM leaves as they are: clones for transactions, hidden aliases, functions for type
// information, classes of Java.
var unknownToLLVM = []string{"_ZGT", "_ZGA", "_ZTF", "_ZTJ"}

func appendAs(dst []byte, raw string, as style) ([]byte, error) {
	d := decoders.Get().(*decoder)
	d.style = as
	out, v := d.appendName(dst, raw)
	decoders.Put(d)
	switch v {
	case decoded:
		return out, nil
	case costly:
		return nil, mangled.ErrCostly
	case ambiguous:
		return nil, mangled.ErrNotMangled
	}
	if strings.Contains(raw, "sr") {
		return nil, mangled.ErrNotMangled
	}
	return appendByLibrary(dst, raw, as)
}

// decoder reads names of the Itanium C++ ABI (section 5.1) into nodes, and prints them as
// c++filt does. Its memory is reused for the next name, so a name costs no allocation.
type decoder struct {
	mangled.Scanner

	nodes     []node
	subs      []ref // what substitutions refer to
	templates []ref // templates whose parameters can be referred to; 0 for a conversion operator's

	// One more than the number of templates around the lambda whose parameters are being
	// read, as its own parameters are auto; 0 outside lambdas.
	lambdaLevel  int
	inConstraint bool
	declared     [3]ref // how many template parameters have been declared, by paramPrefixes

	asGCC         bool // unresolved names are in GCC's form
	unresolved    int  // number of unresolved names,
	unresolvedIDs int  // of those that begin with an identifier,
	twofold       int  // and of those that compilers mangle in two ways

	pass ref // the number of the last traversal

	rootEnd int // where the suffixes of clones begin

	printer
}

// verdict is the result of decoding a name.
type verdict uint8

const (
	decoded   verdict = iota
	refused           // it is not a name, or the decoder does not know all of it
	costly            // it would need more work than its length allows
	ambiguous         // it means two functions, by the two forms of unresolved names
)

// appendName appends the source form of a name that begins with _Z to dst.
func (d *decoder) appendName(dst []byte, raw string) ([]byte, verdict) {
	d.out, d.Steps, d.Costly = dst, mangled.StepsAllowed(raw), false
	v := d.decode(raw)
	out := d.out
	d.out, d.Src = nil, ""
	if cap(d.nodes) > mangled.KeptNodes {
		d.nodes, d.Lists, d.Stack, d.subs = nil, nil, nil, nil
	}
	if v != decoded {
		out = dst
	}
	return out, v
}

// decode reads and prints a name, if necessary in both forms of unresolved names: if both have
// a meaning, and the meanings differ, the name is ambiguous.
func (d *decoder) decode(raw string) verdict {
	from := len(d.out)
	clang := d.read(raw, false) && d.write()
	if d.Costly {
		return costly
	}
	if d.twofold == 0 || clang && d.unresolved == d.unresolvedIDs {
		return d.verdict(clang)
	}
	to := len(d.out)
	gcc := d.read(raw, true) && d.write()
	switch {
	case d.Costly:
		return costly
	case !gcc:
		d.out = d.out[:to]
		return d.verdict(clang)
	case !clang:
		d.out = append(d.out[:from], d.out[to:]...)
	case string(d.out[from:to]) != string(d.out[to:]):
		return ambiguous
	default:
		d.out = d.out[:to]
	}
	return decoded
}

func (d *decoder) verdict(ok bool) verdict {
	if ok {
		return decoded
	}
	return refused
}
