package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/bin"
)

const convertDescription = `
FILE is an ELF executable or shared library, of which the unwind information is
taken, a Breakpad symbol file, or an SFrame section by itself; its content tells
which. SFrame holds the rules for the CFA, the return address and the frame
pointer; functions that cannot be described so are left out and told, and the
exit status is then 1.

The starts of functions count from their place in the section: it has to be at
the address that it was written for, which is --address, or that of the .sframe
of FILE, or 0. With --add the output is a copy of BINARY with the section in it,
made by objcopy or llvm-objcopy, and the address is the one that it has there. A
section that is new has the address 0 and is not loaded: debuggers and symtool
find it in the file, a process cannot see it. One in place of an old one keeps
its address; it must not be larger.

The other way, to STACK CFI, is symtool dump --cfi sframe.

DUMP is a minidump or an ELF core, as it is or in gzip; without --to it is
converted to the other one. What the format has no place for is told, and the
exit status is then 1; symtool itself keeps it, and has the same dump again when
it reads what it wrote. A core leaves out the code, which is in the binaries:
--binaries puts it into the minidump. In a core gdb finds the program and the
libraries as in one of the kernel, also when it comes from one of Breakpad's
minidumps.
`

func convertCommand(msgs *messages) *cli.Command {
	return &cli.Command{
		Name:        "convert",
		Usage:       "write unwind information as SFrame, or a dump in another format",
		UsageText:   "symtool convert --to sframe [flags] FILE\nsymtool convert [--to minidump|core] [flags] DUMP",
		Description: convertDescription,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "to", Usage: "write `FORMAT`: " + strings.Join(outputNames(), ", ")},
			outputFlag(),
			&cli.IntFlag{Name: "sframe-version", Usage: "write version `N` of SFrame: 2 or 3 (default)", Value: 3},
			cfiFlag("take the rules of an ELF file from `SOURCE`: dwarf, sframe or auto\n(default), which is dwarf, or sframe where dwarf has none"),
			&cli.StringFlag{Name: "address", Usage: "the section starts at `ADDR`, hexadecimal, in FILE, if that is one\nby itself, and in what is written without --add"},
			&cli.StringFlag{Name: "add", Usage: "write a copy of `BINARY` with the section in it"},
			&cli.StringSliceFlag{Name: "binaries", Usage: "take the code that a core left out from the binaries in\n`DIR`, by build-id, by path or by name; may be repeated"},
			verboseFlag(),
			&cli.BoolFlag{Name: "quiet", Usage: "print errors only"},
		},
		Action: func(c *cli.Context) error {
			cfg, err := newConvertConfig(c)
			if err != nil {
				return usagef("convert", "%v", err)
			}
			return (&converter{convertConfig: cfg, stdout: c.App.Writer, msgs: msgs}).run(c.Context)
		},
	}
}

// convertConfig is a call of convert, checked.
type convertConfig struct {
	file    string
	output  string
	to      *outputFormat
	version uint8
	source  dwarf2sym.CFISource
	address *uint64 // nil without --address
	binary  string  // of --add
	verbose bool
	quiet   bool

	dump     string   // format of dumps to write; "" for unwind information
	binaries []string // of --binaries
}

func newConvertConfig(c *cli.Context) (*convertConfig, error) {
	cfg := &convertConfig{
		file: c.Args().First(), output: c.String("output"), binary: c.String("add"), version: uint8(c.Int("sframe-version")),
		source: cfiSources[c.String("cfi")], verbose: c.Bool("verbose"), quiet: c.Bool("quiet"),
	}
	if cfg.output == "" {
		cfg.output = "-"
	}
	cfg.dump, cfg.binaries = dumpFormat(c, cfg.file), c.StringSlice("binaries")
	switch n := c.Int("sframe-version"); {
	case c.NArg() == 0 || cfg.file == "":
		return nil, errors.New("no FILE")
	case c.NArg() > 1:
		return nil, fmt.Errorf("%d operands, want one FILE", c.NArg())
	case cfg.file == "-":
		return nil, errors.New("FILE cannot be read from standard input: it is not read from front to back")
	case !c.IsSet("to") && cfg.dump == "":
		return nil, fmt.Errorf("no --to, want --to %s", strings.Join(outputNames(), " or "))
	case n != 2 && n != 3:
		return nil, fmt.Errorf("--sframe-version is %d, want 2 or 3", n)
	case cfg.verbose && cfg.quiet:
		return nil, errors.New("--verbose and --quiet exclude each other")
	}
	if c.IsSet("to") {
		if err := oneOf(c, "to", outputNames()...); err != nil {
			return nil, err
		}
	}
	if err := checkDump(c, cfg.dump != ""); err != nil {
		return nil, err
	}
	if err := oneOf(c, "cfi", "auto", "dwarf", "sframe"); err != nil {
		return nil, err
	}
	for i := range outputFormats {
		if outputFormats[i].name == c.String("to") {
			cfg.to = &outputFormats[i]
		}
	}
	if err := cfg.checkAdd(c); err != nil {
		return nil, err
	}
	return cfg, notInput(cfg.output, cfg.file, cfg.binary)
}

// checkAdd checks --add and --address.
func (cfg *convertConfig) checkAdd(c *cli.Context) error {
	if c.IsSet("add") && cfg.binary == "" {
		return errors.New("--add is empty")
	}
	if !c.IsSet("address") {
		return nil
	}
	addr, err := address("address", c.String("address"))
	cfg.address = &addr
	return err
}

// converter is one call of convert.
type converter struct {
	*convertConfig
	stdout io.Writer
	msgs   *messages
	status int
}

func (c *converter) run(ctx context.Context) error {
	if c.output == "-" && isTerminal(c.stdout) {
		return usagef("convert", "no binary data is written to a terminal: name a file with --output")
	}
	if c.dump != "" {
		return c.runDump(ctx)
	}
	u, err := c.read(ctx)
	if err != nil {
		return inputError(c.file, err)
	}
	c.tell(u.damage, statusInput)
	out, err := createOutput(c.output, c.stdout)
	if err != nil {
		return outputError(c.output, err)
	}
	defer out.Abort()
	if err := c.to.write(ctx, c, u, contextWriter{ctx, out}); err != nil {
		var status *statusError
		if errors.As(err, &status) {
			return err
		}
		return outputError(out.Name(), err)
	}
	if err := c.commit(out); err != nil {
		return outputError(out.Name(), err)
	}
	c.tell(u.lost, statusFindings)
	if c.verbose {
		c.msgs.printf("symtool: %s: %s, %d left out", c.file, count(len(u.funcs), "function"), len(u.lost))
	}
	return &statusError{status: c.status}
}

// commit completes the output. A copy of a binary has its mode.
func (c *converter) commit(out output) error {
	if w, ok := out.(*wholeFile); ok && c.binary != "" {
		st, err := os.Stat(c.binary)
		if err == nil {
			err = w.f.Chmod(st.Mode().Perm())
		}
		if err != nil {
			return err
		}
	}
	return out.Commit()
}

// read reads FILE in the format that it has.
func (c *converter) read(ctx context.Context) (*unwinding, error) {
	head, err := fileHead(c.file)
	if err != nil {
		return nil, err
	}
	for i := range inputFormats {
		if f := &inputFormats[i]; f.matches(head) {
			return f.read(ctx, c)
		}
	}
	return nil, nil // the last one takes all
}

// fileHead is the beginning of a regular file; of others there is none, for
// reading would take it away.
func fileHead(path string) ([]byte, error) {
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, 64)
	n, err := io.ReadFull(f, head)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return head[:n], err
}

// tell prints problems, and raises the status if there are some.
func (c *converter) tell(problems []bin.Problem, status int) {
	if len(problems) == 0 {
		return
	}
	c.status = max(c.status, status)
	if c.quiet {
		return
	}
	out := problemLines{msgs: c.msgs, all: c.verbose, hint: verboseHint}
	for _, p := range problems {
		out.add(problemLine(c.file, p))
	}
	out.end()
}
