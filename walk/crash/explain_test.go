package crash

import (
	"encoding/hex"
	"slices"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// What the system's reason leaves open is explained by the instruction, by the instruction before it if that raised the
// exception, or by the system call. The registers are walktest.SomeRegisters.
func TestExplanation(t *testing.T) {
	const move = "89d8" // mov eax, ebx
	general := dump.Crash{Code: sigSEGV, Flags: siKernel}
	breakpoint := dump.Crash{Code: sigTRAP, Flags: siKernel}
	for _, c := range []struct {
		os           dump.OS
		arch         *arch.Arch
		before, code string // before and at 0x400000
		crash        dump.Crash
		want         string
		contradicts  bool
	}{
		{dump.Linux, arch.X86_64, "cd04", move, general, "int 0x4 is a software interrupt", false},
		{dump.Linux, arch.X86, "90ce", move, general, "into is a software interrupt", false},
		{dump.Linux, arch.X86_64, "90ce", move, general, "", true},
		{dump.Linux, arch.X86_64, "cd05", move, general, "", true},
		{dump.Linux, arch.X86_64, "cd04", "f4", general, "hlt is a privileged instruction", false},
		{dump.Linux, arch.X86_64, "cd04", move, dump.Crash{Code: sigSEGV, Flags: segvMapErr}, "", false},
		{dump.Linux, arch.X86_64, "9090", "cd21", general, "int 0x21 is a software interrupt", false},
		{dump.Linux, arch.X86_64, "90cc", move, breakpoint, "int3 is a software interrupt", false},
		{dump.Linux, arch.X86_64, "cd03", move, breakpoint, "int 0x3 is a software interrupt", false},
		{dump.Linux, arch.X86_64, "90cc", move, dump.Crash{Code: sigTRAP, Flags: 1}, "", false},
		{dump.Windows, arch.X86, "90ce", move, dump.Crash{Code: winIntOverflow}, "into is a software interrupt", false},
		{dump.Windows, arch.X86_64, "90cc", move, dump.Crash{Code: 0x80000003}, "", false},

		{dump.Linux, arch.X86_64, "9090", "0f28442401", general, "movaps needs an address that is a multiple of 16, which 0x7001 is not", false},
		{dump.Linux, arch.X86_64, "9090", "0f10442401", general, "", true}, // movups
		{dump.Linux, arch.X86_64, "9090", "660f6f442401", general, "movdqa needs an address that is a multiple of 16, which 0x7001 is not", false},
		{dump.Linux, arch.X86_64, "9090", "66480f6e442401", general, "", true}, // movq
		{dump.Linux, arch.X86_64, "9090", "0f58442401", general, "addps needs an address that is a multiple of 16, which 0x7001 is not", false},
		{dump.Linux, arch.X86_64, "9090", "f30f58442401", general, "", true},     // addss
		{dump.Linux, arch.X86_64, "9090", "660f3a6244240100", general, "", true}, // pcmpistrm
		{dump.Linux, arch.X86_64, "9090", "c5fc58442401", general, "", true},     // vaddps
		{dump.Linux, arch.X86_64, "9090", "c5fc28442410", general, "vmovaps needs an address that is a multiple of 32, which 0x7010 is not", false},
		{dump.Linux, arch.X86_64, "9090", "c5fc10442410", general, "", true},                                     // vmovups
		{dump.Linux, arch.X86_64, "9090", "62f1fd486f47ff", dump.Crash{Code: sigBUS, Flags: siKernel}, "", true}, // aligned at 0x4fc0
		{dump.Linux, arch.X86_64, "9090", "62f1fd486f8701000000", general, "vmovdqa64 needs an address that is a multiple of 64, which 0x5001 is not", false},
		{dump.Linux, arch.X86_64, "9090", "480fc74f08", general, "cmpxchg16b needs an address that is a multiple of 16, which 0x5008 is not", false},
		{dump.Linux, arch.X86_64, "9090", "0fae4708", general, "fxsave needs an address that is a multiple of 16, which 0x5008 is not", false},
		{dump.Linux, arch.X86, "9090", "0f28442401", general, "movaps needs an address that is a multiple of 16, which 0x7001 is not", false},
		{dump.MacOS, arch.X86_64, "9090", "0f28442401", dump.Crash{Code: macBadAccess, Flags: macGPFault}, "movaps needs an address that is a multiple of 16, which 0x7001 is not", false},
		{dump.Linux, arch.X86_64, "9090", "0f28442401", dump.Crash{Code: sigSEGV, Flags: segvMapErr, Address: 0x7001, HasAddress: true}, "", false},
		{dump.Linux, arch.X86_64, "9090", "8b4701", dump.Crash{Code: sigBUS, Flags: busAlign}, "mov needs an address that is a multiple of 4, which 0x5001 is not", false},
		{dump.Linux, arch.ARM64, "1f2003d5", "011040b9", dump.Crash{Code: sigBUS, Flags: busAlign}, "", false},

		{dump.Linux, arch.X86_64, "9090", "48a14141414141414141", general, "mov uses the address 0x4141414141414141, which is not canonical", false},
		{dump.Linux, arch.X86_64, "9090", move, general, "", true},
		{dump.Linux, arch.X86_64, "9090", move, dump.Crash{Code: 31, Flags: 1, Syscall: &dump.Syscall{Number: 110, Audit: 0xc000003e}},
			"system call 110 (getppid) of x86_64, which a seccomp filter does not allow", false},
		{dump.Linux, arch.X86_64, "9090", move, dump.Crash{Code: 31, Flags: 2, Syscall: &dump.Syscall{Number: 999, Audit: 0x40000003}},
			"system call 999 of x86, which the program takes over (PR_SET_SYSCALL_USER_DISPATCH)", false},
	} {
		a := analyzed(t, c.os, c.arch, c.before, c.code, c.crash)
		if got := a.Explanation(); got != c.want {
			t.Errorf("%v %s|%s: %q, want %q", c.os, c.before, c.code, got, c.want)
		}
		if got := slices.Contains(a.Inconsistencies(), "non_canonical_address_falsely_reported"); got != c.contradicts {
			t.Errorf("%v %s|%s: contradiction %v, want %v", c.os, c.before, c.code, got, c.contradicts)
		}
	}
}

// analyzed analyses a crash at 0x400000, with code before and there.
func analyzed(t *testing.T, os dump.OS, cpu *arch.Arch, before, code string, crash dump.Crash) *Analysis {
	t.Helper()
	b, err := hex.DecodeString(before + code)
	if err != nil {
		t.Fatal(err)
	}
	crash.Thread, crash.Context = 7, walktest.SomeRegisters(cpu)
	memory := walktest.SomeMemory()
	start := uint64(0x400000 - len(before)/2)
	d := &dump.Dump{Arch: cpu, System: dump.System{OS: os}, Threads: []dump.Thread{{ID: 7}}, Crash: &crash, Memory: memory}
	return Analyze(d, 0, func(addr uint64, n int) ([]byte, bool) {
		if addr < start || addr >= start+uint64(len(b)) {
			return nil, false
		}
		rest := b[addr-start:]
		return rest[:min(n, len(rest))], false
	})
}
