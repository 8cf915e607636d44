package symlist

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt"
)

// ReadOptions control how a list is read. A list does not describe its module:
// MODULE is taken from Module, with "unknown" for empty fields.
type ReadOptions struct {
	Format Format
	File   string // used in messages
	Base   uint64 // address of RVA 0; symbols below it are problems
	Module symfmt.Module
}

// maxProblems is the number of bad lines reported individually.
const maxProblems = 100

// Read reads a list. A malformed line costs only itself. The error is non-nil if there
// is no symbol or r fails.
func Read(ctx context.Context, r io.ReaderAt, size int64, o ReadOptions) (*symfmt.Result, error) {
	d := reader{o: o, m: &symfmt.Module{OS: o.Module.OS, Arch: o.Module.Arch, ID: o.Module.ID, Name: o.Module.Name}}
	in := bufio.NewReaderSize(bin.ContextReader(ctx, io.NewSectionReader(r, 0, size)), 1<<16)
	for {
		line, read, err := d.next(in)
		if read > 0 {
			d.number++
			d.line(line, read > symfmt.MaxLine, err == io.EOF)
			d.offset += uint64(read)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: after line %d: %w", o.File, d.number, err)
		}
	}
	if d.more > 0 {
		d.problems = append(d.problems, symfmt.Problem{Lost: fmt.Sprintf("%d more lines", d.more),
			Err: &bin.Error{File: o.File, Msg: fmt.Sprintf("more than %d bad lines", maxProblems)}})
	}
	if len(d.m.Funcs)+len(d.m.Publics) == 0 {
		if d.cut != nil {
			return nil, d.cut
		}
		return nil, &bin.Error{File: o.File, Msg: fmt.Sprintf("no symbol in %d lines: not %s", d.number, o.Format)}
	}
	return &symfmt.Result{Module: d.m, Report: symfmt.Report{Problems: d.problems, Cut: d.cut}}, nil
}

// String returns the name of the format for messages.
func (f Format) String() string {
	if f == PerfMap {
		return "a perf map (START SIZE name)"
	}
	return "output of nm (ADDRESS [SIZE] TYPE name)"
}

type reader struct {
	o        ReadOptions
	m        *symfmt.Module
	problems []symfmt.Problem
	more     int    // number of problems not reported
	number   int    // number of the line
	long     []byte // a line longer than the buffer
	offset   uint64 // of its start
	cut      error  // set if the list ends inside its last line
}

func (d *reader) problem(format string, args ...any) { d.report(d.bad(format, args...)) }

// bad returns the error for the line.
func (d *reader) bad(format string, args ...any) error {
	return &bin.Error{File: d.o.File, Offset: d.offset, Msg: fmt.Sprintf(format, args...)}
}

func (d *reader) report(bad error) {
	if len(d.problems) == maxProblems {
		d.more++
		return
	}
	d.problems = append(d.problems, symfmt.Problem{Lost: fmt.Sprintf("line %d", d.number), Err: bad})
}

// next reads a line including its end, and keeps at most symfmt.MaxLine bytes of it.
// read is its length.
func (d *reader) next(in *bufio.Reader) (line []byte, read int, err error) {
	line, err = in.ReadSlice('\n')
	if read = len(line); !errors.Is(err, bufio.ErrBufferFull) {
		return line, read, err
	}
	d.long = append(d.long[:0], line...)
	for errors.Is(err, bufio.ErrBufferFull) {
		line, err = in.ReadSlice('\n')
		d.long = append(d.long, line[:min(len(line), symfmt.MaxLine-min(len(d.long), symfmt.MaxLine))]...)
		read += len(line)
	}
	return d.long, read, err
}

// line parses a line including its end, if it has one.
func (d *reader) line(line []byte, long, cut bool) {
	line = bytes.TrimRight(line, "\r\n")
	switch {
	case long:
		d.problem("line is over %d bytes long", symfmt.MaxLine)
	case cut:
		d.cut = d.bad("the file ends inside this line: want a line feed")
		d.report(d.cut)
	case len(bytes.TrimLeft(line, " \t")) == 0:
	case d.o.Format == PerfMap:
		d.perf(line)
	default:
		d.nm(line)
	}
}

func (d *reader) perf(line []byte) {
	start, rest := word(line)
	size, name := word(rest)
	if name = bytes.TrimRight(name, " \t"); len(name) == 0 {
		d.problem("found %s, want START SIZE name", quote(line))
		return
	}
	addr, ok := hexNumber(start)
	if !ok {
		d.problem("START is %s, want a hexadecimal number of up to 64 bits", quote(start))
		return
	}
	n, ok := hexNumber(size)
	if !ok {
		d.problem("SIZE is %s, want a hexadecimal number of up to 64 bits", quote(size))
		return
	}
	d.add(addr, n, true, name)
}

// codeTypes are nm's types for functions.
const codeTypes = "TtWwi"

func (d *reader) nm(line []byte) {
	first, rest := word(line)
	if isType(first) && (line[0] == ' ' || line[0] == '\t') {
		return // undefined
	}
	second, rest := word(rest)
	addr, ok := hexNumber(first)
	if !ok {
		d.problem("found %s, want ADDRESS [SIZE] TYPE name", quote(line))
		return
	}
	var size uint64
	sized := !isType(second)
	if sized {
		if size, ok = hexNumber(second); !ok {
			d.problem("found %s, want a size or a type", quote(second))
			return
		}
		second, rest = word(rest)
	}
	name := bytes.TrimRight(rest, " \t")
	switch {
	case !isType(second) || len(name) == 0:
		d.problem("found %s, want ADDRESS [SIZE] TYPE name", quote(line))
	case strings.IndexByte(codeTypes, second[0]) >= 0:
		d.add(addr, size, sized, name)
	}
}

// isType reports whether a word may be a type: nm's numbers have more digits.
func isType(w []byte) bool {
	return len(w) == 1 && (w[0] >= 'A' && w[0] <= 'Z' || w[0] >= 'a' && w[0] <= 'z' || w[0] == '-' || w[0] == '?')
}

func (d *reader) add(addr, size uint64, sized bool, name []byte) {
	if addr < d.o.Base {
		d.problem("address %#x is before the base address %#x", addr, d.o.Base)
		return
	}
	rva := symfmt.RVA(addr - d.o.Base)
	if size > 0 && uint64(rva)+(size-1) < uint64(rva) {
		d.problem("code at %#x of %#x bytes ends beyond 64 bits", addr, size)
		return
	}
	if sized {
		d.m.Funcs = append(doubled(d.m.Funcs), symfmt.Func{RVA: rva, Size: size, Name: string(name)})
	} else {
		d.m.Publics = append(doubled(d.m.Publics), symfmt.Public{RVA: rva, Name: string(name)})
	}
}

// doubled doubles the capacity of a full list: append's smaller steps would leave five times the
// list as garbage.
func doubled[T any](list []T) []T {
	if len(list) < cap(list) {
		return list
	}
	return slices.Grow(list, max(16, len(list)))
}

// word splits off the first word.
func word(line []byte) (w, rest []byte) {
	line = bytes.TrimLeft(line, " \t")
	n := bytes.IndexAny(line, " \t")
	if n < 0 {
		return line, nil
	}
	return line[:n], bytes.TrimLeft(line[n:], " \t")
}

func hexNumber(w []byte) (v uint64, ok bool) {
	for _, c := range w {
		switch {
		case v >= 1<<60:
			return 0, false
		case '0' <= c && c <= '9':
			v = v<<4 | uint64(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			v = v<<4 | uint64(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return v, len(w) > 0
}

// quote quotes the start of a piece of input.
func quote(b []byte) string {
	const most = 60
	if len(b) > most {
		return fmt.Sprintf("%q...", b[:most])
	}
	return fmt.Sprintf("%q", b)
}
