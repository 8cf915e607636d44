// Package diff implements symtool diff.
package diff

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	d := &differ{msgs: msgs, failOn: failAny, options: symdiff.Options{Tolerance: symdiff.DefaultTolerance}}
	return &cli.Command{
		Name:        "diff",
		Usage:       "show what changed between two symbol files, by meaning",
		UsageText:   "symtool diff [flags] OLD NEW",
		Description: diffDescription,
		Flags:       d.flags(),
		Action: func(c *cli.Context) error {
			if err := d.finish(c); err != nil {
				return cli.Usagef("diff", "%v", err)
			}
			return d.run(c.Context)
		},
	}
}

// failWhen is a value of --fail-on.
type failWhen uint8

const (
	failNever failWhen = iota
	failRegression
	failAny
)

// differ is a call of diff.
type differ struct {
	old, new  string
	output    string
	form      string // of diffreport.Forms
	raw, stat bool
	topics    []string
	vars      bool
	ignored   []string
	options   symdiff.Options
	out       diffreport.Options
	color     cli.ColorWhen
	failOn    failWhen
	debugDirs []string
	cpu       string // of universal files
	verbose   bool
	stdout    io.Writer
	msgs      *cli.Messages

	status int
}

// flags returns the flags of the command. Parsing them sets fields of d.
func (d *differ) flags() []cli.Flag {
	d.form = cli.FormatText
	onlyText := func(_ *cli.Context, flag string) error {
		if d.form != cli.FormatText {
			return fmt.Errorf("--%s is for --format text", flag)
		}
		return nil
	}
	return []cli.Flag{
		cli.Words(cli.Text("format", "print the differences as `FORM`: "+strings.Join(diffFormats, ", "), &d.form), diffFormats...),
		cli.OutputFlag(&d.output),
		cli.Switch("detail", "print all changes, not just the summary", &d.out.Detail, cli.Without("raw", "stat"), d.lessDetail),
		cli.Switch("stat", "print a few lines, for a release note", &d.stat, onlyText),
		cli.Switch("raw", "print a unified diff of the records, with names instead of\nnumbers, and addresses relative to the function", &d.raw, cli.Without("stat"), onlyText),
		cli.WordList(cli.Repeated("only", "compare only `TOPICS`, separated by commas: "+strings.Join(symdiff.Topics, ", "), &d.topics), symdiff.Topics...),
		cli.Switch("vars", "compare parameters and local variables, too: their types, and where\nthey are", &d.vars),
		cli.WordList(cli.Repeated("ignore", "leave out `WHAT`, separated by commas: addresses (functions that\nonly moved), paths (folders of source files), generator", &d.ignored), ignorable...),
		cli.OneOf("fail-on", "end with status 1 for `WHAT`: any difference (default), regression\nor never", &d.failOn, []cli.Word[failWhen]{{Text: "any", Means: failAny}, {Text: "regression", Means: failRegression}, {Text: "never", Means: failNever}}),
		cli.Share("tolerance", "allow the share of the code with lines, or with call frame\ninformation, to fall by `POINTS`, percentage points (default 0.1)", &d.options.Tolerance),
		cli.ColorFlag(&d.color),
		cli.ArchFlag(&d.cpu),
		cli.Repeated("debug-dir", "look for separate debug files of binaries in `DIR` instead of\n/usr/lib/debug; may be repeated", &d.debugDirs),
		cli.JobsFlag(&d.options.Jobs),
		cli.VerboseFlag(&d.verbose),
	}
}

// lessDetail is the condition of --detail: the form must be able to omit details.
func (d *differ) lessDetail(*cli.Context, string) error {
	if d.form != cli.FormatText && d.form != cli.FormatJSON {
		return fmt.Errorf("--detail is for --format text and json: %s always has details", d.form)
	}
	return nil
}

// finish completes a call after its flags are set.
func (d *differ) finish(c *cli.Context) error {
	d.stdout = c.App.Writer
	d.debugDirs = cli.DebugDirs(d.debugDirs, false)
	d.options.Jobs = par.Jobs(d.options.Jobs)
	if d.options.Tolerance == 0 {
		d.options.Tolerance = -1 // 0 would mean the default
	}
	if d.raw {
		d.form = "raw"
	} else if d.stat {
		d.form = "stat"
	}
	d.out.Color, d.out.Version = d.color.Colored(d.output, d.stdout), version.Version
	if err := d.operands(c.Args().Slice()); err != nil {
		return err
	}
	return d.chooseTopics()
}

func (d *differ) operands(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("%s, want OLD and NEW", text.Count(len(args), "operand"))
	}
	d.old, d.new = args[0], args[1]
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

// ignorable lists the values of --ignore.
var ignorable = []string{"addresses", "paths", "generator"}

func (d *differ) chooseTopics() error {
	for _, name := range cli.List(d.topics) {
		topic := symdiff.TopicOf(name)
		if topic == 0 {
			return fmt.Errorf("--only has %q, want %s%s", name, strings.Join(symdiff.Topics, ", "), cli.Meant(name, symdiff.Topics))
		}
		d.options.Topics |= topic
	}
	if d.vars {
		if d.options.Topics == 0 {
			d.options.Topics = symdiff.AllTopics
		}
		d.options.Topics |= symdiff.OnVariables
	}
	for _, name := range cli.List(d.ignored) {
		switch name {
		case "addresses":
			d.options.IgnoreAddresses = true
		case "paths":
			d.options.IgnorePaths = true
		case "generator":
			d.options.IgnoreGenerator = true
		default:
			return fmt.Errorf("--ignore has %q, want %s%s", name, cli.Choice(ignorable), cli.Meant(name, ignorable))
		}
	}
	return nil
}

// run compares the operands, prints the differences, and returns the status as an error.
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

// judge raises the status if the differences require it.
func (d *differ) judge(r *symdiff.Result) {
	if d.failOn == failAny && !r.Same() || d.failOn == failRegression && r.Regressions() > 0 {
		d.status = max(d.status, cli.StatusFindings)
	}
}

// print writes the differences.
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

// failed distinguishes a failure to read details from a failure to write the
// output.
func (d *differ) failed(out cli.Output, err error) error {
	var reading *symdiff.ReadError
	if errors.As(err, &reading) {
		return &cli.StatusError{Status: cli.StatusInput, Err: err}
	}
	return cli.OutputError(out.Name(), err)
}

// diffFormats lists the values of --format, which are the keys of diffreport.Forms.
var diffFormats = []string{cli.FormatText, cli.FormatJSON, "html"}
