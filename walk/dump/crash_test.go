package dump

import (
	"maps"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
)

func TestReason(t *testing.T) {
	for _, c := range []struct {
		os          OS
		cpu         *arch.Arch
		code, flags uint32
		params      []uint64
		want        string
	}{
		{Linux, arch.X86_64, 11, 1, nil, "SIGSEGV / SEGV_MAPERR"},
		{Linux, arch.X86_64, 11, 0x80, nil, "SIGSEGV / SI_KERNEL"},
		{Android, arch.ARM64, 7, 1, nil, "SIGBUS / BUS_ADRALN"},
		{Linux, arch.X86_64, 6, 0xfffffffa, nil, "SIGABRT / SI_TKILL"},
		{Linux, arch.X86_64, 6, 0, nil, "SIGABRT"},
		{Linux, arch.X86_64, 8, 1, nil, "SIGFPE / FPE_INTDIV"},
		{Linux, arch.X86_64, 4, 99, nil, "SIGILL / 0x00000063"},
		{Linux, nil, 34, 0xffffffff, nil, "signal 34 / SI_QUEUE"},
		{Linux, arch.X86_64, 0xffffffff, 0, nil, "DUMP_REQUESTED"},
		{Linux, arch.MIPS, 10, 2, nil, "SIGBUS / BUS_ADRERR"},
		{Linux, arch.MIPS64, 12, 0xfffffffd, nil, "SIGSYS / SI_TIMER"},
		{Windows, nil, 0xc0000005, 0, []uint64{1, 0x45}, "EXCEPTION_ACCESS_VIOLATION_WRITE"},
		{Windows, nil, 0xc0000005, 0, []uint64{8, 0x45}, "EXCEPTION_ACCESS_VIOLATION_EXEC"},
		{Windows, nil, 0xc0000005, 0, []uint64{3, 0x45}, "EXCEPTION_ACCESS_VIOLATION"},
		{Windows, nil, 0xc0000005, 0, nil, "EXCEPTION_ACCESS_VIOLATION"},
		{Windows, nil, 0xc0000006, 0, []uint64{0, 0x45, 0xc000009c}, "EXCEPTION_IN_PAGE_ERROR_READ / STATUS_DEVICE_DATA_ERROR"},
		{Windows, nil, 0xc0000006, 0, []uint64{0, 0x45, 0xc7777777}, "EXCEPTION_IN_PAGE_ERROR_READ / 0xc7777777"},
		{Windows, nil, 0xc0000409, 0, []uint64{7}, "EXCEPTION_STACK_BUFFER_OVERRUN / FAST_FAIL_FATAL_APP_EXIT"},
		{Windows, nil, 0xc0000409, 0, []uint64{70}, "EXCEPTION_STACK_BUFFER_OVERRUN / FAST_FAIL_INVALID_FLS_DATA"},
		{Windows, nil, 0xc0000409, 0, []uint64{16}, "EXCEPTION_STACK_BUFFER_OVERRUN / 0x00000010"},
		{Windows, nil, 0xc0000409, 0, []uint64{1 << 60}, "EXCEPTION_STACK_BUFFER_OVERRUN / 0x1000000000000000"},
		{Windows, nil, 0xc0000094, 0, nil, "EXCEPTION_INT_DIVIDE_BY_ZERO"},
		{Windows, nil, 0xc0000602, 0, nil, "STATUS_FAIL_FAST_EXCEPTION"},
		{Windows, nil, 0xe06d7363, 1, []uint64{1, 2, 3}, "UNHANDLED_CPP_EXCEPTION"},
		{Windows, nil, 0x12345, 0, nil, "unknown 0x00012345"},
		{MacOS, arch.X86_64, 1, 1, nil, "EXC_BAD_ACCESS / KERN_INVALID_ADDRESS"},
		{MacOS, arch.X86_64, 1, 13, nil, "EXC_BAD_ACCESS / EXC_I386_GPFLT"},
		{MacOS, arch.ARM64, 1, 13, nil, "EXC_BAD_ACCESS / 0x0000000d"},
		{IOS, arch.ARM64, 6, 1, nil, "EXC_BREAKPOINT / EXC_ARM_BREAKPOINT"},
		{MacOS, arch.PPC, 3, 2, nil, "EXC_ARITHMETIC / EXC_PPC_ZERO_DIVIDE"},
		{MacOS, nil, 5, 0xdeadc0de, nil, "EXC_SOFTWARE / UNCAUGHT_NS_EXCEPTION"},
		{MacOS, nil, 11, 3<<29 | 1<<26, nil, "EXC_RESOURCE / RESOURCE_TYPE_MEMORY / flavor 1"},
		{MacOS, nil, 12, 2<<29 | 1, nil, "EXC_GUARD / GUARD_TYPE_FD / flavor 0x1"},
		{MacOS, nil, 12, 6 << 29, nil, "EXC_GUARD / 0xc0000000"},
		{MacOS, nil, 99, 5, nil, "unknown 0x00000063 / 0x00000005"},
		{Solaris, nil, 11, 5, nil, "unknown 0x0000000b / 0x00000005"},
	} {
		d := Dump{System: System{OS: c.os}, Arch: c.cpu, Crash: &Crash{Code: c.code, Flags: c.flags, Params: c.params}}
		if got := d.Reason(); got != c.want {
			t.Errorf("%v %#x %#x %#x: %q, want %q", c.os, c.code, c.flags, c.params, got, c.want)
		}
	}
	if got := (&Dump{}).Reason(); got != "" {
		t.Errorf("without a crash: %q", got)
	}
}

// The tables have no empty names, and no name twice.
func TestReasonTables(t *testing.T) {
	tables := map[string]map[uint32]string{
		"linux": linuxSignals, "mips": mipsSignals, "senders": linuxSenders, "windows": windowsExceptions, "ntstatus": ntStatus, "mach": machExceptions,
	}
	for signal, codes := range linuxCodes {
		tables[signal] = codes
		prefix := map[string]string{"SIGIO": "POLL_", "SIGCHLD": "CLD_"}[signal]
		if prefix == "" {
			prefix = strings.TrimPrefix(signal, "SIG")[:3]
		}
		for name := range maps.Values(codes) {
			if !strings.HasPrefix(name, prefix) {
				t.Errorf("%s has %s", signal, name)
			}
		}
	}
	for what, table := range tables {
		seen := map[string]bool{}
		for code, name := range table {
			if name == "" || seen[name] {
				t.Errorf("%s: %#x is %q", what, code, name)
			}
			seen[name] = true
		}
	}
	if len(fastFails) != 71 || len(linuxSignals) != 31 || len(mipsSignals) != 31 {
		t.Errorf("%d fast fails, %d and %d signals", len(fastFails), len(linuxSignals), len(mipsSignals))
	}
}
