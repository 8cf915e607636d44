package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/minidump"
)

// dumpDiagnosis describes the contents of a process dump, and the state of its modules' symbols.
type dumpDiagnosis struct {
	Format  string            `json:"format"`
	System  string            `json:"system"`
	CPU     string            `json:"cpu"`
	Reason  string            `json:"reason,omitempty"`
	Threads int               `json:"threads"`
	Memory  uint64            `json:"memory"` // bytes
	Modules []moduleDiagnosis `json:"modules"`
}

type moduleDiagnosis struct {
	Path    string   `json:"path"`
	DebugID string   `json:"debug_id,omitempty"`
	CodeID  string   `json:"code_id,omitempty"`
	Deleted bool     `json:"deleted,omitempty"` // the file was deleted or replaced while the process ran
	Symbols string   `json:"symbols,omitempty"` // "found", or "in-dump" if the dump contains its file
	Lacks   []string `json:"lacks,omitempty"`   // what the symbols found do not have: "functions", "lines", "rules"
	Tried   []string `json:"tried,omitempty"`
	Stored  string   `json:"stored,omitempty"`  // symbol file in a store that only symtool finds, as it has another name
	Asked   string   `json:"asked,omitempty"`   // with stored: the name that other walkers ask for
	Here    bool     `json:"here"`              // its binary, with the right id, is at its path on this machine
	ByPath  string   `json:"by_path,omitempty"` // without an id in the dump: how the file at its path was compared, or why it does not match
}

// lookAtDump reads a dump, and looks for the symbols of its modules.
func (d *doctor) lookAtDump(ctx context.Context, g *diagnosis) error {
	file, err := dumpfile.Open(ctx, g.File, dumpfile.Options{Stdin: os.Stdin, Core: d.core})
	if err != nil {
		return err
	}
	g.Kind = file.Kind
	crash := file.Dump
	defer file.Close()
	g.problems(crash.Problems)
	p := &dumpDiagnosis{Format: crash.Format, CPU: crash.CPU(), Threads: len(crash.Threads), Modules: []moduleDiagnosis{},
		System: cli.Spaced(crash.System.OS.String(), crash.System.Version, crash.System.Build)}
	if crash.Crash != nil {
		p.Reason = crash.Reason()
	}
	for i := range crash.Memory.Regions {
		p.Memory += uint64(len(crash.Memory.Regions[i].Data))
	}
	g.Process = p
	for i := range crash.Modules {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		p.Modules = append(p.Modules, d.module(ctx, g, crash, &crash.Modules[i]))
	}
	d.adviseDump(g)
	g.adviseNames()
	return nil
}

// module looks for the symbols of one module.
func (d *doctor) module(ctx context.Context, g *diagnosis, crash *dump.Dump, m *dump.Module) moduleDiagnosis {
	is := moduleDiagnosis{Path: m.Path, DebugID: m.DebugID, CodeID: m.CodeID, Deleted: m.Deleted, ByPath: m.ByPath}
	if d.symbols != nil {
		want := resolve.Module{
			Name: crash.System.OS.Base(m.Path), DebugFile: m.DebugFile, DebugID: m.DebugID, CodeID: m.CodeID, Path: m.Path, BuildID: m.BuildID,
		}
		r, tried, err := d.symbols.Symbols(ctx, want)
		if r != nil {
			is.Symbols, is.Lacks = "found", lacks(ctx, r, m)
			if crash.Format == minidump.Format {
				is.Stored, is.Asked = d.storedElsewhere(m, r.Identity().Path)
			}
			return is
		}
		is.Tried = symfmt.TriedLines(tried)
		if err != nil {
			g.problem(cli.ProblemSummary{File: m.Path, Message: err.Error(), Lost: "symbols of the module"}, cli.Named(m.Path, err))
		}
	}
	if walk.InDump(crash, m) {
		is.Symbols, is.Tried = "in-dump", nil
		return is
	}
	is.Here = m.DebugID != "" && !d.places.Hermetic && isHere(m)
	return is
}

// The kinds of information that symbols may lack.
const (
	noFunctions = "functions"
	noLines     = "lines"
	noRules     = "rules"
)

// lacks lists what the symbols of a module lack. For the module's own binary, which has all the rules that exist,
// missing rules are not listed.
func lacks(ctx context.Context, s resolve.Symbols, m *dump.Module) (what []string) {
	if s.Detail(ctx) < resolve.FuncDetail {
		what = append(what, noFunctions)
	}
	if s.Detail(ctx) < resolve.LineDetail {
		what = append(what, noLines)
	}
	if s.Identity().Path != m.Path && !s.HasRules(ctx) {
		what = append(what, noRules)
	}
	return what
}

// isHere reports whether the module's binary is at its path. The path comes from the dump, so only regular, non-empty
// files are opened.
func isHere(m *dump.Module) bool {
	if !filepath.IsAbs(m.Path) {
		return false
	}
	st, err := os.Stat(m.Path)
	if err != nil || !st.Mode().IsRegular() || st.Size() == 0 {
		return false
	}
	f, err := objfile.Open(m.Path, object.DefaultLimits())
	if err != nil {
		return false
	}
	defer f.Close()
	return f.ID() == m.DebugID
}

// maxListed is the number of names that advice lists.
const maxListed = 10

// adviseDump advises on missing symbols.
func (d *doctor) adviseDump(g *diagnosis) {
	var here, elsewhere []string
	for _, m := range g.Process.Modules {
		switch name := cli.ShellWord(m.Path); {
		case m.Symbols != "":
		case m.Here:
			here = append(here, name)
		default:
			elsewhere = append(elsewhere, name)
		}
	}
	if n := len(here) + len(elsewhere); n > 0 {
		why := fmt.Sprintf("%d of %s without symbols", n, text.Count(len(g.Process.Modules), "module"))
		if d.symbols == nil {
			why = "no --symbols, --binaries or --symbol-url to search"
		}
		var do []string
		if len(here) > 0 {
			do = append(do, "their binaries are on this machine: symtool dump --store DIR "+listed(here)+", and walk with --symbols DIR")
		}
		if len(elsewhere) > 0 {
			do = append(do, "dump the binaries where they were built, or give them with "+d.local()+"--binaries"+": "+listed(elsewhere))
			do = append(do, "ask a symbol server with "+d.local()+"--symbol-url, or for binaries a debuginfod server with --debuginfod")
		}
		g.missing(text.Count(n, "module")+" with symbols", why, do...)
	}
	d.adviseRules(g)
	if g.Process.Threads == 0 {
		g.missing("threads", "the dump has none", "there is nothing to walk: see symtool inspect "+cli.ShellWord(g.File))
	}
	if g.Process.Memory == 0 {
		g.missing("memory", "the dump has no stack of any thread", "write dumps with the stacks of the threads")
	}
}

// local returns the flag that must precede a flag for further symbols so that the places searched by default are
// still searched.
func (d *doctor) local() string {
	if d.places.Here() {
		return "--local "
	}
	return ""
}

// adviseRules advises on modules that have functions but no unwind rules. A module without functions may have no
// code.
func (d *doctor) adviseRules(g *diagnosis) {
	var bare []string
	for _, m := range g.Process.Modules {
		if slices.Contains(m.Lacks, noRules) && !slices.Contains(m.Lacks, noFunctions) {
			bare = append(bare, cli.ShellWord(m.Path))
		}
	}
	if len(bare) > 0 {
		g.missing("rules for unwinding of "+text.Count(len(bare), "module"), "what was found has none, as a debug file without its binary: callers are guessed",
			"give their binaries with "+d.local()+"--binaries"+" as well: "+listed(bare))
	}
}

// listed returns the first maxListed names, each once, and the number of the others.
func listed(names []string) string {
	seen := map[string]bool{}
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		again := seen[name]
		seen[name] = true
		return again
	})
	if n := len(names) - maxListed; n > 0 {
		return strings.Join(names[:maxListed], " ") + fmt.Sprintf(" (and %d more)", n)
	}
	return strings.Join(names, " ")
}
