// Package sframe implements symtool sframe.
package sframe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/formats"
	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/sframe"
	"github.com/symtool/symtool/symfmt/symsframe"
)

const sframeDescription = `
FILE is an ELF file with a .sframe section or, if it has no section headers, a
PT_GNU_SFRAME segment; or it contains only such a section, of version 1, 2 or 3.
It is printed in the layout of objdump --sframe; --pc, --check and --compare-cfi
print their answers instead. Addresses are FILE's, not relative to its load
base; functions of an object have addresses from 0x10000 on. Sizes are in bytes.

The status is 1 if --check finds errors or warnings, or --compare-cfi finds rows
that differ, and 3 if there is no SFrame or a part of it is damaged; what can be
read is printed.

Examples:
  symtool sframe app
  symtool sframe --check --compare-cfi app
`

// Command returns the command symtool sframe.
func Command(msgs *cli.Messages) *cli.Command {
	cfg := &sframeConfig{}
	return &cli.Command{
		Name:        "sframe",
		Usage:       "print, look up and check SFrame stack trace information",
		UsageText:   "symtool sframe [flags] FILE",
		Description: sframeDescription,
		Flags:       cfg.flags(),
		Action: func(c *cli.Context) error {
			if err := cfg.operands(c.Args().Slice()); err != nil {
				return cli.Usagef("sframe", "%v", err)
			}
			return (&sframer{sframeConfig: cfg, ctx: c.Context, stdout: c.App.Writer, msgs: msgs}).run()
		},
	}
}

// sframeConfig holds the values of sframe's flags.
type sframeConfig struct {
	file    string
	json    bool
	pcs     []uint64
	compare bool
	profile *sframe.Profile // nil without --check
	address *uint64         // nil without --address
}

// flags returns the flags of the command. Their values go to cfg.
func (cfg *sframeConfig) flags() []cli.Flag {
	var profiles []cli.Word[*sframe.Profile]
	for _, name := range []string{"spec", "binutils", "kernel"} {
		profile, _ := sframe.ParseProfile(name) // it knows all these names
		profiles = append(profiles, cli.Word[*sframe.Profile]{Text: name, Means: &profile})
	}
	return []cli.Flag{
		cli.OneOf("format", "print `FORM`: text (default) or json", &cfg.json, cli.TextOrJSON),
		cli.ParsedAll("pc", "print the function at `ADDR`, hexadecimal, and the row in force\nthere; may be repeated", &cfg.pcs, func(text string) (uint64, error) {
			pc, ok := cli.ParseAddress(text)
			if !ok {
				return 0, cli.Want("a hexadecimal address")
			}
			return pc, nil
		}),
		cli.OneOf("check", "report what `PROFILE` does not accept: spec, the specification of\nthe section's version; binutils, libsframe and objdump 2.47; or\nkernel, the reader proposed for Linux", &cfg.profile, profiles),
		cli.Switch("compare-cfi", "compare the rows with those of .eh_frame and .debug_frame by\neffect, and print where they agree, where they differ, and what\nonly one side has", &cfg.compare),
		cli.AddressFlag("address", "read FILE, if it is not ELF, as a section at `ADDR`, hexadecimal\n(default 0)", &cfg.address),
	}
}

func (cfg *sframeConfig) operands(args []string) error {
	switch {
	case len(args) == 0 || args[0] == "":
		return errors.New("no FILE")
	case len(args) > 1:
		return fmt.Errorf("%d operands, want one FILE", len(args))
	case args[0] == "-":
		return errors.New("reading FILE needs random access: name a file")
	}
	cfg.file = args[0]
	return nil
}

// sframer is a call of sframe.
type sframer struct {
	*sframeConfig
	ctx    context.Context
	stdout io.Writer
	msgs   *cli.Messages

	section  *sframe.Section
	context  sframe.Context // for --check
	findings []sframe.Finding
	status   int

	comparison  *symsframe.Comparison // with --compare-cfi
	cfiProblems []bin.Problem
}

func (s *sframer) run() error {
	err := s.open()
	var usage *cli.UsageError
	if errors.As(err, &usage) {
		return err
	}
	if err == nil {
		s.damage()
		s.examine()
	}
	out := cli.NewStdout(s.stdout)
	if writeErr := s.write(out, err); writeErr != nil {
		return cli.OutputError(out.Name(), writeErr)
	}
	if writeErr := out.Commit(); writeErr != nil {
		return cli.OutputError(out.Name(), writeErr)
	}
	if err != nil {
		return err
	}
	return &cli.StatusError{Status: s.status}
}

// open decodes the section of FILE.
func (s *sframer) open() error {
	data, err := rawSection(s.file)
	switch {
	case err != nil:
	case data == nil:
		err = s.openELF()
		if err == nil && s.address != nil {
			return cli.Usagef("sframe", "--address is for a bare section, but %s is ELF", s.file)
		}
	case s.compare:
		return cli.Usagef("sframe", "--compare-cfi needs an ELF file, but %s is a bare section", s.file)
	default:
		s.section, err = sframe.Decode(data, s.options())
	}
	if err != nil {
		s.status = cli.StatusInput
		return cli.InputError(s.file, err)
	}
	return nil
}

func (s *sframer) options() (o sframe.Options) {
	if s.address != nil {
		o.Addr = *s.address
	}
	return o
}

// rawSection reads a file that begins like a section. It returns nil for other files.
func rawSection(path string) ([]byte, error) {
	head, err := formats.Head(path)
	if err != nil || sframe.Magic(head) == nil {
		return nil, nil // opening it as ELF will say what it is
	}
	return os.ReadFile(path)
}

func (s *sframer) openELF() error {
	f, err := objfile.Open(s.file, object.DefaultLimits())
	if err != nil {
		return err
	}
	defer f.Close() // the section's bytes are in memory
	if s.context, err = symsframe.Context(f); err != nil {
		return err
	}
	s.section, err = symsframe.Open(f)
	if err != nil || !s.compare {
		return err
	}
	return s.compareCFI(f)
}

// compareCFI compares the section with the file's .eh_frame and .debug_frame.
func (s *sframer) compareCFI(f *object.File) error {
	other, err := dwarf2sym.Read(s.ctx, f, dwarf2sym.Options{CFIOnly: true, CFI: dwarf2sym.CFIDWARF, Name: s.file})
	if err != nil {
		return err
	}
	s.cfiProblems = other.Problems
	s.comparison = symsframe.Compare(s.section, &other.Module.CFI, f.Arch,
		symsframe.ToOptions{Base: f.Base, Code: f.Executable})
	for _, name := range []string{".eh_frame", ".debug_frame"} {
		if section := f.Section(name); section != nil {
			s.comparison.CFI.SectionBytes += uint64(section.Size())
		}
	}
	return nil
}

// damage reports what could not be read.
func (s *sframer) damage() {
	out := cli.ProblemLines{Msgs: s.msgs}
	add := func(p bin.Problem) { out.Add(cli.ProblemLine(s.file, p)) }
	s.section.Damage(add)
	for _, p := range s.cfiProblems {
		add(p)
	}
	out.End()
	if out.N > 0 {
		s.status = cli.StatusInput
	}
}

// examine checks the section.
func (s *sframer) examine() {
	if s.comparison != nil && s.comparison.Different > 0 {
		s.status = max(s.status, cli.StatusFindings)
	}
	if s.profile == nil {
		return
	}
	s.findings = s.section.Check(*s.profile, s.context)
	for _, f := range s.findings {
		if f.Severity > sframe.SeverityNote {
			s.status = max(s.status, cli.StatusFindings)
		}
	}
}

// write prints the answer or, in JSON, the error that prevented it.
func (s *sframer) write(w io.Writer, err error) error {
	switch {
	case s.json:
		return s.writeJSON(w, err)
	case err != nil:
		return nil
	case s.wholeSection():
		return s.section.Print(w)
	}
	for _, pc := range s.pcs {
		if err := s.section.PrintAt(w, pc); err != nil {
			return err
		}
	}
	if s.profile != nil {
		if err := s.printFindings(w); err != nil {
			return err
		}
	}
	if s.comparison != nil {
		return s.comparison.WriteText(w)
	}
	return nil
}

// wholeSection reports whether the answer is the section itself.
func (s *sframer) wholeSection() bool { return len(s.pcs) == 0 && s.profile == nil && !s.compare }

func (s *sframer) printFindings(w io.Writer) error {
	if len(s.findings) == 0 {
		_, err := fmt.Fprintf(w, "%s: %s: no findings for %s\n", s.file, s.section.Name, s.profile)
		return err
	}
	for _, f := range s.findings {
		if _, err := fmt.Fprintf(w, "%s: %s+%s\n", s.file, s.section.Name, f); err != nil {
			return err
		}
	}
	return nil
}
