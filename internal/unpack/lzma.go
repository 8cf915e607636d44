package unpack

// Sizes of LZMA's tables of probabilities.
const (
	lzmaStates     = 12
	lzmaPositions  = 16 // at most: 1<<pb
	lzmaLiteral    = 0x300
	lzmaMinMatch   = 2
	lzmaLenStates  = 4   // that distances depend on
	lzmaSlotBits   = 6   // of the first part of a distance
	lzmaFirstMid   = 4   // the first slot whose distance has more bits
	lzmaFirstLong  = 14  // the first slot whose distance has bits that are equally likely
	lzmaAlignBits  = 4   // the lowest of these distances, which are not
	lzmaMidProbs   = 115 // of the distances between
	lzmaFirstMatch = 7   // the first state after which a literal follows a match
)

// lzmaState is the state of an LZMA decoder, which chunks continue.
type lzmaState struct {
	bits       rangeDecoder
	total      uint32 // bytes unpacked since the dictionary was reset
	state      uint32
	rep        [4]uint32 // the last distances, less one
	lc, lp, pb uint32

	match, longRep                [lzmaStates][lzmaPositions]prob
	isRep, isRep0, isRep1, isRep2 [lzmaStates]prob
	slots                         [lzmaLenStates][1 << lzmaSlotBits]prob
	mid                           [lzmaMidProbs]prob
	align                         [1 << lzmaAlignBits]prob
	lengths, repLengths           lengthDecoder
	literals                      []prob
}

// lengthDecoder decodes the lengths of matches, less lzmaMinMatch.
type lengthDecoder struct {
	choice, choice2 prob
	low, mid        [lzmaPositions][8]prob
	high            [256]prob
}

// setProperties sets the three numbers that the properties of LZMA stand for, and resets the state. LZMA2 bounds the
// sum of the first two.
func (s *lzmaState) setProperties(b byte) bool {
	if b >= 9*5*5 {
		return false
	}
	s.lc, s.lp, s.pb = uint32(b%9), uint32(b/9%5), uint32(b/9/5)
	if s.lc+s.lp > 4 {
		return false
	}
	s.literals = make([]prob, lzmaLiteral<<(s.lc+s.lp))
	s.reset()
	return true
}

// reset resets everything but the properties and the position.
func (s *lzmaState) reset() {
	s.state, s.rep = 0, [4]uint32{}
	for i := range lzmaStates {
		fill(s.match[i][:])
		fill(s.longRep[i][:])
	}
	for i := range s.slots {
		fill(s.slots[i][:])
	}
	for _, table := range [][]prob{s.isRep[:], s.isRep0[:], s.isRep1[:], s.isRep2[:], s.mid[:], s.align[:], s.literals} {
		fill(table)
	}
	s.lengths.reset()
	s.repLengths.reset()
}

func fill(table []prob) {
	for i := range table {
		table[i] = probInit
	}
}

func (l *lengthDecoder) reset() {
	l.choice, l.choice2 = probInit, probInit
	for i := range lzmaPositions {
		fill(l.low[i][:])
		fill(l.mid[i][:])
	}
	fill(l.high[:])
}

func (l *lengthDecoder) decode(r *rangeDecoder, position uint32) int {
	switch {
	case r.bit(&l.choice) == 0:
		return int(r.tree(l.low[position][:], 1, 8)) - 8
	case r.bit(&l.choice2) == 0:
		return int(r.tree(l.mid[position][:], 1, 8))
	}
	return int(r.tree(l.high[:], 1, 256)) - 256 + 16
}

// decode appends size bytes to the window of z, from a chunk of packed bytes. It reports whether the chunk is sound.
func (s *lzmaState) decode(z *lzma2Reader, size, packed int) bool {
	r := &s.bits
	at := len(z.window)
	end := at + size
	window := z.window[:end]
	for at < end {
		position := s.total & (1<<s.pb - 1)
		if r.bit(&s.match[s.state][position]) == 0 {
			window[at] = s.literal(window, at, z.base)
			at++
			s.total++
		} else {
			n := s.length(position)
			distance := int(s.rep[0]) + 1
			if n == 0 || n > end-at || distance > min(at-z.base, z.dict) {
				return false
			}
			repeat(window, at, distance, n)
			at += n
			s.total += uint32(n)
		}
		if r.pos > packed {
			return false
		}
	}
	r.normalize()
	z.window = window
	return r.pos == packed && r.code == 0
}

// repeat copies n bytes from a distance before at.
func repeat(window []byte, at, distance, n int) {
	from := at - distance
	if n <= 16 {
		for i := range n {
			window[at+i] = window[from+i]
		}
		return
	}
	for end := at + n; at < end; {
		at += copy(window[at:end], window[from:at])
	}
}

// literal decodes a byte.
func (s *lzmaState) literal(window []byte, at, base int) byte {
	before := uint32(0)
	if at > base {
		before = uint32(window[at-1])
	}
	table := (s.total&(1<<s.lp-1))<<s.lc + before>>(8-s.lc)
	probs := s.literals[table*lzmaLiteral:][:lzmaLiteral]
	var symbol uint32
	if like := at - int(s.rep[0]) - 1; s.state >= lzmaFirstMatch && like >= base {
		symbol = s.bits.matched(probs, uint32(window[like]))
	} else {
		symbol = s.bits.tree(probs, 1, 0x100)
	}
	switch {
	case s.state < 4:
		s.state = 0
	case s.state < 10:
		s.state -= 3
	default:
		s.state -= 6
	}
	return byte(symbol)
}

// length decodes a match: its length is returned, its distance is in rep[0]. The length is 0 for the mark of an end,
// which LZMA2 does not have.
func (s *lzmaState) length(position uint32) int {
	r, state := &s.bits, s.state
	if r.bit(&s.isRep[state]) == 0 {
		n := s.lengths.decode(r, position)
		s.rep[1], s.rep[2], s.rep[3] = s.rep[0], s.rep[1], s.rep[2]
		s.rep[0] = s.distance(min(n, lzmaLenStates-1))
		if s.rep[0] == 1<<32-1 {
			return 0
		}
		s.after(7, 10)
		return n + lzmaMinMatch
	}
	switch {
	case r.bit(&s.isRep0[state]) == 0:
		if r.bit(&s.longRep[state][position]) == 0 {
			s.after(9, 11)
			return 1
		}
	case r.bit(&s.isRep1[state]) == 0:
		s.rep[0], s.rep[1] = s.rep[1], s.rep[0]
	case r.bit(&s.isRep2[state]) == 0:
		s.rep[0], s.rep[1], s.rep[2] = s.rep[2], s.rep[0], s.rep[1]
	default:
		s.rep[0], s.rep[1], s.rep[2], s.rep[3] = s.rep[3], s.rep[0], s.rep[1], s.rep[2]
	}
	s.after(8, 11)
	return s.repLengths.decode(r, position) + lzmaMinMatch
}

// after sets the state after a match, which depends on whether it followed a literal.
func (s *lzmaState) after(literal, match uint32) {
	if s.state < lzmaFirstMatch {
		s.state = literal
	} else {
		s.state = match
	}
}

// distance decodes a distance, less one.
func (s *lzmaState) distance(length int) uint32 {
	r := &s.bits
	slot := r.tree(s.slots[length][:], 1, 1<<lzmaSlotBits) - 1<<lzmaSlotBits
	if slot < lzmaFirstMid {
		return slot
	}
	n := int(slot>>1) - 1
	distance := (2 | slot&1) << n
	if slot < lzmaFirstLong {
		return distance + r.reverse(s.mid[distance-slot:], n)
	}
	distance += r.direct(n-lzmaAlignBits) << lzmaAlignBits
	return distance + r.reverse(s.align[:], lzmaAlignBits)
}
