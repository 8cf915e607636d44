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
	shown := fleet.TextOptions{Crashes: shownSignatures, Modules: shownModules, Verdicts: shownTally}
	switch p.format {
	case formatOneJSON:
		return p.written(cli.PrintJSON(p.out, tables.Document(version.Generator)))
	case formatHTML:
		return p.written(tables.WriteHTML(p.out, fleet.HTMLOptions{Generator: version.Generator, Root: p.root(), Text: shown}))
	}
	return p.written(tables.WriteText(p.out, shown))
}

// root returns the path from the output's folder to the working directory, for links on a page.
func (p *walkPrinter) root() string {
	if p.output == "-" {
		return "."
	}
	dir, err := filepath.Abs(filepath.Dir(p.output))
	if err != nil {
		return "."
	}
	here, err := filepath.Abs(".")
	if err != nil {
		return "."
	}
	path, err := filepath.Rel(dir, here)
	if err != nil { // they are on different drives
		return here
	}
	return path
}
