package crash

import (
	"fmt"
	"strings"
)

// Explanation returns what the system's reason leaves open: which system call, instruction or address was at
// fault. It returns "" if there is nothing to add.
func (a *Analysis) Explanation() string {
	if c := a.d.Crash; c == nil || c.Syscall != nil {
		return a.refusal()
	}
	in := a.Instruction
	if in == nil {
		return ""
	}
	if addr, n, ok := a.misaligned(); ok {
		return fmt.Sprintf("%s needs an address that is a multiple of %d, which %#x is not", in.mnemonic(), n, addr)
	}
	if addr, ok := a.NonCanonical(); ok {
		return fmt.Sprintf("%s uses the address %#x, which is not canonical", in.mnemonic(), addr)
	}
	switch {
	case in.interrupts && (a.trapped || a.isGPFault()):
		return in.Text + " is a software interrupt"
	case in.privileged && (a.isPrivileged() || a.isGPFault()):
		return in.Text + " is a privileged instruction"
	}
	return ""
}

// mnemonic returns the name of the instruction.
func (in *Instruction) mnemonic() string {
	name, _, _ := strings.Cut(in.Text, " ")
	return name
}

// Values of Crash.Flags with SIGSYS.
const (
	sysSeccomp      = 1
	sysUserDispatch = 2
)

// refusal says which system call was refused, and why.
func (a *Analysis) refusal() string {
	c := a.d.Crash
	if c == nil {
		return ""
	}
	switch c.Flags {
	case sysSeccomp:
		return c.Syscall.String() + ", which a seccomp filter does not allow"
	case sysUserDispatch:
		return c.Syscall.String() + ", which the program takes over (PR_SET_SYSCALL_USER_DISPATCH)"
	}
	return c.Syscall.String()
}
