package walk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/internal/version"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/compare"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/fleet"
	"github.com/symtool/symtool/walk/report"
	"github.com/symtool/symtool/walk/verify"
)

// walkFormat is a value of --format.
type walkFormat uint8

// The values of --format.
const (
	formatWalkText walkFormat = iota
	formatMachine
	formatOneJSON
	formatJSONLines
	formatHTML
)

var walkFormats = []cli.Word[walkFormat]{
	{Text: "text", Means: formatWalkText}, {Text: "machine", Means: formatMachine}, {Text: "json", Means: formatOneJSON},
	{Text: "jsonl", Means: formatJSONLines}, {Text: "html", Means: formatHTML},
}

func (f walkFormat) String() string { return walkFormats[f].Text }

// walkPrinter prints the results of a call of walk. A failure of the output ends the call.
type walkPrinter struct {
	*walkCall
	out      cli.Output
	done     int // dumps that were walked
	printed  int
	summary  *compare.Summary
	all      []*compare.Comparison // for one JSON document
	tally    verify.Tally
	reported map[string]bool // messages that must not be repeated
}

// print prints a dump that was walked.
func (p *walkPrinter) print(w *fleet.Walked) error {
	defer p.progress.Finish(p.done)
	p.done++
	if w.Err != nil {
		p.msgs.Printf("symtool: %s", unread(w))
		p.note(cli.StatusInput)
		p.failed = true
	}
	if p.sum != nil {
		p.count(w)
		return nil
	}
	if w.Err != nil {
		if p.format == formatJSONLines && !p.comparing() {
			return p.written(report.WriteFailure(p.out, w.Path, w.Err))
		}
		return nil
	}
	p.reportProblems(w)
	defer p.reportDamage(w) // printing asks for variables
	p.judge(w)
	if w.Compared != nil {
		return p.comparison(w.Compared)
	}
	p.title(w)
	if w.Rendered != nil {
		_, err := p.out.Write(w.Rendered)
		return p.written(err)
	}
	return p.written(p.render(p.out, w))
}

// judge counts the verdict of a dump.
func (p *walkPrinter) judge(w *fleet.Walked) {
	if w.Verdict == nil {
		return
	}
	p.tally.Add(w.Path, w.Verdict)
	if !w.Verdict.Holds {
		p.note(cli.StatusFindings)
	}
}

// written returns the error for a failed write, with the output's name. A closed pipe on standard output also ends
// the walks, but is not an error.
func (p *walkPrinter) written(err error) error {
	if errors.Is(err, cli.ErrReaderGone) {
		return err
	}
	return cli.OutputError(p.out.Name(), err)
}

// title prints the name of a dump before its text if there are several dumps.
func (p *walkPrinter) title(w *fleet.Walked) {
	if p.format == formatWalkText && len(p.files) > 1 {
		if p.printed > 0 {
			fmt.Fprintln(p.out)
		}
		fmt.Fprintf(p.out, "%s\n", text.Printable(w.Path))
	}
	p.printed++
}

// render writes the stacks of a dump. It may be called for several dumps at
// once.
func (w *walkCall) render(out io.Writer, walked *fleet.Walked) error {
	switch w.format {
	case formatWalkText:
		return w.textOf(out, walked)
	case formatMachine:
		return report.WriteMachine(out, walked.Result)
	case formatHTML:
		return w.page(out, walked)
	}
	o := report.DocumentOptions{Dump: walked.Path, Version: version.Version, Registers: w.registers, Sources: w.sources(walked.Result), Variables: w.variables(walked.Result)}
	if walked.Verdict != nil {
		o.Verdict = walked.Verdict
	}
	return report.NewDocument(walked.Result, o).Write(out, report.WriteOptions{Indent: w.format == formatOneJSON})
}

// page writes a dump as an HTML page.
func (w *walkCall) page(out io.Writer, walked *fleet.Walked) error {
	o := report.HTMLOptions{Dump: walked.Path, Generator: version.Generator, Sources: w.sources(walked.Result), Variables: w.variables(walked.Result)}
	if v := walked.Verdict; v != nil {
		o.Verdict = &report.HTMLVerdict{Holds: v.Holds, Conclusion: v.Conclusion, Findings: v.Errors()}
	}
	return report.WriteHTML(out, walked.Result, o)
}

func (w *walkCall) comparing() bool { return w.compare || len(w.places.SymbolsB) > 0 }

// textOf writes a dump as text for people.
func (w *walkCall) textOf(out io.Writer, walked *fleet.Walked) error {
	o := w.text
	o.Sources, o.Variables = w.sources(walked.Result), w.variables(walked.Result)
	if err := report.WriteText(out, walked.Result, o); err != nil {
		return err
	}
	if w.trace {
		trace(out, walked)
	}
	if walked.Verdict != nil {
		fmt.Fprintln(out)
		return verify.Write(out, walked.Verdict)
	}
	return nil
}

// trace writes the steps of the walks.
func trace(out io.Writer, w *fleet.Walked) {
	for i := range w.Stacks {
		s := &w.Stacks[i]
		fmt.Fprintf(out, "\nSteps of %s\n", nameOfStack(w, s))
		for _, line := range s.Trace {
			fmt.Fprintf(out, "  %s\n", text.Printable(line))
		}
	}
}

// reportProblems reports the problems of a dump, its threads and its symbols.
func (p *walkPrinter) reportProblems(w *fleet.Walked) {
	p.reportDump(w)
	p.reportNotes(w)
	p.reportCut(w)
	p.reportFinished(w)
	p.reportThreads(w)
	p.reportSymbols(w)
	if p.logsSteps() {
		trace(p.msgs, w)
	}
}

// reportNotes reports what is wrong with the stacks, beginning with the stack of the thread that requested the dump:
// a dump that was cut short may have no stacks at all.
func (p *walkPrinter) reportNotes(w *fleet.Walked) {
	lines := cli.ProblemLines{Msgs: p.msgs, All: p.places.Verbose, Hint: cli.VerboseHint}
	first := w.Dump.RequestingThread()
	for _, requested := range []bool{true, false} {
		for i := range w.Stacks {
			s := &w.Stacks[i]
			if (s.Thread == first) != requested {
				continue
			}
			for _, text := range s.Notes {
				lines.Add(fmt.Sprintf("%s: %s: %s", w.Path, nameOfStack(w, s), text))
			}
		}
	}
	lines.End()
}

// reportDump reports what is wrong with a dump itself. A problem of a binary is reported once for all dumps.
func (p *walkPrinter) reportDump(w *fleet.Walked) {
	lines := cli.ProblemLines{Msgs: p.msgs, All: p.places.Verbose, Hint: cli.VerboseHint}
	for _, x := range w.Dump.Problems {
		p.note(cli.StatusInput)
		if line := cli.ProblemLine(w.Path, x); p.isNews(line) {
			lines.Add(line)
		}
	}
	lines.End()
}

// maxReported is the number of messages that are remembered so that they are reported only once.
const maxReported = 100_000

// isNews reports whether a message has not been reported yet. It remembers the first maxReported messages.
func (p *walkPrinter) isNews(line string) bool {
	if p.reported[line] {
		return false
	}
	if p.reported == nil {
		p.reported = map[string]bool{}
	}
	if len(p.reported) < maxReported {
		p.reported[line] = true
	}
	return true
}

// reportCut reports how many stacks were cut by the dump's budget.
func (p *walkPrinter) reportCut(w *fleet.Walked) {
	cut, why := 0, ""
	for i := range w.Stacks {
		if w.Stacks[i].End == walk.EndBudget {
			cut, why = cut+1, w.Stacks[i].Why
		}
	}
	if cut > 0 {
		p.note(cli.StatusInput)
		p.msgs.Printf("symtool: %s: %d of %d stacks are cut: %s", w.Path, cut, len(w.Stacks), why)
	}
}

// reportFinished reports how many coroutines have finished.
func (p *walkPrinter) reportFinished(w *fleet.Walked) {
	if n := w.FinishedCoroutines; n > 0 {
		p.msgs.Warnf("symtool: %s: %s finished and not destroyed", w.Path, text.Count(n, "coroutine"))
	}
}

// reportSymbols reports which modules on stacks have no symbols, and symbols that could not be
// used, each once for all dumps.
func (p *walkPrinter) reportSymbols(w *fleet.Walked) {
	var missing []string
	onStacks := w.OnStacks()
	for i := range w.Modules {
		m := &w.Modules[i]
		if m.Asked && m.Err != nil {
			p.note(cli.StatusInput)
			if p.isNews(m.Err.Error()) {
				p.msgs.Printf("symtool: %s: %v", w.Path, m.Err)
			}
		}
		if !onStacks[i] {
			continue
		}
		name := nameOfModule(w.Dump, i)
		otherDebug := resolve.OtherDebugFiles(context.Background(), m.Resolver, m.Tried)
		if (m.Resolver == nil || len(m.OtherBinaries)+len(otherDebug) > 0 || w.Dump.Modules[i].ByPath != "") && !p.isNews("no symbols of "+name) {
			continue
		}
		byPath := w.Dump.Modules[i].ByPath
		if m.Resolver != nil {
			if byPath != "" {
				p.msgs.Warnf("symtool: %s: symbols of %s from %s", w.Path, name, byPath)
			} else if p.places.Verbose {
				p.msgs.Warnf("symtool: %s: symbols of %s from %s", w.Path, name, placeOf(m))
			}
			if len(m.OtherBinaries) > 0 {
				p.msgs.Warnf("symtool: %s: no binary of %s: %s", w.Path, name, m.OtherBinaries[0])
			}
			for _, other := range otherDebug {
				p.msgs.Warnf("symtool: %s: %s is not the debug file of %s: %s", w.Path, other.Place, name, other.Why)
			}
			continue
		}
		if p.places.Verbose && len(m.Tried) > 0 {
			for _, tried := range m.Tried {
				p.msgs.Warnf("symtool: %s: no symbols of %s: %s", w.Path, name, tried)
			}
			continue
		}
		if others := resolve.OtherModules(m.Tried); len(others) > 0 && m.Err == nil {
			p.msgs.Warnf("symtool: %s: no symbols of %s: %s", w.Path, name, others[0])
			continue
		}
		if w.Dump.Modules[i].DebugID == "" {
			if byPath != "" {
				byPath = ", and the file at its path is not known to be its own (" + byPath + ")"
			}
			p.msgs.Warnf("symtool: %s: no symbols of %s: the dump does not hold its id%s; use --symbols with its symbol file or --binaries with its binary", w.Path, name, byPath)
			continue
		}
		missing = append(missing, name)
	}
	if len(missing) == 0 {
		return
	}
	hint := verboseWhere
	if p.places.Verbose {
		hint = ""
	}
	const shown = 5
	more := ""
	if n := len(missing) - shown; n > 0 {
		missing, more = missing[:shown], fmt.Sprintf(" and %d more", n)
	}
	p.msgs.Warnf("symtool: %s: no symbols of %s%s%s", w.Path, strings.Join(missing, ", "), more, hint)
}

// placeOf names the file that a module's symbols were read from.
func placeOf(m *walk.Symbols) string {
	id := m.Resolver.Identity()
	switch {
	case m.InDump:
		return "the dump itself"
	case id.DebugPath != "":
		return id.Path + " and " + id.DebugPath
	}
	return id.Path
}

// nameOfModule returns the name of a module of a dump for messages.
func nameOfModule(d *dump.Dump, i int) string {
	m := &d.Modules[i]
	name := d.System.OS.Base(m.Path)
	if name == "" {
		name = fmt.Sprintf("the module at %#x", m.Addr)
	}
	return strings.TrimSpace(name + " " + m.DebugID)
}

// reportDamage reports which parts of symbols could not be read while a dump was walked and printed.
func (p *walkPrinter) reportDamage(w *fleet.Walked) {
	for i := range w.Modules {
		m := &w.Modules[i]
		if m.Asked && m.Resolver != nil {
			p.reportOnce(m.Resolver.Damage())
			if doubt := resolve.DoubtOf(m.Resolver); doubt != "" && p.isNews(doubt) {
				p.msgs.Warnf("symtool: %s", doubt)
			}
		}
		p.reportOnce(m.VarsProblems)
		for _, text := range m.Damage {
			p.note(cli.StatusInput)
			p.msgs.Warnf("symtool: %s: %s", w.Path, text)
		}
	}
}

// reportOnce reports problems of symbols, once for all dumps.
func (p *walkPrinter) reportOnce(problems []symfmt.Problem) {
	lines := cli.ProblemLines{Msgs: p.msgs, All: p.places.Verbose, Hint: cli.VerboseHint}
	for _, x := range problems {
		p.note(cli.StatusInput)
		if line := x.String(); p.isNews(line) {
			lines.Add(line)
		}
	}
	lines.End()
}

const verboseWhere = "; --verbose lists where they were looked for"

// json writes a value as JSON on one line.
func (p *walkPrinter) json(v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // v has only our own types
	}
	_, err := p.out.Write(text.EscapeJSON(b.Bytes()))
	return p.written(err)
}

// shownTally is the number of rows of the table of verdicts.
const shownTally = 20

// writeTally prints the verdict on all dumps. JSON Lines have one line for each dump, and no tally.
func (p *walkPrinter) writeTally() error {
	all := p.tally.Document()
	if p.format != formatWalkText {
		if p.resumed == 0 { // otherwise the conclusion would cover only some of the lines
			p.msgs.Warnf("symtool: %s", all.Conclusion)
		}
		return nil
	}
	fmt.Fprintln(p.out)
	return p.written(verify.WriteTally(p.out, all, shownTally))
}

// end prints the summary of all dumps.
func (p *walkPrinter) end() error {
	if p.finder != nil && p.finder.Unnamed() {
		p.msgs.Warnf("symtool: source files without a checksum in the symbols are read only below folders that --source-map OLD=NEW names")
	}
	if p.sum != nil {
		return p.writeSummary()
	}
	if p.verify != nil && len(p.files)+p.resumed > 1 {
		return p.writeTally()
	}
	if !p.comparing() {
		return nil
	}
	if !p.summary.Clean() {
		p.note(cli.StatusFindings)
	}
	switch p.format {
	case formatOneJSON:
		return p.written(cli.PrintJSON(p.out, comparedDocument{p.all, p.summary}))
	case formatJSONLines:
		return p.json(comparedDocument{Summary: p.summary})
	}
	return p.written(compare.WriteSummary(p.out, p.summary))
}

// startProgress shows on a terminal how many dumps are done, unless the stacks also go there.
func (w *walkCall) startProgress() (stop func()) {
	if !cli.IsTerminal(w.msgs.W) || w.sum == nil && w.output == "-" && cli.IsTerminal(w.stdout) {
		return func() {}
	}
	w.progress, stop = cli.StartCount(w.msgs.W, w.msgs, len(w.files), "dumps", cli.ProgressDelay)
	return stop
}
