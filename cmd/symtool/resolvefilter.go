package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/symtool/symtool/resolve"
)

// logFilter copies a log and replaces NAME+0xADDR by what is at the address.
// Everything else, and what is not known, stays as it is, byte for byte.
type logFilter struct {
	find     func(module moduleName, rva uint64, at *resolve.Location) (file string, found bool)
	noInline bool

	at  resolve.Location
	out []byte
}

// longestName bounds what may be a place in a log.
const longestName = 4 << 10

// filterBuffer is how much of a log is read at once.
const filterBuffer = 64 << 10

// run copies until the end of in. Whole lines go out when there is nothing more
// to read for now.
func (f *logFilter) run(ctx context.Context, in io.Reader, out *stdout) error {
	buf := make([]byte, filterBuffer)
	have := 0
	for {
		n, err := in.Read(buf[have:])
		have += n
		if err != nil && err != io.EOF {
			return fmt.Errorf("standard input: %w", err)
		}
		used := have
		if err == nil {
			used = wholePart(buf[:have])
		}
		f.out = f.replace(f.out[:0], buf[:used])
		_, writeErr := out.Write(f.out)
		if writeErr == nil {
			writeErr = out.Flush()
		}
		if writeErr != nil {
			return outputError(out.Name(), writeErr)
		}
		if err == io.EOF {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		have = copy(buf, buf[used:have])
	}
}

// wholePart is how much of text has no place that may go on behind its end.
func wholePart(text []byte) int {
	start := len(text)
	for start > 0 && isNameByte(text[start-1]) {
		start--
	}
	if len(text)-start > longestName {
		return len(text) - longestName // no name, or not at its beginning
	}
	return start
}

// isNameByte tells whether a byte may be in NAME+0xADDR: all but blanks and what
// logs put around a place.
func isNameByte(c byte) bool {
	return c > ' ' && c != 0x7f && bytes.IndexByte([]byte(`"'()[]{}<>,;=|:`+"`"), c) < 0
}

// replace appends text with its places replaced.
func (f *logFilter) replace(dst, text []byte) []byte {
	done := 0
	for pos := 0; ; {
		n := bytes.Index(text[pos:], []byte("+0x"))
		if n < 0 {
			return append(dst, text[done:]...)
		}
		plus := pos + n
		start, end := plus, plus+len("+0x")
		for start > done && plus-start <= longestName && isNameByte(text[start-1]) {
			start--
		}
		for end < len(text) && isHexDigit(text[end]) {
			end++
		}
		pos = end
		if end < len(text) && isNameByte(text[end]) && text[end] != '.' || plus-start > longestName {
			continue
		}
		rva, err := strconv.ParseUint(string(text[plus+len("+0x"):end]), 16, 64)
		if start == plus || err != nil || !f.known(string(text[start:plus]), rva) {
			continue
		}
		dst = append(dst, text[done:start]...)
		dst = f.appendPlace(dst)
		done = end
	}
}

func isHexDigit(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func (f *logFilter) known(name string, rva uint64) bool {
	_, found := f.find(parseModule(name), rva, &f.at)
	return found
}

// appendPlace writes "g at t.c:2, inlined by main at t.c:3".
func (f *logFilter) appendPlace(b []byte) []byte {
	frames := f.at.Frames
	if f.noInline {
		frames = withoutInlines(frames)
	}
	for i, frame := range frames {
		if i > 0 {
			b = append(b, ", inlined by "...)
		}
		b = appendFrame(b, &frame)
	}
	return b
}
