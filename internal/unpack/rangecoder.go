package unpack

// The range decoder of LZMA, as the "LZMA specification" by Igor Pavlov (2015) describes it. A bit is decoded with the
// probability that it is 0, which adapts.

// prob is a probability in units of 1/2048.
type prob uint16

const (
	probBits = 11
	probInit = 1 << (probBits - 1)
	probMove = 5       // a bit moves the probability by 1/32 of what is left
	rangeTop = 1 << 24 // below it, the range takes another byte
)

// symbolBytes bounds the bytes that a symbol takes: a match has at most 50 bits, each of which shifts a byte in at most.
const symbolBytes = 64

// rangeDecoder decodes the bits of a chunk. The chunk is followed by symbolBytes zeros, so that only the position after
// each symbol needs a check.
type rangeDecoder struct {
	width, code uint32
	in          []byte
	pos         int
}

// start reads the five bytes that a chunk begins with, of which the first is zero.
func (r *rangeDecoder) start(in []byte) bool {
	r.in, r.pos, r.width = in, 5, 1<<32-1
	r.code = uint32(in[1])<<24 | uint32(in[2])<<16 | uint32(in[3])<<8 | uint32(in[4])
	return in[0] == 0
}

// normalize takes another byte if the range is too small for the next bit.
func (r *rangeDecoder) normalize() {
	if r.width < rangeTop {
		r.width, r.code = r.width<<8, r.code<<8|uint32(r.in[r.pos])
		r.pos++
	}
}

// bit decodes a bit.
func (r *rangeDecoder) bit(p *prob) uint32 {
	width, code := r.width, r.code
	if width < rangeTop {
		width, code = width<<8, code<<8|uint32(r.in[r.pos])
		r.pos++
	}
	bound := width >> probBits * uint32(*p)
	if code < bound {
		r.width, r.code = bound, code
		*p += (1<<probBits - *p) >> probMove
		return 0
	}
	r.width, r.code = width-bound, code-bound
	*p -= *p >> probMove
	return 1
}

// tree decodes bits, the highest first, each with a probability for those before it. The result begins with a one, and
// so does from, which has the bits that are known.
func (r *rangeDecoder) tree(probs []prob, from, end uint32) uint32 {
	width, code, in, pos := r.width, r.code, r.in, r.pos
	for from < end {
		if width < rangeTop {
			width, code = width<<8, code<<8|uint32(in[pos])
			pos++
		}
		p := &probs[from]
		v := uint32(*p)
		bound := width >> probBits * v
		if code < bound {
			width = bound
			*p = prob(v + (1<<probBits-v)>>probMove)
			from <<= 1
		} else {
			width, code = width-bound, code-bound
			*p = prob(v - v>>probMove)
			from = from<<1 | 1
		}
	}
	r.width, r.code, r.pos = width, code, pos
	return from
}

// reverse decodes n bits, the lowest first.
func (r *rangeDecoder) reverse(probs []prob, n int) (v uint32) {
	at := uint32(1)
	for i := range n {
		b := r.bit(&probs[at])
		at = at<<1 | b
		v |= b << i
	}
	return v
}

// direct decodes n bits, the highest first, that are 0 or 1 with the same probability.
func (r *rangeDecoder) direct(n int) (v uint32) {
	for range n {
		r.normalize()
		r.width >>= 1
		b := uint32(0)
		if r.code >= r.width {
			r.code -= r.width
			b = 1
		}
		v = v<<1 | b
	}
	return v
}

// matched decodes a literal after a match, with the help of the byte that would have continued it: up to the first bit
// that differs.
func (r *rangeDecoder) matched(probs []prob, like uint32) uint32 {
	symbol := uint32(1)
	for symbol < 0x100 {
		like <<= 1
		expected := like >> 8 & 1
		b := r.bit(&probs[(1+expected)<<8+symbol])
		symbol = symbol<<1 | b
		if b != expected {
			return r.tree(probs, symbol, 0x100)
		}
	}
	return symbol
}
