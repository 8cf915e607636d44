package hostile

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
)

// packedELF returns a small ELF file with the i-th build-id and additional sections.
func packedELF(i int, code []byte, sections ...elfSec) string {
	note := append([]byte("\x04\x00\x00\x00\x14\x00\x00\x00\x03\x00\x00\x00GNU\x00"), make([]byte, 20)...)
	binary.BigEndian.PutUint32(note[16:], uint32(i+1))
	return string(hostileFile(code, append(sections, elfSec{name: ".note.gnu.build-id", typ: 7, data: note}), nil))
}

// supSection returns the .debug_sup section of a supplementary file, or of a file that links to
// one (DWARF 5, 7.3.6).
func supSection(supplementary byte) elfSec {
	return elfSec{name: ".debug_sup", typ: 1, data: []byte{5, 0, supplementary, 'x', 0, 4, 1, 2, 3, 4}}
}

// tarWith returns a tar archive whose members are made while it is written.
func tarWith(n int, member func(i int) string) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := range n {
		data := member(i)
		if err := w.WriteHeader(&tar.Header{Name: fmt.Sprint("../", i), Mode: 0o644, Size: int64(len(data))}); err != nil {
			panic(err)
		}
		io.WriteString(w, data)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// zipWith returns a zip archive of n members, stored or compressed.
func zipWith(n int, method uint16, contents string) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := range n {
		m, err := w.CreateHeader(&zip.FileHeader{Name: fmt.Sprint("/", i), Method: method})
		if err != nil {
			panic(err)
		}
		io.WriteString(m, contents)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// hostilePackages returns packages with many members that belong together, or to nothing.
func hostilePackages() []hostileKind {
	code := []byte{0x90, 0xc3}
	kinds := map[string]struct {
		n    int
		data func(n int) []byte
	}{
		"same-id": {500, func(n int) []byte { return tarWith(n, func(int) string { return packedELF(0, code) }) }},
		"debug-alone": {500, func(n int) []byte {
			return tarWith(n, func(i int) string {
				return packedELF(i, nil, elfSec{name: ".debug_info", typ: 1, data: make([]byte, 8)})
			})
		}},
		"one-supplement": {500, func(n int) []byte {
			return tarWith(n, func(i int) string { return packedELF(i, code, supSection(0)) })
		}},
		"many-supplements": {500, func(n int) []byte {
			return tarWith(n, func(i int) string { return packedELF(i, nil, supSection(byte(i%2))) })
		}},
		"text":        {2000, func(n int) []byte { return tarWith(n, func(int) string { return "text" }) }},
		"zip-members": {10000, func(n int) []byte { return zipWith(n, zip.Store, "text") }},
		"zip-in-zip": {2000, func(n int) []byte {
			return zipWith(n/4, zip.Store, string(zipWith(1, zip.Store, strings.Repeat("x", 64))))
		}},
	}
	var all []hostileKind
	for name, k := range kinds {
		all = append(all, hostileKind{name: name, n: k.n, files: hostileFiles{"p.archive": k.data}, commands: []string{"dump --no-debuginfod --store out p.archive"}})
	}
	return all
}
