package lint

import (
	"io"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/version"
	"github.com/symtool/symtool/lint"
	"github.com/symtool/symtool/lint/config"
	"github.com/symtool/symtool/lint/finding"
	lintreport "github.com/symtool/symtool/lint/report"
)

// lintFormat is a value of --format. Text is printed file by file; the other formats are
// documents.
type lintFormat struct {
	document  func(w io.Writer, r *lintreport.Results) error // nil for text
	page      bool                                           // needs maps
	functions bool                                           // shows the function of each finding
	sources   bool                                           // points at the source of each finding
}

// lintFormats are the values of --format, in the order of the help.
var lintFormats = []cli.Word[lintFormat]{
	{Text: cli.FormatText},
	{Text: cli.FormatJSON, Means: lintFormat{document: lintreport.WriteJSON, functions: true}},
	{Text: "sarif", Means: lintFormat{document: lintreport.WriteSARIF, functions: true, sources: true}},
	{Text: "github", Means: lintFormat{document: lintreport.WriteGitHub, sources: true}},
	{Text: "junit", Means: lintFormat{document: lintreport.WriteJUnit}},
	{Text: "codequality", Means: lintFormat{document: lintreport.WriteCodeQuality, sources: true}},
	{Text: "html", Means: lintFormat{page: true, functions: true}},
}

// text reports whether findings are printed file by file.
func (f lintFormat) text() bool { return f.document == nil && !f.page }

// printFile prints a file's findings in text.
func (l *linter) printFile(out io.Writer, r *finding.Report) error {
	if l.quiet([]*finding.Report{r}) {
		return nil
	}
	if err := lintreport.WriteFindings(out, r); err != nil || !l.verdict {
		return err
	}
	return lintreport.WriteVerdict(out, r)
}

// quiet reports whether the reports contain nothing that should stop a build. Hundreds of files
// have notes.
func (l *linter) quiet(reports []*finding.Report) bool {
	if l.stamp == "" || l.status != cli.StatusOK {
		return false
	}
	for _, r := range reports {
		if worst, found := r.Worst(); found && worst >= finding.Warning || r.Damage != nil {
			return false
		}
	}
	return true
}

// printEnd prints the end of the output; for a document, that is the whole document.
func (l *linter) printEnd(out io.Writer, done *lintDone) error {
	results := &lintreport.Results{Version: version.Version, Rules: l.options.Rules, Filter: l.options.Filter, Reports: done.reports, Source: sourcePaths(l.prefixes)}
	switch {
	case l.format.page:
		return lintreport.WriteHTML(out, results, done.maps)
	case l.format.document != nil:
		return l.format.document(out, results)
	case l.quiet(done.reports):
		return nil
	}
	if l.table {
		if err := lintreport.WriteModules(out, results); err != nil {
			return err
		}
	}
	return lintreport.WriteSummary(out, results)
}

// lintDone holds the checked files.
type lintDone struct {
	reports []*finding.Report
	maps    map[*finding.Report]*lint.Map
}

// add records what a document needs about a file.
func (d *lintDone) add(r *linted) {
	d.reports = append(d.reports, r.report)
	if r.chart != nil {
		d.maps[r.report] = r.chart
	}
}

// writeStamp writes the file of --stamp. It is called only if there are no findings.
func (l *linter) writeStamp() error {
	if l.stamp == "" {
		return nil
	}
	out, err := cli.CreateOutput(l.stamp, l.stdout)
	if err != nil {
		return cli.OutputError(l.stamp, err)
	}
	defer out.Abort()
	return cli.OutputError(l.stamp, out.Commit())
}

// writeBaseline writes the findings to the file of --write-baseline.
func (l *linter) writeBaseline() error {
	if l.recordTo == "" {
		return nil
	}
	out, err := cli.CreateOutput(l.recordTo, l.stdout)
	if err != nil {
		return cli.OutputError(l.recordTo, err)
	}
	defer out.Abort()
	if err = config.WriteBaseline(out, l.options.Filter.Recorded()); err == nil {
		err = out.Commit()
	}
	return cli.OutputError(l.recordTo, err)
}
