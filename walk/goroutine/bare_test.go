package goroutine

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// Without debug information, a thread's goroutine is found only by what is in the same place in all versions of the
// runtime, and only if all of that agrees.
func TestOfThread(t *testing.T) {
	const g0, m, runs, waits, signal, stack = heap, heap + 0x400, heap + 0x800, heap + 0xc00, heap + 0x1000, heap + 0x2000
	found := "running 3 -1, sp 0xc000002020 fp 0xc000002030, system 0xc000002100"
	for _, c := range []struct {
		name string
		from uint64
		edit map[uint64]uint64 // words by address
		want string
	}{
		{"by the thread's own", g0, nil, found},
		{"by the goroutine", runs, nil, found},
		{"by the one for signals", signal, nil, found},
		{"by a register with something else", stack, nil, "none"},
		{"by 0", 0, nil, "none"},
		{"of another m", g0, map[uint64]uint64{g0 + 48: m + 8}, "none"},
		{"with a frame pointer after another word", g0, map[uint64]uint64{runs + 88: 0, runs + 104: stack + 0x30}, found},
		{"that has not left its stack", g0, map[uint64]uint64{runs + 56: 0}, "running 3 -1, system 0xc000002100"},
		{"that is none", g0, map[uint64]uint64{runs + 72: runs + 8}, "none"},
		{"that waits", g0, map[uint64]uint64{m + 184: 0, m + 320: waits}, "running -1 3, sp 0xc000002040 fp 0x0, system 0xc000002100"},
		{"that waits for another", g0, map[uint64]uint64{m + 184: 0, m + 320: waits, waits + 240: m + 16}, "none"},
	} {
		words := map[uint64]uint64{
			g0 + 48: m, g0 + 56: stack + 0x100, m: g0, m + 80: signal, m + 184: runs,
			runs: stack, runs + 8: stack + 0x100, runs + 48: m, runs + 56: stack + 0x20, runs + 64: 0x401000, runs + 72: runs, runs + 88: stack + 0x30,
			waits: stack, waits + 8: stack + 0x100, waits + 56: stack + 0x40, waits + 64: 0x401000, waits + 72: waits, waits + 240: m,
			signal + 48: m,
		}
		for at, v := range c.edit {
			words[at] = v
		}
		data := make([]byte, 0x3000)
		for at, v := range words {
			binary.LittleEndian.PutUint64(data[at-heap:], v)
		}
		d := &dump.Dump{Arch: arch.X86_64, Memory: dump.NewMemory(binary.LittleEndian, []dump.Region{{Addr: heap, Data: data}})}
		got := "none"
		if g := OfThread(d, c.from, 3); g != nil {
			got = fmt.Sprintf("running %d %d", g.Thread, g.Locked)
			if g.Sched != nil {
				fp, _ := g.Sched.Get("$rbp")
				got += fmt.Sprintf(", sp %#x fp %#x", g.Sched.SP(), fp)
			}
			got += fmt.Sprintf(", system %#x", g.SystemSP)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
