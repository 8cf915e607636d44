package minidump

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// TestFixtures keeps the small dumps in golden/input, which other packages' tests read, in
// step with the builder. GOLDIE_UPDATE=1 writes them.
func TestFixtures(t *testing.T) {
	for name, data := range map[string][]byte{
		"mini-windows.dmp":  windowsDump(binary.LittleEndian),
		"mini-linux.dmp":    linuxDump(binary.LittleEndian, contextCases[2]),
		"mini-linux-be.dmp": linuxDump(binary.BigEndian, contextCases[11]),
		"mini-hostile.dmp":  hostileDump(),
	} {
		path := filepath.Join(testenv.Root(t), "golden", "input", name)
		if testenv.Updating() {
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s differs from the builder's output (%v): GOLDIE_UPDATE=1 writes it again", name, err)
		}
	}
}

// hostileDump has names that would change a terminal, modules that overlap, and
// damage.
func hostileDump() []byte {
	m := newBuilder(binary.LittleEndian).system(9, 0x8201, "Linux \x1b]0;title\a")
	a, b := m.text("/lib/\x1b[2Ja\u202e.so"), m.text("/lib/b\u0085\n.so")
	m.stream(4, func() {
		m.u32(3)
		m.module(0x10000, 0xffffffff, a, 0, 0)
		m.module(0x20000, 0x1000, b, 0, 0)
		m.module(0x20000, 0x1000, a, 0, 0)
	})
	m.thread(7, func() { contextCases[2].write(m) })
	m.stream(24, func() { m.u32(1, 7).u64(uint64(b)) })
	k, v := m.utf8("\x1b[31mkey"), m.utf8("a\r\nb\xff")
	simple, at := m.put(func() { m.u32(1, k, v) })
	m.stream(0x43500001, func() { m.u32(1).zeros(32).u32(simple, at, 0, 0) })
	m.stream(0x47670006, func() { m.u8([]byte("prog\x00\x1b[1A\x00")...) })
	m.stream(5, func() { m.u32(1).u64(0x1000).u32(1<<30, 1<<30) })
	return m.finish()
}
