package objfile

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/testenv"
)

// A file whose container is not Separable has no debug file, and is not the debug file of
// another container's.
func TestOtherContainer(t *testing.T) {
	f, err := Open(testenv.Input(t, "gcc-dwarf5.elf"), object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	other := &object.File{Path: "x", Container: &object.Bare{}}
	if err := object.CheckPair(f, f); err != nil {
		t.Error(err)
	}
	if err := object.CheckPair(f, other); err == nil {
		t.Error("a pair of two containers")
	}
	if debug, tried, err := FindDebug(other, nil, object.DefaultLimits()); debug != nil || tried != nil || err != nil {
		t.Errorf("debug file: %v, %v, %v", debug, tried, err)
	}
	if sup, tried, err := FindSupplement(other, &object.Link{Name: "y"}, nil, object.DefaultLimits()); sup != nil || tried != nil || err != nil {
		t.Errorf("supplementary file: %v, %v, %v", sup, tried, err)
	}
	if !Begins([]byte("\x7fELF\x02")) || !Begins([]byte("MZ\x90")) || !Begins([]byte("\xcf\xfa\xed\xfe")) || !Begins([]byte("\xca\xfe\xba\xbe")) || Begins([]byte("MDMP")) || Begins(nil) {
		t.Error("what files of a known container begin with")
	}
	if f, err := Open(testenv.Input(t, "README.md"), object.DefaultLimits()); f != nil || err == nil {
		t.Errorf("a text is %v, %v", f, err)
	}
}

// A Windows binary without DWARF names its debug file in .gnu_debuglink, whose name is cut by linkers without long names
// of sections. Its checksum decides.
func TestDebugLinkOfPE(t *testing.T) {
	dir := t.TempDir()
	whole := testenv.ReadInput(t, "pe-mingw64.dll")
	bare := bytes.ReplaceAll(whole, []byte(".debug_"), []byte(".hidden"))
	header := bytes.Index(bare, []byte(".reloc\x00\x00"))
	link := binary.LittleEndian.AppendUint32([]byte("x.debug\x00"), crc32.ChecksumIEEE(whole))
	if size := binary.LittleEndian.Uint32(bare[header+8:]); size != uint32(len(link)) {
		t.Fatalf(".reloc has %d bytes, want %d", size, len(link))
	}
	copy(bare[header:], ".gnu_deb")
	copy(bare[binary.LittleEndian.Uint32(bare[header+20:]):], link)
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	f, err := Open(write("lib.dll", bare), object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	write("x.debug", append(bytes.Clone(whole), 0))
	if debug, tried, err := FindDebug(f, nil, object.DefaultLimits()); debug != nil || len(tried) == 0 || err != nil {
		t.Errorf("another checksum: %v, tried %v, %v", debug, tried, err)
	}
	path := write("x.debug", whole)
	debug, _, err := FindDebug(f, nil, object.DefaultLimits())
	if err != nil || debug == nil || debug.Path != path || f.HasDWARF() || !debug.HasDWARF() {
		t.Fatalf("%v, %v, want %s", debug, err, path)
	}
	debug.Close()
}
