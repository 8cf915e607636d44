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

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/suppliers"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/batch"
	"github.com/symtool/symtool/walk/compare"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/elfcore"
	"github.com/symtool/symtool/walk/live"
	"github.com/symtool/symtool/walk/report"
	"github.com/symtool/symtool/walk/show"
	"github.com/symtool/symtool/walk/source"
	"github.com/symtool/symtool/walk/summary"
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
	return &cli.Command{
		Name:        "walk",
		Usage:       "print the stacks of a crashed process, and whether the symbols hold",
		UsageText:   "symtool walk [flags] DUMP...\nsymtool walk --compare A.json B.json",
		Description: walkDescription,
		Flags: append(slices.Concat(suppliers.Flags(), summaryFlags(), suppliers.HereFlags()),
			&cli.BoolFlag{Name: "index", Usage: "keep an index next to each symbol file, as FILE.idx, and use it\nthe next time"},
			&cli.StringFlag{Name: "index-dir", Usage: "keep the indexes in `DIR` instead"},
			cli.Words(&cli.StringFlag{Name: "format", Usage: "print the stacks as `FORM`: text (default), machine\n(minidump_stackwalk -m), json (minidump-stackwalk's), jsonl, a\nline for each DUMP, or html, a page", Value: cli.FormatText}, "text", "machine", "json", "jsonl", "html"),
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to `FILE` instead of standard output", Value: "-"},
			&cli.BoolFlag{Name: "resume", Usage: "with --format jsonl: keep the lines that the output FILE has, and\nwalk only the DUMPs that have none"},
			&cli.IntFlag{Name: "pid", Usage: "walk the running process `N` instead of a DUMP; its threads are\nstopped for the milliseconds that reading their stacks takes"},
			&cli.DurationFlag{Name: "stop-limit", Usage: fmt.Sprintf("with --pid: give up threads that have not stopped after `TIME`\n(default %v)", live.DefaultLimit), Value: live.DefaultLimit},
			&cli.StringSliceFlag{Name: "thread", Usage: "print only the thread with the id `ID`; may be repeated"},
			cli.Words(&cli.StringFlag{Name: "goroutines", Usage: "of a Go program, print goroutines in place of threads: `WHICH` is user\nor all, with those of the runtime"}, "user", goroutinesAll),
			&cli.BoolFlag{Name: "crashed-only", Usage: "print only the thread that crashed, or asked for the dump"},
			&cli.BoolFlag{Name: "brief", Usage: "in text: print only the frames of the thread that crashed or asked\nfor the dump, or of all threads if it is not among them"},
			&cli.BoolFlag{Name: "registers", Usage: "print the registers of every frame: the default in text, unless\n--registers=false; by default, JSON has those of the topmost frame"},
			&cli.BoolFlag{Name: "stack-bytes", Usage: "in text: print the bytes of the stack between frames"},
			cli.Words(&cli.StringFlag{Name: "vars", Usage: "print the values of variables of every frame, as far as the symbols\nhave variables: `WHICH` is params or all"}, "params", varsAll),
			&cli.StringSliceFlag{Name: "vars-redact", Usage: "with --vars: do not print values of variables, members, types and\nkeys of maps whose names match `PATTERN`, in which * matches any text and\ncase does not matter, nor the stack; may be repeated"},
			&cli.IntFlag{Name: "vars-depth", Usage: fmt.Sprintf("with --vars: print at most `N` structures in one another (default %d)", show.DefaultDepth)},
			&cli.IntFlag{Name: "vars-length", Usage: fmt.Sprintf("with --vars: print at most `N` elements of an array, and 4 times as\nmany characters of a text (default %d)", show.DefaultLength)},
			cli.ColorFlag(),
			cli.Words(&cli.StringFlag{Name: "names", Usage: "in text: print names of functions as `FORM`: full (default, except on\na terminal), or short, without the arguments of templates, fitted\nto the terminal; inlined frames are then marked"}, "short", "full"),
			&cli.IntFlag{Name: "source", Usage: "print `N` lines of source before and after the line of each frame, if\nthe file is the one that was compiled", Value: noSource},
			&cli.StringSliceFlag{Name: "source-map", KeepSpace: true, Usage: "with --source: files whose names begin with OLD are in the folder NEW:\n`OLD=NEW`; may be repeated, the first one that has a file counts"},
			cli.WordList(&cli.StringFlag{Name: "techniques", Usage: "find callers only by `LIST`, separated by commas: win-program,\nwin-fpo, symbols, eh_frame, sframe, signal-frame, go-stack,\nframe-pointer, return, scan"}, techniqueNames()...),
			&cli.IntFlag{Name: "max-frames", Usage: fmt.Sprintf("end a stack after `N` frames (default %d)", walk.MaxFrames)},
			&cli.BoolFlag{Name: "trace", Usage: "print every step of every walk, and the reason for it"},
			&cli.BoolFlag{Name: "verify", Usage: "check whether the symbols hold, and end with status 1 if not"},
			&cli.Float64Flag{Name: "min-cfi", Usage: "with --verify: require `PERCENT` of the callers by call frame\ninformation (default 100)", Value: verify.Default().MinCFI},
			&cli.IntFlag{Name: "max-scan", Usage: "with --verify: allow `N` callers found by scanning (default 0)"},
			&cli.StringSliceFlag{Name: "allow-missing", Usage: "with --verify: allow modules that match `PATTERN` to have no\nsymbols; * matches anything but a slash; may be repeated"},
			&cli.BoolFlag{Name: "compare", Usage: "compare two JSON outputs frame by frame, and end with status 1 if\nthey differ"},
			&cli.StringSliceFlag{Name: "symbols-b", Usage: "walk again with symbols from `PATH` instead of --symbols, and\ncompare; may be repeated"},
			&cli.IntFlag{Name: "jobs", Aliases: []string{"j"}, Usage: "walk `N` dumps at once (default: as many as processors)"},
		),
		Action: func(c *cli.Context) error {
			w, err := newWalkCall(c, msgs)
			if err != nil {
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

// walkCall is a call of walk, with its arguments checked.
type walkCall struct {
	files      []string
	pid        int // --pid
	format     walkFormat
	output     string
	text       report.TextOptions
	registers  bool
	verify     *verify.Thresholds // nil without --verify
	compare    bool
	batch      batch.Runner
	resume     bool // --resume
	resumed    int  // dumps that an earlier call has walked
	progress   *cli.Progress
	otherPaths []string
	threads    []uint32 // of --thread
	crashed    bool     // --crashed-only
	verbose    bool
	sum        *summary.Summary // with --summary, or nil
	trace      bool             // --trace: the steps are in the output
	vars       string           // --vars; "" without
	show       show.Options
	around     int             // --source; noSource without
	finder     *source.Finder  // with --source
	ctx        context.Context // of run
	msgs       *cli.Messages
	stdout     io.Writer

	status int
	failed bool // a dump could not be walked
}

func newWalkCall(c *cli.Context, msgs *cli.Messages) (*walkCall, error) {
	w := &walkCall{
		files: c.Args().Slice(), output: c.String("output"), registers: c.Bool("registers"), compare: c.Bool("compare"),
		text: report.TextOptions{
			Registers: !c.IsSet("registers") || c.Bool("registers"), Stack: c.Bool("stack-bytes"), Brief: c.Bool("brief"), Ends: c.Bool("verbose") && !c.IsSet("log-level"),
		},
		otherPaths: c.StringSlice("symbols-b"), verbose: c.Bool("verbose"), trace: c.Bool("trace"), msgs: msgs, stdout: c.App.Writer,
	}
	for _, check := range []func(*cli.Context) error{w.checkFiles, w.checkFormat, w.checkSummary, w.checkResume, w.checkVerify, w.checkVars, w.checkSource, w.checkTerminal} {
		if err := check(c); err != nil {
			return nil, err
		}
	}
	if w.compare {
		return w, nil
	}
	if err := w.chooseThreads(c); err != nil {
		return nil, err
	}
	techniques, err := parseTechniques(c.String("techniques"))
	if err != nil {
		return nil, err
	}
	w.batch = batch.Runner{
		Open: dumpfile.Options{
			Stdin: os.Stdin, PID: w.pid, StopLimit: c.Duration("stop-limit"), Waiting: msgs.WaitsFor(w.files[0]),
			Core: elfcore.Options{Binaries: c.StringSlice("binaries"), Spare: true, AtPaths: suppliers.Here(c)},
		},
		Config: walk.Config{Techniques: techniques, MaxFrames: c.Int("max-frames"), Trace: w.trace || w.logsSteps(), Threads: w.threadChoice(), Goroutines: goroutinesOf(c)},
		Jobs:   c.Int("jobs"),
	}
	return w, w.findSymbols(c)
}

// logsSteps reports whether the steps go to standard error.
func (w *walkCall) logsSteps() bool {
	return w.msgs.Level == cli.LogTrace && !w.trace && !w.comparing() && (w.format == formatWalkText || w.format == formatMachine)
}

func (w *walkCall) checkFiles(c *cli.Context) error {
	switch {
	case w.compare && len(w.files) != 2:
		return fmt.Errorf("--compare takes two files, not %d", len(w.files))
	case len(w.files) == 0 && !c.IsSet("pid"):
		return errors.New("no DUMP")
	}
	if w.compare && slices.Contains(w.files, "-") {
		return errors.New("--compare reads files, not standard input")
	}
	if err := cli.CheckDumps("DUMP", w.files); err != nil {
		return err
	}
	if !w.compare {
		w.files = dumpsOf(w.files)
	}
	if c.IsSet("pid") {
		if err := w.checkPID(c); err != nil {
			return err
		}
	} else if c.IsSet("stop-limit") {
		return errors.New("--stop-limit is for --pid")
	}
	for _, name := range []string{"output", "index-dir", "techniques", "signature-rules"} {
		if c.IsSet(name) && c.String(name) == "" {
			return fmt.Errorf("--%s is empty", name)
		}
	}
	if slices.Contains(w.otherPaths, "") {
		return errors.New("--symbols-b is empty")
	}
	return nil
}

// checkPID checks --pid, which stands for a DUMP.
func (w *walkCall) checkPID(c *cli.Context) error {
	w.pid = c.Int("pid")
	switch {
	case len(w.files) > 0:
		return fmt.Errorf("--pid and DUMP %q exclude each other", w.files[0])
	case w.pid <= 0:
		return fmt.Errorf("--pid is %d, want the id of a process", w.pid)
	case c.Duration("stop-limit") <= 0:
		return fmt.Errorf("--stop-limit is %v, want more than 0", c.Duration("stop-limit"))
	}
	w.files = []string{fmt.Sprintf("process %d", w.pid)}
	return nil
}

// onlyWalking lists the flags that do not apply to the comparison of two outputs.
var onlyWalking = []string{
	"symbols", "binaries", "symbol-url", "symbol-cache", "debuginfod", "no-debuginfod", "local", "hermetic", "index", "index-dir", "thread", "goroutines", "crashed-only", "brief", "registers", "stack-bytes",
	"techniques", "max-frames", "trace", "verify", "min-cfi", "max-scan", "allow-missing", "symbols-b", "jobs",
	"vars", "vars-redact", "vars-depth", "vars-length", "resume", "source", "source-map",
}

// checkTerminal sets how text is printed on a terminal. What is about many dumps has no frames to colour.
func (w *walkCall) checkTerminal(c *cli.Context) error {
	if w.format != formatWalkText || w.comparing() || w.sum != nil {
		if c.IsSet("names") {
			return errors.New("--names is for the stacks of --format text")
		}
		return nil
	}
	terminal := w.output == "-" && cli.IsTerminal(w.stdout)
	w.text.Color = cli.Colored(c, w.output, w.stdout)
	w.text.ShortNames = c.String("names") == "short" || terminal && !c.IsSet("names")
	if terminal {
		w.text.Width = cli.Width(w.stdout)
	}
	return nil
}

// onlyPrinting lists the flags about printed walks. They do not apply to comparisons, which
// print differences.
var onlyPrinting = []string{"brief", "registers", "stack-bytes", "trace", "verify", "min-cfi", "max-scan", "allow-missing", "vars", "vars-redact", "vars-depth", "vars-length", "source", "source-map"}

func (w *walkCall) checkFormat(c *cli.Context) error {
	w.format = walkFormats[c.String("format")]
	comparing := w.compare || len(w.otherPaths) > 0
	if w.compare {
		for _, name := range onlyWalking {
			if c.IsSet(name) {
				return fmt.Errorf("--compare and --%s exclude each other", name)
			}
		}
	}
	if len(w.otherPaths) > 0 {
		for _, name := range onlyPrinting {
			if c.IsSet(name) {
				return fmt.Errorf("--symbols-b and --%s exclude each other: a comparison has no place for it", name)
			}
		}
	}
	if comparing && (w.format == formatMachine || w.format == formatHTML) {
		return fmt.Errorf("a comparison has no %s form: want text, json or jsonl", c.String("format"))
	}
	if len(w.files) > 1 && !comparing && !c.Bool("summary") && (w.format == formatMachine || w.format == formatOneJSON || w.format == formatHTML) {
		return fmt.Errorf("--format %s is for one DUMP, not %d: want text or jsonl", c.String("format"), len(w.files))
	}
	for _, name := range []string{"brief", "stack-bytes"} {
		if c.IsSet(name) && w.format != formatWalkText {
			return fmt.Errorf("--%s is for --format text", name)
		}
	}
	if w.format == formatMachine && (c.Bool("verify") || c.Bool("trace")) {
		return errors.New("--format machine has no place for --verify and --trace")
	}
	if w.format == formatHTML && c.Bool("trace") {
		return errors.New("--format html has no place for --trace")
	}
	if c.Int("jobs") < 0 || c.Int("max-frames") < 0 {
		return errors.New("--jobs and --max-frames must not be negative")
	}
	return nil
}

func (w *walkCall) checkVerify(c *cli.Context) error {
	if !c.Bool("verify") {
		for _, name := range []string{"min-cfi", "max-scan", "allow-missing"} {
			if c.IsSet(name) {
				return fmt.Errorf("--%s is for --verify", name)
			}
		}
		return nil
	}
	if p := c.Float64("min-cfi"); !(p >= 0 && p <= 100) { // excludes NaN, too
		return fmt.Errorf("--min-cfi is %v, want a percentage", p)
	}
	if c.Int("max-scan") < 0 {
		return errors.New("--max-scan must not be negative")
	}
	w.verify = &verify.Thresholds{MinCFI: c.Float64("min-cfi"), MaxScan: c.Int("max-scan"), AllowMissing: c.StringSlice("allow-missing")}
	return w.verify.Check()
}

// checkVars sets which variables are printed, and how.
func (w *walkCall) checkVars(c *cli.Context) error {
	if !c.IsSet("vars") {
		for _, name := range []string{"vars-redact", "vars-depth", "vars-length"} {
			if c.IsSet(name) {
				return fmt.Errorf("--%s is for --vars", name)
			}
		}
		return nil
	}
	if w.format == formatMachine {
		return errors.New("--format machine has no place for --vars")
	}
	w.vars = c.String("vars")
	w.show = show.Options{Depth: c.Int("vars-depth"), Length: c.Int("vars-length"), Redact: c.StringSlice("vars-redact")}
	if c.IsSet("vars-depth") && w.show.Depth < 1 || c.IsSet("vars-length") && w.show.Length < 1 {
		return errors.New("--vars-depth and --vars-length are at least 1")
	}
	return checkRedact(c, w.show.Redact)
}

// checkRedact checks the patterns of what is not to be printed. One that cannot match any name would hide nothing, and
// the stack has what the patterns hide.
func checkRedact(c *cli.Context, patterns []string) error {
	if len(patterns) > 0 && c.Bool("stack-bytes") {
		return errors.New("--stack-bytes and --vars-redact exclude each other: the stack has the values")
	}
	for _, p := range patterns {
		if p == "" {
			return errors.New("--vars-redact is empty")
		}
		for _, syntax := range []string{"|", "\\", "^", "?", ".*", ".+"} {
			if strings.Contains(p, syntax) && !strings.Contains(p, "operator") {
				return fmt.Errorf("--vars-redact %q: %s has no meaning in a pattern, which is a name in which * matches any text; repeat the flag for other names", p, syntax)
			}
		}
		if strings.Contains(p, ",") && !strings.ContainsAny(p, "<([{") {
			return fmt.Errorf("--vars-redact %q: one pattern a flag; repeat it for other names", p)
		}
	}
	return nil
}

// variables returns the variables of a walk; nil without --vars.
func (w *walkCall) variables(r *walk.Result) *report.Variables {
	if w.vars == "" {
		return nil
	}
	return report.NewVariables(r.Variables(w.ctx), report.VariableOptions{Locals: w.vars == varsAll, Show: w.show})
}

// varsAll is the value of --vars for parameters and local variables.
const varsAll = "all"

// parseTechniques parses the list of --techniques; nil means all.
func parseTechniques(list string) (techniques []walk.Technique, err error) {
	if list == "" {
		return nil, nil
	}
	for _, name := range strings.Split(list, ",") {
		i := slices.Index(techniqueNames(), strings.TrimSpace(name))
		if i < 0 {
			return nil, fmt.Errorf("--techniques has %q, want %s%s", name, strings.Join(techniqueNames(), ", "), cli.Meant(name, techniqueNames()))
		}
		techniques = append(techniques, walk.Techniques()[i])
	}
	return techniques, nil
}

// findSymbols sets where symbols and binaries are.
func (w *walkCall) findSymbols(c *cli.Context) error {
	index := suppliers.Sources{Msgs: w.msgs, Index: c.Bool("index") || c.IsSet("index-dir"), IndexDir: c.String("index-dir")}
	here := suppliers.Here(c)
	if err := suppliers.CheckDebuginfod(c, here); err != nil {
		return err
	}
	files, binaries, servers, err := suppliers.NewSuppliers(c, index.OpenFile, here)
	if err != nil {
		return err
	}
	if here && len(servers) > 0 { // what is on this machine needs no network
		w.batch.Sources = walk.NewSources(files, binaries)
		w.batch.Sources.Last = supplier.NewChain(servers...)
	} else {
		w.batch.Sources = walk.NewSources(slices.Concat(files, servers), binaries)
	}
	if w.finder != nil && binaries != nil && !c.Bool("hermetic") {
		w.finder.Fetch = binaries.FetchSource
	}
	w.batch.Verify = w.verify
	if len(w.files) > 1 && !w.comparing() && w.sum == nil {
		w.batch.Render = w.render // a single dump is written to the output as it is walked
	}
	if paths := c.StringSlice("symbols-b"); len(paths) > 0 {
		other, err := suppliers.Files(paths, index.OpenFile)
		if err != nil {
			return err
		}
		w.batch.Other = walk.NewSources(slices.Concat(other, servers), binaries)
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
		defer w.batch.Sources.Close()
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
