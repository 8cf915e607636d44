package demangle

import "sync"

// Names of Microsoft's compilers, and of clang for Windows. The scheme is nowhere specified:
// what is here is what clang writes and LLVM reads, llvm-undname being what tests compare
// with.
//
// A name is read into nodes (msvcnode.go) as its parts refer to each other: the first ten
// names and the first ten types of parameters are numbered, for each list of template
// arguments anew.

var msDecoders = sync.Pool{New: func() any { return new(msDecoder) }}

// appendMSVC appends the source form of a name that begins with a question mark.
func appendMSVC(dst []byte, raw string, form msForm) ([]byte, error) {
	d := msDecoders.Get().(*msDecoder)
	out, err := d.appendName(dst, raw, form)
	msDecoders.Put(d)
	return out, err
}

// An msForm says what is left out.
type msForm uint8

const (
	msNoAccess   msForm = 1 << iota // public:
	msNoCall                        // __cdecl
	msNoMember                      // static, virtual, extern "C"
	msNoReturn                      // types of results
	msNoVariable                    // types of variables
	msCompact                       // struct, __cdecl of pointers, some blanks: as FUNC records have names
	msInArgs                        // of msCompact: within template arguments, which compilers print

	msFull   msForm = 0
	msRecord        = msNoAccess | msNoCall | msNoMember | msNoReturn | msNoVariable | msCompact
)

// An msDecoder reads names of Microsoft's scheme. Its memory is used again for the next
// name.
type msDecoder struct {
	scanner
	msPrinter
	nodes []msNode
	known msKnown
}

// msKnown are the names and parameters that others refer to by a digit.
type msKnown struct {
	names  [10]msKnownName
	params [10]ref
	nNames int
	nParam int
}

// msKnownName is a name and where it is mangled, by which it is compared.
type msKnownName struct{ r, from, to ref }

func (d *msDecoder) appendName(dst []byte, raw string, form msForm) ([]byte, error) {
	d.start(raw, 0)
	d.steps, d.costly = stepsAllowed(raw), false
	d.nodes, d.lists = append(d.nodes[:0], msNode{}), d.lists[:0]
	d.known.nNames, d.known.nParam = 0, 0
	root := d.symbol()
	if d.pos != len(d.src) {
		d.fail()
	}
	out := dst
	if !d.failed {
		out = d.write(dst, root, form)
	}
	d.src = ""
	if cap(d.nodes) > keptNodes {
		d.nodes, d.lists, d.stack = nil, nil, nil
	}
	switch {
	case d.costly:
		return dst, ErrCostly
	case d.failed || len(out) == len(dst):
		return dst, ErrNotMangled
	}
	return out, nil
}

// next passes a byte and returns it, or 0 at the end.
func (d *msDecoder) next() byte {
	c := d.peek()
	if d.pos < len(d.src) {
		d.pos++
	}
	return c
}

// number passes a number: [?] and a digit, which is one less, or hexadecimal digits A to P
// up to @. It returns its place.
func (d *msDecoder) number() ref {
	at := d.pos
	_, _, end, ok := msNumber(d.src, at)
	if !ok {
		return d.fail()
	}
	d.pos = end
	return ref(at)
}

// offset passes a number below 2^63.
func (d *msDecoder) offset() ref {
	at := d.number()
	if n, _, _, _ := msNumber(d.src, int(at)); n >= 1<<63 {
		return d.fail()
	}
	return at
}

// unsigned passes a number that is not negative.
func (d *msDecoder) unsigned() ref {
	if d.peek() == '?' {
		return d.fail()
	}
	return d.number()
}

// msNumber returns the number at a place, and where it ends.
func msNumber(s string, at int) (n uint64, negative bool, end int, ok bool) {
	if at < len(s) && s[at] == '?' {
		negative = true
		at++
	}
	if at < len(s) && isDigit(s[at]) {
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
