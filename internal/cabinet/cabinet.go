// Package cabinet unpacks the first file of a cabinet, Microsoft's archive, in which symbol servers keep
// compressed files: program.ex_ is a cabinet with program.exe.
//
// Structures: "Microsoft Cabinet Format" and "Microsoft MSZIP Compression and Decompression Data Structure"
// ([MS-CAB], [MS-MCI]).
package cabinet

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Errors for cabinets that cannot be unpacked.
var (
	ErrMethod = errors.New("compressed by a method other than MSZIP: unpack it with cabextract")
	ErrSpans  = errors.New("continued in another cabinet")
)

// FormatError describes an error in a cabinet's structure.
type FormatError struct {
	Offset int64 // byte offset where the structure begins
	Msg    string
}

func (e *FormatError) Error() string { return fmt.Sprintf("cabinet: offset %#x: %s", e.Offset, e.Msg) }

// Magic begins every cabinet.
const Magic = "MSCF"

const (
	headerSize = 36
	folderSize = 8
	fileSize   = 16
	blockSize  = 8
	maxBlock   = 32 << 10 // bytes in a block, decompressed
	maxName    = 255      // bytes of the name of a cabinet or a disk

	flagPrevious, flagNext, flagReserve = 1, 2, 4

	methodMask  = 0xf
	methodNone  = 0
	methodMSZIP = 1

	continuedFirst = 0xfffd // folders with this number or above continue in other cabinets
)

// Unpack writes the first file of the cabinet in r to w. The file must be in the first folder. Unpack reads r
// only to the end of the file, and holds one block in memory. The output is cut at the length that the cabinet
// records for the file.
func Unpack(w io.Writer, r io.Reader) error {
	u := &unpacker{in: bufio.NewReader(r), deflated: flate.NewReader(nil)}
	folder, err := u.head()
	if err != nil {
		return err
	}
	return u.blocks(w, folder)
}

// unpacker reads a cabinet from front to back.
type unpacker struct {
	in      *bufio.Reader
	pos     int64
	reserve int   // bytes before the data of each block
	left    int64 // bytes of the file still to be written
	skip    int64 // bytes before the file in its folder

	deflated io.ReadCloser // reset for each block
}

func (u *unpacker) errorf(off int64, format string, args ...any) error {
	return &FormatError{off, fmt.Sprintf(format, args...)}
}

func (u *unpacker) read(n int) ([]byte, error) {
	b := make([]byte, n)
	got, err := io.ReadFull(u.in, b)
	u.pos += int64(got)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, u.errorf(u.pos, "the cabinet ends early")
	}
	return b, err
}

// seek skips to an offset, which must not be before the current position.
func (u *unpacker) seek(off int64) error {
	if off < u.pos {
		return u.errorf(u.pos, "a part at %#x, which is before this", off)
	}
	n, err := io.CopyN(io.Discard, u.in, off-u.pos)
	u.pos += n
	if errors.Is(err, io.EOF) {
		return u.errorf(u.pos, "the cabinet ends early")
	}
	return err
}

// folder is a sequence of blocks that holds files one after the other.
type folder struct {
	data   int64 // offset of the first block
	blocks int
	method int
}

// head reads up to and including the record of the first file, and returns the first folder.
func (u *unpacker) head() (folder, error) {
	h, err := u.read(headerSize)
	if err != nil {
		return folder{}, err
	}
	if string(h[:len(Magic)]) != Magic {
		return folder{}, u.errorf(0, "begins with % x, want % x", h[:len(Magic)], Magic)
	}
	files, folders, flags := u32(h[16:]), u16(h[26:]), u16(h[30:])
	switch {
	case u16(h[28:]) == 0 || folders == 0:
		return folder{}, u.errorf(26, "no files or folders")
	case flags&flagPrevious != 0:
		return folder{}, ErrSpans
	}
	perFolder, err := u.optional(flags)
	if err != nil {
		return folder{}, err
	}
	b, err := u.read(folderSize + perFolder)
	if err != nil {
		return folder{}, err
	}
	f := folder{data: int64(u32(b)), blocks: int(u16(b[4:])), method: int(u16(b[6:]) & methodMask)}
	if f.method != methodNone && f.method != methodMSZIP {
		return folder{}, ErrMethod
	}
	if err := u.seek(int64(files)); err != nil {
		return folder{}, err
	}
	at := u.pos
	if b, err = u.read(fileSize); err != nil {
		return folder{}, err
	}
	switch in := u16(b[8:]); {
	case in >= continuedFirst:
		return folder{}, ErrSpans
	case in != 0:
		return folder{}, u.errorf(at, "the first file is in folder %d, want 0", in)
	}
	u.left, u.skip = int64(u32(b)), int64(u32(b[4:]))
	return f, u.seek(f.data)
}

// optional reads the optional fields of the header, and returns the number of reserved bytes after each folder.
func (u *unpacker) optional(flags uint16) (perFolder int, err error) {
	if flags&flagReserve != 0 {
		b, err := u.read(4)
		if err != nil {
			return 0, err
		}
		perFolder, u.reserve = int(b[2]), int(b[3])
		if _, err := u.read(int(u16(b))); err != nil {
			return 0, err
		}
	}
	if flags&flagNext != 0 { // the names of the cabinet and the disk that hold the next part
		for range 2 {
			if err := u.skipName(); err != nil {
				return 0, err
			}
		}
	}
	return perFolder, nil
}

// skipName skips a name of up to maxName bytes and its NUL.
func (u *unpacker) skipName() error {
	at := u.pos
	for range maxName + 1 {
		b, err := u.read(1)
		if err != nil {
			return err
		}
		if b[0] == 0 {
			return nil
		}
	}
	return u.errorf(at, "a name of more than %d bytes", maxName)
}

// blocks writes the file from the blocks of its folder.
func (u *unpacker) blocks(w io.Writer, f folder) error {
	window := make([]byte, 0, maxBlock) // the previous block, which matches refer to
	out := make([]byte, maxBlock)
	for i := 0; i < f.blocks && u.left > 0; i++ {
		at := u.pos
		h, err := u.read(blockSize + u.reserve)
		if err != nil {
			return err
		}
		size := int(u16(h[6:]))
		if size > maxBlock {
			return u.errorf(at, "a block of %d bytes, want at most %d", size, maxBlock)
		}
		data, err := u.read(int(u16(h[4:])))
		if err != nil {
			return err
		}
		if err := u.block(out[:size], data, window, f.method, at); err != nil {
			return err
		}
		window = append(window[:0], out[:size]...)
		if err := u.write(w, out[:size]); err != nil {
			return err
		}
	}
	if u.left > 0 {
		return u.errorf(u.pos, "%d bytes of the file are missing", u.left)
	}
	return nil
}

// block unpacks the data of a block, which is at offset at, into out.
func (u *unpacker) block(out, data, window []byte, method int, at int64) error {
	if method == methodNone {
		if len(data) != len(out) {
			return u.errorf(at, "a block of %d bytes, want %d", len(data), len(out))
		}
		copy(out, data)
		return nil
	}
	if len(data) < 2 || string(data[:2]) != "CK" {
		return u.errorf(at, "an MSZIP block does not begin with CK")
	}
	if err := u.deflated.(flate.Resetter).Reset(bytes.NewReader(data[2:]), window); err != nil {
		return err
	}
	if _, err := io.ReadFull(u.deflated, out); err != nil {
		return u.errorf(at, "an MSZIP block that cannot be unpacked: %v", err)
	}
	return nil
}

// write writes the part of a block that belongs to the file.
func (u *unpacker) write(w io.Writer, b []byte) error {
	n := min(u.skip, int64(len(b)))
	u.skip -= n
	b = b[n:]
	b = b[:min(u.left, int64(len(b)))]
	u.left -= int64(len(b))
	_, err := w.Write(b)
	return err
}

func u16(b []byte) uint16 { return binary.LittleEndian.Uint16(b) }
func u32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }
