package minidump

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// label names a part of a dump in messages. It is formatted only if a message
// needs it.
type label struct {
	what string
	i    int // index of an entry, or -1
}

func (l label) String() string {
	if l.i < 0 {
		return l.what
	}
	return fmt.Sprintf("%s %d", l.what, l.i)
}

// text returns the MINIDUMP_STRING at an offset: the number of bytes, then UTF-16 in the dump's
// byte order. For offset 0 it returns "".
func (r *reader) text(off uint64, what label) string {
	return r.cached(off, what, r.utf16)
}

// utf8Text returns Crashpad's MinidumpUTF8String or MinidumpByteArray.
func (r *reader) utf8Text(off uint64, what label) string {
	return r.cached(off, what, func(b []byte) string { return string(b) })
}

func (r *reader) cached(off uint64, what label, decode func([]byte) string) string {
	if off == 0 {
		return ""
	}
	if s, ok := r.texts[off]; ok {
		if r.reuseLeft -= len(s); r.reuseLeft >= 0 {
			return s
		}
		r.problemf(what.String(), off, "strings share bytes so often that they are several times the size of the file")
		r.reuseLeft = 0
		return ""
	}
	head, whole := r.at(location{off, 4})
	if !whole {
		r.problemf(what.String(), off, "a string beyond the end of the file of %d bytes", len(r.data))
		return ""
	}
	size := uint64(r.order.Uint32(head))
	b, whole := r.at(location{off + 4, size})
	if !whole {
		r.problemf("the rest of "+what.String(), off, "a string of %d bytes, of which the file has %d", size, len(b))
	}
	if r.textLeft -= len(b) + 4; r.textLeft < 0 {
		r.problemf(what.String(), off, "the strings are longer than the file: they overlap")
		r.textLeft = 0
		return ""
	}
	s := decode(b)
	r.texts[off] = s
	return s
}

// utf16 decodes UTF-16; malformed units become U+FFFD. It drops NULs at the end, because some
// writers count them.
func (r *reader) utf16(b []byte) string {
	text := make([]byte, 0, len(b)/2)
	for len(b) >= 2 {
		c := rune(r.order.Uint16(b))
		if b = b[2:]; utf16.IsSurrogate(c) {
			low := rune(0)
			if len(b) >= 2 {
				low = rune(r.order.Uint16(b))
			}
			if c = utf16.DecodeRune(c, low); c != utf8.RuneError {
				b = b[2:]
			}
		}
		text = utf8.AppendRune(text, c)
	}
	return string(bytes.TrimRight(text, "\x00"))
}

// fixed decodes UTF-16 in a field of fixed size, which ends at a NUL.
func (r *reader) fixed(b []byte) string {
	s, _, _ := strings.Cut(r.utf16(b), "\x00")
	return s
}

// cString returns bytes up to a NUL.
func cString(b []byte) string {
	b, _, _ = bytes.Cut(b, []byte{0})
	return string(b)
}
