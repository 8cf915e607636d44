// Package report writes walks as text and machine-readable lines in Breakpad's forms, as JSON in
// rust-minidump's schema, and as HTML pages.
package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dump"
)

// TextOptions configure WriteText. With the zero value, the frames of all threads are
// printed without registers.
type TextOptions struct {
	Registers bool // known registers of each frame
	Stack     bool // bytes of the stack between a frame and its caller, and the functions that words there point to
	Brief     bool // only frames, of the thread that crashed or requested the dump; of all threads if there is none or the process was only stopped

	// Ends adds what Breakpad does not print: ids and names of threads,
	// unloaded modules, notes, and why each walk ended.
	Ends bool

	// Options for a terminal. The colour of a frame's number shows its trust. Short names omit the arguments of
	// templates; where a frame is wider than Width columns, they also omit the function's own arguments, and are cut.
	// Width 0 means any width. Inlined frames are then marked as such.
	Color      bool
	ShortNames bool
	Width      int

	Sources   *Sources   // printed after each frame; nil for none
	Variables *Variables // printed after each frame; nil for none
}

// WriteText writes a result as text in the form of Breakpad's minidump_stackwalk. Characters that could affect a
// terminal are escaped.
//
// Differences from Breakpad: crash reasons and codes for which it has no name have the names of dump.Dump.Reason; the
// offset in an inlined function without a file is from the start of the function around it; a signal's frame has all
// registers, which Breakpad shows only for the topmost frame.
func WriteText(w io.Writer, r *walk.Result, o TextOptions) error {
	p := &textWriter{Writer: bufio.NewWriter(w), view: newView(r), o: o, stackBytes: moreStackBytes + r.Dump.Size, pointees: walk.NewBudget(r.Dump)}
	if o.Brief {
		p.brief()
		return p.Flush()
	}
	p.system()
	p.crash()
	for i := range p.stacks {
		p.put("\n")
		p.stack(&p.stacks[i])
	}
	p.modules()
	return p.Flush()
}

// textWriter keeps the first error in its Writer.
type textWriter struct {
	*bufio.Writer
	*view
	o TextOptions

	stackBytes int64        // number of bytes that may still be shown
	pointees   *walk.Budget // budget of the functions into which words point
}

func (p *textWriter) put(format string, args ...any) { fmt.Fprintf(p.Writer, format, args...) }

func (p *textWriter) system() {
	s := &p.d.System
	p.put("Operating system: %s\n                  %s\n", safe(systemName(s.OS)), safe(systemVersion(p.d)))
	p.put("CPU: %s\n", safe(cpuName(p.d)))
	if model := cpuModel(p.d); model != "" {
		p.put("     %s\n", safe(model))
	}
	plural := "s"
	if s.CPUs == 1 {
		plural = ""
	}
	p.put("     %d CPU%s\n\n", s.CPUs, plural)
	if g := s.GPU; g != nil {
		p.put("GPU: %s\n     %s\n     %s\n\n", safe(g.Version), safe(g.Vendor), safe(g.Renderer))
	} else {
		p.put("GPU: UNKNOWN\n\n")
	}
}

func (p *textWriter) crash() {
	c := p.d.Crash
	if c == nil {
		p.put("No crash\n")
	} else {
		p.put("Crash reason:  %s\nCrash address: 0x%x\n", p.paint(colorBold, safe(breakpadReason(p.d))), c.Address)
		if len(c.Params) > 0 {
			p.put("Crash parameters:\n")
		}
		for _, v := range c.Params {
			p.put("    value: 0x%016x  description: \n", v)
		}
		if text := p.explanation(); text != "" {
			p.put("Crash cause:   %s\n", safe(text))
		}
	}
	if a := p.d.Assertion; a != nil {
		if text := assertionText(a); text != "" {
			p.put("Assertion: %s\n", safe(text))
		}
	}
	p.kernel()
	if seconds, ok := uptime(p.d); ok {
		p.put("Process uptime: %d seconds\n", seconds)
	} else {
		p.put("Process uptime: not available\n")
	}
}

// kernel writes what a dump of a kernel shows about its panic.
func (p *textWriter) kernel() {
	k := p.d.Kernel
	if k == nil {
		return
	}
	if k.PanicCPU >= 0 {
		p.put("Panic on CPU %d\n", k.PanicCPU)
	} else {
		p.put("Panic on a CPU that is not known: %s\n", safe(k.CPUMissing))
	}
	switch {
	case k.LogMissing != "":
		p.put("Kernel log: not read: %s\n", safe(k.LogMissing))
	case len(k.Log) == 0:
		p.put("Kernel log: empty\n")
	default:
		p.put("Kernel log:\n")
	}
	for _, line := range k.Log {
		p.put("    %s\n", safe(line))
	}
}

// stack writes the stack of a thread.
func (p *textWriter) stack(s *viewStack) {
	p.threadLine(s)
	if len(s.Frames) == 0 {
		p.put(" <no frames>\n")
	}
	n := 0
	for i := range s.Frames {
		f := &s.Frames[i]
		n = p.frame(s, i, n)
		p.put("    Found by: %s\n", p.paint(trustColor(f.Trust), p.foundBy(f)))
		p.more(s, i, max(len(f.Names), 1)-1)
		if p.o.Stack && i+1 < len(s.Frames) && s.Coroutine == nil {
			p.stackContents(f.SP, s.Frames[i+1].SP)
		}
	}
	p.ends(s)
}

func (p *textWriter) threadLine(s *viewStack) {
	p.put("%s", p.paint(colorBold, safe(s.name())))
	switch {
	case s.requested && p.d.Stopped():
		p.put(" (stopped)")
	case s.requested && p.d.Crash != nil:
		p.put(" (crashed)")
	case s.requested && p.d.Kernel != nil:
		p.put(" (panicked)")
	case s.requested:
		p.put(" (requested dump, did not crash)")
	}
	if t := &p.d.Threads[s.Thread]; p.o.Ends && s.hasThread() {
		p.put(" id %d", t.ID)
		if t.Name != "" {
			p.put(" %q", t.Name)
		}
	}
	p.put("\n")
}

// frame writes frame i and the functions that were inlined into it. The first of them has number n. It returns the next
// number.
func (p *textWriter) frame(s *viewStack, i, n int) int {
	f := &s.Frames[i]
	for k := range max(len(f.Names), 1) {
		p.frameLine(f, k, n)
		n++
		if k+1 < len(f.Names) {
			if p.o.Registers {
				p.put(" \n") // a frame without a name
			}
			p.put("    Found by: inline record\n")
			p.more(s, i, k)
		}
	}
	if p.o.Registers {
		p.put(" ")
		p.registers(s, f)
		p.put("\n")
	}
	return n
}

// more writes the source and the variables, if requested, of the function at index k of the names of frame i.
func (p *textWriter) more(s *viewStack, i, k int) {
	p.source(&s.Frames[i], k)
	p.variables(s, i, k)
}

// frameLine writes the line of f.Names[k], or of the frame if it has no names.
func (p *textWriter) frameLine(f *walk.Frame, k, n int) {
	number := fmt.Sprintf("%2d", n)
	module := safe(p.moduleName(f))
	name, file, line, off := p.place(f, k)
	before, after := "", ""
	switch {
	case name == "" && p.module(f) == nil:
		before = fmt.Sprintf("0x%x", f.PC)
	case name == "":
		before = fmt.Sprintf("%s + 0x%x", module, off)
	case file == "":
		before, after = module+"!", fmt.Sprintf(" + 0x%x", off)
	default:
		before, after = module+"!", fmt.Sprintf(" [%s : %d + 0x%x]", safe(text.Base(file)), line, off)
	}
	if p.o.ShortNames && k+1 < len(f.Names) {
		after = " (inlined)" + after
	}
	if f.Data {
		after += " (data)"
	}
	after += p.unloadedText(f)
	if name != "" {
		name = p.name(safe(name), len(number)+2+utf8.RuneCountInString(before+after))
	}
	p.put("%s  %s%s%s\n", p.paint(trustColor(f.Trust), number), before, p.paint(colorBold, name), after)
}

// maxUnloaded limits the modules that a line lists.
const maxUnloaded = 3

// unloadedText says that the module of a frame was unloaded, or which modules may have been at its address.
func (p *textWriter) unloadedText(f *walk.Frame) string {
	if p.unloaded(f) >= 0 {
		return " (unloaded)"
	}
	var may []string
	for _, i := range p.unloadedAt(f) {
		m := &p.d.Unloaded[i]
		if one := fmt.Sprintf("%s + 0x%x", safe(p.d.System.OS.Base(m.Path)), f.PC-m.Addr); !slices.Contains(may, one) {
			may = append(may, one)
		}
	}
	if len(may) == 0 {
		return ""
	}
	if len(may) > maxUnloaded {
		may = append(may[:maxUnloaded], "others")
	}
	return " (unloaded: " + strings.Join(may, ", or ") + ")"
}

// textByCode says how a caller was found whose rules were derived from instructions.
const textByCode = "call frame info derived from instructions"

// foundBy returns the text that follows "Found by: ".
func (p *textWriter) foundBy(f *walk.Frame) string {
	if f.By == walk.ByReturn && p.d.System.OS == dump.Windows {
		return "simulating a return from leaf function"
	}
	switch f.By {
	case walk.ByCode:
		return textByCode
	case walk.ByCoroutine:
		return "frame of a coroutine"
	}
	return f.Trust.Text()
}

// ends writes the notes of a walk, and why it ended.
func (p *textWriter) ends(s *viewStack) {
	if !p.o.Ends {
		return
	}
	for _, note := range s.Notes {
		p.put("    Note: %s\n", safe(note))
	}
	if s.Why == "" {
		p.put("    End: %v\n", s.End)
	} else {
		p.put("    End: %v: %s\n", s.End, safe(s.Why))
	}
}

func (p *textWriter) modules() {
	p.put("\nLoaded modules:\n")
	for i := range p.d.Modules {
		m := &p.d.Modules[i]
		version, main := m.Version, ""
		if version == "" {
			version = "???"
		}
		if i == p.d.Main && m.Addr != 0 {
			main = "  (main)"
		}
		p.put("0x%08x - 0x%08x  %s  %s%s%s\n", m.Addr, lastByte(m), safe(text.Base(m.Path)), safe(version), main, p.symbolIssue(i))
	}
	if !p.o.Ends || len(p.d.Unloaded) == 0 {
		return
	}
	p.put("\nUnloaded modules:\n")
	for i := range p.d.Unloaded {
		m := &p.d.Unloaded[i]
		p.put("0x%08x - 0x%08x  %s\n", m.Addr, lastByte(m), safe(text.Base(m.Path)))
	}
}

// symbolIssue returns a warning about a module on a stack whose symbols are missing or damaged.
func (p *textWriter) symbolIssue(i int) string {
	m, kind := &p.d.Modules[i], ""
	switch p.issues[symbolKey(m)] {
	case noSymbols:
		kind = "No"
	case badSymbols:
		kind = "Corrupt"
	default:
		return ""
	}
	return fmt.Sprintf("  (WARNING: %s symbols, %s, %s)", kind, safe(debugFile(m)), safe(m.DebugID))
}

// brief writes frames only.
func (p *textWriter) brief() {
	stacks := p.stacks
	if len(stacks) > 0 && stacks[0].requested && !p.d.Stopped() {
		stacks = stacks[:1]
	}
	for i := range stacks {
		if i > 0 {
			p.put("\n")
		}
		p.threadLine(&stacks[i])
		n := 0
		for k := range stacks[i].Frames {
			f := &stacks[i].Frames[k]
			for name := range max(len(f.Names), 1) {
				p.frameLine(f, name, n)
				p.more(&stacks[i], k, name)
				n++
			}
		}
		p.ends(&stacks[i])
	}
}
