package minidump

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk/dump"
)

func TestErrors(t *testing.T) {
	good := newBuilder(binary.LittleEndian).system(9, 0x8201, "").finish()
	changed := func(at int, v uint32) []byte {
		b := slices.Clone(good)
		binary.LittleEndian.PutUint32(b[at:], v)
		return b
	}
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "a.dmp: not a minidump: it does not begin with MDMP"},
		{"short", []byte("MDM"), "a.dmp: not a minidump: it does not begin with MDMP"},
		{"magic only", []byte("MDMP"), "a.dmp: offset 0x4: need 4 bytes, 0 left"},
		{"cut header", good[:20], "a.dmp: offset 0x14: need 4 bytes, 0 left"},
		{"version", changed(4, 7), "a.dmp: offset 0x4: version 0x7, want 0xa793"},
		{"directory", changed(12, 1<<30), "a.dmp: offset 0x8: 1 streams, with a directory at 0x40000000 in a file of 106 bytes"},
		{"gigabytes", []byte("MDMP\x93\xa7\x00\x00\xff\xff\xff\xff\x20\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"),
			"a.dmp: offset 0x8: 4294967295 streams, with a directory at 0x20 in a file of 32 bytes"},
	} {
		d, err := Read(c.data, "a.dmp")
		if err == nil || err.Error() != c.want || d != nil {
			t.Errorf("%s: %v\nwant %s", c.name, err, c.want)
		}
	}
}

// Each kind of damage costs only its entry or its stream, and is reported with its position.
func TestProblems(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(m *builder)
		want  string
	}{
		{"stream behind the end", func(m *builder) { m.dir = append(m.dir, 3, 100, 1<<30) },
			"a.dmp: offset 0x40000000: 100 bytes, of which the file of 44 bytes has 0 (lost: the rest of MD_THREAD_LIST_STREAM)"},
		{"two of a stream", func(m *builder) {
			m.stream(10, func() { m.u8('a', 0) })
			m.stream(10, func() { m.u8('b', 0) })
		}, "a.dmp: offset 0x22: there are two of these streams (lost: MD_COMMENT_STREAM_A)"},
		{"empty list", func(m *builder) { m.stream(3, func() { m.u16(1) }) }, "a.dmp: offset 0x20: need 4 bytes, 2 left (lost: MD_THREAD_LIST_STREAM)"},
		{"count", func(m *builder) { m.stream(5, func() { m.u32(0xffffffff).u64(0).u32(0, 0) }) },
			"a.dmp: offset 0x24: 4294967295 entries of 16 bytes, of which there are 1 (lost: 4294967294 entries of MD_MEMORY_LIST_STREAM)"},
		{"entry size", func(m *builder) { m.stream(14, func() { m.u32(12, 1, 7) }) },
			"a.dmp: offset 0x20: a header of 12 bytes and entries of 1, want at least 12 and 24 (lost: MD_UNLOADED_MODULE_LIST_STREAM)"},
		{"header size", func(m *builder) { m.stream(16, func() { m.u32(0xffffffff, 48).u64(7) }) },
			"a.dmp: offset 0x30: need 4294967279 bytes, 0 left (lost: MD_MEMORY_INFO_LIST_STREAM)"},
		{"memory behind the end", func(m *builder) { m.stream(5, func() { m.u32(1).u64(0x1000).u32(0xf0000000, 40) }) },
			"a.dmp: offset 0x28: 4026531840 bytes of memory, of which the file has 24 (lost: the rest of memory 0 at 0x1000)"},
		{"name", func(m *builder) { m.stream(4, func() { m.u32(1); m.module(1, 1, 1<<31, 0, 0) }) },
			"a.dmp: offset 0x80000000: a string beyond the end of the file of 156 bytes (lost: the name of module 0)"},
		{"CodeView", func(m *builder) { m.stream(4, func() { m.u32(1); m.module(1, 1, 0, 4, 32) }) },
			"a.dmp: offset 0x20: a CodeView record with signature 0x00000001, want RSDS, NB10 or a build-id (lost: the id of module 0)"},
		{"short CodeView", func(m *builder) {
			n, at := m.put(func() { m.u32(0x53445352, 1, 2) })
			m.stream(4, func() { m.u32(1); m.module(1, 1, 0, n, at) })
		}, "a.dmp: offset 0x24: need 16 bytes, 8 left (lost: the id of module 0)"},
		{"modules at one place", func(m *builder) { m.stream(4, func() { m.u32(2); m.module(1, 9, 0, 0, 0); m.module(1, 9, 0, 0, 0) }) },
			`a.dmp: module "" at 0x1 is where "" is (lost: the module)`},
		{"context of another CPU", func(m *builder) {
			m.system(9, 0x8201, "")
			m.thread(1, func() { contextCases[0].write(m) })
		}, "a.dmp: offset 0x5e: a context of 716 bytes with flags 0x0, which are not those of x86_64 (lost: the registers of thread 0)"},
		{"unknown CPU", func(m *builder) {
			m.system(0x1234, 0x8201, "")
			m.thread(1, func() { contextCases[0].write(m) })
		}, "a.dmp: offset 0x5e: a context of 716 bytes with flags 0x0, which are not those of an unknown CPU (lost: the registers of thread 0)"},
		{"short context", func(m *builder) {
			m.system(0, 0x8201, "")
			m.thread(1, func() { m.u32(0x1003f).zeros(200) })
		}, "a.dmp: offset 0x5e: a context of 204 bytes, want 716 (lost: some of the registers of thread 0)"},
		{"exception parameters", func(m *builder) { m.stream(6, func() { m.u32(1, 0, 2, 3).u64(0, 0).u32(16, 0).zeros(15*8).u32(0, 0) }) },
			"a.dmp: offset 0x40: 16 parameters, want at most 15 (lost: parameters of the exception)"},
		{"mapping", func(m *builder) {
			m.stream(0x47670009, func() { m.u8([]byte("1-2 r-xp 0 00:00 0\n2-1 r-xp 0 00:00 0\n")...) })
		},
			`a.dmp: offset 0x33: "2-1 r-xp 0 00:00 0\n" is not a line of /proc/self/maps (lost: a mapping)`},
		{"link maps", func(m *builder) { m.stream(0x4767000a, func() { m.u32(1, 0x7fffffff, 0xffffffff, 0).u64(1, 2, 3) }) },
			"a.dmp: offset 0x7fffffff: 4294967295 link maps, of which the file has 0 (lost: 4294967295 link maps)"},
		{"annotations", func(m *builder) { m.stream(0x43500001, func() { m.u32(1).zeros(32).u32(100, 1<<30, 0, 0) }) },
			"a.dmp: offset 0x40000000: 100 bytes, of which the file has 0 (lost: the rest of the annotations)\n" +
				"a.dmp: offset 0x40000000: need 4 bytes, 0 left (lost: annotations)"},
		{"assertion", func(m *builder) { m.stream(0x47670002, func() { m.zeros(20) }) }, "a.dmp: offset 0x20: 20 bytes, want 776 (lost: MD_ASSERTION_INFO_STREAM)"},
	} {
		m := newBuilder(binary.LittleEndian)
		c.build(m)
		d, err := Read(m.finish(), "a.dmp")
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for _, p := range d.Problems {
			got = append(got, p.String())
		}
		if strings.Join(got, "\n") != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), c.want)
		}
	}
}

// A list of malformed entries is reported in a few lines.
func TestManyProblems(t *testing.T) {
	m := newBuilder(binary.LittleEndian)
	m.stream(5, func() {
		m.u32(1000)
		for range 1000 {
			m.u64(0x1000).u32(8, 1<<30)
		}
	})
	d, err := Read(m.finish(), "a.dmp")
	if err != nil || len(d.Problems) != maxProblems+1 || d.Problems[maxProblems].String() != "a.dmp: 990 more problems of this kind" {
		t.Errorf("%v, %d problems, %v", err, len(d.Problems), d.Problems)
	}
}

// Entries that refer to the same bytes take no more memory than the file.
func TestSharedBytes(t *testing.T) {
	const entries = 20_000
	for _, c := range []struct {
		name  string
		build func(m *builder)
	}{
		{"names", func(m *builder) {
			name := m.text(strings.Repeat("n", 1<<20))
			m.u32(1<<20, 1<<20)
			m.stream(4, func() {
				m.u32(entries)
				for i := range entries {
					m.module(uint64(i)*16, 16, name+uint32(i%2)*4, 0, 0)
				}
			})
		}},
		{"overlapping names", func(m *builder) {
			at := m.at()
			for range entries {
				m.u32(1 << 20)
			}
			m.zeros(1 << 20)
			m.stream(4, func() {
				m.u32(entries)
				for i := range entries {
					m.module(uint64(i)*16, 16, at+uint32(i)*4, 0, 0)
				}
			})
		}},
		{"contexts", func(m *builder) {
			m.system(9, 0x8201, "")
			at := m.at()
			m.zeros(48)
			for range entries {
				m.u32(0x10001f, 0)
			}
			m.zeros(1232)
			m.stream(3, func() {
				m.u32(entries)
				for i := range entries {
					m.u32(uint32(i), 0, 0, 0).u64(0, 0).u32(0, 0, 1232, at+uint32(i)*8)
				}
			})
		}},
		{"CodeView records", func(m *builder) {
			size, at := m.put(func() { m.u32(0x4270454c).u8(bytes.Repeat([]byte{7}, 1<<20)...) })
			m.stream(4, func() {
				m.u32(entries)
				for i := range entries {
					m.module(uint64(i)*16, 16, 0, size, at)
				}
			})
		}},
		{"annotations", func(m *builder) {
			list, at := m.put(func() { m.u32(entries).zeros(4 * entries) })
			info, infoAt := m.put(func() { m.u32(1, list, at, 0, 0, 0, 0) })
			modules, modulesAt := m.put(func() {
				m.u32(entries)
				for range entries {
					m.u32(0, info, infoAt)
				}
			})
			m.stream(0x43500001, func() { m.u32(1).zeros(32).u32(0, 0, modules, modulesAt) })
		}},
		{"memory", func(m *builder) {
			at := m.at()
			m.zeros(1 << 20)
			m.stream(5, func() {
				m.u32(entries)
				for i := range entries {
					m.u64(uint64(i)).u32(1<<20-entries, at)
				}
			})
		}},
	} {
		m := newBuilder(binary.LittleEndian)
		c.build(m)
		data := m.finish()
		before, watch := allocated(), testenv.StartWatch()
		d, err := Read(data, "a.dmp")
		if err != nil {
			t.Fatal(c.name, err)
		}
		// An annotation of 4 bytes is 48 in the model, and lists grow.
		if n := allocated() - before; n > 32*uint64(len(data)) {
			t.Errorf("%s: %d bytes for a file of %d", c.name, n, len(data))
		}
		if took := watch.Took(); took > 2*time.Second {
			t.Errorf("%s: %v", c.name, took)
		}
		use(t, d)
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// use reads all of a dump, and checks what the model guarantees.
func use(t *testing.T, d *dump.Dump) {
	t.Helper()
	_ = d.Reason()
	if i := d.CrashedThread(); i >= len(d.Threads) || d.Main >= len(d.Modules) {
		t.Fatalf("crashed thread %d of %d, main module %d of %d", i, len(d.Threads), d.Main, len(d.Modules))
	}
	for i := range d.Threads {
		th := &d.Threads[i]
		if c := th.Context; c != nil {
			d.ModuleAt(c.PC())
			d.Memory.Word(c.SP(), 8)
		}
		if th.Stack.Size > 0 && d.Memory.Find(th.Stack.Addr) == nil {
			t.Fatalf("thread %d: no memory for the stack at %#x", i, th.Stack.Addr)
		}
	}
	for i := 1; i < len(d.Modules); i++ {
		if a, b := &d.Modules[i-1], &d.Modules[i]; a.Addr > b.Addr || a.Size > 0 && a.Contains(b.Addr) {
			t.Fatalf("modules %d and %d overlap", i-1, i)
		}
	}
	for i := 1; i < len(d.Memory.Regions); i++ {
		if a, b := &d.Memory.Regions[i-1], &d.Memory.Regions[i]; a.Addr+uint64(len(a.Data)-1) >= b.Addr || len(a.Data) == 0 {
			t.Fatalf("regions %d and %d overlap", i-1, i)
		}
	}
	for _, p := range d.Problems {
		if p.String() == "" {
			t.Fatal("a problem without a text")
		}
	}
}

// lldbDump is linuxDump in which LLDB's mark replaces one stream, and a second exception with the
// same bytes as the first replaces another.
func lldbDump() []byte {
	b := linuxDump(binary.LittleEndian, contextCases[2])
	le := binary.LittleEndian
	count, at := int(le.Uint32(b[8:])), int(le.Uint32(b[12:]))
	var exception []byte
	for i := range count {
		if entry := b[at+entrySize*i:][:entrySize]; le.Uint32(entry) == exceptionStream {
			exception = entry
		}
	}
	le.PutUint32(b[le.Uint32(exception[8:])+12:], lldbMark) // its flags
	for i := range count {
		switch entry := b[at+entrySize*i:][:entrySize]; le.Uint32(entry) {
		case 0x47670005: // lsb-release
			le.PutUint32(entry, lldbMark)
		case 0x47670003: // cpuinfo
			copy(entry, exception)
		}
	}
	return b
}

// Several exceptions in LLDB's minidumps are one crash, not damage.
func TestLLDBExceptions(t *testing.T) {
	d, err := Read(lldbDump(), "a.dmp")
	if err != nil || len(d.Problems) > 0 {
		t.Fatal(err, d.Problems)
	}
	c := d.Crash
	if c == nil || c.Flags != 0 || c.HasAddress || len(c.Params) > 0 || d.Threads[0].Signal != int(c.Code) || d.Threads[0].Stack.Size == 0 {
		t.Errorf("%+v, %+v", c, d.Threads)
	}
}

// damagedInputs returns dumps to damage: our own and, if they are available, real ones.
func damagedInputs(t testing.TB) map[string][]byte {
	inputs := map[string][]byte{
		"windows.dmp": windowsDump(binary.LittleEndian), "windows-be.dmp": windowsDump(binary.BigEndian),
		"lldb.dmp": lldbDump(), "linux.dmp": linuxDump(binary.LittleEndian, contextCases[2]), "linux-be.dmp": linuxDump(binary.BigEndian, contextCases[8]),
	}
	for _, glob := range []string{"minidumps/*/*.dmp", "crashes/*/dump.dmp"} {
		for _, file := range testenv.SharedGlob(t, "data", glob) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			inputs[file] = data
		}
	}
	return inputs
}

// Dumps that are truncated anywhere, or have flipped bytes, give an error or a dump with
// what the model guarantees, in little time and memory.
func TestDamaged(t *testing.T) {
	variants := 0
	for name, data := range damagedInputs(t) {
		rng := rand.New(rand.NewPCG(uint64(len(data)), 1))
		read := func(b []byte) {
			variants++
			before, watch := allocated(), testenv.StartWatch()
			d, err := Read(b, "a.dmp")
			if err == nil {
				use(t, d)
			}
			if n := allocated() - before; n > 32*uint64(len(b))+1<<20 {
				t.Errorf("%s: %d bytes for a file of %d", name, n, len(b))
			}
			if took := watch.Took(); took > 2*time.Second {
				t.Errorf("%s: %v", name, took)
			}
		}
		for n := 0; n < len(data); n += 1 + len(data)/150 {
			read(data[:n])
		}
		for range 250 {
			b := slices.Clone(data)
			for range 1 + rng.IntN(8) {
				// Half of the variants damage the structures.
				at := rng.IntN(len(b))
				if rng.IntN(2) == 0 {
					at = rng.IntN(min(len(b), 4096))
				}
				b[at] = byte(rng.Uint32())
			}
			read(b)
		}
	}
	t.Logf("%d variants", variants)
}

func FuzzMinidump(f *testing.F) {
	for name, data := range damagedInputs(f) {
		if len(data) < 9000 || strings.HasSuffix(name, "invalid-range.dmp") {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := Read(data, "a.dmp")
		if (err == nil) != (d != nil) {
			t.Fatal(d, err)
		}
		if err == nil {
			use(t, d)
		}
	})
}
