// Package resolve implements symtool resolve.
package resolve

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/filekind"
	"github.com/symtool/symtool/cmd/symtool/internal/logs"
	"github.com/symtool/symtool/cmd/symtool/internal/suppliers"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
)

const resolveDescription = `
ADDR is a hexadecimal number, with or without 0x: an address from the start of
the module, one of the linker's if a binary is linked to a fixed address, or
with --base one of a process. NAME+ADDR and NAME/ID+ADDR count from the start of
another module. Without ADDR, each line of standard input is an ADDR.

Symbols come from symbol files, plain or compressed with gzip or zstd, from
folders in the layout of dump --store, from binaries, and from symbol servers.
The first source that has lines for the module is used, or else the first with
functions, or else the first that has the module.

Examples:
  symtool resolve --symbols app.sym 1139 115f
  symtool resolve --binaries /usr/bin --filter <crash.log
`

// Command returns the command symtool resolve.
func Command(msgs *cli.Messages) *cli.Command {
	r := newAddressResolver(msgs)
	return &cli.Command{
		Name:        "resolve",
		Usage:       "print the functions, files and lines of addresses",
		UsageText:   "symtool resolve [flags] --symbols PATH [ADDR...]\nsymtool resolve [flags] --binaries PATH [ADDR...]\nsymtool resolve [flags] --symbols PATH --filter\nsymtool resolve [flags] --binaries PATH --format pprof -o OUT IN",
		Description: resolveDescription,
		Flags:       r.flags(),
		Action: func(c *cli.Context) error {
			if err := r.prepare(c); err != nil {
				return cli.AsUsageError("resolve", err)
			}
			return r.run(c.Context, c.App.Reader, c.App.Writer, c.Args().Slice())
		},
	}
}

// addressResolver is a call of resolve.
type addressResolver struct {
	places     suppliers.Places
	index      suppliers.IndexFlags
	symbols    *suppliers.Sources
	moduleName string // --module
	module     suppliers.ModuleName
	base       *uint64 // nil without --base
	format     answerFormat
	filter     bool
	noInline   bool
	output     string // for the profile
	mapsFile   string
	coreFile   string
	maps       *logs.Maps // of the process that the log's addresses belong to, or nil
	msgs       *cli.Messages

	ctx    context.Context // of the call
	status int
	names  []string                 // of the modules that a place in a log may be in
	hinted map[resolve.Symbols]bool // modules that hint has been called for
}

// newAddressResolver returns a call without flags.
func newAddressResolver(msgs *cli.Messages) *addressResolver {
	return &addressResolver{places: suppliers.Places{Msgs: msgs}, format: answerFormats[0].Means, msgs: msgs, hinted: map[resolve.Symbols]bool{}, output: "-"}
}

// flags returns the flags of the command. Their values go to r.
func (r *addressResolver) flags() []cli.Flag {
	forLog := cli.With("filter")
	return slices.Concat(r.places.Flags(), []cli.Flag{
		cli.Text("module", "look up addresses without a module in `NAME` or NAME/ID; not needed\nwith one symbol file or one binary", &r.moduleName, r.noProfile),
		cli.Where(cli.AddressFlag("base", "read addresses as those of a process or of the linker in which the\nmodule begins at `ADDR`; 0 if they count from its start", &r.base), r.noProfile),
		cli.OneOf("format", "print answers as `FORM`: text (default), json, addr2line (like\naddr2line -f -i), llvm or llvm-json (like llvm-symbolizer); pprof\nreads a profile instead of addresses, and adds functions and lines", &r.format, answerFormats),
		cli.Text("output,o", "with --format pprof, write the profile to `FILE`, - for standard output", &r.output, r.onlyProfile),
		cli.Switch("filter", "copy standard input, and replace each NAME+0xADDR and other forms of\nlogs with what is there; end with status 1 if nothing was replaced", &r.filter, r.noProfile, cli.Without("module", "base", "format")),
		cli.Text("maps", "with --filter, also replace addresses of the process whose mappings\n`FILE` has, as /proc/PID/maps and reports of Java have them", &r.mapsFile, forLog, cli.Without("core")),
		cli.Text("core", "with --filter, also replace addresses of the process whose dump is\n`FILE`", &r.coreFile, forLog),
		cli.Switch("no-inlines", "omit inlined functions, and print the function around them with\nthe line of the address", &r.noInline),
	}, r.index.Flags())
}

// noProfile is the condition of flags about addresses.
func (r *addressResolver) noProfile(_ *cli.Context, flag string) error {
	if r.format.profile {
		return fmt.Errorf("--format pprof and --%s exclude each other", flag)
	}
	return nil
}

// onlyProfile is the condition of --output.
func (r *addressResolver) onlyProfile(_ *cli.Context, flag string) error {
	if !r.format.profile {
		return fmt.Errorf("--%s is for --format pprof", flag)
	}
	return nil
}

// prepare completes a call whose flags are set.
func (r *addressResolver) prepare(c *cli.Context) (err error) {
	r.module = suppliers.ParseModule(r.moduleName)
	args := c.Args().Slice()
	switch {
	case r.format.profile && len(args) != 1:
		err = fmt.Errorf("--format pprof takes one profile, - for standard input")
	case r.filter && len(args) > 0:
		err = fmt.Errorf("--filter reads standard input: it takes no addresses; name a log as in <FILE")
	case !r.filter && !r.format.profile:
		err = checkAddresses(args)
	}
	if err != nil {
		return err
	}
	if err := r.readMaps(c.Context); err != nil {
		return &cli.StatusError{Status: cli.StatusInput, Err: err}
	}
	r.symbols, err = suppliers.NewSources(&r.places, r.index, r.filter)
	return err
}

func checkAddresses(args []string) error {
	for _, arg := range args {
		if _, ok := parseQuestion(arg); !ok {
			if filekind.IsSymbols(arg) {
				return fmt.Errorf("%q is a symbol file, not an address: name it with --symbols", arg)
			}
			if filekind.IsBinary(arg) {
				return fmt.Errorf("%q is a binary, not an address: name it with --binaries", arg)
			}
			return fmt.Errorf("%q is not an address, want hexadecimal digits, or NAME+ADDR", arg)
		}
	}
	return nil
}

// run answers args, or standard input.
func (r *addressResolver) run(ctx context.Context, in io.Reader, w io.Writer, args []string) error {
	r.ctx = ctx
	cli.TuneCollector(cli.ResolveCollectorPercent)
	out := cli.NewStdout(w)
	var err error
	if r.format.profile {
		err = r.symbolizeProfile(ctx, args[0], in, w)
	} else {
		err = r.answerAll(ctx, in, out, args)
	}
	r.symbols.End()
	if err == nil {
		err = cli.OutputError(out.Name(), out.Commit())
	}
	if err == nil {
		if status := max(r.status, r.symbols.Status); status != cli.StatusOK {
			return &cli.StatusError{Status: status, Err: nil}
		}
	}
	return err
}

func (r *addressResolver) answerAll(ctx context.Context, in io.Reader, out *cli.Stdout, args []string) error {
	switch {
	case r.filter:
		return r.filterLog(ctx, in, out)
	case len(args) > 0:
		return r.answerArgs(out, args)
	}
	return r.answerLines(ctx, in, out)
}

func (r *addressResolver) answerArgs(out *cli.Stdout, args []string) error {
	w := r.format.answers(out, true)
	for _, arg := range args {
		q, _ := parseQuestion(arg)
		if err := w.answer(r.find(q)); err != nil {
			return cli.OutputError(out.Name(), err)
		}
	}
	return cli.OutputError(out.Name(), w.end())
}

// answerLines answers lines as they arrive, since other programs ask through pipes.
func (r *addressResolver) answerLines(ctx context.Context, in io.Reader, out *cli.Stdout) error {
	lines := bufio.NewReaderSize(in, cli.OutputBuffer)
	b := newBatch(r, out)
	for n := 1; ; n++ {
		line, err := lines.ReadString('\n')
		if err != nil && err != io.EOF {
			return cmp.Or(b.answer(ctx, out), fmt.Errorf("standard input: %w", err))
		}
		if text := strings.TrimSpace(line); text != "" {
			b.add(text, n)
		}
		idle := lines.Buffered() == 0
		if err == io.EOF || idle || b.full() {
			if err := b.answer(ctx, out); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == io.EOF {
			return cli.OutputError(out.Name(), b.write.end())
		}
		if idle {
			if err := out.Flush(); err != nil {
				return cli.OutputError(out.Name(), err)
			}
		}
	}
}

// shorten shortens s for a message.
func shorten(s string) string {
	if len(s) > 80 {
		return s[:80] + "..."
	}
	return s
}

// question is an address to look up.
type question struct {
	text   string
	bad    bool                 // not an address
	module suppliers.ModuleName // "" for the command's module
	addr   uint64
}

// parseQuestion reads ADDR, NAME+ADDR or NAME/ID+ADDR.
func parseQuestion(text string) (q question, ok bool) {
	q = question{text: text}
	addr := text
	if i := strings.LastIndexByte(text, '+'); i > 0 {
		q.module, addr = suppliers.ParseModule(text[:i]), text[i+1:]
	}
	q.addr, ok = cli.ParseAddress(addr)
	q.bad = !ok
	return q, ok
}

// answer is the symbol at an address.
type answer struct {
	question
	symbols resolve.Symbols // nil if the module or the RVA is unknown
	rva     uint64          // relative to the start of the module
	base    uint64          // the link-time base, if addr is a link-time address
	file    string          // the file with the symbols, or ""
	found   bool
	at      resolve.Location
	err     error

	outside bool // the address is not in the module's code
}

// find answers a question, and reports what went wrong.
func (r *addressResolver) find(q question) *answer {
	a := r.locate(q)
	a.lookUp(r.ctx)
	r.finish(a)
	return a
}

// locate returns an answer with the module's symbols and the RVA at which to look.
func (r *addressResolver) locate(q question) *answer {
	a := &answer{question: q}
	if q.bad {
		return a
	}
	symbols := r.symbols.Find(r.ctx, cmp.Or(q.module, r.module))
	if symbols == nil {
		return a
	}
	a.file = symbols.Identity().Path
	var known bool
	if a.rva, known = r.rvaOf(symbols, q); known {
		a.symbols = symbols
		if r.base == nil {
			a.base = q.addr - a.rva
		}
	}
	return a
}

// lookUp fills in what is at the answer's RVA. It may be called for several answers concurrently.
func (a *answer) lookUp(ctx context.Context) {
	if a.symbols == nil {
		return
	}
	a.found, a.err = nearest(ctx, a.symbols, a.rva, &a.at)
	a.outside = !a.symbols.InCode(symfmt.RVA(a.rva))
}

// finish reports what went wrong with an answer, and sets the status.
func (r *addressResolver) finish(a *answer) {
	if a.symbols != nil {
		r.report(a.symbols, a.err)
	}
	if !a.found && !a.bad {
		r.status = max(r.status, cli.StatusFindings)
	}
	if r.noInline {
		a.at.Frames = withoutInlines(a.at.Frames)
	}
}

// nearest looks up an address in a module, and reports whether a function or a symbol is certain to be
// there.
func nearest(ctx context.Context, symbols resolve.Symbols, rva uint64, at *resolve.Location) (bool, error) {
	found, err := symbols.Nearest(ctx, symfmt.RVA(rva), at)
	return found && err == nil && len(at.Frames) > 0 && !at.Guess, err
}

// report prints damage to symbols found by looking up an address, and err.
func (r *addressResolver) report(symbols resolve.Symbols, err error) {
	r.symbols.ReportDamage(symbols)
	if err != nil {
		r.status = max(r.status, cli.StatusInput)
		r.msgs.Printf("symtool: %v", err)
	}
}

// withoutInlines returns only the frame of the FUNC, with the line of the innermost function.
func withoutInlines(frames []resolve.Frame) []resolve.Frame {
	if len(frames) < 2 {
		return frames
	}
	last := len(frames) - 1
	frames[last].File, frames[last].Line = frames[0].File, frames[0].Line
	return frames[last:]
}
