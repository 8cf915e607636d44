// Package rust prints mangled names of Rust: v0 (Append) and, older, those that look like
// C++'s (AppendLegacy).
package rust

import (
	"math"
	"strconv"
	"strings"

	"github.com/symtool/symtool/internal/demangle/mangled"
)

// Rust's v0 mangling (RFC 2603; the rustc book, "v0 Symbol Format", whose names
// of productions are used here). The library misreads the empty names of two
// nested closures, "00", as one number, so nested closures are printed wrongly
// or not at all. Names are printed as by LLVM, in rustc-demangle's form without
// hashes.

// maxDepth is the limit on nesting, the same as rustc-demangle's.
const maxDepth = 500

// decoder reads one v0 name. The first failure ends it by a panic with
// mangled.ErrNotMangled or mangled.ErrCostly, which Append recovers.
type decoder struct {
	in     string // after "_R", without suffix
	pos    int
	out    []byte
	mute   int // if positive, parse without printing
	depth  int
	steps  int    // left: back references may lead to back references
	room   int    // bytes left of out
	bounds uint64 // number of lifetimes of the enclosing binders
}

// Append appends the source form of a name that begins with _R. What follows a '.' or '$' was
// added after rustc (".llvm.1234") and is dropped, as by c++filt.
func Append(dst []byte, raw string) (out []byte, err error) {
	in := raw[len("_R"):]
	if i := strings.IndexAny(in, ".$"); i >= 0 {
		in = in[:i]
	}
	r := decoder{in: in, out: dst, steps: mangled.StepsAllowed(raw), room: mangled.LengthAllowed(raw)}
	defer func() {
		switch e := recover(); e {
		case nil:
		case mangled.ErrNotMangled, mangled.ErrCostly:
			err = e.(error)
		default:
			panic(e)
		}
	}()
	r.path(true)
	if r.pos < len(r.in) { // the crate that instantiated it
		r.mute++
		r.path(false)
	}
	if r.pos < len(r.in) {
		return nil, mangled.ErrNotMangled
	}
	return r.out, nil
}

func (r *decoder) fail() { panic(mangled.ErrNotMangled) }

func (r *decoder) peek() byte {
	if r.pos < len(r.in) {
		return r.in[r.pos]
	}
	return 0
}

func (r *decoder) next() byte {
	c := r.peek()
	if c == 0 {
		r.fail()
	}
	r.pos++
	return c
}

// eat skips c if it is next, and reports whether it was.
func (r *decoder) eat(c byte) bool {
	if r.peek() != c {
		return false
	}
	r.pos++
	return true
}

func (r *decoder) print(s string) {
	if r.mute == 0 {
		if r.room -= len(s); r.room < 0 {
			panic(mangled.ErrCostly)
		}
		r.out = append(r.out, s...)
	}
}

// enter counts a recursive production; leave ends it.
func (r *decoder) enter() {
	r.depth++
	r.steps--
	switch {
	case r.depth > maxDepth:
		r.fail()
	case r.steps < 0:
		panic(mangled.ErrCostly)
	}
}

func (r *decoder) leave() { r.depth-- }

// base62 reads {<0-9a-zA-Z>} "_": "_" is 0, "0_" is 1.
func (r *decoder) base62() uint64 {
	if r.eat('_') {
		return 0
	}
	var v uint64
	for {
		c := r.next()
		var d byte
		switch {
		case '0' <= c && c <= '9':
			d = c - '0'
		case 'a' <= c && c <= 'z':
			d = c - 'a' + 10
		case 'A' <= c && c <= 'Z':
			d = c - 'A' + 36
		case c == '_':
			return v + 1
		default:
			r.fail()
		}
		// Two are still to be added: one because "_" is 0, one because no number is 0.
		if v > (math.MaxUint64-2-uint64(d))/62 {
			r.fail()
		}
		v = v*62 + uint64(d)
	}
}

// decimal reads a number without leading zeros: "00" is two numbers.
func (r *decoder) decimal() int {
	c := r.next()
	if c < '0' || c > '9' {
		r.fail()
	}
	v := int(c - '0')
	if v == 0 {
		return 0
	}
	for mangled.IsDigit(r.peek()) {
		if v = v*10 + int(r.next()-'0'); v > len(r.in) {
			r.fail()
		}
	}
	return v
}

// optional reads tag and a base-62 number, counted from 1; it returns 0 without the tag.
func (r *decoder) optional(tag byte) uint64 {
	if !r.eat(tag) {
		return 0
	}
	return r.base62() + 1
}

// ident reads an undisambiguated-identifier.
func (r *decoder) ident() string {
	puny := r.eat('u')
	n := r.decimal()
	r.eat('_')
	if n > len(r.in)-r.pos {
		r.fail()
	}
	s := r.in[r.pos : r.pos+n]
	r.pos += n
	if !puny {
		return s
	}
	s, ok := punycode(s)
	if !ok {
		r.fail()
	}
	return s
}

// path prints a path; in the path of a value, generic arguments follow "::".
func (r *decoder) path(value bool) {
	r.enter()
	defer r.leave()
	switch c := r.next(); c {
	case 'C':
		r.optional('s')
		r.print(r.ident())
	case 'M':
		r.implPath()
		r.enclosed("<", ">", r.typ)
	case 'X':
		r.implPath()
		r.asTrait()
	case 'Y':
		r.asTrait()
	case 'N':
		r.nested(value)
	case 'I':
		r.path(value)
		if value {
			r.print("::")
		}
		r.enclosed("<", ">", func() { r.list(r.genericArg) })
	case 'B':
		r.backref(func() { r.path(value) })
	default:
		r.fail()
	}
}

func (r *decoder) enclosed(open, shut string, fn func()) {
	r.print(open)
	fn()
	r.print(shut)
}

func (r *decoder) asTrait() {
	r.enclosed("<", ">", func() {
		r.typ()
		r.print(" as ")
		r.path(false)
	})
}

// implPath reads the path of an impl block without printing it.
func (r *decoder) implPath() {
	r.optional('s')
	r.mute++
	r.path(false)
	r.mute--
}

func (r *decoder) nested(value bool) {
	space := r.next()
	lower := 'a' <= space && space <= 'z'
	if !lower && (space < 'A' || space > 'Z') {
		r.fail()
	}
	r.path(value)
	number := r.optional('s')
	name := r.ident()
	if lower {
		if name != "" {
			r.print("::" + name)
		}
		return
	}
	kind := string(space)
	switch space {
	case 'C':
		kind = "closure"
	case 'S':
		kind = "shim"
	}
	if name != "" {
		kind += ":" + name
	}
	r.print("::{" + kind + "#" + strconv.FormatUint(number, 10) + "}")
}

// list calls item for each element up to "E", and prints commas between them.
func (r *decoder) list(item func()) int {
	n := 0
	for ; !r.eat('E'); n++ {
		if n > 0 {
			r.print(", ")
		}
		item()
	}
	return n
}

// backref reads a position and calls fn there. It must be before the "B", so
// that references cannot be circular.
func (r *decoder) backref(fn func()) {
	start := r.pos - 1
	to := r.base62()
	if to >= uint64(start) {
		r.fail()
	}
	if r.mute > 0 {
		return
	}
	back := r.pos
	r.pos = int(to)
	fn()
	r.pos = back
}
