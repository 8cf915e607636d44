package inflate

import "math/bits"

// Codes are looked up in tables of two levels: the next litBits or distBits bits select an entry of the
// first, which is that of a code, or names a table of the second for the codes that begin with these bits.
//
// An entry has, from its lowest bit on: 5 bits, the length of code and extra bits; from bit 8, 4 bits, the
// length of the code (of what of it selects an entry of the second level); from bit 16 on, the literal, or
// what the extra bits are added to. One of a table has 4 bits, how many bits select an entry of it; from
// bit 8 on, where it begins.
const (
	isSpecial = 1 << 31 // a table, the end of a block, or no code
	isTable   = 1 << 30 // with isSpecial
	isEnd     = 1 << 29 // with isSpecial
	isLiteral = 1 << 28 // without; distances have no literals, and are below 1 << 15

	maxIndex = 1<<16 - 1

	litBits  = 11
	distBits = 8
	preBits  = 7
	maxCode  = 15

	// The sizes that tables with these first levels can have: what zlib's enough.c prints for 288 and
	// for 32 codes.
	litTable  = 2342
	distTable = 402
	preTable  = 1 << preBits

	maxLits  = 288
	maxDists = 32
)

// The symbols of each alphabet as entries without the length of their codes.
var (
	litSymbols  [maxLits]uint32
	distSymbols [maxDists]uint32
	preSymbols  [19]uint32
)

func init() {
	for i := range 256 {
		litSymbols[i] = isLiteral | uint32(i)<<16
	}
	litSymbols[256] = isSpecial | isEnd
	// Section 3.2.5: 4 lengths for each number of extra bits, after 8 without; 258 is a length of its own.
	base := uint32(3)
	for i := range uint32(28) {
		extra := uint32(0)
		if i >= 8 {
			extra = i/4 - 1
		}
		litSymbols[257+i] = base<<16 | extra
		base += 1 << extra
	}
	litSymbols[285] = 258 << 16
	litSymbols[286], litSymbols[287] = isSpecial, isSpecial
	base = 1
	for i := range uint32(30) {
		extra := uint32(0)
		if i >= 4 {
			extra = i/2 - 1
		}
		distSymbols[i] = base<<16 | extra
		base += 1 << extra
	}
	distSymbols[30], distSymbols[31] = isSpecial, isSpecial
	for i := range preSymbols {
		preSymbols[i] = uint32(i) << 16
	}
}

// builder has storage for making tables.
type builder struct {
	pre     [preTable]uint32
	lengths [maxLits + maxDists]uint8
	sorted  [maxLits]uint16
}

// table fills a table for codes of the given lengths, by symbol. It reports false if there is no such
// code: there are more codes than lengths allow, or less, unless there is one of one bit, or none.
func (b *builder) table(table []uint32, size uint, lengths []uint8, symbols []uint32) bool {
	var count, next [maxCode + 2]int
	for _, n := range lengths {
		count[n]++
	}
	space, codes := 1, len(lengths)-count[0]
	for n := 1; n <= maxCode; n++ {
		space = space<<1 - count[n]
		if space < 0 {
			return false
		}
		next[n+1] = next[n] + count[n]
	}
	for i := range 1 << size {
		table[i] = isSpecial
	}
	if space > 0 && (codes > 1 || codes == 1 && count[1] == 0) {
		return false
	}
	for symbol, n := range lengths {
		if n > 0 {
			b.sorted[next[n]] = uint16(symbol)
			next[n]++
		}
	}
	free := 1 << size // where the next table of the second level begins
	prefix, at, width := -1, 0, uint(0)
	code, length := 0, uint(0)
	for i, symbol := range b.sorted[:codes] {
		n := uint(lengths[symbol])
		code <<= n - length
		length = n
		rev := int(bits.Reverse16(uint16(code)) >> (16 - n))
		code++
		if n <= size {
			e := symbols[symbol] + uint32(n)*0x101
			for k := rev; k < 1<<size; k += 1 << n {
				table[k] = e
			}
			continue
		}
		if p := rev & (1<<size - 1); p != prefix {
			prefix, at = p, free
			width = n - size
			for used := next[n] - i; used < 1<<width; {
				width++
				used = used<<1 + count[size+width]
			}
			free += 1 << width
			table[p] = isSpecial | isTable | uint32(at)<<8 | uint32(width)
		}
		e := symbols[symbol] + uint32(n-size)*0x101
		for k := rev >> size; k < 1<<width; k += 1 << (n - size) {
			table[at+k] = e
		}
	}
	return true
}

// fixed makes the tables of section 3.2.6.
func (z *Reader) fixed() error {
	lengths := z.build.lengths[:]
	for i := range maxLits {
		switch {
		case i < 144:
			lengths[i] = 8
		case i < 256:
			lengths[i] = 9
		case i < 280:
			lengths[i] = 7
		default:
			lengths[i] = 8
		}
	}
	for i := range maxDists {
		lengths[maxLits+i] = 5
	}
	return z.tables(maxLits, maxDists)
}

// tables makes the tables of the first lits and the next dists lengths.
func (z *Reader) tables(lits, dists int) error {
	b := &z.build
	if !b.table(z.lits[:], litBits, b.lengths[:lits], litSymbols[:]) ||
		!b.table(z.dists[:], distBits, b.lengths[lits:lits+dists], distSymbols[:]) {
		return ErrData
	}
	return nil
}

// preOrder is the order in which lengths of the codes for lengths are stored.
var preOrder = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// dynamic reads the codes of a block (section 3.2.7), and makes their tables.
func (z *Reader) dynamic() error {
	z.need()
	head, err := z.take(14)
	if err != nil {
		return err
	}
	lits, dists, pres := int(head&31)+257, int(head>>5&31)+1, int(head>>10)+4
	if lits > 286 || dists > 30 {
		return ErrData
	}
	var pre [19]uint8
	for _, i := range preOrder[:pres] {
		z.need()
		n, err := z.take(3)
		if err != nil {
			return err
		}
		pre[i] = uint8(n)
	}
	if !z.build.table(z.build.pre[:], preBits, pre[:], preSymbols[:]) {
		return ErrData
	}
	lengths := z.build.lengths[:lits+dists]
	for i := 0; i < len(lengths); {
		e, err := z.symbol(z.build.pre[:], preBits)
		if err != nil {
			return err
		}
		symbol := uint8(e >> 16)
		if symbol < 16 {
			lengths[i] = symbol
			i++
			continue
		}
		value, least, extra := uint8(0), 3, uint(3)
		switch symbol {
		case 16:
			if i == 0 {
				return ErrData
			}
			value, extra = lengths[i-1], 2
		case 18:
			least, extra = 11, 7
		}
		more, err := z.take(extra)
		if err != nil {
			return err
		}
		n := least + int(more)
		if n > len(lengths)-i {
			return ErrData
		}
		for range n {
			lengths[i] = value
			i++
		}
	}
	return z.tables(lits, dists)
}
