// Package doctor implements symtool doctor.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/formats"
	"github.com/symtool/symtool/cmd/symtool/internal/suppliers"
	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/debuginfod"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/par"
	"github.com/symtool/symtool/internal/version"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/resolve/remote"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/elfcore"
)

const doctorDescription = `
FILE is a binary, a symbol file in a format that convert reads, or the dump of a
crashed process, which may be - for standard input. doctor reports what is in
it: for a binary, what dump would write, and where each part would come from;
for symbols, what they are good for; for a dump, which of its modules have
symbols where walk looks for them: in --symbols, --binaries or --symbol-url or,
without these or with --local, on this machine; and which of them a store in
--symbols has only under names that other walkers do not ask for.

Missing parts are listed with the flag, the package or the compiler option that
provides them. doctor writes only its answer, and asks only the servers that
dump would ask. The status is 0 if nothing is missing, and 1 if something is.

Examples:
  symtool doctor app
  symtool doctor --symbols symbols crash.dmp
`

// Command returns the command symtool doctor.
func Command(msgs *cli.Messages) *cli.Command {
	d := newDoctor(msgs)
	return &cli.Command{
		Name:        "doctor",
		Usage:       "report which symbols a file has, what is missing, and how to get it",
		UsageText:   "symtool doctor [flags] FILE...",
		Description: doctorDescription,
		Flags:       d.flags(),
		Action: func(c *cli.Context) error {
			if err := d.finish(c); err != nil {
				return cli.AsUsageError("doctor", err)
			}
			return d.run(c.Context)
		},
	}
}

// doctor is a call of doctor.
type doctor struct {
	files    []string
	places   suppliers.Places
	options  dwarf2sym.Options
	cpu      string             // of universal files
	client   *debuginfod.Client // nil for no servers
	programs *remote.Programs   // for PDBs; nil for no servers
	symbols  resolve.Supplier   // nil if none are given
	stores   []string           // folders that --symbols names
	core     elfcore.Options    // the same as walk's, for IDs that a core lacks
	json     bool
	msgs     *cli.Messages
	stdout   io.Writer
	dpkg     string // folder with Debian's lists of files
}

// newDoctor returns a call without flags.
func newDoctor(msgs *cli.Messages) *doctor {
	return &doctor{
		msgs: msgs, dpkg: dpkgLists, places: suppliers.Places{Operands: true, OfDumps: true, Msgs: msgs},
		options: dwarf2sym.Options{Demangle: true, Generator: version.Generator},
	}
}

// flags returns the flags of the command. Parsing them sets fields of d.
func (d *doctor) flags() []cli.Flag {
	return append(append(d.places.Flags(), d.places.HereFlags()...),
		cli.ArchFlag(&d.cpu),
		cli.Repeated("debug-dir", "look for separate debug files in `DIR` instead of /usr/lib/debug;\nmay be repeated", &d.places.DebugDirs, cli.NotEmpty),
		cli.Repeated("dwo-dir", "also look for .dwo files, FILE.dwp and the objects of a Mach-O FILE\nin `DIR`; may be repeated", &d.options.DwoDirs, cli.NotEmpty),
		cli.Text("dwp", "use `FILE` as the package of .dwo files instead of the operand's\nname followed by .dwp", &d.options.Package),
		cli.JobsFlag(&d.options.Jobs),
		cli.OneOf("format", "print the answer as `FORM`: text (default) or json", &d.json, cli.TextOrJSON),
	)
}

// finish completes a call after its flags are set.
func (d *doctor) finish(c *cli.Context) (err error) {
	d.files, d.stdout = c.Args().Slice(), c.App.Writer
	if len(d.files) == 0 {
		return errors.New("no FILE")
	}
	if err := cli.CheckDumps("FILE", d.files); err != nil {
		return err
	}
	if d.options.Package != "" && len(d.files) > 1 {
		return fmt.Errorf("--dwp is for one file, not for %d", len(d.files))
	}
	d.options.Jobs, d.options.Hermetic = par.Jobs(d.options.Jobs), d.places.Hermetic
	d.places.DebugDirs = cli.DebugDirs(d.places.DebugDirs, d.places.Hermetic)
	if d.client, err = d.places.Client(); err != nil {
		return err
	}
	return d.findSymbols()
}

// findSymbols sets the sources of symbols for dumps from the flags.
func (d *doctor) findSymbols() error {
	all, binaries, servers, err := d.places.Suppliers(nil)
	if err != nil {
		return err
	}
	d.core = elfcore.Options{Binaries: d.places.Binaries, Spare: true, AtPaths: d.places.Here(), NoCode: true}
	d.stores = slices.DeleteFunc(slices.Clone(d.places.Symbols), func(path string) bool { return !cli.IsFolder(path) })
	if binaries != nil {
		all = append(all, binaries)
	}
	if d.programs, err = d.places.Programs(); err != nil {
		return err
	}
	all = append(all, servers...)
	if len(all) > 0 {
		d.symbols = supplier.NewChain(all...)
	}
	return nil
}

// doctorDocument is the document that doctor --format json prints. Fields may be added,
// but no field changes its meaning, its unit or its name.
type doctorDocument struct {
	Schema    int          `json:"schema"`
	Generator string       `json:"generator"`
	Status    int          `json:"status"` // exit status
	Files     []*diagnosis `json:"files"`  // in the order of the operands
}

// diagnosis is the result for a file.
type diagnosis struct {
	File     string               `json:"file"`
	Kind     string               `json:"kind,omitempty"` // "elf", "minidump", "core", or one of convert's formats
	Status   int                  `json:"status"`
	Error    string               `json:"error,omitempty"` // if nothing could be read
	Binary   *binaryDiagnosis     `json:"binary,omitempty"`
	Symbols  *symbolDiagnosis     `json:"symbols,omitempty"` // for a binary: the symbols that dump would write
	Process  *dumpDiagnosis       `json:"process,omitempty"`
	Missing  []advice             `json:"missing"`
	Problems []cli.ProblemSummary `json:"problems,omitempty"`

	lines []string // Problems as text
}

// advice describes something that is missing, and how to provide it.
type advice struct {
	What string   `json:"what"`
	Why  string   `json:"why"`
	Do   []string `json:"do"` // alternatives that provide it, or steps toward it
}

func (g *diagnosis) missing(what, why string, do ...string) {
	g.Missing = append(g.Missing, advice{what, why, do})
	g.Status = max(g.Status, cli.StatusFindings)
}

// problem adds a problem of the file; line is the problem as text.
func (g *diagnosis) problem(p cli.ProblemSummary, line string) {
	g.Problems = append(g.Problems, p)
	g.lines = append(g.lines, line)
	g.Status = max(g.Status, cli.StatusInput)
}

// run examines all files and prints the results in their order.
func (d *doctor) run(ctx context.Context) error {
	doc := doctorDocument{Schema: 1, Generator: version.Generator}
	out := cli.NewStdout(d.stdout)
	printed := false
	for _, file := range d.files {
		g := &diagnosis{File: objfile.InBundle(file), Missing: []advice{}}
		err := par.Each(ctx, 1, 1, func(ctx context.Context, _, _ int) error { return d.look(ctx, g) })
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			g.Error, g.Status = failure(file, err), cli.StatusInput
		}
		doc.Files = append(doc.Files, g)
		doc.Status = max(doc.Status, g.Status)
		d.report(g)
		if !d.json && g.Error == "" {
			if printed {
				_, _ = io.WriteString(out, "\n")
			}
			printed = true
			_, _ = io.WriteString(out, g.text()) // Commit returns any failure
		}
	}
	if d.json {
		text, err := cli.EncodeJSON(doc)
		if err != nil {
			return err
		}
		_, _ = out.Write(text)
	}
	if err := cli.OutputError(out.Name(), out.Commit()); err != nil {
		return err
	}
	if doc.Status != cli.StatusOK {
		return &cli.StatusError{Status: doc.Status}
	}
	return nil
}

// failure returns the reason why nothing is known about a file. The text names the
// file once.
func failure(file string, err error) string {
	var status *cli.StatusError
	var path *fs.PathError
	switch {
	case errors.As(err, &status):
		return status.Error()
	case errors.As(err, &path) && path.Path == file:
		return file + ": " + path.Err.Error()
	}
	return cli.Named(file, err)
}

// report prints the problems of a file.
func (d *doctor) report(g *diagnosis) {
	lines := cli.ProblemLines{Msgs: d.msgs, All: d.places.Verbose, Hint: cli.VerboseHint}
	for _, line := range g.lines {
		lines.Add(line)
	}
	lines.End()
	if g.Error != "" {
		d.msgs.Printf("symtool: %s", g.Error)
	}
}

// look finds out what a file is and what it contains.
func (d *doctor) look(ctx context.Context, g *diagnosis) error {
	if g.File == "-" {
		return d.lookAtDump(ctx, g)
	}
	if st, err := os.Stat(g.File); err != nil {
		return err
	} else if !st.Mode().IsRegular() {
		if st.IsDir() {
			return errors.New("is a folder: want files in it, such as binaries or .sym files")
		}
		return errors.New("not a regular file")
	}
	if dumpfile.FormatOf(g.File) != "" {
		return d.lookAtDump(ctx, g)
	}
	in, err := formats.Open(g.File, "")
	if err != nil {
		var unknown *formats.UnknownFormatError
		if errors.As(err, &unknown) {
			return errors.New(unknown.Text) // doctor has no --from
		}
		return err
	}
	defer in.Close()
	if g.Kind = in.Format.Name; in.Format.Binary {
		return d.lookAtBinary(ctx, g)
	}
	return d.lookAtSymbols(ctx, g, in)
}
