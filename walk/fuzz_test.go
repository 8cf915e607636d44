package walk

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// fuzzSymbols is a small symbol file with everything that the walker reads.
const fuzzSymbols = `MODULE Linux x86_64 000000000000000000000000000000000 app
FILE 0 a.c
INLINE_ORIGIN 0 inlined
FUNC 100 100 8 f
INLINE 0 3 0 0 110 20
100 20 1 0
120 e0 2 0
FUNC 200 100 0 __restore_rt
PUBLIC 300 4 _start
STACK CFI INIT 100 80 .cfa: $rsp 16 + .ra: .cfa 8 - ^ $rbp: .cfa 16 - ^
STACK CFI 140 .cfa: $rbp 16 +
STACK CFI INIT 180 80 .cfa: sp 16 + .ra: x30 x29: .cfa 16 - ^
STACK CFI INIT 200 100 .cfa: $rsp 160 + ^ .ra: $rsp 168 + ^ $rsp: $rsp 160 + ^ $rax: $rsp 144 + ^
STACK CFI INIT 300 80 .cfa: $rsp 8 + .ra: .undef
STACK WIN 4 400 40 3 0 4 8 10 0 1 $T0 $ebp = $eip $T0 4 + ^ = $ebp $T0 ^ = $esp $T0 8 + =
STACK WIN 4 440 40 3 0 4 8 10 0 1 $T0 .raSearch = $eip $T0 ^ = $esp $T0 4 + = $ebx $T0 4 - ^ =
STACK WIN 0 480 40 3 0 4 8 10 0 0 1
`

// fuzzDumps returns small dumps: one for each CPU in both formats, and fixtures.
func fuzzDumps(f *testing.F) (list [][]byte) {
	for _, cpu := range arch.All {
		for _, os := range []dump.OS{dump.Linux, dump.Windows, dump.MacOS} {
			for _, format := range dumpfile.Formats() {
				if data := fuzzDump(f, cpu, os, format.Name); data != nil {
					list = append(list, data)
				}
			}
		}
	}
	for _, name := range []string{"mini-linux.dmp", "mini-linux-be.dmp", "mini-windows.dmp", "mini-hostile.dmp"} {
		data := testenv.ReadInput(f, name)
		list = append(list, data)
	}
	return append(list, testenv.Gunzip(f, testenv.Input(f, "walk-sources.core.gz")))
}

// fuzzDump returns a dump for a CPU with a stack for every technique, or nil if the format cannot
// represent it.
func fuzzDump(f *testing.F, cpu *arch.Arch, os dump.OS, format string) []byte {
	a := walktest.Assemble(new(testing.T), cpu, os).Module("app", 0x400000, 0x1000, "").At(stackAt).Mark("sp")
	for i := range 6 {
		a.Words("sp", inF, inG, 0x400410+i*0x40, 0x400310, 0x400200)
	}
	a.Mark("end").Zeros(8)
	regs := []any{cpu.PC, 0x400120, cpu.SP, "sp", cpu.FP, "end"}
	if cpu.RA != "" {
		regs = append(regs, cpu.RA, inG)
	}
	d := a.Regs(regs...).Regs(cpu.PC, 0, cpu.SP, "sp").Crashed(dump.Crash{Code: 11, Address: stackAt - 8, HasAddress: true}, regs...).Build()
	d.Maps = mappings("0x400000 0x1000 r-x", "0x6ffff000 0x1000 ---", "0x70000000 0x1000 rw-")
	var b bytes.Buffer
	if _, err := dumpfile.Write(&b, format, d); err != nil {
		return nil
	}
	return b.Bytes()
}

// fuzzSupplier has one file for all modules.
type fuzzSupplier struct{ r resolve.Symbols }

func (s fuzzSupplier) Symbols(context.Context, resolve.Module) (resolve.Symbols, []symfmt.Tried, error) {
	if s.r != nil {
		s.r.Share()
	}
	return s.r, nil, nil
}

// fuzzTime is how long the walk of a dump of this size may take, a thousand times the
// usual time.
const fuzzTime = time.Minute

// FuzzWalk checks that, whatever the dump and the symbol file contain, each thread gets a plausible
// stack quickly, and the same stack the second time.
func FuzzWalk(f *testing.F) {
	for _, data := range fuzzDumps(f) {
		f.Add(data, []byte(fuzzSymbols), uint16(0))
		f.Add(data, []byte{}, uint16(0x3f0))
	}
	path := filepath.Join(f.TempDir(), "a.sym")
	f.Fuzz(func(t *testing.T, data, text []byte, techniques uint16) {
		d, err := dumpfile.Read(data, "fuzz", dumpfile.Options{})
		if err != nil {
			return
		}
		c := Config{MaxFrames: 2000, Trace: len(data)%8 == 0}
		for i := ByContext; i <= ByScan && techniques != 0; i++ {
			if techniques>>i&1 != 0 {
				c.Techniques = append(c.Techniques, i)
			}
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		var symbols fuzzSupplier
		if r, err := resolve.Open(context.Background(), path, resolve.OpenOptions{}); err == nil {
			defer r.Close()
			symbols.r = r
		}
		w := NewWalker(&SymbolSet{Symbols: symbols}, c)
		first, again := fuzzWalk(t, w, d), fuzzWalk(t, w, d)
		if !reflect.DeepEqual(first.Stacks, again.Stacks) {
			t.Fatal("the second walk differs")
		}
		checkStacks(t, first, c.MaxFrames)
	})
}

func fuzzWalk(t *testing.T, w *Walker, d *dump.Dump) *Result {
	ctx, stop := context.WithTimeout(context.Background(), fuzzTime)
	defer stop()
	res, err := w.Walk(ctx, d)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// checkStacks checks what holds for every walk.
func checkStacks(t *testing.T, res *Result, limit int) {
	d := res.Dump
	if len(res.Stacks) != len(d.Threads) || len(res.Modules) != len(d.Modules) {
		t.Fatalf("%d stacks of %d threads, %d of %d modules", len(res.Stacks), len(d.Threads), len(res.Modules), len(d.Modules))
	}
	for i := range res.Stacks {
		s := &res.Stacks[i]
		if s.Thread != i || s.Why == "" || (s.End == EndNoContext) != (len(s.Frames) == 0) || len(s.Frames) > limit || s.End.String() == "" {
			t.Fatalf("thread %d: %d frames, end %v (%s)", i, len(s.Frames), s.End, s.Why)
		}
		jumps := 0
		for k := range s.Frames {
			f := &s.Frames[k]
			if (f.Trust == TrustContext) != (k == 0) || (f.By == ByContext) != (k == 0) || f.Module >= len(d.Modules) || f.PC < FirstPage && k > 0 && !f.Interrupted {
				t.Fatalf("thread %d frame %d: %+v", i, k, f)
			}
			if f.Module >= 0 && !d.Modules[f.Module].Contains(f.Inst) {
				t.Fatalf("thread %d frame %d: %#x is not in module %d", i, k, f.Inst, f.Module)
			}
			if k == 0 || f.SP > s.Frames[k-1].SP {
				continue
			}
			if before := &s.Frames[k-1]; !f.Interrupted && (f.SP != before.SP || !before.Interrupted) {
				t.Fatalf("thread %d frame %d: the stack pointer went from %#x to %#x", i, k, before.SP, f.SP)
			}
			jumps++
		}
		if jumps > 2*maxJumps+1 {
			t.Fatalf("thread %d: %d jumps", i, jumps)
		}
	}
}
