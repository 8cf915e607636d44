// Package walk implements symtool walk.
package walk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/suppliers"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/compare"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/elfcore"
	"github.com/symtool/symtool/walk/fleet"
	"github.com/symtool/symtool/walk/jit"
	"github.com/symtool/symtool/walk/live"
	"github.com/symtool/symtool/walk/report"
	"github.com/symtool/symtool/walk/show"
	"github.com/symtool/symtool/walk/source"
	"github.com/symtool/symtool/walk/verify"
)

const walkDescription = `
DUMP is a minidump, an ELF core or a microdump, the text that Breakpad writes
to Android's log, plain or compressed with gzip, zstd, xz or lz4. Without
--symbols, --binaries and --symbol-url, symbols come from here: from binaries at
the paths in DUMP, if their ids agree, from debug files in
/usr/lib/debug and on the servers of $DEBUGINFOD_URLS, and from the symbol
files, stores and servers in $SYMTOOL_SYMBOLS, separated by spaces. --verbose
lists what was found where.

With these flags, symbols come from symbol files, folders of them and servers,
or else from binaries, whose .eh_frame and .sframe are also used if a symbol
file has no rules. The stacks go to standard output in the form of Breakpad's
minidump_stackwalk, or as --format says. What is missing or damaged is reported
on standard error.

A folder stands for the dumps in it and in its folders, and - for standard input.
Of a core from a pipe only stacks, modules and registers are kept, in little
memory whatever its size. With --summary, all DUMPs
are counted together: signatures of crashes, and modules whose symbols or rules
are missing, with what that costs.

With --verify, the last line says whether the symbols hold, and why not; the
status is then 1. --compare compares two JSON outputs, and --symbols-b walks
again with other symbols and compares.

Examples:
  symtool walk --symbols symbols crash.dmp
  symtool walk --format json --binaries build core.1234
`

// Command returns the command symtool walk.
func Command(msgs *cli.Messages) *cli.Command {
	w := newWalkCall(msgs)
	return &cli.Command{
		Name:        "walk",
		Usage:       "print the stacks of a crashed process, and whether the symbols hold",
		UsageText:   "symtool walk [flags] DUMP...\nsymtool walk --compare A.json B.json",
		Description: walkDescription,
		Flags:       w.flags(),
		Action: func(c *cli.Context) error {
			if err := w.finish(c); err != nil {
				return cli.AsUsageError("walk", err)
			}
			return w.run(c.Context)
		},
	}
}

// techniqueNames returns the values of --techniques.
func techniqueNames() (names []string) {
	for _, t := range walk.Techniques() {
		names = append(names, t.String())
	}
	return names
}

// walkCall is a call of walk.
type walkCall struct {
	files      []string
	places     suppliers.Places
	index      suppliers.IndexFlags
	pid        int
	stopLimit  time.Duration
	format     walkFormat
	output     string
	text       report.TextOptions
	color      cli.ColorWhen
	names      nameForm
	registers  bool
	verifying  bool               // --verify
	thresholds verify.Thresholds  // of verifying
	verify     *verify.Thresholds // nil without --verify
	compare    bool
	config     walk.Config
	jit        []string // of --jit
	batch      fleet.Runner
	resume     bool // --resume
	resumed    int  // number of dumps that an earlier call has walked
	progress   *cli.Progress
	threads    []uint32       // of --thread
	crashed    bool           // --crashed-only
	summing    bool           // --summary
	rules      string         // --signature-rules
	sum        *fleet.Summary // with --summary, or nil
	trace      bool           // --trace: the steps are in the output
	vars       varsWhich
	show       show.Options
	around     int             // --source; noSource without
	roots      []source.Root   // of --source-map
	finder     *source.Finder  // with --source
	ctx        context.Context // of run
	msgs       *cli.Messages
	stdout     io.Writer

	status int
	failed bool // a dump could not be walked
}

// nameForm is a value of --names.
type nameForm uint8

const (
	namesByPlace nameForm = iota // without the flag
	namesShort
	namesFull
)

// varsWhich is a value of --vars.
type varsWhich uint8

const (
	varsNone varsWhich = iota // without the flag
	varsParams
	varsAll
)

// newWalkCall returns a call without flags.
func newWalkCall(msgs *cli.Messages) *walkCall {
	return &walkCall{
		places: suppliers.Places{OfDumps: true, Msgs: msgs}, output: "-", around: noSource, stopLimit: live.DefaultLimit, msgs: msgs,
		thresholds: verify.Default(),
	}
}

// flags returns the flags of the command. Their values go to w.
func (w *walkCall) flags() []cli.Flag {
	toVerify, withVars := cli.With("verify"), cli.With("vars")
	return slices.Concat(w.places.Flags(), []cli.Flag{
		cli.Switch("summary", "instead of stacks, print what all DUMPs say together: signatures\nof crashes with their counts, and modules without symbols or rules", &w.summing, cli.Without(onlySingle...), w.summed),
		cli.Text("signature-rules", "with --summary: make signatures by the rules in `FILE`, and, for\nframes that none of them matches, by the default ones", &w.rules, cli.With("summary")),
	}, w.places.HereFlags(), w.index.Flags(), []cli.Flag{
		cli.OneOf("format", "print the stacks as `FORM`: text (default), machine\n(minidump_stackwalk -m), json (minidump-stackwalk's), jsonl, a\nline for each DUMP, or html, a page", &w.format, walkFormats),
		cli.Text("output,o", "write to `FILE` instead of standard output", &w.output),
		cli.Switch("resume", "with --format jsonl: keep the lines that the output FILE has, and\nwalk only the DUMPs that have none", &w.resume),
		cli.Number("pid", "walk the running process `N` instead of a DUMP; its threads are\nstopped for the milliseconds that reading their stacks takes", &w.pid, w.process),
		cli.Time("stop-limit", fmt.Sprintf("with --pid: give up threads that have not stopped after `TIME`\n(default %v)", live.DefaultLimit), &w.stopLimit, cli.With("pid"), w.positive),
		cli.ParsedAll("thread", "print only the thread with the id `ID`; may be repeated", &w.threads, threadID),
		cli.OneOf("goroutines", "of a Go program, print goroutines in place of threads: `WHICH` is user\nor all, with those of the runtime", &w.config.Goroutines, []cli.Word[walk.Goroutines]{{Text: "user", Means: walk.UserGoroutines}, {Text: "all", Means: walk.AllGoroutines}}),
		cli.Switch("coroutines", "print suspended coroutines in place of threads: those of C++20, each\nwith those that go on after it, and stacks left by swapcontext and\nBoost.Context", &w.config.Coroutines, cli.Without("goroutines", "thread", "crashed-only", "summary", "verify")),
		cli.Repeated("jit", "take names of code that a JIT compiler made from `FILE`, a perf map or\na jitdump file; may be repeated (by default, the files that the process\nleft at their usual places)", &w.jit, cli.NotEmpty, w.ofOneDump),
		cli.Switch("crashed-only", "print only the thread that crashed, or asked for the dump", &w.crashed),
		cli.Switch("brief", "in text: print only the frames of the thread that crashed or asked\nfor the dump, or of all threads if it is not among them", &w.text.Brief, w.inText),
		cli.Switch("registers", "print the registers of every frame: the default in text, unless\n--registers=false; by default, JSON has those of the topmost frame", &w.registers),
		cli.Switch("stack-bytes", "in text: print the bytes of the stack between frames", &w.text.Stack, w.inText),
		cli.Where(cli.OneOf("vars", "print the values of variables of every frame, as far as the symbols\nhave variables: `WHICH` is params or all", &w.vars, []cli.Word[varsWhich]{{Text: "params", Means: varsParams}, {Text: "all", Means: varsAll}}), w.notIn(formatMachine)),
		cli.Repeated("vars-redact", "with --vars: do not print values of variables, members, types and\nkeys of maps whose names match `PATTERN`, in which * matches any text and\ncase does not matter, nor the stack; may be repeated", &w.show.Redact, withVars, cli.NotEmpty, w.redacts),
		cli.Number("vars-depth", fmt.Sprintf("with --vars: print at most `N` structures in one another (default %d)", show.DefaultDepth), &w.show.Depth, withVars, cli.AtLeast(1)),
		cli.Number("vars-length", fmt.Sprintf("with --vars: print at most `N` elements of an array, and 4 times as\nmany characters of a text (default %d)", show.DefaultLength), &w.show.Length, withVars, cli.AtLeast(1)),
		cli.ColorFlag(&w.color),
		cli.Where(cli.OneOf("names", "in text: print names of functions as `FORM`: full (default, except on\na terminal), or short, without the arguments of templates, fitted\nto the terminal; inlined frames are then marked", &w.names, []cli.Word[nameForm]{{Text: "short", Means: namesShort}, {Text: "full", Means: namesFull}}), w.ofStacks),
		cli.Number("source", "print `N` lines of source before and after the line of each frame, if\nthe file is the one that was compiled", &w.around, w.notIn(formatMachine), cli.Between(0, maxAround)),
		cli.Where(cli.ParsedAll("source-map", "with --source: files whose names begin with OLD are in the folder NEW:\n`OLD=NEW`; may be repeated, the first one that has a file counts", &w.roots, sourceRoot), cli.With("source")),
		cli.WordList(cli.Value("techniques", "find callers only by `LIST`, separated by commas: win-program,\nwin-fpo, symbols, eh_frame, sframe, code, signal-frame,\ngo-stack, frame-pointer, return, scan", &w.config.Techniques, parseTechniques), techniqueNames()...),
		cli.Number("max-frames", fmt.Sprintf("end a stack after `N` frames (default %d)", walk.MaxFrames), &w.config.MaxFrames, cli.AtLeast(0)),
		cli.Switch("trace", "print every step of every walk, and the reason for it", &w.trace, w.notIn(formatMachine, formatHTML)),
		cli.Switch("verify", "check whether the symbols hold, and end with status 1 if not", &w.verifying, w.notIn(formatMachine)),
		cli.Share("min-cfi", "with --verify: require `PERCENT` of the callers by call frame\ninformation (default 100)", &w.thresholds.MinCFI, toVerify),
		cli.Number("max-scan", "with --verify: allow `N` callers found by scanning (default 0)", &w.thresholds.MaxScan, toVerify, cli.AtLeast(0)),
		cli.Repeated("allow-missing", "with --verify: allow modules that match `PATTERN` to have no\nsymbols; * matches anything but a slash; may be repeated", &w.thresholds.AllowMissing, toVerify),
		cli.Switch("compare", "compare two JSON outputs frame by frame, and end with status 1 if\nthey differ", &w.compare, cli.Without(onlyWalking...)),
		cli.Repeated("symbols-b", "walk again with symbols from `PATH` instead of --symbols, and\ncompare; may be repeated", &w.places.SymbolsB, cli.NotEmpty, withoutPrinting),
		cli.Number("jobs,j", "walk `N` dumps at once (default: as many as processors)", &w.batch.Jobs, cli.AtLeast(0)),
	})
}

// onlyWalking lists the flags that do not apply to the comparison of two outputs.
var onlyWalking = []string{
	"symbols", "binaries", "symbol-url", "symbol-cache", "debuginfod", "no-debuginfod", "local", "hermetic", "index", "index-dir", "thread", "goroutines", "coroutines", "jit", "crashed-only", "brief", "registers", "stack-bytes",
	"techniques", "max-frames", "trace", "verify", "min-cfi", "max-scan", "allow-missing", "symbols-b", "jobs",
	"vars", "vars-redact", "vars-depth", "vars-length", "resume", "source", "source-map",
}

// onlyPrinting lists the flags for printed walks. They do not apply to comparisons, which print differences.
var onlyPrinting = []string{"brief", "registers", "stack-bytes", "trace", "verify", "min-cfi", "max-scan", "allow-missing", "vars", "vars-redact", "vars-depth", "vars-length", "source", "source-map"}

// withoutPrinting is the condition of --symbols-b.
func withoutPrinting(c *cli.Context, flag string) error {
	if err := cli.Without(onlyPrinting...)(c, flag); err != nil {
		return fmt.Errorf("%w: a comparison has no place for it", err)
	}
	return nil
}

// inText is the condition of flags that only --format text supports.
func (w *walkCall) inText(_ *cli.Context, flag string) error {
	if w.format != formatWalkText {
		return fmt.Errorf("--%s is for --format text", flag)
	}
	return nil
}

// ofStacks is the condition of --names. Output for many dumps has no frames.
func (w *walkCall) ofStacks(_ *cli.Context, flag string) error {
	if w.format != formatWalkText || w.comparing() || w.summing {
		return fmt.Errorf("--%s is for the stacks of --format text", flag)
	}
	return nil
}

// notIn returns the condition of flags that do not apply to some forms of the output.
func (w *walkCall) notIn(forms ...walkFormat) cli.Condition {
	return func(_ *cli.Context, flag string) error {
		if slices.Contains(forms, w.format) {
			return fmt.Errorf("--format %s has no place for --%s", w.format, flag)
		}
		return nil
	}
}

// ofOneDump is the condition of --jit, whose file is about one process.
func (w *walkCall) ofOneDump(c *cli.Context, flag string) error {
	if c.Args().Len() > 1 {
		return fmt.Errorf("--%s is for one DUMP, not %d: the file is about one process", flag, c.Args().Len())
	}
	return nil
}

// process is the condition of --pid, which replaces DUMP.
func (w *walkCall) process(c *cli.Context, flag string) error {
	switch {
	case c.Args().Present():
		return fmt.Errorf("--%s and DUMP %q exclude each other", flag, c.Args().First())
	case w.pid <= 0:
		return fmt.Errorf("--%s is %d, want the id of a process", flag, w.pid)
	}
	return nil
}

// positive is the condition of --stop-limit.
func (w *walkCall) positive(_ *cli.Context, flag string) error {
	if w.stopLimit <= 0 {
		return fmt.Errorf("--%s is %v, want more than 0", flag, w.stopLimit)
	}
	return nil
}

// redacts is the condition of --vars-redact. A pattern that cannot match any name would hide nothing. --stack-bytes
// would show the values that the patterns hide.
func (w *walkCall) redacts(_ *cli.Context, flag string) error {
	if w.text.Stack {
		return fmt.Errorf("--stack-bytes and --%s exclude each other: the stack has the values", flag)
	}
	for _, p := range w.show.Redact {
		for _, syntax := range []string{"|", "\\", "^", "?", ".*", ".+"} {
			if strings.Contains(p, syntax) && !strings.Contains(p, "operator") {
				return fmt.Errorf("--%s %q: %s has no meaning in a pattern, which is a name in which * matches any text; repeat the flag for other names", flag, p, syntax)
			}
		}
		if strings.Contains(p, ",") && !strings.ContainsAny(p, "<([{") {
			return fmt.Errorf("--%s %q: one pattern a flag; repeat it for other names", flag, p)
		}
	}
	return nil
}

// finish completes a call whose flags are set.
func (w *walkCall) finish(c *cli.Context) error {
	w.files, w.stdout = c.Args().Slice(), c.App.Writer
	w.text.Registers = !c.IsSet("registers") || w.registers
	w.text.Ends = w.places.Verbose && !c.IsSet("log-level")
	for _, check := range []func() error{w.checkFiles, w.checkForm, w.openSummary, w.checkResume} {
		if err := check(); err != nil {
			return err
		}
	}
	if w.verifying {
		w.verify = &w.thresholds
		if err := w.verify.Check(); err != nil {
			return err
		}
	}
	w.fitTerminal()
	if w.compare {
		return nil
	}
	if w.around != noSource {
		w.finder = &source.Finder{AtPaths: !w.places.Hermetic, Roots: w.roots}
	}
	w.config.JIT = &jit.Finder{Files: w.jit, AtPaths: w.places.Here(), PID: w.pid}
	w.config.Trace, w.config.Threads = w.trace || w.logsSteps(), w.threadChoice()
	w.batch.Config = w.config
	w.batch.Open = dumpfile.Options{
		Stdin: os.Stdin, PID: w.pid, StopLimit: w.stopLimit, Waiting: w.msgs.WaitsFor(w.files[0]),
		Core: elfcore.Options{Binaries: w.places.Binaries, Spare: true, AtPaths: w.places.Here()},
	}
	return w.findSymbols()
}

// logsSteps reports whether the steps go to standard error.
func (w *walkCall) logsSteps() bool {
	return w.msgs.Level == cli.LogTrace && !w.trace && !w.comparing() && (w.format == formatWalkText || w.format == formatMachine)
}

// checkFiles checks the operands, and lists the dumps.
func (w *walkCall) checkFiles() error {
	switch {
	case w.compare && len(w.files) != 2:
		return fmt.Errorf("--compare takes two files, not %d", len(w.files))
	case w.compare && slices.Contains(w.files, "-"):
		return errors.New("--compare reads files, not standard input")
	case w.pid != 0:
		w.files = []string{fmt.Sprintf("process %d", w.pid)}
		return nil
	case len(w.files) == 0:
		return errors.New("no DUMP")
	}
	if err := cli.CheckDumps("DUMP", w.files); err != nil {
		return err
	}
	if !w.compare {
		w.files = dumpsOf(w.files)
	}
	return nil
}

// checkForm checks whether the form of the output can hold everything that was requested.
func (w *walkCall) checkForm() error {
	if w.comparing() && (w.format == formatMachine || w.format == formatHTML) {
		return fmt.Errorf("a comparison has no %s form: want text, json or jsonl", w.format)
	}
	if len(w.files) > 1 && !w.comparing() && !w.summing && (w.format == formatMachine || w.format == formatOneJSON || w.format == formatHTML) {
		return fmt.Errorf("--format %s is for one DUMP, not %d: want text or jsonl", w.format, len(w.files))
	}
	return nil
}

// fitTerminal sets how text is printed on a terminal. Output for many dumps has no frames to colour.
func (w *walkCall) fitTerminal() {
	if w.format != formatWalkText || w.comparing() || w.summing {
		return
	}
	terminal := w.output == "-" && cli.IsTerminal(w.stdout)
	w.text.Color = w.color.Colored(w.output, w.stdout)
	w.text.ShortNames = w.names == namesShort || terminal && w.names == namesByPlace
	if terminal {
		w.text.Width = cli.Width(w.stdout)
	}
}

// variables returns the variables of a walk, or nil without --vars.
func (w *walkCall) variables(r *walk.Result) *report.Variables {
	if w.vars == varsNone {
		return nil
	}
	return report.NewVariables(r.Variables(w.ctx), report.VariableOptions{Locals: w.vars == varsAll, Show: w.show})
}

// parseTechniques parses the list of --techniques.
func parseTechniques(list string) (techniques []walk.Technique, err error) {
	for name := range strings.SplitSeq(list, ",") {
		i := slices.Index(techniqueNames(), strings.TrimSpace(name))
		if i < 0 {
			return nil, cli.Want(strings.Join(techniqueNames(), ", ") + cli.Meant(name, techniqueNames()))
		}
		techniques = append(techniques, walk.Techniques()[i])
	}
	return techniques, nil
}

// maxSymbols bounds the memory of symbols in bytes when many dumps are walked.
const maxSymbols = 2 << 30

// findSymbols sets where symbols and binaries are.
func (w *walkCall) findSymbols() error {
	open := w.index.Open(w.msgs)
	w.places.Servers.Variables = w.vars != varsNone
	files, binaries, servers, err := w.places.Suppliers(open)
	if err != nil {
		return err
	}
	if w.places.Here() && len(servers) > 0 { // what is on this machine needs no network
		w.batch.Symbols = walk.NewSymbolSet(files, binaries)
		last := supplier.NewChain(servers...)
		last.MaxMemory = 1 // the SymbolSet keeps what walks use
		w.batch.Symbols.Last = last
	} else {
		w.batch.Symbols = walk.NewSymbolSet(slices.Concat(files, servers), binaries)
	}
	if w.finder != nil && binaries != nil && !w.places.Hermetic {
		w.finder.Fetch = binaries.FetchSource
	}
	w.batch.MaxMemory = maxSymbols
	w.batch.Verify = w.verify
	if len(w.files) > 1 && !w.comparing() && w.sum == nil {
		w.batch.Render = w.render // a single dump is written to the output as it is walked
	}
	if len(w.places.SymbolsB) > 0 {
		other, err := suppliers.Files(w.places.SymbolsB, open)
		if err != nil {
			return err
		}
		w.batch.Other = walk.NewSymbolSet(slices.Concat(other, servers), binaries)
	}
	return nil
}

// run walks the dumps, or compares two outputs.
func (w *walkCall) run(ctx context.Context) error {
	w.ctx = ctx
	keep, err := w.skipDone()
	if err != nil {
		return &cli.StatusError{Status: cli.StatusInput, Err: fmt.Errorf("%s: %w", w.output, err)}
	}
	out, err := w.createOutput(keep)
	if err != nil {
		return cli.OutputError(w.output, err)
	}
	defer out.Abort()
	p := &walkPrinter{walkCall: w, out: out, summary: compare.NewSummary()}
	if w.compare {
		err = p.compareFiles(w.files[0], w.files[1])
	} else {
		defer w.batch.Symbols.Close()
		stop := w.startProgress()
		err = w.batch.Run(ctx, w.files, p.print)
		stop() // before the summary, as both may be on a terminal
	}
	if err == nil {
		err = p.end()
	}
	if err != nil && !errors.Is(err, cli.ErrReaderGone) {
		return err
	}
	if err := cli.OutputError(out.Name(), out.Commit()); err != nil {
		return err
	}
	if w.status != cli.StatusOK {
		return &cli.StatusError{Status: w.status, Written: !w.failed}
	}
	return nil
}

// note raises the status of the call.
func (w *walkCall) note(status int) { w.status = max(w.status, status) }
