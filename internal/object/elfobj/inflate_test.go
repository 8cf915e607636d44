package elfobj

import (
	"bytes"
	stdzlib "compress/zlib"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/testenv"
)

// deflated compresses with the standard library, which is not the implementation that
// the reader under test uses.
func deflated(b []byte) []byte {
	var out bytes.Buffer
	w := stdzlib.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

func zstandarded(b []byte) []byte {
	w, _ := zstd.NewWriter(nil)
	return w.EncodeAll(b, nil)
}

// zeroMiB is 1 MiB of zeros, deflated. Streams may follow each other.
var zeroMiB = sync.OnceValue(func() []byte { return deflated(make([]byte, 1<<20)) })

func gnuHead(size uint64, b []byte) []byte {
	head := []byte("ZLIB")
	for shift := 56; shift >= 0; shift -= 8 {
		head = append(head, byte(size>>shift))
	}
	return append(head, b...)
}

// someText returns text that compresses about 4-fold, like debug sections.
func someText(n int) []byte {
	var b bytes.Buffer
	for i := uint32(1); b.Len() < n; i = i*1664525 + 1013904223 {
		b.WriteString("a_name_of_something_")
		b.WriteByte(byte(i >> 24))
		b.WriteByte(byte(i >> 16))
	}
	return b.Bytes()[:n]
}

func TestInflate(t *testing.T) {
	each(t, func(t *testing.T, e *testELF) {
		want := someText(700_000)
		half := len(want) / 2
		joined := append(deflated(want[:half]), deflated(want[half:])...)
		zeros := make([]byte, 5<<20)
		e.secs = []testSec{
			{name: ".debug_zlib", typ: 1, flags: 0x800, data: e.chdr(1, uint64(len(want)), deflated(want))},
			{name: ".debug_zstd", typ: 1, flags: 0x800, data: e.chdr(2, uint64(len(want)), zstandarded(want))},
			{name: ".debug_frames", typ: 1, flags: 0x800, data: e.chdr(2, uint64(len(want)), append(zstandarded(want[:half]), zstandarded(want[half:])...))},
			{name: ".zdebug_gnu", typ: 1, data: gnuHead(uint64(len(want)), deflated(want))},
			{name: ".zdebug_joined", typ: 1, data: gnuHead(uint64(len(want)), joined)},
			{name: ".zdebug_padded", typ: 1, data: gnuHead(uint64(len(want)), append(deflated(want), 0, 0, 0))},
			{name: ".zdebug_plain", typ: 1, data: want},
			{name: ".debug_zeros", typ: 1, flags: 0x800, data: e.chdr(1, uint64(len(zeros)), bytes.Repeat(zeroMiB(), 5))},
			{name: ".debug_empty", typ: 1, flags: 0x800, data: e.chdr(1, 0, deflated(nil))},
		}
		f := openBytes(t, e.build())
		if len(f.Damaged) > 0 {
			t.Error(f.Damaged)
		}
		for _, s := range f.Sections[1 : len(f.Sections)-1] {
			w := want
			switch s.Name {
			case ".debug_zeros":
				w = zeros
			case ".debug_empty":
				w = nil
			}
			got, err := s.Data()
			if err != nil || !bytes.Equal(got, w) || s.Size() != int64(len(w)) {
				t.Errorf("%s: %d bytes of %d, want %d: %v", s.Name, len(got), s.Size(), len(w), err)
			}
		}
		if s := f.Header(".debug_gnu"); s == nil || s.Name != ".zdebug_gnu" {
			t.Errorf(".debug_gnu is %v", s)
		}
	})
}

func TestInflateDamage(t *testing.T) {
	want := someText(300_000)
	z, s := deflated(want), zstandarded(want)
	flip := func(b []byte) []byte { b = bytes.Clone(b); b[len(b)/2] ^= 0x55; return b }
	e := kinds[0].e
	e.secs = []testSec{
		{name: ".less", typ: 1, flags: 0x800, data: e.chdr(1, uint64(len(want)-1), z)},
		{name: ".more", typ: 1, flags: 0x800, data: e.chdr(1, uint64(len(want)+1), z)},
		{name: ".zless", typ: 1, flags: 0x800, data: e.chdr(2, uint64(len(want)-1), s)},
		{name: ".zmore", typ: 1, flags: 0x800, data: e.chdr(2, uint64(len(want)+1), s)},
		{name: ".cut", typ: 1, flags: 0x800, data: e.chdr(1, uint64(len(want)), z[:len(z)/2])},
		{name: ".zcut", typ: 1, flags: 0x800, data: e.chdr(2, uint64(len(want)), s[:len(s)/2])},
		{name: ".flip", typ: 1, flags: 0x800, data: e.chdr(1, uint64(len(want)), flip(z))},
		{name: ".zflip", typ: 1, flags: 0x800, data: e.chdr(2, uint64(len(want)), flip(s))},
		{name: ".sum", typ: 1, flags: 0x800, data: e.chdr(1, uint64(len(want)), append(bytes.Clone(z[:len(z)-1]), z[len(z)-1]^1))},
		{name: ".none", typ: 1, flags: 0x800, data: e.chdr(1, 7, nil)},
		{name: ".znone", typ: 1, flags: 0x800, data: e.chdr(2, 7, nil)},
	}
	f := openBytes(t, e.build())
	for _, s := range f.Sections[1 : len(f.Sections)-1] {
		_, err := s.Data()
		if err == nil {
			t.Errorf("%s: no error", s.Name)
			continue
		}
		if !strings.HasPrefix(err.Error(), "mem: "+s.Name+"+0x") {
			t.Errorf("error without its place: %v", err)
		}
		t.Log(err)
	}
	if left, want := f.in.Held.Left(), f.in.Limits.HeldBytes(f.Size); left > want || want-left > 1000 {
		t.Errorf("budget of %d after errors, want %d", left, want)
	}
}

// TestBombs checks that contents that would inflate to gigabytes give an error,
// quickly and in bounded memory, whichever header declares them.
func TestBombs(t *testing.T) {
	many := bytes.Repeat(zeroMiB(), 512)                            // 530 KB
	frames := bytes.Repeat(zstandarded(make([]byte, 4<<20)), 10*64) // 2.5 GiB
	bombs := map[string]func(e *testELF) []testSec{
		"declared": func(e *testELF) []testSec {
			return []testSec{{name: ".debug_info", typ: 1, flags: 0x800, data: e.chdr(1, 3<<30, many)}}
		},
		"undeclared": func(e *testELF) []testSec {
			return []testSec{{name: ".debug_info", typ: 1, flags: 0x800, data: e.chdr(1, 1000, many)}}
		},
		"gnu": func(e *testELF) []testSec {
			return []testSec{{name: ".zdebug_info", typ: 1, data: gnuHead(512<<20, many)}}
		},
		"zstd": func(e *testELF) []testSec {
			return []testSec{{name: ".debug_info", typ: 1, flags: 0x800, data: e.chdr(2, 40*64<<20, frames)}}
		},
		"lies within the limit": func(e *testELF) []testSec {
			return []testSec{{name: ".debug_info", typ: 1, flags: 0x800, data: e.chdr(2, 64<<20, zstandarded(make([]byte, 1000)))}}
		},
	}
	for name, secs := range bombs {
		t.Run(name, func(t *testing.T) {
			e := kinds[0].e
			e.secs = secs(&e)
			image := e.build()
			use := func() error {
				f := openBytes(t, image)
				defer f.Close()
				s := f.Header(".debug_info")
				_, err := s.Data()
				if err == nil {
					t.Error("Data gives no error")
				}
				if _, err := s.Open(); err == nil {
					t.Error("Open gives no error")
				}
				return err
			}
			var err error
			grown, took := cost(func() { err = use() })
			t.Logf("%d byte file: %d bytes allocated, %v: %v", len(image), grown, took, err)
			if limit := object.DefaultLimits().HeldBytes(int64(len(image))); grown > limit {
				t.Errorf("%d bytes allocated for a file of %d, limit %d", grown, len(image), limit)
			}
			if took > 5*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// TestCompressedNameTable has a compressed .shstrtab for which debug/elf uses
// 2.6 GB.
func TestCompressedNameTable(t *testing.T) {
	lump := bytes.Repeat(zeroMiB(), 512)
	e := kinds[0].e
	e.secs = []testSec{{name: ".a", typ: stProgbits, data: []byte("good")}}
	e.strtab = func([]byte) testSec {
		return testSec{typ: stStrtab, flags: 0x800, data: e.chdr(1, 512<<20, lump)}
	}
	image := e.build()
	grown, _ := cost(func() {
		f := openBytes(t, image)
		if len(f.Damaged) != 1 || !strings.Contains(f.Damaged[0].String(), "limit") {
			t.Errorf("problems %v", f.Damaged)
		}
	})
	if grown > 4<<20 {
		t.Errorf("%d bytes allocated", grown)
	}
}

// cost returns the bytes that fn allocates, and its time (testenv.Stopwatch).
func cost(fn func()) (int64, time.Duration) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	watch := testenv.StartWatch()
	fn()
	took := watch.Took()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc), took
}

func TestOverlappingSectionsShareTheBudget(t *testing.T) {
	lump := bytes.Repeat(zeroMiB(), 7)
	e := kinds[0].e
	data := e.chdr(1, 7<<20, lump)
	e.secs = []testSec{{name: ".s0", typ: 1, flags: 0x800, data: data}}
	for i := 1; i < 50; i++ {
		e.secs = append(e.secs, testSec{name: ".s" + string(rune('0'+i)), typ: 1, flags: 0x800, off: 64, size: uint64(len(data))})
	}
	f := openBytes(t, e.build())
	good := 0
	for _, s := range f.Sections[1:51] {
		if _, err := s.Data(); err == nil {
			good++
		}
	}
	if good != 2 {
		t.Errorf("%d sections of 7 MiB held, want 2 within 16 MiB", good)
	}
	f.Sections[1].Release()
	if _, err := f.Sections[50].Data(); err != nil {
		t.Errorf("after a release: %v", err)
	}
}

func TestSpill(t *testing.T) {
	want := someText(3 << 20)
	e := kinds[0].e
	e.secs = []testSec{
		{name: ".debug_a", typ: 1, flags: 0x800, data: e.chdr(1, uint64(len(want)), deflated(want))},
		{name: ".debug_b", typ: 1, flags: 0x800, data: e.chdr(2, uint64(len(want)), zstandarded(want))},
	}
	image := e.build()
	dir := t.TempDir()
	lim := object.DefaultLimits()
	lim.SpillOver, lim.TempDir = 1<<20, dir
	f, err := NewFile(bytes.NewReader(image), int64(len(image)), "mem", lim)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			checkSource(t, f.Sections[1+i%2], want)
		}()
	}
	wg.Wait()
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("temporary file has a name: %v", left)
	}
	if f.in.Held.Left() < lim.HeldBytes(f.Size)-1000 {
		t.Error("spilled sections are held in memory")
	}
	f.Close()
	if f.in.Disk.Left() != lim.DiskBytes(f.Size) {
		t.Error("Close does not free the disk")
	}
}

func checkSource(t *testing.T, s *Section, want []byte) {
	src, err := s.Open()
	if err != nil {
		t.Error(err)
		return
	}
	var buf []byte
	for off := int64(0); off < src.Size(); off += 99991 {
		n := min(99991, src.Size()-off)
		if buf, err = src.Bytes(off, n, buf); err != nil || !bytes.Equal(buf, want[off:off+n]) {
			t.Errorf("piece at %d: %v", off, err)
			return
		}
	}
}

func TestSpillWithoutTempDirUsesMemory(t *testing.T) {
	want := someText(3 << 20)
	e := kinds[0].e
	e.secs = []testSec{{name: ".debug_a", typ: 1, flags: 0x800, data: e.chdr(1, uint64(len(want)), deflated(want))}}
	image := e.build()
	lim := object.DefaultLimits()
	lim.SpillOver, lim.TempDir = 1<<20, filepath.Join(t.TempDir(), "absent")
	f, err := NewFile(bytes.NewReader(image), int64(len(image)), "mem", lim)
	if err != nil {
		t.Fatal(err)
	}
	checkSource(t, f.Sections[1], want)
}

// TestObjcopyVariants reads the same contents from all compressed forms of a program
// that objcopy writes.
func TestObjcopyVariants(t *testing.T) {
	gcc, objcopy := testenv.Tool(t, "gcc"), testenv.Tool(t, "objcopy")
	dir := t.TempDir()
	src, plain := filepath.Join(dir, "a.c"), filepath.Join(dir, "a")
	code := "#include <stdio.h>\n#include <stdlib.h>\nint main(int c, char **v) { printf(\"%d\\n\", c + atoi(v[0])); return 0; }\n"
	if err := os.WriteFile(src, []byte(code), 0o644); err != nil {
		t.Fatal(err)
	}
	command(t, gcc, "-g3", "-O1", "-o", plain, src)
	want, err := Open(plain, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer want.Close()
	for _, kind := range []string{"zlib", "zlib-gnu", "zstd"} {
		t.Run(kind, func(t *testing.T) {
			out := plain + "." + kind
			command(t, objcopy, "--compress-debug-sections="+kind, plain, out)
			compareDebugSections(t, want, out)
		})
	}
}

func compareDebugSections(t *testing.T, want *File, path string) {
	f, err := Open(path, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	compressed := 0
	for _, w := range want.Sections {
		if !strings.HasPrefix(w.Name, ".debug_") {
			continue
		}
		s := f.Header(w.Name)
		if s == nil {
			t.Fatalf("no %s", w.Name)
		}
		if s.Compression() != "" {
			compressed++
		}
		a, err1 := w.Data()
		b, err2 := s.Data()
		if err1 != nil || err2 != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs: %v, %v", w.Name, err1, err2)
		}
	}
	if compressed == 0 || !f.Object().HasDWARF() {
		t.Errorf("%d compressed sections", compressed)
	}
}

func command(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}

func BenchmarkInflate(b *testing.B) {
	want := someText(32 << 20)
	e := kinds[0].e
	e.secs = []testSec{
		{name: "zlib", typ: 1, flags: 0x800, data: e.chdr(1, uint64(len(want)), deflated(want))},
		{name: "zstd", typ: 1, flags: 0x800, data: e.chdr(2, uint64(len(want)), zstandarded(want))},
	}
	f := openBytes(b, e.build())
	for _, s := range f.Sections[1:3] {
		b.Run(s.Name, func(b *testing.B) {
			b.SetBytes(s.Size())
			for b.Loop() {
				if _, err := s.Data(); err != nil {
					b.Fatal(err)
				}
				s.Release()
			}
		})
	}
}
