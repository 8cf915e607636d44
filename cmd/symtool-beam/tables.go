package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// row is a module in the tables.
type row struct {
	Module  string `json:"module"` // "" for frames outside of modules
	DebugID string `json:"debug_id"`
	Dumps   int64  `json:"dumps"`
	Missing int64  `json:"missing_symbols"`
	OtherID int64  `json:"other_id"`
	Corrupt int64  `json:"corrupt_symbols"`

	Frames       int64 `json:"frames"`
	Context      int64 `json:"context"`
	CFI          int64 `json:"cfi"`
	CFIScan      int64 `json:"cfi_scan"`
	FramePointer int64 `json:"frame_pointer"`
	Scan         int64 `json:"scan"`

	Callers             int64   `json:"callers"`
	CallersFramePointer int64   `json:"callers_frame_pointer"`
	CallersScan         int64   `json:"callers_scan"`
	Ends                int64   `json:"ends"`
	LacksCFI            float64 `json:"lacks_cfi"` // share of callers by frame pointer or scan, 0 to 1
	Example             string  `json:"example"`   // the name of such a dump; "" if there is none
}

func newRow(m Module, c Counts) row {
	r := row{
		Module: m.Name, DebugID: m.DebugID, Dumps: c.Dumps, Missing: c.Missing, OtherID: c.OtherID, Corrupt: c.Corrupt,
		Frames: c.Frames.all(), Context: c.Frames.Context, CFI: c.Frames.CFI, CFIScan: c.Frames.CFIScan, FramePointer: c.Frames.FramePointer, Scan: c.Frames.Scan,
		Callers: c.Callers.all(), CallersFramePointer: c.Callers.FramePointer, CallersScan: c.Callers.Scan, Ends: c.Ends, Example: c.Example,
	}
	if r.Callers > 0 {
		r.LacksCFI = share(c.guessed(), r.Callers)
	}
	return r
}

// share is part of whole, cut after four digits by integers, so that it is the same on every machine.
func share(part, whole int64) float64 {
	return float64(part*10000/whole) / 10000
}

func (r *row) guessed() int64 { return r.CallersFramePointer + r.CallersScan }

// tables is everything that the output files are made from.
type tables struct {
	rows    []row
	totals  Totals
	damaged []Damage
}

// write writes the tables into a folder, each in its own order.
func (r *tables) write(ctx context.Context, dir string) error {
	slices.SortFunc(r.rows, byName)
	slices.SortFunc(r.damaged, func(a, b Damage) int { return cmp.Compare(a.At, b.At) })
	lacking := r.lacking()
	for _, file := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"modules.csv", func(w io.Writer) error { return writeCSV(w, r.rows) }},
		{"modules.jsonl", func(w io.Writer) error { return writeLines(w, r.rows) }},
		{"lacking-cfi.csv", func(w io.Writer) error { return writeCSV(w, lacking) }},
		{"lacking-cfi.jsonl", func(w io.Writer) error { return writeLines(w, lacking) }},
		{"damaged.jsonl", func(w io.Writer) error { return writeLines(w, r.damages()) }},
		{"report.txt", func(w io.Writer) error { return r.text(w, lacking) }},
		{summaryFile, func(w io.Writer) error { return writeLines(w, []summary{r.summary(lacking)}) }},
	} {
		if err := writeWhole(ctx, join(dir, file.name), file.write); err != nil {
			return err
		}
	}
	return nil
}

func byName(a, b row) int {
	return cmp.Or(cmp.Compare(a.Module, b.Module), cmp.Compare(a.DebugID, b.DebugID))
}

// lacking returns the modules with guessed callers, those with most of them first.
func (r *tables) lacking() (rows []row) {
	for _, x := range r.rows {
		if x.guessed() > 0 {
			rows = append(rows, x)
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Or(cmp.Compare(b.guessed(), a.guessed()), byName(a, b)) })
	return rows
}

// columns are those of the CSV files: the names of the JSON fields.
var columns = []string{
	"module", "debug_id", "dumps", "missing_symbols", "other_id", "corrupt_symbols", "frames", "context", "cfi", "cfi_scan", "frame_pointer", "scan",
	"callers", "callers_frame_pointer", "callers_scan", "ends", "lacks_cfi", "example",
}

// fields returns a row's values in the order of columns.
func (r *row) fields() []string {
	fields := []string{r.Module, r.DebugID}
	for _, n := range []int64{
		r.Dumps, r.Missing, r.OtherID, r.Corrupt, r.Frames, r.Context, r.CFI, r.CFIScan, r.FramePointer, r.Scan,
		r.Callers, r.CallersFramePointer, r.CallersScan, r.Ends,
	} {
		fields = append(fields, strconv.FormatInt(n, 10))
	}
	return append(fields, strconv.FormatFloat(r.LacksCFI, 'f', 4, 64), r.Example)
}

func writeCSV(w io.Writer, rows []row) error {
	c := csv.NewWriter(w)
	if err := c.Write(columns); err != nil {
		return err
	}
	for i := range rows {
		if err := c.Write(rows[i].fields()); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// writeLines writes values as JSON, each on a line.
func writeLines[T any](w io.Writer, values []T) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for _, v := range values {
		if err := e.Encode(v); err != nil {
			return err
		}
	}
	return nil
}

// damage is a row of damaged.jsonl.
type damage struct {
	Dump   string   `json:"dump"`
	Status string   `json:"status"` // "failed": it could not be read; "damaged": it was read in part
	Errors []string `json:"errors"`
}

func (r *tables) damages() (all []damage) {
	for _, d := range r.damaged {
		x := damage{Dump: d.Dump, Status: "damaged", Errors: d.Errors}
		if d.Failed {
			x.Status = "failed"
		}
		all = append(all, x)
	}
	return all
}

// summaryFile is written last.
const summaryFile = "summary.json"

// summary is the content of summaryFile. Fields may be added; none changes its meaning.
type summary struct {
	Schema  int   `json:"schema"`
	Dumps   int64 `json:"dumps"`
	OK      int64 `json:"ok"`
	Damaged int64 `json:"damaged"` // read in part
	Failed  int64 `json:"failed"`  // not read
	Threads int64 `json:"threads"`
	Unclean int64 `json:"unclean"` // threads whose walk ended too soon
	Modules int64 `json:"modules"` // rows of modules.csv
	Lacking int64 `json:"lacking"` // rows of lacking-cfi.csv

	Frames       int64 `json:"frames"`
	Context      int64 `json:"context"`
	CFI          int64 `json:"cfi"`
	CFIScan      int64 `json:"cfi_scan"`
	FramePointer int64 `json:"frame_pointer"`
	Scan         int64 `json:"scan"`
}

func (r *tables) summary(lacking []row) summary {
	t := r.totals
	return summary{
		Schema: 1, Dumps: t.Dumps, OK: t.OK, Damaged: t.Damaged, Failed: t.Failed, Threads: t.Threads, Unclean: t.Unclean,
		Modules: int64(len(r.rows)), Lacking: int64(len(lacking)),
		Frames: t.Frames.all(), Context: t.Frames.Context, CFI: t.Frames.CFI, CFIScan: t.Frames.CFIScan, FramePointer: t.Frames.FramePointer, Scan: t.Frames.Scan,
	}
}

// shownRows is the number of modules in the text.
const shownRows = 50

// text writes the report for people.
func (r *tables) text(w io.Writer, lacking []row) error {
	t := r.totals
	fmt.Fprintf(w, "%d dumps: %d whole, %d damaged, %d not read\n", t.Dumps, t.OK, t.Damaged, t.Failed)
	fmt.Fprintf(w, "%d threads, %d of which end too soon\n", t.Threads, t.Unclean)
	fmt.Fprintf(w, "%d frames: %d context, %d cfi, %d cfi_scan, %d frame_pointer, %d scan\n", t.Frames.all(), t.Frames.Context, t.Frames.CFI, t.Frames.CFIScan, t.Frames.FramePointer, t.Frames.Scan)
	fmt.Fprintf(w, "\nModules without call frame information for callers: %d of %d\n\n", len(lacking), len(r.rows))
	if err := writeTable(w, lacking); err != nil {
		return err
	}
	var missing []row
	for _, x := range r.rows {
		if x.Missing > 0 || x.OtherID > 0 {
			missing = append(missing, x)
		}
	}
	slices.SortFunc(missing, func(a, b row) int {
		return cmp.Or(cmp.Compare(b.Missing, a.Missing), cmp.Compare(b.OtherID, a.OtherID), byName(a, b))
	})
	fmt.Fprintf(w, "\nModules without symbols, or with those of another id: %d of %d\n\n", len(missing), len(r.rows))
	return writeTable(w, missing)
}

func writeTable(w io.Writer, rows []row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "lacks\tcallers\tfp\tscan\tends\tdumps\tmissing\tother id\t  module")
	for i := range rows[:min(len(rows), shownRows)] {
		x := &rows[i]
		fmt.Fprintf(t, "%.1f%%\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t  %s\n", 100*x.LacksCFI, x.Callers, x.CallersFramePointer, x.CallersScan, x.Ends, x.Dumps, x.Missing, x.OtherID, title(x))
	}
	if n := len(rows) - shownRows; n > 0 {
		fmt.Fprintf(t, "\t\t\t\t\t\t\t\t  and %d more\n", n)
	}
	return t.Flush()
}

// title returns a module's name for text, with control characters escaped.
func title(r *row) string {
	name := r.Module
	if name == "" {
		name = "(none)"
	}
	name = strings.TrimSpace(name + " " + r.DebugID)
	return strings.Map(func(c rune) rune {
		if c < ' ' || 0x7f <= c && c < 0xa0 {
			return '\ufffd'
		}
		return c
	}, name)
}
