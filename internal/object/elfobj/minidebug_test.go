package elfobj

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"runtime"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"

	"github.com/symtool/symtool/internal/object"
)

// packXZ compresses data with a dictionary of 1 MiB, in blocks of size bytes;
// 0 means one block.
func packXZ(t testing.TB, data []byte, size int64) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := xz.WriterConfig{DictCap: 1 << 20, BlockSize: max(size, 1<<40*b2i(size == 0))}.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// innerELF returns a file with a symbol table, as .gnu_debugdata holds it.
func innerELF(e testELF) []byte {
	e.secs = []testSec{
		{name: ".text", typ: stNobits, flags: 6, addr: 0x1000, size: 0x100},
		{name: ".symtab", typ: stSymtab, link: 3, data: make([]byte, map[int]int{32: 16, 64: 24}[e.bits])},
		{name: ".strtab", typ: stStrtab, data: []byte{0}},
	}
	return e.build()
}

// outerELF returns a file with data in .gnu_debugdata.
func outerELF(e testELF, data []byte) []byte {
	e.secs = []testSec{
		{name: ".text", typ: stProgbits, flags: 6, addr: 0x1000, data: make([]byte, 0x100)},
		{name: miniDebugSection, typ: stProgbits, data: data},
	}
	return e.build()
}

func TestMiniDebug(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			inner := innerELF(k.e)
			zero4 := make([]byte, 4)
			for name, packed := range map[string][]byte{
				"one block":           packXZ(t, inner, 0),
				"several blocks":      packXZ(t, inner, 100),
				"two streams":         append(packXZ(t, inner[:99], 0), packXZ(t, inner[99:], 0)...),
				"padding":             bytes.Join([][]byte{packXZ(t, inner[:99], 0), zero4, packXZ(t, inner[99:], 0), zero4, zero4}, nil),
				"empty stream before": append(packXZ(t, nil, 0), packXZ(t, inner, 0)...),
			} {
				f := mustOpen(t, outerELF(k.e, packed))
				mini, err := f.Embedded()
				if err != nil || mini == nil {
					t.Fatalf("%s: %v, %v", name, mini, err)
				}
				if mini.Path != f.Path+"(.gnu_debugdata)" || mini.Size != int64(len(inner)) || !mini.HasSymbols(object.Symtab) {
					t.Errorf("%s: %q of %d bytes, want %d", name, mini.Path, mini.Size, len(inner))
				}
				if d, err := f.Moved(mini); d != 0 || err != nil {
					t.Errorf("%s: moved by %#x: %v", name, d, err)
				}
			}
		})
	}
	if mini, err := mustOpen(t, innerELF(kinds[0].e)).Embedded(); mini != nil || err != nil {
		t.Errorf("without the section: %v, %v", mini, err)
	}
}

func mustOpen(t *testing.T, data []byte) *File {
	t.Helper()
	f, err := NewFile(bytes.NewReader(data), int64(len(data)), "prog", object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestMiniDebugDamage(t *testing.T) {
	k := kinds[0]
	good := packXZ(t, innerELF(k.e), 0)
	other := kinds[0].e
	other.mach++
	at := func(off int, b ...byte) []byte {
		out := bytes.Clone(good)
		if off < 0 {
			off += len(out)
		}
		copy(out[off:], b)
		return out
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"no xz":            {[]byte("this is not an xz file at all, sorry"), "want the end of an xz stream"},
		"short":            {good[:8], "want the end of an xz stream"},
		"only padding":     {make([]byte, 64), "want the end of an xz stream"},
		"cut":              {good[4:], "prog: .gnu_debugdata+0x"},
		"no header":        {at(0, 'x'), "xz data: "},
		"contents changed": {at(100, 0xff, 0xff, 0xff), "xz data: "},
		"index too long":   {at(-8, 0xff, 0xff, 0, 0), "xz index of"},
		"index elsewhere":  {at(-8, 0, 0, 0, 0), "want an xz index"},
		"no ELF":           {packXZ(t, []byte("hello"), 0), "prog(.gnu_debugdata): not a binary"},
		"other processor":  {packXZ(t, other.build(), 0), "prog(.gnu_debugdata): for "},
		"dictionary":       {withDict(good, 40), ".gnu_debugdata+0x0: xz data: a dictionary of more than 67108864 bytes"},
		"dictionary size":  {withDict(good, 41), "xz data: a filter or an option that is not supported"},
		"x86 filter":       {withFilter(good, 0x04), "xz data: a filter or an option that is not supported"},
		"two filters":      {withFilters(good), "xz data: a filter or an option that is not supported"},
		"bomb":             {withIndex(good, 1<<40), "1099511627776 bytes of xz contents would exceed the limit"},
		"lie: more":        {withIndex(good, 15<<20), "xz data: "},
		"lie: less":        {withIndex(good, 10), "xz data of 11 bytes, its index says 10"},
		"sum overflows":    {withIndex(good, 1<<62+1), "damaged xz index"},
	} {
		f := mustOpen(t, outerELF(k.e, c.data))
		left := f.in.Held.Left()
		mini, err := f.Embedded()
		if err == nil || mini != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if got := f.in.Held.Left(); left-got > int64(len(c.data)+1<<12) {
			t.Errorf("%s: %d bytes are still charged", name, left-got)
		}
	}
}

// The contents are zeros, one byte over the limit.
func TestMiniDebugBomb(t *testing.T) {
	k := kinds[0]
	bomb := bytes.Repeat(packXZ(t, make([]byte, 1<<20), 0), 40)
	f := mustOpen(t, outerELF(k.e, bomb))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := f.Embedded()
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "41943040 bytes of xz contents would exceed the limit") {
		t.Errorf("%d bytes: %v", len(bomb), err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
		t.Errorf("%d bytes charged, want 0", used)
	}
}

// Any changed byte, and any cut, gives an error or the same file.
func TestMiniDebugEveryByte(t *testing.T) {
	k := kinds[0]
	inner := innerELF(k.e)
	good := packXZ(t, inner, 300)
	for i := range good {
		for _, x := range []byte{1, 0x80, 0xff} {
			data := bytes.Clone(good)
			data[i] ^= x
			mustOpen(t, outerELF(k.e, data)).tryMini(t, fmt.Sprintf("byte %d ^ %#x", i, x), inner)
		}
		mustOpen(t, outerELF(k.e, good[:i])).tryMini(t, fmt.Sprintf("cut at %d", i), inner)
	}
}

func (f *File) tryMini(t *testing.T, what string, want []byte) {
	t.Helper()
	mini, err := f.Embedded()
	if err != nil && strings.Contains(err.Error(), "panicked") {
		t.Errorf("%s: %v", what, err)
	}
	if err != nil || mini == nil {
		return
	}
	got := make([]byte, mini.Size)
	if err := Of(mini).in.ReadAt(got, 0); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: other contents: %v", what, err)
	}
}

// withBlockHeader changes the header of the first block and corrects its checksum. The
// header has flags, the LZMA2 filter and padding.
func withBlockHeader(packed []byte, change func(head []byte)) []byte {
	out := bytes.Clone(packed)
	head := out[12 : 12+(int(out[12])+1)*4]
	change(head)
	binary.LittleEndian.PutUint32(head[len(head)-4:], crc32.ChecksumIEEE(head[:len(head)-4]))
	return out
}

func withDict(packed []byte, dict byte) []byte {
	return withBlockHeader(packed, func(h []byte) { h[bytes.Index(h, []byte{0x21, 1})+2] = dict })
}

func withFilter(packed []byte, id byte) []byte {
	return withBlockHeader(packed, func(h []byte) { h[bytes.Index(h, []byte{0x21, 1})] = id })
}

func withFilters(packed []byte) []byte {
	return withBlockHeader(packed, func(h []byte) { h[1] |= 1 })
}

// withIndex replaces the uncompressed size in an index of one block.
func withIndex(packed []byte, plain uint64) []byte {
	foot := packed[len(packed)-12:]
	start := len(packed) - 12 - int(binary.LittleEndian.Uint32(foot[4:])+1)*4
	_, n := binary.Uvarint(packed[start+2:])
	index := binary.AppendUvarint(bytes.Clone(packed[start:start+2+n]), plain)
	for len(index)%4 != 0 {
		index = append(index, 0)
	}
	index = binary.LittleEndian.AppendUint32(index, crc32.ChecksumIEEE(index))
	end := bytes.Clone(foot)
	binary.LittleEndian.PutUint32(end[4:], uint32(len(index)/4-1))
	binary.LittleEndian.PutUint32(end, crc32.ChecksumIEEE(end[4:10]))
	return bytes.Join([][]byte{packed[:start], index, end}, nil)
}

// No contents of .gnu_debugdata cause a panic, or a file that exceeds the limits.
func FuzzMiniDebug(f *testing.F) {
	k := kinds[0]
	inner := innerELF(k.e)
	good := packXZ(f, inner, 0)
	for _, seed := range [][]byte{good, good[:40], packXZ(f, inner, 100), withIndex(good, 1<<40), withDict(good, 40), bytes.Repeat(good, 3)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, packed []byte) {
		file := mustOpen(t, outerELF(k.e, packed))
		mini, err := file.Embedded()
		if err != nil && strings.Contains(err.Error(), "panicked") {
			t.Fatal(err)
		}
		if mini == nil {
			return
		}
		if limit := file.in.Limits.HeldBytes(file.Size); mini.Size > limit {
			t.Fatalf("%d bytes, over the limit of %d", mini.Size, limit)
		}
		_ = mini.Symbols(object.Symtab, func(*object.Symbol) {})
	})
}
