package demangle

// The symbol of a string literal is ??_C@_, 0 for bytes or 1 for wchar_t, the size in bytes, a
// hash, and the first bytes up to @. What characters of two or four bytes have is like what
// bytes have: their size is guessed from zeros.
const (
	msWideBytes   = 64  // longer wide strings are cut off
	msNarrowBytes = 32  // so are others;
	msMaxNarrow   = 128 // but old compilers wrote more bytes
)

// literal reads the symbol of a string after ??_C. A node has its first byte in at, the number
// of bytes in the name in f[0], and whether it is cut off in f[1]; op is the size of a
// character, 0 for wchar_t.
func (d *msDecoder) literal() ref {
	if !d.eat2('@', '_') || d.depth > 1 {
		return d.fail() // no other symbol can refer to one
	}
	wide := d.eat('1')
	if !wide {
		d.want('0')
	}
	size, negative, end, ok := msNumber(d.src, d.pos)
	if !ok || negative || wide && (size == 0 || size%2 != 0) || size == 0 {
		return d.fail()
	}
	for d.pos = end; d.more('@') && d.pos < len(d.src); d.pos++ {
	}
	d.want('@')
	n := msNode{kind: msString, at: ref(d.pos)}
	var bytes [msMaxNarrow]byte
	read := 0
	for ; d.more('@'); read++ {
		c, end, ok := msChar(d.src, d.pos)
		if !ok || read == len(bytes) && !wide {
			return d.fail()
		}
		if d.pos = end; !wide {
			bytes[read] = c
		}
	}
	d.want('@')
	n.f[0] = ref(read)
	if wide {
		if read%2 != 0 || uint64(read) > size {
			return d.fail()
		}
		if size > msWideBytes {
			n.f[1] = 1
		} else if uint64(read) == size {
			n.f[0] -= 2 // the zero at the end
		}
		return d.add(n)
	}
	if size > uint64(read) {
		n.f[1] = 1
	}
	n.op = msCharSize(bytes[:read], size)
	if n.f[0] -= n.f[0] % ref(n.op); n.f[1] == 0 {
		n.f[0] -= ref(n.op)
	}
	return d.add(n)
}

// msCharSize guesses the size of characters from the zeros in a string of size bytes, the first
// of which are known: those at the end if all are, else how many there are.
func msCharSize(known []byte, size uint64) uint8 {
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
	if size >= msNarrowBytes {
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

// msChar returns the byte at a place of a string, and where the next one is.
func msChar(s string, at int) (c byte, end int, ok bool) {
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
	case isDigit(c):
		return marks[c-'0'], at + 1, true
	case isLower(c):
		return c - 'a' + 0xe1, at + 1, true
	case isUpper(c):
		return c - 'A' + 0xc1, at + 1, true
	case c == '$' && at+2 < len(s) && isHex(s[at+1]) && isHex(s[at+2]):
		return (s[at+1]-'A')<<4 | (s[at+2] - 'A'), at + 3, true
	}
	return 0, at, false
}

// isHex reports whether c is a digit of Microsoft's hexadecimal numbers.
func isHex(c byte) bool { return 'A' <= c && c <= 'P' }

// printLiteral prints a string as in C, with three dots if it is cut off.
func (d *msDecoder) printLiteral(n *msNode) {
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
	for left := int(n.f[0]); left >= size && !d.failed; left -= size {
		d.step()
		c := uint32(0)
		for i := range size {
			b, end, _ := msChar(d.src, at)
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
func (d *msDecoder) char(c uint32) {
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
