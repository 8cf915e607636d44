package elfobj

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"math/rand"
	"os"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/testenv"
)

// useAll opens an image and uses everything in it. It returns the number of sections
// whose contents could be read.
func useAll(t testing.TB, image []byte) int {
	f, err := NewFile(bytes.NewReader(image), int64(len(image)), "mem", object.DefaultLimits())
	if err != nil {
		mustBeError(t, err)
		return 0
	}
	defer f.Close()
	good := 0
	for _, s := range f.Sections {
		if useSection(t, f, s) {
			good++
		}
		s.Release()
	}
	for _, which := range []object.Table{object.Symtab, object.Dynamic} {
		n := 0
		if err := f.Symbols(which, func(s *object.Symbol) { n += len(s.Name) }); err != nil {
			mustBeError(t, err)
		}
	}
	f.BuildID()
	f.DebugLink()
	f.Supplement()
	f.ContentID()
	f.LoadBase()
	for i, r := range f.Object().ExecRanges() {
		if r.Start >= r.End || i > 0 && r.Start <= f.Object().ExecRanges()[i-1].End {
			t.Errorf("ranges %x", f.Object().ExecRanges())
		}
		if !f.Object().Executable(r.Start) || f.Object().Executable(r.End) {
			t.Errorf("range %x is not found", r)
		}
	}
	for _, p := range f.Damaged {
		mustBeError(t, p.Err)
	}
	return good
}

func useSection(t testing.TB, f *File, s *Section) bool {
	data, err := s.Data()
	if err != nil {
		mustBeError(t, err)
		return false
	}
	if int64(len(data)) != s.Size() {
		t.Errorf("%s: %d bytes, size %d", s.Name, len(data), s.Size())
	}
	src, err := s.Open()
	if err != nil {
		t.Errorf("%s: data but no source: %v", s.Name, err)
		return false
	}
	half := src.Size() / 2
	if b, err := src.Bytes(half, src.Size()-half, nil); err != nil || !bytes.Equal(b, data[half:]) {
		t.Errorf("%s: second half differs: %v", s.Name, err)
	}
	if s.Name != "" && s.Name[0] != 0 && f.Header(s.Name) == nil {
		t.Errorf("%s is not found", s.Name)
	}
	return true
}

func mustBeError(t testing.TB, err error) {
	t.Helper()
	var e *bin.Error
	if !errors.As(err, &e) {
		t.Errorf("%T %v, want a *bin.Error", err, err)
	} else if e.File != "mem" || e.Msg == "" && e.Err == nil {
		t.Errorf("error without file or message: %+v", e)
	}
}

// realImages returns a program, a debug file and the shared data's files for other
// processors, of at most 3 MB each.
func realImages(t testing.TB) map[string][]byte {
	out := map[string][]byte{}
	for _, path := range systemFiles(t) {
		st, err := os.Stat(path)
		if err != nil || st.Size() > 3<<20 || len(out) > 5 {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out[path] = data
	}
	return out
}

// syntheticImage has one of everything.
func syntheticImage(e *testELF) []byte {
	body := someText(5000)
	e.secs = []testSec{
		{name: ".text", typ: stProgbits, flags: 6, addr: 0x1000, data: body[:300]},
		{name: ".note.gnu.build-id", typ: stNote, data: e.note("GNU\x00", 3, []byte("12345678"), 4)},
		{name: ".symtab", typ: stSymtab, data: append(e.symbol(0, 0, 0, 0, 0, 0), e.symbol(1, 0x12, 0, 1, 0x1000, 4)...), link: 4},
		{name: ".strtab", typ: stStrtab, data: []byte("\x00main\x00")},
		{name: ".debug_info", typ: stProgbits, flags: 0x800, data: e.chdr(1, 5000, deflated(body))},
		{name: ".debug_line", typ: stProgbits, flags: 0x800, data: e.chdr(2, 5000, zstandarded(body))},
		{name: ".zdebug_str", typ: stProgbits, data: gnuHead(5000, deflated(body))},
		{name: ".gnu_debuglink", typ: stProgbits, data: []byte("a.debug\x001234")},
		{name: ".gnu_debugaltlink", typ: stProgbits, data: []byte("a.dwz\x001234")},
		{name: ".bss", typ: stNobits, flags: 3, addr: 0x5000, size: 1 << 30},
	}
	e.segs = []testSeg{{typ: 1, flags: 5, sec: ".text"}, {typ: 4, sec: ".note.gnu.build-id", align: 4}}
	return e.build()
}

func TestTruncated(t *testing.T) {
	images := realImages(t)
	for i := range kinds {
		e := kinds[i].e
		images[kinds[i].name] = syntheticImage(&e)
	}
	for name, image := range images {
		t.Run(name, func(t *testing.T) {
			if useAll(t, image) == 0 {
				t.Fatal("nothing readable in the whole file")
			}
			for percent := range 100 {
				useAll(t, image[:len(image)*percent/100])
			}
		})
	}
}

// TestByteFlips changes bytes of the headers, which contain counts, offsets
// and sizes, and of the rest.
func TestByteFlips(t *testing.T) {
	const variants = 500 // for each of the four encodings
	images := map[string][]byte{}
	for i := range kinds {
		e := kinds[i].e
		images[kinds[i].name] = syntheticImage(&e)
	}
	for name, image := range images {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewSource(1))
			places := headerBytes(t, image)
			opened := 0
			for range variants {
				bad := bytes.Clone(image)
				for range 1 + rng.Intn(3) {
					at := places[rng.Intn(len(places))]
					if rng.Intn(4) == 0 {
						at = rng.Intn(len(bad))
					}
					bad[at] = flipped(rng, bad[at])
				}
				grown, took := cost(func() {
					if useAll(t, bad) > 0 {
						opened++
					}
				})
				// Contents are read twice, by Data and by Open.
				if limit := 3*object.DefaultLimits().HeldBytes(int64(len(bad))) + 64<<20; grown > limit {
					t.Errorf("%d bytes allocated for %d", grown, len(bad))
				}
				if took > 3*time.Second {
					t.Errorf("took %v", took)
				}
			}
			if opened < variants/4 {
				t.Errorf("%d of %d variants could be read", opened, variants)
			}
		})
	}
}

func flipped(rng *rand.Rand, b byte) byte {
	switch rng.Intn(4) {
	case 0:
		return 0xff
	case 1:
		return 0
	case 2:
		return b ^ 1<<rng.Intn(8)
	}
	return byte(rng.Intn(256))
}

// headerBytes lists the offsets of the ELF header, the program headers and the
// section headers.
func headerBytes(t *testing.T, image []byte) []int {
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		t.Fatal(err)
	}
	ehdr, phdr, shdr := 64, 56, 64
	if f.Class == elf.ELFCLASS32 {
		ehdr, phdr, shdr = 52, 32, 40
	}
	var out []int
	for i := range ehdr + phdr*len(f.Progs) {
		out = append(out, i)
	}
	for i := len(image) - shdr*len(f.Sections); i < len(image); i++ {
		out = append(out, i)
	}
	return out
}

// TestByteFlipsOfRealFile does the same to a library.
func TestByteFlipsOfRealFile(t *testing.T) {
	image, err := os.ReadFile(testenv.File(t, "/bin/ls", "coreutils"))
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewSource(2))
	places := headerBytes(t, image)
	for range 400 {
		bad := bytes.Clone(image)
		at := places[rng.Intn(len(places))]
		bad[at] = flipped(rng, bad[at])
		if grown, took := cost(func() { useAll(t, bad) }); grown > 512<<20 || took > 3*time.Second {
			t.Errorf("byte %#x: %d bytes, %v", at, grown, took)
		}
	}
}

func FuzzNewFile(f *testing.F) {
	for i := range kinds {
		e := kinds[i].e
		f.Add(syntheticImage(&e))
	}
	e := testELF{bits: 64, order: binary.LittleEndian, typ: 4}
	f.Add(e.build())
	f.Add([]byte("\x7fELF"))
	f.Fuzz(func(t *testing.T, image []byte) { useAll(t, image) })
}
