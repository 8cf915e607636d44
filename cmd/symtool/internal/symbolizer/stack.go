package symbolizer

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/elfcore"
)

// StackOptions holds the options of an eu-stack command line.
type StackOptions struct {
	Program    string // the name in messages
	PID        int    // the id of a process, or 0
	Core       string // the path of a core if PID is 0
	Executable string // the core's program, or ""
	DebugDirs  []string
	Fetcher    supplier.Fetcher // for missing debug files, or nil
	MaxFrames  int              // maximum number per thread, at least 1

	One        bool // print only the thread whose id is the process's id
	Activation bool // mark frames that were not entered by a call
	BuildID    bool
	DebugName  bool // take names from the debug information
	Inlines    bool
	List       bool // print the modules first
	Module     bool
	Quiet      bool // print no names
	Raw        bool // do not demangle names
	Source     bool

	Unstrip bool // print only the modules, like eu-unstrip -n
}

// Exit statuses of eu-stack.
const (
	someFrames = 1 // not all frames were found
	noFrames   = 2
)

// Stacks prints stacks as elfutils' eu-stack does, without frames that are only guessed by scanning. It returns the
// exit status.
func Stacks(ctx context.Context, o StackOptions, msgs *cli.Messages, w io.Writer) (status int, err error) {
	p := &stackPrinter{StackOptions: o, ctx: ctx, msgs: msgs, out: cli.NewStdout(w), modules: map[int]*stackModule{}}
	d, err := p.open()
	switch {
	case err != nil && o.Unstrip:
		return someFrames, err
	case err != nil:
		return noFrames, err
	}
	defer d.Close()
	defer p.close()
	if o.Unstrip {
		for i := range d.Modules {
			p.moduleLine(i)
		}
		return p.status, cli.OutputError(p.out.Name(), p.out.Commit())
	}
	defer p.walker.SymbolSet().Close()
	if p.result, err = p.walker.Walk(ctx, d.Dump); err != nil {
		return noFrames, err
	}
	if p.print(); p.status == 0 && p.frames == 0 {
		p.status = noFrames
	}
	return p.status, cli.OutputError(p.out.Name(), p.out.Commit())
}

// open opens the process or the core.
func (p *stackPrinter) open() (d *dumpfile.File, err error) {
	path, roots := p.Core, []string(nil)
	p.kind = "core"
	if p.PID != 0 {
		path, p.kind = fmt.Sprintf("process %d", p.PID), "process"
	}
	if p.Executable != "" {
		roots = append(roots, p.Executable)
	}
	o := supplier.BinaryOptions{DebugDirs: p.DebugDirs, Fetcher: p.Fetcher, AtPaths: true}
	o.SymbolTables = !p.DebugName && !p.Source && !p.List && !p.Unstrip // nothing else is printed
	if p.binaries, err = supplier.NewBinaries(roots, o); err != nil {
		return nil, err
	}
	p.walker = walk.NewWalker(walk.NewSymbolSet(nil, p.binaries), walk.Config{Techniques: certain(), MaxFrames: p.MaxFrames})
	open := dumpfile.Options{PID: p.PID, Waiting: p.msgs.WaitsFor(path), Core: elfcore.Options{Binaries: roots, AtPaths: true}}
	if !p.Unstrip {
		open.Reads = func(ctx context.Context, d *dump.Dump) {
			_, _ = p.walker.Walk(ctx, d) // its only error is the context's
		}
	}
	d, err = dumpfile.Open(p.ctx, path, open)
	if err != nil {
		return nil, err
	}
	p.dump = d.Dump
	for _, problem := range d.Problems {
		p.failed("%v", problem)
	}
	return d, nil
}

// certain returns the unwinding techniques that do not guess.
func certain() []walk.Technique {
	return slices.DeleteFunc(walk.Techniques(), func(t walk.Technique) bool { return t == walk.ByScan })
}

// stackPrinter prints stacks and modules.
type stackPrinter struct {
	StackOptions
	ctx    context.Context
	kind   string // what has the threads: a process or a core
	msgs   *cli.Messages
	out    *cli.Stdout
	dump   *dump.Dump
	walker *walk.Walker
	result *walk.Result
	frames int // number of frames printed
	status int

	binaries *supplier.Binaries
	modules  map[int]*stackModule // by module
}

func (p *stackPrinter) failed(format string, args ...any) {
	p.msgs.Printf("%s: %s", p.Program, fmt.Sprintf(format, args...))
	p.status = max(p.status, someFrames)
}

func (p *stackPrinter) print() {
	process := p.dump.Process.ID
	if p.List {
		fmt.Fprintf(p.out, "PID %d - %s module memory map\n", process, p.kind)
		for i := range p.dump.Modules {
			p.module(i)
		}
	}
	if !p.One {
		fmt.Fprintf(p.out, "PID %d - %s\n", process, p.kind)
	}
	for i := range p.result.Stacks {
		s := &p.result.Stacks[i]
		id := p.dump.Threads[s.Thread].ID
		if p.One && id != process {
			continue
		}
		fmt.Fprintf(p.out, "TID %d:\n", id)
		p.stack(s)
		switch {
		case len(s.Frames) >= p.MaxFrames:
			p.failed("tid %d: shown max number of frames (%d, use -n 0 for unlimited)", id, p.MaxFrames)
		case !s.End.Clean():
			p.failed("tid %d: %s", id, s.Why)
		}
	}
}

// stack prints the frames of a thread. Inlined functions count as frames.
func (p *stackPrinter) stack(s *walk.Stack) {
	number := 0
	for i := range s.Frames {
		f := &s.Frames[i]
		pc := f.PC
		if !f.Interrupted && !f.Handler {
			pc-- // to an address in the call
		}
		for k, c := range p.calls(f, pc) {
			if number >= p.MaxFrames {
				return
			}
			if !p.Inlines && k > 0 {
				break
			}
			p.frame(number, f, pc, c)
			number++
			p.frames++
		}
	}
}

// call is a function in a frame. If a frame has several, all but the last are inlined.
type call struct{ name, source string }

// calls returns the functions at an address, innermost first. If nothing is known, it returns one without a name.
func (p *stackPrinter) calls(f *walk.Frame, pc uint64) (all []call) {
	if f.Module < 0 {
		return []call{{}}
	}
	symbols := p.symbolsOf(f.Module)
	var known []symfmt.SourceFrame
	if p.DebugName || p.Source {
		known = symbols.source(pc)
	}
	for _, at := range known {
		if !at.File.InCompDir {
			at.File.Path = at.File.Relative // elfutils then ignores the compilation directory
		}
		c := call{source: at.File.Path}
		if c.source != "" && at.Line > 0 {
			c.source = place(&at)
		}
		if p.DebugName {
			c.name = at.FullName()
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		all = []call{{}}
	}
	if all[0].name == "" {
		all = all[:1]
		all[0].name = symbols.name(pc)
	}
	if p.Quiet {
		all = all[:1]
		all[0].name = ""
	}
	return all
}

// frame prints a function of a frame; pc is an address in the call.
func (p *stackPrinter) frame(number int, f *walk.Frame, pc uint64, c call) {
	fmt.Fprintf(p.out, "#%-2d %s", number, p.address(f.PC))
	if p.Activation {
		mark := "    "
		if pc != f.PC {
			mark = " - 1"
		}
		p.out.WriteString(mark)
	}
	if c.name != "" {
		if !p.Raw {
			c.name = demangled(c.name)
		}
		fmt.Fprint(p.out, " ", c.name)
	}
	if f.Module >= 0 {
		m := &p.dump.Modules[f.Module]
		if p.Module {
			fmt.Fprint(p.out, " - ", p.fileOf(f.Module))
		}
		if p.BuildID && len(m.BuildID) > 0 {
			fmt.Fprintf(p.out, "\n    [%x]@0x%x+0x%x", m.BuildID, m.Addr, pc-m.Addr)
		}
	}
	if p.Source && c.source != "" {
		fmt.Fprintf(p.out, "\n    %s", c.source)
	}
	p.out.WriteByte('\n')
}

// address formats an address in the process.
func (p *stackPrinter) address(v uint64) string {
	if a := p.dump.Arch; a != nil && a.PtrSize == 4 {
		return fmt.Sprintf("0x%08x", v)
	}
	return fmt.Sprintf("0x%016x", v)
}

// fileOf returns the name of a module. For a core, libraries have the names that they give themselves.
func (p *stackPrinter) fileOf(module int) string {
	m := &p.dump.Modules[module]
	switch {
	case module == p.dump.Main && p.Executable != "":
		return filepath.Base(p.Executable)
	case module == p.dump.Main || p.PID != 0:
		return m.Path
	}
	return m.DebugFile
}

// symbolsOf returns the symbols of a module.
func (p *stackPrinter) symbolsOf(module int) *stackModule {
	t := p.modules[module]
	if t == nil {
		var err error
		if t, err = openModule(p.ctx, p.binaries, p.dump, module); err != nil {
			p.failed("%v", err)
		}
		p.modules[module] = t
	}
	return t
}

func (p *stackPrinter) close() {
	for _, t := range p.modules {
		t.close()
	}
}
