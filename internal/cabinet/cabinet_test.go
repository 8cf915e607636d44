package cabinet

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// spec describes a cabinet to build.
type spec struct {
	method   uint16
	before   []byte // contents of another file that precedes it in the folder
	contents []byte
	reserve  bool // reserve bytes after the header, the folder and each block's header
}

// build builds a cabinet. MSZIP blocks refer to the previous block.
func build(t testing.TB, c spec) []byte {
	t.Helper()
	le := binary.LittleEndian
	perHeader, perFolder, perBlock := 0, 0, 0
	head := append([]byte(Magic), make([]byte, 32)...)
	le.PutUint16(head[26:], 1)
	le.PutUint16(head[28:], 1)
	if c.reserve {
		perHeader, perFolder, perBlock = 5, 3, 2
		le.PutUint16(head[30:], flagReserve)
		head = append(le.AppendUint16(head, uint16(perHeader)), byte(perFolder), byte(perBlock))
		head = append(head, make([]byte, perHeader)...)
	}
	files := len(head) + folderSize + perFolder
	le.PutUint32(head[16:], uint32(files))
	file := make([]byte, fileSize)
	le.PutUint32(file, uint32(len(c.contents)))
	le.PutUint32(file[4:], uint32(len(c.before)))
	file = append(file, "x.pdb\x00"...)
	folder := make([]byte, folderSize+perFolder)
	le.PutUint32(folder, uint32(files+len(file)))
	le.PutUint16(folder[6:], c.method)
	all := append(bytes.Clone(c.before), c.contents...)
	var blocks, window []byte
	n := 0
	for ; len(all) > 0; n++ {
		part := all[:min(len(all), maxBlock)]
		all = all[len(part):]
		data := part
		if c.method == methodMSZIP {
			var b bytes.Buffer
			b.WriteString("CK")
			z, err := flate.NewWriterDict(&b, flate.BestCompression, window)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := z.Write(part); err != nil || z.Close() != nil {
				t.Fatal(err)
			}
			data, window = b.Bytes(), part
		}
		blocks = le.AppendUint32(blocks, 0)
		blocks = le.AppendUint16(blocks, uint16(len(data)))
		blocks = le.AppendUint16(blocks, uint16(len(part)))
		blocks = append(append(blocks, make([]byte, perBlock)...), data...)
	}
	le.PutUint16(folder[4:], uint16(n))
	return bytes.Join([][]byte{head, folder, file, blocks}, nil)
}

// noise returns text that compresses, and that repeats across block boundaries.
func noise(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	line := make([]byte, 300)
	for i := range line {
		line[i] = byte(r.IntN(20))
	}
	var out []byte
	for len(out) < n {
		out = append(out, line[r.IntN(100):100+r.IntN(200)]...)
	}
	return out[:n]
}

func TestUnpack(t *testing.T) {
	for _, size := range []int{0, 1, maxBlock - 1, maxBlock, maxBlock + 1, 5*maxBlock + 77} {
		for _, method := range []uint16{methodNone, methodMSZIP} {
			for _, before := range []int{0, 100, 2 * maxBlock} {
				for _, reserve := range []bool{false, true} {
					want := noise(size)
					var got bytes.Buffer
					err := Unpack(&got, bytes.NewReader(build(t, spec{method, noise(before), want, reserve})))
					if err != nil || !bytes.Equal(got.Bytes(), want) {
						t.Errorf("%d bytes, method %d, %d before, reserve %v: %v, %d bytes", size, method, before, reserve, err, got.Len())
					}
				}
			}
		}
	}
}

// TestDamaged cuts and changes a cabinet: Unpack must return an error or the right number of bytes.
func TestDamaged(t *testing.T) {
	whole := build(t, spec{method: methodMSZIP, contents: noise(3 * maxBlock)})
	for n := range len(whole) {
		if err := Unpack(io.Discard, bytes.NewReader(whole[:n])); err == nil {
			t.Fatalf("no error for %d of %d bytes", n, len(whole))
		}
	}
	le := binary.LittleEndian
	for name, c := range map[string]struct {
		change func(b []byte)
		want   error
	}{
		"lzx":       {func(b []byte) { le.PutUint16(b[headerSize+6:], 0x1503) }, ErrMethod},
		"previous":  {func(b []byte) { le.PutUint16(b[30:], flagPrevious) }, ErrSpans},
		"continued": {func(b []byte) { le.PutUint16(b[headerSize+folderSize+8:], 0xffff) }, ErrSpans},
		"magic":     {func(b []byte) { b[0] = 'X' }, nil},
		"files":     {func(b []byte) { le.PutUint32(b[16:], 3) }, nil},
		"data":      {func(b []byte) { le.PutUint32(b[headerSize:], 1<<31) }, nil},
		"none":      {func(b []byte) { le.PutUint16(b[26:], 0) }, nil},
		"folder":    {func(b []byte) { le.PutUint16(b[headerSize+folderSize+8:], 1) }, nil},
		"longer":    {func(b []byte) { le.PutUint32(b[headerSize+folderSize:], 1<<31) }, nil},
	} {
		b := bytes.Clone(whole)
		c.change(b)
		err := Unpack(io.Discard, bytes.NewReader(b))
		var format *FormatError
		if c.want != nil && !errors.Is(err, c.want) || c.want == nil && !errors.As(err, &format) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestNames reads the names of the next cabinet and its disk, and checks that names over the limit are rejected.
func TestNames(t *testing.T) {
	b := build(t, spec{contents: []byte("text")})
	le := binary.LittleEndian
	le.PutUint16(b[30:], flagNext)
	for _, n := range []int{0, maxName, maxName + 1, 1 << 20} {
		names := append(append(bytes.Repeat([]byte("n"), n), 0), "disk\x00"...)
		named := slices.Concat(b[:headerSize], names, b[headerSize:])
		for _, at := range []int{16, headerSize + len(names)} { // offsets where the files and the blocks begin
			le.PutUint32(named[at:], le.Uint32(named[at:])+uint32(len(names)))
		}
		var out bytes.Buffer
		in := bytes.NewReader(named)
		err := Unpack(&out, in)
		var bad *FormatError
		if n <= maxName && (err != nil || out.String() != "text") || n > maxName && !errors.As(err, &bad) {
			t.Errorf("a name of %d bytes: %q, error %v", n, &out, err)
		}
		if read := len(named) - in.Len(); n > maxName && read > 1<<16 {
			t.Errorf("a name of %d bytes: read %d bytes", n, read)
		}
	}
}

// TestReal unpacks another project's cabinet, which contains a PDB.
func TestReal(t *testing.T) {
	path := testenv.Shared(t, "pe/real/mozilla-dump_syms/basic32.pd_")
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var got bytes.Buffer
	if err := Unpack(&got, in); err != nil {
		t.Fatal(err)
	}
	if got.Len() != 0x649000 || !bytes.HasPrefix(got.Bytes(), []byte("Microsoft C/C++ MSF 7.00")) {
		t.Errorf("%d bytes that begin %q", got.Len(), got.Bytes()[:24])
	}
}

func FuzzUnpack(f *testing.F) {
	for _, method := range []uint16{methodNone, methodMSZIP} {
		f.Add(build(f, spec{method, noise(10), noise(maxBlock + 5), true}))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var out bytes.Buffer
		err := Unpack(&out, bytes.NewReader(data))
		if most := 1100 * len(data); out.Len() > most {
			t.Errorf("%d bytes of %d (%v)", out.Len(), len(data), err)
		}
	})
}
