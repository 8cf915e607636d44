package symfmt

import "slices"

// Most lines of a large file are line records and INLINEs. fastLine and fastInline
// read the common form in one pass, and leave anything unusual to parse, which
// reads the same line again and words its faults. Reading one digit at a time is
// not slow: runs of lines have numbers of the same length, so branches are
// predicted. Eight at a time in a register measured slower.

// fastLine reads the next line if it is a plain line record that is entirely in
// the buffer.
func (r *Reader) fastLine() bool {
	b := r.buf[r.pos : r.end+1]
	rva, i := fastHex(b, 0)
	if i < 0 {
		return false
	}
	size, i := fastHex(b, i)
	if i < 0 {
		return false
	}
	num, i := fastDec(b, i)
	if i < 0 || b[i] != ' ' {
		return false
	}
	id, i := fastDec(b, i+1)
	if i < 0 {
		return false
	}
	stop := i
	if b[i] == '\r' {
		i++ // never past the final '\n'
	}
	if b[i] != '\n' || i == len(b)-1 || size != 0 && rva+(size-1) < rva {
		return false
	}
	r.report.Lines++
	if i != stop {
		r.report.Layout.endsInCR(r.report.Lines, 1)
	}
	r.at, r.pos = r.pos, r.pos+i+1
	r.rec.Kind = KindLine
	r.rec.line = r.report.Lines
	r.rec.text = b[:stop]
	r.rec.Line = Line{RVA: RVA(rva), Size: size, Num: num, File: FileID(id)}
	return true
}

// fastHex reads a hexadecimal number and the space after it. next is negative
// if there is no such number at i. b must end in '\n', which stops the scan.
func fastHex(b []byte, i int) (v uint64, next int) {
	start := i
	for {
		d := hexDigit[b[i]]
		if d == notHex {
			break
		}
		v = v<<4 | uint64(d)
		i++
	}
	if b[i] != ' ' || uint(i-start-1) >= 16 {
		return 0, -1
	}
	return v, i + 1
}

// fastDec reads a decimal number. next is the index of the byte after it, or
// negative if there is no number at i. b must end in '\n'.
func fastDec(b []byte, i int) (v uint32, next int) {
	start := i
	var n uint64
	for {
		d := b[i] - '0'
		if d > 9 {
			break
		}
		n = n*10 + uint64(d)
		i++
	}
	if uint(i-start-1) >= 10 || n > maxID {
		return 0, -1
	}
	return uint32(n), i
}

// fastInline reads the next line if it is a plain INLINE record of the new form that
// is entirely in the buffer. An odd number of fields means the old form.
func (r *Reader) fastInline() bool {
	const word = "INLINE "
	b := r.buf[r.pos : r.end+1]
	if len(b) < len(word) || string(b[:len(word)]) != word {
		return false
	}
	i := len(word)
	var head [4]uint32
	for k := range head {
		if head[k], i = fastDec(b, i); i < 0 || b[i] != ' ' {
			return false
		}
		i++
	}
	in := &r.rec.Inline
	if in.Ranges, i = fastRanges(in.Ranges[:0], b, i); i < 0 || i == len(b)-1 {
		return false
	}
	r.report.Lines++
	r.at, r.pos = r.pos, r.pos+i+1
	r.rec.Kind = KindInline
	r.rec.line = r.report.Lines
	r.rec.text = b[:i]
	r.rec.OldForm = false
	in.Depth, in.CallLine, in.Origin = head[0], head[1], OriginID(head[3])
	in.CallFile, in.NoFile = FileID(head[2]), false
	return true
}

// fastRanges reads the ranges of an INLINE up to the end of the line. next is the
// index of that end, or negative if the line contains anything else.
func fastRanges(to []Range, b []byte, i int) (ranges []Range, next int) {
	for {
		rva, at := fastHex(b, i)
		if at < 0 {
			return to, -1
		}
		size, end := uint64(0), at
		for ; hexDigit[b[end]] != notHex; end++ {
			size = size<<4 | uint64(hexDigit[b[end]])
		}
		if uint(end-at-1) >= 16 || size != 0 && rva+(size-1) < rva {
			return to, -1
		}
		if n := len(to); n == cap(to) {
			// Double at least: append's smaller steps leave more garbage in total.
			to = slices.Grow(to, max(n, 1))
		}
		to = append(to, Range{RVA: RVA(rva), Size: size})
		switch b[end] {
		case '\n':
			return to, end
		case ' ':
			i = end + 1
		default:
			return to, -1
		}
	}
}
