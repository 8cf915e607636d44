package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dump"
)

// WriteMachine writes a result in the form of Breakpad's minidump_stackwalk -m:
// lines of fields separated by vertical bars,
//
//	OS|name|version
//	CPU|name|model|number
//	GPU|||
//	Crash|reason|address|thread
//	Module|file|version|debug file|debug id|first address|last address|main
//
// and, after an empty line, one line for each frame, the thread that crashed
// first:
//
//	thread|frame|module|function|file|line|offset
//
// Bars and line breaks in a field are left out, as in Breakpad; anything else
// that could affect a terminal is escaped.
func WriteMachine(w io.Writer, r *walk.Result) error {
	p := &machineWriter{Writer: bufio.NewWriter(w), view: newView(r)}
	p.head()
	for i := range p.d.Modules {
		m := &p.d.Modules[i]
		main := "0"
		if i == p.d.Main {
			main = "1"
		}
		p.line("Module", text.Base(m.Path), m.Version, debugFile(m), m.DebugID,
			fmt.Sprintf("0x%08x", m.Addr), fmt.Sprintf("0x%08x", lastByte(m)), main)
	}
	p.line("")
	for i := range p.stacks {
		p.stack(&p.stacks[i])
	}
	return p.Flush()
}

// machineWriter writes lines. It keeps the first error in its Writer.
type machineWriter struct {
	*bufio.Writer
	*view
}

var machineField = strings.NewReplacer("|", "", "\n", "")

// line writes fields.
func (p *machineWriter) line(fields ...string) {
	for i, f := range fields {
		if i > 0 {
			p.WriteByte('|')
		}
		p.WriteString(text.Printable(machineField.Replace(f)))
	}
	p.WriteByte('\n')
}

func (p *machineWriter) head() {
	s := &p.d.System
	p.line("OS", systemName(s.OS), systemVersion(p.d))
	p.line("CPU", cpuName(p.d), cpuModel(p.d), fmt.Sprint(s.CPUs))
	gpu := dump.GPU{}
	if s.GPU != nil {
		gpu = *s.GPU
	}
	p.line("GPU", gpu.Version, gpu.Vendor, gpu.Renderer)
	thread := ""
	if len(p.stacks) > 0 && p.stacks[0].requested {
		thread = fmt.Sprint(p.stacks[0].number)
	}
	reason, address := "No crash", ""
	switch {
	case p.d.Crash != nil:
		reason, address = breakpadReason(p.d), fmt.Sprintf("0x%x", p.d.Crash.Address)
	case p.d.Assertion != nil:
		reason = assertionText(p.d.Assertion)
	}
	p.line("Crash", reason, address, thread)
}

func (p *machineWriter) stack(s *viewStack) {
	n := 0
	for i := range s.Frames {
		f := &s.Frames[i]
		for k := range max(len(f.Names), 1) {
			p.frame(s, f, k, n)
			n++
		}
	}
}

// frame writes the line of f.Names[k], or of the frame if it has no names.
func (p *machineWriter) frame(s *viewStack, f *walk.Frame, k, n int) {
	module, number := p.moduleName(f), ""
	name, file, line, off := p.place(f, k)
	if file != "" {
		number = fmt.Sprint(line)
	}
	p.line(fmt.Sprint(s.number), fmt.Sprint(n), module, name, file, number, fmt.Sprintf("0x%x", off))
}
