package symfmt

// Nine in ten lines of a large file are line records. fastLine reads those of
// the common form in one pass; whatever is unusual is left to parse, which
// reads the same line again and words its faults. A digit at a time is not
// slow: runs of lines have numbers of the same length, so that branches are
// predicted; eight at a time in a register was measured, and took longer.

// fastLine reads the next line if it is a plain line record, all of it in the
// buffer.
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
		i++ // not the last byte, which is '\n'
	}
	if b[i] != '\n' || i == len(b)-1 || size != 0 && rva+(size-1) < rva {
		return false
	}
	r.report.Lines++
	if i != stop {
		r.report.Layout.endsInCR(r.report.Lines, 1)
	}
	r.pos += i + 1
	r.rec.Kind = KindLine
	r.rec.line = r.report.Lines
	r.rec.text = b[:stop]
	r.rec.Line = Line{RVA: RVA(rva), Size: size, Num: num, File: FileID(id)}
	return true
}

// fastHex reads a hexadecimal number and the space behind it. next is negative
// if there is none at i. b ends in '\n', which stops the scan.
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

// fastDec reads a decimal number. next is negative if there is none at i, else
// the place of the first byte behind it. b ends in '\n'.
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
