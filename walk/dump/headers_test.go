package dump

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// defines returns the named numbers in C headers.
func defines(t *testing.T, pkg string, files ...string) map[string]uint32 {
	t.Helper()
	form := regexp.MustCompile(`(?m)^\s*#\s*define\s+(\w+)\s+\(*(?:\(NTSTATUS\)|\(DWORD\))?\s*(-?(?:0x[0-9a-fA-F]+|\d+))L?\)*`)
	names := map[string]uint32{}
	for _, file := range files {
		text, err := os.ReadFile(testenv.File(t, file, pkg))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range form.FindAllStringSubmatch(string(text), -1) {
			if v, err := strconv.ParseInt(m[2], 0, 64); err == nil {
				names[m[1]] = uint32(v)
			}
		}
	}
	return names
}

func compare(t *testing.T, what string, table map[uint32]string, header map[string]uint32, other map[string]string) {
	t.Helper()
	n := 0
	for _, code := range slices.Sorted(maps.Keys(table)) {
		name := table[code]
		if other[name] != "" {
			name = other[name]
		}
		if name == "-" {
			continue
		}
		v, ok := header[name]
		if !ok || v != code {
			t.Errorf("%s: %s is %#x, the header has %#x (%v)", what, name, code, v, ok)
		}
		n++
	}
	t.Logf("%s: %d of %d names are in the header", what, n, len(table))
}

// The names for Windows have the numbers of MinGW's headers.
func TestWindowsHeaders(t *testing.T) {
	testenv.Oracle(t)
	const dir = "/usr/share/mingw-w64/include/"
	header := defines(t, "mingw-w64-common", dir+"ntstatus.h", dir+"winnt.h", dir+"winbase.h")
	own := "-" // of Visual C++, Chrome, Crashpad and rust-minidump
	exceptions := map[string]string{
		"OUT_OF_MEMORY": own, "UNHANDLED_CPP_EXCEPTION": own, "SIMULATED": own, "EXCEPTION_HEAP_CORRUPTION": "STATUS_HEAP_CORRUPTION",
		"EXCEPTION_STACK_BUFFER_OVERRUN": "STATUS_STACK_BUFFER_OVERRUN", "EXCEPTION_CONTROL_C": "DBG_CONTROL_C",
	}
	// winbase.h defines the rest by the names of ntstatus.h.
	for _, name := range windowsExceptions {
		if exceptions[name] == "" {
			exceptions[name] = strings.Replace(name, "EXCEPTION", "STATUS", 1)
		}
	}
	maps.Copy(exceptions, map[string]string{
		"EXCEPTION_GUARD_PAGE": "STATUS_GUARD_PAGE_VIOLATION", "EXCEPTION_FLT_DENORMAL_OPERAND": "STATUS_FLOAT_DENORMAL_OPERAND",
		"EXCEPTION_INT_DIVIDE_BY_ZERO": "STATUS_INTEGER_DIVIDE_BY_ZERO", "EXCEPTION_INT_OVERFLOW": "STATUS_INTEGER_OVERFLOW",
		"EXCEPTION_PRIV_INSTRUCTION": "STATUS_PRIVILEGED_INSTRUCTION",
	})
	for name, status := range exceptions {
		if strings.HasPrefix(status, "STATUS_FLT_") {
			exceptions[name] = strings.Replace(status, "FLT", "FLOAT", 1)
		}
	}
	compare(t, "exceptions", windowsExceptions, header, exceptions)
	compare(t, "NTSTATUS", ntStatus, header, map[string]string{
		"VCPPEXCEPTION_MODULE_NOT_FOUND": own, "VCPPEXCEPTION_PROC_NOT_FOUND": own,
		"STATUS_STOWED_EXCEPTION": own, // newer than these headers
	})
	fails := map[uint32]string{}
	for i, name := range fastFails {
		if _, ok := header[name]; ok {
			fails[uint32(i)] = name
		}
	}
	if len(fails) < 10 {
		t.Errorf("%d fast fails are in the header", len(fails))
	}
	compare(t, "fast fails", fails, header, nil)
}

// The names for Linux have the numbers of its headers, and no code is missing.
func TestLinuxHeaders(t *testing.T) {
	testenv.Oracle(t)
	const dir = "/usr/include/asm-generic/"
	header := defines(t, "libc6-dev", dir+"signal.h", dir+"siginfo.h")
	compare(t, "signals", linuxSignals, header, nil)
	for signal, codes := range linuxCodes {
		// Newer than Debian 12's headers.
		other := map[string]string{"SEGV_CPERR": "-"}
		compare(t, signal, codes, header, other)
	}
	compare(t, "senders", linuxSenders, header, nil)
	known := map[string]bool{}
	for _, table := range append(slices.Collect(maps.Values(linuxCodes)), linuxSenders, linuxSignals) {
		for _, name := range table {
			known[name] = true
		}
	}
	// Second names of signals, and names of sizes and of codes that do not occur.
	notCodes := []string{"SI_USER", "SIGUNUSED", "SIGRTMIN", "SI_MAX_SIZE", "SIGPOLL", "SIGLOST", "SIGIOT", "SIGSTKSZ", "TRAP_PERF_FLAG_ASYNC"}
	codes := regexp.MustCompile(`^(SIG[A-Z12]+|SI_[A-Z]+|(SEGV|ILL|FPE|BUS|TRAP|SYS|POLL|CLD)_[A-Z_]+)$`)
	for name := range header {
		if codes.MatchString(name) && !known[name] && !slices.Contains(notCodes, name) {
			t.Errorf("%s is missing", name)
		}
	}
}
