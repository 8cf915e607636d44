package minidump

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"unicode/utf16"

	"github.com/symtool/symtool/symfmt/damage"
	"github.com/symtool/symtool/walk/dump"
)

// Write writes a minidump as Breakpad's writer for Linux does, with the streams for which the dump
// has contents. The problems list what a minidump cannot represent. Equal Dumps give equal bytes.
// The error is w's, or reports lists that alone take 4 GB.
//
// Offsets in a minidump have 32 bits. Memory that they can reach is in a MemoryList and comes
// before what refers to it; if there is more, it comes last, in a Memory64List.
func Write(w io.Writer, d *dump.Dump) ([]damage.Problem, error) {
	return newWriter(d).write(w)
}

func (wr *writer) write(w io.Writer) ([]damage.Problem, error) {
	d := wr.d
	head, tail := wr.streams()
	if wr.err != nil {
		return nil, wr.err
	}
	out := bufio.NewWriterSize(w, 1<<16)
	out.Write(head)
	if wr.wide {
		writeAll(out, tail)
	}
	for _, r := range d.Memory.Regions {
		out.Write(r.Data)
	}
	if !wr.wide {
		out.Write(make([]byte, wr.padding))
		writeAll(out, tail)
	}
	return wr.problems, out.Flush() // Flush returns the first error of all writes
}

func writeAll(out *bufio.Writer, parts [][]byte) {
	for _, p := range parts {
		out.Write(p)
	}
}

// endian is the interface of encoding/binary's orders.
type endian interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// writer holds the state of writing a minidump.
type writer struct {
	d     *dump.Dump
	order endian
	wide  bool // memory is in a Memory64List

	base     uint64   // offset in the file of parts
	parts    [][]byte // streams, and what they refer to
	size     uint64   // of parts in bytes
	memory   []uint64 // file offset of each region
	padding  uint64   // after memory
	modules  []int    // indices in d.Modules, in the order of the file
	contexts map[*dump.Context]location
	lost     map[string]int // sentences about lost registers, with the number of threads
	problems []damage.Problem
	err      error
}

// partSize is the size of the parts in bytes; longer streams are separate parts. A single buffer
// would be copied as it grows.
const partSize = 64 << 10

// narrowest is the largest amount of memory that fits 32-bit offsets, leaving room for lists.
const narrowest uint64 = 1<<32 - 1<<28

func newWriter(d *dump.Dump) *writer {
	w := &writer{d: d, order: d.Order.(endian), contexts: map[*dump.Context]location{}, lost: map[string]int{}}
	w.wide = isWide(d)
	if d.Main >= 0 {
		w.modules = append(w.modules, d.Main) // the program comes first
	}
	for i := range d.Modules {
		if i != d.Main {
			w.modules = append(w.modules, i)
		}
	}
	return w
}

// isWide reports whether memory needs Memory64List.
func isWide(d *dump.Dump) bool {
	var size uint64
	for _, r := range d.Memory.Regions {
		size += uint64(len(r.Data))
	}
	return size > narrowest
}

func (w *writer) problem(lost, format string, args ...any) {
	w.problems = append(w.problems, damage.Problem{Lost: lost, Err: &damage.Error{Msg: fmt.Sprintf(format, args...)}})
}

// streams encodes the header with the directory, and the streams.
func (w *writer) streams() (head []byte, tail [][]byte) {
	kinds := w.kinds()
	headSize := uint64(headerSize + entrySize*len(kinds))
	w.placeMemory(headSize)
	var directory, offset []byte // the field of Memory64List for the place of memory
	for _, k := range kinds {
		b := k.write(w) // after adding to w.parts what it refers to
		l := w.put(b)
		if k.kind == memory64 {
			last := w.parts[len(w.parts)-1]
			offset = last[len(last)-len(b)+8:]
		}
		directory = w.u32(directory, k.kind, uint32(l.size), uint32(l.off))
	}
	if w.here() > math.MaxUint32 {
		w.err = &damage.Error{Msg: fmt.Sprintf("lists of %d bytes, want less than 4 GB", w.size)}
	}
	if w.wide {
		w.order.PutUint64(offset, w.here())
	}
	stamp := uint32(0)
	if !w.d.Time.IsZero() {
		stamp = uint32(w.d.Time.Unix())
	}
	head = w.u32(nil, signature, version, uint32(len(kinds)), headerSize, 0, stamp, 0, 0)
	w.reportLost()
	return append(head, directory...), w.parts
}

// placeMemory computes the offsets of memory and of the streams.
func (w *writer) placeMemory(headSize uint64) {
	at := headSize
	if w.wide {
		at = 0 // set by Memory64List once known
	}
	for _, r := range w.d.Memory.Regions {
		w.memory = append(w.memory, at)
		at += uint64(len(r.Data))
	}
	if w.wide {
		w.base = headSize
		return
	}
	w.padding = -at & 7
	w.base = at + w.padding
}

// here returns the current offset in the file.
func (w *writer) here() uint64 { return w.base + w.size }

// put adds bytes at a multiple of 8, and returns their location.
func (w *writer) put(b []byte) location {
	var zeros [8]byte
	w.add(zeros[:-w.here()&7])
	l := location{w.here(), uint64(len(b))}
	w.add(b)
	return l
}

// add appends b or a copy of it.
func (w *writer) add(b []byte) {
	w.size += uint64(len(b))
	if len(b) >= partSize {
		w.parts = append(w.parts, slices.Clip(b))
		return
	}
	last := len(w.parts) - 1
	if last < 0 || len(b) > cap(w.parts[last])-len(w.parts[last]) {
		w.parts = append(w.parts, make([]byte, 0, partSize))
		last++
	}
	w.parts[last] = append(w.parts[last], b...)
}

// streamWriter is a stream with the condition under which it is written.
type streamWriter struct {
	kind  uint32
	when  func(*dump.Dump) bool
	write func(*writer) []byte
}

func always(*dump.Dump) bool { return true }

// The streams of memory, one of which is written.
const (
	memory32 = 5
	memory64 = 9
)

func (w *writer) kinds() (kinds []streamWriter) {
	for _, s := range streamWriters {
		if s.when(w.d) && (s.kind != memory64 || w.wide) && (s.kind != memory32 || !w.wide) {
			kinds = append(kinds, s)
		}
	}
	return kinds
}

func (w *writer) u16(b []byte, values ...uint16) []byte {
	for _, v := range values {
		b = w.order.AppendUint16(b, v)
	}
	return b
}

func (w *writer) u32(b []byte, values ...uint32) []byte {
	for _, v := range values {
		b = w.order.AppendUint32(b, v)
	}
	return b
}

func (w *writer) u64(b []byte, values ...uint64) []byte {
	for _, v := range values {
		b = w.order.AppendUint64(b, v)
	}
	return b
}

// word appends numbers of a pointer's size.
func (w *writer) word(b []byte, values ...uint64) []byte {
	for _, v := range values {
		if w.wordSize() == 4 {
			b = w.u32(b, uint32(v))
		} else {
			b = w.u64(b, v)
		}
	}
	return b
}

func (w *writer) wordSize() int {
	if w.d.Arch == nil {
		return 8
	}
	return w.d.Arch.PtrSize
}

// place appends a MINIDUMP_LOCATION_DESCRIPTOR.
func (w *writer) place(b []byte, l location) []byte {
	return w.u32(b, uint32(l.size), uint32(l.off))
}

// text adds a MINIDUMP_STRING and returns its offset. Invalid UTF-8 becomes
// U+FFFD.
func (w *writer) text(s string) uint32 {
	units := utf16.Encode([]rune(s))
	b := w.u32(nil, uint32(2*len(units)))
	return uint32(w.put(w.u16(w.u16(b, units...), 0)).off)
}

// fixed appends UTF-16 in a field of fixed size, with a NUL at its end; text
// that does not fit is lost.
func (w *writer) fixed(b []byte, s string, size int) []byte {
	units := utf16.Encode([]rune(s))
	if most := size/2 - 1; len(units) > most {
		w.problem(fmt.Sprintf("the end of %.40q", s), "%d units of UTF-16, want at most %d", len(units), most)
		units = units[:most]
	}
	start := len(b)
	b = w.u16(b, units...)
	return append(b, make([]byte, size-(len(b)-start))...)
}
