// Package binfile reads binaries with their debug files, and words the messages about them.
package binfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/debuginfod"
	"github.com/symtool/symtool/internal/debugset"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/resolve/remote"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/pdb"
)

// Reader reads binaries with their debug files.
type Reader struct {
	Options    dwarf2sym.Options
	DebugFile  string            // "" to search for one
	Supplement string            // the file to which dwz moved a part of the debug information; "" to search for it
	Members    map[string]Member // files in packages, by the paths that stand for them here and in results
	DebugDirs  []string
	Client     *debuginfod.Client // nil for no servers
	Programs   *remote.Programs   // for PDBs; nil for no servers
	BuildID    []byte             // of a binary to fetch, instead of a file
	CPU        string             // of the binary to read, in a file with several binaries
	OrElse     string             // what else can be done with a file with several binaries, for a message
	NoDebug    NoDebug            // what happens to binaries without debug information
	Many       bool               // many files are read: no server is asked for a program that would only be named in a message
}

// NoDebug says what happens to binaries without debug information.
type NoDebug struct {
	Accepted bool // they do not change the status
	Skipped  bool // nor is a symbol file written for them
}

// Binary is a binary that was read, with its debug files open.
type Binary struct {
	*dwarf2sym.Result
	File *object.File

	set  debugset.Set
	open []io.Closer // in the order in which they were opened
}

// Close closes the files and releases the module.
func (b *Binary) Close() error {
	for _, c := range slices.Backward(b.open) {
		c.Close()
	}
	b.open = nil
	return nil
}

// openBinary opens FILE, or fetches the file named by --build-id.
func (d *Reader) openBinary(ctx context.Context, r *Result) (*object.File, error) {
	if d.BuildID != nil {
		path, tried, err := d.Client.Fetch(ctx, debuginfod.Executable, d.BuildID)
		if err != nil {
			r.Tried = append(r.Tried, tried...)
			return nil, cli.InputError(r.File, err)
		}
		r.File = path
	}
	limits := r.limits()
	limits.CPU = d.CPU
	if d.BuildID != nil {
		limits.Opened = nil
	}
	binary, err := d.open(r.File, limits)
	if err != nil {
		return nil, cli.InputError(r.File, d.severalHint(err))
	}
	return binary, nil
}

// severalHint adds advice to the error of a file with several binaries.
func (d *Reader) severalHint(err error) error {
	if errors.Is(err, object.ErrSeveral) {
		return fmt.Errorf("%w: choose one with --arch%s", err, d.OrElse)
	}
	return err
}

// given opens the debug files that the user named.
func (d *Reader) given(r *Result, b *Binary) error {
	set := &b.set
	if d.DebugFile != "" {
		if err := d.openDebug(r, b); err != nil {
			return err
		}
	}
	if d.Supplement == "" || d.Options.CFIOnly || set.Link() == nil {
		return nil
	}
	sup, err := d.open(d.Supplement, r.limits())
	if err != nil {
		return nil // the search that follows reports what is lost
	}
	set.Supplement, b.open = sup, append(b.open, sup)
	return nil
}

// openDebug opens the debug file or PDB that the user named.
func (d *Reader) openDebug(r *Result, b *Binary) error {
	if b.File.OS == "windows" && d.isPDB(d.DebugFile) {
		database, err := d.openPDB(d.DebugFile)
		if err != nil {
			return cli.InputError(d.DebugFile, err)
		}
		b.open = append(b.open, database)
		if err := database.CheckID(b.File.ID()); err != nil {
			return cli.InputError(d.DebugFile, err)
		}
		r.Opened.Add(d.DebugFile)
		if !d.Options.CFIOnly {
			b.set.PDB = database
		}
		return nil
	}
	limits := r.limits()
	limits.CPU, limits.ID = d.CPU, b.File.BuildID()
	debug, err := d.open(d.DebugFile, limits)
	if err != nil {
		return cli.InputError(d.DebugFile, err)
	}
	b.open = append(b.open, debug)
	if err := object.CheckPair(b.File, debug); err != nil {
		return cli.InputError(d.DebugFile, fmt.Errorf("%w of %s; with --store both are dumped", err, r.File))
	}
	b.set.Debug = debug
	return nil
}

// finder returns a finder for the other files of a binary.
func (d *Reader) finder(r *Result) *debugset.Finder {
	f := &debugset.Finder{Dirs: d.DebugDirs, Limits: r.limits(), RulesOnly: d.Options.CFIOnly}
	f.Hermetic = d.Options.Hermetic || d.packed(r.File)
	if d.Client != nil {
		f.Fetcher = d.Client
	}
	if !d.Options.Hermetic {
		f.Database = d.fetchPDB
	}
	return f
}

// others names the file that is missing, for each kind of file from another build.
var others = map[symfmt.TriedKind]string{
	symfmt.OtherDebug:      "separate debug file",
	symfmt.OtherPDB:        "PDB",
	symfmt.OtherSupplement: "supplementary file",
}

// take notes where files were looked for, what could not be read, and which files belong to another build.
func (d *Reader) take(r *Result, set *debugset.Set) {
	for _, p := range set.Problems {
		r.problem(p)
	}
	r.Tried = append(r.Tried, symfmt.TriedLines(set.Tried)...)
	for _, t := range set.Tried {
		if what := others[t.Kind]; what != "" && !d.Options.CFIOnly {
			r.noteOther(what, t.Place, t.Why)
		}
	}
}

// Read reads one file and its debug files. The Binary that it passes to use is valid until use returns.
func (d *Reader) Read(ctx context.Context, r *Result, use func(*Binary) error) error {
	b, err := d.Open(ctx, r)
	if err != nil {
		return err
	}
	defer b.Close()
	err = use(b)
	for _, p := range b.Settle() {
		r.problem(p)
	}
	r.Stats.Origins = b.Stats.Origins
	return err
}

// Open reads one file and its debug files. It does not call Settle, so it is not for modules with late names. The caller
// must close the Binary.
func (d *Reader) Open(ctx context.Context, r *Result) (*Binary, error) {
	if d.isPDB(r.File) {
		return d.openAlone(ctx, r)
	}
	b := &Binary{}
	done := false
	defer func() {
		if !done {
			b.Close()
		}
	}()
	if err := d.fill(ctx, r, b); err != nil {
		return nil, err
	}
	done = true
	return b, nil
}

// fill opens the files of b and reads them.
func (d *Reader) fill(ctx context.Context, r *Result, b *Binary) error {
	binary, err := d.openBinary(ctx, r)
	if err != nil {
		return err
	}
	b.File, b.open = binary, append(b.open, binary)
	b.set.Binary = binary
	if err := d.given(r, b); err != nil {
		return err
	}
	b.open = append(b.open, &b.set)
	if err := d.finder(r).Complete(ctx, &b.set); err != nil {
		return err
	}
	if d.take(r, &b.set); !d.Options.CFIOnly && b.set.Supplement == nil && b.set.Link() != nil {
		r.Looked = r.Tried
	}
	options := d.Options
	options.Spill, options.FileName, options.Hermetic = true, d.fileName(r), options.Hermetic || d.packed(r.File)
	options.Debug, options.Supplement, options.PDB = b.set.Files()
	r.DebugFile = b.set.DebugPath()
	if pdb := b.set.PDB; pdb != nil {
		r.PDB = pdb.Path
		cli.TuneCollectorForPDB(pdb.Size())
	}
	cli.TuneCollectorFor(options.Vars.Params, binary, b.set.Debug)
	report, err := dwarf2sym.Read(ctx, binary, options)
	if err != nil {
		return cli.InputError(r.File, err)
	}
	b.Result, b.open = report, append(b.open, report)
	d.note(ctx, r, b, options.NoCFI)
	return nil
}

// note copies to r what is kept of a binary.
func (d *Reader) note(ctx context.Context, r *Result, b *Binary, noCFI bool) {
	m, report := b.Module, b.Result
	r.Module = &ModuleSummary{m.OS, m.Arch, m.ID, m.Name}
	stats := report.Stats // a copy: results of many files are kept, but not their reports
	r.Stats, r.Others, r.MappedFiles = &stats, report.Others, report.Mapped
	r.Mapped = mappedSummaries(report.Mapped)
	r.FileName, r.NameGuessed = report.FileName, report.NameGuessed
	for _, p := range report.Problems {
		r.problem(p)
		r.Partial = r.Partial || errors.Is(p.Err, pdb.ErrPartial)
	}
	if !noCFI {
		d.noteAlone(ctx, r, b.File)
	}
}

// Judge notes whatever is unexpected in the result.
func (d *Reader) Judge(r *Result, report *dwarf2sym.Result) {
	if report.NoDebugInfo {
		missing := "functions and lines"
		if report.Stats.Funcs > 0 { // in the debug map of a Mach-O file
			missing = "lines"
		}
		d.judgeNoDebug(r, missing)
		r.Looked = r.Tried
	}
	if doubt := report.Doubt(r.File); doubt != "" {
		r.Note(cli.StatusOK, "%s", doubt)
	}
	if Unloaded(&report.Stats) {
		r.Note(cli.StatusInput, "%s: %s", r.File, UnloadedText)
	}
	if report.PackageUnused {
		r.Note(cli.StatusOK, "%s: --dwp %s is not used: the debug information is not split", r.File, d.Options.Package)
	}
	if report.ORC {
		r.remark("%s: .orc_unwind is not read: %s", r.File, cfiSource(&report.Stats))
	}
	if report.Stats.CFISource == dwarf2sym.SourceSFrame {
		r.remark("%s: STACK CFI is from .sframe, which has rules only for the CFA, the return address and the frame pointer", r.File)
	}
}

// judgeNoDebug notes that a file has no debug information, and what is therefore missing.
func (d *Reader) judgeNoDebug(r *Result, missing string) {
	if d.NoDebug.Skipped {
		r.Note(cli.StatusOK, "%s: skipped, as it has no debug information", r.File)
		return
	}
	status := cli.StatusInput
	if d.NoDebug.Accepted {
		status = cli.StatusOK
	}
	r.Note(status, "%s: no debug information: no %s; symtool doctor lists where to get them", r.File, missing)
}

// Unloaded reports whether everything that was read describes code that the linker discarded.
func Unloaded(s *dwarf2sym.Stats) bool {
	return s.DeadFuncs+s.CFIDead > 0 && s.Funcs+s.Publics+s.CFIBlocks == 0
}

// UnloadedText describes a file in which everything is outside its segments.
const UnloadedText = "no functions and no call frame information: all their addresses are outside the loaded segments; the program headers may be damaged"

// NoteName notes that MODULE's name, on which look-ups depend, is a guess. flag is the name of the flag that sets
// another name.
func (r *Result) NoteName(flag string) {
	if r.NameGuessed {
		r.Note(cli.StatusFindings, "%s: MODULE is named %s after the debug file, which does not have the binary's own name: "+
			"dump the binary with its debug file, or use --%s", r.File, r.Module.Name, flag)
	}
}

// cfiSource returns the name of the source of STACK CFI in a file that has .orc_unwind.
func cfiSource(s *dwarf2sym.Stats) string {
	switch s.CFISource {
	case dwarf2sym.SourceDWARF:
		return "STACK CFI is from DWARF alone"
	case dwarf2sym.SourceSFrame:
		return "STACK CFI is from .sframe"
	}
	return "no STACK CFI"
}

// Note adds a message for the user, and raises the status of r to status.
func (r *Result) Note(status int, format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
	r.Status = max(r.Status, status)
}

// noteOther notes a file that was found where a file of the binary is expected, but belongs to another build.
func (r *Result) noteOther(what, path, why string) {
	r.OtherDebug = append(r.OtherDebug, path+": "+why)
	r.Note(cli.StatusOK, "%s is not the %s of %s: %s", path, what, r.File, why)
}

// remark adds a detail that only --verbose prints.
func (r *Result) remark(format string, args ...any) {
	r.Remarks = append(r.Remarks, fmt.Sprintf(format, args...))
}

// Lose adds a problem that cost a part of the file.
func (r *Result) Lose(p bin.Problem) { r.problem(p) }

func (r *Result) problem(p bin.Problem) {
	r.Problems = append(r.Problems, cli.NewProblemSummary(p))
	r.Lines = append(r.Lines, cli.ProblemLine(r.File, p))
	r.Status = max(r.Status, cli.StatusInput)
}
