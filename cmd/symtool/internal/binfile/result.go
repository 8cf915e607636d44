package binfile

import (
	"fmt"
	"strings"
	"sync"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/symfmt/srcmap"
)

// Result is the result for one file: its part of dump's summary, and what is printed about the
// file.
type Result struct {
	File      string           `json:"file"`
	DebugFile string           `json:"debug_file,omitempty"`
	Output    string           `json:"output,omitempty"`
	Alias     string           `json:"alias,omitempty"`     // with --both-names: the same symbols under FILE's name
	Unchanged bool             `json:"unchanged,omitempty"` // with --restat: the output was not rewritten
	Status    int              `json:"status"`
	Error     string           `json:"error,omitempty"`
	Module    *ModuleSummary   `json:"module,omitempty"`
	Stats     *dwarf2sym.Stats `json:"stats,omitempty"`
	CFICheck  *CFICheck        `json:"cfi_check,omitempty"` // with --check-cfi
	Mapped    []mappedSummary  `json:"mapped,omitempty"`    // source files whose digests are in the names of FILE records
	Notes     []string         `json:"notes,omitempty"`
	Looked    []string         `json:"looked,omitempty"` // where debug information was searched for, without success
	// OtherDebug lists the debug files that were found there but do not belong to the file.
	OtherDebug []string             `json:"other_debug,omitempty"`
	Problems   []cli.ProblemSummary `json:"problems,omitempty"`

	Lines   []string `json:"-"` // Problems as text
	Remarks []string `json:"-"` // notes that --verbose shows
	Tried   []string `json:"-"` // as symfmt.TriedLines formats them
	Others  []string `json:"-"` // as dwarf2sym.Result.Others

	PDB         string        `json:"-"` // the PDB that was read
	Partial     bool          `json:"-"` // the PDB leaves debug information in the object files: pdb.ErrPartial
	Unruled     string        `json:"-"` // why the PDB, without its binary, has no unwind rules
	Program     string        `json:"-"` // of a debug file that is read without its program, if the program was found
	NoProgram   []string      `json:"-"` // where the program was looked for
	lacks       string        // what a debug file without its program lacks, for NoteAlone
	FileName    string        `json:"-"` // as in dwarf2sym.Result
	NameGuessed bool          `json:"-"`
	MappedFiles []srcmap.File `json:"-"`
	Opened      FileList      `json:"-"` // files that were opened, for --MD
}

// mappedSummary is a source file that was read to compute its digest.
type mappedSummary struct {
	Path   string `json:"path"` // in the debug information
	Name   string `json:"name"` // in the FILE record
	File   string `json:"file"` // the file that was read
	SHA512 string `json:"sha512"`
}

func mappedSummaries(files []srcmap.File) (all []mappedSummary) {
	for _, f := range files {
		all = append(all, mappedSummary{f.Path, f.Name, f.File, f.SHA512})
	}
	return all
}

// ModuleSummary is the MODULE record.
type ModuleSummary struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
	ID   string `json:"id"`
	Name string `json:"name"`
}

// StatsLine returns a line that lists what was written, then what was lost.
func StatsLine(s *dwarf2sym.Stats) string {
	line := strings.Join([]string{
		text.Count(s.Funcs, "function"), text.Count(s.Inlines, "inline"), text.Count(s.Lines, "line"), text.Count(s.Files, "file"),
		text.Count(s.Publics, "public symbol"), text.Count(s.CFIBlocks, "CFI block"), text.Count(s.CFIRows, "CFI row"),
	}, ", ")
	if s.StackWins > 0 { // rules of x86, which are not in STACK CFI
		line += ", " + text.Count(s.StackWins, "STACK WIN record")
	}
	if s.CFIDerived > 0 {
		line += fmt.Sprintf(" (%d of %d bytes with rules have them from instructions)", s.CFIDerived, s.CFIBytes)
	}
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
			line += "; left out: " + text.Count(lost.n, lost.what)
		}
	}
	if s.CFILimit > 0 {
		line += fmt.Sprintf("; left out: rules from instructions, as more than %d MB of code have none", s.CFILimit>>20)
	}
	return line
}

// FileList is a list of files. Several goroutines may add to it.
type FileList struct {
	mu    sync.Mutex
	Names []string
}

// Add adds a file.
func (l *FileList) Add(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Names = append(l.Names, name)
}

// limits returns the limits for every file read for r. Opening a file with them records it in
// r.Opened.
func (r *Result) limits() object.Limits {
	l := object.DefaultLimits()
	l.Opened = r.Opened.Add
	return l
}

// Report prints the problems and notes of a file for commands other than dump.
func (r *Result) Report(msgs *cli.Messages, verbose bool) {
	cli.ReportLines(msgs, r.Lines, verbose)
	for _, note := range r.Notes {
		msgs.Warnf("symtool: %s", note)
	}
}
