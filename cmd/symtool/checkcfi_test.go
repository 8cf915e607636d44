package main

import (
	"math"
	"testing"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/symfmt"
)

func TestCheckCFI(t *testing.T) {
	block := func(rva symfmt.RVA, size uint64) symfmt.CFIBlock { return symfmt.CFIBlock{RVA: rva, Size: size} }
	fn := func(rva symfmt.RVA, size uint64) symfmt.Func { return symfmt.Func{RVA: rva, Size: size} }
	// Touching, overlapping, nested and empty blocks, not in order.
	blocks := []symfmt.CFIBlock{block(0x20, 8), block(0x10, 0x10), block(0x24, 8), block(0x25, 1), block(0x50, 0), block(0x40, 4)}
	for _, c := range []struct {
		name   string
		m      symfmt.Module
		code   uint64
		want   cfiCheck
		saying string
	}{
		{"all", symfmt.Module{Funcs: []symfmt.Func{fn(0x10, 0x1c), fn(0x41, 3)}}, 100, cfiCheck{"function bytes", 0x1f, 0}, ""},
		{"edges", symfmt.Module{Funcs: []symfmt.Func{fn(0xf, 0x1e), fn(0x2c, 0x14), fn(0x3f, 6)}}, 100,
			cfiCheck{"function bytes", 0x38, 24}, "24 of 56 function bytes (42.86 %) without STACK CFI"},
		{"publics", symfmt.Module{Publics: []symfmt.Public{{RVA: 0x10}, {RVA: 0x2b}, {RVA: 0x2c}, {RVA: 0xf}}}, 100,
			cfiCheck{"public symbols", 4, 2}, "2 of 4 public symbols (50.00 %) without STACK CFI"},
		{"no functions", symfmt.Module{}, 100, cfiCheck{"code bytes", 100, 0}, ""},
	} {
		c.m.CFI.Blocks = append([]symfmt.CFIBlock(nil), blocks...)
		got := checkCFI(&c.m, &dwarf2sym.Stats{CodeBytes: c.code})
		if *got != c.want || got.finding() != c.saying {
			t.Errorf("%s: %+v, %q; want %+v", c.name, *got, got.finding(), c.want)
		}
	}
	none := checkCFI(&symfmt.Module{}, &dwarf2sym.Stats{CodeBytes: 7})
	if got := none.finding(); got != "7 of 7 code bytes (100.00 %) without STACK CFI" {
		t.Errorf("no CFI: %q", got)
	}
	if got := checkCFI(&symfmt.Module{}, &dwarf2sym.Stats{}).finding(); got != "" {
		t.Errorf("no code: %q", got)
	}
}

// Records at the end of the address space do not wrap around.
func TestCheckCFIAtTheEnd(t *testing.T) {
	m := symfmt.Module{Funcs: []symfmt.Func{{RVA: math.MaxUint64 - 3, Size: 4}}}
	m.CFI.Blocks = []symfmt.CFIBlock{{RVA: math.MaxUint64 - 1, Size: 2}, {RVA: 0, Size: 16}}
	if got := checkCFI(&m, &dwarf2sym.Stats{}); got.Total != 4 || got.Without != 2 {
		t.Errorf("%+v", *got)
	}
}
