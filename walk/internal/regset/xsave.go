package regset

import (
	"encoding/binary"
	"fmt"
	"maps"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// Components of XSAVE's area, which are bits of XCR0, XSTATE_BV and XCOMP_BV (Intel's manual, volume 1, 13.1).
const (
	xAVX    = 2
	xMask   = 5
	xUpper  = 6 // the upper halves of zmm0 to zmm15
	xHigh   = 7 // zmm16 to zmm31
	xPKRU   = 9
	xAPX    = 19
	compact = 63 // bit of XCOMP_BV
)

// components are those that are read, with their sizes.
var components = []struct{ n, size int }{{xAVX, 256}, {xMask, 64}, {xUpper, 512}, {xHigh, 1024}, {xPKRU, 8}, {xAPX, 128}}

// Offsets in XSAVE's area.
const (
	fxsaveSize = 512
	xcr0At     = 464 // where Linux stores XCR0, in bytes that are free for software
	xbvAt      = fxsaveSize
	xcompAt    = fxsaveSize + 8
	xPartsAt   = fxsaveSize + 64 // the end of the header
)

// maxArea is above the sizes of all areas.
const maxArea = 1 << 20

// XSave is a layout of XSAVE's area: the places of its components, by their numbers.
type XSave map[int]Extent

// Extent is a part of data.
type Extent struct{ At, Size int }

// The layouts that are in use. The second is that of AMD's processors; those without AVX-512 have the third.
var (
	intel  = XSave{xAVX: {576, 256}, xMask: {1088, 64}, xUpper: {1152, 512}, xHigh: {1664, 1024}, xPKRU: {2688, 8}, xAPX: {960, 128}}
	amd    = XSave{xAVX: {576, 256}, xMask: {832, 64}, xUpper: {896, 512}, xHigh: {1408, 1024}, xPKRU: {2432, 8}}
	amdAVX = XSave{xAVX: {576, 256}, xPKRU: {832, 8}}
)

// guess returns the layout of an area that nothing describes. Like GDB (i387_guess_xsave_layout), it distinguishes
// the processors by the size. The components are those that Linux has enabled.
func guess(area []byte) XSave {
	const pkru, avx512 = 1 << xPKRU, 1<<xMask | 1<<xUpper | 1<<xHigh
	xcr0 := binary.LittleEndian.Uint64(area[xcr0At:])
	x := intel
	switch {
	case xcr0&avx512 == 0 && xcr0&pkru != 0 && len(area) == 840:
		x = amdAVX
	case xcr0&avx512 != 0 && len(area) == 2440 || xcr0&pkru == 0 && len(area) == 2432:
		x = amd
	}
	x = maps.Clone(x)
	maps.DeleteFunc(x, func(n int, _ Extent) bool { return xcr0>>n&1 == 0 })
	return x
}

// ParseLayout reads NT_X86_XSAVE_LAYOUT (struct x86_xfeat_component): for each component its number, size, offset and
// flags.
func ParseLayout(b []byte) (XSave, error) {
	const entry = 16
	if len(b) == 0 || len(b)%entry != 0 {
		return nil, fmt.Errorf("%d bytes, want a multiple of %d", len(b), entry)
	}
	x := XSave{}
	for ; len(b) > 0; b = b[entry:] {
		n, size, at := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:])
		if err := x.Add(int(n), int(at), int(size)); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// Add adds a component.
func (x XSave) Add(n, at, size int) error {
	if n < 0 || n >= compact || at < xPartsAt || at > maxArea || size < 0 || size > maxArea {
		return fmt.Errorf("component %d has %d bytes at %d, want a place from %d to %d", n, size, at, xPartsAt, maxArea)
	}
	x[n] = Extent{at, size}
	return nil
}

// compacted returns the places of the components of a mask in the compacted form of the area.
func (x XSave) compacted(mask uint64) XSave {
	const aligned = 1<<17 | 1<<18 // AMX, whose components begin at multiples of 64
	out, at := XSave{}, xPartsAt
	for n := xAVX; n < compact; n++ {
		if mask>>n&1 == 0 {
			continue
		}
		if x[n].Size == 0 {
			break // what follows it cannot be found
		}
		if aligned>>n&1 != 0 {
			at = (at + 63) &^ 63
		}
		out[n] = Extent{at, x[n].Size}
		at += x[n].Size
	}
	return out
}

// XSaveReader reads areas of one layout.
type XSaveReader struct {
	Layout XSave // nil if it is not known
	sets   map[xsaveKey]xsaveSet
}

type xsaveKey struct {
	a        *arch.Arch
	bv, comp uint64
	xcr0     uint64 // of an area whose layout is guessed
	size     int
}

type xsaveSet struct {
	set Set
	err error
}

// Read adds the registers in an area, whose first base bytes are missing, to a context, which then refers to it.
// After an error, the components before the end of the area have been added.
func (r *XSaveReader) Read(c *dump.Context, area []byte, base int) error {
	if len(area) < xPartsAt-base {
		return fmt.Errorf("%d bytes, want at least %d", len(area), xPartsAt-base)
	}
	k := xsaveKey{c.Arch, binary.LittleEndian.Uint64(area[xbvAt-base:]), binary.LittleEndian.Uint64(area[xcompAt-base:]), 0, len(area)}
	guessed := r.Layout == nil && base == 0
	if guessed {
		k.xcr0 = binary.LittleEndian.Uint64(area[xcr0At:])
	}
	s, ok := r.sets[k]
	if !ok {
		x := r.Layout
		if guessed {
			x = guess(area)
		}
		s.set, s.err = x.set(k, base)
		if r.sets == nil {
			r.sets = map[xsaveKey]xsaveSet{}
		}
		r.sets[k] = s
	}
	s.set.read(c, area, binary.LittleEndian)
	return s.err
}

// set returns the registers in an area.
func (x XSave) set(k xsaveKey, base int) (s Set, err error) {
	if k.comp>>compact != 0 {
		x = x.compacted(k.comp)
	}
	short := 0
	for _, c := range components {
		e, ok := x[c.n]
		switch {
		case !ok || e.Size < c.size:
		case k.bv>>c.n&1 == 0:
			s.component(k.a, c.n, -1)
		case e.At-base+c.size > k.size:
			short++
		default:
			s.component(k.a, c.n, e.At-base)
		}
	}
	if short > 0 {
		err = fmt.Errorf("%d bytes, which end before %d of its components", k.size, short)
	}
	return s, err
}

// component adds the registers of a component at an offset, which is less than 0 if the registers are 0.
func (s *Set) component(a *arch.Arch, n, at int) {
	offset := func(i, size int) int {
		if at < 0 {
			return at
		}
		return at + i*size
	}
	for i := range 16 {
		switch n {
		case xAVX:
			s.part(a, "$xmm", i, dump.RegPart{From: 16, At: offset(i, 16), Size: 16})
		case xUpper:
			s.part(a, "$xmm", i, dump.RegPart{From: 32, At: offset(i, 32), Size: 32})
		case xHigh:
			s.part(a, "$xmm", 16+i, dump.RegPart{At: offset(i, 64), Size: 64})
		case xAPX:
			s.word(a, numbered("$r", 16+i), offset(i, 8), 8)
		case xMask:
			s.word(a, numbered("$k", i), offset(i, 8), 8)
		}
	}
	if n == xPKRU {
		s.word(a, "$pkru", at, 4)
	}
}

// EncodeXSave returns an area in Intel's layout with the registers of a context, or nil if the context has none beyond
// FXSAVE's.
func EncodeXSave(c *dump.Context) []byte {
	var all Set
	mask, size := uint64(0), 0
	for _, part := range components {
		var s Set
		s.component(c.Arch, part.n, intel[part.n].At)
		if s.in(c) {
			mask |= 1 << part.n
			size = max(size, intel[part.n].At+part.size)
			all.Parts, all.Words = append(all.Parts, s.Parts...), append(all.Words, s.Words...)
		}
	}
	if mask == 0 || len(c.Vector) != fxsaveSize {
		return nil
	}
	area := make([]byte, size)
	copy(area, c.Vector)
	mask |= 3 // x87 and SSE
	binary.LittleEndian.PutUint64(area[xcr0At:], mask)
	binary.LittleEndian.PutUint64(area[xbvAt:], mask)
	all.write(c, area, binary.LittleEndian)
	return area
}
