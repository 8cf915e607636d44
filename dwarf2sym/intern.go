package dwarf2sym

import (
	"hash/maphash"
	"strings"
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

func hashOf(s []byte) uint32 {
	h := maphash.Bytes(hashSeed, s)
	return uint32(h) ^ uint32(h>>32)
}

func hashOfString(s string) uint32 {
	h := maphash.String(hashSeed, s)
	return uint32(h) ^ uint32(h>>32)
}

// intern returns the number of s, of which it keeps a copy.
func (t *stringTable) intern(s []byte) uint32 {
	if t.full() {
		t.grow(2 * len(t.slots))
	}
	h := hashOf(s)
	i := int(h) & (len(t.slots) - 1)
	for ; t.slots[i] != 0; i = (i + 1) & (len(t.slots) - 1) {
		if n := t.slots[i] - 1; t.hashes[n] == h && t.list[n] == string(s) {
			return n
		}
	}
	return t.put(i, h, t.keep(s))
}

// internString is intern of a string, which the table keeps as it is.
func (t *stringTable) internString(s string) uint32 {
	if t.full() {
		t.grow(2 * len(t.slots))
	}
	h := hashOfString(s)
	i := int(h) & (len(t.slots) - 1)
	for ; t.slots[i] != 0; i = (i + 1) & (len(t.slots) - 1) {
		if n := t.slots[i] - 1; t.hashes[n] == h && t.list[n] == s {
			return n
		}
	}
	return t.put(i, h, s)
}

func (t *stringTable) put(slot int, hash uint32, s string) uint32 {
	n := uint32(len(t.list))
	t.list = append(t.list, s)
	t.hashes = append(t.hashes, hash)
	t.slots[slot] = n + 1
	return n
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

// full tells whether half of the slots are taken.
func (t *stringTable) full() bool { return 2*len(t.list) >= len(t.slots) }

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
	slots = max(slots, minSlots)
	t.slots = make([]uint32, slots)
	for n, h := range t.hashes {
		i := int(h) & (slots - 1)
		for t.slots[i] != 0 {
			i = (i + 1) & (slots - 1)
		}
		t.slots[i] = uint32(n) + 1
	}
}
