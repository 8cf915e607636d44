package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"slices"
	"strconv"

	"github.com/symtool/symtool/walk/fleet"
)

// tables holds everything that the output files are made from.
type tables struct {
	fleet.Tables
	damaged []Damage
}

// write writes the tables into a folder, each in its own order.
func (r *tables) write(ctx context.Context, dir string) error {
	r.Sort()
	slices.SortFunc(r.damaged, func(a, b Damage) int { return cmp.Compare(a.At, b.At) })
	rows := slices.SortedFunc(slices.Values(r.Modules), fleet.ByName)
	lacking := fleet.Lacking(rows)
	for _, file := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"modules.csv", func(w io.Writer) error { return writeCSV(w, rows) }},
		{"modules.jsonl", func(w io.Writer) error { return writeLines(w, rows) }},
		{"lacking-cfi.csv", func(w io.Writer) error { return writeCSV(w, lacking) }},
		{"lacking-cfi.jsonl", func(w io.Writer) error { return writeLines(w, lacking) }},
		{"signatures.jsonl", func(w io.Writer) error { return writeLines(w, r.Crashes) }},
		{"damaged.jsonl", func(w io.Writer) error { return writeLines(w, r.damages()) }},
		{"report.txt", func(w io.Writer) error {
			return r.WriteText(w, fleet.TextOptions{Crashes: shownRows, Modules: shownRows})
		}},
		{summaryFile, func(w io.Writer) error { return writeLines(w, []totals{r.sums(lacking)}) }},
	} {
		if err := writeWhole(ctx, join(dir, file.name), file.write); err != nil {
			return err
		}
	}
	return nil
}

// shownRows is the maximum number of rows of each table in the text.
const shownRows = 50

// columns are the columns of the CSV files: the names of the JSON fields.
var columns = []string{
	"module", "debug_id", "dumps", "missing_symbols", "other_id", "corrupt_symbols", "frames", "context", "cfi", "code", "cfi_scan", "frame_pointer", "scan",
	"callers", "callers_frame_pointer", "callers_scan", "ends", "lacks_cfi", "example",
}

// fields returns a row's values in the order of columns.
func fields(r *fleet.ModuleRow) []string {
	fields := []string{r.Module, r.DebugID}
	for _, n := range []int64{
		r.Dumps, r.Missing, r.OtherID, r.Corrupt, r.Frames, r.Context, r.CFI, r.Code, r.CFIScan, r.FramePointer, r.Scan,
		r.Callers, r.CallersFramePointer, r.CallersScan, r.Ends,
	} {
		fields = append(fields, strconv.FormatInt(n, 10))
	}
	return append(fields, strconv.FormatFloat(r.LacksCFI, 'f', 4, 64), r.Example)
}

func writeCSV(w io.Writer, rows []fleet.ModuleRow) error {
	c := csv.NewWriter(w)
	if err := c.Write(columns); err != nil {
		return err
	}
	for i := range rows {
		if err := c.Write(fields(&rows[i])); err != nil {
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

// totals is the content of summaryFile. Fields may be added, but none may change its
// meaning.
type totals struct {
	Schema int `json:"schema"`
	fleet.Numbers
	Modules    int64 `json:"modules"`    // rows of modules.csv
	Lacking    int64 `json:"lacking"`    // rows of lacking-cfi.csv
	Signatures int64 `json:"signatures"` // rows of signatures.jsonl
	fleet.FrameNumbers
	Holds   bool   `json:"holds"`
	Verdict string `json:"verdict"`
}

func (r *tables) sums(lacking []fleet.ModuleRow) totals {
	return totals{
		Schema: 1, Numbers: r.Totals.Numbers(), Modules: int64(len(r.Modules)), Lacking: int64(len(lacking)), Signatures: int64(len(r.Crashes)),
		FrameNumbers: r.Totals.FrameNumbers(), Holds: r.Holds(), Verdict: r.Verdict(),
	}
}
