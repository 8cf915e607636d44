package hostile

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/ulikunitz/xz"
)

// tarEntry is an entry of a tar archive, and its contents.
type tarEntry struct {
	header tar.Header
	data   string
}

// tarOf returns a tar archive of n entries.
func tarOf(n int, entry func(i int) tarEntry) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := range n {
		e := entry(i)
		e.header.Size, e.header.Mode = int64(len(e.data)), 0o644
		if err := w.WriteHeader(&e.header); err != nil {
			panic(err)
		}
		io.WriteString(w, e.data)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// rawTar returns a header of a tar archive, with fields that package tar does not write, and the blocks with data
// after it.
func rawTar(name, size string, kind byte, fields map[int]string, data string) []byte {
	h := make([]byte, 512)
	copy(h, name)
	copy(h[100:], "0000644\x000000000\x000000000\x00"+size)
	copy(h[136:], "00000000000\x00        "+string(kind))
	copy(h[257:], "ustar  \x00")
	for at, text := range fields {
		copy(h[at:], text)
	}
	sum := 0
	for _, c := range h {
		sum += int(c)
	}
	copy(h[148:], fmt.Sprintf("%06o\x00 ", sum))
	return append(append(h, data...), make([]byte, -len(data)&511)...)
}

// octal encodes a size for a header.
func octal(n int) string { return fmt.Sprintf("%011o\x00", n) }

// paxRecord returns a record in a pax header.
func paxRecord(key, value string) string {
	n := len(key) + len(value) + 3
	for n < len(fmt.Sprint(n))+len(key)+len(value)+3 {
		n++
	}
	return fmt.Sprintf("%d %s=%s\n", n, key, value)
}

// withFile returns the beginning of an archive with an ELF file after it.
func withFile(archive []byte) []byte {
	return append(archive, tarWith(1, func(int) string { return packedELF(0, []byte{0x90, 0xc3}) })...)
}

// xzOf returns data in xz, with a dictionary that may be larger than the data.
func xzOf(data []byte, dictionary int) []byte {
	var b bytes.Buffer
	w, err := xz.WriterConfig{DictCap: dictionary}.NewWriter(&b)
	if err != nil {
		panic(err)
	}
	w.Write(data)
	w.Close()
	return b.Bytes()
}

// nestedTars returns an archive of k archives of k archives and so on, n deep, with an ELF file in each of the
// innermost ones.
func nestedTars(n, k int) []byte {
	inner := tarWith(1, func(int) string { return packedELF(0, []byte{0x90, 0xc3}) })
	for range n {
		packed := string(gzipped(inner))
		inner = tarWith(k, func(int) string { return packed })
	}
	return inner
}

// rpmOf returns an RPM package from the index of its header and its payload.
func rpmOf(entries, store uint32, index []byte, payload []byte) []byte {
	header := func(entries, store uint32, rest []byte) []byte {
		b := append([]byte("\x8e\xad\xe8\x01\x00\x00\x00\x00"), binary.BigEndian.AppendUint32(nil, entries)...)
		return append(binary.BigEndian.AppendUint32(b, store), rest...)
	}
	lead := append([]byte("\xed\xab\xee\xdb\x03\x00\x00\x00\x00\x01x"), make([]byte, 85)...)
	return append(append(append(lead, header(0, 0, nil)...), header(entries, store, index)...), payload...)
}

// archiveShapes are archives by kind, in the form that dump --store reads.
var archiveShapes = map[string]struct {
	n    int
	data func(n int) []byte
}{
	"tar-sparse": {500, func(n int) []byte {
		return withFile(repeat(n, func(i int) []byte {
			return rawTar("a", octal(512), 'S', map[int]string{386: octal(0) + octal(512) + octal(1<<33-513) + octal(0), 483: octal(1<<33 - 1)}, strings.Repeat("x", 512))
		}))
	}},
	"tar-sparse-map": {4000, func(n int) []byte {
		text := paxRecord("GNU.sparse.major", "0") + paxRecord("GNU.sparse.minor", "0") + paxRecord("GNU.sparse.size", fmt.Sprint(1<<40)) + paxRecord("GNU.sparse.numblocks", fmt.Sprint(n))
		for i := range n {
			text += paxRecord("GNU.sparse.offset", fmt.Sprint(4096*i)) + paxRecord("GNU.sparse.numbytes", "0")
		}
		return withFile(append(rawTar("x", octal(len(text)), 'x', nil, text), rawTar("a", octal(0), '0', nil, "")...))
	}},
	"tar-long-name": {1 << 20, func(n int) []byte {
		return withFile(rawTar("././@LongLink", octal(n), 'L', nil, strings.Repeat("a", n)))
	}},
	"tar-long-header": {1 << 20, func(n int) []byte {
		text := paxRecord("comment", strings.Repeat("x", n))
		return withFile(rawTar("x", octal(len(text)), 'x', nil, text))
	}},
	"tar-global-headers": {3000, func(n int) []byte {
		return withFile(repeat(n, func(i int) []byte {
			text := paxRecord("path", fmt.Sprint("x", i))
			return rawTar("g", octal(len(text)), 'g', nil, text)
		}))
	}},
	"tar-links": {5000, func(n int) []byte {
		return withFile(tarOf(n, func(i int) tarEntry {
			return tarEntry{header: tar.Header{Name: fmt.Sprint("l", i), Typeflag: tar.TypeLink, Linkname: "0"}}
		})[:512*n])
	}},
	"tar-places": {500, func(n int) []byte {
		names := []string{"../../../../x", "/x", "l", "l/x", "dev", "..\\..\\x", "con", "\x1b[31m", "\u202e"}
		kinds := []byte{tar.TypeReg, tar.TypeReg, tar.TypeSymlink, tar.TypeReg, tar.TypeChar, tar.TypeFifo, tar.TypeBlock, tar.TypeReg, tar.TypeReg}
		return tarOf(n, func(i int) tarEntry {
			e := tarEntry{header: tar.Header{Name: names[i%len(names)], Typeflag: kinds[i%len(names)], Linkname: "/"}}
			if e.header.Typeflag == tar.TypeReg {
				e.data = packedELF(i, []byte{0x90, 0xc3})
			}
			return e
		})
	}},
	"tar-sizes": {2000, func(n int) []byte {
		return repeat(n, func(int) []byte { return rawTar("a", "\x80\x00\x00\x00\x7f\xff\xff\xff\xff\xff\xff\xff", '0', nil, "") })
	}},
	"tar-negative-sizes": {2000, func(n int) []byte {
		return repeat(n, func(int) []byte { return rawTar("a", strings.Repeat("\xff", 12), '0', nil, "") })
	}},
	"xz-dictionaries": {1000, func(n int) []byte {
		one := xzOf([]byte("x"), 64<<20)
		return append(xzOf(withFile(nil), 1<<16), bytes.Repeat(one, n)...)
	}},
	"xz-zeros":  {8 << 20, func(n int) []byte { return xzOf(append(withFile(nil), make([]byte, n)...), 1<<20) }},
	"zst-zeros": {2000, func(n int) []byte { return bytes.Repeat(frameOfZstd(20, "\x02\x00\x10\x00"), n) }},
	"gz-tar-long-name": {8 << 20, func(n int) []byte {
		return packedText("gz", string(rawTar("././@LongLink", octal(n), 'L', nil, "")), strings.Repeat("a", 512), n)
	}},
	"gz-tar-long-header": {8 << 20, func(n int) []byte {
		return packedText("gz", string(rawTar("x", octal(n), 'x', nil, ""))+fmt.Sprintf("%d comment=", n), strings.Repeat("a", 512), n)
	}},
	"tars-of-two":  {20, func(n int) []byte { return tarWith(n, func(int) string { return string(gzipped(nestedTars(3, 2))) }) }},
	"tars-of-many": {10, func(n int) []byte { return tarWith(n, func(int) string { return string(gzipped(nestedTars(1, 10))) }) }},
	"zip-comments": {20000, func(n int) []byte {
		return append(zipWith(1, zip.Store, "text"), bytes.Repeat([]byte("PK\x05\x06"), n)...)
	}},
	"zip-one-large-file": {100, func(n int) []byte { return zipOfOneFile(n, zip.Deflate, make([]byte, 1<<20)) }},
	"zip64-counts": {4000, func(n int) []byte {
		one := zipWith(n, zip.Store, "text")
		at := bytes.LastIndex(one, []byte("PK\x01\x02"))
		end := pack([]byte("PK\x06\x06"), uint64(44), uint16(45), uint16(45), uint32(0), uint32(0), uint64(1)<<63, uint64(1)<<63, uint64(100), uint64(at))
		locator := pack([]byte("PK\x06\x07"), uint32(0), uint64(bytes.LastIndex(one, []byte("PK\x05\x06"))), uint32(1))
		last := pack([]byte("PK\x05\x06"), uint16(0), uint16(0), uint16(math.MaxUint16), uint16(math.MaxUint16), uint32(math.MaxUint32), uint32(math.MaxUint32), uint16(0))
		return append(append(append(one[:bytes.LastIndex(one, []byte("PK\x05\x06"))], end...), locator...), last...)
	}},
	"deb-data": {400, func(n int) []byte {
		data := gzipped(withFile(nil))
		member := func(name string, data []byte) []byte {
			b := fmt.Appendf(nil, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", name, 0, 0, 0, "644", len(data))
			return append(append(b, data...), "\n"[:len(data)&1]...)
		}
		return append(append([]byte("!<arch>\n"), member("debian-binary", []byte("2.0\n"))...), bytes.Repeat(member("data.tar.gz", data), n)...)
	}},
	"rpm-index": {20000, func(n int) []byte {
		index := repeat(n, func(i int) []byte {
			return binary.BigEndian.AppendUint64([]byte("\x00\x00\x03\xe8\x00\x00\x00\x04"), math.MaxInt32)
		})
		return rpmOf(uint32(n), uint32(n), append(index, make([]byte, n)...), gzipped(withFile(nil)))
	}},
	"rpm-counts": {100000, func(n int) []byte { return rpmOf(1<<20, 256<<20, make([]byte, n), nil) }},
	"lz4-blocks": {5000, func(n int) []byte { // of 4 MB; each is stored and has one byte
		return append([]byte("\x04\x22\x4d\x18\x60\x70\x73"), bytes.Repeat([]byte("\x01\x00\x00\x80x"), n)...)
	}},
	"lz4-frames": {5000, func(n int) []byte { return bytes.Repeat([]byte("\x04\x22\x4d\x18\x60\x70\x73\x00\x00\x00\x00"), n) }},
	"lz4-skipped": {20000, func(n int) []byte {
		return append([]byte("\x04\x22\x4d\x18\x60\x70\x73\x00\x00\x00\x00"), bytes.Repeat([]byte("\x50\x2a\x4d\x18\x00\x00\x00\x00"), n)...)
	}},
	"bzip2-streams": {5000, func(n int) []byte { return bytes.Repeat([]byte("BZh9\x17\x72\x45\x38\x50\x90\x00\x00\x00\x00"), n) }},
}

// hostileArchives returns packages that dump --store reads, and compressed data for the readers of dumps.
func hostileArchives() (kinds []hostileKind) {
	for name, s := range archiveShapes {
		kind := hostileKind{name: name, n: s.n, files: hostileFiles{"p.archive": s.data}, commands: []string{"dump --no-debuginfod --store out p.archive", "doctor p.archive"}}
		if strings.HasPrefix(name, "xz") || strings.HasPrefix(name, "lz4") || strings.HasPrefix(name, "bzip2") || strings.HasPrefix(name, "zst") {
			kind.commands = append(kind.commands, "walk p.archive", "inspect p.archive", "convert --to minidump -o out.dmp p.archive")
			kind.more = hostileDictionary
		}
		kinds = append(kinds, kind)
	}
	return kinds
}

// hostileDictionary is the memory that data in xz may take in addition, whatever its size (TestDictionary).
const hostileDictionary = 64 << 20
