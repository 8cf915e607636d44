package symcache

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/symtool/symtool/symfmt"
)

// Options control how Write and Losses treat a module.
type Options struct {
	Version uint32 // version of the format: 7, 8 or 9; 0 means 8, which symbolic has read since 2022

	// Base is subtracted from all addresses. Addresses in a symcache have 32
	// bits, but those of an x86-64 Linux kernel, for example, begin at
	// 0xffffffff81000000. symbolic counts from the address of an ELF file's first
	// loaded segment.
	Base symfmt.RVA
}

// byteOrder is the order written: symbolic reads only files in its machine's order.
var byteOrder = binary.LittleEndian

// Write writes a module as a symcache. It returns an error if it does not know
// the version, or if the strings are longer than 4 GB.
func Write(w io.Writer, m *symfmt.Module, o Options) error {
	if o.Version == 0 {
		o.Version = defaultVersion
	}
	if o.Version < firstVersion || o.Version > lastVersion {
		return fmt.Errorf("symcache version %d, want %d to %d", o.Version, firstVersion, lastVersion)
	}
	t := newTables(m, o)
	if err := t.fill(); err != nil {
		return err
	}
	return t.write(w)
}

// check returns an error unless all numbers fit.
func (t *tables) check() error {
	if uint64(len(t.strings.data)) >= none {
		return fmt.Errorf("symcache: %d bytes of strings, more than 4 GB", len(t.strings.data))
	}
	if n := len(t.calls) + len(t.locations); uint64(n) >= none {
		return fmt.Errorf("symcache: %d source locations, more than fit 32 bits", n)
	}
	return nil
}

// write writes the sections.
func (t *tables) write(w io.Writer) error {
	if err := t.check(); err != nil {
		return err
	}
	out := sectionWriter{w: bufio.NewWriterSize(w, 1<<16)}
	out.put(t.header())
	for _, f := range t.files {
		out.words(none, f.dir, f.name)
		if t.version >= version9 {
			out.words(none, none, none)
		}
	}
	out.align()
	for _, f := range t.functions {
		out.words(f.name, none, f.entry, f.language)
	}
	out.align()
	for _, list := range [][]location{t.calls, t.locations} {
		for _, l := range list {
			out.words(l.file, l.line, l.function, l.into)
		}
	}
	out.align()
	for _, start := range t.ranges {
		out.words(start)
	}
	out.align()
	out.put(t.strings.data)
	return out.w.Flush()
}

func (t *tables) header() []byte {
	b := make([]byte, 0, headSize)
	b = append(b, magic[:]...)
	b = byteOrder.AppendUint32(b, t.version)
	id, _ := encodeDebugID(t.m.ID, byteOrder)
	b = append(b, id[:]...)
	for _, n := range []int{
		int(archNumber(t.m.Arch)), len(t.files), len(t.functions),
		len(t.calls) + len(t.locations), len(t.ranges), len(t.strings.data),
	} {
		b = byteOrder.AppendUint32(b, uint32(n))
	}
	return b[:headSize]
}

// sectionWriter keeps track of the offset for alignment. Errors stay in w.
type sectionWriter struct {
	w   *bufio.Writer
	pos int
}

func (s *sectionWriter) put(b []byte) {
	s.w.Write(b)
	s.pos += len(b)
}

func (s *sectionWriter) words(words ...uint32) {
	b := s.w.AvailableBuffer()
	for _, v := range words {
		b = byteOrder.AppendUint32(b, v)
	}
	s.put(b)
}

func (s *sectionWriter) align() { s.put(make([]byte, alignment)[:padding(s.pos)]) }

// stringTable is the section of strings.
type stringTable struct {
	version uint32
	data    []byte
	offsets map[string]uint32
}

// add returns the offset of a string, or none for the empty one.
func (t *stringTable) add(s string) uint32 {
	if s == "" {
		return none
	}
	if at, ok := t.offsets[s]; ok {
		return at
	}
	at := uint32(min(len(t.data), math.MaxUint32))
	if t.version == version7 {
		t.data = byteOrder.AppendUint32(t.data, uint32(len(s)))
	} else {
		t.data = binary.AppendUvarint(t.data, uint64(len(s)))
	}
	t.data = append(t.data, s...)
	t.offsets[s] = at
	return at
}
