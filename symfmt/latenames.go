package symfmt

import (
	"hash/maphash"
	"math/bits"
	"unsafe"
)

// LateNames makes names while a module is written. Demangled names of C++ are three times as long as
// mangled ones, and most are written once: in large programs they are more than half of what a module
// would hold.
type LateNames struct {
	// Append appends the form in which a name of a FUNC, PUBLIC or INLINE_ORIGIN is written. It may be called
	// concurrently. Names in that form need not be in canonical order, which only matters for FUNCs or PUBLICs
	// with the same address.
	Append func(dst []byte, name string) []byte

	// Origins is the number of INLINE_ORIGIN records that Write wrote. Those that have the same name in the written
	// form are one, and they are numbered from 0 in the order of the module's. An INLINE that refers to no INLINE_ORIGIN
	// keeps its number.
	Origins int
}

// lateLonger is roughly how many times longer names become.
const lateLonger = 4

// appendName is like the function, for a name to be made; n may be nil for one that is written as it is.
func (n *LateNames) appendName(dst []byte, name, instead string) []byte {
	if n == nil {
		return appendName(dst, name, instead)
	}
	dst = append(dst, ' ')
	from := len(dst)
	dst = n.Append(dst, name)
	if made := dst[from:]; !clean(unsafe.String(unsafe.SliceData(made), len(made))) { // used before it changes
		dst = append(dst[:from], CleanName(string(made), instead)...)
	}
	return append(dst, '\n')
}

// lateOrigin is an INLINE_ORIGIN of which only the number is missing.
type lateOrigin struct {
	id   OriginID // in the module
	end  int      // of its text in formatted.text
	hash textHash
}

// textHash stands for a text. The seeds are random: of a billion texts, two different ones have the same
// hash with a probability of 2^-69.
type textHash [2]uint64

// numberedTexts numbers texts from 0, in a third of a map's time. Only one goroutine can do that.
type numberedTexts struct {
	hashes []textHash // by number
	slots  []uint32   // number + 1, at hash or after; 0 means free. The length is a power of two
}

// newNumberedTexts has room for n texts.
func newNumberedTexts(n int) numberedTexts {
	return numberedTexts{hashes: make([]textHash, 0, n), slots: make([]uint32, 1<<bits.Len(uint(2*n)))}
}

// number returns the number of a text, and whether it had one before.
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
// written, only number is called, and afterwards only of, concurrently.
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

// formatOrigins formats the origins of a piece, without what precedes their names.
func (t *writer) formatOrigins(out *formatted, p *piece) {
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

// number returns the text of a piece, whose origins it numbers.
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
