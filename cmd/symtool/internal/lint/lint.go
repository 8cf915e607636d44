// Package lint implements symtool lint.
package lint

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/par"
	"github.com/symtool/symtool/lint"
	"github.com/symtool/symtool/symfmt/srcmap"
)

const lintDescription = `
FILE is a symbol file, plain or compressed with gzip or zstd, - for standard
input, or a folder, in which every *.sym and *.vars is checked, also as .gz
or .zst.
Findings go to standard output, by file and line. For a single file, a verdict
follows: whether it is good for unwinding and for symbolication. For several,
there is a table: the shares of the code with call frame information and with
lines, and the verdict, with the worst files first and a total at the end. The
status is 1 if there are errors, or as --fail-on says.

RULES are IDs (SYM203) and families (ranges), separated by commas; --list prints
both. A configuration is read only if --config names it, so that the same
command gives the same findings in every folder.

Examples:
  symtool lint --binary app app.sym
  symtool lint --format sarif -o findings.sarif symbols
`

// Command returns the command symtool lint.
func Command(msgs *cli.Messages) *cli.Command {
	return &cli.Command{
		Name:        "lint",
		Usage:       "check symbol files, and whether they are good enough to unwind with",
		UsageText:   "symtool lint [flags] FILE...\nsymtool lint --explain ID\nsymtool lint --list\nsymtool lint --docs",
		Description: lintDescription,
		Flags: []cli.Flag{
			cli.Words(&cli.StringFlag{Name: "format", Usage: "print findings as `FORM`: text (default), json, sarif (2.1.0),\ngithub (annotations of a workflow), junit, codequality (GitLab) or\nhtml (one page)", Value: cli.FormatText}, lintFormatNames...),
			cli.OutputFlag(),
			cli.Words(&cli.StringFlag{Name: "fail-on", Usage: "end with status 1 at findings of `SEVERITY` and above: error\n(default), warning or never", Value: "error"}, "error", "warning", "never"),
			cli.WordList(&cli.StringSliceFlag{Name: "select", Usage: "check only `RULES`; may be repeated"}, ruleNames()...),
			cli.WordList(&cli.StringSliceFlag{Name: "ignore", Usage: "do not check `RULES`; may be repeated"}, ruleNames()...),
			cli.Words(&cli.StringFlag{Name: "preset", Usage: "do not check what files of a `KIND` cannot have: stripped (libraries\nwithout debug information)"}, lint.PresetNames()...),
			&cli.StringSliceFlag{Name: "prefix-map", KeepSpace: true, Usage: "in documents, given `OLD=NEW`, replace OLD with NEW at the start of\nsource files' names, so that they are relative to the checkout;\nmay be repeated, the last match counts"},
			&cli.StringFlag{Name: "config", Usage: "read severities and suppressions from `FILE`"},
			&cli.StringFlag{Name: "baseline", Usage: "omit the findings that are in `FILE`"},
			&cli.StringFlag{Name: "write-baseline", Usage: "write the findings to `FILE`, for --baseline, and end with status 0"},
			&cli.StringFlag{Name: "stamp", Usage: "for build systems: write an empty `FILE` if the status is 0, and\nprint no notes, verdict or summary if there are no warnings either"},
			&cli.StringFlag{Name: "binary", Usage: "compare with the binary `PATH`, or with those in a folder, found\nby id"},
			&cli.Float64Flag{Name: "min-cfi", Usage: "report an error if less than `PERCENT` of the code has STACK CFI"},
			&cli.Float64Flag{Name: "min-lines", Usage: "report an error if less than `PERCENT` of the code has lines"},
			&cli.IntFlag{Name: "max-per-rule", Usage: fmt.Sprintf("print up to `N` findings of a rule in a file, and count the others\n(default %d)", lint.DefaultMaxPerRule)},
			&cli.BoolFlag{Name: "verdict", Usage: "in text: print the verdict of each file, by default of a single file\nonly, and of several a table; --verdict=false prints neither, and is\naccepted with any format"},
			cli.JobsFlag(),
			cli.Hints(&cli.StringFlag{Name: "explain", Usage: "print the explanation of the rule `ID`, or the rules of a family or\nof a prefix of IDs"}, ruleNames()...),
			&cli.BoolFlag{Name: "list", Usage: "print all rules"},
			&cli.BoolFlag{Name: "docs", Usage: "print the page about all rules in Markdown"},
		},
		Action: func(c *cli.Context) error {
			if done, err := lintPages(c); done || err != nil {
				return err
			}
			l, err := newLinter(c, msgs)
			if err != nil {
				return cli.AsUsageError("lint", err)
			}
			return l.run(c.Context)
		},
	}
}

// linter is a call of lint, with its arguments checked.
type linter struct {
	operands []string
	format   lintFormat
	output   string
	failOn   lint.Severity
	never    bool // findings of no severity affect the status
	options  lint.Options
	recordTo string // --write-baseline
	stamp    string // --stamp
	binaries lintBinaries
	verdict  bool // of each file
	table    bool // of the verdicts of all files
	jobs     int
	prefixes []srcmap.Prefix
	msgs     *cli.Messages
	stdin    io.Reader
	stdout   io.Writer

	status  int
	repeats int // files that dropRepeats removed
}

// lintNoValue lists the flags whose value must not be empty.
var lintNoValue = []string{"output", "config", "baseline", "write-baseline", "stamp", "binary"}

func newLinter(c *cli.Context, msgs *cli.Messages) (*linter, error) {
	l := &linter{
		operands: c.Args().Slice(), output: c.String("output"), stamp: c.String("stamp"), jobs: par.Jobs(c.Int("jobs")),
		msgs: msgs, stdin: c.App.Reader, stdout: c.App.Writer,
	}
	if l.output == "" {
		l.output = "-"
	}
	var err error
	if l.prefixes, err = cli.PrefixMap(c.StringSlice("prefix-map")); err != nil {
		return nil, err
	}
	for _, check := range []func(*cli.Context) error{checkLintFlags, l.checkOperands, l.checkBinary, l.checkFormat, l.checkThresholds, l.configure} {
		if err := check(c); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (l *linter) checkBinary(c *cli.Context) error {
	return l.binaries.open(c.String("binary"), l.operands)
}

func checkLintFlags(c *cli.Context) error {
	for _, name := range lintNoValue {
		if c.IsSet(name) && c.String(name) == "" {
			return fmt.Errorf("--%s is empty", name)
		}
	}
	return nil
}

func (l *linter) checkOperands(c *cli.Context) error {
	if len(l.operands) == 0 {
		return errors.New("no FILE")
	}
	standard := 0
	for _, arg := range l.operands {
		switch arg {
		case "":
			return errors.New("the name of a file is empty")
		case "-":
			standard++
		}
	}
	if standard > 1 {
		return errors.New("standard input is given twice, but can be read only once")
	}
	written := c.String("write-baseline")
	if written != "" && written == l.output {
		return fmt.Errorf("--output and --write-baseline are both %s", written)
	}
	inputs := append([]string{c.String("config"), c.String("baseline"), c.String("binary")}, l.operands...)
	if err := cli.NotInput(l.output, inputs...); err != nil {
		return err
	}
	if cli.NotInput(written, append([]string{c.String("config"), c.String("binary")}, l.operands...)...) != nil {
		return fmt.Errorf("--write-baseline is %s, which is an input", written)
	}
	return l.checkStamp(append(inputs, written, l.output))
}

// checkStamp rejects a stamp that would overwrite an input or another output.
func (l *linter) checkStamp(others []string) error {
	if cli.NotInput(l.stamp, others...) != nil || l.stamp == "-" || l.stamp != "" && slices.Contains(others, l.stamp) {
		return fmt.Errorf("--stamp is %s, want another file", l.stamp)
	}
	return nil
}

func (l *linter) checkFormat(c *cli.Context) error {
	l.format = lintFormats[c.String("format")]
	if c.Bool("verdict") && !l.format.text() {
		return errors.New("--verdict is for --format text")
	}
	l.verdict = c.Bool("verdict")
	l.table = l.verdict || !c.IsSet("verdict")
	if !c.IsSet("verdict") && len(l.operands) == 1 {
		l.verdict = !cli.IsFolder(l.operands[0])
	}
	switch c.String("fail-on") {
	case "warning":
		l.failOn = lint.Warning
	case "never":
		l.never = true
	default:
		l.failOn = lint.Error
	}
	return nil
}

func (l *linter) checkThresholds(c *cli.Context) error {
	for _, name := range []string{"min-cfi", "min-lines"} {
		if err := cli.Percentage(c, name); err != nil {
			return err
		}
	}
	if n := c.Int("max-per-rule"); c.IsSet("max-per-rule") && n < 1 {
		return fmt.Errorf("--max-per-rule is %d, want 1 or more", n)
	}
	l.options.MaxPerRule = c.Int("max-per-rule")
	return nil
}

// ruleNames returns the families of lint's rules and their IDs.
func ruleNames() (names []string) {
	var ids []string
	for _, r := range lint.Rules() {
		ids = append(ids, r.ID)
		if family := r.Family().Name; !slices.Contains(names, family) {
			names = append(names, family)
		}
	}
	return append(names, ids...)
}
