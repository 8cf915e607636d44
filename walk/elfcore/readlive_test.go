package elfcore

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// memoryAt reads the memory of a dump by address.
type memoryAt struct{ m *dump.Memory }

func (m memoryAt) ReadAt(p []byte, off int64) (int, error) {
	n := copy(p, m.m.Bytes(uint64(off), len(p)))
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Reading a live process gives the threads, stacks and modules of its core.
func TestReadLive(t *testing.T) {
	cores := coreFixtures(t)
	for name, cpu := range map[string]*arch.Arch{"calls-x86_64.core.gz": arch.X86_64, "calls-aarch64.core.gz": arch.ARM64, "stacks.core.gz": arch.X86_64} {
		want, err := Read(cores[name], "core", Options{})
		if err != nil {
			t.Fatal(err)
		}
		w := &writer{d: want, order: binary.LittleEndian, word: 8, layout: layoutOf(cpu, 0)}
		p := &Live{Arch: cpu, Process: want.Process, Auxv: encodeAuxv(want.Auxv, 8, w.order), Maps: want.Maps, Memory: memoryAt{&want.Memory}}
		for i := range want.Threads {
			th := &want.Threads[i]
			p.Threads = append(p.Threads, LiveThread{ID: th.ID, Name: "name", Regs: w.status(th, false)[w.layout.regs:]})
		}
		got, err := ReadLive(p, "process", Options{})
		if err == nil && len(got.Problems) > 0 {
			t.Error(got.Problems)
		}
		if err != nil || len(got.Problems) > 0 || got.Crash != nil || got.Arch != cpu || len(got.Threads) != len(want.Threads) || len(got.Modules) != len(want.Modules) {
			t.Fatalf("%s: %v, %+v", name, err, got)
		}
		for i := range want.Threads {
			a, b := &want.Threads[i], &got.Threads[i]
			for _, reg := range []string{cpu.PC, cpu.SP, cpu.FP} {
				x, _ := a.Context.Get(reg)
				y, _ := b.Context.Get(reg)
				if x != y {
					t.Errorf("%s: thread %d: %s %#x, want %#x", name, i, reg, y, x)
				}
			}
			sp := a.Context.SP()
			if s := want.Memory.Find(sp); s != nil && !bytes.Equal(got.Memory.Bytes(sp, int(s.End()-sp)), s.Data[sp-s.Addr:]) {
				t.Errorf("%s: thread %d: another stack", name, i)
			}
		}
		for i := range want.Modules {
			if a, b := want.Modules[i], got.Modules[i]; a.Range != b.Range || a.Path != b.Path || a.DebugID != b.DebugID {
				t.Errorf("%s: module %+v, want %+v", name, b, a)
			}
		}
	}
}
