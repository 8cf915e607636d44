package elfcore

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// use reads all of a dump, and checks what holds for every dump.
func use(t testing.TB, d *dump.Dump) {
	t.Helper()
	for i := range d.Threads {
		if c := d.Threads[i].Context; c != nil {
			d.ModuleAt(c.PC())
			d.Memory.Word(c.SP(), 8)
		}
		if s := d.Threads[i].Stack; s.Size > 0 && d.Memory.Find(s.Addr) == nil {
			t.Fatal("a stack that is not in memory")
		}
	}
	for i := 1; i < len(d.Memory.Regions); i++ {
		if a, b := &d.Memory.Regions[i-1], &d.Memory.Regions[i]; a.Addr+uint64(len(a.Data)-1) >= b.Addr {
			t.Fatal("memory overlaps")
		}
	}
	for i := 1; i < len(d.Modules); i++ {
		if d.Modules[i-1].Size > 0 && d.Modules[i-1].Contains(d.Modules[i].Addr) {
			t.Fatal("modules overlap")
		}
	}
	for i := 1; i < len(d.Maps); i++ {
		if d.Maps[i-1].Addr > d.Maps[i].Addr {
			t.Fatal("mappings out of order")
		}
	}
	if d.Main >= len(d.Modules) {
		t.Fatal("no module", d.Main)
	}
	for _, p := range d.Problems {
		_ = p.String()
	}
}

// Many segments with the same bytes of the file cannot be the memory of a process, which would be
// larger than the file by a factor of the number of segments.
func TestSharedSegments(t *testing.T) {
	const count, size = 100, 1 << 16
	le := binary.LittleEndian
	data := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 57)...)
	for at, v := range map[int]uint16{16: 4, 18: 62, 52: 64, 54: 56, 56: count, 58: 64} {
		le.PutUint16(data[at:], v)
	}
	le.PutUint32(data[20:], 1)
	le.PutUint64(data[32:], 64)
	for i := range uint64(count) {
		data = le.AppendUint32(le.AppendUint32(data, 1), 6)
		for _, v := range []uint64{64 + 56*count, 0x10000 * (i + 1), 0, size, size, 1} {
			data = le.AppendUint64(data, v)
		}
	}
	d, err := Read(append(data, make([]byte, size)...), "core", Options{})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, r := range d.Memory.Regions {
		sum += len(r.Data)
	}
	if sum != maxShared*size || len(d.Maps) != count {
		t.Errorf("%d bytes of memory, %d mappings", sum, len(d.Maps))
	}
	found := false
	for _, p := range d.Problems {
		found = found || strings.Contains(p.String(), "98 of 100 segments have the same bytes of the file as others") && p.Lost == "6422528 bytes of memory"
	}
	if !found {
		t.Errorf("problems %v", d.Problems)
	}
}

// readDamaged reads a core with any damage, and writes it again.
func readDamaged(t testing.TB, data []byte) {
	t.Helper()
	watch := testenv.StartWatch()
	d, err := Read(data, "damaged", Options{})
	if took := watch.Took(); took > 5*time.Second {
		t.Fatalf("%d bytes took %v", len(data), took)
	}
	if err != nil {
		return
	}
	use(t, d)
	if d.Arch != nil {
		var b bytes.Buffer
		if _, err := Write(&b, d); err != nil && d.Arch.PtrSize == 8 {
			t.Fatal(err)
		}
	}
}

// headersSize is the part of a core that describes the rest.
const headersSize = 24 << 10

// Damage to any byte, or truncation at any place, does not cost more than what it damages.
func TestDamaged(t *testing.T) { damageCores(t, append([]string{stacksCore}, fixtureCores...)) }

// The same for the shared cores.
func TestDamagedShared(t *testing.T) {
	testenv.Shared(t, "data", "crashes")
	damageCores(t, realCores)
}

func damageCores(t *testing.T, names []string) {
	if testing.Short() {
		t.Skip("one goroutine")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	const flips, cuts = 100, 30
	variants := 0
	for _, c := range names {
		whole := coreData(t, c)
		small := whole[:min(len(whole), 900<<10)] // more is stacks of zeros
		data := bytes.Clone(small)
		for range flips {
			at := rng.IntN(min(len(data), headersSize))
			old := data[at]
			data[at] ^= 1 << rng.IntN(8)
			if rng.IntN(3) == 0 {
				data[at] = []byte{0, 0xff, 0x80, 0x7f}[rng.IntN(4)]
			}
			readDamaged(t, data)
			if rng.IntN(4) > 0 { // else the damage stays
				data[at] = old
			}
			variants++
		}
		for i := range cuts {
			n := rng.IntN(len(small))
			if i%2 == 0 {
				n = rng.IntN(min(len(small), headersSize))
			}
			readDamaged(t, small[:n])
			variants++
		}
	}
	t.Logf("%d variants", variants)
}

// A truncated core has the threads in its notes, and the losses are reported.
func TestCutShort(t *testing.T) {
	whole := sharedCore(t, "crashes/threads")
	for _, n := range []int{700_000, 200_000, 24_000} {
		d, err := Read(whole[:n], "core", Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Threads) != 5 || len(d.Problems) != 1 || len(d.Maps) != 53 {
			t.Errorf("%d bytes: %d threads, %d mappings, %v", n, len(d.Threads), len(d.Maps), d.Problems)
		}
		size := 0
		for _, r := range d.Memory.Regions {
			size += len(r.Data)
		}
		if size > n || n > 100_000 && size < n-30_000 {
			t.Errorf("%d bytes: %d of memory", n, size)
		}
	}
	if d, err := Read(whole[:8_000], "core", Options{}); err != nil || len(d.Threads) != 1 || len(d.Problems) < 2 {
		t.Errorf("8000 bytes: %+v, %v", d, err)
	}
}

// gdb's cores have section headers at the end, which are not needed.
func TestCutSectionHeaders(t *testing.T) {
	whole := sharedCore(t, "arch/mips64")
	want, err := Read(whole, "core", Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read(whole[:len(whole)-100], "core", Options{})
	if err != nil || len(got.Problems) != 1 || !dump.Same(got.Threads[0].Context, want.Threads[0].Context) || len(got.Maps) != len(want.Maps) {
		t.Errorf("%+v, %v", got, err)
	}
}

// As many modules as a process can have, all with one header, take a few seconds at
// most.
func TestManyModules(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine")
	}
	d := process(arch.X86_64, binary.LittleEndian)
	head := firstPage(t)
	d.Maps, d.Auxv, d.Memory.Regions = nil, nil, nil
	var regions []dump.Region
	const n = 20_000
	for i := range uint64(n) {
		at := dump.Range{Addr: 1<<30 + i<<16, Size: 2 * 4096}
		d.Maps = append(d.Maps, dump.Mapping{Range: at, Read: true, Exec: true, Path: "/bin/prog"})
		regions = append(regions, dump.Region{Addr: at.Addr, Data: head})
	}
	d.Memory = dump.NewMemory(d.Order, regions)
	var b bytes.Buffer
	if _, err := Write(&b, d); err != nil {
		t.Fatal(err)
	}
	watch := testenv.StartWatch()
	got, err := Read(hideRest(t, b.Bytes(), d.Order), "core", Options{})
	if err != nil || len(got.Modules) != n {
		t.Fatal(len(got.Modules), err)
	}
	if took := watch.Took(); took > 20*time.Second {
		t.Errorf("%v", took)
	} else {
		t.Log(took)
	}
}

// small returns a core of some kilobytes.
func small(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := Write(&b, process(arch.X86_64, binary.LittleEndian)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Each byte of the headers and notes of a small core is set to extreme values, and the
// core is truncated at each.
func TestEachByte(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine")
	}
	data := small(t)
	end := bytes.Index(data, []byte(dump.RestOwner))
	for at := range end {
		old := data[at]
		for _, v := range []byte{0, 0xff, 0x80, old + 1, old ^ 0x10} {
			data[at] = v
			readDamaged(t, data)
		}
		data[at] = old
		readDamaged(t, data[:at])
	}
	t.Logf("%d variants", 6*end)
}

// Sizes beyond the file are refused before anything is allocated for them.
func TestHostileSizes(t *testing.T) {
	le := binary.LittleEndian
	note := func(owner string, kind uint32, desc []byte) []byte {
		b := le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, uint32(len(owner)+1)), uint32(len(desc))), kind)
		b = append(append(b, owner...), 0)
		for len(b)%4 != 0 {
			b = append(b, 0)
		}
		return append(b, desc...)
	}
	word := func(v ...uint64) (b []byte) {
		for _, v := range v {
			b = le.AppendUint64(b, v)
		}
		return b
	}
	core := func(notes []byte, loads ...[4]uint64) []byte {
		b := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 9)...)
		b = le.AppendUint32(le.AppendUint16(le.AppendUint16(b, 4), 62), 1)
		b = append(b, word(0, 64, 0)...)
		b = le.AppendUint16(le.AppendUint16(le.AppendUint32(b, 0), 64), 56)
		b = append(le.AppendUint16(b, uint16(len(loads)+1)), make([]byte, 6)...)
		phdr := func(kind uint32, off, addr, filesz, memsz uint64) {
			b = append(le.AppendUint32(le.AppendUint32(b, kind), 7), word(off, addr, 0, filesz, memsz, 1)...)
		}
		phdr(4, uint64(64+56*(len(loads)+1)), 0, uint64(len(notes)), 0)
		for _, l := range loads {
			phdr(1, l[0], l[1], l[2], l[3])
		}
		return append(b, notes...)
	}
	for name, c := range map[string]struct {
		data    []byte
		regions int
		maps    int
	}{
		"a note of 4 GB":                    {core(append(note("CORE", 1, nil)[:4], 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0)), 0, 0},
		"a name of 4 GB":                    {core([]byte{0xff, 0xff, 0xff, 0xff, 4, 0, 0, 0, 1, 0, 0, 0, 1, 2, 3, 4}), 0, 0},
		"2^60 files":                        {core(note("CORE", ntFile, word(1<<60, 4096))), 0, 0},
		"files without names":               {core(note("CORE", ntFile, word(1, 4096, 0x1000, 0x2000, 0))), 0, 0},
		"a file that ends before it begins": {core(note("CORE", ntFile, append(word(1, 4096, 0x2000, 0x1000, 0), "x\x00"...))), 0, 0},
		"a segment beyond the file":         {core(nil, [4]uint64{1 << 62, 0x1000, 1 << 62, 1 << 62}), 0, 1},
		"a segment that wraps":              {core(nil, [4]uint64{0, ^uint64(0) - 15, 64, 1 << 20}), 1, 1},
		"all of the address space":          {core(nil, [4]uint64{0, 0, ^uint64(0), ^uint64(0)}), 1, 1},
		"segments with other bytes":         {core(nil, [4]uint64{0, 0x1000, 64, 64}, [4]uint64{8, 0x1020, 64, 64}), 2, 2},
	} {
		d, err := Read(c.data, "x", Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(d.Memory.Regions) != c.regions || len(d.Maps) != c.maps || len(d.Problems) == 0 {
			t.Errorf("%s: %d regions, %d mappings, %v", name, len(d.Memory.Regions), len(d.Maps), d.Problems)
		}
		readDamaged(t, c.data)
	}
}

func FuzzCore(f *testing.F) {
	f.Add(small(f))
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		var b bytes.Buffer
		if _, err := Write(&b, process(arch.MIPS, order)); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Add(vmcore(paging))
	f.Add(loggingKernel(printkInfo, nil))
	f.Add(loggingKernel(oldLogInfo, nil))
	f.Add(vmcore("NUMBER(pgtable_l5_enabled)=1\nNUMBER(sme_mask)=0x800000000000\n" + paging))
	for _, name := range fixtureCores {
		data := coreData(f, name)
		f.Add(data[:min(len(data), 6<<10)]) // only headers and notes: with more, the minimizer takes minutes for little effect
	}
	f.Fuzz(func(t *testing.T, data []byte) { readDamaged(t, data) })
}
