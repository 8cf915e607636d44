package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/page"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/walk"
)

//go:embed page.tmpl
var pageText string

// HTMLOptions describe the contents of a page.
type HTMLOptions struct {
	Dump      string // name of the dump
	Generator string // the program and its version
	Verdict   *HTMLVerdict
	Sources   *Sources   // for all frames; nil for none
	Variables *Variables // for all frames; nil for none
}

// HTMLVerdict is the verdict on the symbols that a page shows.
type HTMLVerdict struct {
	Holds      bool
	Conclusion string
	Findings   []string // errors
}

// WriteHTML writes a walk as one page, which needs no other file and no network: the crash, threads
// with their frames, and modules with their symbols.
func WriteHTML(w io.Writer, r *walk.Result, o HTMLOptions) error {
	v := newView(r)
	doc := NewDocument(r, DocumentOptions{Dump: o.Dump})
	p := htmlPage{Crash: crashRows(doc), Verdict: o.Verdict, Problems: doc.Symtool.Problems, Generator: o.Generator}
	p.Modules, p.Others = htmlModules(doc, r)
	p.Data = newPageMaker(v, o).pieces
	var brief briefText
	_ = WriteText(&brief, r, TextOptions{Brief: true}) // the only error is that the text is full
	p.Brief = string(brief)
	head := page.Head{Heading: "symtool walk", Title: text.Printable(o.Dump), Generator: o.Generator}
	return page.New(pageText, template.FuncMap{"printable": text.Printable}, "walk.js").Write(w, head, &p)
}

// htmlPage is the data of the template.
type htmlPage struct {
	Generator string
	Crash     []htmlRow
	Verdict   *HTMLVerdict
	Problems  []string
	Modules   []htmlModule                 // on stacks, those without symbols first
	Others    []htmlModule                 // on no stack
	Data      func(func(template.JS) bool) // the pieces of the data
	Brief     string                       // the thread that crashed, for browsers without scripts
}

// htmlRow is a line of a table with two columns.
type htmlRow struct{ Name, Value string }

// crashRows describes why the process ended, and what the instruction would have done.
func crashRows(doc *Document) (rows []htmlRow) {
	add := func(name, value string) {
		if value != "" {
			rows = append(rows, htmlRow{name, value})
		}
	}
	c := &doc.CrashInfo
	add("dump", doc.Symtool.Dump)
	add("reason", orEmpty(c.Type))
	add("address", orEmpty(c.Address))
	if a := c.AdjustedAddress; a != nil {
		add("which is", adjustedText(a))
	}
	if x := doc.Symtool.Crash; x != nil {
		add("cause", x.Explanation)
	}
	add("assertion", orEmpty(c.Assertion))
	add("instruction", orEmpty(c.Instruction))
	for i := range c.MemoryAccesses {
		add("which would", accessText(&c.MemoryAccesses[i]))
	}
	if t := c.InstructionPointerUpdate; t != nil {
		add("which would go to", t.Address)
	}
	for i := range c.PossibleBitFlips {
		f := &c.PossibleBitFlips[i]
		add("possible bit flip", fmt.Sprintf("%s, confidence %.2f %s", f.Address, f.Confidence, orEmpty(f.SourceRegister)))
	}
	for _, text := range c.CrashInconsistencies {
		add("contradiction", text)
	}
	add("system", strings.TrimSpace(orEmpty(doc.SystemInfo.OS)+" "+orEmpty(doc.SystemInfo.OSVer)+" "+orEmpty(doc.SystemInfo.CPUArch)))
	return rows
}

// adjustedText describes an address.
func adjustedText(a *docAdjusted) string {
	if a.Offset != "" {
		return "a null pointer + " + a.Offset
	}
	return a.Kind + ": " + a.Address + " was accessed"
}

func accessText(a *docAccess) string {
	s := cmp.Or(orEmpty(a.AccessType), "access")
	if a.Size != nil {
		s += " " + text.Count(*a.Size, "byte")
	}
	s += " at " + a.Address
	if a.IsLikelyGuardPage {
		s += ", likely a guard page"
	}
	return s
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// htmlModule is a module on a page.
type htmlModule struct {
	Name, ID, Range string
	State, Tone     string // which symbols there are, and the CSS class for that
	Symbols         string // where they are from
	Tried           []string
	rank            int
}

// htmlModules returns the modules by address: those on stacks, with those without symbols first, and those on no
// stack.
func htmlModules(doc *Document, r *walk.Result) (all, others []htmlModule) {
	on := r.OnStacks()
	for i := range doc.Modules {
		m := &doc.Modules[i]
		x := htmlModule{
			Name: cmp.Or(orEmpty(m.Filename), "(no name)"), ID: orEmpty(m.DebugID), Range: m.BaseAddr + "-" + m.EndAddr,
			Symbols: orEmpty(m.Symtool.File), Tried: m.Symtool.Tried,
		}
		if e := orEmpty(m.Symtool.Error); e != "" {
			x.Tried = append(x.Tried, e)
		}
		switch {
		case !on[i]:
			x.State = "not on a stack"
			others = append(others, x)
			continue
		case m.CorruptSymbols:
			x.State, x.Tone = "symbols cannot be used", "error"
		case !m.LoadedSymbols:
			x.State, x.Tone = "no symbols", "error"
		case m.Symtool.Binary:
			x.State, x.Tone, x.rank = "binary", "good", 2
		default:
			x.State, x.Tone, x.rank = "symbol file", "good", 2
		}
		all = append(all, x)
	}
	slices.SortStableFunc(all, func(a, b htmlModule) int { return cmp.Compare(a.rank, b.rank) })
	return all, others
}

// briefText keeps the first bytes that are written to it, and refuses more.
type briefText []byte

// maxBrief is the maximum size of a briefText in bytes, for browsers without scripts.
const maxBrief = 64 << 10

// Write implements io.Writer.
func (b *briefText) Write(p []byte) (int, error) {
	n := min(len(p), maxBrief-len(*b))
	*b = append(*b, p[:n]...)
	if n < len(p) {
		return n, io.ErrShortWrite
	}
	return n, nil
}
