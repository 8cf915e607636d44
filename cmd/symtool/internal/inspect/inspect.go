// Package inspect implements symtool inspect.
package inspect

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/internal/version"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/dumpfile"
)

const inspectDescription = `
DUMP is a minidump of Windows, Breakpad, Crashpad or LLDB, an ELF core or a
microdump, plain or compressed with gzip, zstd, xz or lz4, or - for standard
input: of a core from a pipe, memory is what walk keeps of it. inspect prints
the system, the process, why it crashed, its threads, modules with the ids of
their symbol files, and what the program's crash reporter added. Damage is
reported on standard error, and the rest is printed.

In text, characters that could change the terminal are escaped. JSON has
everything, whatever the flags. Fields may be added, but never change their
meaning; they have the names of minidump-stackwalk's fields if it has them.
Addresses, ids and codes are hexadecimal strings.

Examples:
  symtool inspect --registers crash.dmp
  symtool inspect --format json core.1234
`

// Command returns the command symtool inspect.
func Command(msgs *cli.Messages) *cli.Command {
	in := &inspector{msgs: msgs}
	return &cli.Command{
		Name:        "inspect",
		Usage:       "print the contents of the dump of a crashed process",
		UsageText:   "symtool inspect [flags] DUMP...",
		Description: inspectDescription,
		Flags: []cli.Flag{
			cli.Switch("registers", "print the registers of every thread", &in.registers),
			cli.Switch("memory", "print the ranges of memory in the dump, and the mappings of the\nprocess", &in.memory),
			cli.Switch("streams", "print the parts of the file with their offsets and sizes", &in.streams),
			cli.OneOf("format", "print `FORM`: text (default) or json", &in.json, cli.TextOrJSON),
		},
		Action: func(c *cli.Context) error {
			files := c.Args().Slice()
			if len(files) == 0 {
				return cli.Usagef("inspect", "no DUMP")
			}
			if err := cli.CheckDumps("DUMP", files); err != nil {
				return cli.AsUsageError("inspect", err)
			}
			return in.run(c.Context, cli.NewStdout(c.App.Writer), files)
		},
	}
}

// inspector is a call of inspect.
type inspector struct {
	registers, memory, streams bool
	json                       bool
	msgs                       *cli.Messages
	status                     int
	failed                     bool // a dump could not be read
}

// run prints each dump as soon as it has been read, except that JSON is printed as one
// document.
func (in *inspector) run(ctx context.Context, out cli.Output, files []string) error {
	document := inspectDocument{Schema: 1, Generator: version.Generator}
	printed := false
	for _, file := range files {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		d, err := in.open(ctx, file)
		if err != nil {
			document.Dumps = append(document.Dumps, inspectedDump{File: file, Error: err.Error()})
			continue
		}
		if in.json {
			document.Dumps = append(document.Dumps, newInspectedDump(file, d.Dump))
		} else {
			in.text(out, printed, file, d.Dump)
			printed = true
		}
		d.Close()
	}
	if in.json {
		document.Status = in.status
		if err := cli.PrintJSON(out, document); err != nil {
			return cli.OutputError(out.Name(), err)
		}
	}
	if err := cli.OutputError(out.Name(), out.Commit()); err != nil {
		return err
	}
	if in.status != cli.StatusOK {
		return &cli.StatusError{Status: in.status, Written: !in.failed}
	}
	return nil
}

// open opens a dump and reports its problems.
func (in *inspector) open(ctx context.Context, file string) (*dumpfile.File, error) {
	d, err := dumpfile.Open(ctx, file, dumpfile.Options{Stdin: os.Stdin})
	if err != nil {
		in.msgs.Printf("symtool: %s", cli.Named(file, err))
		in.status, in.failed = cli.StatusInput, true
		return nil, err
	}
	for _, p := range d.Problems {
		in.msgs.Warnf("symtool: %v", p)
		in.status = cli.StatusInput
	}
	return d, nil
}

// text prints a dump as text.
func (in *inspector) text(out cli.Output, more bool, file string, d *dump.Dump) {
	t := &dumpText{d: d, out: out}
	if more {
		t.line("")
	}
	t.head(file)
	t.process()
	t.crash()
	t.asked()
	t.threads(in.registers)
	t.modules("module", d.Modules)
	t.modules("unloaded module", d.Unloaded)
	t.annotations()
	t.ranges(in.memory)
	if in.streams {
		t.streams()
	}
}

// dumpText is the text of one dump.
type dumpText struct {
	d   *dump.Dump
	out io.Writer // buffered; Commit will return a failure
}

// line writes a line. It escapes names from the dump.
func (t *dumpText) line(format string, args ...any) {
	t.write(strings.TrimRight(text.Printable(fmt.Sprintf(format, args...)), " ") + "\n")
}

func (t *dumpText) write(s string) { _, _ = io.WriteString(t.out, s) }

// section begins a list with a title.
func (t *dumpText) section(title string) {
	t.write("\n")
	t.line("%s", title)
}

// entry writes a line of the head, unless its text is empty.
func (t *dumpText) entry(name, format string, args ...any) {
	if text := strings.TrimSpace(fmt.Sprintf(format, args...)); text != "" {
		t.line("%-13s%s", name, text)
	}
}

// addr formats an address with all digits of the CPU's words.
func addr(d *dump.Dump, v uint64) string {
	if d.Arch != nil && d.Arch.PtrSize == 4 {
		return fmt.Sprintf("0x%08x", v)
	}
	return fmt.Sprintf("0x%016x", v)
}

func (t *dumpText) span(r dump.Range) string {
	return addr(t.d, r.Addr) + "-" + addr(t.d, r.Addr+r.Size)
}

const timeForm = "2006-01-02 15:04:05 UTC"

func (t *dumpText) head(file string) {
	d := t.d
	t.line("%s: %s", file, d.Format)
	if !d.Time.IsZero() {
		t.entry("written", "%s", d.Time.Format(timeForm))
	}
	t.entry("system", "%s", cli.Spaced(d.System.OS.String(), d.System.Version, d.System.Build))
	t.entry("", "%s", d.System.Detail)
	cpu := d.CPU()
	if d.System.Model != "" {
		cpu += ", " + d.System.Model
	}
	if d.System.CPUs > 0 {
		cpu += ", " + text.Count(d.System.CPUs, "processor")
	}
	t.entry("cpu", "%s", cpu)
	if g := d.System.GPU; g != nil {
		t.entry("gpu", "%s, %s, OpenGL %s", g.Vendor, g.Renderer, g.Version)
	}
	t.entry("report", "%s", d.ReportID)
	t.entry("client", "%s", d.ClientID)
	t.entry("comment", "%s", d.Comment)
}

func (t *dumpText) process() {
	p := &t.d.Process
	name := p.Name
	if p.HasID {
		name = fmt.Sprintf("%d %s", p.ID, name)
	}
	if p.Parent != 0 {
		name += fmt.Sprintf(" (parent %d, user %d, group %d)", p.Parent, p.UID, p.GID)
	}
	t.entry("process", "%s", name)
	if len(p.Args) > 0 {
		t.entry("command", "%s", strings.Join(p.Args, " "))
	}
	if len(p.Env) > 0 {
		t.entry("environment", "%s", text.Count(len(p.Env), "variable"))
	}
	if !p.Started.IsZero() {
		t.entry("started", "%s, %v of CPU time in user mode, %v in the kernel", p.Started.Format(timeForm), p.User, p.Kernel)
	}
	if t.d.Handles > 0 {
		t.entry("handles", "%d", t.d.Handles)
	}
}

func (t *dumpText) crash() {
	d, c := t.d, t.d.Crash
	if a := d.Assertion; a != nil {
		t.entry("assertion", "%s in %s (%s:%d)", a.Expression, a.Function, a.File, a.Line)
	}
	if c == nil {
		t.entry("crash", "none")
		return
	}
	text := d.Reason()
	if c.Unknown {
		text = "of an unknown reason"
	}
	if c.HasAddress {
		text += " at " + addr(d, c.Address)
	}
	what := "crash"
	if d.Stopped() {
		what = "stopped"
	}
	t.entry(what, "%s in thread %d", text, c.Thread)
	if !c.Unknown {
		t.entry("code", "%#x, flags %#x%s", c.Code, c.Flags, params(c.Params))
	}
	if c.Syscall != nil {
		t.entry("refused", "%s", c.Syscall)
	}
}

// asked writes which threads requested and wrote the dump, if known.
func (t *dumpText) asked() {
	if t.d.HasRequester {
		t.entry("requested by", "thread %d", t.d.Requester)
	}
	if t.d.HasWriter {
		t.entry("written by", "thread %d", t.d.Writer)
	}
}

func params(list []uint64) string {
	if len(list) == 0 {
		return ""
	}
	return fmt.Sprintf(", parameters %#x", list)
}

// maxFileName is the maximum length in bytes of a file's name without folders. A longer name
// cannot be a file's, and a thousand threads may be in that module.
const maxFileName = 255

// place formats an address, relative to the start of its module if it is in one.
func (t *dumpText) place(a uint64) string {
	if i := t.d.ModuleAt(a); i >= 0 {
		m := &t.d.Modules[i]
		name := t.d.System.OS.Base(m.Path)
		if len(name) > maxFileName {
			name = name[:maxFileName] + "..."
		}
		return fmt.Sprintf("%s+%#x", name, a-m.Addr)
	}
	return addr(t.d, a)
}

func (t *dumpText) threads(registers bool) {
	d := t.d
	t.section(text.Count(len(d.Threads), "thread"))
	crashed := d.CrashedThread()
	for i := range d.Threads {
		th := &d.Threads[i]
		text := fmt.Sprintf("  %d: %d", i, th.ID)
		if th.Name != "" {
			text += fmt.Sprintf(" %q", th.Name)
		}
		switch {
		case i != crashed:
		case d.Stopped():
			text += " (stopped)"
		default:
			text += " (crashed)"
		}
		if th.Context != nil {
			text += " at " + t.place(th.Context.PC())
		}
		if th.Stack.Size > 0 {
			text += ", stack " + t.span(th.Stack)
		}
		t.line("%s", text)
		if registers {
			t.registers(th.Context)
		}
	}
	if c := d.Crash; registers && c != nil && c.Context != nil && !(crashed >= 0 && dump.Same(d.Threads[crashed].Context, c.Context)) {
		t.section("registers at the crash")
		t.registers(c.Context)
	}
}

// wideText returns a register that is wider than a word in hexadecimal, highest byte first.
func wideText(b []byte) string {
	b = slices.Clone(b)
	slices.Reverse(b)
	return fmt.Sprintf("%#x", b)
}

// registers prints the known registers, four per line, and the vectors that are not 0.
func (t *dumpText) registers(c *dump.Context) {
	if c == nil {
		t.line("     no registers")
		return
	}
	var line string
	n := 0
	for i, reg := range c.Arch.Regs {
		v, ok := c.At(i)
		if !ok {
			continue
		}
		line += fmt.Sprintf("%9s %s", strings.TrimPrefix(reg.Name, "$"), addr(t.d, v))
		if n++; n%4 == 0 {
			t.line("%s", line)
			line = ""
		}
	}
	if line != "" {
		t.line("%s", line)
	}
	for _, w := range c.Wide() {
		if slices.Max(w.Value) != 0 {
			t.line("%9s %s", w.Name, wideText(w.Value))
		}
	}
}

func (t *dumpText) modules(what string, list []dump.Module) {
	if len(list) == 0 {
		return
	}
	t.section(text.Count(len(list), what))
	for i := range list {
		m := &list[i]
		id := m.DebugID
		switch {
		case id == "" && m.CodeID != "":
			id = "code id " + m.CodeID
		case id == "":
			id = "no id"
		}
		text := fmt.Sprintf("  %s %s %s", t.span(m.Range), id, m.Path)
		if m.DebugFile != t.d.System.OS.Base(m.Path) {
			text += " (" + m.DebugFile + ")"
		}
		if m.Version != "" {
			text += " " + m.Version
		}
		if i == t.d.Main && what == "module" {
			text += " (main)"
		}
		t.line("%s", text)
	}
}

func (t *dumpText) annotations() {
	if len(t.d.Annotations) == 0 {
		return
	}
	t.section(text.Count(len(t.d.Annotations), "annotation"))
	for _, a := range t.d.Annotations {
		from := ""
		if a.Module != "" {
			from = " (" + a.Module + ")"
		}
		t.line("  %s=%s%s", a.Key, a.Value, from)
	}
}

// ranges prints the total size of the memory and, if list is set, each range.
func (t *dumpText) ranges(list bool) {
	d := t.d
	total := uint64(0)
	for i := range d.Memory.Regions {
		total += uint64(len(d.Memory.Regions[i].Data))
	}
	t.section(text.Count(len(d.Memory.Regions), "range") + " of memory, " + text.Count(int(total), "byte"))
	if !list {
		t.line("%s", text.Count(len(d.Maps), "mapping"))
		return
	}
	for i := range d.Memory.Regions {
		r := &d.Memory.Regions[i]
		t.line("  %s", t.span(dump.Range{Addr: r.Addr, Size: uint64(len(r.Data))}))
	}
	t.section(text.Count(len(d.Maps), "mapping"))
	for i := range d.Maps {
		m := &d.Maps[i]
		t.line("  %s %s %8x %s", t.span(m.Range), permissions(m), m.Offset, m.Path)
	}
}

// permissions formats a mapping's permissions as /proc/PID/maps does.
func permissions(m *dump.Mapping) string {
	if m.Unknown {
		return "????"
	}
	text := []byte("---p")
	for i, set := range []bool{m.Read, m.Write, m.Exec, m.Shared} {
		if set {
			text[i] = "rwxs"[i]
		}
	}
	return string(text)
}

func (t *dumpText) streams() {
	t.section(text.Count(len(t.d.Parts), "stream"))
	for _, p := range t.d.Parts {
		t.line("  0x%08x %#10x %10d %s", p.Type, p.Offset, p.Size, p.Name)
	}
}
