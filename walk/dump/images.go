package dump

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// Image is a file in memory as a loader maps it: its segments, in the order of the file.
type Image struct {
	Range
	Path        string
	First, Last int  // indices of its mappings; mappings between them may belong to no file
	Exec        bool // one of the mappings is executable
}

// maxHole is the largest gap between the segments of a file, in memory and in the file: by default, linkers align
// segments to 2 MiB at most.
const maxHole = 2 << 20

// Images returns the images among mappings, which must be sorted by address. The result is a guess; only program
// headers say for certain what belongs to a module. A mapping does not continue an image if it is far away, or
// elsewhere in the file than the next segment would be: programs map parts of their own files again, as data or as
// code.
func Images(maps []Mapping) []Image {
	n := 0
	for range imagesOf(maps) {
		n++
	}
	list := make([]Image, 0, n) // growing the list would take twice its memory
	for g := range imagesOf(maps) {
		list = append(list, g)
	}
	return withoutCopies(maps, list)
}

// imagesOf iterates over the images, including copies.
func imagesOf(maps []Mapping) iter.Seq[Image] {
	return func(yield func(Image) bool) {
		for i := 0; i < len(maps); i++ {
			if !maps[i].isSegment() {
				continue
			}
			g := ImageFrom(maps, i)
			if !yield(g) {
				return
			}
			i = g.Last
		}
	}
}

// withoutCopies drops images with code that begin in the middle of another image of their file. A loader maps a file
// from its headers on, but V8 maps the code of its built-in functions again, near the code that it compiles. Addresses
// in such a copy are relative to a base that only the loader's image has.
func withoutCopies(maps []Mapping, list []Image) []Image {
	first := map[string]*Image{} // by path: the image with code that begins first in the file
	for i := range list {
		g := &list[i]
		if f := first[g.Path]; g.Exec && (f == nil || maps[g.First].Offset < maps[f.First].Offset) {
			first[g.Path] = g
		}
	}
	copies := make([]bool, len(list))
	for i := range list {
		if f := first[list[i].Path]; f != nil && f != &list[i] && list[i].Exec {
			at, last := maps[list[i].First].Offset, &maps[f.Last]
			copies[i] = at > maps[f.First].Offset && at < last.Offset+last.Size
		}
	}
	out := list[:0]
	for i := range list {
		if !copies[i] {
			out = append(out, list[i])
		}
	}
	return out
}

// ImageFrom returns the image that begins with the mapping at an index.
func ImageFrom(maps []Mapping, first int) Image {
	f := &maps[first]
	g := Image{Range: f.Range, Path: f.Path, First: first, Last: first, Exec: f.Exec}
	for i := first + 1; i < len(maps); i++ {
		m := &maps[i]
		if !m.IsFile() || m.isReserved() {
			continue
		}
		if before := &maps[g.Last]; m.Path != f.Path || m.Shared || m.Offset <= f.Offset || !m.continues(before) {
			break
		}
		g.Last, g.Size, g.Exec = i, m.Addr+m.Size-g.Addr, g.Exec || m.Exec
	}
	return g
}

// MappedRange returns the part of a module that is mapped from its file, in whole pages and without .bss, as elfutils
// lists modules. It returns the module's own range if the mappings of its file are unknown.
func (d *Dump) MappedRange(m *Module) Range {
	i, ok := slices.BinarySearchFunc(d.Maps, m.Addr, func(at Mapping, addr uint64) int { return cmp.Compare(at.Addr, addr) })
	if !ok || !d.Maps[i].IsFile() {
		return m.Range
	}
	return ImageFrom(d.Maps, i).Range
}

// continues reports whether a mapping of a file may be the segment after another mapping of it.
func (m *Mapping) continues(before *Mapping) bool {
	end := before.Offset + before.Size
	return m.Offset >= before.Offset && (m.Offset <= end || m.Offset-end <= maxHole) &&
		m.Addr-(before.Addr+before.Size) <= maxHole
}

// IsFile reports whether the mapping is of a file. Other mappings have names in brackets, or names for memory.
func (m *Mapping) IsFile() bool { return m.Path != "" && m.Path[0] != '[' && !IsMemory(m.Path) }

// isSegment reports whether a mapping may have been made by a loader, whose mappings are private. Programs that
// generate code may share it between a mapping to write it and one to run it, as .NET does with memfd_create(2).
func (m *Mapping) isSegment() bool { return m.IsFile() && !m.Shared }

// isReserved reports whether a mapping only keeps its addresses unused, like those that glibc before 2.35 leaves
// between the segments of a file. Its offset in the file means nothing.
func (m *Mapping) isReserved() bool { return !m.Read && !m.Write && !m.Exec && !m.Unknown }

// memoryPaths are the beginnings of the names that the kernel and perf show for memory without a file: shared memory,
// System V's, huge pages, and devices, which include Android's ashmem.
var memoryPaths = []string{"//anon", "/anon_hugepage", "/SYSV", "/dev/", "anon_inode:"}

// IsMemory reports whether the path of a mapping is a name for memory without a file.
func IsMemory(path string) bool {
	return !strings.HasPrefix(path, "/dev/shm/") && slices.ContainsFunc(memoryPaths, func(p string) bool { return strings.HasPrefix(path, p) })
}
