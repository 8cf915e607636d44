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
	"github.com/symtool/symtool/lint/finding"
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
	l := &linter{msgs: msgs, failOn: failOn{severity: finding.Error}}
	return &cli.Command{
		Name:        "lint",
		Usage:       "check symbol files, and whether they are good enough to unwind with",
		UsageText:   "symtool lint [flags] FILE...\nsymtool lint --explain ID\nsymtool lint --list\nsymtool lint --docs",
		Description: lintDescription,
		Flags:       l.flags(),
		Action: func(c *cli.Context) error {
			if l.page.asked() {
				return l.page.print(c)
			}
			if err := l.finish(c); err != nil {
				return cli.AsUsageError("lint", err)
			}
			return l.run(c.Context)
		},
	}
}

// linter is a call of lint.
type linter struct {
	operands []string
	format   lintFormat
	output   string
	failOn   failOn
	options  lint.Options
	settings settings
	page     rulePage
	recordTo string // --write-baseline
	stamp    string // --stamp
	binary   string // --binary
	binaries lintBinaries
	verdict  bool // print the verdict on each file
	table    bool // print a table of the verdicts on all files
	jobs     int
	prefixes []srcmap.Prefix
	msgs     *cli.Messages
	stdin    io.Reader
	stdout   io.Writer

	status  int
	repeats int // number of files that dropRepeats removed
}

// failOn is a value of --fail-on.
type failOn struct {
	severity finding.Severity
	never    bool // findings do not affect the status, whatever their severity
}

// flags returns the flags of the command. Their values go to l.
func (l *linter) flags() []cli.Flag {
	set, rules := &l.settings, ruleNames()
	all := []cli.Flag{
		cli.OneOf("format", "print findings as `FORM`: text (default), json, sarif (2.1.0),\ngithub (annotations of a workflow), junit, codequality (GitLab) or\nhtml (one page)", &l.format, lintFormats),
		cli.OutputFlag(&l.output),
		cli.OneOf("fail-on", "end with status 1 at findings of `SEVERITY` and above: error\n(default), warning or never", &l.failOn, []cli.Word[failOn]{
			{Text: "error", Means: failOn{severity: finding.Error}}, {Text: "warning", Means: failOn{severity: finding.Warning}}, {Text: "never", Means: failOn{never: true}},
		}),
		cli.WordList(cli.Repeated("select", "check only `RULES`; may be repeated", &set.selected), rules...),
		cli.WordList(cli.Repeated("ignore", "do not check `RULES`; may be repeated", &set.ignored), rules...),
		cli.Words(cli.Text("preset", "do not check what files of a `KIND` cannot have: stripped (libraries\nwithout debug information)", &set.preset), lint.PresetNames()...),
		cli.PrefixMapFlag("in documents, given `OLD=NEW`, replace OLD with NEW at the start of\nsource files' names, so that they are relative to the checkout;\nmay be repeated, the last match counts", &l.prefixes),
		cli.Text("config", "read severities and suppressions from `FILE`", &set.config),
		cli.Text("baseline", "omit the findings that are in `FILE`", &set.baseline),
		cli.Text("write-baseline", "write the findings to `FILE`, for --baseline, and end with status 0", &l.recordTo),
		cli.Text("stamp", "for build systems: write an empty `FILE` if the status is 0, and\nprint no notes, verdict or summary if there are no warnings either", &l.stamp),
		cli.Text("binary", "compare with the binary `PATH`, or with those in a folder, found\nby id", &l.binary),
		cli.Share("min-cfi", "report an error if less than `PERCENT` of the code has STACK CFI", &l.options.MinCFI),
		cli.Share("min-lines", "report an error if less than `PERCENT` of the code has lines", &l.options.MinLines),
		cli.Number("max-per-rule", fmt.Sprintf("print up to `N` findings of a rule in a file, and count the others\n(default %d)", lint.DefaultMaxPerRule), &l.options.MaxPerRule, cli.AtLeast(1)),
		cli.Switch("verdict", "in text: print the verdict of each file, by default of a single file\nonly, and of several a table; --verdict=false prints neither, and is\naccepted with any format", &l.verdict, l.inText),
		cli.JobsFlag(&l.jobs),
	}
	return append(all, l.page.flags(rules)...)
}

// inText is the condition of --verdict.
func (l *linter) inText(_ *cli.Context, flag string) error {
	if !l.format.text() {
		return fmt.Errorf("--%s is for --format text", flag)
	}
	return nil
}

// finish completes a call whose flags are set.
func (l *linter) finish(c *cli.Context) error {
	l.operands, l.stdin, l.stdout, l.jobs = c.Args().Slice(), c.App.Reader, c.App.Writer, par.Jobs(l.jobs)
	if err := l.checkOperands(); err != nil {
		return err
	}
	if err := l.binaries.open(l.binary, l.operands); err != nil {
		return err
	}
	l.table = l.verdict || !c.IsSet("verdict")
	if !c.IsSet("verdict") && len(l.operands) == 1 {
		l.verdict = !cli.IsFolder(l.operands[0])
	}
	return l.configure(c)
}

func (l *linter) checkOperands() error {
	if len(l.operands) == 0 {
		return errors.New("no FILE")
	}
	if err := cli.CheckFiles(l.operands); err != nil {
		return err
	}
	if l.recordTo != "" && l.recordTo == l.output {
		return fmt.Errorf("--output and --write-baseline are both %s", l.recordTo)
	}
	inputs := append([]string{l.settings.config, l.binary}, l.operands...)
	if cli.NotInput(l.recordTo, inputs...) != nil {
		return fmt.Errorf("--write-baseline is %s, which is an input", l.recordTo)
	}
	inputs = append(inputs, l.settings.baseline)
	if err := cli.NotInput(l.output, inputs...); err != nil {
		return err
	}
	return l.checkStamp(append(inputs, l.recordTo, l.output))
}

// checkStamp rejects a stamp that would overwrite an input or another output.
func (l *linter) checkStamp(others []string) error {
	if cli.NotInput(l.stamp, others...) != nil || l.stamp == "-" || l.stamp != "" && slices.Contains(others, l.stamp) {
		return fmt.Errorf("--stamp is %s, want another file", l.stamp)
	}
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
