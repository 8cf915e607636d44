package dump

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/symtool/symtool/symfmt/arch"
)

// Syscall is a system call that the Linux kernel refused with SIGSYS.
type Syscall struct {
	Number uint32
	Audit  uint32 // the calling convention: an AUDIT_ARCH of include/uapi/linux/audit.h
}

// x32Call marks the numbers of x32, which has the calls of x86-64.
const x32Call = 0x40000000

// CPU returns Breakpad's name of the CPU whose calling convention was used, or the number of the convention. On a
// 64-bit CPU it may be the CPU's 32-bit predecessor.
func (s *Syscall) CPU() string {
	if cpu := arch.ByAudit(s.Audit); cpu != nil {
		return cpu.Name
	}
	return fmt.Sprintf("AUDIT_ARCH %#x", s.Audit)
}

// Name returns the name of the call, or "" if it is not known.
func (s *Syscall) Name() string {
	cpu, number := s.CPU(), s.Number
	if cpu == arch.X86_64.Name && number&x32Call != 0 {
		const first = 512 // x32's own calls
		if number &^= x32Call; number >= first {
			return ""
		}
	}
	return syscallNames()[cpu][number]
}

// String describes the call: "system call 110 (getppid) of x86_64".
func (s *Syscall) String() string {
	if name := s.Name(); name != "" {
		return fmt.Sprintf("system call %d (%s) of %s", s.Number, name, s.CPU())
	}
	return fmt.Sprintf("system call %d of %s", int32(s.Number), s.CPU())
}

//go:embed syscalls.txt
var syscallList string

// syscallNames returns the names of system calls by CPU and number.
var syscallNames = sync.OnceValue(func() map[string]map[uint32]string {
	all := map[string]map[uint32]string{}
	for line := range strings.Lines(syscallList) {
		if words := strings.Fields(line); words[0] != "#" {
			addSyscalls(all, words)
		}
	}
	return all
})

// addSyscalls adds a line of the list: CPUs, the first number, names.
func addSyscalls(all map[string]map[uint32]string, words []string) {
	first, err := strconv.ParseUint(words[1], 10, 32)
	if err != nil {
		panic(err) // the list is part of the program
	}
	for cpu := range strings.SplitSeq(words[0], ",") {
		if all[cpu] == nil {
			all[cpu] = map[uint32]string{}
		}
		for i, name := range words[2:] {
			all[cpu][uint32(first)+uint32(i)] = name
		}
	}
}
