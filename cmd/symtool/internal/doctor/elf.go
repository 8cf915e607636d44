package doctor

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/symtool/symtool/cmd/symtool/internal/binfile"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/debugset"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
)

// binaryDiagnosis describes the contents of a binary and its separate debug file.
type binaryDiagnosis struct {
	*inventory
	DebugFile  *debugFileDiagnosis `json:"debug_file,omitempty"`
	Units      *dwarf2sym.Units    `json:"units"`                  // of the file that has them
	Read       []string            `json:"read,omitempty"`         // other files: the supplementary file, packages, .dwo files
	Tried      []string            `json:"tried,omitempty"`        // where debug information was looked for in vain
	OtherDebug []string            `json:"other_debug,omitempty"`  // debug files among them that belong to another build
	FileName   string              `json:"file_name,omitempty"`    // name of the file, if dump names the module by a different DT_SONAME
	Program    string              `json:"program,omitempty"`      // the program of a debug file that is read without it, if it was found
	NoProgram  []string            `json:"no_program,omitempty"`   // where the program was looked for
	Guessed    bool                `json:"name_guessed,omitempty"` // dump names the module after a debug file, which has no DT_SONAME
	Stats      *dwarf2sym.Stats    `json:"stats"`                  // of what dump would write

	report  *dwarf2sym.Result
	wins    int  // number of STACK WIN records
	partial bool // linked with /DEBUG:FASTLINK: the PDB lacks what object files have
	terms   object.Terms

	nameFrom string // as in object.File
}

// debugFileDiagnosis is a separate debug file. A PDB has a Kind and an ID instead of an inventory.
type debugFileDiagnosis struct {
	Path string `json:"path"`
	Kind string `json:"kind,omitempty"` // "pdb"
	ID   string `json:"id,omitempty"`   // as in MODULE
	*inventory
}

// pdbKind is the Kind of a PDB.
const pdbKind = "pdb"

// parts returns the contents of the binary and its separate debug file.
func (b *binaryDiagnosis) parts() []*inventory {
	var all []*inventory
	if b.inventory != nil {
		all = append(all, b.inventory)
	}
	if b.DebugFile != nil && b.DebugFile.inventory != nil {
		all = append(all, b.DebugFile.inventory)
	}
	return all
}

// database reports whether the debug information is in a PDB.
func (b *binaryDiagnosis) database() bool { return b.DebugFile != nil && b.DebugFile.Kind == pdbKind }

// lookAtBinary reads a binary as dump does.
func (d *doctor) lookAtBinary(ctx context.Context, g *diagnosis) error {
	g.Binary = &binaryDiagnosis{}
	alone := binfile.IsPDB(g.File)
	if !alone {
		err := d.contents(ctx, g, g.File, func(f *object.File, c *inventory) {
			g.Binary.terms, g.Binary.nameFrom, g.Binary.inventory = f.Terms, f.NameFrom, c
		})
		if err != nil {
			return err
		}
	}
	reader := binfile.Reader{Options: d.options, DebugDirs: d.places.DebugDirs, Client: d.client, Programs: d.programs, CPU: d.cpu}
	r := &binfile.Result{File: g.File}
	err := reader.Read(ctx, r, func(read *binfile.Binary) error {
		b := g.Binary
		b.report, b.Stats, b.Read = read.Result, r.Stats, read.Result.Others
		b.Tried, b.OtherDebug, b.wins = r.Tried, r.OtherDebug, len(read.Module.Wins)
		b.FileName, b.Guessed = r.FileName, r.NameGuessed
		b.Program, b.NoProgram = r.Program, r.NoProgram
		var err error
		g.Symbols, err = diagnoseSymbols(ctx, g.File, read.Module, read.File)
		return err
	})
	if err != nil {
		return err
	}
	for i, p := range r.Problems {
		g.problem(p, r.Lines[i])
	}
	if r.Stats != nil && binfile.Unloaded(r.Stats) {
		g.problem(cli.ProblemSummary{File: g.File, Message: binfile.UnloadedText}, g.File+": "+binfile.UnloadedText)
	}
	g.Binary.partial = r.Partial
	switch {
	case r.PDB != "":
		g.Binary.DebugFile = &debugFileDiagnosis{Path: r.PDB, Kind: pdbKind, ID: r.Module.ID}
	case r.DebugFile != "":
		err := d.contents(ctx, g, r.DebugFile, func(_ *object.File, c *inventory) {
			g.Binary.DebugFile = &debugFileDiagnosis{Path: r.DebugFile, inventory: c}
		})
		if err != nil {
			return err
		}
	}
	if g.Binary.Units == nil {
		g.Binary.Units = &dwarf2sym.Units{}
	}
	if alone {
		g.adviseAlone(r.Unruled)
		return nil
	}
	d.adviseBinary(g)
	return nil
}

// contents calls use with a file and its contents, including its units if it has any.
func (d *doctor) contents(ctx context.Context, g *diagnosis, path string, use func(*object.File, *inventory)) error {
	limits := object.DefaultLimits()
	limits.CPU = d.cpu
	f, err := objfile.Open(path, limits)
	if errors.Is(err, object.ErrSeveral) {
		return fmt.Errorf("%w: choose one with --arch", err)
	} else if err != nil {
		return err
	}
	defer runtime.GC() // otherwise this file's decompressed data would still be in memory beside the next file's
	defer f.Close()
	c := takeInventory(f)
	use(f, c)
	for _, t := range c.Damage {
		g.problem(cli.ProblemSummary{File: path, Section: t.Table, Message: t.Error}, t.Error)
	}
	if !f.HasDWARF() {
		return nil
	}
	set := debugset.Set{Binary: f}
	defer set.Close()
	finder := debugset.Finder{Dirs: d.places.DebugDirs, Hermetic: d.places.Hermetic, Limits: object.DefaultLimits()}
	if d.client != nil {
		finder.Fetcher = d.client
	}
	if err := finder.Complete(ctx, &set); err != nil {
		return err
	}
	g.Binary.Units, err = dwarf2sym.ReadUnits(ctx, f, set.Supplement)
	return err
}

// hasSection reports whether one of the sections exists.
func hasSection(list []sectionSize, names ...string) bool {
	for _, s := range list {
		for _, name := range names {
			if s.Name == name {
				return true
			}
		}
	}
	return false
}

// problems adds the problems that a reader of symbols reported.
func (g *diagnosis) problems(list []bin.Problem) {
	for _, p := range list {
		g.problem(cli.NewProblemSummary(p), cli.ProblemLine(g.File, p))
	}
}
