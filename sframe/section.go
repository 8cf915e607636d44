package sframe

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/symtool/symtool/symfmt/damage"
)

// Flags describes properties of a section (sfp_flags, 2.1.3).
type Flags uint8

// The flags.
const (
	Sorted       Flags = 1 // FDEs ascend by address
	FramePointer Flags = 2 // all functions keep the frame pointer; versions 1 and 2
	PCRelative   Flags = 4 // each start is relative to its own field; version 2 with errata, and 3
)

var flagNames = [...]struct {
	flag Flags
	name string
}{
	{Sorted, "SFRAME_F_FDE_SORTED"},
	{FramePointer, "SFRAME_F_FRAME_POINTER"},
	{PCRelative, "SFRAME_F_FDE_FUNC_START_PCREL"},
}

// Names lists the specification's names of the flags that are set. Bits without a name
// are combined into one hexadecimal number at the end.
func (f Flags) Names() (names []string) {
	for _, n := range flagNames {
		if f&n.flag != 0 {
			names = append(names, n.name)
			f &^= n.flag
		}
	}
	if f != 0 {
		names = append(names, fmt.Sprintf("%#x", uint8(f)))
	}
	return names
}

// String returns the flags' names, separated by commas.
func (f Flags) String() string { return strings.Join(f.Names(), ",") }

// Header is the header of a section (2.2). All offsets are in bytes.
type Header struct {
	Offset  uint64 // of the header in the section
	Version uint8
	Flags   Flags
	ABI     ABI
	FixedFP int8 // offset of the caller's frame pointer from the CFA; 0 if rows have their own
	FixedRA int8 // offset of the return address from the CFA; 0 if rows have their own
	Aux     []byte

	NumFDEs, NumFREs uint32 // the header's counts
	FRELen           uint32
	FDEOff, FREOff   uint32 // from the end of the header with its auxiliary header

	First, Count int // this header's FDEs are Section.FDEs[First:First+Count]

	// FieldRelative means that starts are relative to their fields although the
	// flag PCRelative is not set, as when a linker copied the section of an
	// object written by GNU as 2.40 to 2.44.
	FieldRelative bool

	fdes uint64 // offset of the first FDE in the section
	fres uint64 // offset of the rows
	end  uint64 // end of what the header describes
	rows []byte // the bytes of the rows
}

// FDE describes a function (2.3).
type FDE struct {
	Start   uint64 // address of the first byte
	Size    uint32 // bytes
	NumRows uint32
	Block   uint32 // PCMASK: size of the block that repeats, in bytes

	Mask   bool // PCMASK: rows apply to offsets within each block
	KeyB   bool // AArch64: return addresses are signed with key B
	Signal bool // the frame was interrupted by a signal at its return address; version 3
	Flex   bool // rows name their base registers; version 3

	Info, Info2, Rep uint8 // as in the section

	header   int32
	rows     uint32 // offset of the first row in Header.rows
	addrSize uint8  // size of a row's start in bytes; 0 for an invalid type
	lost     bool   // its rows are lost because of damage reported in Section.Problems
}

// Contains reports whether pc, an address, is in the function.
func (f *FDE) Contains(pc uint64) bool { return pc >= f.Start && pc-f.Start < uint64(f.Size) }

// last returns the address of a function's last byte. The function must not
// be empty. In a damaged section it may end after the last address.
func (f *FDE) last() uint64 {
	if last := f.Start + uint64(f.Size) - 1; last >= f.Start {
		return last
	}
	return math.MaxUint64
}

// Section is a decoded .sframe section. It refers to the bytes from which it was decoded.
// Its methods may be called concurrently.
type Section struct {
	Name     string
	Addr     uint64           // address of the section's first byte
	Headers  []Header         // one, unless a linker concatenated sections
	FDEs     []FDE            // of all headers, in the order of the section
	Problems []damage.Problem // what could not be read

	data   []byte
	sorted []uint32 // FDEs by address; nil if they are already in that order
	reach  []uint64 // by index in that order: the highest last address so far; nil if no functions overlap

	// The addresses from first on are divided into equal parts of 1<<shift bytes,
	// roughly as many as there are FDEs: starts[i] FDEs start before part i.
	first  uint64
	shift  int
	starts []uint32
}

// Header returns the header to which FDE i belongs.
func (s *Section) Header(i int) *Header { return &s.Headers[s.FDEs[i].header] }

// Offset returns the offset of FDE i in the section.
func (s *Section) Offset(i int) uint64 {
	h := s.Header(i)
	return h.fdes + uint64(i-h.First)*h.format().fdeSize
}

// RowsOffset returns the offset of FDE i's first row in the section.
func (s *Section) RowsOffset(i int) uint64 { return s.Header(i).fres + uint64(s.FDEs[i].rows) }

// Errors of Find and Step.
var (
	ErrNoFDE = errors.New("no function of the section covers the address")
	ErrNoRow = errors.New("the function has no row for the address")
)

// Size returns the size of the section in bytes.
func (s *Section) Size() uint64 { return uint64(len(s.data)) }

// FindFDE returns the index of the FDE that covers pc, or -1. Where functions overlap, it
// is the one that starts last.
func (s *Section) FindFDE(pc uint64) int {
	lo, hi := s.near(pc)
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); s.FDEs[s.at(mid)].Start <= pc {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	for k := lo - 1; k >= 0; k-- {
		if i := s.at(k); s.FDEs[i].Contains(pc) {
			return i
		}
		if s.reach == nil || s.reach[k] < pc {
			return -1
		}
	}
	return -1
}

// near returns two indices between which the FDEs that start at or before pc end.
func (s *Section) near(pc uint64) (lo, hi int) {
	if len(s.FDEs) == 0 || pc < s.first {
		return 0, 0
	}
	part := (pc - s.first) >> s.shift
	if part >= uint64(len(s.starts)-1) {
		return len(s.FDEs), len(s.FDEs)
	}
	return int(s.starts[part]), int(s.starts[part+1])
}

// at returns the index of the FDE at a position in the order by address.
func (s *Section) at(place int) int {
	if s.sorted == nil {
		return place
	}
	return int(s.sorted[place])
}

// ByAddress returns the index of the FDE at a position in the order by address.
func (s *Section) ByAddress(place int) int { return s.at(place) }

// index prepares look-ups.
func (s *Section) index() {
	byStart := func(a, b FDE) int { return cmp.Compare(a.Start, b.Start) }
	if !slices.IsSortedFunc(s.FDEs, byStart) {
		s.sorted = make([]uint32, len(s.FDEs))
		for i := range s.sorted {
			s.sorted[i] = uint32(i)
		}
		slices.SortStableFunc(s.sorted, func(a, b uint32) int { return byStart(s.FDEs[a], s.FDEs[b]) })
	}
	s.indexStarts()
	// A function of size 0 covers nothing: an earlier one may extend beyond it.
	for k := 1; k < len(s.FDEs); k++ {
		a, b := &s.FDEs[s.at(k-1)], &s.FDEs[s.at(k)]
		if a.Size != 0 && a.last() >= b.Start {
			s.indexOverlaps()
			return
		}
	}
}

func (s *Section) indexStarts() {
	n := len(s.FDEs)
	if n == 0 {
		return
	}
	s.first = s.FDEs[s.at(0)].Start
	length := s.FDEs[s.at(n-1)].Start - s.first
	s.shift = bits.Len64(length / uint64(n))
	s.starts = make([]uint32, length>>s.shift+2)
	for i := range s.FDEs {
		s.starts[(s.FDEs[i].Start-s.first)>>s.shift+1]++
	}
	for i := 1; i < len(s.starts); i++ {
		s.starts[i] += s.starts[i-1]
	}
}

func (s *Section) indexOverlaps() {
	s.reach = make([]uint64, len(s.FDEs))
	var far uint64
	for k := range s.reach {
		f := &s.FDEs[s.at(k)]
		if f.Size != 0 {
			far = max(far, f.last())
		}
		s.reach[k] = far
	}
}
