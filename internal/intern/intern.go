// Package intern numbers strings: a Table interns them.
package intern

import (
	"bytes"
	"hash/maphash"
	"unsafe"
)

// Index finds, by hash, the numbers of values that are stored elsewhere.
// Growing it moves only numbers. The zero value is empty.
type Index struct {
	hashes []uint32 // by number
	slots  []uint32 // number + 1, at the hash or after it; 0 means free. The length is a power of two
}

const minSlots = 64

// hashSeed is shared by all tables. It differs from run to run, and affects
// only where numbers are stored.
var hashSeed = maphash.MakeSeed()

// Hash returns the hash by which an Index finds s.
func Hash(s string) uint32 {
	h := maphash.String(hashSeed, s)
	return uint32(h) ^ uint32(h>>32)
}

// Find returns the number with the hash for which same returns true.
func (x *Index) Find(hash uint32, same func(n uint32) bool) (uint32, bool) {
	if len(x.slots) == 0 {
		return 0, false
	}
	for i := int(hash) & (len(x.slots) - 1); x.slots[i] != 0; i = (i + 1) & (len(x.slots) - 1) {
		if n := x.slots[i] - 1; x.hashes[n] == hash && same(n) {
			return n, true
		}
	}
	return 0, false
}

// Add assigns the next number to a value with the given hash that Find did not find.
func (x *Index) Add(hash uint32) uint32 {
	n := uint32(len(x.hashes))
	if 2*len(x.hashes) >= len(x.slots) {
		x.grow(2 * len(x.slots))
	}
	x.hashes = append(x.hashes, hash)
	x.place(n)
	return n
}

// place puts n into a free slot.
func (x *Index) place(n uint32) {
	i := int(x.hashes[n]) & (len(x.slots) - 1)
	for x.slots[i] != 0 {
		i = (i + 1) & (len(x.slots) - 1)
	}
	x.slots[i] = n + 1
}

// pageSize is the size of the system's memory pages. A new table is first written to once per page: if the first
// access to new memory is a read, the system maps a page of zeros, and has to replace it on all processors at the
// first write.
const pageSize = 4 << 10

func (x *Index) grow(slots int) {
	x.slots = make([]uint32, max(slots, minSlots))
	for i := 0; i < len(x.slots); i += pageSize / 4 {
		x.slots[i] = 0 // see pageSize
	}
	for n := range x.hashes {
		x.place(uint32(n))
	}
}

// Table numbers strings in order of first use, from 0. It replaces a
// map[string]uint32 and a slice, and takes a third of their time on the names
// of a kernel: growing it examines no strings, and the strings are in large
// chunks with one pointer each. A program has hundreds of thousands of names,
// each of which a garbage collection would otherwise visit. The zero value is
// empty.
type Table struct {
	index  Index
	places []stringPlace // by number
	chunks [][]byte
	firsts []uint32 // by chunk: the number of its first string
}

// stringPlace is chunks[chunk][off:][:size].
type stringPlace struct{ chunk, off, size uint32 }

const (
	textChunk = 16 << 10

	// maxText is the maximum length of a string; longer ones are cut. Output is
	// cut much earlier (symfmt.MaxLine).
	maxText = 1 << 30
)

// At returns the string with number n.
func (t *Table) At(n uint32) string {
	p := &t.places[n]
	b := t.chunks[p.chunk][p.off:][:p.size]
	return unsafe.String(unsafe.SliceData(b), len(b)) // safe, as bytes written to a chunk do not change
}

// Intern returns the number of s. A new string is copied.
func (t *Table) Intern(s []byte) uint32 {
	// The string that shares the bytes of s is used only for the lookup.
	return t.InternString(unsafe.String(unsafe.SliceData(s), len(s)))
}

// InternString is like Intern, for a string.
func (t *Table) InternString(s string) uint32 {
	s = s[:min(len(s), maxText)]
	hash := Hash(s)
	if n, ok := t.index.Find(hash, func(n uint32) bool { return t.At(n) == s }); ok {
		return n
	}
	t.keep(s)
	return t.index.Add(hash)
}

// Find returns the number of s. It reports false if s was not interned.
func (t *Table) Find(s []byte) (uint32, bool) {
	key := unsafe.String(unsafe.SliceData(s), min(len(s), maxText))
	return t.index.Find(Hash(key), func(n uint32) bool { return t.At(n) == key })
}

// Append adds a string without looking for an equal one. A table with such strings may only be passed to Join.
func (t *Table) Append(s []byte) {
	text := unsafe.String(unsafe.SliceData(s), min(len(s), maxText))
	t.keep(text)
	t.index.hashes = append(t.index.hashes, Hash(text))
}

// Join interns the strings of o and returns their numbers in t, indexed by their numbers in o. It
// takes over the memory of o, which must not be used any more.
func (t *Table) Join(o *Table) []uint32 {
	numbers := make([]uint32, 0, o.Len())
	for chunk, text := range o.chunks {
		first, end := o.numbers(chunk)
		taken := false
		for n := first; n < end; n++ {
			s, hash := o.At(n), o.index.hashes[n]
			number, ok := t.index.Find(hash, func(n uint32) bool { return t.At(n) == s })
			if !ok {
				if !taken {
					t.firsts, t.chunks, taken = append(t.firsts, uint32(t.Len())), append(t.chunks, text), true
				}
				number = t.index.Add(hash)
				p := o.places[n]
				t.places = append(t.places, stringPlace{uint32(len(t.chunks) - 1), p.off, p.size})
			}
			numbers = append(numbers, number)
		}
	}
	return numbers
}

// numbers returns the range of the numbers of the strings in a chunk: first inclusive, end exclusive.
func (t *Table) numbers(chunk int) (first, end uint32) {
	end = uint32(len(t.places))
	if chunk+1 < len(t.firsts) {
		end = t.firsts[chunk+1]
	}
	return t.firsts[chunk], end
}

// Len returns the number of strings.
func (t *Table) Len() int { return len(t.places) }

// Chunks returns the number of chunks, for Rewrite.
func (t *Table) Chunks() int { return len(t.chunks) }

// Freeze releases the memory for lookups: nothing more may be interned.
func (t *Table) Freeze() { t.index.slots = nil }

// Hash returns the hash of the string with number n.
func (t *Table) Hash(n uint32) uint32 { return t.index.hashes[n] }

// keep copies s to the last chunk, or to a new one. Bytes written to a chunk
// do not change.
func (t *Table) keep(s string) {
	last := len(t.chunks) - 1
	if last < 0 || cap(t.chunks[last])-len(t.chunks[last]) < len(s) {
		last++
		t.chunks = append(t.chunks, make([]byte, 0, max(textChunk, len(s))))
		t.firsts = append(t.firsts, uint32(len(t.places)))
	}
	c := &t.chunks[last]
	t.places = append(t.places, stringPlace{uint32(last), uint32(len(*c)), uint32(len(s))})
	*c = append(*c, s...)
}

// Rewrite replaces each string of a chunk by what name appends for it to dst. buf is used as
// storage, and is returned for reuse. Nothing can be looked up in the table afterwards.
func (t *Table) Rewrite(chunk int, buf []byte, name func(dst []byte, old string) []byte) []byte {
	first, end := t.numbers(chunk)
	buf, changed := buf[:0], false
	for n := first; n < end; n++ {
		old, from := t.At(n), len(buf)
		buf = name(buf, old)
		if text := buf[from:]; string(text) != old {
			changed = true
			t.index.hashes[n] = Hash(unsafe.String(unsafe.SliceData(text), len(text)))
		}
		t.places[n] = stringPlace{uint32(chunk), uint32(from), uint32(len(buf) - from)}
	}
	if changed || len(buf) < len(t.chunks[chunk]) { // Join may have taken only a part of another table's chunk
		t.chunks[chunk] = bytes.Clone(buf)
	}
	return buf
}
