package elfcore

import (
	"bytes"
	"cmp"
	"debug/elf"
	"fmt"
	"iter"
	"slices"

	elfobj "github.com/symtool/symtool/internal/object/elfobj"
	"github.com/symtool/symtool/walk/dump"
)

// fileMap is an entry of NT_FILE: a mapped file.
type fileMap struct {
	dump.Range
	offset uint64 // in the file
	path   string
}

func (r *reader) readFiles(n note) {
	c := r.cursor(n)
	count, page := c.Uint(r.word), c.Uint(r.word)
	if most := uint64(c.Len() / (3 * r.word)); count > most {
		r.problem("names of files in memory", n.offset, "NT_FILE of %d bytes has %d entries, want at most %d", len(n.desc), count, most)
		return
	}
	files := make([]fileMap, 0, count)
	for range count {
		start, end, offset := c.Uint(r.word), c.Uint(r.word), c.Uint(r.word)
		files = append(files, fileMap{Range: dump.Range{Addr: start, Size: end - start}, offset: offset * page})
	}
	for i := range files {
		files[i].path = string(c.CStr())
		if c.Err() != nil {
			r.damaged(n, "names of files in memory", c.Err())
			files = files[:i]
			break
		}
	}
	r.files = r.apart(n, files)
}

// apart sorts entries by address, and drops empty entries and those that overlap the entry before.
func (r *reader) apart(n note, files []fileMap) (out []fileMap) {
	slices.SortStableFunc(files, func(a, b fileMap) int { return cmp.Compare(a.Addr, b.Addr) })
	out = files[:0]
	end, bad := uint64(0), 0
	for _, f := range files {
		if f.Addr < end || f.Size == 0 || f.Addr+f.Size < f.Addr {
			bad++
			continue
		}
		out = append(out, f)
		end = f.Addr + f.Size
	}
	if bad > 0 {
		r.problem("names of files in memory", n.offset, "NT_FILE has %d entries that are empty or overlap others", bad)
	}
	return out
}

// maxShared is the number of segments, on average, that may have the same bytes of the file. In cores
// written by kernels each byte belongs to one segment, and gdb writes few bytes twice. A 56-byte
// header that names the whole file once more does not describe the memory of a process.
const maxShared = 2

// segmentMemory returns the memory in the file, which is in the PT_LOAD segments.
func (r *reader) segmentMemory() (memory []dump.Region) {
	memory = make([]dump.Region, 0, len(r.f.Segments))
	size := uint64(len(r.data))
	room := maxShared * size
	var loads, cut, lost, shared, again uint64
	for p := range r.loadSegments() {
		loads++
		there := min(p.FileSize, p.MemSize)
		off := min(p.Offset, size)
		if there > size-off {
			cut, lost = cut+1, lost+there-(size-off)
			there = size - off
		}
		if there > room {
			shared, again, there = shared+1, again+there, 0
		}
		room -= there
		if there > 0 {
			memory = append(memory, dump.Region{Addr: p.Addr, Data: r.data[off : off+there : off+there]})
		}
	}
	if cut > 0 {
		r.problem(fmt.Sprintf("%d bytes of memory", lost), size, "%d of %d segments extend past the end of the file (truncated?)", cut, loads)
	}
	if shared > 0 {
		r.problem(fmt.Sprintf("%d bytes of memory", again), 0, "%d of %d segments have the same bytes of the file as others, in all more than %d times its size", shared, loads, maxShared)
	}
	return memory
}

// readMaps sets the memory, and the mappings of the process: the PT_LOAD segments.
func (r *reader) readMaps() {
	maps := make([]dump.Mapping, 0, len(r.f.Segments))
	for p := range r.loadSegments() {
		maps = append(maps, dump.Mapping{
			Range: dump.Range{Addr: p.Addr, Size: p.MemSize},
			Read:  p.Flags&elf.PF_R != 0, Write: p.Flags&elf.PF_W != 0, Exec: p.Flags&elf.PF_X != 0,
		})
	}
	r.d.Memory = dump.NewMemory(r.order(), r.loads)
	r.segments = r.distinct(maps)
	r.d.Maps = nameMaps(r.segments, r.files)
}

// loadSegments yields the PT_LOAD segments; one that would wrap around ends at the end of the
// address space.
func (r *reader) loadSegments() iter.Seq[elfobj.Segment] {
	last := ^uint64(0)
	if r.word == 4 {
		last = 1<<32 - 1
	}
	return func(yield func(elfobj.Segment) bool) {
		for _, p := range r.f.Segments {
			if p.Type != elf.PT_LOAD || p.MemSize == 0 || p.Addr > last {
				continue
			}
			p.MemSize = min(p.MemSize-1, last-p.Addr) + 1
			// A size of 0 is now the whole address space, which no segment is.
			if p.MemSize > 0 && !yield(p) {
				return
			}
		}
	}
}

// distinct sorts mappings, and cuts a mapping that overlaps another. gdb's cores of remote processes
// have a segment for each section of the program, some of which overlap with equal bytes: they are
// damaged only where the bytes differ.
func (r *reader) distinct(maps []dump.Mapping) []dump.Mapping {
	slices.SortStableFunc(maps, func(a, b dump.Mapping) int { return cmp.Compare(a.Addr, b.Addr) })
	out := maps[:0]
	for _, m := range maps {
		if n := len(out); n > 0 && m.Addr <= last(out[n-1].Range) {
			end := last(out[n-1].Range)
			if last(m.Range) <= end {
				continue
			}
			m.Range = behind(m.Range, end+1-m.Addr)
		}
		out = append(out, m)
	}
	if n := r.contradictions(); n > 0 {
		r.problem("mappings", 0, "%d PT_LOAD segments overlap earlier ones with different bytes", n)
	}
	return out
}

// contradictions sorts the segments' memory, and counts those that overlap others with different
// bytes. It compares no more bytes than the file has.
func (r *reader) contradictions() (n int) {
	sorted := r.loads
	slices.SortStableFunc(sorted, func(a, b dump.Region) int { return cmp.Compare(a.Addr, b.Addr) })
	left := len(r.data)
	for i := 1; i < len(sorted); i++ {
		a, b := sorted[i-1], sorted[i]
		if b.Addr-a.Addr >= uint64(len(a.Data)) {
			continue
		}
		a.Data = a.Data[b.Addr-a.Addr:]
		both := min(len(a.Data), len(b.Data))
		if left -= both; left < 0 || !bytes.Equal(a.Data[:both], b.Data[:both]) {
			n++
		}
	}
	return n
}

// nameMaps joins mappings with the mapped files. A mapping of several files is split. A file that no
// segment covers becomes a separate mapping, because gcore leaves such files out.
func nameMaps(maps []dump.Mapping, files []fileMap) []dump.Mapping {
	if len(files) == 0 {
		return maps
	}
	out := make([]dump.Mapping, 0, len(maps)+len(files))
	m, f := head(maps), head(files) // what is left of the first of each
	nextMap := func() { maps = maps[1:]; m = head(maps) }
	nextFile := func() { files = files[1:]; f = head(files) }
	for len(maps) > 0 || len(files) > 0 {
		switch {
		case len(files) == 0 || len(maps) > 0 && last(m.Range) < f.Addr:
			out = append(out, m)
			nextMap()
		case len(maps) == 0 || last(f.Range) < m.Addr:
			out = append(out, f.mapping(f.Size))
			nextFile()
		case m.Addr < f.Addr:
			front := m
			front.Size = f.Addr - front.Addr
			out = append(out, front)
			m.Range = behind(m.Range, front.Size)
		case f.Addr < m.Addr:
			front := f.mapping(m.Addr - f.Addr)
			out = append(out, front)
			f = f.behind(front.Size)
		default:
			both := m
			both.Size = min(m.Size, f.Size)
			both.Path, both.Offset = f.path, f.offset
			out = append(out, both)
			if m.Range = behind(m.Range, both.Size); m.Size == 0 {
				nextMap()
			}
			if f = f.behind(both.Size); f.Size == 0 {
				nextFile()
			}
		}
	}
	return out
}

// head returns the first element, or a zero value.
func head[T any](list []T) (first T) {
	if len(list) > 0 {
		first = list[0]
	}
	return first
}

// last returns the address of a range's last byte.
func last(r dump.Range) uint64 { return r.Addr + r.Size - 1 }

// behind returns a range without its first n bytes.
func behind(r dump.Range, n uint64) dump.Range { return dump.Range{Addr: r.Addr + n, Size: r.Size - n} }

func (f fileMap) behind(n uint64) fileMap {
	f.Range, f.offset = behind(f.Range, n), f.offset+n
	return f
}

// mapping returns the first size bytes of an entry that no segment covers: gdb's gcore leaves out the
// code of binaries. Nothing is known about it except that it was mapped.
func (f fileMap) mapping(size uint64) dump.Mapping {
	return dump.Mapping{Range: dump.Range{Addr: f.Addr, Size: size}, Read: true, Unknown: true, Offset: f.offset, Path: f.path}
}
