package verify

import (
	"encoding/binary"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/walktest/walks"
)

// A coroutine's stack begins at the address of a function, which is not an error. It is an error if
// the stack continues from there, if the address is in the middle of a function, or if the rules
// that led there are wrong.
func TestVerdictEntry(t *testing.T) {
	program := testenv.Input(t, "verdicts", "verdicts.elf")
	core := testenv.Input(t, "verdicts", "complete.core.gz")
	r, _ := judged(t, core, walks.BinarySources(t, program), []string{program}, nil, Default())
	frames := r.Stacks[0].Frames
	last := len(frames) - 2 // main, which returns to _start
	start, slot, inner := frames[last].Start, frames[last+1].SP-8, frames[last].PC
	for _, c := range []struct {
		name  string
		words []uint64 // from the return address of main on
		holds bool
	}{
		{"a function's first instruction", []uint64{start, 1}, true},
		{"it, but the stack goes on", []uint64{start, inner, inner}, false},
		{"the instruction after the first", []uint64{start + 1, 1}, false},
	} {
		change := func(d *dump.Dump) {
			for i, w := range c.words {
				binary.LittleEndian.PutUint64(d.Memory.Bytes(slot+8*uint64(i), 8), w)
			}
		}
		r, v := judged(t, core, walks.BinarySources(t, program), []string{program}, change, Default())
		if v.Holds != c.holds || !c.holds && v.Findings[0].Kind != KindNoCall {
			t.Errorf("%s: %s\n%s", c.name, functionsOf(r), verdictText(t, v))
		}
		if end := &r.Stacks[0].Frames[len(r.Stacks[0].Frames)-1]; c.holds && !end.IsEntry() {
			t.Errorf("%s: %s", c.name, functionsOf(r))
		}
	}
}

// A kernel thread has no stack, for which nothing is to blame; a thread without a stack that
// crashed has lost it.
func TestVerdictKernelThread(t *testing.T) {
	program := testenv.Input(t, "verdicts", "verdicts.elf")
	for _, crashed := range []bool{false, true} {
		change := func(d *dump.Dump) {
			thread := 1
			if crashed {
				thread = d.RequestingThread()
			}
			x := d.Registers(thread)
			x.Set("$rip", 0)
			x.Set("$rsp", 0)
			d.Threads[thread].Context = x
		}
		r, v := judged(t, testenv.Input(t, "verdicts", "threads.core.gz"), walks.BinarySources(t, program), []string{program}, change, Default())
		if v.Holds == crashed {
			t.Errorf("crashed: %v: %s\n%s", crashed, functionsOf(r), verdictText(t, v))
		}
		if end := r.Stacks[1].End; !crashed && end != walk.EndOutermost {
			t.Errorf("the walk ends by %v", end)
		}
	}
}
