package dwarf2sym

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// A container that is not ELF. After "BOX1" come the base and the number of sections, then
// the name, address, size of each, and whether it is code or loaded; then their bytes. It
// has no symbols and no ids.

// boxOf returns a box that contains the sections of a file.
func boxOf(t *testing.T, f *object.File) []byte {
	t.Helper()
	le := binary.LittleEndian
	head := le.AppendUint64([]byte("BOX1"), f.Base)
	var all []*object.Section
	for _, s := range f.Sections {
		if s.HasData() && s.Name != "" {
			all = append(all, s)
		}
	}
	head = le.AppendUint16(head, uint16(len(all)))
	var rest []byte
	for _, s := range all {
		data, err := s.Data()
		if err != nil {
			t.Fatal(err)
		}
		head = append(append(head, byte(len(s.Name))), s.Name...)
		head = le.AppendUint32(le.AppendUint64(head, s.Addr), uint32(len(data)))
		head = append(head, byte(oneIf(s.Alloc)|oneIf(s.Exec)<<1))
		rest = append(rest, data...)
	}
	return append(head, rest...)
}

// openBox opens a box.
func openBox(data []byte) *object.File {
	le := binary.LittleEndian
	f := &object.File{
		Path: "box", Size: int64(len(data)), Kind: object.Shared, KindName: "box", Arch: arch.X86_64, CPU: "x86-64",
		AddrSize: 8, Order: le, CodeOrder: le, Base: le.Uint64(data[4:]),
	}
	n, at := int(le.Uint16(data[12:])), 14
	var sizes []int
	for range n {
		name := string(data[at+1:][:data[at]])
		at += 1 + len(name)
		size := le.Uint32(data[at+8:])
		s := &object.Section{Name: name, Addr: le.Uint64(data[at:]), FileSize: uint64(size), MemSize: uint64(size), Alloc: data[at+12]&1 != 0, Exec: data[at+12]&2 != 0}
		at += 13
		f.Sections, sizes = append(f.Sections, s), append(sizes, int(size))
	}
	for i, s := range f.Sections {
		s.Contents = boxed(data[at:][:sizes[i]:sizes[i]])
		at += sizes[i]
	}
	f.Container = &object.SectionsOnly{Sections: f.Sections}
	return f
}

// boxed is the contents of a section in a box.
type boxed []byte

func (b boxed) HasData() bool                { return len(b) > 0 }
func (b boxed) Stripped() bool               { return false }
func (b boxed) Size() int64                  { return int64(len(b)) }
func (b boxed) Compression() string          { return "" }
func (b boxed) Data() ([]byte, error)        { return b, nil }
func (b boxed) Map() ([]byte, error)         { return b, nil }
func (b boxed) Drop()                        {}
func (b boxed) Release()                     {}
func (b boxed) Open() (object.Source, error) { return b, nil }
func (b boxed) Bytes(off, n int64, _ []byte) ([]byte, error) {
	if off < 0 || n < 0 || off > b.Size() || n > b.Size()-off {
		return nil, fmt.Errorf("%d bytes at %d of %d", n, off, len(b))
	}
	return b[off : off+n], nil
}

// The package does not depend on the container: DWARF and call frame information in a box
// give the same dump as in the ELF file whose sections it contains.
func TestOtherContainer(t *testing.T) {
	for _, name := range []string{"gcc-dwarf5", "clang-dwarf4", "clang-dwarf64", "compressed-zstd", "rust-v0"} {
		t.Run(name, func(t *testing.T) {
			f, err := objfile.Open(testenv.Input(t, name+".elf"), object.DefaultLimits())
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			want, got := dumped(t, f), dumped(t, openBox(boxOf(t, f)))
			if !strings.Contains(want, "\nFUNC ") || !strings.Contains(want, "\nSTACK CFI INIT ") {
				t.Fatalf("too little to compare:\n%.500s", want)
			}
			if got != want {
				t.Errorf("from a box:\n%.2000s\nwant:\n%.2000s", got, want)
			}
		})
	}
}

// dumped returns the symbol file of a binary, without PUBLIC records and rules of instructions: a box has no
// symbols, and is not ELF.
func dumped(t *testing.T, f *object.File) string {
	t.Helper()
	report, err := Read(context.Background(), f, Options{Jobs: 2, Name: "x", ID: "0", Demangle: true, CFI: CFIDWARF})
	if err != nil || len(report.Problems) > 0 {
		t.Fatal(cmp.Or(err, fmt.Errorf("%v", report.Problems)))
	}
	m := report.Module
	m.Publics, m.Infos = nil, nil
	var b bytes.Buffer
	if err := symfmt.Write(&b, m, symfmt.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
