package debugset

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// A Windows binary without DWARF names its debug file in .gnu_debuglink. Linkers without long section names cut the
// name of that section. The checksum in it decides.
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
	program := write("lib.dll", bare)
	write("x.debug", append(bytes.Clone(whole), 0))
	if set, tried := find(t, program, nil, false); set.Debug != nil || len(tried) == 0 || len(set.Problems) > 0 {
		t.Errorf("another checksum: %v, tried %v, %v", set.Debug, tried, set.Problems)
	}
	path := write("x.debug", whole)
	set, tried := find(t, program, nil, false)
	if set.Debug == nil || set.Debug.Path != path || set.Binary.HasDWARF() || !set.Debug.HasDWARF() {
		t.Fatalf("%v, tried %v, want %s", set.Debug, tried, path)
	}
}
