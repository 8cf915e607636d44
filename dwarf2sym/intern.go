package dwarf2sym

import (
	"hash/maphash"
	"strings"
	"unsafe"
)

// stringTable numbers strings in order of first use, from 0. It does what a
// map[string]uint32 and a list do, in a third of the time on the names of a
// kernel: growing it moves numbers and looks at no string, and the strings
// themselves lie in large chunks. The zero value is empty.
type stringTable struct {
	list   []string
	hashes []uint32 // of the strings in list
	slots  []uint32 // number + 1, at hash or behind; 0: free. A power of two of them
	text   strings.Builder
}

const (
	minSlots  = 64
	textChunk = 16 << 10
)

// hashSeed is the same for all tables. It differs from run to run, and decides
// only where a number is kept.
var hashSeed = maphash.MakeSeed()

func hashOf(s string) uint32 {
	h := maphash.String(hashSeed, s)
	return uint32(h) ^ uint32(h>>32)
}

// intern returns the number of s, of which it keeps a copy.
func (t *stringTable) intern(s []byte) uint32 {
	// Not kept: a string that shares the bytes of s only to look for it.
	look := unsafe.String(unsafe.SliceData(s), len(s))
	h := hashOf(look)
	if n, ok := t.lookup(look, h); ok {
		return n
	}
	return t.add(t.keep(s), h)
}

// internString is intern of a string, which the table keeps as it is.
func (t *stringTable) internString(s string) uint32 {
	h := hashOf(s)
	if n, ok := t.lookup(s, h); ok {
		return n
	}
	return t.add(s, h)
}

// lookup returns the number of s, if it has one.
func (t *stringTable) lookup(s string, hash uint32) (uint32, bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	for i := int(hash) & (len(t.slots) - 1); t.slots[i] != 0; i = (i + 1) & (len(t.slots) - 1) {
		if n := t.slots[i] - 1; t.hashes[n] == hash && t.list[n] == s {
			return n, true
		}
	}
	return 0, false
}

// add gives s, which has none, the next number.
func (t *stringTable) add(s string, hash uint32) uint32 {
	if 2*len(t.list) >= len(t.slots) {
		t.grow(2 * len(t.slots))
	}
	n := uint32(len(t.list))
	t.list = append(t.list, s)
	t.hashes = append(t.hashes, hash)
	t.place(n)
	return n
}

// place takes a free slot for the string with number n.
func (t *stringTable) place(n uint32) {
	i := int(t.hashes[n]) & (len(t.slots) - 1)
	for t.slots[i] != 0 {
		i = (i + 1) & (len(t.slots) - 1)
	}
	t.slots[i] = n + 1
}

// keep copies s to the current chunk, or to a new one: what was written there
// stays, whatever comes behind it.
func (t *stringTable) keep(s []byte) string {
	if t.text.Cap()-t.text.Len() < len(s) {
		t.text = strings.Builder{}
		t.text.Grow(max(textChunk, len(s)))
	}
	start := t.text.Len()
	t.text.Write(s)
	return t.text.String()[start:]
}

// expect makes room for n strings.
func (t *stringTable) expect(n int) {
	slots := minSlots
	for slots < 2*n {
		slots *= 2
	}
	if slots > len(t.slots) {
		t.grow(slots)
	}
}

func (t *stringTable) grow(slots int) {
	t.slots = make([]uint32, max(slots, minSlots))
	for n := range t.hashes {
		t.place(uint32(n))
	}
}
