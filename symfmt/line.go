package symfmt

import (
	"bufio"
	"io"
)

// LineParser parses records out of their file. Its zero value is ready.
type LineParser struct{ r Reader }

// Parse reads the record in a line, without the end of line. It is valid until
// the next call. The error is a *SyntaxError for line number n of file.
func (p *LineParser) Parse(line []byte, file string, n int) (*Record, error) {
	p.r.opts.File, p.r.rec.file, p.r.rec.line = file, file, n
	rec, bad := p.r.parse(line)
	if bad != nil {
		return rec, bad
	}
	return rec, nil
}

// NewText returns the text of a symbol file, which may be compressed with gzip
// or zstd, without a byte order mark. compression is "gzip", "zstd" or "".
func NewText(r io.Reader) (text io.Reader, compression string, err error) {
	src, err := open(r)
	if err != nil {
		return nil, "", err
	}
	b := bufio.NewReaderSize(src, bufferSize)
	head, err := b.Peek(utf16Probe)
	if err != nil && err != io.EOF {
		return nil, src.compression, err
	}
	bom, err := bomLength(head)
	if err != nil {
		return nil, src.compression, err
	}
	b.Discard(bom)
	return b, src.compression, nil
}
