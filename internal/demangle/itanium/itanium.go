// Package itanium prints mangled names of the Itanium C++ ABI (section 5.1).
//
// A decoder reads a name into nodes (node.go) and prints them (print.go). What it does not
// know, such as a vendor's operators, is left to a library: library.go decides which names
// are cheap enough for that.
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

// Append appends the source form of a name of the Itanium ABI. What the decoder does
// not know is left to the library, but for unresolved names (sr): after them it counts
// types that are none, so that it prints wrong ones.
func Append(dst []byte, raw string) ([]byte, error) {
	d := decoders.Get().(*decoder)
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
	return appendByLibrary(dst, raw)
}

// A decoder reads names of the Itanium C++ ABI (section 5.1) into nodes, and prints them
// as c++filt does. Its memory is used again for the next name: a name costs no allocation.
type decoder struct {
	mangled.Scanner

	nodes     []node
	subs      []ref // what substitutions speak of
	templates []ref // those whose parameters are known here; 0 for that of a conversion operator

	// 1 more than the number of templates around the lambda whose parameters are read, as
	// its own are auto; 0 outside lambdas.
	lambdaLevel  int
	inConstraint bool
	declared     [3]ref // how many template parameters have been declared, by paramPrefixes

	asGCC         bool // unresolved names are in GCC's form
	unresolved    int  // how many there were,
	unresolvedIDs int  // how many of them begin with an identifier,
	twofold       int  // and how many the compilers mangle in two ways

	pass ref // the number of the last traversal

	rootEnd int // where the suffixes of clones begin

	printer
}

// A verdict is what became of a name.
type verdict uint8

const (
	decoded   verdict = iota
	refused           // it is not a name, or not one that the decoder knows
	costly            // it would take more work than its length allows
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

// decode reads and prints a name, in both forms of unresolved names if need be: if
// both mean something, and not the same, nothing says which one is meant.
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
