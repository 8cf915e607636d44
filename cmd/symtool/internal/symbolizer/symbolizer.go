// Package symbolizer answers as llvm-symbolizer and GNU's addr2line do: addresses of binaries, with columns,
// discriminators, names as the linker knows them, and symbols of data.
package symbolizer

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/symfmt"
)

// Names says which names of functions are printed.
type Names uint8

// The kinds of names.
const (
	Linkage Names = iota // the linker's
	Short                // the source's, without scopes
	NoNames
)

// Style is a form of output.
type Style uint8

// The styles: those of llvm-symbolizer, and addr2line's own.
const (
	LLVM Style = iota
	GNU
	JSON
	Addr2line
)

// Paths says how files are named.
type Paths uint8

// The kinds of paths.
const (
	FullPaths     Paths = iota
	RelativePaths       // without the compilation directory
	BaseNames
)

// Options are what a command line asks for.
type Options struct {
	Program   string // the name in messages
	Binary    string // "" if each line names one
	DebugDirs []string
	Style     Style
	Names     Names
	Paths     Paths
	Demangle  bool
	Inlines   bool
	Pretty    bool
	Addresses bool   // print them
	Verbose   bool   // print all that is known of a frame
	Adjust    uint64 // is subtracted from addresses
	Section   string // that addresses count from the start of; "" for none
}

// Symbolizer answers requests, and keeps the binaries open.
type Symbolizer struct {
	Options
	msgs    *cli.Messages
	ctx     context.Context
	modules map[string]*module
	print   printer
	noted   map[string]bool // messages, each of which is printed once
	status  int
}

// printer prints answers.
type printer interface {
	code(*request, []symfmt.SourceFrame)
	data(*request, *symbol)
	fail(r *request, why string)
	end()
}

// Run answers args or, if there are none, the lines of in, each before the next is read. It returns the exit
// status.
func Run(ctx context.Context, o Options, msgs *cli.Messages, in io.Reader, w io.Writer, args []string) (status int, err error) {
	out := cli.NewStdout(w)
	s := &Symbolizer{Options: o, msgs: msgs, ctx: ctx, modules: map[string]*module{}, noted: map[string]bool{}}
	defer s.close()
	switch o.Style {
	case Addr2line:
		s.print = &gnuPrinter{s, out}
	case JSON:
		s.print = &jsonPrinter{s: s, w: out, list: len(args) > 0}
	default:
		s.print = &llvmPrinter{s, out}
	}
	if len(args) == 0 {
		if err := s.lines(in, out); err != nil {
			return cli.StatusInput, err
		}
	}
	for _, arg := range args {
		s.answer(arg)
	}
	s.print.end()
	return s.status, cli.OutputError(out.Name(), out.Commit())
}

// maxLine limits a line of input: file names are shorter.
const maxLine = 64 << 10

// lines answers lines one by one: programs wait for each answer.
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
	switch {
	case r.kind == frameRequest:
		s.note("FRAME is not supported: local variables are not listed; see symtool walk --vars")
		s.print.fail(r, "")
	case !r.ok:
		if strings.TrimSpace(line) != "" {
			s.note("%q: want FILE ADDR, with an address such as 0x1139", line)
		}
		s.print.code(r, nil)
	case err != nil:
		s.status = max(s.status, 1)
		s.note("%v", err)
		s.print.fail(r, "cannot be read")
	case r.kind == dataRequest:
		s.print.data(r, m.symbolAt(r.place))
	default:
		s.print.code(r, s.frames(m, r.place))
	}
	if m != nil {
		m.report(s)
	}
}

// note reports something once.
func (s *Symbolizer) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !s.noted[text] {
		s.noted[text] = true
		s.msgs.Printf("%s: %s", s.Program, text)
	}
}

// after returns what is between parts of an answer: the end of a line, or mark in pretty output.
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
