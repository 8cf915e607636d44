package dump

import (
	"fmt"
	"maps"

	"github.com/symtool/symtool/symfmt/arch"
)

// Signals, from asm-generic/signal.h, which apply to all CPUs but MIPS.
var linuxSignals = numbered(1,
	"SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGUSR1", "SIGSEGV",
	"SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP", "SIGTTIN",
	"SIGTTOU", "SIGURG", "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO", "SIGPWR", "SIGSYS")

// Signals of MIPS, from arch/mips/include/uapi/asm/signal.h.
var mipsSignals = numbered(1,
	"SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGEMT", "SIGFPE", "SIGKILL", "SIGBUS", "SIGSEGV",
	"SIGSYS", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGUSR1", "SIGUSR2", "SIGCHLD", "SIGPWR", "SIGWINCH", "SIGURG",
	"SIGIO", "SIGSTOP", "SIGTSTP", "SIGCONT", "SIGTTIN", "SIGTTOU", "SIGVTALRM", "SIGPROF", "SIGXCPU", "SIGXFSZ")

// dumpRequested is the code that Breakpad uses for a dump that was requested.
const dumpRequested = 0xffffffff

// The meanings of si_code that depend on the signal, from
// asm-generic/siginfo.h.
var linuxCodes = map[string]map[uint32]string{
	"SIGILL": numbered(1, "ILL_ILLOPC", "ILL_ILLOPN", "ILL_ILLADR", "ILL_ILLTRP", "ILL_PRVOPC", "ILL_PRVREG", "ILL_COPROC",
		"ILL_BADSTK", "ILL_BADIADDR"),
	"SIGFPE":  fpeCodes,
	"SIGSEGV": segvCodes,
	"SIGBUS":  numbered(1, "BUS_ADRALN", "BUS_ADRERR", "BUS_OBJERR", "BUS_MCEERR_AR", "BUS_MCEERR_AO"),
	"SIGTRAP": numbered(1, "TRAP_BRKPT", "TRAP_TRACE", "TRAP_BRANCH", "TRAP_HWBKPT", "TRAP_UNK", "TRAP_PERF"),
	"SIGSYS":  numbered(1, "SYS_SECCOMP", "SYS_USER_DISPATCH"),
	"SIGCHLD": numbered(1, "CLD_EXITED", "CLD_KILLED", "CLD_DUMPED", "CLD_TRAPPED", "CLD_STOPPED", "CLD_CONTINUED"),
	"SIGIO":   numbered(1, "POLL_IN", "POLL_OUT", "POLL_MSG", "POLL_ERR", "POLL_PRI", "POLL_HUP"),
}

var segvCodes = numbered(1, "SEGV_MAPERR", "SEGV_ACCERR", "SEGV_BNDERR", "SEGV_PKUERR", "SEGV_ACCADI", "SEGV_ADIDERR",
	"SEGV_ADIPERR", "SEGV_MTEAERR", "SEGV_MTESERR", "SEGV_CPERR")

var fpeCodes = map[uint32]string{
	1: "FPE_INTDIV", 2: "FPE_INTOVF", 3: "FPE_FLTDIV", 4: "FPE_FLTOVF", 5: "FPE_FLTUND", 6: "FPE_FLTRES", 7: "FPE_FLTINV",
	8: "FPE_FLTSUB", 14: "FPE_FLTUNK", 15: "FPE_CONDTRAP",
}

// The meanings of si_code that every signal may have: they identify the sender.
var (
	linuxSenders = senders(-2, -3, -4)
	mipsSenders  = senders(-3, -4, -2)
)

// numberings are the names of signals and of senders, by numbering.
var numberings = [...]struct{ signals, senders map[uint32]string }{
	arch.GenericSignals: {linuxSignals, linuxSenders},
	arch.MIPSSignals:    {mipsSignals, mipsSenders},
}

// signalsOf returns the numbering of a CPU, which may be nil.
func signalsOf(a *arch.Arch) arch.Signals {
	if a == nil {
		return arch.GenericSignals
	}
	return a.Signals
}

func senders(timer, mesgq, asyncio int32) map[uint32]string {
	names := map[int32]string{
		0x80: "SI_KERNEL", -1: "SI_QUEUE", timer: "SI_TIMER", mesgq: "SI_MESGQ", asyncio: "SI_ASYNCIO",
		-5: "SI_SIGIO", -6: "SI_TKILL", -7: "SI_DETHREAD", -60: "SI_ASYNCNL",
	}
	table := make(map[uint32]string, len(names))
	for code, name := range maps.All(names) {
		table[uint32(code)] = name
	}
	return table
}

// signalName returns the name of a Linux signal: "SIGSEGV", or "signal 34" for one without a name.
// The CPU may be nil.
func signalName(a *arch.Arch, signal int) string {
	if s, ok := numberings[signalsOf(a)].signals[uint32(signal)]; ok {
		return s
	}
	return fmt.Sprintf("signal %d", signal)
}

// Stopped reports whether the process was only stopped to be dumped, as gcore and debuggers do:
// SIGSTOP does not end a process.
func (d *Dump) Stopped() bool {
	return d.Crash != nil && (d.System.OS == Linux || d.System.OS == Android) && signalName(d.Arch, int(d.Crash.Code)) == "SIGSTOP"
}

func (d *Dump) linuxReason() string {
	c := d.Crash
	if c.Code == dumpRequested {
		return "DUMP_REQUESTED"
	}
	signal := signalName(d.Arch, int(c.Code))
	if c.Flags == 0 {
		return signal // SI_USER, or a dump without a si_code
	}
	if s, ok := linuxCodes[signal][c.Flags]; ok {
		return signal + " / " + s
	}
	return signal + " / " + named(numberings[signalsOf(d.Arch)].senders, c.Flags)
}
