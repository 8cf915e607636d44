package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/lint/finding"
)

// unread replaces the verdict of a file about which nothing is known.
const unread coverage.Verdict = "not read"

// verdicts are in the order of the table, worst first. Files of variables have no row: what they
// are good for depends on the symbols that accompany them.
var verdicts = []coverage.Verdict{unread, coverage.Unusable, coverage.SymbolicationOnly, coverage.NotMeasured, coverage.GoodForUnwinding}

// moduleRow is a row of the table.
type moduleRow struct {
	file       string
	verdict    coverage.Verdict
	cfi, lines coverage.Share
}

// WriteModules writes a table of the files if there are several: the share of the code with call
// frame information, the share of the functions' bytes with lines, and the verdict. The worst files
// come first, and a total of all comes last.
func WriteModules(w io.Writer, r *Results) error {
	rows := moduleRows(r.Reports)
	if len(rows) < 2 {
		return nil
	}
	bw := bufio.NewWriter(w)
	write := func(cfi, lines, verdict, file string) {
		fmt.Fprintf(bw, "%9s  %9s  %-*s  %s\n", cfi, lines, len(coverage.NotMeasured), verdict, file)
	}
	write("CFI", "lines", "verdict", "file")
	total, good := moduleRow{}, 0
	for _, row := range rows {
		write(percent(row.cfi), percent(row.lines), string(row.verdict), text.Printable(row.file))
		total.cfi, total.lines = sum(total.cfi, row.cfi), sum(total.lines, row.lines)
		if row.verdict == coverage.GoodForUnwinding {
			good++
		}
	}
	write(percent(total.cfi), percent(total.lines), fmt.Sprintf("%d of %d good", good, len(rows)), "total")
	return bw.Flush()
}

// moduleRows returns the rows of the table, the worst first; files with equal results are in order
// of their names.
func moduleRows(reports []*finding.Report) (rows []moduleRow) {
	for _, rep := range reports {
		row := moduleRow{file: rep.File, verdict: unread}
		if c := rep.Coverage; c != nil {
			row.verdict, row.cfi, row.lines = c.Verdict, c.All.Share, c.Lines
		}
		if row.verdict != coverage.VariablesOnly {
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(rows, func(a, b moduleRow) int {
		return cmp.Or(
			cmp.Compare(slices.Index(verdicts, a.verdict), slices.Index(verdicts, b.verdict)),
			cmp.Compare(a.cfi.Percent(), b.cfi.Percent()),
			cmp.Compare(a.lines.Percent(), b.lines.Percent()),
			cmp.Compare(a.file, b.file))
	})
	return rows
}

func sum(a, b coverage.Share) coverage.Share {
	return coverage.Share{Covered: a.Covered + b.Covered, Total: a.Total + b.Total}
}

// percent returns a share for the table, or a dash if the whole is empty.
func percent(s coverage.Share) string {
	if s.Total == 0 {
		return "-"
	}
	return s.String()
}
