package sframe

import (
	"debug/elf"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// program returns n invented functions of AMD64 in the mix that compilers write: leaves,
// frames with and without frame pointer, and registers that are pushed one by one.
func program(n int) []Func {
	r := rand.New(rand.NewPCG(1, 1))
	funcs := make([]Func, n)
	start := uint64(0x401000)
	for i := range funcs {
		size := 16 + uint32(r.ExpFloat64()*200)
		funcs[i] = Func{Start: start, Size: size, Rows: body(r, size)}
		start += uint64(size+15) &^ 15
	}
	return funcs
}

// body returns invented rows of a function of at least 16 bytes.
func body(r *rand.Rand, size uint32) []Row {
	sp := func(start uint32, offset int64) Row {
		return Row{Start: start, CFA: Rule{Value, 7, offset}, RA: amd64RA}
	}
	framed := func(start uint32, reg Reg) Row {
		return Row{Start: start, CFA: Rule{Value, reg, 16}, RA: amd64RA, FP: Rule{Memory, CFA, -16}}
	}
	switch kind := r.IntN(10); {
	case kind < 3:
		return []Row{sp(0, 8)}
	case kind < 6:
		return []Row{sp(0, 8), sp(4, 16+8*r.Int64N(40)), sp(size-1, 8)}
	case kind < 8:
		return []Row{sp(0, 8), framed(1, 7), framed(4, 6), at(size-1, framed(0, 7))}
	}
	rows := []Row{sp(0, 8)}
	pushes := uint32(1 + r.IntN(6))
	for k := range pushes {
		rows = append(rows, sp(2*k+1, int64(16+8*k)))
	}
	for k := range pushes {
		if start := size - pushes + k; start > rows[len(rows)-1].Start {
			rows = append(rows, sp(start, int64(8*(pushes-k))))
		}
	}
	return rows
}

const benchFuncs = 100_000

// sections calls bench with sections of an invented program, and with one of a real program.
func sections(b *testing.B, bench func(b *testing.B, data []byte, addr uint64)) {
	funcs := program(benchFuncs)
	for _, version := range []uint8{2, 3} {
		data, problems := mustEncode(b, funcs, Target{Version: version, ABI: AMD64, Addr: 0x400000})
		if problems != nil {
			b.Fatal(problems)
		}
		b.Run(fmt.Sprintf("V%d", version), func(b *testing.B) { bench(b, data, 0x400000) })
	}
	b.Run("file", func(b *testing.B) {
		f, err := elf.Open(testenv.Shared(b, "data", "sframe", "elf", "amd64-v3-exe-pie"))
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		s := f.Section(".sframe")
		data, err := s.Data()
		if err != nil {
			b.Fatal(err)
		}
		bench(b, data, s.Addr)
	})
}

// BenchmarkDecode decodes a section and every row.
func BenchmarkDecode(b *testing.B) {
	sections(b, func(b *testing.B, data []byte, addr uint64) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		rows := 0
		for b.Loop() {
			rows = allRows(b, data, addr)
		}
		b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
	})
}

// allRows decodes a section and its rows, and returns their number.
func allRows(b *testing.B, data []byte, addr uint64) (rows int) {
	s, err := Decode(data, Options{Addr: addr})
	if err != nil {
		b.Fatal(err)
	}
	for i := range s.FDEs {
		r := s.Rows(i)
		for r.Next() {
			rows++
		}
		if r.Err() != nil {
			b.Fatal(r.Err())
		}
	}
	return rows
}

// addresses returns random addresses in a section's functions, unsorted.
func addresses(s *Section) []uint64 {
	r := rand.New(rand.NewPCG(2, 2))
	pcs := make([]uint64, 1<<16)
	for i := range pcs {
		f := &s.FDEs[r.IntN(len(s.FDEs))]
		pcs[i] = f.Start + r.Uint64N(uint64(f.Size))
	}
	return pcs
}

// BenchmarkFind looks up unsorted addresses.
func BenchmarkFind(b *testing.B) {
	sections(b, func(b *testing.B, data []byte, addr uint64) {
		s, err := Decode(data, Options{Addr: addr})
		if err != nil {
			b.Fatal(err)
		}
		pcs := addresses(s)
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			if _, _, err := s.Find(pcs[i&(len(pcs)-1)]); err != nil {
				b.Fatal(err)
			}
			i++
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mlookups/s")
	})
}

// BenchmarkEncode encodes the functions of a section.
func BenchmarkEncode(b *testing.B) {
	sections(b, func(b *testing.B, data []byte, addr uint64) {
		s, err := Decode(data, Options{Addr: addr})
		if err != nil {
			b.Fatal(err)
		}
		funcs, problems := s.Funcs()
		if problems != nil {
			b.Fatal(problems)
		}
		target := Target{Version: s.Headers[0].Version, ABI: s.Headers[0].ABI, Addr: addr}
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := Encode(funcs, target); err != nil {
				b.Fatal(err)
			}
		}
	})
}
