package main

import (
	"strings"
)

// summarySchema is the version of the summary. Fields may be added; a renamed field or another unit
// needs a new number.
const summarySchema = 1

// dumpSummary is the document that dump --format json prints. docs/json.md
// documents its fields.
type dumpSummary struct {
	Schema    int             `json:"schema"`
	Generator string          `json:"generator"`
	Status    int             `json:"status"`
	Files     []*binaryResult `json:"files"`
}

// report prints what there is to say about one file.
func (d *dumper) report(r *dumpResult) {
	if d.json && d.toStdout() {
		return // standard error holds the document alone
	}
	if !d.quiet {
		reportLines(d.msgs, r.lines, d.verbose)
		for _, note := range r.Notes {
			d.msgs.printf("symtool: %s", note)
		}
		if d.verbose {
			d.reportLooked(r)
			for _, remark := range r.remarks {
				d.msgs.printf("symtool: %s", remark)
			}
		}
	}
	if r.Error != "" {
		d.msgs.printf("symtool: %s", r.Error)
		if d.verbose && r.stack != nil {
			for line := range strings.Lines(string(r.stack)) {
				d.msgs.printf("%s", strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "    "))
			}
		}
		return
	}
	if d.verbose && !d.json {
		d.reportWritten(r)
	}
}

func (d *dumper) reportLooked(r *dumpResult) {
	for _, place := range r.Looked {
		d.msgs.printf("symtool: looked for debug information at %s", place)
	}
}

func (d *dumper) reportWritten(r *dumpResult) {
	if r.DebugFile != "" {
		d.msgs.printf("symtool: %s: debug information from %s", r.File, r.DebugFile)
	}
	for _, file := range r.others {
		d.msgs.printf("symtool: %s: debug information from %s", r.File, file)
	}
	d.msgs.printf("symtool: %s: %s", r.File, statsLine(r.Stats))
	switch {
	case r.Unchanged:
		d.msgs.printf("symtool: %s is unchanged", r.Output)
	case r.Output != "-":
		d.msgs.printf("symtool: wrote %s", r.Output)
	}
	if r.Alias != "" && !r.Unchanged {
		d.msgs.printf("symtool: wrote %s", r.Alias)
	}
}

// printJSON prints the summary to the stream that the symbol file does not use.
func (d *dumper) printJSON(status int) error {
	doc := dumpSummary{Schema: summarySchema, Generator: generator, Status: status}
	for _, r := range d.results {
		r.Notes = append(r.Notes, r.remarks...)
		doc.Files = append(doc.Files, &r.binaryResult)
	}
	text, err := encodeJSON(doc)
	if err != nil {
		return err
	}
	if d.toStdout() {
		_, _ = d.msgs.Write(text)
		return nil
	}
	if err := writeText(d.stdout, string(text)); err != nil {
		return err
	}
	return nil
}
