package upload

import (
	"fmt"
	"io"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/internal/upload"
	"github.com/symtool/symtool/resolve/store"
)

// uploadJSON is what --format json prints; golden/upload/schema.json
// describes it.
type uploadJSON struct {
	URL      string           `json:"url"` // without user, password and query
	Protocol string           `json:"protocol"`
	DryRun   bool             `json:"dry_run"`
	Counts   map[string]int   `json:"counts"` // by outcome, including absent
	Bytes    int64            `json:"bytes"`  // total size of the files that were uploaded
	Files    []uploadFileJSON `json:"files"`
	Absent   []cli.Absence    `json:"absent"` // modules in --list without a file
}

type uploadFileJSON struct {
	Path    string   `json:"path"`
	Name    string   `json:"name,omitempty"`
	ID      string   `json:"id,omitempty"`
	Target  string   `json:"target,omitempty"`
	Outcome string   `json:"outcome"`
	Bytes   int64    `json:"bytes"`
	Tries   int      `json:"tries"`
	Faults  []string `json:"faults,omitempty"`
	Error   string   `json:"error,omitempty"`
}

// document summarizes the results of all files.
func (r *uploadRun) document(results []*upload.Result) *uploadJSON {
	doc := &uploadJSON{
		URL: r.shown, Protocol: string(r.options.Protocol), DryRun: r.options.DryRun,
		Counts: map[string]int{}, Files: []uploadFileJSON{}, Absent: []cli.Absence{},
	}
	for o := upload.Uploaded; o <= upload.Rejected; o++ {
		doc.Counts[o.String()] = 0
	}
	have := map[store.Place]bool{}
	for _, x := range results {
		have[x.Place] = true
		one := uploadFileJSON{
			Path: x.Path, Name: x.Place.Name, ID: x.Place.ID, Target: x.Target, Outcome: x.Outcome.String(),
			Bytes: x.Bytes, Tries: x.Tries, Faults: x.Faults,
		}
		if x.Err != nil {
			one.Error = x.Err.Error()
		}
		if x.Outcome == upload.Uploaded {
			doc.Bytes += x.Bytes
		}
		doc.Counts[one.Outcome]++
		doc.Files = append(doc.Files, one)
	}
	for _, p := range r.wanted {
		if !have[p] {
			doc.Absent = append(doc.Absent, cli.Absence{Name: p.Name, ID: p.ID})
		}
	}
	doc.Counts["absent"] = len(doc.Absent)
	return doc
}

// report prints the results of all files.
func (r *uploadRun) report(results []*upload.Result) error {
	doc := r.document(results)
	if len(doc.Absent) > 0 {
		r.raise(cli.StatusFindings)
	}
	if r.verbose {
		for _, a := range doc.Absent {
			r.msgs.Printf("symtool: %s/%s: in the list, but no FILE has it", a.Name, a.ID)
		}
	}
	if !r.quiet {
		r.msgs.Printf("symtool: %s: %s", r.shown, doc.summary())
	}
	output := r.output
	if output == "" {
		if !r.json && !r.options.DryRun {
			return nil
		}
		output = "-"
	}
	return cli.PrintTo(output, r.stdout, func(w io.Writer) error {
		if r.json {
			text, err := cli.EncodeJSON(doc)
			if err == nil {
				_, err = w.Write(text)
			}
			return err
		}
		for _, f := range doc.Files {
			if _, err := fmt.Fprintf(w, "%s\t%s\t%s\n", f.Outcome, text.Printable(f.Target), text.Printable(f.Path)); err != nil {
				return err
			}
		}
		return nil
	})
}

// summary returns the counts on one line.
func (d *uploadJSON) summary() string {
	parts := []string{}
	if !d.DryRun {
		parts = append(parts, fmt.Sprintf("%s uploaded with %d bytes", text.Count(d.Counts["uploaded"], "file"), d.Bytes))
	}
	for _, c := range []struct{ outcome, words string }{
		{"planned", "to be sent"}, {"present", "already there"}, {"resumed", "done before"}, {"unwanted", "not in the list"},
		{"absent", "in the list but absent"}, {"failed", "failed"}, {"rejected", "not readable"},
	} {
		if n := d.Counts[c.outcome]; n > 0 || c.outcome == "planned" && d.DryRun {
			parts = append(parts, fmt.Sprintf("%d %s", n, c.words))
		}
	}
	return strings.Join(parts, ", ")
}
