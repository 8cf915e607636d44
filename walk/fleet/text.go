package fleet

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/walk/verify"
)

// TextOptions limit the text.
type TextOptions struct {
	Crashes  int // number of signatures
	Modules  int // number of modules in each table
	Verdicts int // number of rows in the table of verdicts
}

// WriteText writes tables for people. Its last line is the verdict.
func (t *Tables) WriteText(w io.Writer, o TextOptions) error {
	b := bufio.NewWriter(w)
	t.writeTotals(b)
	t.writeCrashes(b, o.Crashes)
	t.writeWorst(b, o.Modules)
	t.writeFrames(b, o.Modules)
	fmt.Fprintf(b, "\n%s\n", text.Printable(t.Verdict()))
	if t.Verify != nil {
		b.WriteByte('\n')
		if err := verify.WriteTally(b, t.Verify, o.Verdicts); err != nil {
			return err
		}
	}
	return b.Flush()
}

func (t *Tables) writeTotals(b *bufio.Writer) {
	n := t.Totals
	fmt.Fprintf(b, "%s: %d whole, %d damaged, %d not read\n", text.Count(n.Dumps, "dump"), n.OK, n.Damaged, n.Failed)
	fmt.Fprintf(b, "%s, %d of which end too soon\n", text.Count(n.Threads, "thread"), n.Unclean)
	all := n.Frames.all()
	fmt.Fprintf(b, "%s:", text.Count(all, "frame"))
	sep := ""
	for _, x := range []struct {
		name string
		n    int64
	}{{"context", n.Frames.Context}, {"cfi", n.Frames.CFI}, {"code", n.Frames.Code}, {"cfi_scan", n.Frames.CFIScan}, {"frame_pointer", n.Frames.FramePointer}, {"scan", n.Frames.Scan}} {
		fmt.Fprintf(b, "%s %d %s (%s)", sep, x.n, x.name, percent(x.n, all))
		sep = ","
	}
	b.WriteByte('\n')
}

// percent returns part of whole in percent, truncated to one digit.
func percent(part, whole int64) string {
	if whole == 0 {
		return "0.0%"
	}
	tenths := part * 1000 / whole
	return fmt.Sprintf("%d.%d%%", tenths/10, tenths%10)
}

func (t *Tables) writeCrashes(b *bufio.Writer, limit int) {
	fmt.Fprintf(b, "\nSignatures: %d\n\n", len(t.Crashes))
	read := t.Totals.Read()
	for i := range t.Crashes[:min(len(t.Crashes), limit)] {
		x := &t.Crashes[i]
		fmt.Fprintf(b, "%8d %6s  %s\n", x.Dumps, percent(x.Dumps, read), text.Printable(x.Signature))
		b.WriteString("                 ")
		if x.Reason != "" {
			fmt.Fprintf(b, "%s; ", text.Printable(x.Reason))
		}
		fmt.Fprintf(b, "e.g. %s\n", text.Printable(x.Example))
	}
	if n := len(t.Crashes) - limit; n > 0 {
		fmt.Fprintf(b, "                 and %d more\n", n)
	}
}

// writeWorst writes the modules with a cost.
func (t *Tables) writeWorst(b *bufio.Writer, limit int) {
	n := len(t.Modules)
	if i := slices.IndexFunc(t.Modules, func(r ModuleRow) bool { return r.Cost == 0 }); i >= 0 {
		n = i
	}
	fmt.Fprintf(b, "\nModules that lack something: %d of %d\n", n, len(t.Modules))
	if n == 0 {
		return
	}
	b.WriteByte('\n')
	table := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "cost\tguessed\tunnamed\tends\tcallers\tframes\tdumps\tsymbols\t  module")
	for i := range t.Modules[:min(n, limit)] {
		x := &t.Modules[i]
		fmt.Fprintf(table, "%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t  %s\n", x.Cost, x.guessed(), x.Unnamed, x.Ends, x.Callers, x.Frames, x.Dumps, x.Symbols, text.Printable(x.name()))
	}
	if n > limit {
		fmt.Fprintf(table, "\t\t\t\t\t\t\t\t  and %d more\n", n-limit)
	}
	table.Flush() // b keeps the error
}

// writeFrames writes the share of frames of modules, by trust.
func (t *Tables) writeFrames(b *bufio.Writer, limit int) {
	rows := slices.Clone(t.Modules)
	slices.SortFunc(rows, byFrames)
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(b, "\nFrames by module\n\n")
	table := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "frames\tshare\tcontext\tcfi\tcode\tcfi_scan\tfp\tscan\t  module")
	for i := range rows[:min(len(rows), limit)] {
		x := &rows[i]
		fmt.Fprintf(table, "%d\t%s", x.Frames, percent(x.Frames, t.Totals.Frames.all()))
		for _, n := range []int64{x.Context, x.CFI, x.Code, x.CFIScan, x.FramePointer, x.Scan} {
			fmt.Fprintf(table, "\t%s", percent(n, x.Frames))
		}
		fmt.Fprintf(table, "\t  %s\n", text.Printable(x.name()))
	}
	if n := len(rows) - limit; n > 0 {
		fmt.Fprintf(table, "\t\t\t\t\t\t\t\t  and %d more\n", n)
	}
	table.Flush()
}
