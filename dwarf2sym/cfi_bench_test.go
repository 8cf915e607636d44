package dwarf2sym

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
)

// BenchmarkCFI reads real sections, and one of the size of a kernel's: 49,000
// FDEs with seven rows each.
func BenchmarkCFI(b *testing.B) {
	for name, path := range map[string]func(testing.TB) string{"libc": cfiLibc, "libstdc++": cfiLibstdcxx} {
		b.Run(name, func(b *testing.B) {
			in, _ := cfiOpen(b, path(b))
			benchmarkCFI(b, in)
		})
	}
	b.Run("kernel", func(b *testing.B) { benchmarkCFI(b, cfiKernel(b)) })
}

// cfiKernel makes a .debug_frame as the kernel's build leaves it: many CIEs, and
// functions that push registers and pop them.
func cfiKernel(b *testing.B) *cfiInput {
	x := cfiAsmCase{arch: arch.X86_64, order: binary.LittleEndian}
	var text strings.Builder
	for i := range 49000 {
		if i%20 == 0 {
			text.WriteString("cie\n def_cfa 7 8\n offset 16 1\n")
		}
		fmt.Fprintf(&text, "fde %d 256\n advance_loc 2\n def_cfa_offset 16\n offset 6 2\n advance_loc 3\n def_cfa_register 6\n", 0x1000+256*i)
		fmt.Fprintf(&text, " advance_loc 2\n offset %d 3\n advance_loc 2\n offset 12 4\n advance_loc1 %d\n remember_state\n", 13+i%2, 100+i%50)
		text.WriteString(" restore 12\n restore 6\n def_cfa 7 8\n advance_loc 1\n restore_state\n advance_loc 20\n def_cfa 7 8\n")
	}
	return &cfiInput{arch: x.arch, order: x.order, ptrSize: 8, sections: []cfiSection{{".debug_frame", 0, x.assemble(b, text.String()), false, ""}}}
}

func benchmarkCFI(b *testing.B, in *cfiInput) {
	size := 0
	for _, s := range in.sections {
		size += len(s.data)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	rows := 0
	start := cfiUserTime()
	for b.Loop() {
		_, stats, _ := readCFI(context.Background(), in)
		rows = stats.Rows + stats.Blocks
	}
	b.ReportMetric(float64(rows), "rows")
	b.ReportMetric(float64(cfiUserTime()-start)/float64(b.N*rows), "cpu-ns/row")
}

// cfiUserTime returns the processor time used so far, in nanoseconds: the clock says
// little on a machine with other work.
func cfiUserTime() int64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Utime.Nano()
}
