package symfmt

import "fmt"

// hexDigit maps hexadecimal digits of either case to their values, and any
// other byte to notHex.
var hexDigit = func() (t [256]uint8) {
	for i := range t {
		t[i] = notHex
	}
	for i := range uint8(16) {
		t["0123456789abcdef"[i]] = i
		t["0123456789ABCDEF"[i]] = i
	}
	return t
}()

const notHex = 0xff

// fields splits the text of a record into fields. The first failure sticks, as
// in bin.Cursor: later fields are zero.
type fields struct {
	text []byte
	next int    // start of the unread text
	at   int    // start of the last field read
	msg  string // first failure, at position at

	quiet bool // do not format msg, which nobody reads
}

func (f *fields) failed() bool { return f.msg != "" }

// fail records a failure at the last field read.
func (f *fields) fail(format string, args ...any) {
	switch {
	case f.msg != "":
	case f.quiet:
		f.msg = "bad record"
	default:
		f.msg = fmt.Sprintf(format, args...)
	}
}

// start advances to the next field.
func (f *fields) start() {
	f.next = skipBlanks(f.text, f.next)
	f.at = f.next
}

// more reports whether there is another field.
func (f *fields) more() bool {
	f.next = skipBlanks(f.text, f.next)
	return f.next < len(f.text)
}

// peek advances to the next field and returns it; it is empty if there is none.
func (f *fields) peek() []byte {
	f.start()
	end := f.at
	for end < len(f.text) && !isBlank(f.text[end]) {
		end++
	}
	return f.text[f.at:end]
}

// word reads any field.
func (f *fields) word(what string) []byte {
	if f.failed() {
		return nil
	}
	w := f.peek()
	if len(w) == 0 {
		f.fail("%s is missing", what)
	}
	f.next += len(w)
	return w
}

// flag reads a field if it equals flag, and reports whether it did.
func (f *fields) flag(flag string) bool {
	if f.failed() || string(f.peek()) != flag {
		return false
	}
	f.next += len(flag)
	return true
}

// rest reads to the end of the line, without the blanks around the text.
func (f *fields) rest() []byte {
	if f.failed() {
		return nil
	}
	f.start()
	end := len(f.text)
	for end > f.at && isBlank(f.text[end-1]) {
		end--
	}
	f.next = len(f.text)
	return f.text[f.at:end]
}

// end checks that there are no more fields.
func (f *fields) end(last string) {
	if !f.failed() && f.more() {
		f.start()
		f.fail("%s after the %s, which is the last field", quoted(f.text[f.at:]), last)
	}
}

// hex reads a hexadecimal number of up to 64 bits.
func (f *fields) hex(what string) uint64 {
	if f.failed() {
		return 0
	}
	f.start()
	var v, over uint64
	i := f.at
	for ; i < len(f.text); i++ {
		d := hexDigit[f.text[i]]
		if d == notHex {
			break
		}
		over |= v >> 60
		v = v<<4 | uint64(d)
	}
	if i == f.at || over != 0 || i < len(f.text) && !isBlank(f.text[i]) {
		f.badNumber(what, "hexadecimal", 64, over != 0)
		return 0
	}
	f.next = i
	return v
}

// dec reads a decimal number of up to 32 bits.
func (f *fields) dec(what string) uint32 {
	if f.failed() {
		return 0
	}
	f.start()
	var v uint64
	over := false
	i := f.at
	for ; i < len(f.text) && '0' <= f.text[i] && f.text[i] <= '9'; i++ {
		if v = v*10 + uint64(f.text[i]-'0'); v > maxID {
			over, v = true, maxID
		}
	}
	if i == f.at || over || i < len(f.text) && !isBlank(f.text[i]) {
		f.badNumber(what, "decimal", 32, over)
		return 0
	}
	f.next = i
	return uint32(v)
}

// badNumber fails because of the malformed number that starts at f.at.
func (f *fields) badNumber(what, base string, bits int, over bool) {
	at := f.at
	word := f.word(what) // fails if there is no field
	f.at = at
	if over {
		f.fail("%s %s is over %d bits", what, quoted(word), bits)
		return
	}
	f.fail("%s %s: want %s digits", what, quoted(word), base)
}

// within checks that [rva, rva+size) ends at or below 2^64.
func (f *fields) within(rva, size uint64) {
	if !inSpace(RVA(rva), size) {
		f.fail("size %x from %x passes the end of the 64-bit address space", size, rva)
	}
}
