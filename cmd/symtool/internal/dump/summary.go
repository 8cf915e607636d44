package dump

import (
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/binfile"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/version"
)

// summarySchema is the version of the summary. Fields may be added; renaming a field or changing
// its unit requires a new version.
const summarySchema = 1

// dumpSummary is the document that dump --format json prints. Its fields are documented in
// docs/json.md.
type dumpSummary struct {
	Schema    int               `json:"schema"`
	Generator string            `json:"generator"`
	Status    int               `json:"status"`
	Files     []*binfile.Result `json:"files"`
}

// report prints the problems and notes of one file.
func (d *dumper) report(r *dumpResult) {
	if d.json && d.toStdout() {
		return // standard error must contain only the document
	}
	if !d.quiet {
		lines := make([]string, len(r.Lines))
		for i, line := range r.Lines {
			lines[i] = d.named(r, line)
		}
		cli.ReportLines(d.msgs, lines, d.verbose)
		for _, note := range r.Notes {
			d.msgs.Printf("symtool: %s", d.named(r, note))
		}
		if d.verbose {
			d.reportLooked(r)
			for _, remark := range r.Remarks {
				d.msgs.Printf("symtool: %s", d.named(r, remark))
			}
		}
	}
	if r.Error != "" {
		d.msgs.Printf("symtool: %s", d.named(r, r.Error))
		if d.verbose && r.stack != nil {
			for line := range strings.Lines(string(r.stack)) {
				d.msgs.Printf("%s", strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "    "))
			}
		}
		return
	}
	if d.verbose && !d.json && r.Output != "" {
		d.reportWritten(r)
	}
}

// named adds the CPU to a message about one of the binaries in a universal file.
func (d *dumper) named(r *dumpResult, message string) string {
	if rest, ok := strings.CutPrefix(message, r.File+": "); ok {
		return d.title(r) + ": " + rest
	}
	return message
}

// title names the file, and the CPU if necessary, for messages.
func (d *dumper) title(r *dumpResult) string {
	if r.cpu == "" || r.cpu == d.CPU {
		return r.File
	}
	return r.File + " (" + r.cpu + ")"
}

func (d *dumper) reportLooked(r *dumpResult) {
	for _, place := range r.Looked {
		d.msgs.Printf("symtool: looked for debug information at %s", place)
	}
}

func (d *dumper) reportWritten(r *dumpResult) {
	if r.DebugFile != "" {
		d.msgs.Printf("symtool: %s: debug information from %s", d.title(r), r.DebugFile)
	}
	for _, file := range r.Others {
		d.msgs.Printf("symtool: %s: debug information from %s", d.title(r), file)
	}
	d.msgs.Printf("symtool: %s: %s", d.title(r), binfile.StatsLine(r.Stats))
	switch {
	case r.Unchanged:
		d.msgs.Printf("symtool: %s is unchanged", r.Output)
	case r.Output != "-":
		d.msgs.Printf("symtool: wrote %s", r.Output)
	}
	if r.Alias != "" && !r.Unchanged {
		d.msgs.Printf("symtool: wrote %s", r.Alias)
	}
}

// printJSON prints the summary to the stream that the symbol file does not use.
func (d *dumper) printJSON(status int) error {
	doc := dumpSummary{Schema: summarySchema, Generator: version.Generator, Status: status}
	for _, r := range d.results {
		r.Notes = append(r.Notes, r.Remarks...)
		doc.Files = append(doc.Files, &r.Result)
	}
	text, err := cli.EncodeJSON(doc)
	if err != nil {
		return err
	}
	if d.toStdout() {
		_, _ = d.msgs.Write(text)
		return nil
	}
	if err := cli.WriteText(d.stdout, string(text)); err != nil {
		return err
	}
	return nil
}
