package walk_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/coroutine"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// fiberFacts reads what a program says of its fibers: "ADDRESS KIND DEPTH OLD". The result is by address.
func fiberFacts(t *testing.T, text []byte) (facts map[uint64]string, old map[uint64]uint64) {
	t.Helper()
	facts, old = map[uint64]string{}, map[uint64]uint64{}
	for line := range strings.Lines(string(text)) {
		var addr, before uint64
		var kind string
		var depth int
		if _, err := fmt.Sscanf(line, "%v %s %d %v", &addr, &kind, &depth, &before); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		facts[addr] = fmt.Sprint(kind, " ", depth)
		if before != 0 && before != addr {
			old[addr] = before
		}
	}
	return facts, old
}

// fibersOf returns the fibers of a walk in the same form, and that of the program's first stack.
func fibersOf(t *testing.T, res *walk.Result) (all map[uint64]string, first string) {
	t.Helper()
	all = map[uint64]string{}
	for i := range res.Stacks {
		s := &res.Stacks[i]
		if s.Coroutine == nil {
			continue
		}
		var names []string
		for k := range s.Frames {
			for _, n := range s.Frames[k].Names {
				names = append(names, n.Function)
			}
		}
		if slices.Contains(names, "main") {
			first += s.Coroutine.Kind.String() + " " + names[0]
			continue
		}
		levels := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n != "level" })
		text := fmt.Sprint(s.Coroutine.Kind, " ", len(levels)-1)
		if names[0] != "switch_from" && len(levels) > 0 || !slices.Contains(names, "run") {
			text += fmt.Sprint(" ", names)
		}
		all[s.Coroutine.Addr] = text
	}
	return all, first
}

func walkFibers(t *testing.T, d *dump.Dump, binaries *supplier.Binaries, files ...string) *walk.Result {
	t.Helper()
	var suppliers []resolve.Supplier
	for _, path := range files {
		s, err := supplier.NewSymbols(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		suppliers = append(suppliers, s)
	}
	sources := walk.NewSymbolSet(suppliers, binaries)
	t.Cleanup(func() { sources.Close() })
	res, err := walk.NewWalker(sources, walk.Config{Coroutines: true}).Walk(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func compareFibers(t *testing.T, res *walk.Result, want map[uint64]string) {
	t.Helper()
	got, first := fibersOf(t, res)
	for addr, fact := range want {
		if got[addr] != fact {
			t.Errorf("fiber %#x: %q, want %q", addr, got[addr], fact)
		}
	}
	if len(got) != len(want) || !strings.HasSuffix(first, " resume") {
		t.Errorf("%d fibers, want %d; the first stack: %q", len(got), len(want), first)
	}
	if len(want) == 0 {
		t.Error("the program said nothing")
	}
}

// The stacks that a program has switched away from are those that it printed, in a core and in a minidump with memory,
// without the stack on which it crashed.
func TestFibers(t *testing.T) {
	for _, kind := range []string{"ucontext", "fcontext"} {
		t.Run(kind, func(t *testing.T) {
			core := testenv.Unpacked(t, testenv.Input(t, "crashes", "fibers-"+kind+".core.gz"))
			want, _ := fiberFacts(t, testenv.ReadInput(t, "crashes", "fibers-"+kind+".txt"))
			for _, path := range []string{core, walktest.AsMinidump(t, core)} {
				binaries := walktest.Binaries(t, testenv.Input(t, "crashes", "fibers-"+kind+".elf"))
				compareFibers(t, walkFibers(t, walktest.Opened(t, path), binaries, testenv.Input(t, "crashes", "fibers-libc.sym")), want)
			}
		})
	}
}

// If memory points to two contexts on one stack, it is not certain which is in force: neither is printed.
func TestFiberOfTwoContexts(t *testing.T) {
	d := walktest.Opened(t, testenv.Unpacked(t, testenv.Input(t, "crashes", "fibers-fcontext.core.gz")))
	want, old := fiberFacts(t, testenv.ReadInput(t, "crashes", "fibers-fcontext.txt"))
	more := dump.Region{Addr: 0x10000}
	for addr, before := range old {
		delete(want, addr)
		more.Data = binary.LittleEndian.AppendUint64(more.Data, before)
	}
	d.Memory = dump.NewMemory(d.Memory.Order, append(slices.Clone(d.Memory.Regions), more))
	res := walkFibers(t, d, walktest.Binaries(t, testenv.Input(t, "crashes", "fibers-fcontext.elf")))
	compareFibers(t, res, want)
	lost := fmt.Sprintf("(lost: %d suspended stacks)", len(old))
	if p := res.Dump.Problems; len(old) < 4 || len(p) == 0 || !strings.Contains(p[len(p)-1].String(), lost) {
		t.Errorf("%d old contexts, problems %v", len(old), p)
	}
}

// poke changes a word of a dump's memory.
func poke(d *dump.Dump, addr, word uint64) {
	d.Memory.Regions = slices.Clone(d.Memory.Regions)
	for i := range d.Memory.Regions {
		if r := &d.Memory.Regions[i]; addr-r.Addr < uint64(len(r.Data)) {
			r.Data = bytes.Clone(r.Data)
			d.Memory.Order.PutUint64(r.Data[addr-r.Addr:], word)
		}
	}
}

// A context whose return address is not after a call of swapcontext is not believed, nor one that was copied,
// or without a stack.
func TestFiberDamaged(t *testing.T) {
	d := walktest.Opened(t, testenv.Unpacked(t, testenv.Input(t, "crashes", "fibers-ucontext.core.gz")))
	want, _ := fiberFacts(t, testenv.ReadInput(t, "crashes", "fibers-ucontext.txt"))
	addrs := slices.Sorted(maps.Keys(want))
	for i, off := range []uint64{0xa0, 0xa8, 0xe0} { // rsp, rip, fpregs
		poke(d, addrs[i]+off, 3)
		delete(want, addrs[i])
	}
	res := walkFibers(t, d, walktest.Binaries(t, testenv.Input(t, "crashes", "fibers-ucontext.elf")), testenv.Input(t, "crashes", "fibers-libc.sym"))
	compareFibers(t, res, want)
	for _, s := range res.Stacks {
		if s.Coroutine != nil && s.Coroutine.Kind != coroutine.UContext {
			t.Errorf("a coroutine of kind %v", s.Coroutine.Kind)
		}
	}
}

// A dump without threads has the stacks, too, and that of a context whose stack is missing costs nothing else.
func TestFibersWithoutThreads(t *testing.T) {
	d := walktest.Opened(t, testenv.Unpacked(t, testenv.Input(t, "crashes", "fibers-ucontext.core.gz")))
	want, _ := fiberFacts(t, testenv.ReadInput(t, "crashes", "fibers-ucontext.txt"))
	d.Threads, d.Crash = nil, nil
	poke(d, slices.Min(slices.Collect(maps.Keys(want)))+0xa0, 3) // rsp
	res := walkFibers(t, d, walktest.Binaries(t, testenv.Input(t, "crashes", "fibers-ucontext.elf")), testenv.Input(t, "crashes", "fibers-libc.sym"))
	// One of the program's is missing, and the one that had run is as it was before.
	if all, first := fibersOf(t, res); len(all) != len(want) || first != "ucontext resume" {
		t.Errorf("%d fibers, want %d; the first stack: %q", len(all), len(want), first)
	}
}
