package rust

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/symtool/symtool/internal/demangle/mangled"
)

func (r *decoder) genericArg() {
	switch r.peek() {
	case 'L':
		r.pos++
		r.lifetime(r.base62())
	case 'K':
		r.pos++
		r.constant()
	default:
		r.typ()
	}
}

// lifetime prints a lifetime: 0 is erased, 1 is the innermost bound lifetime.
func (r *decoder) lifetime(index uint64) {
	if index == 0 {
		r.print("'_")
		return
	}
	if index > r.bounds {
		r.fail()
	}
	depth := r.bounds - index
	if depth < 26 {
		r.print("'" + string(rune('a'+depth)))
		return
	}
	r.print("'z" + strconv.FormatUint(depth-26+1, 10))
}

// bound reads an optional binder and calls fn inside it.
func (r *decoder) bound(fn func()) {
	n := r.optional('G')
	if n > uint64(len(r.in)) {
		r.fail() // more lifetimes than anything could name
	}
	if n > 0 {
		r.print("for<")
		for i := range n {
			if i > 0 {
				r.print(", ")
			}
			r.bounds++
			r.lifetime(1)
		}
		r.print("> ")
	}
	fn()
	r.bounds -= n
}

// basicTypes names the basic types by their letter.
var basicTypes = [256]string{
	'a': "i8", 'b': "bool", 'c': "char", 'd': "f64", 'e': "str", 'f': "f32", 'h': "u8", 'i': "isize",
	'j': "usize", 'l': "i32", 'm': "u32", 'n': "i128", 'o': "u128", 'p': "_", 's': "i16", 't': "u16",
	'u': "()", 'v': "...", 'x': "i64", 'y': "u64", 'z': "!",
}

func (r *decoder) typ() {
	r.enter()
	defer r.leave()
	c := r.next()
	if s := basicTypes[c]; s != "" {
		r.print(s)
		return
	}
	switch c {
	case 'A':
		r.enclosed("[", "]", func() { r.typ(); r.print("; "); r.constant() })
	case 'S':
		r.enclosed("[", "]", r.typ)
	case 'T':
		r.enclosed("(", ")", func() {
			if r.list(r.typ) == 1 {
				r.print(",")
			}
		})
	case 'R', 'Q':
		r.reference(c == 'Q')
	case 'P':
		r.print("*const ")
		r.typ()
	case 'O':
		r.print("*mut ")
		r.typ()
	case 'F':
		r.bound(r.fnSig)
	case 'D':
		r.dyn()
	case 'B':
		r.backref(r.typ)
	default:
		r.pos--
		r.path(false)
	}
}

func (r *decoder) reference(mutable bool) {
	r.print("&")
	if r.eat('L') {
		if index := r.base62(); index != 0 {
			r.lifetime(index)
			r.print(" ")
		}
	}
	if mutable {
		r.print("mut ")
	}
	r.typ()
}

func (r *decoder) fnSig() {
	if r.eat('U') {
		r.print("unsafe ")
	}
	if r.eat('K') {
		abi := "C"
		if !r.eat('C') {
			abi = strings.ReplaceAll(r.ident(), "_", "-")
		}
		r.print(`extern "` + abi + `" `)
	}
	r.enclosed("fn(", ")", func() { r.list(r.typ) })
	if r.eat('u') {
		return // the function returns ()
	}
	r.print(" -> ")
	r.typ()
}

func (r *decoder) dyn() {
	r.print("dyn ")
	r.bound(func() {
		for n := 0; !r.eat('E'); n++ {
			if n > 0 {
				r.print(" + ")
			}
			r.dynTrait()
		}
	})
	if !r.eat('L') {
		r.fail()
	}
	if index := r.base62(); index != 0 {
		r.print(" + ")
		r.lifetime(index)
	}
}

// dynTrait prints a trait with the bindings of its associated types:
// Iterator<Item = u8>, in the list of its generic arguments if it has one.
func (r *decoder) dynTrait() {
	open := r.openPath()
	for r.eat('p') {
		if open {
			r.print(", ")
		} else {
			r.print("<")
		}
		open = true
		r.print(r.ident() + " = ")
		r.typ()
	}
	if open {
		r.print(">")
	}
}

// openPath is path, but leaves a list of generic arguments open. It reports
// whether there was one.
func (r *decoder) openPath() bool {
	r.enter()
	defer r.leave()
	open := false
	switch {
	case r.eat('B'):
		r.backref(func() { open = r.openPath() })
	case r.eat('I'):
		r.path(false)
		r.print("<")
		r.list(r.genericArg)
		open = true
	default:
		r.path(false)
	}
	return open
}

func (r *decoder) constant() {
	r.enter()
	defer r.leave()
	switch c := r.next(); c {
	case 'p':
		r.print("_")
	case 'B':
		r.backref(r.constant)
	case 'h', 't', 'm', 'y', 'o', 'j':
		r.print(integer(r.hex()))
	case 'a', 's', 'l', 'x', 'n', 'i':
		if r.eat('n') {
			r.print("-")
		}
		r.print(integer(r.hex()))
	case 'b':
		switch r.hex() {
		case "":
			r.print("false")
		case "1":
			r.print("true")
		default:
			r.fail()
		}
	case 'c':
		r.char()
	default:
		r.fail() // const parameters of other types are not stable
	}
}

// hex reads lower-case hexadecimal digits up to "_", without leading zeros.
func (r *decoder) hex() string {
	start := r.pos
	for !r.eat('_') {
		if c := r.next(); !mangled.IsDigit(c) && (c < 'a' || c > 'f') {
			r.fail()
		}
	}
	return strings.TrimLeft(r.in[start:r.pos-1], "0")
}

// integer prints 64 bits in decimal and more in hexadecimal.
func integer(hex string) string {
	if hex == "" {
		return "0"
	}
	if v, err := strconv.ParseUint(hex, 16, 64); err == nil {
		return strconv.FormatUint(v, 10)
	}
	return "0x" + hex
}

func (r *decoder) char() {
	v, err := strconv.ParseUint("0"+r.hex(), 16, 32)
	if err != nil || v > unicode.MaxRune || !utf8.ValidRune(rune(v)) {
		r.fail()
	}
	switch c := rune(v); {
	case c == '\t':
		r.print(`'\t'`)
	case c == '\r':
		r.print(`'\r'`)
	case c == '\n':
		r.print(`'\n'`)
	case c == '\'' || c == '\\':
		r.print(`'\` + string(c) + `'`)
	case c < ' ' || c >= 0x7f:
		r.print(`'\u{` + strconv.FormatUint(v, 16) + `}'`)
	default:
		r.print("'" + string(c) + "'")
	}
}
