package inflate

import "encoding/binary"

// fast returns codes while input and output have room for the most that two looks at them can
// take: it checks neither in between, and copies matches by 8 bytes.
func (z *Reader) fast(out []byte, pos, first int) (int, error) {
	in, p, b, n := z.buf, z.pos, z.bits, z.count
	lits, dists := &z.lits, &z.dists
	lastIn, lastOut := len(in)-fastIn, len(out)-fastOut
	var err error
	for p <= lastIn && pos <= lastOut {
		b |= binary.LittleEndian.Uint64(in[p:]) << (n & 63)
		p += int((63 - n) >> 3)
		n |= 56
		e := lits[b&(1<<litBits-1)]
		if e&isLiteral != 0 {
			// Three literals have 33 bits at most, so that 23 are left for a length.
			b >>= e & 31
			n -= uint(e & 31)
			out[pos] = byte(e >> 16)
			pos++
			if e = lits[b&(1<<litBits-1)]; e&isLiteral != 0 {
				b >>= e & 31
				n -= uint(e & 31)
				out[pos] = byte(e >> 16)
				pos++
				if e = lits[b&(1<<litBits-1)]; e&isLiteral != 0 {
					b >>= e & 31
					n -= uint(e & 31)
					out[pos] = byte(e >> 16)
					pos++
					continue
				}
			}
		}
		if e&isSpecial != 0 {
			if e&isTable != 0 {
				b >>= litBits
				n -= litBits
				e = lits[uint64(e>>8&maxIndex)+b&(1<<(e&15)-1)]
			}
			if e&isLiteral != 0 {
				b >>= e & 31
				n -= uint(e & 31)
				out[pos] = byte(e >> 16)
				pos++
				continue
			}
			if e&isEnd != 0 {
				b >>= e & 31
				n -= uint(e & 31)
				z.state = atBlock
				break
			}
			if e&isSpecial != 0 {
				err = ErrData
				break
			}
		}
		length := int(e>>16&0x1ff) + int(b&(1<<(e&31)-1)>>(e>>8&15))
		b >>= e & 31
		n -= uint(e & 31)
		b |= binary.LittleEndian.Uint64(in[p:]) << (n & 63)
		p += int((63 - n) >> 3)
		n |= 56
		e = dists[b&(1<<distBits-1)]
		if e&isSpecial != 0 {
			if e&isTable != 0 {
				b >>= distBits
				n -= distBits
				e = dists[uint64(e>>8&maxIndex)+b&(1<<(e&15)-1)]
			}
			if e&isSpecial != 0 {
				err = ErrData
				break
			}
		}
		dist := int(e>>16) + int(b&(1<<(e&31)-1)>>(e>>8&15))
		b >>= e & 31
		n -= uint(e & 31)
		if dist > pos-first {
			err = ErrData
			break
		}
		end := pos + length
		from := pos - dist
		switch {
		case dist >= 8:
			for pos < end {
				binary.LittleEndian.PutUint64(out[pos:], binary.LittleEndian.Uint64(out[from:]))
				pos += 8
				from += 8
			}
		case dist == 1:
			v := uint64(out[from]) * 0x0101010101010101
			for ; pos < end; pos += 8 {
				binary.LittleEndian.PutUint64(out[pos:], v)
			}
		default:
			for ; pos < end; pos++ {
				out[pos] = out[pos-dist]
			}
		}
		pos = end
	}
	z.pos, z.bits, z.count = p, b, n
	return pos, err
}
