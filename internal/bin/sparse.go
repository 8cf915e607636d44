package bin

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// sparseBlock is the size of the blocks of zeros that are not written to a temporary file. Most of
// a large core is zeros, which then take no disk space.
const sparseBlock = 64 << 10

// CopySparse copies r to a new file without writing zeros. It returns the number of bytes copied, the error of
// reading r, and the error of writing the file.
func CopySparse(f *os.File, r io.Reader) (n int64, broken, err error) {
	block, zeros := make([]byte, sparseBlock), make([]byte, sparseBlock)
	for broken == nil && err == nil {
		var k int
		k, broken = Fill(r, block)
		if !bytes.Equal(block[:k], zeros[:k]) {
			_, err = f.WriteAt(block[:k], n)
		}
		n += int64(k)
	}
	if errors.Is(broken, io.EOF) {
		broken = nil
	}
	if err == nil {
		err = f.Truncate(n)
	}
	return n, broken, err
}
