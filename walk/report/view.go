package report

import (
	"fmt"
	"strings"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/coroutine"
	"github.com/symtool/symtool/walk/crash"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/minidump"
)

// view is a result in the order of Breakpad's outputs: the thread that crashed or requested the
// dump comes first, and the thread that wrote it is left out.
type view struct {
	r      *walk.Result
	d      *dump.Dump
	stacks []viewStack
	issues map[string]symbolIssue // of modules on stacks, by symbolKey
}

type viewStack struct {
	*walk.Stack
	index     int  // in Result.Stacks
	number    int  // of the thread, not counting the writer of the dump
	requested bool // it crashed or requested the dump
}

// name returns "Thread 3" or, for a goroutine, the text in a Go traceback: "Goroutine 3 [select]"; and for coroutines,
// the first of them: "Coroutine 0x55e0 [suspended]", with the kind if they have stacks of their own.
func (s *viewStack) name() string {
	if g := s.Goroutine; g != nil {
		return fmt.Sprintf("Goroutine %d [%s]", g.ID, g.State())
	}
	if c := s.Coroutine; c != nil {
		if c.Kind == coroutine.CXX20 {
			return fmt.Sprintf("Coroutine 0x%x [%s]", c.Addr, c.State())
		}
		return fmt.Sprintf("Coroutine 0x%x [%s, %v]", c.Addr, c.State(), c.Kind)
	}
	return fmt.Sprintf("Thread %d", s.number)
}

// hasThread reports whether it is the stack of a thread, or of a goroutine that a thread runs.
func (s *viewStack) hasThread() bool {
	return s.Coroutine == nil && (s.Goroutine == nil || s.Goroutine.Thread >= 0)
}

type symbolIssue uint8

const (
	noIssue symbolIssue = iota
	noSymbols
	badSymbols
)

func newView(r *walk.Result) *view {
	v := &view{r: r, d: r.Dump, issues: map[string]symbolIssue{}}
	want, writer := v.d.RequestingThread(), -1
	for i := range v.d.Threads {
		id := v.d.Threads[i].ID
		if v.d.HasWriter && id == v.d.Writer && writer < 0 {
			writer = i
		}
	}
	for i := range r.Stacks {
		s := viewStack{Stack: &r.Stacks[i], index: i, number: r.Stacks[i].Thread}
		if s.Thread == writer {
			continue
		}
		if writer >= 0 && s.number > writer {
			s.number--
		}
		s.requested = s.Thread == want
		v.stacks = append(v.stacks, s)
		if s.requested {
			copy(v.stacks[1:], v.stacks)
			v.stacks[0] = s
		}
		v.note(s.Stack)
	}
	return v
}

// note finds the modules of a stack whose symbols are missing or damaged.
func (v *view) note(s *walk.Stack) {
	for i := range s.Frames {
		at := s.Frames[i].Module
		if at < 0 {
			continue
		}
		key := symbolKey(&v.d.Modules[at])
		switch y := &v.r.Modules[at]; {
		case y.Resolver == nil:
			v.issues[key] = noSymbols
		case len(y.Resolver.Damage()) > 0:
			v.issues[key] = badSymbols
		}
	}
}

func symbolKey(m *dump.Module) string { return debugFile(m) + "\n" + m.DebugID }

// module returns the module of a frame, loaded or not, or nil.
func (v *view) module(f *walk.Frame) *dump.Module {
	if f.Module >= 0 {
		return &v.d.Modules[f.Module]
	}
	if i := v.unloaded(f); i >= 0 {
		return &v.d.Unloaded[i]
	}
	return nil
}

// moduleName returns the name of the module of a frame or, of generated code, that of the file that names its function.
// It returns "" if there is neither.
func (v *view) moduleName(f *walk.Frame) string {
	if m := v.module(f); m != nil {
		return text.Base(m.Path)
	}
	return text.Base(v.r.NamedBy(f))
}

// unloaded returns the index of the unloaded module that contained the instruction of a frame without a module, or -1.
// It is also -1 if several modules did, as after many loads at the same address, and the frame would not be the same
// in all of them.
func (v *view) unloaded(f *walk.Frame) int {
	all := v.unloadedAt(f)
	for _, i := range all {
		if a, b := &v.d.Unloaded[all[0]], &v.d.Unloaded[i]; a.Path != b.Path || a.Addr != b.Addr {
			return -1
		}
	}
	if len(all) == 0 {
		return -1
	}
	return all[0]
}

// unloadedAt returns the indices of the unloaded modules that contained the instruction of a frame without a module.
func (v *view) unloadedAt(f *walk.Frame) (all []int) {
	for i := range v.d.Unloaded {
		if f.Module < 0 && v.d.Unloaded[i].Contains(f.Inst) {
			all = append(all, i)
		}
	}
	return all
}

// place returns function, file and line of f.Names[k], as far as known, and the offset from the line's code, the
// function or the module. For an inlined function it is the offset of the call, not of the return address after it.
func (v *view) place(f *walk.Frame, k int) (name, file string, line uint32, off uint64) {
	pc := f.PC
	if k+1 < len(f.Names) {
		pc = f.Inst
	}
	if k < len(f.Names) {
		name, file, line = f.Names[k].Function, f.Names[k].File, f.Names[k].Line
	}
	m := v.module(f)
	switch {
	case m == nil && name == "":
		return "", "", 0, pc
	case name == "":
		return "", "", 0, pc - m.Addr
	case file != "":
		return name, file, line, pc - f.LineStart
	}
	return name, "", 0, pc - f.Start
}

// systemName returns Breakpad's name of a system.
func systemName(os dump.OS) string {
	switch os {
	case dump.Windows:
		return "Windows NT"
	case dump.MacOS:
		return "Mac OS X"
	}
	return os.String()
}

// systemVersion returns the version with its details. A minidump that lacks them has zeros and an
// empty text.
func systemVersion(d *dump.Dump) string {
	s := &d.System
	switch {
	case d.Format != minidump.Format:
		return strings.TrimSpace(s.Version + " " + s.Build)
	case s.Version == "":
		return "0.0.0 " + s.Build
	}
	return s.Version + " " + s.Build
}

// cpuModel describes the processor. Breakpad omits the vendor of a 64-bit processor.
func cpuModel(d *dump.Dump) string {
	if i := strings.Index(d.System.Model, "family "); i > 0 && d.Arch == arch.X86_64 {
		return d.System.Model[i:]
	}
	return d.System.Model
}

// debugFile returns a module's debug file as in a minidump. It is "" if the module's record has no name, except for
// ELF files, whose records never have one.
func debugFile(m *dump.Module) string {
	if len(m.BuildID) == 0 && m.DebugPath == "" {
		return ""
	}
	return text.Base(m.DebugFile)
}

// lastByte returns the address of the last byte of a module, according to the size that Breakpad also prints.
func lastByte(m *dump.Module) uint64 { return m.Addr + max(m.ListedSize(), 1) - 1 }

// cpuName returns Breakpad's name of a CPU.
func cpuName(d *dump.Dump) string {
	if d.Arch == arch.X86_64 {
		return "amd64"
	}
	return d.CPU()
}

// explanation says what the crash's reason leaves open, or returns "".
func (v *view) explanation() string {
	if v.d.Crash == nil {
		return ""
	}
	return crash.Analyze(v.d, v.d.CrashedThread(), v.r.Code).Explanation()
}

// breakpadReason returns why the process crashed in Breakpad's words.
func breakpadReason(d *dump.Dump) string {
	reason := d.Reason()
	first, second, _ := strings.Cut(reason, " / ")
	switch d.System.OS {
	case dump.Linux, dump.Android:
		flags := fmt.Sprintf("0x%08x", d.Crash.Flags)
		if name, ok := strings.CutPrefix(first, "SIG"); ok && strings.HasPrefix(second, name+"_") {
			flags = second
		}
		switch first {
		case "SIGSEGV":
			return first + " /" + flags
		case "SIGILL", "SIGBUS", "SIGFPE":
			return first + " / " + flags
		}
		return first
	case dump.Windows:
		switch {
		case strings.HasPrefix(second, "FAST_FAIL_"):
			return second
		case first == "EXCEPTION_STACK_BUFFER_OVERRUN":
			return first
		}
		if name, ok := breakpadExceptions[first]; ok {
			return name
		}
	}
	if strings.HasPrefix(first, "unknown ") {
		return fmt.Sprintf("0x%08x / 0x%08x", d.Crash.Code, d.Crash.Flags)
	}
	return reason
}

// breakpadExceptions are Breakpad's names that other programs have changed.
var breakpadExceptions = map[string]string{
	"OUT_OF_MEMORY":           "Out of Memory",
	"UNHANDLED_CPP_EXCEPTION": "Unhandled C++ Exception",
	"SIMULATED":               "Simulated Exception",
}

// Types of failed checks in Microsoft's C library (MDAssertionInfoData).
const (
	invalidParameter = 1
	pureVirtualCall  = 2
)

// assertionText returns the sentence about a failed check.
func assertionText(a *dump.Assertion) string {
	var b strings.Builder
	switch a.Type {
	case invalidParameter:
		b.WriteString("Invalid parameter passed to library function")
	case pureVirtualCall:
		b.WriteString("Pure virtual function called")
	default:
		fmt.Fprintf(&b, "Unknown assertion type 0x%08x", a.Type)
	}
	if a.Expression != "" {
		b.WriteString(" " + a.Expression)
	}
	if a.Function != "" {
		b.WriteString(" in function " + a.Function)
	}
	if a.File != "" {
		b.WriteString(", in file " + a.File)
	}
	if a.Line != 0 {
		fmt.Fprintf(&b, " at line %d", a.Line)
	}
	return b.String()
}

// uptime returns the number of seconds that the process ran.
func uptime(d *dump.Dump) (seconds int64, ok bool) {
	if d.Time.IsZero() || d.Process.Started.IsZero() || d.Time.Unix() < d.Process.Started.Unix() {
		return 0, false
	}
	return d.Time.Unix() - d.Process.Started.Unix(), true
}

// safe escapes what could affect a terminal.
func safe(s string) string { return text.Printable(s) }
