// Package crash analyses the instruction at which a process crashed: what memory it accesses, and how
// that agrees with what the system reports. Call Analyze.
package crash

import (
	"sort"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// Analysis compares what the system reports about a crash with what the instruction does.
type Analysis struct {
	// Instruction is the instruction at which the thread crashed, or nil if it is unknown.
	Instruction *Instruction

	d       *dump.Dump
	context *dump.Context // registers of the thread; nil if unknown
	trapped bool          // the instruction is before the thread's program counter
}

// Analyze analyses the crash of a dump. thread is the index of the crashed thread in Threads, or -1 if it is unknown.
func Analyze(d *dump.Dump, thread int, code Code) *Analysis {
	a := &Analysis{d: d}
	if thread >= 0 {
		a.context = d.Registers(thread)
	}
	if a.context == nil {
		return a
	}
	a.Instruction = instructionOf(d, a.context, code, a.context.PC())
	if in := a.interruptBefore(code); in != nil {
		a.Instruction, a.trapped = in, true
	}
	return a
}

// Values of Crash.Code and Crash.Flags on Windows, Linux and macOS.
const (
	winAccessViolation = 0xc0000005
	winInPageError     = 0xc0000006
	winIntDivide       = 0xc0000094
	winIntOverflow     = 0xc0000095
	winPrivileged      = 0xc0000096
	sigILL             = 4
	sigBUS             = 7
	sigFPE             = 8
	sigSEGV            = 11
	siKernel           = 0x80
	illPrivileged      = 5 // ILL_PRVOPC
	sigTRAP            = 5
	busAlign           = 1 // BUS_ADRALN
	fpeIntDivide       = 1
	segvMapErr         = 1
	segvAccErr         = 2
	macBadAccess       = 1
	macArithmetic      = 3
	macIntDivide       = 1  // EXC_I386_DIV
	macGPFault         = 13 // EXC_I386_GPFLT
	macInvalidAddress  = 1  // KERN_INVALID_ADDRESS
	macProtection      = 2  // KERN_PROTECTION_FAILURE
)

func (a *Analysis) windows() bool { return a.d.System.OS == dump.Windows }

func (a *Analysis) mac() bool { return a.d.System.OS == dump.MacOS || a.d.System.OS == dump.IOS }

func (a *Analysis) linux() bool {
	return a.d.System.OS.IsLinux()
}

// isGPFault reports whether the system reports only a general protection fault, as it does for a
// non-canonical address. It then reports no address.
func (a *Analysis) isGPFault() bool {
	c := a.d.Crash
	if a.d.Arch != arch.X86 && a.d.Arch != arch.X86_64 {
		return false
	}
	none := !c.HasAddress || c.Address == 0
	switch {
	case a.windows():
		return c.Code == winAccessViolation && len(c.Params) > 0 && c.Params[0] == 0 && c.Address == ^uint64(0)
	case a.mac():
		return c.Code == macBadAccess && c.Flags == macGPFault && none
	case a.linux():
		return (c.Code == sigSEGV || c.Code == sigBUS) && c.Flags == siKernel && none
	}
	return false
}

// isAccessFault reports whether the system reports the address that could not be accessed.
func (a *Analysis) isAccessFault() bool {
	c := a.d.Crash
	if !c.HasAddress || a.isGPFault() {
		return false
	}
	switch {
	case a.windows():
		return (c.Code == winAccessViolation || c.Code == winInPageError) && len(c.Params) > 1
	case a.mac():
		return c.Code == macBadAccess && (c.Flags == macInvalidAddress || c.Flags == macProtection)
	case a.linux():
		return c.Code == sigSEGV && (c.Flags == segvMapErr || c.Flags == segvAccErr)
	}
	return false
}

// isIntDivide reports whether the system reports a failed division.
func (a *Analysis) isIntDivide() bool {
	c := a.d.Crash
	switch {
	case a.windows():
		return c.Code == winIntDivide
	case a.mac():
		return c.Code == macArithmetic && c.Flags == macIntDivide
	}
	return a.linux() && c.Code == sigFPE && c.Flags == fpeIntDivide
}

// isPrivileged reports whether the system reports that the instruction is privileged.
func (a *Analysis) isPrivileged() bool {
	c := a.d.Crash
	return a.windows() && c.Code == winPrivileged || a.linux() && c.Code == sigILL && c.Flags == illPrivileged
}

func (a *Analysis) known() bool { return a.Instruction != nil && a.Instruction.Known }

// NonCanonical returns the accessed address if it is not canonical, for a crash for which the system gives no address.
func (a *Analysis) NonCanonical() (uint64, bool) {
	if !a.known() || !a.isGPFault() {
		return 0, false
	}
	for i := range a.Instruction.Accesses {
		if addr := a.Instruction.Accesses[i].Addr; !a.d.Arch.IsCanonical(addr) {
			return addr, true
		}
	}
	if a.Instruction.HasTarget && !a.d.Arch.IsCanonical(a.Instruction.Target) {
		return a.Instruction.Target, true
	}
	return 0, false
}

// NullOffset returns the offset of the crash's address from the null pointer through which memory was accessed.
func (a *Analysis) NullOffset() (uint64, bool) {
	if !a.known() || !a.isAccessFault() {
		return 0, false
	}
	for i := range a.Instruction.Accesses {
		if access := &a.Instruction.Accesses[i]; access.NullBase && a.at(access) {
			return access.Addr, true
		}
	}
	return 0, false
}

// at reports whether access covers the address of the crash, which systems report without its tag.
func (a *Analysis) at(access *Access) bool {
	addr, b := a.d.Crash.Address, *access
	tags := a.d.PointerTags()
	addr, b.Addr = addr&^tags, b.Addr&^tags
	return b.contains(addr)
}

// mapping returns the index in Maps of the mapping that contains an address, or -1.
func (a *Analysis) mapping(addr uint64) int {
	maps := a.d.Maps
	i := sort.Search(len(maps), func(i int) bool { return maps[i].Addr > addr }) - 1
	if i < 0 || !maps[i].Contains(addr) {
		return -1
	}
	return i
}

// maxGuard is the size of the largest mapping that is taken for a guard page.
const maxGuard = 1 << 15

// IsGuardPage reports whether an address is in a small inaccessible mapping next to an accessible
// one.
func (a *Analysis) IsGuardPage(addr uint64) bool {
	i := a.mapping(addr)
	if i < 0 {
		return false
	}
	maps := a.d.Maps
	if m := &maps[i]; accessible(m) || m.Size > maxGuard {
		return false
	}
	return i > 0 && accessible(&maps[i-1]) && maps[i-1].Addr+maps[i-1].Size == maps[i].Addr ||
		i+1 < len(maps) && accessible(&maps[i+1]) && maps[i].Addr+maps[i].Size == maps[i+1].Addr
}

func accessible(m *dump.Mapping) bool { return m.Read || m.Write || m.Exec }

// Inconsistencies returns contradictions between the findings, by rust-minidump's names. They are signs of damage to
// the dump or the machine.
func (a *Analysis) Inconsistencies() (all []string) {
	add := func(is bool, name string) {
		if is {
			all = append(all, name)
		}
	}
	decoded := a.Instruction != nil
	add(decoded && a.isIntDivide() && !a.Instruction.divides, "int_div_by_zero_not_possible")
	add(decoded && a.isPrivileged() && !a.Instruction.privileged, "priv_instruction_crash_without_priv_instruction")
	add(a.falseGPFault(), "non_canonical_address_falsely_reported")
	add(a.allowed(), "access_violation_when_access_allowed")
	add(a.elsewhere(), "crashing_access_not_found_in_memory_accesses")
	return all
}

// falseGPFault reports whether nothing in the instruction could have caused a general protection fault. In 32-bit code
// a segment may have caused it: nothing is known about segments.
func (a *Analysis) falseGPFault() bool {
	return a.isGPFault() && a.d.Arch.CanonicalBits != 0 && a.faultless()
}

// faultless reports whether the instruction, apart from its segments, cannot have caused a general protection fault.
func (a *Analysis) faultless() bool {
	if !a.known() || a.Instruction.privileged {
		return false
	}
	for i := range a.Instruction.Accesses {
		if a.Instruction.Accesses[i].Size == 0 {
			return false
		}
	}
	_, _, misaligned := a.misaligned()
	_, found := a.NonCanonical()
	return !found && !misaligned
}

// allowed reports whether the mappings allow the access that failed. On Linux the system must have reported a
// protection error, because the mapping may be newer than the crash.
func (a *Analysis) allowed() bool {
	c := a.d.Crash
	i := -1
	if a.isAccessFault() {
		i = a.mapping(c.Address)
	}
	if i < 0 {
		return false
	}
	m := &a.d.Maps[i]
	if a.windows() {
		return c.Code == winAccessViolation && (c.Params[0] == 0 && m.Read || c.Params[0] == 1 && m.Write || c.Params[0] == 8 && m.Exec)
	}
	if a.linux() && c.Flags != segvAccErr {
		return false
	}
	if a.context != nil && c.Address == a.context.PC() {
		return m.Exec
	}
	return m.Read && m.Write
}

// elsewhere reports whether the instruction does not access the address of the crash.
func (a *Analysis) elsewhere() bool {
	if !a.known() || !a.isAccessFault() {
		return false
	}
	pc := a.d.Crash.Address - a.context.PC()
	if pc < uint64(len(a.Instruction.Code)) || a.Instruction.HasTarget && a.Instruction.Target == a.d.Crash.Address {
		return false // the instruction fetch itself
	}
	for i := range a.Instruction.Accesses {
		if a.at(&a.Instruction.Accesses[i]) {
			return false
		}
	}
	return true
}
