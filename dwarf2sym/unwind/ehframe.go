package unwind

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/dw"
)

// cieInfo is a common information entry (DWARF 5, 6.4.1).
type cieInfo struct {
	entryPos
	codeAlign uint64
	dataAlign int64
	ra        uint64 // return address column
	regs      *regTable
	ptrSize   int
	segSize   int
	encoding  uint8 // of code addresses
	augmented bool  // FDEs have augmentation data (z)
	signal    bool  // S
	keyB      bool  // B
	initial   savedState
}

// fdeInfo is a frame description entry; addresses are those of the ELF file.
type fdeInfo struct {
	entryPos
	lo, hi uint64
	insOff uint64 // offset of the instructions from the start of the section
	insEnd uint64
	cie    int32
	eh     bool
}

// pendingFDE is an FDE that precedes its CIE.
type pendingFDE struct {
	entryPos
	cie      uint64
	pos, end uint64 // of what follows the CIE pointer
}

// walk reads the entries of a section. As each begins with its length, damage inside one does not spread; an impossible
// length ends the section.
func (r *reader) walk(section int) {
	s := &r.in.Sections[section]
	c := bin.New(s.Name, s.Data, r.in.Order)
	for c.Len() >= 4 {
		place := entryPos{section, c.Offset()}
		length, wide := uint64(c.U32()), false
		if length == 0xffffffff {
			length, wide = c.U64(), true
		}
		switch {
		case c.Err() != nil:
		case length == 0:
			r.stats.Terminators++
			continue
		case !wide && length >= 0xfffffff0:
			c.Fail("length %#x is reserved", length)
		case length > uint64(c.Len()):
			c.Fail("entry of %d bytes, %d left", length, c.Len())
		}
		if err := c.Err(); err != nil {
			r.problems.add(place, "the rest of the section", err)
			return
		}
		end := c.Offset() + length
		r.entry(s, place, c.Offset(), end, wide)
		c.Skip(length)
	}
	if rest := c.Bytes(uint64(c.Len())); !allZero(rest) {
		place := entryPos{section, uint64(len(s.Data) - len(rest))}
		r.problems.add(place, "", errorf(s.Name, place.offset, "%d bytes after the last entry", len(rest)))
	}
}

func allZero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}

// entry reads the CIE or FDE whose id field is at pos.
func (r *reader) entry(s *Section, place entryPos, pos, end uint64, wide bool) {
	c := bin.NewAt(s.Name, s.Data[pos:end], pos, r.in.Order)
	size, cieID := 4, uint64(0)
	if !s.EH {
		cieID = 0xffffffff
		if wide {
			size, cieID = 8, ^uint64(0)
		}
	}
	id := c.Uint(size)
	switch {
	case c.Err() != nil:
		r.problems.add(place, fmt.Sprintf("entry at %#x", place.offset), c.Err())
	case id == cieID:
		r.addCIE(&c, s, place)
	default:
		r.stats.FDEs++
		cie := id
		if s.EH {
			cie = countBack(pos, id)
		} else if long, ok := r.longPointer(s, place.section, pos, end); ok && !wide {
			cie = long
			c.Skip(4)
		}
		r.fdeOf(pendingFDE{place, cie, c.Offset(), end}, false)
	}
}

// longPointer returns the CIE pointer of an FDE of 32-bit DWARF whose pointer has 8 bytes, as Free Pascal writes it for
// 64-bit processors. It reports false for other FDEs. Both readings cannot be valid: in the 4-byte one, half of the
// address would be part of the pointer. A section may also have FDEs of other compilers.
func (r *reader) longPointer(s *Section, section int, pos, end uint64) (cie uint64, ok bool) {
	if r.in.PtrSize != 8 || r.in.Exec == nil || end-pos < 24 {
		return 0, false
	}
	word := func(at uint64) uint64 { return r.in.Order.Uint64(s.Data[pos+at:]) }
	if r.in.Exec(word(4) + s.Moved) {
		return 0, false
	}
	cie, lo, size := word(0), word(8)+s.Moved, word(16)
	_, known := r.lastCIE(entryPos{section, cie})
	ok = known && size > 0 && r.in.Exec(lo) && r.in.Exec(lo+size-1)
	// With a 4-byte pointer, and if the linker dropped the code, half of the word at 8 belongs to an address of 0.
	if start := word(8); !ok && known && uint32(start) != 0 && start < r.mask-1 && lo >= r.in.Base {
		r.noteOdd(entryPos{section, pos - 4}, lo)
	}
	return cie, ok
}

// oddFDEs counts the FDEs of a section that describe no code, whichever size their CIE pointers have.
type oddFDEs struct {
	first entryPos
	start uint64 // where the code of the first one would begin
	count int
}

func (r *reader) noteOdd(place entryPos, start uint64) {
	if n := len(r.odd); n == 0 || r.odd[n-1].first.section != place.section {
		r.odd = append(r.odd, oddFDEs{first: place, start: start})
	}
	r.odd[len(r.odd)-1].count++
}

// reportOdd reports such FDEs once for each section.
func (r *reader) reportOdd() {
	for _, o := range r.odd {
		r.problems.add(o.first, fmt.Sprintf("FDE at %#x, and %d more such FDEs of the section", o.first.offset, o.count-1),
			errorf(r.in.Sections[o.first.section].Name, o.first.offset,
				"FDE for %#x, which is no code, with a CIE pointer of 8 bytes, and for none with one of 4 bytes", o.start))
	}
}

// countBack returns the place of the CIE that a 4-byte pointer at pos leads to: it is relative to itself, backwards.
// For a CIE after it, it wraps around.
func countBack(pos, pointer uint64) uint64 {
	if pointer <= pos {
		return pos - pointer
	}
	return uint64(uint32(pos) - uint32(pointer))
}

// fdeOf reads an FDE if its CIE is known, and otherwise keeps it for later.
func (r *reader) fdeOf(p pendingFDE, last bool) {
	key := entryPos{p.section, p.cie}
	cie, ok := r.lastCIE(key)
	switch {
	case ok && cie >= 0:
		r.addFDE(p, cie)
	case ok:
		r.broken[key]++
	case !last:
		r.later = append(r.later, p)
	default:
		r.problems.add(p.entryPos, fmt.Sprintf("FDE at %#x", p.offset),
			errorf(r.in.Sections[p.section].Name, p.offset, "no CIE at %#x, where the CIE pointer leads", p.cie))
	}
}

// lastCIE looks up a CIE; the FDEs of one CIE usually follow each other.
func (r *reader) lastCIE(key entryPos) (int32, bool) {
	if n := len(r.cies); n > 0 && r.cies[n-1].entryPos == key {
		return int32(n - 1), true
	}
	i, ok := r.byOff[key]
	return i, ok
}

// resolveLater reads the FDEs that preceded their CIE.
func (r *reader) resolveLater() {
	for _, p := range r.later {
		r.fdeOf(p, true)
	}
	r.later = nil
}

// reportBroken adds to the problem of each rejected CIE the number of FDEs lost with it.
func (r *reader) reportBroken() {
	for i := range r.problems.list {
		p := &r.problems.list[i]
		if n := r.broken[p.entryPos]; n > 0 {
			p.Lost = fmt.Sprintf("%s and its %d FDEs", p.Lost, n)
		}
	}
}

// addCIE reads a CIE after its id and runs its instructions.
func (r *reader) addCIE(c *bin.Cursor, s *Section, place entryPos) {
	r.stats.CIEs++
	cie := cieInfo{entryPos: place, ptrSize: r.in.PtrSize}
	cie.read(c, s.Name, r.in)
	err := c.Err()
	if err == nil {
		cie.regs = r.regs[0]
		if alt := r.in.Arch.Alt; alt != nil && cie.ra == alt.ReturnAddress {
			cie.regs = r.regs[1]
		}
		err = r.vm.runCIE(c, &cie)
	}
	if err != nil {
		r.byOff[place] = -1
		r.problems.add(place, fmt.Sprintf("CIE at %#x", place.offset), err)
		return
	}
	r.byOff[place] = int32(len(r.cies))
	r.cies = append(r.cies, cie)
}

// maxAugmentation bounds the augmentation string; known ones have up to eight letters.
const maxAugmentation = 32

// read reads the fields up to the initial instructions. Errors are left in the cursor.
func (cie *cieInfo) read(c *bin.Cursor, section string, in *Input) {
	version := c.U8()
	if c.Err() == nil && version != 1 && version != 3 && version != 4 {
		c.Fail("CIE version %d, want 1, 3 or 4", version)
		return
	}
	aug := c.CStr()
	if len(aug) > maxAugmentation {
		c.Fail("augmentation of %d letters", len(aug))
		return
	}
	if string(aug) == "eh" { // GCC 2: address of exception data
		c.Skip(uint64(in.PtrSize))
		aug = nil
	}
	if version == 4 {
		cie.ptrSize, cie.segSize = int(c.U8()), int(c.U8())
		if c.Err() == nil && (!isFieldSize(cie.ptrSize) || cie.segSize != 0 && !isFieldSize(cie.segSize)) {
			c.Fail("address of %d bytes, segment selector of %d", cie.ptrSize, cie.segSize)
		}
	}
	cie.codeAlign, cie.dataAlign = c.ULEB(), c.SLEB()
	if version == 1 {
		cie.ra = uint64(c.U8())
	} else {
		cie.ra = c.ULEB()
	}
	cie.augmentation(c, section, string(aug), in)
}

func isFieldSize(n int) bool { return n == 1 || n == 2 || n == 4 || n == 8 }

// augmentation reads what the augmentation string announces (LSB 10.6.1.1). Unknown letters after "z" are skipped by
// the length; without "z" the start of the instructions cannot be determined.
func (cie *cieInfo) augmentation(c *bin.Cursor, section, aug string, in *Input) {
	data := *c
	if len(aug) > 0 && aug[0] == 'z' {
		cie.augmented = true
		n := c.ULEB()
		at := c.Offset()
		b := c.Bytes(n)
		if c.Err() != nil {
			return
		}
		data = bin.NewAt(section, b, at, c.Order())
		aug = aug[1:]
	}
	for _, letter := range []byte(aug) {
		switch letter {
		case 'S':
			cie.signal = true
		case 'B': // arm64: key B signs return addresses
			cie.keyB = true
		case 'G': // arm64: stack memory is tagged
		case 'R':
			cie.encoding = data.U8()
		case 'L':
			data.U8()
		case 'P':
			cie.skipPersonality(&data, in)
		default:
			if !cie.augmented {
				c.Fail("unknown augmentation %q", aug)
			}
			return
		}
	}
	if err := data.Err(); err != nil {
		c.Fail("augmentation data: %s", err.(*bin.Error).Msg)
	}
	if !cie.augmented {
		*c = data
	}
}

// skipPersonality skips the address of the personality routine.
func (cie *cieInfo) skipPersonality(c *bin.Cursor, in *Input) {
	enc := c.U8()
	if enc == dw.EHOmit {
		return
	}
	if enc&dw.EHBase == dw.EHAligned {
		// The section is aligned to a pointer, so offsets serve as addresses.
		if over := c.Offset() % uint64(in.PtrSize); over != 0 {
			c.Skip(uint64(in.PtrSize) - over)
		}
	}
	encodedPointer(c, enc, cie.ptrSize)
}

// encodedPointer reads a value in a DW_EH_PE format, sign-extended if the format is signed.
func encodedPointer(c *bin.Cursor, enc uint8, ptrSize int) uint64 {
	switch enc & dw.EHFormat {
	case dw.EHAbsPtr:
		return c.Uint(ptrSize)
	case dw.EHULEB:
		return c.ULEB()
	case dw.EHUData2:
		return uint64(c.U16())
	case dw.EHUData4:
		return uint64(c.U32())
	case dw.EHUData8, dw.EHSData8:
		return c.U64()
	case dw.EHSLEB:
		return uint64(c.SLEB())
	case dw.EHSData2:
		return uint64(int16(c.U16()))
	case dw.EHSData4:
		return uint64(int32(c.U32()))
	}
	c.Fail("pointer encoding %#x has an unknown format", enc)
	return 0
}

// address reads an encoded code address; fn is the start of the function. A zero that is pcrel, textrel or datarel is
// the null pointer.
func (r *reader) address(c *bin.Cursor, s *Section, cie *cieInfo, fn uint64) uint64 {
	enc := cie.encoding
	if enc == dw.EHOmit || enc&dw.EHInd != 0 {
		c.Fail("code address with encoding %#x", enc)
		return 0
	}
	place := s.Addr + c.Offset()
	if enc&dw.EHBase == dw.EHAligned {
		size := uint64(r.in.PtrSize)
		c.Skip((size - place%size) % size)
		return c.Uint(r.in.PtrSize)
	}
	v := encodedPointer(c, enc, cie.ptrSize)
	if v == 0 || c.Err() != nil {
		return 0
	}
	switch enc & dw.EHBase {
	case 0:
		v = r.moved(v, cie.section)
	case dw.EHPCRel:
		v += place
	case dw.EHTextRel:
		v += r.in.TextAddr
	case dw.EHDataRel:
		v += r.in.DataAddr
	case dw.EHFuncRel:
		v += fn
	default:
		c.Fail("pointer encoding %#x has an unknown base", enc)
	}
	return v & r.mask
}

// moved converts an absolute address to an address in the binary. The values that linkers write for dropped code are
// not changed.
func (r *reader) moved(addr uint64, section int) uint64 {
	if addr >= r.mask-1 {
		return addr
	}
	return addr + r.in.Sections[section].Moved
}

// addFDE reads what follows an FDE's CIE pointer, up to the instructions.
func (r *reader) addFDE(p pendingFDE, index int32) {
	s, cie := &r.in.Sections[p.section], &r.cies[index]
	c := bin.NewAt(s.Name, s.Data[p.pos:p.end], p.pos, r.in.Order)
	c.Skip(uint64(cie.segSize))
	if cie.encoding&dw.EHBase == dw.EHFuncRel {
		c.Fail("start of a function, relative to itself")
	}
	lo := r.address(&c, s, cie, 0)
	// The size has the format of the address, but is not relative.
	size := encodedPointer(&c, cie.encoding, cie.ptrSize) & r.mask
	if cie.augmented {
		c.Skip(c.ULEB())
	}
	if err := c.Err(); err != nil {
		r.problems.add(p.entryPos, fmt.Sprintf("FDE at %#x", p.offset), err)
		return
	}
	lo &^= r.in.Arch.ISABit
	f := fdeInfo{entryPos: p.entryPos, lo: lo, hi: lo + size, insOff: c.Offset(), insEnd: p.end, cie: index, eh: s.EH}
	if r.wanted(&f, size) {
		r.fdes = append(r.fdes, f)
	}
}

// wanted reports whether an FDE describes code of this module. If not, it counts the FDE. Linkers mark the FDEs of
// dropped functions with an address of 0, -1 or -2.
func (r *reader) wanted(f *fdeInfo, size uint64) bool {
	switch {
	case r.in.Compact && f.eh && size > 0 && !r.linked(f):
	case f.lo == r.mask || f.lo == r.mask-1, r.in.Exec == nil && f.lo == 0, f.lo < r.in.Base:
		r.stats.Dead++
	case size == 0:
		r.stats.Empty++
	case size > r.mask-f.lo:
		s := &r.in.Sections[f.section]
		r.problems.add(f.entryPos, fmt.Sprintf("FDE at %#x for %#x", f.offset, f.lo),
			errorf(s.Name, f.offset, "%#x bytes of code at %#x pass the end of the address space", size, f.lo))
	case r.in.Exec != nil && !r.in.Exec(f.lo):
		r.stats.Dead++
	default:
		return true
	}
	return false
}

// linked reports whether the code of an FDE of a linked macOS file lies in one range of code. If not, it reports the
// FDE as damage: linkers drop the FDEs of dropped functions there.
func (r *reader) linked(f *fdeInfo) bool {
	i, found := slices.BinarySearchFunc(r.in.Code, f.lo, func(c Range, addr uint64) int { return cmp.Compare(c.Lo, addr) })
	if !found {
		i--
	}
	if i >= 0 && f.hi <= r.in.Code[i].Hi {
		return true
	}
	s := &r.in.Sections[f.section]
	r.problems.add(f.entryPos, fmt.Sprintf("FDE at %#x", f.offset), errorf(s.Name, f.offset, "no code from %#x to %#x", f.lo, f.hi))
	return false
}
