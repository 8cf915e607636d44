package symfmt

import (
	"hash/maphash"
	"math/bits"
	"unsafe"
)

// LateNames makes names while a module is written. Demangled C++ names are three times as long as
// mangled ones, and most are written once: in a large program they would take more than half of a
// module's memory.
type LateNames struct {
	// Append appends a FUNC, PUBLIC or INLINE_ORIGIN name in its written form. It may be called concurrently.
	// The written names need not be in canonical order, which matters only for FUNCs or PUBLICs with the same
	// address.
	Append func(dst []byte, name string) []byte

	// Origins is set to the number of INLINE_ORIGIN records that Write wrote. Origins with the same written name
	// become one, and they are numbered from 0 in the module's order. An INLINE that refers to an undeclared
	// INLINE_ORIGIN keeps its number.
	Origins int
}

// lateLonger is roughly how many times longer names become when they are made.
const lateLonger = 4

// appendName is like the function appendName, but makes the name first; if n is nil, the name is written
// as it is.
func (n *LateNames) appendName(dst []byte, name, instead string) []byte {
	if n == nil {
		return appendName(dst, name, instead)
	}
	dst = append(dst, ' ')
	from := len(dst)
	dst = n.Append(dst, name)
	if made := dst[from:]; !clean(unsafe.String(unsafe.SliceData(made), len(made))) { // the string is used only before made changes
		dst = append(dst[:from], CleanName(string(made), instead)...)
	}
	return append(dst, '\n')
}

// lateOrigin is an INLINE_ORIGIN whose number is not yet known.
type lateOrigin struct {
	id   OriginID // in the module
	end  int      // end of its text in formatted.text
	hash textHash
}

// textHash identifies a text. The seeds are random: among a billion texts, the probability that two
// different ones have the same hash is 2^-69.
type textHash [2]uint64

// numberedTexts numbers texts from 0, in a third of a map's time. It is not safe for concurrent use.
type numberedTexts struct {
	hashes []textHash // by number
	slots  []uint32   // number + 1, at hash or after; 0 means free. The length is a power of two
}

// newNumberedTexts returns a numberedTexts with room for n texts.
func newNumberedTexts(n int) numberedTexts {
	return numberedTexts{hashes: make([]textHash, 0, n), slots: make([]uint32, 1<<bits.Len(uint(2*n)))}
}

// number returns the number of a text, and whether the text already had one.
func (t *numberedTexts) number(h textHash) (n uint32, known bool) {
	i := h[0] & uint64(len(t.slots)-1)
	for ; t.slots[i] != 0; i = (i + 1) & uint64(len(t.slots)-1) {
		if n := t.slots[i] - 1; t.hashes[n] == h {
			return n, true
		}
	}
	t.hashes = append(t.hashes, h)
	t.slots[i] = uint32(len(t.hashes))
	return t.slots[i] - 1, false
}

// lateOrigins numbers the origins of a module whose names are made late. While pieces with origins are
// written, only number is called; afterwards only of, which is safe for concurrent use.
type lateOrigins struct {
	seeds   [2]maphash.Seed
	known   numberedTexts
	index   idIndex    // of the module's origins
	numbers []OriginID // by position there
	text    []byte
}

func newLateOrigins(m *Module) *lateOrigins {
	return &lateOrigins{
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, known: newNumberedTexts(len(m.Origins)),
		index: m.originIndex(), numbers: make([]OriginID, len(m.Origins)),
	}
}

// formatOrigins formats the origins of a piece, from their names on: their numbers are not yet known.
func (t *writer) formatOrigins(out *formatted, p *chunk) {
	dst := out.text[:0]
	for i := p.from; i < p.to; i++ {
		o := &t.m.Origins[t.origins.at(i)]
		if t.repeatsOrigin(i) {
			continue
		}
		from := len(dst)
		dst = appendOriginText(dst, o, t.old, t.names)
		hash := textHash{maphash.Bytes(t.late.seeds[0], dst[from:]), maphash.Bytes(t.late.seeds[1], dst[from:])}
		out.origins = append(out.origins, lateOrigin{o.ID, len(dst), hash})
	}
	out.text = dst
}

// number assigns numbers to the origins of a piece and returns its text.
func (n *lateOrigins) number(out *formatted) []byte {
	dst, from := n.text[:0], 0
	for i := range out.origins {
		o := &out.origins[i]
		number, ok := n.known.number(o.hash)
		id := OriginID(number)
		if !ok {
			dst = append(appendOriginNumber(dst, id), out.text[from:o.end]...)
		}
		pos, _ := n.index.find(uint32(o.id))
		n.numbers[pos] = id
		from = o.end
	}
	n.text = dst
	return dst
}

// of returns the number with which an origin of the module was written.
func (n *lateOrigins) of(id OriginID) OriginID {
	if pos, ok := n.index.find(uint32(id)); ok {
		return n.numbers[pos]
	}
	return id
}
