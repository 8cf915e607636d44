package unwind

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/arch"
)

// FuzzExidx reads any bytes as index and tables, which follow each other at an
// address in the code that they may describe. The first byte is the byte order,
// the next two the length of the index in entries.
func FuzzExidx(f *testing.F) {
	paths, err := filepath.Glob(testenv.Input(f) + "/exidx*.elf")
	if err != nil || len(paths) == 0 {
		f.Fatalf("%d fixtures: %v", len(paths), err)
	}
	paths = append(paths, testenv.Input(f, "cpu-thumb.elf"))
	const libstdcxx = "/usr/arm-linux-gnueabihf/lib/libstdc++.so.6"
	if _, err := os.Stat(libstdcxx); err == nil {
		paths = append(paths, libstdcxx)
	}
	for _, path := range paths {
		f.Add(exidxSeed(f, path))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < 3 {
			return
		}
		order := binary.ByteOrder(binary.LittleEndian)
		if b[0]&1 != 0 {
			order = binary.BigEndian
		}
		n := min(exidxEntrySize*int(binary.LittleEndian.Uint16(b[1:])), len(b)-3)
		const at = 0x10000
		index := Section{Name: "i", Addr: at, Data: b[3 : 3+n]}
		tables := Section{Name: "t", Addr: at + uint64(n), Data: b[3+n:]}
		in := &Input{Arch: arch.ARM, Order: order, PtrSize: 4, Base: 0x400, Index: []Section{index},
			Tables: func(addr uint64) (Section, bool) {
				if addr < tables.Addr {
					return index, true
				}
				return tables, true
			},
			CodeEnd: func(addr uint64) (uint64, bool) { return 0x40000000, addr < 0x40000000 },
		}
		if b[0]&2 != 0 { // the tables are DWARF, too
			in.Sections = []Section{{Name: "d", Data: tables.Data}}
		}
		table, _, _ := readTable(in)
		if err := checkTable(arch.ARM, &table); err != nil {
			t.Error(err)
		}
	})
}

// exidxSeed makes a seed from the first entries of a file; entries with a table
// keep it.
func exidxSeed(f *testing.F, path string) []byte {
	in := openInput(f, path)
	s := in.Index[0]
	n := min(len(s.Data)/exidxEntrySize, 60)
	seed := []byte{0, byte(n), 0}
	if in.Order == binary.ByteOrder(binary.BigEndian) {
		seed[0] = 1
	}
	var tables []byte
	for i := range n {
		e := s.Data[exidxEntrySize*i:]
		at := uint32(exidxEntrySize*i) + 4
		first, word := in.Order.Uint32(e), in.Order.Uint32(e[4:])
		entry := make([]byte, exidxEntrySize)
		in.Order.PutUint32(entry, first)
		in.Order.PutUint32(entry[4:], word)
		if word != exidxCantUnwind && word&exidxHigh == 0 {
			addr := uint64(prel31(word, s.Addr+uint64(at)))
			if t, ok := in.Tables(addr); ok {
				in.Order.PutUint32(entry[4:], uint32(exidxEntrySize*n)+uint32(len(tables))-at)
				tables = append(tables, t.Data[addr-t.Addr:min(addr-t.Addr+16, uint64(len(t.Data)))]...)
			}
		}
		seed = append(seed, entry...)
	}
	return append(seed, tables...)
}
