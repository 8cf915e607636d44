package dump

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
)

// depfile is the file that --MD writes: a rule without commands, in make's
// syntax, that lists the files on which the output depends.
type depfile struct {
	path    string
	targets []string // if empty, the outputs are the targets
	phony   bool
}

// depfileFlags returns the flags about the depfile. A compiler's flags of this kind have one
// hyphen.
func (cfg *dumpConfig) depfileFlags() []cli.Flag {
	d := &cfg.depfile
	needsMD := func(_ *cli.Context, flag string) error {
		if !cfg.md {
			return fmt.Errorf("-%s needs -MD", flag)
		}
		return nil
	}
	return []cli.Flag{
		cli.Switch("MD", "write a depfile for make and ninja with the files that were read,\nlike -MD of a compiler; -MD works too", &cfg.md),
		cli.Text("MF", "with --MD: write the depfile to `FILE` instead of the output's name\nfollowed by .d", &d.path, needsMD),
		cli.Repeated("MT", "with --MD: make `TARGET` the target instead of the output; may be\nrepeated", &d.targets, cli.NotEmpty, needsMD),
		cli.Switch("MP", "with --MD: also make every file except FILE a target, so that make\ncontinues when one of them is gone", &d.phony, needsMD),
	}
}

// withFile is the condition for the use of --restat.
func (cfg *dumpConfig) withFile(*cli.Context, string) error {
	if cfg.output == "-" && cfg.store == "" {
		return fmt.Errorf("--restat needs a file: name one with --output or --store")
	}
	return nil
}

// finishDepfile sets the path of the depfile.
func (cfg *dumpConfig) finishDepfile() error {
	d := &cfg.depfile
	switch {
	case !cfg.md:
		return nil
	case d.path == "" && (cfg.output == "-" || cfg.store != ""):
		return fmt.Errorf("-MD needs -MF FILE where the symbols do not go to one --output")
	case d.path == "":
		d.path = cfg.output + ".d"
	case len(d.targets) == 0 && cfg.output == "-":
		return fmt.Errorf("-MD needs -MT TARGET for standard output")
	}
	if d.path == "-" || sameName(d.path, cfg.output) {
		return fmt.Errorf("-MF is %s, want another file", d.path)
	}
	return notDepfile(d.path, append(append(slices.Clone(cfg.files), cfg.DebugFile, cfg.Options.Package), cfg.maps.Inputs()...)...)
}

// sameName reports whether two names refer to the same file, which need not exist.
func sameName(a, b string) bool { return b != "" && filepath.Clean(a) == filepath.Clean(b) }

func notDepfile(path string, inputs ...string) error {
	if cli.NotInput(path, inputs...) != nil {
		return fmt.Errorf("-MF is %s, which is an input", path)
	}
	return nil
}

// writeDepfile writes the depfile, if requested. It writes none if an input could not be dumped
// at all.
func (d *dumper) writeDepfile() error {
	if !d.md || slices.ContainsFunc(d.results, func(r *dumpResult) bool { return r.Error != "" }) {
		return nil
	}
	targets := d.depfile.targets
	if len(targets) == 0 {
		for _, r := range d.results {
			targets = append(targets, r.Output)
			if r.Alias != "" {
				targets = append(targets, r.Alias)
			}
		}
		slices.Sort(targets)
		targets = slices.Compact(targets)
	}
	text, err := d.depfile.text(targets, d.dependencies())
	if err != nil {
		return cli.OutputError(d.depfile.path, err)
	}
	out, err := cli.CreateOutput(d.depfile.path, d.stdout)
	if err != nil {
		return cli.OutputError(d.depfile.path, err)
	}
	if w, ok := out.(*cli.WholeFile); ok {
		w.Restat = d.restat
	}
	defer out.Abort()
	if _, err = out.Write([]byte(text)); err == nil {
		err = out.Commit()
	}
	return cli.OutputError(d.depfile.path, err)
}

// dependencies returns the files that were read: first the operands as given, then the files that
// were found, sorted by name. Debug files from debuginfod are omitted: their names are build-ids,
// so their contents never change.
func (d *dumper) dependencies() []string {
	var all, found []string
	if d.BuildID == nil {
		all = append(all, d.files...)
	}
	if d.DebugFile != "" {
		all = append(all, d.DebugFile)
	}
	all = append(all, d.maps.Inputs()...)
	seen := map[string]bool{}
	for _, name := range all {
		seen[name] = true
	}
	note := func(name string) {
		rel := relative(name)
		if !seen[name] && !seen[rel] {
			found = append(found, rel)
		}
		seen[name], seen[rel] = true, true
	}
	for _, r := range d.results {
		for _, name := range r.Opened.Names {
			note(name)
		}
		for _, f := range r.MappedFiles {
			if f.File != "" {
				note(f.File)
			}
		}
	}
	slices.Sort(found)
	return append(all, found...)
}

// relative returns a path below the current folder relative to it. This way a build in a sandbox,
// or a build that was moved, does not depend on where it ran.
func relative(path string) string {
	dir, err := os.Getwd()
	if err != nil || !filepath.IsAbs(path) {
		return path
	}
	if rel, ok := strings.CutPrefix(filepath.Clean(path), strings.TrimSuffix(dir, "/")+"/"); ok {
		return rel
	}
	return path
}

// notInDepfiles are the characters that neither make nor ninja can escape. GCC writes ; and |
// unescaped: make then runs the text after ; as a command, and interprets the text after | as
// something else.
const notInDepfiles = "\n\r;|"

// text returns the depfile. files begins with the operand.
func (f *depfile) text(targets, files []string) (string, error) {
	for _, name := range append(slices.Clone(targets), files...) {
		if strings.ContainsAny(name, notInDepfiles) || strings.HasSuffix(name, `\`) {
			return "", fmt.Errorf("depfiles cannot express the name %q: make or ninja would read something else; rename it, or leave out -MD", name)
		}
	}
	var b strings.Builder
	for i, name := range targets {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(makeName(name))
	}
	b.WriteByte(':')
	for _, name := range files {
		b.WriteString(" \\\n " + makeName(name))
	}
	b.WriteByte('\n')
	if f.phony && len(files) > 0 {
		for _, name := range files[1:] {
			b.WriteString(makeName(name) + ":\n")
		}
	}
	return b.String(), nil
}

// makeName writes a name for make and ninja as GCC does: backslashes before a blank are doubled,
// blanks and # are escaped with a backslash, and $ is doubled.
func makeName(name string) string {
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; c {
		case ' ', '\t':
			for j := i; j > 0 && name[j-1] == '\\'; j-- {
				b.WriteByte('\\')
			}
			b.WriteByte('\\')
		case '#':
			b.WriteByte('\\')
		case '$':
			b.WriteByte('$')
		}
		b.WriteByte(name[i])
	}
	return b.String()
}
