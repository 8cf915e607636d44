package minidump

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt/damage"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/regset"
)

// Format is the name of the format in dump.Dump.
const Format = "minidump"

// textReuse is the number of times, on average, that the bytes of a file may be used as text.
const textReuse = 4

const (
	signature  = 0x504d444d // "MDMP"
	version    = 0xa793     // the low half; the high half is the writer's
	headerSize = 32
	entrySize  = 12 // size of an entry of the directory
)

// Sniff reports whether a file that begins with these bytes is a minidump.
func Sniff(head []byte) bool { _, ok := byteOrder(head); return ok }

func byteOrder(head []byte) (binary.ByteOrder, bool) {
	if len(head) < 4 {
		return nil, false
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		if order.Uint32(head) == signature {
			return order, true
		}
	}
	return nil, false
}

// Read reads a minidump; data is the whole file, to which the dump refers. The error is non-nil only if nothing
// could be read. Other damage is reported in Dump.Problems.
func Read(data []byte, path string) (*dump.Dump, error) {
	order, ok := byteOrder(data)
	if !ok {
		return nil, &damage.Error{File: path, Msg: "not a minidump: it does not begin with MDMP"}
	}
	r := &reader{
		data: data, path: path, order: order,
		d:           &dump.Dump{Format: Format, Order: order, Main: -1},
		texts:       map[uint64]string{},
		contexts:    map[location]*dump.Context{},
		contextLeft: len(data), textLeft: len(data), restLeft: len(data), reuseLeft: textReuse*len(data) + 64<<10,
	}
	streams, err := r.directory()
	if err != nil {
		return nil, r.inFile(err)
	}
	r.streams(streams)
	r.finish()
	return r.d, nil
}

// reader holds the state of reading a minidump.
type reader struct {
	data  []byte
	path  string
	order binary.ByteOrder
	d     *dump.Dump

	texts    map[uint64]string // by offset
	contexts map[location]*dump.Context
	xsave    regset.XSaveReader
	// How many bytes of the file may still be used for contexts, for strings, and for the records and lists that
	// streams refer to: each byte of a file should belong to at most one of them. Writers may share a string, but
	// within limits: a million modules with the same name of a million bytes are an attack on whatever prints them.
	contextLeft, textLeft, restLeft, reuseLeft int

	regions []dump.Region
	stacks  []dump.Region
	names   []threadName
	modules []dump.Module // in the order of the file
	memInfo []dump.Mapping
	rest    *span // symtool's own stream
	lldb    bool  // LLDB wrote it
	// exceptions are LLDB's exceptions after the first.
	exceptions []span
	problems   int // number of problems of the current stream
}

// location refers to a place in the file.
type location struct{ off, size uint64 }

// span is a stream or a part of one: bytes at a place in the file.
type span struct {
	name string // for messages
	data []byte
	off  uint64
	size uint64 // as declared; data may be shorter
}

func (r *reader) cursor(s span) bin.Cursor { return bin.NewAt("", s.data, s.off, r.order) }

// maxProblems limits the problems reported for each stream: a list of a million malformed entries is one finding,
// not a million.
const maxProblems = 10

// problem records a loss, and the reason.
func (r *reader) problem(lost string, err error) {
	if r.problems++; r.problems <= maxProblems {
		r.d.Problems = append(r.d.Problems, damage.Problem{Lost: lost, Err: r.inFile(err)})
	}
}

// problemf reports a problem with a formatted reason and its place in the file.
func (r *reader) problemf(lost string, off uint64, format string, args ...any) {
	if r.problems < maxProblems {
		r.problem(lost, &damage.Error{Offset: off, Msg: fmt.Sprintf(format, args...)})
	} else {
		r.problems++
	}
}

// inFile adds the file's name to an error.
func (r *reader) inFile(err error) error {
	var e *damage.Error
	if errors.As(err, &e) {
		e.File = r.path
	}
	return err
}

// at returns the bytes at a location, as many as the file has, and whether these are all of them.
func (r *reader) at(l location) (data []byte, whole bool) {
	size := uint64(len(r.data))
	if l.off >= size {
		return nil, l.size == 0
	}
	n := min(l.size, size-l.off)
	return r.data[l.off : l.off+n : l.off+n], n == l.size
}

// take charges the bytes of a record or a list against the file's size, and reports whether that many were left.
func (r *reader) take(data []byte) bool {
	if len(data) > r.restLeft {
		r.restLeft = 0
		return false
	}
	r.restLeft -= len(data)
	return true
}

// place reads a MINIDUMP_LOCATION_DESCRIPTOR.
func place(c *bin.Cursor) location {
	size := c.U32()
	return location{uint64(c.U32()), uint64(size)}
}

// directory reads the header and the directory of streams.
func (r *reader) directory() ([]dump.Part, error) {
	c := bin.New("", r.data, r.order)
	c.Skip(4)
	ver, count, off := c.U32(), c.U32(), c.U32()
	c.Skip(4) // checksum
	stamp := c.U32()
	c.Skip(8) // flags: what the writer was asked to include
	if err := c.Err(); err != nil {
		return nil, err
	}
	if ver&0xffff != version {
		return nil, &damage.Error{Offset: 4, Msg: fmt.Sprintf("version %#x, want %#x", ver&0xffff, version)}
	}
	if stamp != 0 {
		r.d.Time = time.Unix(int64(stamp), 0).UTC()
	}
	data, _ := r.at(location{uint64(off), entrySize * uint64(count)})
	n := len(data) / entrySize
	if n == 0 && count > 0 {
		return nil, &damage.Error{Offset: 8, Msg: fmt.Sprintf("%d streams, with a directory at %#x in a file of %d bytes", count, off, len(r.data))}
	}
	if uint64(n) < uint64(count) {
		r.problemf(fmt.Sprintf("%d streams", uint64(count)-uint64(n)), uint64(off)+uint64(n)*entrySize, "the file ends in the directory of %d streams", count)
	}
	c = bin.NewAt("", data, uint64(off), r.order)
	parts := make([]dump.Part, n)
	for i := range parts {
		kind := c.U32()
		l := place(&c)
		parts[i] = dump.Part{Type: kind, Name: streamName(kind), Offset: l.off, Size: l.size}
	}
	return parts, nil
}

// streams reads the known streams, in the order of the table, as some are needed to understand
// others.
func (r *reader) streams(parts []dump.Part) {
	r.d.Parts = parts
	first := make(map[uint32]*dump.Part, len(parts))
	r.lldb = slices.ContainsFunc(parts, func(p dump.Part) bool { return p.Type == lldbMark })
	for i := range parts {
		p := &parts[i]
		switch known := streamKinds[p.Type]; {
		case first[p.Type] == nil:
			first[p.Type] = p
		case r.lldb && p.Type == exceptionStream:
			data, _ := r.at(location{p.Offset, p.Size})
			r.exceptions = append(r.exceptions, span{p.Name, data, p.Offset, p.Size})
		case known != nil && known.read != nil:
			r.problemf(p.Name, p.Offset, "there are two of these streams")
		}
	}
	for i := range streamTable {
		if p := first[streamTable[i].kind]; p != nil && streamTable[i].read != nil {
			r.stream(&streamTable[i], p)
		}
	}
}

func (r *reader) stream(k *streamKind, p *dump.Part) {
	r.endStream()
	data, whole := r.at(location{p.Offset, p.Size})
	if !whole {
		r.problemf("the rest of "+p.Name, p.Offset+uint64(len(data)), "%d bytes, of which the file of %d bytes has %d", p.Size, len(r.data), len(data))
		if len(data) == 0 {
			return
		}
	}
	k.read(r, span{p.Name, data, p.Offset, p.Size})
}

// endStream reports the number of problems of the last stream that were left out.
func (r *reader) endStream() {
	if more := r.problems - maxProblems; more > 0 {
		r.d.Problems = append(r.d.Problems, damage.Problem{Err: &damage.Error{File: r.path, Msg: fmt.Sprintf("%d more problems of this kind", more)}})
	}
	r.problems = 0
}

// finish combines what different streams say about the same subject.
func (r *reader) finish() {
	r.endStream()
	if len(r.d.Maps) == 0 {
		r.d.Maps = r.memInfo
	}
	dump.SortMappings(r.d.Maps)
	r.d.Memory = dump.NewMemory(r.order, append(r.regions, r.stacks...))
	if r.lldb {
		r.otherExceptions()
		r.nameVDSO()
	}
	r.finishModules()
	r.endStream()
	r.nameThreads()
	for i := range r.d.Threads {
		r.boundStack(&r.d.Threads[i])
		if r.lldb {
			r.ownStack(&r.d.Threads[i])
		}
	}
	if r.rest != nil {
		if err := r.d.ApplyRest(r.rest.data); err != nil {
			r.problemf("what symtool stored in a stream of its own", r.rest.off, "its stream: %v", err)
		}
	}
}
