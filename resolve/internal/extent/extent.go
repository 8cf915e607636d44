// Package extent decides how far PUBLIC records extend, which have no size. Breakpad's and rust-minidump's readers extend
// one to the next PUBLIC or FUNC, and the last one to the end of the address space; they look up only addresses in a
// loaded module. Here an address may be anything, and a wrong name is worse than none:
//
//   - If the symbols come from a binary, a PUBLIC ends where its ELF symbol ends or, if
//     that has no size, where its section ends.
//   - Otherwise it is only a guess that a PUBLIC extends to an address if the FUNC that
//     contains it has ended before, if a block of call frame information, which belongs
//     to one function, begins or ends between the two, or if they are maxPublic apart.
//
// Find of package resolve does not guess. Nearest of its Symbols does, for callers that know that the address is in the
// module.
package extent

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/symfmt"
)

// maxPublic is the size of the largest PUBLIC that is plausible without other
// evidence. Of the 265,896 functions with a size in 401 binaries of Debian 12 and
// LLVM 22, five are larger; the largest has 175,341 bytes.
const maxPublic = 64 << 10

// Extent says how far the PUBLIC records of a module extend.
type Extent struct {
	*symfmt.Extents // of the binary; nil if the symbols come from a symbol file

	Last symfmt.RVA // last address of a record
	end  uint64     // first address to which no record may extend
}

// New returns the Extent of a module. last is the last address of records other than PUBLICs, and public, which is nil
// if there is none, that of the last PUBLIC. binary is nil for a symbol file.
func New(binary *symfmt.Extents, last symfmt.RVA, public *symfmt.RVA) Extent {
	e := Extent{Extents: binary, Last: last}
	if binary != nil && len(binary.Code) == 0 {
		e.Extents = nil // if damaged, it would mean that there is no code
	}
	e.end = uint64(last) + min(1, ^uint64(last))
	if public != nil {
		p := uint64(*public)
		e.Last, e.end = max(e.Last, *public), max(e.end, p+min(maxPublic, ^p))
	}
	return e
}

// Verdict says whether a PUBLIC covers an address.
type Verdict uint8

const (
	Outside Verdict = iota
	Unsure
	Covered
)

// Surroundings are the records around a PUBLIC.
type Surroundings interface {
	// InFunc reports whether a FUNC covers an address.
	InFunc(rva symfmt.RVA) bool
	// BlockBegins reports whether a block of call frame information begins after first, and at or
	// before last; BlockAt returns the block that contains an address.
	BlockBegins(first, last symfmt.RVA) bool
	BlockAt(rva symfmt.RVA) (symfmt.Range, bool)
}

// Public returns the verdict on the PUBLIC at start and a later address, with no other PUBLIC or
// FUNC between them. size is the size of the ELF symbol, or 0 if it is unknown.
func (e *Extent) Public(x Surroundings, start symfmt.RVA, size uint64, rva symfmt.RVA) Verdict {
	switch {
	case e.Extents == nil && uint64(rva) >= e.end:
		return Unsure
	case size > 0:
		return asCovered(uint64(rva-start) < size, Outside)
	case e.Extents != nil && !sameRange(e.Code, start, rva):
		return Outside
	}
	if x.InFunc(start) || x.BlockBegins(start, rva) {
		return Unsure
	}
	if b, ok := x.BlockAt(start); ok {
		return asCovered(within(b, rva), Unsure)
	}
	return asCovered(e.Extents != nil || rva-start < maxPublic, Unsure)
}

// SizeOf returns the size of the PUBLIC at start, or 0.
func (e *Extent) SizeOf(start symfmt.RVA) uint64 {
	if e.Extents == nil {
		return 0
	}
	return sizeAt(e.Publics, start)
}

func asCovered(ok bool, otherwise Verdict) Verdict {
	if ok {
		return Covered
	}
	return otherwise
}

// sizeAt returns the size of the range that starts at rva, or 0.
func sizeAt(ranges []symfmt.Range, rva symfmt.RVA) uint64 {
	i, found := slices.BinarySearchFunc(ranges, rva, func(r symfmt.Range, rva symfmt.RVA) int { return cmp.Compare(r.RVA, rva) })
	if !found {
		return 0
	}
	return ranges[i].Size
}

// InCode reports whether there may be code at an address. With a binary, it must be in a section with code; with a symbol
// file, it must not be after the last record.
func (e *Extent) InCode(rva symfmt.RVA) bool {
	if e.Extents == nil {
		return uint64(rva) < e.end
	}
	return sameRange(e.Code, rva, rva)
}

// sameRange reports whether one of the ranges contains both addresses.
func sameRange(ranges []symfmt.Range, a, b symfmt.RVA) bool {
	return slices.ContainsFunc(ranges, func(r symfmt.Range) bool { return within(r, a) && within(r, b) })
}

func within(r symfmt.Range, rva symfmt.RVA) bool { return rva >= r.RVA && uint64(rva-r.RVA) < r.Size }
