package main

import (
	"strings"
	"sync"

	"github.com/symtool/symtool/symfmt/srcmap"

	"github.com/symtool/symtool/dwarf2sym"
	elfobj "github.com/symtool/symtool/internal/object/elf"
)

// binaryResult is the result for one file: a part of the summary of dump, and what is printed of it.
type binaryResult struct {
	File      string           `json:"file"`
	DebugFile string           `json:"debug_file,omitempty"`
	Output    string           `json:"output,omitempty"`
	Alias     string           `json:"alias,omitempty"`     // with --both-names: the same symbols under FILE's name
	Unchanged bool             `json:"unchanged,omitempty"` // with --restat: the output was left alone
	Status    int              `json:"status"`
	Error     string           `json:"error,omitempty"`
	Module    *moduleSummary   `json:"module,omitempty"`
	Stats     *dwarf2sym.Stats `json:"stats,omitempty"`
	CFICheck  *cfiCheck        `json:"cfi_check,omitempty"` // with --check-cfi
	Mapped    []mappedSummary  `json:"mapped,omitempty"`    // files whose digests are in names
	Notes     []string         `json:"notes,omitempty"`
	Looked    []string         `json:"looked,omitempty"` // for debug information, without success
	Problems  []problemSummary `json:"problems,omitempty"`

	lines   []string `json:"-"` // Problems as text
	remarks []string `json:"-"` // notes that --verbose shows
	tried   []string `json:"-"` // as elfobj.FindDebug lists them
	others  []string `json:"-"` // as dwarf2sym.Report.Others

	fileName    string        `json:"-"` // as in dwarf2sym.Report
	nameGuessed bool          `json:"-"`
	mapped      []srcmap.File `json:"-"`
	read        fileList      `json:"-"` // what was opened, for --MD
}

// mappedSummary is a source file that was read for its digest.
type mappedSummary struct {
	Path   string `json:"path"` // as in the debug information
	Name   string `json:"name"` // of the FILE record
	File   string `json:"file"` // that was read
	SHA512 string `json:"sha512"`
}

func mappedSummaries(files []srcmap.File) (all []mappedSummary) {
	for _, f := range files {
		all = append(all, mappedSummary{f.Path, f.Name, f.File, f.SHA512})
	}
	return all
}

type moduleSummary struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
	ID   string `json:"id"`
	Name string `json:"name"`
}

// statsLine lists what was written, then what was lost.
func statsLine(s *dwarf2sym.Stats) string {
	line := strings.Join([]string{
		count(s.Funcs, "function"), count(s.Inlines, "inline"), count(s.Lines, "line"), count(s.Files, "file"),
		count(s.Publics, "public symbol"), count(s.CFIBlocks, "CFI block"), count(s.CFIRows, "CFI row"),
	}, ", ")
	for _, lost := range []struct {
		n    int
		what string
	}{
		{s.DeadFuncs, "dead function"},
		{s.CFIDead, "dead FDE"},
		{s.CFILostRules, "inexpressible CFI rule"},
		{s.CFILostRegs, "unnamed CFI register"},
	} {
		if lost.n > 0 {
			line += "; left out: " + count(lost.n, lost.what)
		}
	}
	return line
}

// fileList is a list of files that several goroutines add to.
type fileList struct {
	mu    sync.Mutex
	names []string
}

func (l *fileList) add(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.names = append(l.names, name)
}

// limits applies to every file that is read for r, and notes the file.
func (r *binaryResult) limits() elfobj.Limits {
	l := elfobj.DefaultLimits()
	l.Opened = r.read.add
	return l
}

// report prints the problems and notes of a file that is read for a command other than dump.
func (r *binaryResult) report(msgs *messages, verbose bool) {
	reportLines(msgs, r.lines, verbose)
	for _, note := range r.Notes {
		msgs.warnf("symtool: %s", note)
	}
}
