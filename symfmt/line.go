package symfmt

import (
	"bufio"
	"io"
)

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
