package peobj

import (
	"bytes"
	"compress/zlib"
	"debug/pe"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/testenv"
)

func openBytes(t testing.TB, data []byte, path string) *object.File {
	t.Helper()
	f, err := NewFile(bytes.NewReader(data), int64(len(data)), path, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f.Object()
}

// images returns the PE files in the repository and in the shared data.
func images(t testing.TB) (paths []string) {
	own, err := filepath.Glob(filepath.Join(testenv.Input(t), "pe-*"))
	if err != nil || len(own) == 0 {
		t.Fatal(own, err)
	}
	for _, path := range append(own, testenv.SharedGlob(t, "data", "pe", "*", "*", "*")...) {
		switch filepath.Ext(path) {
		case ".exe", ".dll", ".bin":
			paths = append(paths, path)
		}
	}
	return paths
}

// Headers, sections and COFF symbols match debug/pe's.
func TestDebugPE(t *testing.T) {
	for _, path := range images(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want, err := pe.NewFile(bytes.NewReader(data))
		if err != nil {
			t.Logf("%s: debug/pe: %v", path, err)
			continue
		}
		o := openBytes(t, data, path)
		f := Of(o)
		if f.header != want.FileHeader {
			t.Errorf("%s: header %+v, want %+v", path, f.header, want.FileHeader)
		}
		if len(o.Sections) != len(want.Sections) {
			t.Fatalf("%s: %d sections, want %d", path, len(o.Sections), len(want.Sections))
		}
		for i, s := range want.Sections {
			got := o.Sections[i]
			if got.Name != s.Name || got.Addr != o.Base+uint64(s.VirtualAddress) {
				t.Errorf("%s: section %s at %#x, want %s at %#x", path, got.Name, got.Addr, s.Name, s.VirtualAddress)
			}
			bytesOf, err := s.Data()
			if err != nil || !got.HasData() || got.Compression() != "" {
				continue
			}
			data, err := got.Data()
			if err != nil || !bytes.Equal(data, bytesOf[:min(len(bytesOf), len(data))]) {
				t.Errorf("%s: contents of %s: %v", path, s.Name, err)
			}
		}
		compareSymbols(t, path, o, want)
	}
}

func compareSymbols(t *testing.T, path string, o *object.File, want *pe.File) {
	t.Helper()
	var got, all []string
	err := o.Symbols(object.Symtab, func(s *object.Symbol) { got = append(got, string(s.Name)) })
	if err != nil {
		t.Errorf("%s: %v", path, err)
	}
	for _, s := range want.Symbols {
		name := s.Name
		if s.SectionNumber <= 0 || int(s.SectionNumber) > len(want.Sections) {
			continue
		}
		if want.Machine == pe.IMAGE_FILE_MACHINE_I386 && len(name) > 1 && strings.ContainsAny(name[:1], "_@") {
			name = name[1:]
		}
		all = append(all, name)
	}
	if !slices.Equal(got, all) {
		t.Errorf("%s: %d symbols, want %d", path, len(got), len(all))
	}
}

func TestFacts(t *testing.T) {
	o := openBytes(t, testenv.ReadInput(t, "pe-unwind64.exe"), "dir/pe-unwind64.exe")
	if o.OS != "windows" || o.Arch.Name != "x86_64" || o.Base != 0x140000000 || o.KindName != "PE32+ program" {
		t.Errorf("%s %s %#x %s", o.OS, o.Arch.Name, o.Base, o.KindName)
	}
	var names []string
	if err := o.Symbols(object.Dynamic, func(s *object.Symbol) { names = append(names, string(s.Name)) }); err != nil {
		t.Error(err)
	}
	if want := []string{"exported", "increment", "successor", "tail", "variable"}; !slices.Equal(names, want) {
		t.Errorf("exports %q, want %q: the forwarder has no code", names, want)
	}
	if id := o.CodeID(nil, o.Path); !strings.HasSuffix(id, " pe-unwind64.exe") {
		t.Errorf("code id %q", id)
	}
	if s, err := o.Located(".pdata"); s == nil || err != nil || s.Size()%12 != 0 {
		t.Errorf(".pdata: %v, %v", s, err)
	}
	o = openBytes(t, testenv.ReadInput(t, "pe-mingw64.dll"), "x")
	if !o.HasDWARF() || o.BuildID() == nil || o.ID() != "995D3282FF2182D34C4C44205044422E1" {
		t.Errorf("DWARF %v, id %s", o.HasDWARF(), o.ID())
	}
	if name, err := o.Name(); name != "" || err != nil {
		t.Errorf("name of a PDB without path: %q, %v", name, err)
	}
}

// An ARM64EC image claims to be for x64, but is for arm64. Rules of x64 code, and those that damaged metadata hide,
// are missing.
func TestHybrid(t *testing.T) {
	const directories = 0x78 + 24 + 112 // in this file
	le := binary.LittleEndian
	data := testenv.ReadInput(t, "pe-arm64ec.exe")
	config := bytes.Index(data, append(le.AppendUint32(nil, 0x140), make([]byte, 0xc4)...)) // its size, followed by zeros up to the metadata
	for name, c := range map[string]struct {
		change func(data []byte)
		cpu    string
		pdata  bool
		want   string
	}{
		"as it is":      {func([]byte) {}, "arm64", true, ""},
		"rules of x64":  {func(b []byte) { le.PutUint32(b[directories+3*8+4:], 12) }, "arm64", true, "STACK CFI of x64 code"},
		"no metadata":   {func(b []byte) { le.PutUint64(b[config+0xc8:], 0) }, "x86_64", false, ""},
		"metadata lost": {func(b []byte) { le.PutUint64(b[config+0xc8:], 0x14fff0000) }, "arm64", false, "STACK CFI of arm64 code"},
		"short":         {func(b []byte) { le.PutUint32(b[config:], 0xc0) }, "x86_64", false, ""},
	} {
		b := bytes.Clone(data)
		c.change(b)
		o := openBytes(t, b, "x.exe")
		var lost string
		for _, p := range o.Problems() {
			lost += p.Lost
		}
		s, err := o.Located(".pdata")
		if o.Arch.Name != c.cpu || err != nil || (s != nil) != c.pdata || lost != c.want {
			t.Errorf("%s: %s, .pdata %v, %v, lost %q; want %s, %v, %q", name, o.Arch.Name, s, err, lost, c.cpu, c.pdata, c.want)
		}
	}
}

// GNU objcopy leaves data sections out of debug files and gives their symbols the number of the first section.
// They do not name code.
func TestLostSection(t *testing.T) {
	const lost = 4 // .data
	data := testenv.ReadInput(t, "pe-mingw64.dll")
	le := binary.LittleEndian
	head := data[le.Uint32(data[0x3c:]):]
	symbols := data[le.Uint32(head[12:]):]
	for i := range le.Uint32(head[16:]) {
		number := symbols[18*i+12:]
		switch n := int16(le.Uint16(number)); {
		case n == lost:
			le.PutUint16(number, 1)
		case n > lost:
			le.PutUint16(number, uint16(n-1))
		}
	}
	untyped := func(o *object.File) (names []string) {
		err := o.Symbols(object.Symtab, func(s *object.Symbol) {
			if s.Section.Exec && s.Kind == object.Untyped {
				names = append(names, string(s.Name))
			}
		})
		if err != nil {
			t.Error(err)
		}
		return names
	}
	if got := untyped(openBytes(t, data, "x")); !slices.Contains(got, "sink") {
		t.Errorf("with all sections: %q", got)
	}
	sections := head[24+le.Uint16(head[20:]):]
	copy(sections[(lost-1)*40:], sections[lost*40:int(le.Uint16(head[6:]))*40])
	le.PutUint16(head[6:], le.Uint16(head[6:])-1)
	if got := untyped(openBytes(t, data, "x")); len(got) > 0 {
		t.Errorf("without .data: %q", got)
	}
}

// A section with the header that Go's linker writes is inflated.
func TestCompressed(t *testing.T) {
	data := testenv.ReadInput(t, "pe-mingw64.dll")
	f := Of(openBytes(t, data, "x"))
	want := bytes.Repeat([]byte("debug information "), 300)
	packed := bytes.NewBuffer(binary.BigEndian.AppendUint64([]byte("ZLIB"), uint64(len(want))))
	w := zlib.NewWriter(packed)
	w.Write(want)
	w.Close()
	i := slices.IndexFunc(f.sections, func(s *section) bool { return int(s.raw) > packed.Len() })
	copy(data[f.sections[i].offset:], packed.Bytes())
	headers := int(binary.LittleEndian.Uint32(data[newHeaderAt:])) + signatureSize + fileHeaderSize + int(f.header.SizeOfOptionalHeader)
	copy(data[headers+i*sectionSize:], ".zdebug_")
	s := openBytes(t, data, "x").Sections[i]
	if got, err := s.Data(); err != nil || s.Compression() != object.Zlib || !bytes.Equal(got, want) {
		t.Errorf("%s, %q: %d bytes, want %d: %v", s.Name, s.Compression(), len(got), len(want), err)
	}
}

func TestCodeView(t *testing.T) {
	guid := "\x01\x02\x03\x04\x05\x06\x07\x08abcdefgh"
	for _, c := range []struct{ record, id, name string }{
		{"RSDS" + guid + "\x1b\x00\x00\x00C:\\a\\b.pdb\x00junk", "04030201060508076162636465666768" + "1B", "b.pdb"},
		{"RSDS" + guid + "\x01\x00\x00\x00/a/b.pdb", "04030201060508076162636465666768" + "1", "b.pdb"},
		{"NB10\x00\x00\x00\x00\x78\x56\x34\x12\x02\x00\x00\x00x.pdb\x00", "123456782", "x.pdb"},
	} {
		f := File{codeView: parseCodeView([]byte(c.record))}
		if f.codeView == nil {
			t.Fatalf("%q is not read", c.record)
		}
		if name, _ := f.Name(); f.moduleID(f.BuildID()) != c.id || name != c.name {
			t.Errorf("%q: id %s, name %s", c.record, f.moduleID(f.BuildID()), name)
		}
	}
	if parseCodeView([]byte("RSDS")) != nil || parseCodeView(nil) != nil {
		t.Error("a record that is cut off is read")
	}
}

func TestNotPE(t *testing.T) {
	for _, data := range []string{"MZ", "MZ" + strings.Repeat("\x00", 100), "MZ" + strings.Repeat("\xff", 100)} {
		_, err := NewFile(strings.NewReader(data), int64(len(data)), "x.exe", object.DefaultLimits())
		if err == nil || err.Error() != "x.exe: not a PE file: a DOS program" {
			t.Errorf("%q: %v", data[:2], err)
		}
	}
}

// Any prefix of a file, and any changed byte in the headers, is read or rejected.
func TestDamage(t *testing.T) {
	for _, name := range []string{"pe-unwind64.exe", "pe-mingw32.dll"} {
		data := testenv.ReadInput(t, name)
		for n := 0; n < len(data); n += 7 {
			exercise(data[:n])
		}
		for at := range min(len(data), 0x600) {
			bad := bytes.Clone(data)
			bad[at] ^= 0xff
			exercise(bad)
		}
	}
}

// exercise reads everything in a file.
func exercise(data []byte) {
	f, err := NewFile(bytes.NewReader(data), int64(len(data)), "x", object.DefaultLimits())
	if err != nil {
		return
	}
	defer f.Close()
	o := f.Object()
	for _, s := range o.Sections {
		if data, err := s.Data(); err == nil && int64(len(data)) != s.Size() {
			panic("a section has another size than it says")
		}
		if src, err := s.Open(); err == nil {
			src.Bytes(0, src.Size(), nil)
		}
		s.Map()
		s.Release()
	}
	for _, table := range []object.Table{object.Symtab, object.Dynamic} {
		o.Symbols(table, func(s *object.Symbol) {
			names, _ := o.SymbolNames(table)
			if string(names[s.NameOff:][:len(s.Name)]) != string(s.Name) {
				panic("a name is not where it says")
			}
		})
	}
	o.Located(".pdata")
	o.DebugLink()
	o.ID()
	o.Name()
	o.CodeID(nil, o.Path)
}

func FuzzPE(f *testing.F) {
	for _, name := range []string{"pe-unwind64.exe", "pe-unwindarm64.exe", "pe-arm64ec.exe", "pe-mingw32.dll"} {
		f.Add(testenv.ReadInput(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) { exercise(data) })
}
