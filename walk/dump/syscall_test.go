package dump

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// Calling conventions (include/uapi/linux/audit.h).
const (
	auditX86, auditX86_64     = 0x40000003, 0xc000003e
	auditARM, auditARM64      = 0x40000028, 0xc00000b7
	auditRISCV64, auditARMBig = 0xc00000f3, 0x28
)

func TestSyscall(t *testing.T) {
	for _, c := range []struct {
		number, audit uint32
		want          string
	}{
		{110, auditX86_64, "system call 110 (getppid) of x86_64"},
		{0x40000000 | 110, auditX86_64, "system call 1073741934 (getppid) of x86_64"},
		{0x40000000 | 512, auditX86_64, "system call 1073742336 of x86_64"},
		{64, auditX86, "system call 64 (getppid) of x86"},
		{0, auditARM, "system call 0 (restart_syscall) of arm"},
		{0xf0005, auditARM, "system call 983045 (set_tls) of arm"},
		{64, auditARM64, "system call 64 (write) of arm64"},
		{38, auditARM64, "system call 38 (renameat) of arm64"},
		{38, auditRISCV64, "system call 38 of riscv64"},
		{258, auditRISCV64, "system call 258 (riscv_hwprobe) of riscv64"},
		{^uint32(0), auditX86_64, "system call -1 of x86_64"},
		{4, auditARMBig, "system call 4 (write) of arm"},
		{20, 0x8, "system call 20 of mips"},
		{20, 0xa0000008, "system call 20 of mips64"}, // n32
		{20, 0x80000016, "system call 20 of s390x"},
		{4, 0x80000099, "system call 4 of AUDIT_ARCH 0x80000099"},
	} {
		if got := (&Syscall{c.number, c.audit}).String(); got != c.want {
			t.Errorf("%d of %#x: %q, want %q", c.number, c.audit, got, c.want)
		}
	}
}

// The list has each name in the kernel's headers and in gdb's lists, with its number.
func TestOracleSyscalls(t *testing.T) {
	testenv.Oracle(t)
	define := regexp.MustCompile(`(?m)^#define __NR_(\w+)\s+(\d+)`)
	element := regexp.MustCompile(`<syscall name="(\w+)" number="(\d+)"`)
	for _, c := range []struct {
		path, pack string
		names      *regexp.Regexp
		audit      uint32
	}{
		{"/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "linux-libc-dev", define, auditX86_64},
		{"/usr/include/x86_64-linux-gnu/asm/unistd_32.h", "linux-libc-dev", define, auditX86},
		{"/usr/share/gdb/syscalls/amd64-linux.xml", "gdb", element, auditX86_64},
		{"/usr/share/gdb/syscalls/i386-linux.xml", "gdb", element, auditX86},
		{"/usr/share/gdb/syscalls/arm-linux.xml", "gdb", element, auditARM},
		{"/usr/share/gdb/syscalls/aarch64-linux.xml", "gdb", element, auditARM64},
	} {
		text, err := os.ReadFile(testenv.File(t, c.path, c.pack))
		if err != nil {
			t.Fatal(err)
		}
		all := c.names.FindAllSubmatch(text, -1)
		if len(all) < 250 {
			t.Errorf("%s has only %d calls", c.path, len(all))
		}
		for _, m := range all {
			name := strings.TrimPrefix(string(m[1]), "ARM_") // the header's mark of calls that only ARM has
			if name == "syscalls" {
				continue // the number of calls that the header had
			}
			n, err := strconv.ParseUint(string(m[2]), 10, 32)
			if err != nil {
				t.Fatal(err)
			}
			if got := (&Syscall{uint32(n), c.audit}).Name(); got != name && (got != "" || c.audit != auditARM) { // gdb has calls of the ABI before EABI
				t.Errorf("%s: %d is %s, got %q", c.path, n, name, got)
			}
		}
	}
}
