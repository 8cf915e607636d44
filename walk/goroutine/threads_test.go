package goroutine

import (
	"fmt"
	"strings"
	"testing"
)

// withThreads adds a thread for each entry, which holds the goroutine that the thread runs and
// the one that it waits for.
func (p *process) withThreads(list ...[2]uint64) *process {
	at := uint64(atM)
	p.word(base+ofM, at)
	for i, g := range list {
		p.word(at+8, uint64(7+i))
		p.word(at+16, at+40)
		p.word(at+24, g[0])
		p.word(at+32, g[1])
		at += 40
	}
	p.word(at-40+16, 0)
	return p
}

// Only the goroutines of threads are found: those that they run, and those that they wait for.
func TestOfThreads(t *testing.T) {
	p := newProcess()
	runs := p.add(1, 2, 0, map[uint64]uint64{8: 0x401000, 16: heap + 0x20, 40: atM})
	waits := p.add(2, 4, 1, map[uint64]uint64{8: 0x401100, 16: heap + 0x30, 96: atM + 40})
	p.add(3, 4, 1, nil)
	calls := p.add(4, 3, 1, map[uint64]uint64{8: 0x401200, 16: heap + 0x40, 40: atM + 80, 72: 0x401300, 80: heap + 0x50})
	p.d.Threads = append(p.d.Threads, p.d.Threads[0], p.d.Threads[0])
	p.d.Threads[2].ID, p.d.Threads[3].ID = 9, 10
	list := [][2]uint64{{runs, 0}, {0, waits}, {calls, calls}, {0, 0}}
	texts := func() string {
		got, err := p.withThreads(list...).readBy(OfThreads, runtimeInfo())
		var text []string
		for _, g := range got {
			text = append(text, fmt.Sprintf("%d: %d %d, %#x %#x", g.ID, g.Thread, g.Locked, g.Saved.PC(), g.Sched.SP()))
		}
		return fmt.Sprintf("%s (%v)", strings.Join(text, "; "), err)
	}
	all := "1: 0 -1, 0x401000 0xc000000020; 2: -1 1, 0x401100 0xc000000030; 4: 2 -1, 0x401300 0xc000000040"
	if got := texts(); got != all+" (<nil>)" {
		t.Error(got)
	}
	list = append(list, [2]uint64{0xdead0000, 0}) // what is damaged does not hide the others
	if got := texts(); got != all+" (runtime.allm 0xc0000020a0.curg.goid: the dump does not have the memory at 0xdead0000)" {
		t.Error(got)
	}
	p.word(atM+4*40+16, atM) // a circle
	if got, err := p.readBy(OfThreads, runtimeInfo()); len(got) < 3 || err == nil {
		t.Errorf("%d goroutines, error %v", len(got), err)
	}
	info := runtimeInfo()
	info.Vars[3].Name = "x"
	if got, err := p.readBy(OfThreads, info); got != nil || err == nil || err.Error() != "the debug information has no variable runtime.allm" {
		t.Error(got, err)
	}
}
