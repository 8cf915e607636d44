package jitdump

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"time"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// Options control how a file is read.
type Options struct {
	File string // used in messages
	// At, if it is set, is when the process was seen: what the process wrote later does not count. Modified is when the
	// file was last written, and hence the time of its last record.
	At, Modified time.Time
}

// The sizes of the header and of the fixed parts of records.
const (
	headerSize = 40
	prefixSize = 16
	loadSize   = prefixSize + 40
	moveSize   = prefixSize + 48
	debugSize  = prefixSize + 16
	unwindSize = prefixSize + 24
	entrySize  = 16
)

// The types of records.
const (
	codeLoad = iota
	codeMove
	codeDebug
	codeClose
	codeUnwinding
)

const (
	magic         = 0x4a695444 // "JiTD"
	archTimestamp = 1          // flag: times are not in nanoseconds
	v8Reserved    = 0xdeadbeef
)

// maxProblems is the number of bad records reported individually.
const maxProblems = 100

// Match reports whether a file begins as a jitdump file.
func Match(head []byte) bool {
	return len(head) >= 4 && (binary.LittleEndian.Uint32(head) == magic || binary.BigEndian.Uint32(head) == magic)
}

// code is a piece of code that was loaded, or that moved.
type code struct {
	addr, size uint64
	index      uint64
	name       string
	entries    []byte // of the lines
	count      uint64 // of entries
	unwinding  []byte // .eh_frame
	from       uint64 // address at which it was loaded
	before     int    // index of the code that moved here, or -1
	moved      bool   // it is elsewhere
	time       uint64
}

type reader struct {
	r        io.ReaderAt
	size     int64
	o        Options
	order    binary.ByteOrder
	arch     *arch.Arch
	v8       bool // V8 wrote the file
	clock    bool // times are in nanoseconds
	codes    []code
	byIndex  map[uint64]int // the last of codes with an index
	problems []symfmt.Problem
	more     int
	cut      error // the file ends inside a record

	first, last uint64   // times of records
	lines       struct { // for the next code
		addr    uint64
		count   uint64
		entries []byte
	}
	unwinding []byte // for the next code
}

// Read reads the code that is in force at the end of the file, or at o.At. Its addresses are those of the process. A
// damaged record costs only itself, unless its size is. The error is non-nil if the header is damaged or r fails.
func Read(ctx context.Context, r io.ReaderAt, size int64, o Options) (*symfmt.Result, error) {
	d := &reader{r: r, size: size, o: o, byIndex: map[uint64]int{}}
	at, err := d.header()
	if err != nil {
		return nil, err
	}
	for at < size {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		n, err := d.record(at)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			break
		}
		at += n
	}
	if d.more > 0 {
		d.problems = append(d.problems, symfmt.Problem{Lost: fmt.Sprintf("%d more records", d.more), Err: d.bad(size, "more than %d bad records", maxProblems)})
	}
	m, err := d.module(ctx)
	if err != nil {
		return nil, err
	}
	return &symfmt.Result{Module: m, Report: symfmt.Report{Problems: d.problems, Cut: d.cut}}, nil
}

func (d *reader) bad(at int64, format string, args ...any) error {
	return &bin.Error{File: d.o.File, Offset: uint64(at), Msg: fmt.Sprintf(format, args...)}
}

func (d *reader) problem(at int64, format string, args ...any) {
	if len(d.problems) == maxProblems {
		d.more++
		return
	}
	d.problems = append(d.problems, symfmt.Problem{Lost: fmt.Sprintf("record at %#x", at), Err: d.bad(at, format, args...)})
}

// header reads the header and returns its size.
func (d *reader) header() (int64, error) {
	b, err := d.bytes(0, headerSize)
	if err != nil || !Match(b) {
		return 0, d.bad(0, "not a jitdump file: want a header of %d bytes that begins with %#x", headerSize, magic)
	}
	d.order = binary.LittleEndian
	if binary.BigEndian.Uint32(b) == magic {
		d.order = binary.BigEndian
	}
	version, size, machine := d.order.Uint32(b[4:]), int64(d.order.Uint32(b[8:])), d.order.Uint32(b[12:])
	if version != 1 || size < headerSize || size > d.size {
		return 0, d.bad(4, "version %d with a header of %d bytes, want version 1 and at least %d", version, size, headerSize)
	}
	d.v8 = d.order.Uint32(b[16:]) == v8Reserved
	d.clock = d.order.Uint64(b[32:])&archTimestamp == 0
	if machine <= 0xffff {
		const is64Bit = 1 << 31
		d.arch = cmp.Or(arch.ByAudit(machine|is64Bit), arch.ByAudit(machine))
	}
	return size, nil
}

// bytes returns n bytes at an offset, which the file must have.
func (d *reader) bytes(at, n int64) ([]byte, error) {
	if at < 0 || n < 0 || at > d.size || n > d.size-at {
		return nil, io.ErrUnexpectedEOF
	}
	b := make([]byte, n)
	if _, err := d.r.ReadAt(b, at); err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: offset %#x: %w", d.o.File, at, err)
	}
	return b, nil
}

// record reads the record at an offset, and returns its size, or 0 if it has none. The error is r's.
func (d *reader) record(at int64) (int64, error) {
	if d.size-at < prefixSize {
		d.endsInside(at, prefixSize)
		return 0, nil
	}
	b, err := d.bytes(at, prefixSize)
	if err != nil {
		return 0, err
	}
	kind, size, when := d.order.Uint32(b), int64(d.order.Uint32(b[4:])), d.order.Uint64(b[8:])
	switch {
	case size < prefixSize:
		d.problem(at, "record of %d bytes, want at least %d", size, prefixSize)
		return 0, nil
	case size > d.size-at:
		d.endsInside(at, size)
		return 0, nil
	}
	if d.first == 0 {
		d.first = when
	}
	d.last = max(d.last, when)
	switch kind {
	case codeLoad:
		err = d.load(at, size, when)
	case codeMove:
		err = d.move(at, size, when)
	case codeDebug:
		err = d.debug(at, size)
	case codeUnwinding:
		err = d.unwind(at, size)
	}
	return size, err
}

// endsInside reports that the file ends inside a record, as it does if the process did not write all of its buffer.
func (d *reader) endsInside(at, size int64) {
	d.cut = d.bad(at, "the file ends inside a record of at least %d bytes", size)
	d.problems = append(d.problems, symfmt.Problem{Lost: fmt.Sprintf("record at %#x", at), Err: d.cut})
}

// fixed returns the fixed part of a record after its prefix, or nil if the record is too small.
func (d *reader) fixed(at, size, want int64) ([]byte, error) {
	if size < want {
		d.problem(at, "record of %d bytes, want at least %d", size, want)
		return nil, nil
	}
	return d.bytes(at+prefixSize, want-prefixSize)
}

func (d *reader) load(at, size int64, when uint64) error {
	lines, unwinding := d.lines, d.unwinding
	d.lines.entries, d.unwinding = nil, nil
	b, err := d.fixed(at, size, loadSize)
	if b == nil {
		return err
	}
	c := code{addr: d.order.Uint64(b[16:]), size: d.order.Uint64(b[24:]), index: d.order.Uint64(b[32:]), time: when, before: -1}
	c.from = c.addr
	if name := size - loadSize; c.size > uint64(name) {
		d.problem(at, "code of %d bytes in a record of %d", c.size, size)
		return nil
	}
	if c.size == 0 {
		return nil
	}
	if c.addr+(c.size-1) < c.addr {
		d.problem(at, "code at %#x of %#x bytes ends beyond 64 bits", c.addr, c.size)
		return nil
	}
	text, err := d.bytes(at+loadSize, min(size-loadSize-int64(c.size), symfmt.MaxLine))
	if err != nil {
		return err
	}
	name, _, ended := bytes.Cut(text, []byte{0})
	if !ended {
		d.problem(at, "the name of the code at %#x does not end", c.addr)
		return nil
	}
	c.name = string(name)
	if lines.entries != nil && lines.addr == c.addr {
		c.entries, c.count = lines.entries, lines.count
	}
	c.unwinding = unwinding
	d.add(c)
	return nil
}

func (d *reader) add(c code) {
	d.byIndex[c.index] = len(d.codes)
	d.codes = append(d.codes, c)
}

func (d *reader) move(at, size int64, when uint64) error {
	b, err := d.fixed(at, size, moveSize)
	if b == nil {
		return err
	}
	from, to, index := d.order.Uint64(b[16:]), d.order.Uint64(b[24:]), d.order.Uint64(b[40:])
	i, ok := d.byIndex[index]
	if !ok || d.codes[i].addr != from {
		d.problem(at, "code %d moves from %#x, where it is not", index, from)
		return nil
	}
	c := d.codes[i]
	c.before = i
	if c.addr, c.time = to, when; c.addr+(c.size-1) < c.addr {
		d.problem(at, "code at %#x of %#x bytes ends beyond 64 bits", c.addr, c.size)
		return nil
	}
	d.add(c)
	return nil
}

func (d *reader) debug(at, size int64) error {
	if d.v8 {
		return nil
	}
	b, err := d.fixed(at, size, debugSize)
	if b == nil {
		return err
	}
	d.lines.addr, d.lines.count = d.order.Uint64(b), d.order.Uint64(b[8:])
	d.lines.entries, err = d.bytes(at+debugSize, size-debugSize)
	if least := uint64(size-debugSize) / (entrySize + 1); d.lines.count > least {
		d.problem(at, "%d entries in a record of %d bytes", d.lines.count, size)
		d.lines.entries = nil
	}
	return err
}

func (d *reader) unwind(at, size int64) error {
	b, err := d.fixed(at, size, unwindSize)
	if b == nil {
		return err
	}
	all, header := d.order.Uint64(b), d.order.Uint64(b[8:])
	if all > uint64(size-unwindSize) || header > all {
		d.problem(at, "%d bytes of call frame information, %d of them a header, in a record of %d", all, header, size)
		return nil
	}
	d.unwinding, err = d.bytes(at+unwindSize, int64(all-header))
	return err
}
