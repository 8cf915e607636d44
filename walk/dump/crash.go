package dump

import (
	"fmt"
)

// Crash describes why the process ended.
type Crash struct {
	Thread  uint32   // id of the thread; see Dump.CrashedThread
	Context *Context // registers at that moment, often the same as the thread's Context; may be nil

	// Code and Flags are the system's: on Linux the signal and its si_code, on Windows the
	// exception's code and flags, on macOS the Mach exception's type and code.
	Code, Flags uint32
	Unknown     bool   // the dump does not give the reason: Code and Flags mean nothing
	Address     uint64 // accessed address, or address of the instruction
	HasAddress  bool
	Params      []uint64 // exception information on Windows and macOS
	Syscall     *Syscall // the system call of a SIGSYS; nil if unknown
}

// CrashedThread returns the index in Threads of the thread that crashed, or -1.
func (d *Dump) CrashedThread() int {
	if d.Crash == nil {
		return -1
	}
	for i := range d.Threads {
		if d.Threads[i].ID == d.Crash.Thread {
			return i
		}
	}
	return -1
}

// RequestingThread returns the index in Threads of the thread that crashed or, without a crash,
// requested the dump; or -1.
func (d *Dump) RequestingThread() int {
	if d.Crash != nil || !d.HasRequester {
		return d.CrashedThread()
	}
	for i := range d.Threads {
		if d.Threads[i].ID == d.Requester {
			return i
		}
	}
	return -1
}

// Registers returns the registers from which the stack of a thread, given by its index in Threads, is walked. For
// the thread that crashed these are the crash's registers, because the thread's own registers are from inside the
// crash reporter. It returns nil if the dump has none.
func (d *Dump) Registers(thread int) *Context {
	t := &d.Threads[thread]
	if d.Crash != nil && d.Crash.Thread == t.ID && d.Crash.Context != nil {
		return d.Crash.Context
	}
	return t.Context
}

// Reason returns why the process crashed, in the words of its operating system: "SIGSEGV / SEGV_MAPERR",
// "EXCEPTION_ACCESS_VIOLATION_WRITE", "EXC_BAD_ACCESS / KERN_INVALID_ADDRESS". It returns "" without a crash, or
// if the reason is unknown. Codes without names appear as numbers. The texts are rust-minidump's.
func (d *Dump) Reason() string {
	switch {
	case d.Crash == nil || d.Crash.Unknown:
		return ""
	case d.System.OS == Linux || d.System.OS == Android:
		return d.linuxReason()
	case d.System.OS == Windows:
		return d.Crash.windowsReason()
	case d.System.OS == MacOS || d.System.OS == IOS:
		return d.macReason()
	}
	return fmt.Sprintf("unknown 0x%08x / 0x%08x", d.Crash.Code, d.Crash.Flags)
}

// named returns the name of a code, or the code itself.
func named(names map[uint32]string, code uint32) string {
	if s, ok := names[code]; ok {
		return s
	}
	return fmt.Sprintf("0x%08x", code)
}

// numbered returns a table of names for consecutive codes, starting with first.
func numbered(first uint32, names ...string) map[uint32]string {
	table := make(map[uint32]string, len(names))
	for i, s := range names {
		table[first+uint32(i)] = s
	}
	return table
}
