package msvc

import "github.com/symtool/symtool/internal/demangle/mangled"

// The symbol of a string literal is ??_C@_, 0 for bytes or 1 for wchar_t, the size in bytes, a
// hash, and the first bytes up to @. Characters of two or four bytes have the same form as
// bytes: their size is guessed from zeros.
const (
	wideBytes   = 64  // longer wide strings are cut off
	narrowBytes = 32  // likewise others;
	maxNarrow   = 128 // but old compilers wrote more bytes
)

// literal reads the symbol of a string after ??_C. A node has its first byte in at, the number
// of bytes in the name in f[0], and whether it is cut off in f[1]; op is the size of a
// character, 0 for wchar_t.
func (d *decoder) literal() ref {
	if !d.Eat2('@', '_') || d.Depth > 1 {
		return d.Fail() // other symbols cannot refer to a literal
	}
	wide := d.Eat('1')
	if !wide {
		d.Want('0')
	}
	size, negative, end, ok := parseNumber(d.Src, d.Pos)
	if !ok || negative || wide && (size == 0 || size%2 != 0) || size == 0 {
		return d.Fail()
	}
	for d.Pos = end; d.More('@') && d.Pos < len(d.Src); d.Pos++ {
	}
	d.Want('@')
	n := node{kind: kString, at: ref(d.Pos)}
	var bytes [maxNarrow]byte
	read := 0
	for ; d.More('@'); read++ {
		c, end, ok := parseChar(d.Src, d.Pos)
		if !ok || read == len(bytes) && !wide {
			return d.Fail()
		}
		if d.Pos = end; !wide {
			bytes[read] = c
		}
	}
	d.Want('@')
	n.f[0] = ref(read)
	if wide {
		if read%2 != 0 || uint64(read) > size {
			return d.Fail()
		}
		if size > wideBytes {
			n.f[1] = 1
		} else if uint64(read) == size {
			n.f[0] -= 2 // without the final zero
		}
		return d.add(n)
	}
	if size > uint64(read) {
		n.f[1] = 1
	}
	n.op = charSize(bytes[:read], size)
	if n.f[0] -= n.f[0] % ref(n.op); n.f[1] == 0 {
		n.f[0] -= ref(n.op)
	}
	return d.add(n)
}

// charSize guesses the size of characters in a string of size bytes, the first of which are
// known: from the zeros at the end if all bytes are known, otherwise from the number of zeros.
func charSize(known []byte, size uint64) uint8 {
	if size%2 != 0 {
		return 1
	}
	zeros, atEnd := 0, 0
	for _, b := range known {
		atEnd++
		if b != 0 {
			atEnd = 0
		} else {
			zeros++
		}
	}
	least2, least4 := 2, 4
	if size >= narrowBytes {
		atEnd, least2, least4 = zeros, len(known)/3, 2*len(known)/3
	}
	switch {
	case atEnd >= least4 && size%4 == 0:
		return 4
	case atEnd >= least2:
		return 2
	}
	return 1
}

// parseChar returns the byte at a place in a string, and the place of the next one.
func parseChar(s string, at int) (c byte, end int, ok bool) {
	const marks = ",/\\:. \n\t'-"
	if at >= len(s) {
		return 0, at, false
	}
	if s[at] != '?' {
		return s[at], at + 1, true
	}
	if at++; at >= len(s) {
		return 0, at, false
	}
	switch c = s[at]; {
	case mangled.IsDigit(c):
		return marks[c-'0'], at + 1, true
	case mangled.IsLower(c):
		return c - 'a' + 0xe1, at + 1, true
	case mangled.IsUpper(c):
		return c - 'A' + 0xc1, at + 1, true
	case c == '$' && at+2 < len(s) && isHex(s[at+1]) && isHex(s[at+2]):
		return (s[at+1]-'A')<<4 | (s[at+2] - 'A'), at + 3, true
	}
	return 0, at, false
}

// isHex reports whether c is a digit of Microsoft's hexadecimal numbers.
func isHex(c byte) bool { return 'A' <= c && c <= 'P' }

// printLiteral prints a string as in C, with three dots if it is cut off.
func (d *decoder) printLiteral(n *node) {
	size := int(n.op)
	switch size {
	case 0:
		d.text("L")
		size = 2
	case 2:
		d.text("u")
	case 4:
		d.text("U")
	}
	d.text(`"`)
	at := int(n.at)
	for left := int(n.f[0]); left >= size && !d.Failed; left -= size {
		d.Step()
		c := uint32(0)
		for i := range size {
			b, end, _ := parseChar(d.Src, at)
			if at = end; n.op == 0 {
				c = c<<8 | uint32(b)
			} else {
				c |= uint32(b) << (8 * i)
			}
		}
		d.char(c)
	}
	d.text(`"`)
	if n.f[1] != 0 {
		d.text("...")
	}
}

// char prints a character of a string.
func (d *decoder) char(c uint32) {
	const escaped, letters = "\x00\a\b\t\n\v\f\r\"'\\", `0abtnvfr"'\`
	for i := range len(escaped) {
		if c == uint32(escaped[i]) {
			d.out = append(d.out, '\\', letters[i])
			return
		}
	}
	if ' ' <= c && c < 0x7f {
		d.out = append(d.out, byte(c))
		return
	}
	const digits = "0123456789ABCDEF"
	d.text(`\x`)
	shift := 0
	for c>>shift > 0xff {
		shift += 8
	}
	for ; shift >= 0; shift -= 8 {
		b := byte(c >> shift)
		d.out = append(d.out, digits[b>>4], digits[b&15])
	}
}
