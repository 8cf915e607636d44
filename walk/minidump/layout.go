package minidump

import (
	"encoding/binary"
	"fmt"

	"github.com/symtool/symtool/symfmt/arch"
)

// layout is one form of a CPU's CONTEXT. The flags word identifies the CPU, and says which groups
// of registers have values.
type layout struct {
	arch      *arch.Arch
	flagsAt   int
	flagsSize int
	cpu       uint64 // flag bits that identify the CPU
	size      int    // of the part that is read, in bytes; more may follow

	fields []field // the registers

	// vector is the group of the registers that become dump.Context.Vector, at
	// offset vectorAt.
	vector   uint64
	vectorAt int
	form     vectorForm
}

// field is a register in a context.
type field struct {
	reg   int // index in arch.Arch.Regs
	at    int
	size  int    // in bytes
	group uint64 // bit of the flags
}

// vectorForm says how a context stores the floating-point and vector registers.
type vectorForm uint8

const (
	noVector   vectorForm = iota
	fxsave                // 512 bytes of FXSAVE
	neonMS                // v0 to v31, FPCR, FPSR
	neonBefore            // FPSR, FPCR, v0 to v31: Breakpad's old form
)

// Groups of registers, which are bits of the flags.
const (
	control    = 1 << 0
	integer    = 1 << 1
	segments   = 1 << 2
	xstate     = 1 << 6 // of x86 and x86-64: what XSAVE saves follows the context
	groupsMask = 0xff
)

// Bits that identify the CPU.
const (
	flagsX86      = 0x00010000
	flagsAMD64    = 0x00100000
	flagsARM      = 0x40000000 // Breakpad's
	flagsARMMS    = 0x00200000
	flagsARM64    = 0x00400000
	flagsARM64Old = 0x80000000 // Breakpad's, like all below
	flagsMIPS     = 0x00040000
	flagsMIPS64   = 0x00080000
	flagsPPC      = 0x20000000
	flagsPPC64    = 0x01000000
	flagsRISCV    = 0x00800000
	flagsRISCV64  = 0x08000000
)

// layouts are all forms. If a CPU has two, the flags decide. The forms of Windows come first,
// because their highest bits have another meaning.
var layouts = []*layout{
	x86Layout(), amd64Layout(), armLayout(flagsARMMS), armLayout(flagsARM), arm64Layout(), arm64OldLayout(),
	mipsLayout(arch.MIPS, flagsMIPS), mipsLayout(arch.MIPS64, flagsMIPS64), ppcLayout(), ppc64Layout(),
	riscvLayout(arch.RISCV, flagsRISCV), riscvLayout(arch.RISCV64, flagsRISCV64),
}

// cpus maps the values of MINIDUMP_SYSTEM_INFO.ProcessorArchitecture to CPUs,
// with rust-minidump's names.
var cpus = map[uint16]struct {
	name string
	arch *arch.Arch
}{
	0:      {"x86", arch.X86},
	1:      {"mips", arch.MIPS},
	2:      {"alpha", nil},
	3:      {"ppc", arch.PPC},
	4:      {"shx", nil},
	5:      {"arm", arch.ARM},
	6:      {"ia64", nil},
	7:      {"alpha64", nil},
	8:      {"msil", nil},
	9:      {"amd64", arch.X86_64},
	10:     {"x86", arch.X86}, // on 64-bit Windows
	12:     {"arm64", arch.ARM64},
	0x8001: {"sparc", nil},
	0x8002: {"ppc64", arch.PPC64},
	0x8003: {"arm64", arch.ARM64}, // Breakpad's
	0x8004: {"mips64", arch.MIPS64},
	0x8005: {"riscv", arch.RISCV},
	0x8006: {"riscv64", arch.RISCV64},
	0x8007: {"loongarch64", nil},
}

// add lays out registers consecutively from at on, each of size bytes, and
// returns the offset after the last. "" leaves a gap.
func (l *layout) add(group uint64, at, size int, names ...string) int {
	for _, name := range names {
		if name != "" {
			i, ok := l.arch.RegIndex(name)
			if !ok {
				panic(fmt.Sprintf("%s has no register %s", l.arch.Name, name))
			}
			l.fields = append(l.fields, field{i, at, size, group})
		}
		at += size
	}
	return at
}

// numbered returns names prefix0, prefix1, ...
func numbered(prefix string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s%d", prefix, i)
	}
	return names
}

func x86Layout() *layout {
	const float, extended = 1 << 3, 1 << 5
	l := &layout{arch: arch.X86, flagsSize: 4, cpu: flagsX86, size: 716, vector: extended, vectorAt: 204, form: fxsave}
	l.add(segments, 140, 4, "$gs", "$fs", "$es", "$ds")
	l.add(integer, 156, 4, "$edi", "$esi", "$ebx", "$edx", "$ecx", "$eax")
	l.add(control, 180, 4, "$ebp", "$eip", "$cs", "$eflags", "$esp", "$ss")
	l.add(float, 28, 4, "$fcw", "$fsw") // of FSAVE; FXSAVE's take precedence
	return l
}

func amd64Layout() *layout {
	const float = 1 << 3
	l := &layout{arch: arch.X86_64, flagsAt: 48, flagsSize: 4, cpu: flagsAMD64, size: 1232, vector: float, vectorAt: 256, form: fxsave}
	l.add(float, 52, 4, "$mxcsr")
	l.add(control, 56, 2, "$cs")
	l.add(segments, 58, 2, "$ds", "$es", "$fs", "$gs")
	l.add(control, 66, 2, "$ss")
	l.add(control, 68, 4, "$rflags")
	l.add(integer, 120, 8, "$rax", "$rcx", "$rdx", "$rbx")
	l.add(control, 152, 8, "$rsp")
	l.add(integer, 160, 8, "$rbp", "$rsi", "$rdi", "$r8", "$r9", "$r10", "$r11", "$r12", "$r13", "$r14", "$r15")
	l.add(control, 248, 8, "$rip")
	return l
}

// armLayout returns Breakpad's layout, or Windows' layout with only the registers that Breakpad's has, too.
func armLayout(cpu uint64) *layout {
	const float = 1 << 2
	l := &layout{arch: arch.ARM, flagsSize: 4, cpu: cpu, size: 336}
	general, other := uint64(integer), uint64(integer)
	if cpu == flagsARMMS {
		other = control
	}
	at := l.add(general, 4, 4, numbered("r", 13)...)
	l.add(other, at, 4, "sp", "lr", "pc", "cpsr")
	l.add(float, 80, 8, numbered("d", 32)...)
	return l
}

// arm64Layout returns the layout of Windows, which Breakpad adopted.
func arm64Layout() *layout {
	const float = 1 << 2
	l := &layout{arch: arch.ARM64, flagsSize: 4, cpu: flagsARM64, size: 796, vector: float, vectorAt: 272, form: neonMS}
	at := l.add(integer, 8, 8, numbered("x", 29)...)
	l.add(control, at, 8, "x29", "x30", "sp", "pc")
	l.add(control, 4, 4, "cpsr")
	return l
}

func arm64OldLayout() *layout {
	const float = 1 << 2
	l := &layout{arch: arch.ARM64, flagsSize: 8, cpu: flagsARM64Old, size: 796, vector: float, vectorAt: 284, form: neonBefore}
	at := l.add(integer, 8, 8, numbered("x", 31)...)
	at = l.add(integer, at, 8, "sp", "pc")
	l.add(integer, at, 4, "cpsr")
	return l
}

// mipsLayout returns the layout for either CPU. Each register has 64 bits.
func mipsLayout(a *arch.Arch, cpu uint64) *layout {
	const float = 1 << 2
	l := &layout{arch: a, flagsSize: 4, cpu: cpu, size: 600}
	general := make([]string, 32)
	for i := range general {
		general[i], _ = a.RegName(uint64(i))
	}
	at := l.add(integer, 8, 8, general...)
	l.add(integer, at, 8, "$hi", "$lo")
	l.add(integer, 312, 8, "$pc")
	at = l.add(float, 336, 8, numbered("$f", 32)...)
	l.add(float, at, 4, "$fcsr", "$fir")
	return l
}

func ppcLayout() *layout {
	const float = 1 << 3
	l := &layout{arch: arch.PPC, flagsSize: 4, cpu: flagsPPC, size: 428}
	l.add(control, 4, 4, "srr0")
	at := l.add(control, 12, 4, numbered("r", 32)...)
	at = l.add(control, at, 4, "cr", "xer", "lr", "ctr", "", "vrsave")
	l.add(float, at, 8, numbered("f", 32)...)
	return l
}

func ppc64Layout() *layout {
	const float = 1 << 3
	l := &layout{arch: arch.PPC64, flagsSize: 8, cpu: flagsPPC64, size: 584}
	l.add(control, 8, 8, "srr0")
	at := l.add(control, 24, 8, numbered("r", 32)...)
	at = l.add(control, at, 8, "cr", "xer", "lr", "ctr", "vrsave")
	l.add(float, at, 8, numbered("f", 32)...)
	return l
}

func riscvLayout(a *arch.Arch, cpu uint64) *layout {
	const general, float = 1 << 0, 1 << 1
	word := a.PtrSize
	l := &layout{arch: a, flagsSize: 4, cpu: cpu, size: 8 + 64*word + 4}
	at := l.add(general, 8, word, "pc")
	for i := range 31 {
		name, _ := a.RegName(uint64(i + 1))
		at = l.add(general, at, word, name)
	}
	l.add(float, at, word, numbered("f", 32)...)
	return l
}

// flags returns the flags word of a context of this layout, if the context is long enough.
func (l *layout) flags(data []byte, order binary.ByteOrder) (uint64, bool) {
	if len(data) < l.flagsAt+l.flagsSize {
		return 0, false
	}
	return word(data[l.flagsAt:], l.flagsSize, order), true
}

func word(b []byte, size int, order binary.ByteOrder) uint64 {
	switch size {
	case 2:
		return uint64(order.Uint16(b))
	case 4:
		return uint64(order.Uint32(b))
	}
	return order.Uint64(b)
}
