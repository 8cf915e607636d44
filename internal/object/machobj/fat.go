package machobj

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
)

// Fat files are big-endian, whatever the byte order of the binaries in them.
const (
	fatMagic   = "\xca\xfe\xba\xbe"
	fatMagic64 = "\xca\xfe\xba\xbf"

	fatHeader  = 8
	fatEntry   = 20
	fatEntry64 = 32

	// javaVersion is the smallest number that a Java class has where a fat file has its count.
	javaVersion = 43
)

// slice is a binary in a fat file.
type slice struct {
	cpu
	offset, size int64
}

// Several is the kind of the error for a fat file from which no binary was selected.
type Several struct{ CPUs []string }

func (e *Several) Error() string {
	return "a universal file of " + strings.Join(e.CPUs, ", ")
}

// CPUs returns the names of the CPUs in the fat file at path. It returns nil for any other or a
// damaged file.
func CPUs(path string) (names []string) {
	file, err := os.Open(InBundle(path))
	if err != nil {
		return nil
	}
	defer file.Close()
	st, err := file.Stat()
	if err != nil {
		return nil
	}
	return CPUsIn(file, st.Size())
}

// CPUsIn is like CPUs, for the file in the first size bytes of r.
func CPUsIn(r io.ReaderAt, size int64) (names []string) {
	all, err := readSlices(object.NewInput(r, size, "", object.DefaultLimits()))
	if err != nil {
		return nil
	}
	for _, s := range all {
		names = append(names, s.name)
	}
	return names
}

// readSlices lists the binaries of a fat file. It returns nil for any other file.
func readSlices(in *object.Input) ([]slice, error) {
	head, err := in.Read(0, fatHeader)
	if err != nil || string(head[:4]) != fatMagic && string(head[:4]) != fatMagic64 {
		return nil, nil
	}
	n := binary.BigEndian.Uint32(head[4:])
	if n >= javaVersion {
		return nil, &bin.Error{File: in.Path, Msg: ErrNotMachO.Error(), Kind: ErrNotMachO,
			Err: fmt.Errorf("a Java class, or a universal file of %d binaries", n)}
	}
	size := int64(fatEntry)
	wide := string(head[:4]) == fatMagic64
	if wide {
		size = fatEntry64
	}
	table, err := in.Read(fatHeader, int64(n)*size)
	if err != nil {
		return nil, in.Errorf(fatHeader, "a table of %d binaries does not fit into the file of %d bytes", n, in.Size)
	}
	all := make([]slice, 0, n)
	for i := range int(n) {
		e := table[i*int(size):]
		u32 := func(at int) uint32 { return binary.BigEndian.Uint32(e[at:]) }
		off, length := uint64(u32(8)), uint64(u32(12))
		if wide {
			off, length = binary.BigEndian.Uint64(e[8:]), binary.BigEndian.Uint64(e[16:])
		}
		s := slice{cpu: cpuOf(u32(0), u32(4))}
		if off > uint64(in.Size) || length > uint64(in.Size)-off {
			return nil, in.Errorf(uint64(fatHeader+i*int(size)), "the binary of %s, %d bytes at %#x, does not fit into the file of %d bytes",
				s.name, length, off, in.Size)
		}
		s.offset, s.size = int64(off), int64(length)
		all = append(all, s)
	}
	if err := disjoint(in, all); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, in.Errorf(0, "a universal file of no binaries")
	}
	return all, nil
}

// disjoint returns an error if binaries overlap, with each other or with the table.
func disjoint(in *object.Input, all []slice) error {
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(a, b slice) int { return cmp.Compare(a.offset, b.offset) })
	end, before := int64(fatHeader), "the header"
	for _, s := range sorted {
		if s.offset < end {
			return in.Errorf(uint64(s.offset), "the binary of %s overlaps %s", s.name, before)
		}
		end, before = s.offset+s.size, "that of "+s.name
	}
	return nil
}

// pick returns the binary that the limits select: by UUID, by CPU, or the only one.
func pick(in *object.Input, all []slice) (slice, error) {
	lim := &in.Limits
	if len(lim.ID) > 0 {
		for _, s := range all {
			if f, err := part(in, s); err == nil && bytes.Equal(f.uuid, lim.ID) {
				return s, nil
			}
		}
	}
	var names []string
	for _, s := range all {
		if lim.CPU == s.name {
			return s, nil
		}
		names = append(names, s.name)
	}
	if lim.CPU != "" {
		for _, s := range all {
			if s.called(lim.CPU) {
				return s, nil
			}
		}
	}
	e := &Several{names}
	switch {
	case len(all) == 1 && (lim.CPU == "" || len(lim.ID) > 0):
		return all[0], nil
	case lim.CPU != "":
		return slice{}, &bin.Error{File: in.Path, Err: e, Msg: "no binary of " + lim.CPU}
	}
	return slice{}, &bin.Error{File: in.Path, Err: e, Kind: object.ErrSeveral}
}

// part opens a binary of a fat file.
func part(in *object.Input, s slice) (*File, error) {
	f := &File{in: object.NewInput(in.Reader, s.offset+s.size, in.Path, in.Limits), start: s.offset}
	return f, f.readHeader()
}
