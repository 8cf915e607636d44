package minidump

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

var orders = []binary.ByteOrder{binary.LittleEndian, binary.BigEndian}

// windowsDump has every stream that Windows writes.
func windowsDump(order binary.ByteOrder) []byte {
	m := newBuilder(order).system(0, 2, "Service Pack 1")
	m.stream(15, func() {
		m.u32(1364, 1|2|0x100, 4711, 1_600_000_000, 3, 4).zeros(232 - 24)
		fixed(m, "19041.1.x86fre", 260)
		fixed(m, "dbgcore.i386", 40)
		m.zeros(1364 - 832)
	})
	a, b := m.text(`C:\x\Größe😀.exe`), m.text(`C:\WINDOWS\ntdll.dll`)
	pdb70, pdb70At := m.put(func() {
		m.u32(0x53445352, 0x5a9832e5).u16(0x2872, 0x41c1).u8(0x83, 0x8e, 0xd9, 0x89, 0x14, 0xe9, 0xb7, 0xff).u32(0x1a)
		m.u8([]byte("d:\\build\\a.pdb\x00")...)
	})
	pdb20, pdb20At := m.put(func() { m.u32(0x3031424e, 0, 0x45d35f6c, 2).u8([]byte("ntdll.pdb\x00")...) })
	m.stream(4, func() {
		m.u32(2, 0) // aligned
		m.module(0x77000000, 0x1000, b, pdb20, pdb20At)
		m.module(0x400000, 0x2d000, a, pdb70, pdb70At)
	})
	m.stream(14, func() {
		m.u32(12, 24, 2).u64(0x500000).u32(0x1000, 1, 0x10, b).u64(0x300000).u32(0x1000, 1, 0x10, a)
	})
	context, contextAt := m.put(func() { contextCases[0].write(m) })
	m.thread(9, func() { contextCases[0].write(m) })
	name := m.text("worker")
	m.stream(24, func() { m.u32(2, 9).u64(uint64(name)).u32(77).u64(uint64(name)) })
	m.crash(9, 0xc0000005, 0, 0x401000, [2]uint64{1, 0xffffffff80000045}, context, contextAt)
	all, allAt := m.put(func() { m.u8(1, 2, 3, 4, 5, 6, 7, 8) })
	m.stream(5, func() { m.u32(1).u64(0x20000).u32(all, allAt) })
	m.stream(9, func() { m.u64(2, uint64(allAt)).u64(0x30000, 3).u64(0x40000, 5) })
	m.stream(16, func() {
		m.u32(16, 48).u64(2)
		m.u64(0x30000, 0x30000).u32(0x40, 0).u64(0x2000).u32(0x1000, 0x20, 0x1000000, 0)
		m.u64(0x20000, 0x20000).u32(4, 0).u64(0x1000).u32(0x2000, 0, 0x20000, 0)
	})
	m.stream(12, func() { m.u32(16, 32, 3, 0).zeros(96) })
	m.stream(10, func() { m.u8([]byte("ansi\x00")...) })
	m.stream(0x47670001, func() { m.u32(3, 10, 9) })
	m.stream(0x47670002, func() {
		fixed(m, "x > 0", 128)
		fixed(m, "f", 128)
		fixed(m, "a.c", 128)
		m.u32(12, 1)
	})
	return m.finish()
}

// fixed writes a text into a field of n units.
func fixed(m *builder, s string, n int) {
	for _, r := range s {
		m.u16(uint16(r))
	}
	m.zeros(2 * (n - len(s)))
}

func TestReadWindows(t *testing.T) {
	for _, order := range orders {
		data := windowsDump(order)
		d, err := Read(data, "a.dmp")
		if err != nil || len(d.Problems) > 0 {
			t.Fatal(err, d)
		}
		check := func(what string, got, want any) {
			t.Helper()
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%v: %s: got\n%+v, want\n%+v", order, what, got, want)
			}
		}
		check("time", d.Time, time.Unix(1_700_000_000, 0).UTC())
		check("system", d.System, dump.System{OS: dump.Windows, Version: "10.0.19045", Build: "Service Pack 1", CPU: "x86",
			Model: "GenuineIntel family 6 model 26 stepping 2", Detail: "19041.1.x86fre; dbgcore.i386", CPUs: 4})
		check("process", d.Process, dump.Process{ID: 4711, HasID: true, Started: time.Unix(1_600_000_000, 0).UTC(), User: 3 * time.Second, Kernel: 4 * time.Second})
		check("modules", d.Modules, []dump.Module{
			{Range: dump.Range{Addr: 0x400000, Size: 0x2d000}, Path: `C:\x\Größe😀.exe`, DebugFile: "a.pdb", DebugPath: `d:\build\a.pdb`,
				DebugID: "5A9832E5287241C1838ED98914E9B7FF1a", CodeID: "5f0000002d000", Version: "5.1.2600.2180", Product: "6.2.3.4", Time: 0x5f000000, Checksum: 0xc5c5},
			{Range: dump.Range{Addr: 0x77000000, Size: 0x1000}, Path: `C:\WINDOWS\ntdll.dll`, DebugFile: "ntdll.pdb", DebugPath: "ntdll.pdb",
				DebugID: "45D35F6C2", CodeID: "5f0000001000", Version: "5.1.2600.2180", Product: "6.2.3.4", Time: 0x5f000000, Checksum: 0xc5c5},
		})
		check("main", d.Main, 1)
		check("unloaded", []string{d.Unloaded[0].Path, d.Unloaded[0].CodeID, d.Unloaded[1].Path}, []string{`C:\x\Größe😀.exe`, "000000101000", `C:\WINDOWS\ntdll.dll`})
		th := d.Threads[0]
		check("thread", []any{th.ID, th.Name, th.Suspend, th.Class, th.Prio, th.TEB, th.Stack},
			[]any{uint32(9), "worker", uint32(1), uint32(32), uint32(8), uint64(0x7ffd0000), dump.Range{Addr: 0x10000, Size: 32}})
		check("crash", []any{d.Reason(), d.Crash.Address, d.CrashedThread(), d.Crash.Params, d.Crash.Context.PC()},
			[]any{"EXCEPTION_ACCESS_VIOLATION_WRITE", uint64(0x80000045), 0, []uint64{1, 0xffffffff80000045}, uint64(12)})
		var regions []string
		for _, r := range d.Memory.Regions {
			regions = append(regions, fmt.Sprintf("%x+%d", r.Addr, len(r.Data)))
			if !within(r.Data, data) && r.Addr != 0x10000 {
				t.Errorf("memory at %#x is a copy", r.Addr)
			}
		}
		check("memory", strings.Join(regions, " "), "10000+32 20000+8 30000+3 40000+5")
		check("memory's bytes", d.Memory.Bytes(0x40000, 9), []byte{4, 5, 6, 7, 8})
		check("maps", d.Maps, []dump.Mapping{
			{Range: dump.Range{Addr: 0x20000, Size: 0x1000}, State: 0x2000, Type: 0x20000, AllocBase: 0x20000, AllocProtect: 4},
			{Range: dump.Range{Addr: 0x30000, Size: 0x2000}, Read: true, Exec: true, State: 0x1000, Type: 0x1000000, Protect: 0x20, AllocBase: 0x30000, AllocProtect: 0x40},
		})
		check("rest", []any{d.Handles, d.Comment, d.HasWriter, d.Writer, d.HasRequester, d.Requester, *d.Assertion},
			[]any{3, "ansi", true, uint32(10), true, uint32(9), dump.Assertion{Expression: "x > 0", Function: "f", File: "a.c", Line: 12, Type: 1}})
	}
}

// linuxDump has every stream that Breakpad and Crashpad write on Linux.
func linuxDump(order binary.ByteOrder, cpu contextCase) []byte {
	m := newBuilder(order).system(cpu.cpu, 0x8201, "Linux 6.1 #1 SMP")
	m.stream(0x47670004, func() { m.u8([]byte("Name:\tprog\nUid:\t5\t6\t6\t6\nGid:\t7\nPid:\t42\nPPid:\t41\n")...) })
	name, lib := m.text("/usr/bin/prog"), m.text("/lib/libc.so.6")
	id, idAt := m.put(func() { m.u32(0x4270454c); m.u8(seq(1, 20)...) })
	short, shortAt := m.put(func() { m.u32(0x4270454c); m.u8(seq(1, 8)...) })
	none, noneAt := m.put(func() { m.u32(0x4270454c).zeros(20) })
	m.stream(4, func() {
		m.u32(3)
		m.module(0x400000, 0x1000, name, id, idAt)
		m.module(0x500000, 0x1000, lib, short, shortAt)
		m.module(0x600000, 0x1000, lib, none, noneAt)
	})
	m.thread(42, func() { cpu.write(m) })
	m.crash(42, 11, 1, 0xdead, [2]uint64{}, 0, 0)
	m.stream(0x47670003, func() { m.u8([]byte("processor : 0\n")...) })
	m.stream(0x47670005, func() { m.u8([]byte("DISTRIB_ID=x\n")...) })
	m.stream(0x47670006, func() { m.u8([]byte("prog\x00\x00a b\x00")...) })
	m.stream(0x47670007, func() { m.u8([]byte("A=1\x00B=\x00")...) })
	word := cpu.arch.PtrSize
	words := func(values ...uint64) {
		for _, v := range values {
			if word == 4 {
				m.u32(uint32(v))
			} else {
				m.u64(v)
			}
		}
	}
	m.stream(0x47670008, func() { words(6, 4096, 33, 0x7000, 0, 0, 9, 9) })
	m.stream(0x47670009, func() {
		m.u8([]byte("00500000-00501000 r-xp 00002000 fd:01 99 /lib/a b (deleted)\n00400000-00401000 rw-s 00000000 00:00 0\n")...)
		m.u8([]byte("ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n")...)
	})
	_, maps := m.put(func() {
		words(0x10)
		m.u32(name).zeros(word - 4) // aligned
		words(0x20, 0x30)
		m.u32(lib).zeros(word - 4)
		words(0x40)
	})
	m.stream(0x4767000a, func() {
		m.u32(1, maps, 2).zeros(word - 4)
		words(0x111, 0x222, 0x333)
	})
	crashpad(m)
	return m.finish()
}

func seq(from, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(from + i)
	}
	return b
}

func crashpad(m *builder) {
	k, v, empty := m.utf8("key"), m.utf8("välue"), m.utf8("")
	simple, simpleAt := m.put(func() { m.u32(2, k, v, k, empty) })
	list, listAt := m.put(func() { m.u32(1, v) })
	objects, objectsAt := m.put(func() { m.u32(2, k).u16(1, 0).u32(v, k).u16(2, 0).u32(k) })
	module, moduleAt := m.put(func() { m.u32(1, list, listAt, simple, simpleAt, objects, objectsAt) })
	modules, modulesAt := m.put(func() { m.u32(1, 1, module, moduleAt) })
	m.stream(0x43500001, func() {
		m.u32(1, 0x11223344).u16(0x5566, 0x7788).u8(seq(1, 8)...).zeros(16)
		m.u32(simple, simpleAt, modules, modulesAt)
	})
}

func TestReadLinux(t *testing.T) {
	for _, c := range contextCases {
		for _, order := range orders {
			d, err := Read(linuxDump(order, c), "a.dmp")
			if err != nil || len(d.Problems) > 0 {
				t.Fatal(c.name, order, err, d.Problems)
			}
			checkLinux(t, fmt.Sprint(c.name, " ", order), order, d)
		}
	}
}

func checkLinux(t *testing.T, name string, order binary.ByteOrder, d *dump.Dump) {
	check := func(what string, got, want any) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %s: got\n%+v, want\n%+v", name, what, got, want)
		}
	}
	check("process", d.Process, dump.Process{ID: 42, HasID: true, Parent: 41, UID: 5, GID: 7, Name: "prog",
		Args: []string{"prog", "", "a b"}, Env: []string{"A=1", "B="}})
	ids := []string{d.Modules[0].DebugID, d.Modules[0].CodeID, d.Modules[1].DebugID, d.Modules[1].CodeID, d.Modules[2].DebugID, d.Modules[2].CodeID}
	want := []string{"0403020106050807090A0B0C0D0E0F100", "0102030405060708090a0b0c0d0e0f1011121314", "04030201060508070000000000000000" + "0", "0102030405060708", "", ""}
	if order == binary.ByteOrder(binary.BigEndian) {
		want[0], want[2] = "0102030405060708090A0B0C0D0E0F100", "01020304050607080000000000000000"+"0"
	}
	check("ids", ids, want)
	check("crash", []any{d.Reason() != "", d.Crash.Address, d.Crash.Context}, []any{true, uint64(0xdead), (*dump.Context)(nil)})
	check("auxv", d.Auxv, []dump.Aux{{Key: 6, Value: 4096}, {Key: 33, Value: 0x7000}})
	check("maps", d.Maps, []dump.Mapping{
		{Range: dump.Range{Addr: 0x400000, Size: 0x1000}, Read: true, Write: true, Shared: true, Device: "00:00"},
		{Range: dump.Range{Addr: 0x500000, Size: 0x1000}, Read: true, Exec: true, Offset: 0x2000, Device: "fd:01", Inode: 99, Path: "/lib/a b (deleted)"},
		{Range: dump.Range{Addr: 0xffffffffff600000, Size: 0x1000}, Exec: true, Device: "00:00", Path: "[vsyscall]"},
	})
	check("linker", *d.Linker, dump.Linker{Version: 1, Break: 0x111, Base: 0x222, Dynamic: 0x333, Maps: []dump.LinkMap{
		{Addr: 0x10, Name: "/usr/bin/prog", Dynamic: 0x20}, {Addr: 0x30, Name: "/lib/libc.so.6", Dynamic: 0x40}}})
	check("annotations", d.Annotations, []dump.Annotation{
		{Key: "key", Value: "välue"}, {Key: "key"},
		{Module: "/lib/libc.so.6", Value: "välue"}, {Module: "/lib/libc.so.6", Key: "key", Value: "välue"}, {Module: "/lib/libc.so.6", Key: "key"},
		{Module: "/lib/libc.so.6", Key: "key", Value: "välue"}, {Module: "/lib/libc.so.6", Key: "key", Value: "6b6579"},
	})
	check("report", []string{d.ReportID, d.ClientID}, []string{"11223344-5566-7788-0102-030405060708", ""})
	var files []string
	for _, f := range d.Files {
		files = append(files, f.Name)
	}
	check("files", files, []string{"/proc/self/status", "/proc/cpuinfo", "/etc/lsb-release"})
}

// A module of macOS has the UUID of its Mach-O file as both ids.
func TestMacModules(t *testing.T) {
	for _, order := range orders {
		m := newBuilder(order).system(9, 0x8101, "20G630")
		name := m.text("/usr/lib/dyld")
		cv, at := m.put(func() {
			m.u32(0x53445352, 0x5a9832e5).u16(0x2872, 0x41c1).u8(seq(0x81, 8)...).u32(0).u8([]byte("dyld\x00")...)
		})
		m.stream(4, func() { m.u32(1); m.module(0x1000, 0x1000, name, cv, at) })
		d, err := Read(m.finish(), "a.dmp")
		if err != nil || len(d.Problems) > 0 {
			t.Fatal(err, d)
		}
		if got := d.Modules[0]; got.DebugID != "5A9832E5287241C181828384858687880" || got.CodeID != "5a9832e5287241c18182838485868788" || got.DebugFile != "dyld" {
			t.Errorf("%v: %+v", order, got)
		}
	}
}

// A dump without separate memory for the stack, as dumps of all memory are.
func TestStackInFullMemory(t *testing.T) {
	m := newBuilder(binary.LittleEndian).system(9, 2, "")
	m.stream(3, func() { m.u32(1, 1, 0, 0, 0).u64(0, 0x10008).u32(64, 0, 0, 0) })
	_, at := m.put(func() { m.zeros(32) })
	m.stream(9, func() { m.u64(1, uint64(at), 0x10000, 32) })
	d, err := Read(m.finish(), "a.dmp")
	if err != nil || len(d.Problems) > 0 || d.Arch != arch.X86_64 {
		t.Fatal(err, d)
	}
	if got, want := d.Threads[0].Stack, (dump.Range{Addr: 0x10008, Size: 24}); got != want || d.Threads[0].Context != nil {
		t.Errorf("stack %+v, want %+v", got, want)
	}
}
