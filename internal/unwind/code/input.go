package code

import (
	"cmp"
	"slices"
)

// codePart is a piece of code.
type codePart struct {
	lo    uint64
	bytes []byte
	stubs bool // a procedure linkage table
}

// codeRange is the code in [lo, hi).
type codeRange struct{ lo, hi uint64 }

// input is what is known about the code of a binary. Addresses are those in the file.
type input struct {
	cpu    *cpu
	parts  []codePart  // in order
	ranges []codeRange // code that has rules, in order: it is not followed
	begins []uint64    // where functions begin, in order
	colds  []uint64    // where the cold parts of functions begin, in order
	// unnamed means that most functions have no symbols: they begin where calls lead, or where instructions take the
	// address of code.
	unnamed bool
	entry   uint64 // where the program begins, or 0
	effort  int    // how many instructions may be followed; 0 for a number by the size of the code
	fixed   bool   // the code is loaded at fixed addresses
	// data returns the file's bytes from an address on, or nil. pointer returns what the loader stores at an address
	// where the file has zeros, or 0.
	data    func(addr uint64) []byte
	pointer func(addr uint64) uint64
	// words returns the addresses of code that data have as words.
	words func() []uint64
	// imported returns what the word at an address, which the linker fills, points to: a function of this binary, or
	// one of another module, and whether that is known not to return.
	imported func(slot uint64) (addr uint64, noReturn bool)
	never    func(addr uint64) bool // whether the function at an address is known not to return
}

// part returns the part that an address is in, and the offset there.
func (in *input) part(a uint64) (part, off int, ok bool) {
	a &^= in.cpu.isa
	i, found := slices.BinarySearchFunc(in.parts, a, func(p codePart, a uint64) int { return cmp.Compare(p.lo, a) })
	if !found {
		i--
	}
	if i < 0 || a-in.parts[i].lo >= uint64(len(in.parts[i].bytes)) {
		return 0, 0, false
	}
	return i, int(a - in.parts[i].lo), true
}

// stub reports whether an address is in a procedure linkage table.
func (in *input) stub(a uint64) bool {
	part, _, ok := in.part(a)
	return ok && in.parts[part].stubs
}

// described reports whether an address is in code that has rules, and returns the start of the next such code.
func (in *input) described(a uint64) (is bool, next uint64) {
	lo, hi := in.nextRange(a)
	if lo <= a && a < hi {
		return true, a
	}
	return false, lo
}

// nextRange returns the bounds of the code that has rules, from an address on: the last address twice if there is none.
func (in *input) nextRange(a uint64) (lo, hi uint64) {
	i, _ := slices.BinarySearchFunc(in.ranges, a, func(r codeRange, a uint64) int {
		if r.hi <= a {
			return -1
		}
		return 1
	})
	if i == len(in.ranges) {
		return 1<<64 - 1, 1<<64 - 1
	}
	return in.ranges[i].lo, in.ranges[i].hi
}

// follows reports whether the instruction at an address is one to follow.
func (in *input) follows(a uint64) bool {
	_, _, ok := in.part(a)
	if is, _ := in.described(a); is {
		return false
	}
	return ok
}

// starts reports whether a function is known to begin at an address.
func (in *input) starts(a uint64) bool {
	return in.among(in.begins, a) || a == in.entry && a != 0
}

// cold reports whether the cold part of a function is known to begin at an address.
func (in *input) cold(a uint64) bool {
	return in.among(in.colds, a)
}

// among reports whether an address is one of a list, whatever its instruction set.
func (in *input) among(list []uint64, a uint64) bool {
	isa := in.cpu.isa
	i, _ := slices.BinarySearch(list, a&^isa)
	return i < len(list) && list[i]&^isa == a&^isa
}
