package unwind

import (
	"encoding/binary"
	"testing"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt/arch"
)

// pdataInput returns a file with .pdata at RVA 0x1000, .xdata at 0x2000 and code at 0x3000.
func pdataInput(pdata, xdata, code []byte, cpu *arch.Arch) *Input {
	const base = 0x140000000
	sections := []Section{{Name: ".pdata", Addr: base + 0x1000, Data: pdata}, {Name: ".xdata", Addr: base + 0x2000, Data: xdata}, {Name: ".text", Addr: base + 0x3000, Data: code}}
	return &Input{
		Arch: cpu, Order: binary.LittleEndian, PtrSize: 8, Base: base, Pdata: true, Index: sections[:1], CodeBytes: uint64(len(code)),
		Code:    []Range{{base + 0x3000, base + 0x3000 + uint64(len(code))}},
		Exec:    func(addr uint64) bool { return addr-(base+0x3000) < uint64(len(code)) },
		Padding: func(code []byte) int { return int(code[0] / 0xcc) },
		Tables: func(addr uint64) (Section, bool) {
			for _, s := range sections {
				if addr-s.Addr < uint64(len(s.Data)) {
					return s, true
				}
			}
			return Section{}, false
		},
	}
}

// Any .pdata, .xdata and code give blocks that do not overlap, in bounded time.
func FuzzPdata(f *testing.F) {
	entry := func(words ...uint32) (b []byte) {
		for _, w := range words {
			b = binary.LittleEndian.AppendUint32(b, w)
		}
		return b
	}
	prologue := []byte("\x01\x0a\x03\x25\x0a\x03\x05\xd2\x01\x50\x00\x00")
	f.Add(entry(0x3000, 0x3014, 0x2000), prologue, []byte("\x55\x48\x83\xec\x70\x48\x8d\x6c\x24\x20\x90\x90\x90\x90\x48\x8d\x65\x50\x5d\xc3"), false)
	f.Add(entry(0x3000, 0x3004, 0x2000, 0x3004, 0x3008, 0x1001), []byte("\x21\x00\x00\x00\x00\x30\x00\x00\x04\x30\x00\x00\x00\x20\x00\x00"), make([]byte, 16), false)
	f.Add(entry(0x3000, 0x2000, 0x3008, 0x00a00021), []byte("\x08\x00\x40\x10\x05\x00\x00\x00\xe1\x83\xe4\xe4"), make([]byte, 64), true)
	f.Fuzz(func(t *testing.T, pdata, xdata, code []byte, isARM bool) {
		cpu := arch.X86_64
		if isARM {
			cpu = arch.ARM64
		}
		table, _, _ := readTable(pdataInput(pdata, xdata, code, cpu))
		var end uint64
		for _, b := range table.Blocks {
			if uint64(b.RVA) < end || b.Size == 0 {
				t.Fatalf("block at %#x of %d bytes behind %#x", uint64(b.RVA), b.Size, end)
			}
			end = uint64(b.RVA) + b.Size
			last := b.RVA
			for _, row := range table.Rows[b.First:][:b.Count] {
				if row.RVA <= last && row.RVA != b.RVA || uint64(row.RVA) >= end {
					t.Fatalf("row at %#x behind %#x, of a block up to %#x", uint64(row.RVA), uint64(last), end)
				}
				last = row.RVA
			}
		}
	})
}

// Chains that lead to themselves, and reserved codes, cost the entry and are reported.
func TestPdataDamage(t *testing.T) {
	for name, c := range map[string]struct {
		pdata, xdata []byte
		err          string
	}{
		"chain": {[]byte("\x00\x30\x00\x00\x04\x30\x00\x00\x00\x20\x00\x00"), []byte("\x21\x00\x00\x00\x00\x30\x00\x00\x04\x30\x00\x00\x00\x20\x00\x00"),
			".pdata+0x8: chained to more than 32 others"},
		"version":  {[]byte("\x00\x30\x00\x00\x04\x30\x00\x00\x00\x20\x00\x00"), []byte("\x05\x00\x00\x00"), ".xdata+0x0: unwind codes of version 5, want 1 or 2"},
		"outside":  {[]byte("\x00\x30\x00\x00\x04\x30\x00\x00\x00\x90\x00\x00"), nil, ".pdata+0x8: unwind codes at RVA 0x9000, where the file has no data"},
		"reserved": {[]byte("\x00\x30\x00\x00\x04\x30\x00\x00\x00\x20\x00\x00"), []byte("\x01\x00\x02\x00\x01\x0f\x01\x0f"), ".xdata+0x4: unwind code with a reserved operation"},
		"cut":      {[]byte("\x00\x30\x00\x00\x04\x30\x00\x00\x00\x20\x00\x00"), []byte("\x01\x00\xff\x00"), ".xdata+0x0: 255 unwind codes extend past the section"},
	} {
		table, _, problems := readTable(pdataInput(c.pdata, c.xdata, make([]byte, 4), arch.X86_64))
		if len(problems) != 1 || len(table.Blocks) != 0 {
			t.Errorf("%s: %d blocks, problems %v", name, len(table.Blocks), problems)
			continue
		}
		if e, ok := problems[0].Err.(*bin.Error); !ok || e.Error() != c.err {
			t.Errorf("%s: %v, want %s", name, problems[0].Err, c.err)
		}
	}
}

// The codes of 32-bit ARM are not read, which is a problem; the file does not count as one
// without rules.
func TestPdataThumb(t *testing.T) {
	table, _, problems := readTable(pdataInput([]byte("\x01\x30\x00\x00\x09\x00\x00\x00"), nil, make([]byte, 16), arch.ARM))
	want := ".pdata+0x0: unwind codes of arm are not read (lost: STACK CFI)"
	if len(problems) != 1 || problems[0].String() != want || len(table.Blocks) != 0 {
		t.Errorf("%d blocks, problems %v, want %s", len(table.Blocks), problems, want)
	}
}
