package code

import (
	"encoding/binary"
	"testing"

	"github.com/symtool/symtool/internal/object"
)

// ehReader reads the values of .eh_frame and .gcc_except_table (LSB 5.0, "Exception Frames"; GCC's unwind-pe.h).
type ehReader struct {
	data []byte
	addr uint64
	off  int
}

// next returns the next bytes: zeros at the end.
func (r *ehReader) next(n int) []byte {
	b := make([]byte, n)
	r.off += copy(b, r.data[min(r.off, len(r.data)):])
	return b
}

func (r *ehReader) u32() uint32 { return binary.LittleEndian.Uint32(r.next(4)) }

func (r *ehReader) byte() byte { return r.next(1)[0] }

func (r *ehReader) uleb() (v uint64) {
	for shift := 0; ; shift += 7 {
		b := r.byte()
		if v |= uint64(b&0x7f) << shift; b < 0x80 {
			return v
		}
	}
}

// pointer reads a pointer of an encoding (DW_EH_PE_*).
func (r *ehReader) pointer(enc byte) (v uint64) {
	at := r.addr + uint64(r.off)
	switch enc & 0xf {
	case 1:
		v = r.uleb()
	case 2:
		v = uint64(binary.LittleEndian.Uint16(r.next(2)))
	case 3:
		v = uint64(r.u32())
	case 0xb:
		v = uint64(int64(int32(r.u32())))
	default:
		v = binary.LittleEndian.Uint64(r.next(8))
	}
	if enc&0x70 == 0x10 && v != 0 {
		v += at
	}
	return v
}

// ehFunc is an FDE: its code, and the address of its language-specific data, or 0.
type ehFunc struct{ lo, hi, lsda uint64 }

// ehFuncs returns the FDEs of .eh_frame.
func ehFuncs(t *testing.T, f *object.File) (all []ehFunc) {
	t.Helper()
	s := f.Section(".eh_frame")
	if s == nil || !s.HasData() {
		return nil
	}
	data, err := s.Data()
	if err != nil {
		t.Fatal(err)
	}
	type cie struct {
		code, lsda byte
		augmented  bool
	}
	cies := map[int]cie{}
	for off := 0; off+8 <= len(data); {
		r := ehReader{data: data, addr: s.Addr, off: off}
		end := int(r.u32())
		if end == 0 {
			off += 4
			continue
		}
		end += r.off
		at := r.off
		if id := int(r.u32()); id == 0 {
			c := cie{lsda: 0xff}
			r.byte()
			aug := ""
			for b := r.byte(); b != 0; b = r.byte() {
				aug += string(rune(b))
			}
			r.uleb()
			r.uleb()
			r.uleb()
			for _, b := range aug {
				switch b {
				case 'z':
					c.augmented = true
					r.uleb()
				case 'R':
					c.code = r.byte()
				case 'L':
					c.lsda = r.byte()
				case 'P':
					r.pointer(r.byte())
				}
			}
			cies[off] = c
		} else {
			c := cies[at-id]
			fn := ehFunc{lo: r.pointer(c.code)}
			fn.hi = fn.lo + r.pointer(c.code&0xf)
			if c.augmented && r.uleb() > 0 && c.lsda != 0xff {
				fn.lsda = r.pointer(c.lsda)
			}
			all = append(all, fn)
		}
		off = end
	}
	return all
}

// landingPads returns where exceptions continue in a function.
func landingPads(f *object.File, fn *ehFunc) (all []uint64) {
	data := bytesOf(f)(fn.lsda)
	if fn.lsda == 0 || len(data) < 4 {
		return nil
	}
	r := ehReader{data: data, addr: fn.lsda}
	start := fn.lo
	if enc := r.byte(); enc != 0xff {
		start = r.pointer(enc)
	}
	if enc := r.byte(); enc != 0xff {
		r.uleb()
	}
	enc := r.byte()
	for end := int(r.uleb()) + r.off; r.off < min(end, len(data)); {
		r.pointer(enc)
		r.pointer(enc)
		if pad := r.pointer(enc); pad != 0 {
			all = append(all, start+pad)
		}
		r.uleb()
	}
	return all
}
