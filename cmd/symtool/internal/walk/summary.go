package walk

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/version"
	"github.com/symtool/symtool/walk/fleet"
)

// onlySingle lists the flags for the output of single dumps, which do not apply to a
// summary.
var onlySingle = []string{"compare", "symbols-b", "brief", "registers", "stack-bytes", "trace", "vars", "vars-redact", "vars-depth", "vars-length", "source", "source-map"}

// The number of rows of each table in a summary as text.
const (
	shownSignatures = 50
	shownModules    = 10
)

// summed is the condition of --summary.
func (w *walkCall) summed(*cli.Context, string) error {
	if w.format == formatMachine || w.format == formatJSONLines {
		return fmt.Errorf("--format %s is for stacks: --summary wants text, json or html", w.format)
	}
	return nil
}

// openSummary starts the summary of --summary.
func (w *walkCall) openSummary() error {
	if !w.summing {
		return nil
	}
	rules, err := signatureRules(w.rules)
	if err == nil {
		w.sum = fleet.NewSummary(rules)
	}
	return err
}

// signatureRules returns the rules in a file, followed by the default rules.
func signatureRules(path string) (*fleet.Rules, error) {
	if path == "" {
		return fleet.DefaultRules(), nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--signature-rules: %w", err)
	}
	defer f.Close()
	own, err := fleet.ParseRules(f, f.Name())
	if err != nil {
		return nil, fmt.Errorf("--signature-rules: %w", err)
	}
	return own.Before(fleet.DefaultRules()), nil
}

// count adds a dump to the summary. The tables replace the messages about stacks and
// symbols that other outputs have.
func (p *walkPrinter) count(w *fleet.Walked) {
	p.sum.Add(w)
	if w.Err == nil {
		p.judge(w)
		p.reportDump(w)
		p.reportThreads(w)
		p.reportDamage(w)
	}
}

// writeSummary writes the summary of all dumps.
func (p *walkPrinter) writeSummary() error {
	tables := p.sum.Tables()
	if p.verify != nil {
		tables.Verify = p.tally.Document()
	}
	switch p.format {
	case formatOneJSON:
		return p.written(cli.PrintJSON(p.out, tables.Document(version.Generator)))
	case formatHTML:
		return p.written(tables.WriteHTML(p.out, fleet.HTMLOptions{Generator: version.Generator, Link: p.link}))
	}
	return p.written(tables.WriteText(p.out, fleet.TextOptions{Crashes: shownSignatures, Modules: shownModules, Verdicts: shownTally}))
}

// link returns the path of a dump for a page in the output's folder.
func (p *walkPrinter) link(dump string) string {
	if filepath.IsAbs(dump) {
		return dump
	}
	dir := "."
	if p.output != "-" {
		dir = filepath.Dir(p.output)
	}
	path, err := filepath.Rel(dir, dump)
	if err != nil { // one of them is absolute
		if path, err = filepath.Abs(dump); err != nil {
			return dump
		}
		return path
	}
	return "./" + filepath.ToSlash(path) // a name with a colon is not a scheme
}
