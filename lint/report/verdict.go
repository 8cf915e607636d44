package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/lint/finding"
)

// WriteVerdict writes what the file is good for, and why, in at most a screenful of text.
func WriteVerdict(w io.Writer, r *finding.Report) error {
	c := r.Coverage
	var b strings.Builder
	file := r.File
	if file == "" {
		file = "symbols"
	}
	fmt.Fprintf(&b, "%s: %s\n", text.Printable(file), c.Verdict)
	for _, reason := range c.Reasons {
		fmt.Fprintf(&b, "  %s\n", reason)
	}
	b.WriteByte('\n')
	table := func(s coverage.Share, of string) {
		if s.Total > 0 {
			fmt.Fprintf(&b, "  %9s  %*d of %-*d  %s\n", s, digits, s.Covered, digits, s.Total, of)
		}
	}
	table(c.All.Share, "bytes of "+c.CodeOf()+" have call frame information")
	if c.Code != c.All.Share {
		table(c.Code, "bytes of functions have it")
	}
	table(c.Entries, "functions have it at their first byte")
	table(c.LineEnds.Share, "ends of lines are in functions that have it throughout")
	if c.Calls != nil {
		table(*c.Calls, "return addresses have it")
	}
	table(c.Public, "public symbols have it")
	table(c.Lines, "bytes of functions have lines")
	table(c.WithLines, "functions have lines")
	writeGaps(&b, "call frame information", c.Worst)
	writeGaps(&b, "lines", c.WorstLines)
	_, err := io.WriteString(w, b.String())
	return err
}

const (
	digits    = 10
	shownGaps = 5
)

func writeGaps(b *strings.Builder, what string, gaps []coverage.Gap) {
	if len(gaps) == 0 {
		return
	}
	fmt.Fprintf(b, "\n  most bytes without %s:\n", what)
	for _, g := range gaps[:min(len(gaps), shownGaps)] {
		fmt.Fprintf(b, "  %9d of %d at %x%s\n", g.Missing, g.Size, g.RVA, g.Label())
	}
}
