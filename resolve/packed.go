package resolve

import (
	"encoding/binary"
	"math"
	"runtime"
	"slices"
)

// A function is kept in as few bytes as its numbers need, in one piece: a
// look-up mostly waits for memory, and what is small stays in the processor's
// caches. At its offset in the arena, a packed function has
//
//	paramSize  8 bytes, if the shape says so
//	offsets    where its segments start, ascending, of 1, 2 or 4 bytes each
//	(to 4)
//	segments
//	calls
//
// and before its place, backwards, the files of a narrow one: the places of
// their names, of 4 bytes each, the first being 0 for no file.
//
//	narrow segment   line 2, file 1, call 1
//	narrow call      name 4, line 2, file 1, outer 1
//	wide segment     line 4, place of the file 4, call 4
//	wide call        name 4, place of the file 4, line 4, outer 4
//
// All numbers are little-endian.
type packed struct {
	data  []byte
	place int // offset in data to which the arena's reference points
	shape shape
	rows  uint32
}

// shape is the form of a packed function.
type shape uint8

const (
	offsetShift shape = 3 // the width of offsets is 1<<(shape&offsetShift) bytes
	wide        shape = 4
	hasParams   shape = 8
	isMultiple  shape = 16
)

const (
	narrowSegment = 4
	narrowCall    = 8
	wideSegment   = 4 * segmentWords
	wideCall      = 4 * callWords
	maxNarrow     = math.MaxUint8 // largest index of files and calls
)

// packer packs functions. It reuses its memory.
type packer struct {
	data  []byte
	files []uint32 // narrow form: the indices of names of files, the first is 0
	last  int      // index of the file found last
}

// pack packs a function, into memory that the next call reuses.
func (p *packer) pack(f *function) packed {
	out := packed{rows: uint32(len(f.starts))}
	switch last := f.starts[len(f.starts)-1]; {
	case last > math.MaxUint16:
		out.shape = 2
	case last > math.MaxUint8:
		out.shape = 1
	}
	if f.multiple {
		out.shape |= isMultiple
	}
	p.data, p.files, p.last = p.data[:0], append(p.files[:0], 0), 0
	if !p.narrow(f.segments, f.calls) {
		out.shape |= wide
		p.files = p.files[:0]
	}
	for i := range p.files {
		p.u32(p.files[len(p.files)-1-i])
	}
	out.place = len(p.data)
	if f.paramSize != 0 {
		out.shape |= hasParams
		p.data = binary.LittleEndian.AppendUint64(p.data, f.paramSize)
	}
	p.offsets(f.starts, out.shape&offsetShift)
	if out.shape&wide == 0 {
		p.narrowRows(f.segments, f.calls)
	} else {
		p.wide(f.segments)
		p.wide(f.calls)
	}
	out.data = p.data
	return out
}

func (p *packer) u32(v uint32) { p.data = binary.LittleEndian.AppendUint32(p.data, v) }

func (p *packer) wide(words []uint32) {
	p.data = slices.Grow(p.data, 4*len(words))
	for _, v := range words {
		p.u32(v)
	}
}

// narrow collects the files, and reports whether all numbers fit into the
// narrow form.
func (p *packer) narrow(segments, calls []uint32) bool {
	if len(calls)/callWords > maxNarrow {
		return false
	}
	for s := segments; len(s) > 0; s = s[segmentWords:] {
		if s[0] > math.MaxUint16 || !p.file(s[1]) {
			return false
		}
	}
	for c := calls; len(c) > 0; c = c[callWords:] {
		if c[2] > math.MaxUint16 || !p.file(c[1]) {
			return false
		}
	}
	return true
}

// file finds a file among the function's, or adds it, and sets last to its index. It
// reports whether the index fits into the narrow form.
func (p *packer) file(place uint32) bool {
	if p.files[p.last] == place {
		return true
	}
	for i, f := range p.files {
		if f == place {
			p.last = i
			return true
		}
	}
	p.last = len(p.files)
	p.files = append(p.files, place)
	return p.last <= maxNarrow
}

func (p *packer) offsets(starts []uint32, shift shape) {
	for _, off := range starts {
		switch shift {
		case 0:
			p.data = append(p.data, byte(off))
		case 1:
			p.data = binary.LittleEndian.AppendUint16(p.data, uint16(off))
		default:
			p.u32(off)
		}
	}
	for len(p.data)&3 != 0 {
		p.data = append(p.data, 0)
	}
}

func (p *packer) narrowRows(segments, calls []uint32) {
	for s := segments; len(s) > 0; s = s[segmentWords:] {
		p.file(s[1])
		p.u32(s[0] | uint32(p.last)<<16 | s[2]<<24)
	}
	for c := calls; len(c) > 0; c = c[callWords:] {
		p.file(c[1])
		p.u32(c[0])
		p.u32(c[2] | uint32(p.last)<<16 | c[3]<<24)
	}
}

// segmentAt returns the index of the last of n offsets that is at most off; the first is 0. Its
// only branch depends on the number of rounds, and not on memory, so that the processor does not
// stall.
func segmentAt(data []byte, n int, shift shape, off uint32) (k int) {
	le := binary.LittleEndian
	switch shift {
	case 0:
		data = data[:n]
		for n > 1 {
			half := n >> 1
			k += half &^ less(off, uint32(data[k+half]))
			n -= half
		}
	case 1:
		for n > 1 {
			half := n >> 1
			k += half &^ less(off, uint32(le.Uint16(data[2*(k+half):])))
			n -= half
		}
	default:
		for n > 1 {
			half := n >> 1
			k += half &^ less(off, le.Uint32(data[4*(k+half):]))
			n -= half
		}
	}
	return k
}

// less returns -1 if a < b, and 0 otherwise.
func less(a, b uint32) int { return int((int64(a) - int64(b)) >> 63) }

// touch reads a byte at each of the places in a packed function that a look-up
// of an offset visits one after the other: the files, the approximate place of
// its segment, and the calls. In a large module they are not in the
// processor's caches, and so it waits for all of them at once. The result is
// meaningless.
func (s *slot) touch(data []byte, place int, off uint32) byte {
	rows := uint64(s.rows)
	segments := uint64(place) + rows<<(s.shape&offsetShift)
	size := uint64(narrowSegment)
	if s.shape&wide != 0 {
		size = wideSegment
	}
	about := segments + size*(rows*uint64(off)/max(uint64(s.size), 1))
	// The last byte of the segments, as the one after them may belong to a
	// function that is being added.
	end := max(segments+size*rows, 1) - 1
	return data[max(place, 4)-4] ^ data[min(about, end)] ^ data[end]
}

// frames appends the frames at an offset of a cached function.
func (r *Resolver) frames(c *cache, s *slot, ref uint32, off uint32, at *Location) {
	data, place := c.arena.at(ref)
	runtime.KeepAlive(s.touch(data, place, off))
	p, rows := place, int(s.rows)
	if s.shape&hasParams != 0 {
		at.ParamSize = binary.LittleEndian.Uint64(data[p:])
		p += 8
	}
	shift := s.shape & offsetShift
	k := segmentAt(data[p:], rows, shift, off)
	p += (rows<<shift + 3) &^ 3
	if s.shape&wide != 0 {
		r.wideFrames(s, data[p:], rows, k, at)
		return
	}
	files, origins := r.files.names, r.origins.names
	fileOf := func(v uint32) string {
		return files[binary.LittleEndian.Uint32(data[place-4-4*int(v>>16&0xff):])]
	}
	v := binary.LittleEndian.Uint32(data[p+narrowSegment*k:])
	p += narrowSegment * rows
	for v>>24 > 0 {
		call := binary.LittleEndian.Uint64(data[p+narrowCall*int(v>>24-1):])
		at.Frames = append(at.Frames, Frame{origins[uint32(call)], fileOf(v), v & 0xffff, true})
		v = uint32(call >> 32)
	}
	at.Frames = append(at.Frames, Frame{s.name, fileOf(v), v & 0xffff, false})
}

// wideFrames is like frames for segment k of a wide function.
func (r *Resolver) wideFrames(s *slot, data []byte, rows, k int, at *Location) {
	le := binary.LittleEndian
	segment, calls := data[wideSegment*k:], data[wideSegment*rows:]
	line, file, call := le.Uint32(segment), le.Uint32(segment[4:]), le.Uint32(segment[8:])
	for call > 0 {
		c := calls[wideCall*(int(call)-1):][:wideCall]
		at.Frames = append(at.Frames, Frame{r.origins.names[le.Uint32(c)], r.files.names[file], line, true})
		file, line, call = le.Uint32(c[4:]), le.Uint32(c[8:]), le.Uint32(c[12:])
	}
	at.Frames = append(at.Frames, Frame{s.name, r.files.names[file], line, false})
}
