package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/symtool/symtool/internal/testenv"
)

// file is a member of an archive built by a test.
type file struct {
	name, contents string
}

// makers builds an archive of each format that is read.
var makers = map[string]func(t *testing.T, files ...file) []byte{
	"tar":     makeTar,
	"tar.gz":  func(t *testing.T, files ...file) []byte { return gzipped(t, makeTar(t, files...)) },
	"tar.xz":  func(t *testing.T, files ...file) []byte { return xzPacked(t, makeTar(t, files...)) },
	"tar.zst": func(t *testing.T, files ...file) []byte { return zstdPacked(t, makeTar(t, files...)) },
	"deb": func(t *testing.T, files ...file) []byte {
		return makeDeb(t, file{"data.tar.xz", string(xzPacked(t, makeTar(t, files...)))})
	},
	"plain deb": func(t *testing.T, files ...file) []byte {
		return makeDeb(t, file{"data.tar", string(makeTar(t, files...))})
	},
	"rpm":  makeRPM,
	"zip":  makeZip,
	"cpio": func(_ *testing.T, files ...file) []byte { return makeCPIO(cpioNew, files...) },
	"odc":  func(_ *testing.T, files ...file) []byte { return makeCPIO(cpioOld, files...) },
	"apk":  makeAPK,
}

func gzipped(t *testing.T, data []byte) []byte {
	return testenv.Packed(t, data, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil })
}

func xzPacked(t *testing.T, data []byte) []byte {
	return testenv.Packed(t, data, func(w io.Writer) (io.WriteCloser, error) { return xz.WriterConfig{DictCap: 1 << 16}.NewWriter(w) })
}

func zstdPacked(t *testing.T, data []byte) []byte {
	return testenv.Packed(t, data, func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) })
}

func makeTar(t *testing.T, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		if err := w.WriteHeader(&tar.Header{Name: f.name, Mode: 0o644, Size: int64(len(f.contents))}); err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, f.contents)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func makeDeb(_ *testing.T, data file) []byte {
	var b bytes.Buffer
	b.WriteString(arMagic)
	for _, f := range []file{{debFirst, "2.0\n"}, {"control.tar", "odd"}, data} {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8o%-10d%s%s", f.name, 0, 0, 0, 0o100644, len(f.contents), arEnd, f.contents)
		if len(f.contents)%2 > 0 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

func makeRPM(t *testing.T, files ...file) []byte {
	var b bytes.Buffer
	b.WriteString(rpmMagic)
	b.Write(make([]byte, rpmLead-len(rpmMagic)))
	for _, store := range []uint32{5, 3} {
		b.WriteString(rpmHeader)
		b.Write(binary.BigEndian.AppendUint32(make([]byte, 4), 1))
		b.Write(binary.BigEndian.AppendUint32(nil, store))
		b.Write(make([]byte, rpmEntry+store))
		if store == 5 { // the header of signatures is padded
			b.Write(make([]byte, 3))
		}
	}
	b.Write(zstdPacked(t, makeCPIO(cpioNew, files...)))
	return b.Bytes()
}

func makeCPIO(magic string, files ...file) []byte {
	var b bytes.Buffer
	for _, f := range append(files, file{cpioTrailer, ""}) {
		mode, length := modeRegular|0o644, len(f.name)+1
		if magic == cpioOld {
			fmt.Fprintf(&b, "%s%06o%06o%06o%018o%06o%011o%06o%011o%s\x00%s", magic, 0, 0, mode, 0, 0, 0, length, len(f.contents), f.name, f.contents)
			continue
		}
		fmt.Fprintf(&b, "%s%08x%08x%032x%08x%032x%08x%08x%s\x00", magic, 0, mode, 0, len(f.contents), 0, length, 0, f.name)
		b.Write(make([]byte, -b.Len()&3))
		b.WriteString(f.contents)
		b.Write(make([]byte, -b.Len()&3))
	}
	return b.Bytes()
}

func makeZip(t *testing.T, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i, f := range files {
		m, err := w.CreateHeader(&zip.FileHeader{Name: f.name, Method: []uint16{zip.Store, zip.Deflate}[i%2]})
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(m, f.contents)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// makeAPK builds an Alpine package: three compressed pieces of a tar archive, only the last of which has the
// archive's end.
func makeAPK(t *testing.T, files ...file) []byte {
	var b bytes.Buffer
	for _, name := range []string{".SIGN.RSA", ".PKGINFO"} {
		piece := makeTar(t, file{name, "text"})
		b.Write(gzipped(t, piece[:len(piece)-2*tarBlock]))
	}
	b.Write(gzipped(t, makeTar(t, files...)))
	return b.Bytes()
}
