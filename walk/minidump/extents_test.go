package minidump

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk/dump"
)

// listed is a module as a writer lists it.
type listed struct {
	addr uint64
	size uint32
	path string
}

// mappedDump is a dump of a Linux process with modules, mappings, and memory at an address.
func mappedDump(modules []listed, maps string, addr uint64, memory []byte) []byte {
	m := newBuilder(binary.LittleEndian).system(9, 0x8201, "Linux 6.1")
	var names []uint32
	for _, l := range modules {
		names = append(names, m.text(l.path))
	}
	id, idAt := m.put(func() { m.u32(0x4270454c).u8(seq(1, 20)...) })
	m.stream(4, func() {
		m.u32(uint32(len(modules)))
		for i, l := range modules {
			m.module(l.addr, l.size, names[i], id, idAt)
		}
	})
	m.thread(42, func() { contextCases[2].write(m) })
	size, at := m.put(func() { m.u8(memory...) })
	m.stream(5, func() { m.u32(1).u64(addr).u32(size, at) })
	if maps != "" {
		m.stream(0x47670009, func() { m.u8([]byte(maps)...) })
	}
	return m.finish()
}

// Breakpad's client joins mappings into modules, and LLDB lists the first segments. A dump shows the extents by the
// headers in memory or by its mappings; a further mapping of a module's file is not a module.
func TestModuleExtents(t *testing.T) {
	const maps = "555555554000-555555555000 r--p 0 0:0 9 /bin/node\n555555555000-555555556000 r-xp 1000 0:0 9 /bin/node\n" +
		"555555558000-555555559000 rw-p 2000 0:0 9 /bin/node\n555555559000-55555555a000 rw-p 0 0:0 0 \n" +
		"7f0000000000-7f0000001000 r-xp 1000 0:0 9 /bin/node\n7f1000000000-7f1000001000 r-xp 0 0:0 9 /lib/gone.so (deleted)\n" +
		"7ffd00000000-7ffd00002000 r-xp 0 0:0 0 [vdso]\n"
	modules := []listed{
		{0x555555554000, 0x2000, "/bin/node"}, {0x7f0000000000, 0x1000, "/bin/node"},
		{0x7f1000000000, 0xffffffff, "/lib/gone.so (deleted)"}, {0x7ffd00000000, 0x7fffffff, "linux-gate.so"},
	}
	headers := testenv.ReadInput(t, "crashes", "stacks")[:4096]
	for _, c := range []struct {
		name, maps string
		memory     []byte
		want       string
	}{
		{"mappings", maps, seq(1, 8), "555555554000+5000 /bin/node, 7f1000000000+1000 /lib/gone.so, 7ffd00000000+2000 linux-gate.so"},
		{"headers", maps, headers, "555555554000+4020 /bin/node, 7f1000000000+1000 /lib/gone.so, 7ffd00000000+2000 linux-gate.so"},
		{"headers alone", "", headers, "555555554000+4020 /bin/node, 7f0000000000+1000 /bin/node, 7f1000000000+ffffffff /lib/gone.so, 7ffd00000000+7fffffff linux-gate.so"},
	} {
		d, err := Read(mappedDump(modules, c.maps, modules[0].addr, c.memory), "a.dmp")
		if err != nil || len(d.Problems) > 0 {
			t.Fatal(c.name, err, d.Problems)
		}
		var got []string
		for _, m := range d.Modules {
			got = append(got, fmt.Sprintf("%x+%x %s", m.Addr, m.Size, m.Path))
		}
		if strings.Join(got, ", ") != c.want || d.Main != 0 {
			t.Errorf("%s: %q, program %d, want %q", c.name, got, d.Main, c.want)
		}
		gone := slices.IndexFunc(d.Modules, func(m dump.Module) bool { return m.Deleted })
		if gone < 0 || d.Modules[gone].DebugFile != "gone.so" {
			t.Errorf("%s: deleted file %d", c.name, gone)
		}
	}
}
