// Package diff implements symtool diff.
package diff

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/par"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/internal/version"
	"github.com/symtool/symtool/symfmt/symdiff"
	diffreport "github.com/symtool/symtool/symfmt/symdiff/report"
)

const diffDescription = `
OLD and NEW are two symbol files, plain or compressed with gzip or zstd; two
binaries, which are dumped first; or two folders with a symbol store each, whose
modules are compared one by one. They are compared by meaning: functions are
matched by name and by contents, wherever they are; lines, inlined calls and
STACK CFI are compared relative to their function, and the rules of STACK CFI by
effect. The order of records and the numbers of files and origins do not count.

Regressions are marked: functions that are gone, code that lost its lines or
call frame information, worse names. The status is 0 if nothing differs, and 1
if something does, or as --fail-on says.

Examples:
  symtool diff old.sym new.sym
  symtool diff --fail-on regression --format html -o diff.html v1 v2
`

// Command returns the command symtool diff.
func Command(msgs *cli.Messages) *cli.Command {
	return &cli.Command{
		Name:        "diff",
		Usage:       "show what changed between two symbol files, by meaning",
		UsageText:   "symtool diff [flags] OLD NEW",
		Description: diffDescription,
		Flags: []cli.Flag{
			cli.Words(&cli.StringFlag{Name: "format", Usage: "print the differences as `FORM`: " + strings.Join(diffFormatNames(), ", "), Value: cli.FormatText}, diffFormatNames()...),
			cli.OutputFlag(),
			&cli.BoolFlag{Name: "detail", Usage: "print all changes, not just the summary"},
			&cli.BoolFlag{Name: "stat", Usage: "print a few lines, for a release note"},
			&cli.BoolFlag{Name: "raw", Usage: "print a unified diff of the records, with names instead of\nnumbers, and addresses relative to the function"},
			cli.WordList(&cli.StringSliceFlag{Name: "only", Usage: "compare only `TOPICS`, separated by commas: " + strings.Join(symdiff.Topics, ", ")}, symdiff.Topics...),
			&cli.BoolFlag{Name: "vars", Usage: "compare parameters and local variables, too: their types, and where\nthey are"},
			cli.WordList(&cli.StringSliceFlag{Name: "ignore", Usage: "leave out `WHAT`, separated by commas: addresses (functions that\nonly moved), paths (folders of source files), generator"}, ignored...),
			cli.Words(&cli.StringFlag{Name: "fail-on", Usage: "end with status 1 for `WHAT`: any difference (default), regression\nor never", Value: "any"}, "any", "regression", "never"),
			&cli.Float64Flag{Name: "tolerance", Usage: "allow the share of the code with lines, or with call frame\ninformation, to fall by `POINTS`, percentage points (default 0.1)", Value: symdiff.DefaultTolerance},
			cli.ColorFlag(),
			cli.ArchFlag(),
			&cli.StringSliceFlag{Name: "debug-dir", Usage: "look for separate debug files of binaries in `DIR` instead of\n/usr/lib/debug; may be repeated"},
			cli.JobsFlag(),
			cli.VerboseFlag(),
		},
		Action: func(c *cli.Context) error {
			d, err := newDiffer(c, msgs)
			if err != nil {
				return cli.Usagef("diff", "%v", err)
			}
			return d.run(c.Context)
		},
	}
}

// differ is a call of diff, with its arguments checked.
type differ struct {
	old, new  string
	output    string
	form      string // of diffreport.Forms
	options   symdiff.Options
	out       diffreport.Options
	failOn    string
	debugDirs []string
	cpu       string // of universal files
	jobs      int
	verbose   bool
	stdout    io.Writer
	msgs      *cli.Messages

	status int
}

func newDiffer(c *cli.Context, msgs *cli.Messages) (*differ, error) {
	d := &differ{
		output: c.String("output"), failOn: c.String("fail-on"), debugDirs: c.StringSlice("debug-dir"), cpu: c.String("arch"),
		jobs: par.Jobs(c.Int("jobs")), verbose: c.Bool("verbose"), stdout: c.App.Writer, msgs: msgs,
	}
	if d.output == "" {
		d.output = "-"
	}
	if !c.IsSet("debug-dir") {
		d.debugDirs = []string{"/usr/lib/debug"}
	}
	for _, check := range []func(*cli.Context) error{d.operands, d.checkValues, d.chooseFormat, d.chooseTopics} {
		if err := check(c); err != nil {
			return nil, err
		}
	}
	d.options.Jobs = d.jobs
	return d, nil
}

func (d *differ) operands(c *cli.Context) error {
	if c.NArg() != 2 {
		return fmt.Errorf("%s, want OLD and NEW", text.Count(c.NArg(), "operand"))
	}
	d.old, d.new = c.Args().Get(0), c.Args().Get(1)
	if d.old == "" || d.new == "" {
		return errors.New("the name of a file is empty")
	}
	if d.old == "-" && d.new == "-" {
		return errors.New("standard input is given twice, but can be read only once")
	}
	d.old, d.new = objfile.InBundle(d.old), objfile.InBundle(d.new)
	if a, b := cli.IsFolder(d.old), cli.IsFolder(d.new); a != b {
		folder, other := d.old, d.new
		if b {
			folder, other = other, folder
		}
		return fmt.Errorf("%s is a folder, and %s is not: want two files or two folders", folder, other)
	}
	return cli.NotInput(d.output, d.old, d.new)
}

func (d *differ) checkValues(c *cli.Context) error {
	if c.IsSet("output") && c.String("output") == "" {
		return errors.New("--output is empty")
	}
	points := c.Float64("tolerance")
	if !(points >= 0 && points <= 100) {
		return fmt.Errorf("--tolerance is %v, want 0 to 100 percentage points", points)
	}
	if d.options.Tolerance = points; points == 0 {
		d.options.Tolerance = -1 // 0 would mean the default there
	}
	return nil
}

// chooseFormat determines the output format from --format, --raw and --stat.
func (d *differ) chooseFormat(c *cli.Context) error {
	d.form = c.String("format")
	detail, raw, stat := c.Bool("detail"), c.Bool("raw"), c.Bool("stat")
	switch {
	case raw && stat:
		return errors.New("--raw and --stat exclude each other")
	case raw:
		d.form = "raw"
	case stat:
		d.form = "stat"
	}
	form := diffFormats[slices.IndexFunc(diffFormats, func(f diffFormat) bool { return f.name == d.form })]
	switch {
	case form.flag && c.String("format") != cli.FormatText:
		return fmt.Errorf("--%s is for --format text", form.name)
	case detail && form.flag:
		return fmt.Errorf("--detail and --%s exclude each other", form.name)
	case detail && !form.detail:
		return fmt.Errorf("--detail is for --format text and json: %s always has details", form.name)
	}
	d.out = diffreport.Options{Detail: detail, Color: cli.Colored(c, d.output, d.stdout), Version: version.Version}
	return nil
}

// ignored are the words of --ignore.
var ignored = []string{"addresses", "paths", "generator"}

func (d *differ) chooseTopics(c *cli.Context) error {
	for _, name := range cli.List(c, "only") {
		topic := symdiff.TopicOf(name)
		if topic == 0 {
			return fmt.Errorf("--only has %q, want %s%s", name, strings.Join(symdiff.Topics, ", "), cli.Meant(name, symdiff.Topics))
		}
		d.options.Topics |= topic
	}
	if c.Bool("vars") {
		if d.options.Topics == 0 {
			d.options.Topics = symdiff.AllTopics
		}
		d.options.Topics |= symdiff.OnVariables
	}
	for _, name := range cli.List(c, "ignore") {
		switch name {
		case "addresses":
			d.options.IgnoreAddresses = true
		case "paths":
			d.options.IgnorePaths = true
		case "generator":
			d.options.IgnoreGenerator = true
		default:
			return fmt.Errorf("--ignore has %q, want %s%s", name, cli.Choice(ignored), cli.Meant(name, ignored))
		}
	}
	return nil
}

// run compares, prints and returns the status as an error.
func (d *differ) run(ctx context.Context) error {
	if cli.IsFolder(d.old) && cli.IsFolder(d.new) {
		return d.runStores(ctx)
	}
	r, err := d.compare(ctx, d.old, d.new)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := d.print(r); err != nil {
		return err
	}
	d.judge(r)
	return d.end()
}

func (d *differ) end() error {
	if d.status != cli.StatusOK {
		return &cli.StatusError{Status: d.status}
	}
	return nil
}

// judge raises the status if a difference calls for it.
func (d *differ) judge(r *symdiff.Result) {
	if d.failOn == "any" && !r.Same() || d.failOn == "regression" && r.Regressions() > 0 {
		d.status = max(d.status, cli.StatusFindings)
	}
}

// print writes a difference.
func (d *differ) print(r *symdiff.Result) error {
	out, err := d.create()
	if err != nil {
		return cli.OutputError(d.output, err)
	}
	defer out.Abort()
	if err := diffreport.Write(out, d.form, r, d.out); err != nil {
		return d.failed(out, err)
	}
	return cli.OutputError(out.Name(), out.Commit())
}

// create opens the output.
func (d *differ) create() (cli.Output, error) {
	if d.out.Color {
		return cli.CreateColored(d.output, d.stdout)
	}
	return cli.CreateOutput(d.output, d.stdout)
}

// failed distinguishes a failure to read details from a failure to write.
func (d *differ) failed(out cli.Output, err error) error {
	var reading *symdiff.ReadError
	if errors.As(err, &reading) {
		return &cli.StatusError{Status: cli.StatusInput, Err: err}
	}
	return cli.OutputError(out.Name(), err)
}

// diffFormat is an output format of diff: a key of diffreport.Forms.
type diffFormat struct {
	name   string
	flag   bool // selected by a flag of its own, not by --format
	detail bool // has more with --detail
}

var diffFormats = []diffFormat{
	{name: cli.FormatText, detail: true},
	{name: cli.FormatJSON, detail: true},
	{name: "html"},
	{name: "raw", flag: true},
	{name: "stat", flag: true},
}

// diffFormatNames returns the values of --format.
func diffFormatNames() (names []string) {
	for _, f := range diffFormats {
		if !f.flag {
			names = append(names, f.name)
		}
	}
	return names
}
