package verify

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/symtool/symtool/internal/text"
)

// maxTally is the number of rows of a Tally.
const maxTally = 10_000

// Tally counts the verdicts of many dumps. The zero value is an empty tally.
type Tally struct {
	dumps, hold         int
	counted, countedCFI int
	rows                map[tallyKey]*TallyRow
	omitted             int
}

type tallyKey struct{ kind, blame, module string }

// TallyRow counts the errors of a kind about a module.
type TallyRow struct {
	Kind    string `json:"kind"`
	Blame   Blame  `json:"blame,omitempty"`
	Module  string `json:"module"` // "" for an error about no module
	Dumps   int    `json:"dumps"`
	Count   int    `json:"count"`   // places in the code, each counted once per dump
	Example string `json:"example"` // the first dump
	Text    string `json:"text"`    // the error in this dump

	last int // the last dump that was counted, from 1
}

// Add adds the verdict of a dump.
func (t *Tally) Add(dump string, v *Verdict) {
	t.dumps++
	if v.Holds {
		t.hold++
	}
	t.counted += v.Counted
	t.countedCFI += v.CountedCFI
	for i := range v.Findings {
		if x := &v.Findings[i]; x.Severity == SeverityError {
			t.add(dump, x)
		}
	}
}

func (t *Tally) add(dump string, x *Finding) {
	key := tallyKey{x.Kind, string(x.Blame), x.Module}
	row := t.rows[key]
	if row == nil {
		if len(t.rows) == maxTally {
			t.omitted++
			return
		}
		if t.rows == nil {
			t.rows = map[tallyKey]*TallyRow{}
		}
		row = &TallyRow{Kind: x.Kind, Blame: x.Blame, Module: strings.Clone(x.Module), Example: dump, Text: clip(x.sentence(), maxTallyText)}
		t.rows[tallyKey{x.Kind, string(x.Blame), row.Module}] = row
	}
	row.Count++
	if row.last != t.dumps {
		row.last = t.dumps
		row.Dumps++
	}
}

// maxTallyText is the length in characters to which examples of errors are cut.
const maxTallyText = 500

// TallyDocument is a Tally as JSON.
type TallyDocument struct {
	Dumps      int        `json:"dumps"`
	Hold       int        `json:"hold"` // dumps whose symbols hold
	Counted    int        `json:"counted"`
	CountedCFI int        `json:"counted_cfi"`
	Findings   []TallyRow `json:"findings"`          // those in the most dumps first
	Omitted    int        `json:"omitted,omitempty"` // errors of kinds and modules beyond 10,000
	Conclusion string     `json:"conclusion"`
}

// Document returns the tally as JSON.
func (t *Tally) Document() *TallyDocument {
	d := &TallyDocument{Dumps: t.dumps, Hold: t.hold, Counted: t.counted, CountedCFI: t.countedCFI, Findings: []TallyRow{}, Omitted: t.omitted}
	for _, row := range t.rows {
		d.Findings = append(d.Findings, *row)
	}
	slices.SortFunc(d.Findings, func(a, b TallyRow) int {
		return cmp.Or(cmp.Compare(b.Dumps, a.Dumps), cmp.Compare(slices.Index(kindOrder, a.Kind), slices.Index(kindOrder, b.Kind)),
			cmp.Compare(b.Count, a.Count), cmp.Compare(a.Module, b.Module), cmp.Compare(a.Blame, b.Blame))
	})
	d.Conclusion = d.conclude()
	return d
}

// conclude returns one line about all dumps.
func (d *TallyDocument) conclude() string {
	cfi := fmt.Sprintf("%d of %s by CFI", d.CountedCFI, count(d.Counted, "caller frame", "caller frames"))
	switch {
	case d.Dumps == 0:
		return "no verdict: no dump could be read"
	case d.Hold == d.Dumps:
		return fmt.Sprintf("the symbols hold in %s: %s", count(d.Dumps, "dump", "dumps"), cfi)
	case len(d.Findings) == 0: // the errors are beyond the limit of each verdict
		return fmt.Sprintf("the symbols hold in %d of %s: %s", d.Hold, count(d.Dumps, "dump", "dumps"), cfi)
	}
	x := &d.Findings[0]
	who, about := "not decided", x.Kind
	if x.Blame != NoBlame {
		who = string(x.Blame) + " to blame"
	}
	if x.Module != "" {
		about += " of " + clip(x.Module, maxShownName)
	}
	return fmt.Sprintf("the symbols hold in %d of %s: %s; %s: %s in %s", d.Hold, count(d.Dumps, "dump", "dumps"), cfi, who, about, count(x.Dumps, "dump", "dumps"))
}

// WriteTally writes a tally for people, with at most limit rows. Its last line is the conclusion.
func WriteTally(w io.Writer, d *TallyDocument, limit int) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "Verdict on the symbols in %s\n", count(d.Dumps, "dump", "dumps"))
	fmt.Fprintf(b, "  they hold in %d\n", d.Hold)
	fmt.Fprintf(b, "  counted callers: %d of %d by CFI, %.1f%%\n", d.CountedCFI, d.Counted, percent(d.CountedCFI, d.Counted))
	shown := d.Findings[:min(len(d.Findings), limit)]
	if len(shown) > 0 {
		b.WriteByte('\n')
		table := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "  dumps\terrors\tkind\tblame\tmodule\texample")
		for i := range shown {
			x := &shown[i]
			fmt.Fprintf(table, "  %d\t%d\t%s\t%s\t%s\t%s\n", x.Dumps, x.Count, x.Kind, cmp.Or(string(x.Blame), "-"), cmp.Or(text.Printable(x.Module), "-"), text.Printable(x.Example))
		}
		table.Flush() // b keeps the error
	}
	if n := len(d.Findings) - len(shown); n > 0 {
		fmt.Fprintf(b, "  and %d more\n", n)
	}
	if len(shown) > 0 {
		b.WriteByte('\n')
	}
	fmt.Fprintf(b, "%s\n", text.Printable(d.Conclusion))
	return b.Flush()
}
