package walk

import (
	"fmt"
	"slices"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// mappings returns mappings from lines "addr size permissions".
func mappings(lines ...string) (list []dump.Mapping) {
	for _, line := range lines {
		var m dump.Mapping
		var permissions string
		if _, err := fmt.Sscanf(line, "%v %v %s", &m.Addr, &m.Size, &permissions); err != nil {
			panic(err)
		}
		m.Read, m.Write, m.Exec = permissions[0] == 'r', permissions[1] == 'w', permissions[2] == 'x'
		list = append(list, m)
	}
	return list
}

// The notes about the stack, and where the walk continues.
func TestStackNotes(t *testing.T) {
	const low = stackAt - 0x1000 // the guard, where the dump has no memory
	threadMaps := mappings("0x400000 0x1000 r-x", "0x6ffff000 0x1000 ---", "0x70000000 0x800000 rw-")
	mainMaps := mappings("0x400000 0x1000 r-x", "0x70000000 0x800000 rw-")
	crash := func(os dump.OS, code uint32, addr uint64) dump.Crash {
		return dump.Crash{Code: code, Address: addr, HasAddress: true}
	}
	limits := "stack overflow: the stack pointer is %#x, the stack 0x70000000 to 0x70800000 (8388608 bytes)"
	for _, c := range []struct {
		name  string
		os    dump.OS
		crash dump.Crash
		sp    uint64
		maps  []dump.Mapping
		note  string
	}{
		{"a thread's guard", dump.Linux, crash(dump.Linux, 11, low+0xff8), low + 0xff0, threadMaps, fmt.Sprintf(limits, low+0xff0)},
		{"a call at the last word", dump.Linux, crash(dump.Linux, 11, low+0xff8), stackAt, threadMaps, fmt.Sprintf(limits, stackAt)},
		{"the main thread", dump.Linux, crash(dump.Linux, 11, low+0xff8), low + 0xff8, mainMaps, fmt.Sprintf(limits, low+0xff8)},
		{"a large frame", dump.Linux, crash(dump.Linux, 11, low-0x10000), low - 0x10010, mainMaps, fmt.Sprintf(limits, low-0x10010)},
		{"SIGBUS", dump.Linux, crash(dump.Linux, 7, low+8), low + 8, mainMaps, fmt.Sprintf(limits, low+8)},
		{"macOS", dump.MacOS, crash(dump.MacOS, 1, low+8), low + 8, threadMaps, fmt.Sprintf(limits, low+8)},
		{"Windows, by its code", dump.Windows, crash(dump.Windows, 0xc00000fd, 5), stackAt, threadMaps, fmt.Sprintf(limits, stackAt)},
		{"without mappings", dump.Linux, crash(dump.Linux, 11, low+0xff8), stackAt, nil,
			"stack overflow: the stack pointer is 0x70000000, the stack 0x70000000 to 0x70000028 (40 bytes)"},
		{"a null pointer", dump.Linux, crash(dump.Linux, 11, 8), stackAt, threadMaps, ""},
		{"another signal", dump.Linux, crash(dump.Linux, 6, low+0xff8), stackAt, threadMaps, ""},
		{"memory that can be written", dump.Linux, crash(dump.Linux, 11, low+0xff8), stackAt,
			mappings("0x6ff00000 0x100000 rw-", "0x70000000 0x800000 rw-"), ""},
		{"far from the stack pointer", dump.Linux, crash(dump.Linux, 11, low+0xff8), stackAt + 0x200000, threadMaps,
			"the stack pointer, 0x70200000, is not in memory that the dump has, in the mapping 0x70000000 to 0x70800000 (8388608 bytes) rw-"},
		{"nowhere", dump.Linux, crash(dump.Linux, 11, 8), 0x1000, threadMaps, "the stack pointer, 0x1000, is not in memory that the dump has, and in no mapping"},
		{"nowhere, without mappings", dump.Linux, crash(dump.Linux, 11, 8), 0x1000, nil, "the stack pointer, 0x1000, is not in memory that the dump has"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := process(t, arch.X86_64, c.os).Words(walktest.Junk, inG, walktest.Junk, walktest.Junk, walktest.Junk)
			a.Dump.Maps = c.maps
			a.Regs("$rip", 0x400120, "$rsp", c.sp).Crashed(c.crash, "$rip", 0x400120, "$rsp", c.sp)
			s := walkFirst(a, Config{})
			var want []string
			if c.note != "" {
				want = []string{c.note}
			}
			if !slices.Equal(s.Notes, want) {
				t.Errorf("%q, want %q", s.Notes, want)
			}
			if c.sp <= stackAt && c.sp > 0x1000 {
				wantStack(a, s, EndNothing, "400120 context context f", "400250 scan scan g")
			} else {
				wantStack(a, s, EndNoMemory, "400120 context context f")
			}
		})
	}
}

// The limits of a thread's stack on Windows are in its environment block.
func TestStackLimitsOfWindows(t *testing.T) {
	for _, cpu := range []*arch.Arch{arch.X86, arch.X86_64} {
		start := 0x1478
		if cpu == arch.X86 {
			start = 0xe0c
		}
		a := process(t, cpu, dump.Windows).Words(walktest.Junk, walktest.Junk)
		a.At(0x20000).Words(0, stackAt+0x100000, stackAt).Zeros(start/cpu.PtrSize - 3).Word(stackAt - 0x3000)
		a.Regs(cpu.PC, 0x400120, cpu.SP, "sp").Crashed(dump.Crash{Code: windowsStackOverflow}, cpu.PC, 0x400120, cpu.SP, "sp")
		d := a.Build()
		d.Threads[0].TEB = 0x20000
		for _, whole := range []bool{true, false} {
			want := "stack overflow: the stack pointer is 0x70000000, the stack 0x6fffd000 to 0x70100000 (1060864 bytes)"
			if !whole { // only the committed part is known
				d.Memory.Regions[0].Data = d.Memory.Regions[0].Data[:3*cpu.PtrSize]
				want = "stack overflow: the stack pointer is 0x70000000, the stack 0x70000000 to 0x70100000 (1048576 bytes)"
			}
			s := walkDump(t, assembledSources(a), d, Config{}).Stacks[0]
			if !slices.Equal(s.Notes, []string{want}) {
				t.Errorf("%s: %q, want %q", cpu.Name, s.Notes, want)
			}
		}
	}
}

// A stack pointer in another thread's stack is reported.
func TestStackOfAnotherThread(t *testing.T) {
	a := process(t, arch.X86_64, dump.Linux).Words(walktest.Junk, inG, walktest.Junk).At(stackAt+0x10000).Mark("other").Words(walktest.Junk, walktest.Junk)
	a.Regs("$rip", 0x400120, "$rsp", "sp").Regs("$rip", 0x400120, "$rsp", "other")
	a.Dump.Crash = &dump.Crash{Thread: 2, Code: 11}
	a.Crash = []any{"$rip", 0x400120, "$rsp", "sp"}
	res := walkAll(a, Config{})
	want := []string{"the stack pointer, 0x70000000, is in the stack of thread 1, at 0x70000000 to 0x70000018 (24 bytes)"}
	if len(res.Stacks[0].Notes) != 0 || !slices.Equal(res.Stacks[1].Notes, want) {
		t.Errorf("%q %q, want %q", res.Stacks[0].Notes, res.Stacks[1].Notes, want)
	}
	wantStack(a, &res.Stacks[1], EndNothing, "400120 context context f", "400250 scan scan g")
}

// In none of the shared dumps has a stack overflowed, and all their stack pointers are in stacks.
func TestSharedStackNotes(t *testing.T) {
	threads := 0
	for _, path := range walktest.SharedDumps(t) {
		d := walktest.Opened(t, path)
		for _, s := range walkDump(t, &SymbolSet{}, d, Config{}).Stacks {
			threads++
			for _, note := range s.Notes {
				t.Errorf("%s: thread %d: %s", path, d.Threads[s.Thread].ID, note)
			}
		}
	}
	if threads < 60 {
		t.Errorf("%d threads", threads)
	}
}
