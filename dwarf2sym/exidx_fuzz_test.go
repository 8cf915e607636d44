package dwarf2sym

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
		index := cfiSection{"i", at, b[3 : 3+n], false, ""}
		tables := cfiSection{"t", at + uint64(n), b[3+n:], false, ""}
		in := &cfiInput{arch: arch.ARM, order: order, ptrSize: 4, base: 0x400, index: []cfiSection{index},
			tables: func(addr uint64) (cfiSection, bool) {
				if addr < tables.addr {
					return index, true
				}
				return tables, true
			},
			codeEnd: func(addr uint64) (uint64, bool) { return 0x40000000, addr < 0x40000000 },
		}
		if b[0]&2 != 0 { // the tables are DWARF, too
			in.sections = []cfiSection{{"d", 0, tables.data, false, ""}}
		}
		table, _, _ := cfiRead(in)
		if err := cfiCheckTable(arch.ARM, &table); err != nil {
			t.Error(err)
		}
	})
}

// exidxSeed makes a seed of the first entries of a file: those that have a table
// keep it.
func exidxSeed(f *testing.F, path string) []byte {
	in, _ := cfiOpen(f, path)
	s := in.index[0]
	n := min(len(s.data)/exidxEntrySize, 60)
	seed := []byte{0, byte(n), 0}
	if in.order == binary.ByteOrder(binary.BigEndian) {
		seed[0] = 1
	}
	var tables []byte
	for i := range n {
		e := s.data[exidxEntrySize*i:]
		at := uint32(exidxEntrySize*i) + 4
		first, word := in.order.Uint32(e), in.order.Uint32(e[4:])
		entry := make([]byte, exidxEntrySize)
		in.order.PutUint32(entry, first)
		in.order.PutUint32(entry[4:], word)
		if word != exidxCantUnwind && word&exidxHigh == 0 {
			addr := uint64(prel31(word, s.addr+uint64(at)))
			if t, ok := in.tables(addr); ok {
				in.order.PutUint32(entry[4:], uint32(exidxEntrySize*n)+uint32(len(tables))-at)
				tables = append(tables, t.data[addr-t.addr:min(addr-t.addr+16, uint64(len(t.data)))]...)
			}
		}
		seed = append(seed, entry...)
	}
	return append(seed, tables...)
}
