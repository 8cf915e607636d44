package units

import (
	"bytes"
	"errors"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
)

// errSource is a section that cannot be read.
type errSource struct{ size int64 }

var errRead = errors.New("read")

func (s errSource) Size() int64                                { return s.size }
func (s errSource) Bytes(int64, int64, []byte) ([]byte, error) { return nil, errRead }

// Nothing is read from a mapped section, and the caller's buffer does not become part of the mapping, which would be
// overwritten when another section is read into the buffer.
func TestBytesOfView(t *testing.T) {
	d := &Data{Sections: dwarf.Sections{Info: errSource{8}}, view: []byte("01234567")}
	var buf []byte
	if b, err := d.Bytes(2, 6, &buf); err != nil || !bytes.Equal(b, []byte("234567")) || cap(b) != 6 || buf != nil {
		t.Errorf("%q, capacity %d, %v, with a buffer of %d bytes", b, cap(b), err, cap(buf))
	}
	for _, at := range [][2]uint64{{3, 6}, {9, 0}, {8, 1}, {1, ^uint64(0)}} {
		if b, err := d.Bytes(at[0], at[1], &buf); err != errRead {
			t.Errorf("%d bytes at %d: %q, %v", at[1], at[0], b, err)
		}
	}
}
