package minidump

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
)

// contextCase is a CPU's context, with registers whose values are their indices in a
// list.
type contextCase struct {
	name  string
	cpu   uint16 // of the system information
	arch  *arch.Arch
	write func(m *builder)
	want  string // "register=value ..."
	none  string // a register that is unknown
	regs  int    // that are known
}

// series returns the numbers from first on, n of them, of size bytes.
func (m *builder) series(first, n, size int) *builder {
	for i := range n {
		if size == 4 {
			m.u32(uint32(first + i))
		} else {
			m.u64(uint64(first + i))
		}
	}
	return m
}

var contextCases = []contextCase{
	{"x86", 0, arch.X86, func(m *builder) {
		m.u32(0x1003f).zeros(24).u32(0x27f, 0, 0xffff).zeros(100) // debug registers, FSAVE
		m.u32(1, 2, 3, 4)                                         // gs fs es ds
		m.u32(5, 6, 7, 8, 9, 10)                                  // edi esi ebx edx ecx eax
		m.u32(11, 12, 13, 14, 15, 16)                             // ebp eip cs eflags esp ss
		m.fxsave()
	}, "$gs=1 $ds=4 $edi=5 $eax=a $ebp=b $eip=c $cs=d $eflags=e $esp=f $ss=10 $fcw=37f $mxcsr=1f80", "$xmm0", 19},
	{"x86 control only", 0, arch.X86, func(m *builder) {
		m.u32(0x10001).zeros(152).series(1, 12, 4).zeros(512)
	}, "$ebp=7 $eip=8 $esp=b $ss=c", "$eax", 6},
	{"amd64", 9, arch.X86_64, func(m *builder) {
		m.zeros(48).u32(0x10001f, 0x1f80).u16(0x33, 1, 2, 3, 4, 0x2b).u32(0x246).zeros(48)
		m.series(0x100, 17, 8) // rax rcx rdx rbx rsp rbp rsi rdi r8-r15 rip
		m.fxsave().zeros(26*16 + 48)
	}, "$rax=100 $rcx=101 $rdx=102 $rbx=103 $rsp=104 $rbp=105 $rdi=107 $r8=108 $r15=10f $rip=110 $cs=33 $gs=4 $ss=2b $rflags=246 $mxcsr=1f80", "$xmm0", 27},
	{"amd64 with xstate", 9, arch.X86_64, func(m *builder) {
		m.zeros(48).u32(0x10005f, 0x1f80).zeros(12).u32(0x246).zeros(48).series(0x100, 17, 8).fxsave().zeros(26*16 + 48 + 900)
	}, "$rax=100 $rip=110", "$xmm0", 27},
	{"arm", 5, arch.ARM, func(m *builder) {
		m.u32(0x40000006).series(1, 16, 4).u32(0x60000010).u64(0).series(0x200, 32, 8).zeros(32)
	}, "r0=1 r12=d sp=e lr=f pc=10 cpsr=60000010 d0=200 d31=21f", "s0", 49},
	{"arm of Windows", 5, arch.ARM, func(m *builder) {
		m.u32(0x200003).series(1, 16, 4).u32(0x60000010).u64(0).series(0x200, 32, 8).zeros(80)
	}, "r0=1 r12=d sp=e lr=f pc=10 cpsr=60000010", "d0", 17},
	{"arm64", 12, arch.ARM64, func(m *builder) {
		m.u32(0x400007, 0x60000000).series(1, 33, 8).neon().u32(0x22, 0x11).zeros(112)
	}, "x0=1 x28=1d x29=1e x30=1f sp=20 pc=21 cpsr=60000000", "v0", 34},
	{"arm64 before", 0x8003, arch.ARM64, func(m *builder) {
		m.u64(0x80000006).series(1, 33, 8).u32(0x60000000, 0x11, 0x22).neon()
	}, "x0=1 x28=1d x29=1e x30=1f sp=20 pc=21 cpsr=60000000", "v0", 34},
	{"mips", 1, arch.MIPS, func(m *builder) {
		m.u32(0x40007, 0).series(0, 32, 8).u64(0x51, 0x52).zeros(24).u32(0, 0).u64(0x1234, 0x99).u32(0, 0).series(0x300, 32, 8).u32(7, 8)
	}, "$zero=0 $at=1 $sp=1d $fp=1e $ra=1f $hi=51 $lo=52 $pc=1234 $f0=300 $f31=31f $fcsr=7 $fir=8", "", 69},
	{"mips64", 0x8004, arch.MIPS64, func(m *builder) {
		m.u32(0x80007, 0).series(0, 32, 8).u64(0x51, 0x52).zeros(24).u32(0, 0).u64(0x1234, 0x99).u32(0, 0).series(0x300, 32, 8).u32(7, 8)
	}, "$sp=1d $ra=1f $pc=1234 $f31=31f", "", 69},
	{"ppc", 3, arch.PPC, func(m *builder) {
		m.u32(0x20000009, 0x1234, 0).series(0x10, 32, 4).u32(1, 2, 3, 4, 5, 6).series(0x400, 32, 8).u32(0, 0).zeros(576)
	}, "srr0=1234 r0=10 r1=11 r31=2f cr=1 xer=2 lr=3 ctr=4 vrsave=6 f0=400 f31=41f", "v0", 70},
	{"ppc64", 0x8002, arch.PPC64, func(m *builder) {
		m.u64(0x1000001, 0x1234, 0).series(0x10, 32, 8).u64(1, 2, 3, 4, 5).series(0x400, 32, 8).u32(0, 0).zeros(576)
	}, "srr0=1234 r0=10 r1=11 r31=2f cr=1 xer=2 lr=3 ctr=4 vrsave=5", "f0", 38},
	{"riscv", 0x8005, arch.RISCV, func(m *builder) {
		m.u32(0x800003, 0).series(1, 32, 4).series(0x500, 32, 4).u32(0)
	}, "pc=1 ra=2 sp=3 gp=4 tp=5 t0=6 t2=8 s0=9 a0=b a7=12 s2=13 s11=1c t3=1d t6=20 f0=500 f31=51f", "zero", 64},
	{"riscv64", 0x8006, arch.RISCV64, func(m *builder) {
		m.u32(0x8000003, 0).series(1, 32, 8).series(0x500, 32, 8).u32(0)
	}, "pc=1 ra=2 sp=3 a0=b t6=20 f31=51f", "zero", 64},
}

// fxsave writes 512 bytes of FXSAVE.
func (m *builder) fxsave() *builder {
	le := builder{order: binary.LittleEndian} // on every system
	le.u16(0x37f, 0x120, 0, 0).zeros(16).u32(0x1f80, 0xffff).series(0x600, 60, 8)
	return m.u8(le.b...)
}

// neon writes the registers v0 to v31.
func (m *builder) neon() *builder { return m.series(0x700, 64, 8) }

func TestContexts(t *testing.T) {
	for _, c := range contextCases {
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			m := newBuilder(order).system(c.cpu, 0x8201, "")
			m.thread(7, func() { c.write(m) })
			d, err := Read(m.finish(), c.name)
			if err != nil || len(d.Problems) > 0 || len(d.Threads) != 1 || d.Threads[0].Context == nil {
				t.Errorf("%s, %v: %v, %v, %d threads", c.name, order, err, d.Problems, len(d.Threads))
				continue
			}
			ctx := d.Threads[0].Context
			for _, pair := range bytes.Fields([]byte(c.want)) {
				name, value, _ := bytes.Cut(pair, []byte("="))
				if got, ok := ctx.Get(string(name)); !ok || fmt.Sprintf("%x", got) != string(value) {
					t.Errorf("%s, %v: %s is %#x (known: %v), want %s", c.name, order, name, got, ok, value)
				}
			}
			known := 0
			for i := range ctx.Arch.Regs {
				if _, ok := ctx.At(i); ok {
					known++
				}
			}
			if _, ok := ctx.Get(c.none); ok || known != c.regs || ctx.Arch != c.arch {
				t.Errorf("%s, %v: %d registers of %s, want %d of %s; %s is known: %v", c.name, order, known, ctx.Arch.Name, c.regs, c.arch.Name, c.none, ok)
			}
		}
	}
}

// noMinidump lists the CPUs that have no number in minidumps.
var noMinidump = []*arch.Arch{arch.S390X}

// Every CPU that a minidump can have has a number and a layout, and vice versa.
func TestEveryCPUHasALayout(t *testing.T) {
	for _, a := range arch.All {
		found, numbered := false, false
		for _, cpu := range cpus {
			numbered = numbered || cpu.arch == a
		}
		for _, l := range layouts {
			found = found || l.arch == a
		}
		if want := !slices.Contains(noMinidump, a); found != want || numbered != want {
			t.Errorf("%s: row in layouts %v, number in cpus %v, want %v for both (layout.go)", a.Name, found, numbered, want)
		}
	}
	for number, cpu := range cpus {
		tested := cpu.arch == nil || number == 10
		for _, c := range contextCases {
			tested = tested || c.cpu == number && c.arch == cpu.arch
		}
		if !tested {
			t.Errorf("no test of a context of CPU %#x, %s", number, cpu.name)
		}
	}
}

func TestVectors(t *testing.T) {
	want := builder{order: binary.LittleEndian}
	want.neon().u32(0x11, 0x22)
	fx := builder{order: binary.LittleEndian}
	fx.fxsave()
	for _, c := range contextCases {
		m := newBuilder(binary.LittleEndian).system(c.cpu, 0x8201, "")
		m.thread(7, func() { c.write(m) })
		data := m.finish()
		d, err := Read(data, c.name)
		if err != nil {
			t.Fatal(err)
		}
		v := d.Threads[0].Context.Vector
		switch c.name {
		case "x86", "amd64", "amd64 with xstate":
			if !bytes.Equal(v, fx.b) || !within(v, data) {
				t.Errorf("%s: %d bytes of FXSAVE, %x", c.name, len(v), v[:min(len(v), 32)])
			}
		case "arm64", "arm64 before":
			if !bytes.Equal(v, want.b) {
				t.Errorf("%s: %x", c.name, v)
			}
		default:
			if v != nil {
				t.Errorf("%s: %d bytes", c.name, len(v))
			}
		}
	}
}

// within reports whether b is a part of data, not a copy.
func within(b, data []byte) bool {
	i := bytes.Index(data, b)
	return i >= 0 && &data[i] == &b[0]
}

// Without system information the flags give the CPU.
func TestContextGivesCPU(t *testing.T) {
	for _, c := range contextCases {
		m := newBuilder(binary.LittleEndian)
		m.thread(7, func() { c.write(m) })
		d, err := Read(m.finish(), c.name)
		if err != nil || d.Arch != c.arch || d.Threads[0].Context == nil {
			t.Errorf("%s: %v, %v, %v", c.name, err, d.Arch, d.Problems)
		}
	}
}
