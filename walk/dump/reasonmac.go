package dump

import (
	"fmt"

	"github.com/symtool/symtool/symfmt/arch"
)

// Mach exceptions, from mach/exception_types.h, and Crashpad's own.
var machExceptions = map[uint32]string{
	1: "EXC_BAD_ACCESS", 2: "EXC_BAD_INSTRUCTION", 3: "EXC_ARITHMETIC", 4: "EXC_EMULATION", 5: "EXC_SOFTWARE",
	6: "EXC_BREAKPOINT", 7: "EXC_SYSCALL", 8: "EXC_MACH_SYSCALL", 9: "EXC_RPC_ALERT", 10: "EXC_CRASH", 11: "EXC_RESOURCE",
	12: "EXC_GUARD", 13: "EXC_CORPSE_NOTIFY", 0x43507378: "SIMULATED",
}

// Codes of exceptions on every CPU: mach/kern_return.h for bad accesses, sys/signal.h and others
// for EXC_SOFTWARE.
var machCodes = map[string]map[uint32]string{
	"EXC_BAD_ACCESS": {
		1: "KERN_INVALID_ADDRESS", 2: "KERN_PROTECTION_FAILURE", 5: "KERN_FAILURE", 8: "KERN_NO_ACCESS",
		9: "KERN_MEMORY_FAILURE", 10: "KERN_MEMORY_ERROR", 50: "KERN_CODESIGN_ERROR",
	},
	"EXC_SOFTWARE": {
		1: "EXC_PPC_TRAP", 0x10000: "SIGSYS", 0x10001: "SIGPIPE", 0x10002: "SIGABRT", 0x10100: "EXC_PPC_MIGRATE",
		0xdeadc0de: "UNCAUGHT_NS_EXCEPTION",
	},
}

// Codes of each CPU, from mach/i386/exception.h, mach/arm/exception.h and
// mach/ppc/exception.h.
var (
	machX86 = map[string]map[uint32]string{
		"EXC_BAD_ACCESS": {13: "EXC_I386_GPFLT"},
		"EXC_BAD_INSTRUCTION": {
			1: "EXC_I386_INVOP", 10: "EXC_I386_INVTSSFLT", 11: "EXC_I386_SEGNPFLT", 12: "EXC_I386_STKFLT",
			13: "EXC_I386_GPFLT", 17: "EXC_I386_ALIGNFLT",
		},
		"EXC_ARITHMETIC": numbered(1, "EXC_I386_DIV", "EXC_I386_INTO", "EXC_I386_NOEXT", "EXC_I386_EXTOVR", "EXC_I386_EXTERR",
			"EXC_I386_EMERR", "EXC_I386_BOUND", "EXC_I386_SSEEXTERR"),
		"EXC_BREAKPOINT": numbered(1, "EXC_I386_SGL", "EXC_I386_BPT"),
	}
	machARM = map[string]map[uint32]string{
		"EXC_BAD_ACCESS":      {0x101: "EXC_ARM_DA_ALIGN", 0x102: "EXC_ARM_DA_DEBUG"},
		"EXC_BAD_INSTRUCTION": {1: "EXC_ARM_UNDEFINED"},
		"EXC_BREAKPOINT":      {1: "EXC_ARM_BREAKPOINT", 0x101: "EXC_ARM_DA_ALIGN", 0x102: "EXC_ARM_DA_DEBUG"},
	}
	machPPC = map[string]map[uint32]string{
		"EXC_BAD_ACCESS": numbered(0x101, "EXC_PPC_VM_PROT_READ", "EXC_PPC_BADSPACE", "EXC_PPC_UNALIGNED"),
		"EXC_BAD_INSTRUCTION": numbered(1, "EXC_PPC_INVALID_SYSCALL", "EXC_PPC_UNIPL_INST", "EXC_PPC_PRIVINST",
			"EXC_PPC_PRIVREG", "EXC_PPC_TRACE", "EXC_PPC_PERFMON"),
		"EXC_ARITHMETIC": numbered(1, "EXC_PPC_OVERFLOW", "EXC_PPC_ZERO_DIVIDE", "EXC_FLT_INEXACT", "EXC_PPC_FLT_ZERO_DIVIDE",
			"EXC_PPC_FLT_UNDERFLOW", "EXC_PPC_FLT_OVERFLOW", "EXC_PPC_FLT_NOT_A_NUMBER", "EXC_PPC_NOEMULATION",
			"EXC_PPC_ALTIVECASSIST"),
		"EXC_BREAKPOINT": numbered(1, "EXC_PPC_BREAKPOINT"),
	}
	machCPU = map[*arch.Arch]map[string]map[uint32]string{
		arch.X86: machX86, arch.X86_64: machX86, arch.ARM: machARM, arch.ARM64: machARM, arch.PPC: machPPC, arch.PPC64: machPPC,
	}
)

// EXC_RESOURCE and EXC_GUARD have a type and a flavor in the upper half of a 64-bit code, which is
// the half that dumps contain (kern/exc_resource.h, kern/exc_guard.h).
var (
	machResources = []string{1: "RESOURCE_TYPE_CPU", "RESOURCE_TYPE_WAKEUPS", "RESOURCE_TYPE_MEMORY", "RESOURCE_TYPE_IO",
		"RESOURCE_TYPE_THREADS", 7: ""}
	machGuards = []string{"GUARD_TYPE_NONE", "GUARD_TYPE_MACH_PORT", "GUARD_TYPE_FD", "GUARD_TYPE_USER", "GUARD_TYPE_VN",
		"GUARD_TYPE_VIRT_MEMORY", 7: ""}
)

func (d *Dump) macReason() string {
	c := d.Crash
	exception, ok := machExceptions[c.Code]
	switch {
	case !ok:
		return fmt.Sprintf("unknown 0x%08x / 0x%08x", c.Code, c.Flags)
	case exception == "EXC_RESOURCE" && machResources[c.Flags>>29] != "":
		return fmt.Sprintf("%s / %s / flavor %d", exception, machResources[c.Flags>>29], c.Flags>>26&7)
	case exception == "EXC_GUARD" && machGuards[c.Flags>>29] != "":
		return fmt.Sprintf("%s / %s / flavor %#x", exception, machGuards[c.Flags>>29], c.Flags&(1<<29-1))
	}
	if s, ok := machCodes[exception][c.Flags]; ok {
		return exception + " / " + s
	}
	return exception + " / " + named(machCPU[d.Arch][exception], c.Flags)
}
