// Package symbolizer answers as llvm-symbolizer, addr2line of GNU and of elfutils, and eu-stack do: addresses of binaries,
// with columns, discriminators, names as the linker knows them, and symbols of data; stacks and modules of processes.
package symbolizer

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/symfmt"
)

// Names says which names of functions are printed.
type Names uint8

// The values of Names.
const (
	Linkage Names = iota // the linkage name
	Short                // the name in the source, without scopes
	NoNames
)

// Style is an output format.
type Style uint8

// The styles: llvm-symbolizer's own, and those of addr2line in binutils and elfutils.
const (
	LLVM Style = iota
	GNU
	JSON
	Addr2line
	Elfutils
)

// ofLLVM reports whether the style is one of llvm-symbolizer's own.
func (s Style) ofLLVM() bool { return s <= JSON }

// Paths says how paths of files are printed.
type Paths uint8

// The values of Paths.
const (
	FullPaths     Paths = iota
	RelativePaths       // without the compilation directory
	BaseNames
)

// Options holds the options of a command line.
type Options struct {
	Program   string // the name in messages
	Binary    string // "" if each line names a binary
	CPU       string // selects the binary in a universal file
	DebugDirs []string
	Fetcher   supplier.Fetcher // for missing debug files, or nil
	Package   string           // a .dwp file; "" for FILE.dwp
	Style     Style
	Names     Names
	Paths     Paths
	Demangle  bool
	Inlines   bool
	Pretty    bool
	Addresses bool   // print addresses
	Verbose   bool   // print everything known about a frame
	Adjust    uint64 // subtracted from addresses
	Section   string // addresses are relative to the start of this section; "" for none
	BuildID   string // of the file, in hexadecimal digits, instead of Binary
	Markup    bool   // replace the symbolizer markup in a log
	Color     bool   // use colors in answers to markup
	// ColorTerminal means to use colors if the output is a terminal.
	ColorTerminal bool
	Context       int  // number of source lines printed after each frame
	Plain         bool // addresses are hexadecimal without 0x
	Symbols       bool // print the symbol at an address
	Sections      bool // and its section
}

// Symbolizer answers requests. It keeps the binaries open.
type Symbolizer struct {
	Options
	msgs    *cli.Messages
	ctx     context.Context
	modules map[string]*module
	print   printer
	noted   map[string]bool // messages already printed; each is printed once
	status  int
}

// printer prints answers.
type printer interface {
	code(*request, []symfmt.SourceFrame)
	data(*request, *symbol)
	symbol(*request, []symfmt.SourceFrame)
	fail(r *request, why string)
	end()
}

// Run answers args or, if there are none, the lines of in, each before the next one is read. It returns the exit
// status.
func Run(ctx context.Context, o Options, msgs *cli.Messages, in io.Reader, w io.Writer, args []string) (status int, err error) {
	out := cli.NewStdout(w)
	s := &Symbolizer{Options: o, msgs: msgs, ctx: ctx, modules: map[string]*module{}, noted: map[string]bool{}}
	defer s.close()
	switch o.Style {
	case Addr2line:
		s.print = &gnuPrinter{s, out}
	case Elfutils:
		s.print = &elfutilsPrinter{s, out}
	case JSON:
		s.print = &jsonPrinter{s: s, w: out, list: len(args) > 0}
	default:
		s.print = &llvmPrinter{s, out}
	}
	if s.Color = s.Color || s.ColorTerminal && cli.IsTerminal(w); o.Markup {
		if err := s.filter(in, out); err != nil {
			return cli.StatusInput, err
		}
		return cli.StatusOK, cli.OutputError(out.Name(), out.Commit())
	}
	if o.Binary != "" && !s.openBinary() {
		return s.status, cli.OutputError(out.Name(), out.Commit())
	}
	if len(args) == 0 {
		if err := s.lines(in, out); err != nil {
			return cli.StatusInput, err
		}
	}
	for _, arg := range args {
		if o.Style == Elfutils {
			s.status = cli.StatusOK // the status of the last address counts
		}
		s.answer(arg)
	}
	s.print.end()
	return s.status, cli.OutputError(out.Name(), out.Commit())
}

// openBinary opens the file named on the command line, and reports whether it could. If it cannot, the programs end,
// and only those that print JSON print an answer.
func (s *Symbolizer) openBinary() bool {
	r := &request{file: s.Binary, ok: true}
	_, err := s.module(r)
	if err == nil {
		return true
	}
	s.status = cli.StatusFindings
	s.note("%v", err)
	if p, ok := s.print.(*jsonPrinter); ok {
		p.list = false
		p.fail(r, unreadable(r.file))
	}
	return false
}

// unreadable returns, in the words of LLVM's JSON, why a file has no answers. Standard error has the details.
func unreadable(path string) string {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "No such file or directory"
	case info.IsDir():
		return "Is a directory"
	}
	return "The file was not recognized as a valid object file"
}

// maxLine is the maximum length of a line of input. Names of files are shorter.
const maxLine = 64 << 10

// lines answers lines one by one, since programs wait for each answer.
func (s *Symbolizer) lines(in io.Reader, out *cli.Stdout) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		if s.ctx.Err() != nil {
			return context.Cause(s.ctx)
		}
		s.answer(strings.TrimRight(lines.Text(), "\r"))
		if err := out.Flush(); err != nil {
			return cli.OutputError(out.Name(), err)
		}
	}
	if err := lines.Err(); err != nil {
		return cli.InputError("standard input", err)
	}
	return nil
}

// answer answers one line.
func (s *Symbolizer) answer(line string) {
	r := s.parse(line)
	m, err := s.module(r)
	if !s.Style.ofLLVM() && err == nil && r.symbol != "" {
		s.addressOf(m, r)
	}
	if s.Style == Elfutils && err == nil && !r.ok {
		s.status = cli.StatusFindings
		s.note("no symbol %q in %s", line, r.file)
		return
	}
	switch {
	case r.kind == frameRequest:
		s.note("FRAME is not supported: local variables are not listed; see symtool walk --vars")
		s.print.fail(r, "")
	case !r.ok && r.symbol == "":
		if strings.TrimSpace(line) != "" {
			s.note("%q: want %s", line, s.wanted())
		}
		s.print.code(r, nil)
	case err != nil:
		s.note("%v", err) // llvm-symbolizer does not count this as a failure
		s.print.fail(r, unreadable(r.file))
	case !r.ok && r.kind == dataRequest:
		s.print.data(r, nil) // data is found only by address
	case !r.ok:
		s.answerSymbol(m, r)
	case r.kind == dataRequest:
		sym := s.dataAt(m, r.place)
		if sym != nil && s.Style != JSON { // JSON has no place for the declaration
			m.declare(sym)
		}
		s.print.data(r, sym)
	default:
		frames := s.frames(m, r.place)
		s.print.code(r, frames)
		if s.Style == Elfutils && s.Inlines && len(frames) == 0 {
			s.status = cli.StatusFindings // no unit has the address
		}
	}
	if m != nil {
		m.report(s)
	}
}

// wanted describes a valid request, for messages.
func (s *Symbolizer) wanted() string {
	switch {
	case s.Binary != "" || s.BuildID != "":
		return "an address such as 0x1139, or a symbol"
	}
	return "FILE ADDR, with an address such as 0x1139"
}

// addressOf sets the address of a request for a symbol to the address of the first symbol with the name, if any.
// binutils also accepts names in their source form.
func (s *Symbolizer) addressOf(m *module, r *request) {
	addr, found := m.address(func(name string) bool { return name == r.symbol })
	if !found && s.Style == Addr2line {
		addr, found = m.address(func(name string) bool { return demangled(name) == r.symbol })
	}
	if found {
		r.addr, r.ok, r.symbol = addr+r.offset, true, ""
		r.place = r.addr
	}
}

// answerSymbol answers a request for a symbol. Several symbols may have the name; those without a file are left out.
func (s *Symbolizer) answerSymbol(m *module, r *request) {
	var frames []symfmt.SourceFrame
	known := false
	all := m.table()
	for i := range all {
		if all[i].name != r.symbol || !all.chosen(i) {
			continue
		}
		known = true
		if at := s.framesAt(m, all[i].addr+r.offset, false); len(at) > 0 && at[0].File.Path != "" {
			frames = append(frames, at[0])
		}
	}
	if !known {
		s.note("no symbol %s in %s", r.symbol, r.file)
	}
	s.print.symbol(r, frames)
}

// dataAt returns the symbol at an address in the form in which it is printed, or nil.
func (s *Symbolizer) dataAt(m *module, addr uint64) *symbol {
	sym := m.symbolAt(addr)
	if sym == nil {
		return nil
	}
	printed := *sym
	if s.Demangle {
		printed.name = s.demangle(sym.name)
	}
	return &printed
}

// note prints a message, unless it has been printed before.
func (s *Symbolizer) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !s.noted[text] {
		s.noted[text] = true
		s.msgs.Printf("%s: %s", s.Program, text)
	}
}

// after returns what separates the parts of an answer: a newline, or mark in pretty output.
func (s *Symbolizer) after(mark string) string {
	if s.Pretty {
		return mark
	}
	return "\n"
}

func (s *Symbolizer) close() {
	for _, m := range s.modules {
		m.close()
	}
}
