package elfcore

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// process returns a dump of a process with two threads, the second of which crashed.
func process(a *arch.Arch, order binary.ByteOrder) *dump.Dump {
	d := &dump.Dump{Arch: a, Order: order, Main: -1, System: dump.System{OS: dump.Linux}}
	d.Process = dump.Process{ID: 70, HasID: true, Parent: 7, UID: 1000, GID: 1001, Name: "prog", Args: []string{"prog", "-x"},
		User: 1500 * time.Millisecond, Kernel: 20 * time.Microsecond}
	l := layoutOf(a, 0)
	for id := uint32(70); id < 72; id++ {
		c := dump.NewContext(a)
		for i, s := range l.slots {
			v := uint64(0x8070605040302010) + uint64(i)<<8 + uint64(id)
			if s.size < 8 {
				v &= 1<<(8*s.size) - 1
			}
			c.SetAt(s.reg, v)
		}
		c.Set(a.SP, 0x20000)
		for i := range floatNotes {
			if f := &floatNotes[i]; f.arch == a {
				for k, s := range f.slots {
					c.SetAt(s.reg, uint64(k)<<4+uint64(id))
				}
				if f.block > 0 {
					c.Vector = bytes.Repeat([]byte{byte(id)}, f.block)
				}
			}
		}
		for _, s := range fxsaveSlots[a] {
			v, _ := uintAt(c.Vector, s.off, s.size, order)
			c.SetAt(s.reg, v)
		}
		d.Threads = append(d.Threads, dump.Thread{ID: id, Context: c, Signal: 11, Stack: dump.Range{Addr: 0x20000, Size: 0x1000}})
	}
	d.Threads[0].Name = "prog"
	d.Crash = &dump.Crash{Thread: 71, Context: d.Threads[1].Context, Code: 11, Flags: 1, Address: 0x1234, HasAddress: true}
	d.Memory = dump.NewMemory(order, []dump.Region{{Addr: 0x20000, Data: make([]byte, 0x1000)}, {Addr: 0x30010, Data: []byte("memory")}})
	d.Maps = []dump.Mapping{
		{Range: dump.Range{Addr: 0x10000, Size: 0x2000}, Read: true, Exec: true, Offset: 0x1000, Path: "/bin/prog"},
		{Range: dump.Range{Addr: 0x20000, Size: 0x1000}, Read: true, Write: true},
	}
	d.Auxv = []dump.Aux{{Key: 6, Value: 4096}, {Key: 9, Value: 0x10010}}
	return d
}

var orders = map[*arch.Arch][]binary.ByteOrder{
	arch.MIPS: {binary.LittleEndian, binary.BigEndian}, arch.MIPS64: {binary.LittleEndian, binary.BigEndian},
	arch.PPC: {binary.BigEndian}, arch.PPC64: {binary.LittleEndian, binary.BigEndian}, arch.S390X: {binary.BigEndian},
	arch.ARM: {binary.LittleEndian, binary.BigEndian},
}

func ordersOf(a *arch.Arch) []binary.ByteOrder {
	if list := orders[a]; list != nil {
		return list
	}
	return []binary.ByteOrder{binary.LittleEndian}
}

// hideRest changes the type of symtool's own note, so that only the kernel's are read.
func hideRest(t *testing.T, data []byte, order binary.ByteOrder) []byte {
	t.Helper()
	mark := make([]byte, 4)
	order.PutUint32(mark, dump.RestType)
	if bytes.Count(data, mark) != 1 {
		t.Fatal("no note of symtool")
	}
	return bytes.Replace(data, mark, []byte{9, 9, 9, 9}, 1)
}

// Every CPU has a layout, and a dump is read back as it was written, even from the kernel's notes
// alone.
func TestEveryCPU(t *testing.T) {
	for _, a := range arch.All {
		if layoutOf(a, 0) == nil {
			t.Errorf("%s has no row in layouts (layout.go)", a.Name)
			continue
		}
		for _, order := range ordersOf(a) {
			d := process(a, order)
			var b bytes.Buffer
			problems, err := Write(&b, d)
			if err != nil || len(problems) > 0 {
				t.Fatal(a.Name, problems, err)
			}
			got, err := Read(hideRest(t, b.Bytes(), order), "x", Options{})
			if err != nil || len(got.Problems) > 0 {
				t.Fatal(a.Name, err, got.Problems)
			}
			slices.Reverse(got.Threads) // the one that crashed comes first
			for i := range d.Threads {
				g, w := &got.Threads[i], &d.Threads[i]
				if g.ID != w.ID || g.Name != w.Name || g.Signal != w.Signal || g.Stack != w.Stack || !dump.Same(g.Context, w.Context) {
					t.Errorf("%s: thread %+v, want %+v", a.Name, g, w)
				}
			}
			for _, c := range [][2]any{
				{got.Arch, a}, {fmt.Sprint(got.Process), fmt.Sprint(d.Process)}, {fmt.Sprint(got.Maps), fmt.Sprint(append(slices.Clone(d.Maps),
					dump.Mapping{Range: dump.Range{Addr: 0x30010, Size: 6}, Read: true}))},
				{fmt.Sprint(got.Auxv), fmt.Sprint(d.Auxv)}, {fmt.Sprint(got.Memory.Regions), fmt.Sprint(d.Memory.Regions)},
				{got.Crash.Thread, uint32(71)}, {got.Crash.Code, uint32(11)}, {got.Crash.Flags, uint32(1)}, {got.Crash.Address, uint64(0x1234)},
			} {
				if c[0] != c[1] {
					t.Errorf("%s: %v, want %v", a.Name, c[0], c[1])
				}
			}
		}
	}
}

// The system call of a SIGSYS from the kernel is in the signal; a process may send the same signal.
func TestSyscall(t *testing.T) {
	for _, a := range arch.All {
		for _, order := range ordersOf(a) {
			for _, code := range []uint32{1, 0xfffffffa} {
				d := process(a, order)
				d.Crash.Code, d.Crash.Flags = sigSys(a.Machine), code
				d.Crash.Syscall = &dump.Syscall{Number: 0xfffe, Audit: 0xc000003e}
				var b bytes.Buffer
				if problems, err := Write(&b, d); err != nil || len(problems) > 0 {
					t.Fatal(a.Name, problems, err)
				}
				got, err := Read(hideRest(t, b.Bytes(), order), "x", Options{})
				if err != nil {
					t.Fatal(a.Name, err)
				}
				c := got.Crash
				if kernel := code == 1; kernel && (c.Syscall == nil || *c.Syscall != *d.Crash.Syscall || c.Address != 0x1234) ||
					!kernel && (c.Syscall != nil || c.HasAddress) {
					t.Errorf("%s, code %#x: %v at %#x", a.Name, code, c.Syscall, c.Address)
				}
			}
		}
	}
}

// Offsets of registers in NT_PRSTATUS, from the kernel's headers and the tables in
// elfutils (backends/*_corenote.c).
func TestKnownOffsets(t *testing.T) {
	for _, c := range []struct {
		arch *arch.Arch
		reg  string
		off  int
	}{
		{arch.X86_64, "$rip", 240}, {arch.X86_64, "$rsp", 264}, {arch.X86_64, "$fs.base", 280}, {arch.X86, "$eip", 120}, {arch.X86, "$esp", 132},
		{arch.ARM, "pc", 132}, {arch.ARM, "cpsr", 136}, {arch.ARM64, "sp", 360}, {arch.ARM64, "pc", 368}, {arch.ARM64, "cpsr", 376},
		{arch.MIPS, "$sp", 212}, {arch.MIPS, "$pc", 232}, {arch.MIPS64, "$sp", 344}, {arch.MIPS64, "$pc", 384}, {arch.PPC, "srr0", 200},
		{arch.PPC, "lr", 216}, {arch.PPC64, "srr0", 368}, {arch.PPC64, "lr", 400}, {arch.RISCV, "sp", 80}, {arch.RISCV64, "pc", 112},
		{arch.RISCV64, "t6", 360}, {arch.S390X, "pswa", 120}, {arch.S390X, "r15", 248}, {arch.S390X, "a0", 256}, {arch.S390X, "a15", 316},
	} {
		i, _ := c.arch.RegIndex(c.reg)
		l := layoutOf(c.arch, 0)
		k := slices.IndexFunc(l.slots, func(s slot) bool { return s.reg == i })
		if k < 0 || l.slots[k].off != c.off {
			t.Errorf("%s: %s is not at %d", c.arch.Name, c.reg, c.off)
		}
	}
}

// A truncated note gives the registers that are in it.
func TestShortStatus(t *testing.T) {
	d := process(arch.RISCV64, binary.LittleEndian)
	var b bytes.Buffer
	if _, err := Write(&b, d); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		size int
		last string // the last register that is known
	}{{376, "t6"}, {336, "s10"}, {144, "sp"}, {136, ""}, {32, ""}} {
		data := hideRest(t, b.Bytes(), binary.LittleEndian)
		notes := 64 + 56*4
		size := binary.LittleEndian.Uint32(data[notes+4:])
		desc := data[notes+20 : notes+20+int(size)]
		data = slices.Concat(data[:notes+20], desc[:c.size])
		binary.LittleEndian.PutUint32(data[notes+4:], uint32(c.size))
		binary.LittleEndian.PutUint64(data[64+32:], uint64(20+c.size))
		got, err := Read(data, "x", Options{})
		if err != nil {
			t.Fatal(err)
		}
		if c.last == "" {
			if len(got.Threads) > 0 && got.Threads[0].Context != nil || len(got.Problems) == 0 {
				t.Errorf("%d bytes: %+v", c.size, got.Threads)
			}
			continue
		}
		last := ""
		for _, s := range layoutOf(arch.RISCV64, 0).slots {
			if _, ok := got.Threads[0].Context.At(s.reg); ok {
				last = arch.RISCV64.Regs[s.reg].Name
			}
		}
		if last != c.last {
			t.Errorf("%d bytes: up to %s, want %s", c.size, last, c.last)
		}
	}
}

// With 65,535 segments or more a section header has their number; without it the notes after them
// give it.
func TestManySegments(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine")
	}
	d := process(arch.X86_64, binary.LittleEndian)
	d.Maps = nil
	const n = 70_000
	for i := range uint64(n) {
		d.Maps = append(d.Maps, dump.Mapping{Range: dump.Range{Addr: 1<<20 + i*8192, Size: 4096}, Read: true})
	}
	d.Memory = dump.NewMemory(d.Order, []dump.Region{{Addr: 1<<20 + (n-1)*8192, Data: []byte("the last")}})
	var b bytes.Buffer
	if _, err := Write(&b, d); err != nil {
		t.Fatal(err)
	}
	for _, cut := range []int{0, 10} {
		data := hideRest(t, b.Bytes(), d.Order)
		got, err := Read(data[:len(data)-cut], "x", Options{})
		if err != nil {
			t.Fatal(err)
		}
		if text := got.Memory.Bytes(1<<20+(n-1)*8192, 8); len(got.Maps) != n || string(text) != "the last" {
			t.Errorf("%d bytes less: %d mappings, %q in the last", cut, len(got.Maps), text)
		}
		if cut > 0 != (len(got.Problems) > 0) {
			t.Errorf("%d bytes less: %v", cut, got.Problems)
		}
	}
}

// What a core cannot represent is reported.
func TestWriteProblems(t *testing.T) {
	d := process(arch.X86_64, binary.LittleEndian)
	d.System.OS = dump.Windows
	d.Crash.Code = 0xc0000005
	d.Crash.Context = d.Crash.Context.Clone()
	d.Crash.Context.Set("$rip", 1)
	d.Threads[0].Context = nil
	var b bytes.Buffer
	problems, err := Write(&b, d)
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for _, p := range problems {
		text = append(text, p.String())
	}
	for _, want := range []string{"code 0xc0000005", "registers of thread 71", "1 of 2 threads have none"} {
		if !strings.Contains(strings.Join(text, "\n"), want) {
			t.Errorf("%q does not mention %s", text, want)
		}
	}
	got, err := Read(b.Bytes(), "x", Options{})
	if err != nil || got.Crash.Code != 0xc0000005 || got.Crash.Context.PC() != 1 || got.Threads[1].Context.PC() == 1 {
		t.Errorf("%+v, %v", got.Crash, err)
	}
	d.Arch = nil
	if _, err := Write(&b, d); err == nil {
		t.Error("a core of an unknown CPU")
	}
}

// The file has the headers that readers of ELF expect.
func TestHeader(t *testing.T) {
	var b bytes.Buffer
	if _, err := Write(&b, process(arch.PPC, binary.BigEndian)); err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if f.Type != elf.ET_CORE || f.Machine != elf.EM_PPC || f.Class != elf.ELFCLASS32 || f.ByteOrder != binary.ByteOrder(binary.BigEndian) || len(f.Progs) != 4 {
		t.Errorf("%+v", f.FileHeader)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Filesz > 0 && p.Off%pageSize != p.Vaddr%pageSize {
			t.Errorf("%+v", p.ProgHeader)
		}
	}
}

// noFloatNote lists the CPUs for which no note with floating-point registers is read, with the
// reason.
var noFloatNote = map[*arch.Arch]string{arch.RISCV: "no core of a 32-bit RISC-V was at hand"}

// TestFloatNotesComplete names the CPUs whose floating-point registers are missing.
func TestFloatNotesComplete(t *testing.T) {
	for _, a := range arch.All {
		has := slices.ContainsFunc(floatNotes, func(n floatNote) bool { return n.arch == a })
		if why, none := noFloatNote[a]; has == none {
			t.Errorf("%s: row in floatNotes (layout.go) %v, but none for a reason: %q", a.Name, has, why)
		}
	}
}
