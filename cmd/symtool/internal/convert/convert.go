// Package convert is symtool convert.
package convert

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/formats"
	"github.com/symtool/symtool/internal/par"
	"github.com/symtool/symtool/resolve/store"
)

const convertDescription = `
The format of IN is that of --from, else of its content, else of its name; that of
the output is that of --to, else of the extension in --output, which .gz or .zst
may follow. A dump becomes one in the other format without either.

Symbols are those of a symbol file, of a binary, which is dumped on the way, or of
an SFrame section. They are written in canonical order and without duplicates: a
file that convert wrote is converted to itself. Several INs are of one binary, and
are put together; where two say something of the same code, the first counts. What
a format has no place for is reported, counted by kind of record; --strict writes
nothing then, and ends with status 1.

With --to-store there is an output for every IN, below DIR as servers look for it.
IN may be a folder then, such as a store in another layout. Layouts: breakpad is
NAME/ID/NAME.sym; build-id is .build-id/xx/yyyy.debug, and the same without .debug
for executables; debuginfod is buildid/HEX/debuginfo and executable; unified is
xx/yyyy/debuginfo, executable and breakpad. ELF files are dumped for breakpad, and
copied for the others. What is there already and equal is left alone; what is
there and differs is not replaced.

SFrame holds the rules for the CFA, the return address and the frame pointer; it is
written from a symbol file, an ELF file or another section. Functions that cannot
be described so are left out and reported, and the exit status is then 1. The starts
of functions count from their place in the section: it has to be at the address
that it was written for, which is --address, or that of the .sframe of IN, or 0.
With --add the output is a copy of BINARY with the section in it, made by objcopy
or llvm-objcopy, and the address is the one that it has there. A section that is
new has the address 0 and is not loaded: debuggers and symtool find it in the file,
a process cannot see it. One in place of an old one keeps its address; it must not
be larger.

A dump is a minidump or an ELF core, as it is or in gzip. What the other format has
no place for is reported, and the exit status is then 1; symtool itself keeps it, and
has the same dump again when it reads what it wrote. A core leaves out the code,
which is in the binaries: --binaries puts it into the minidump. In a core gdb finds
the program and the libraries as in one of the kernel, also when it comes from one
of Breakpad's minidumps.
`

// Command is symtool convert.
func Command(msgs *cli.Messages) *cli.Command {
	return &cli.Command{
		Name:        "convert",
		Usage:       "write symbols, unwind information or a dump in another format",
		UsageText:   "symtool convert [--to FORMAT] [-o OUT] [flags] IN...\nsymtool convert --to-store DIR --layout LAYOUT [flags] IN...",
		Description: convertDescription,
		Flags:       convertFlags(),
		Action: func(c *cli.Context) error {
			cfg, err := newConvertConfig(c)
			if err != nil {
				return cli.AsUsageError("convert", err)
			}
			return (&converter{convertConfig: cfg, Job: formats.Job{Options: cfg.options, Msgs: msgs}, stdout: c.App.Writer}).run(c.Context)
		},
	}
}

func convertFlags() []cli.Flag {
	return slices.Concat([]cli.Flag{
		cli.Words(&cli.StringFlag{Name: "from", Usage: "IN is in `FORMAT`: " + strings.Join(formats.Names((*formats.Format).Reads), ", ")}, formats.Names((*formats.Format).Reads)...),
		cli.Words(&cli.StringFlag{Name: "to", Usage: "write `FORMAT`: " + strings.Join(formats.Names((*formats.Format).Writes), ", ")}, formats.Names((*formats.Format).Writes)...),
		cli.OutputFlag(),
		&cli.StringFlag{Name: "to-store", Usage: "write below `DIR`, a file for every IN"},
		cli.Words(&cli.StringFlag{Name: "layout", Usage: "`LAYOUT` of the store: " + strings.Join(store.Layouts(), ", ")}, store.Layouts()...),
		&cli.BoolFlag{Name: "strict", Usage: "write nothing if something of IN would be lost"},
		&cli.BoolFlag{Name: "no-inlines", Usage: "leave out INLINE and INLINE_ORIGIN"},
		&cli.BoolFlag{Name: "no-cfi", Usage: "leave out STACK CFI and STACK WIN"},
		&cli.BoolFlag{Name: "only-cfi", Usage: "write MODULE, INFO, STACK CFI and STACK WIN only"},
		&cli.StringSliceFlag{Name: "prefix-map", KeepSpace: true, Usage: "`OLD=NEW` replaces OLD at the start of FILE names; may be\nrepeated: the last one that matches counts"},
	}, cli.MapFlags(), []cli.Flag{
		&cli.StringFlag{Name: "rename-module", Usage: "MODULE's `NAME`, in place of IN's"},
		&cli.BoolFlag{Name: "old-inline-origin", Usage: "write INLINE_ORIGIN with a file and INLINE without one, as\nBreakpad did in 2021; rust-minidump cannot read that"},
		&cli.BoolFlag{Name: "crlf", Usage: "end lines with CR LF"},
		&cli.BoolFlag{Name: "gzip", Usage: "compress text with gzip"},
		&cli.BoolFlag{Name: "zstd", Usage: "compress text with zstd"},
		&cli.BoolFlag{Name: "json-names", Usage: "JSON: give each FUNC the names of its files and origins, too"},
		&cli.BoolFlag{Name: "json-indent", Usage: "JSON: lay a document out for people"},
		&cli.StringFlag{Name: "base", Usage: "RVA 0 is at `ADDR`, hexadecimal, in GSYM, ELF and lists; the other way\nround, RVA ADDR is 0 in a symcache, whose numbers have 32 bits"},
		cli.Words(&cli.IntFlag{Name: "gsym-version", Usage: "write version `N` of GSYM: 1 (default) or 2", Value: 1}, "1", "2"),
		cli.Words(&cli.IntFlag{Name: "symcache-version", Usage: "write version `N` of symcaches: 7, 8 (default) or 9", Value: 8}, "7", "8", "9"),
		cli.Words(&cli.StringFlag{Name: "byte-order", Usage: "`ORDER` of what is written, little or big, in place of that of the\nmodule's CPU"}, "little", "big"),
		cli.JobsFlag(),
		&cli.StringSliceFlag{Name: "debug-dir", Usage: "look for separate debug files of binaries in `DIR`; may be\nrepeated; in place of /usr/lib/debug"},
		cli.CFIFlag("take the rules of an ELF file from `SOURCE`: dwarf, sframe or auto\n(default), which is dwarf, or sframe where dwarf has none"),
		cli.Words(&cli.IntFlag{Name: "sframe-version", Usage: "write version `N` of SFrame: 2 or 3 (default)", Value: 3}, "2", "3"),
		&cli.StringFlag{Name: "address", Usage: "the section starts at `ADDR`, hexadecimal, in IN, if that is one\nby itself, and in what is written without --add"},
		&cli.StringFlag{Name: "add", Usage: "write a copy of `BINARY` with the section in it"},
		&cli.StringSliceFlag{Name: "binaries", Usage: "take the code that a core left out from the binaries in\n`DIR`, by build-id, by path or by name; may be repeated"},
		cli.VerboseFlag(),
		&cli.BoolFlag{Name: "quiet", Usage: "print errors only"},
	})
}

// convertConfig is a call of convert, checked as far as possible without reading the files.
type convertConfig struct {
	files       []string
	from        string // of --from, "" without
	output      string
	to          *formats.Format // nil: the input's
	store       string          // of --to-store, "" without
	layout      string
	compression *store.Compression // nil for none
	given       []string           // flags that were given, in the order of the help
	edit        edit

	options    formats.Options
	oldInlines bool

	binaries []string // of --binaries
}

// excludedConvert lists the pairs of flags that contradict each other.
var excludedConvert = [][2]string{
	{"verbose", "quiet"}, {"gzip", "zstd"}, {"no-cfi", "only-cfi"}, {"to-store", "output"}, {"to-store", "to"},
}

func newConvertConfig(c *cli.Context) (*convertConfig, error) {
	cfg := &convertConfig{
		files: c.Args().Slice(), from: c.String("from"), output: c.String("output"), store: c.String("to-store"), layout: c.String("layout"),
		oldInlines: c.Bool("old-inline-origin"), binaries: c.StringSlice("binaries"),
		options: formats.Options{
			Jobs: par.Jobs(c.Int("jobs")), DebugDirs: c.StringSlice("debug-dir"), Source: cli.CFISources[c.String("cfi")],
			Strict: c.Bool("strict"), Verbose: c.Bool("verbose"), Quiet: c.Bool("quiet"), Renamed: c.String("rename-module") != "",
			ByteOrder: formats.ByteOrders[c.String("byte-order")], GsymVersion: c.Int("gsym-version"), SymcacheVersion: c.Int("symcache-version"),
			JSONNames: c.Bool("json-names"), JSONIndent: c.Bool("json-indent"), Crlf: c.Bool("crlf"),
			Version: uint8(c.Int("sframe-version")), Binary: c.String("add"),
		},
	}
	for _, f := range c.Command.Flags {
		if name := f.Names()[0]; c.IsSet(name) {
			cfg.given = append(cfg.given, name)
		}
	}
	if cfg.output == "" {
		cfg.output = "-"
	}
	if !c.IsSet("debug-dir") {
		cfg.options.DebugDirs = []string{"/usr/lib/debug"}
	}
	for _, check := range []func(*cli.Context) error{cfg.operands, cfg.checkFlags, cfg.chooseOutput, cfg.chooseEdit, cfg.checkNumbers} {
		if err := check(c); err != nil {
			return nil, err
		}
	}
	return cfg, cli.NotInput(cfg.output, append(append(slices.Clone(cfg.files), cfg.options.Binary), cfg.edit.maps.Inputs()...)...)
}

func (cfg *convertConfig) operands(*cli.Context) error {
	stdin := 0
	for _, file := range cfg.files {
		switch file {
		case "":
			return errors.New("the name of a file is empty")
		case "-":
			stdin++
		}
	}
	switch {
	case len(cfg.files) == 0:
		return errors.New("no IN")
	case stdin > 1:
		return errors.New("standard input is there twice, and can be read once")
	}
	return nil
}

// checkFlags checks the flags, each by itself and pairs.
func (cfg *convertConfig) checkFlags(c *cli.Context) error {
	for _, name := range []string{"output", "to-store", "rename-module", "add"} {
		if c.IsSet(name) && c.String(name) == "" {
			return fmt.Errorf("--%s is empty", name)
		}
	}
	for _, pair := range excludedConvert {
		if c.IsSet(pair[0]) && c.IsSet(pair[1]) {
			return fmt.Errorf("--%s and --%s exclude each other", pair[0], pair[1])
		}
	}
	if slices.Contains(cfg.binaries, "") {
		return errors.New("--binaries is empty")
	}
	return nil
}

// chooseOutput takes the output format of --to or of the name of the output.
func (cfg *convertConfig) chooseOutput(c *cli.Context) error {
	packed := ""
	switch {
	case cfg.store != "" && cfg.layout == "":
		return fmt.Errorf("--to-store needs --layout, want %s", cli.Choice(store.Layouts()))
	case cfg.store == "" && cfg.layout != "":
		return errors.New("--layout is for --to-store")
	case cfg.store != "":
		cfg.to = formats.Named("breakpad")
	case c.IsSet("to"):
		cfg.to = formats.Named(c.String("to"))
		if named, p := formats.OfName(cfg.output); named != nil && named.Packed {
			packed = p
		}
	default:
		cfg.to, packed = formats.OfName(cfg.output)
	}
	if cfg.to != nil && (cfg.to.Dump || cfg.to.OnlyRules()) && len(cfg.files) > 1 {
		return fmt.Errorf("%d operands, want one IN for --to %s", len(cfg.files), cfg.to.Name)
	}
	for i := range store.Compressions {
		if name := store.Compressions[i].Name; c.Bool(name) || packed == name && !c.Bool("gzip") && !c.Bool("zstd") {
			cfg.compression = &store.Compressions[i]
		}
	}
	return nil
}

// chooseEdit reads the flags that change the symbols.
func (cfg *convertConfig) chooseEdit(c *cli.Context) (err error) {
	cfg.edit = edit{
		noInlines: c.Bool("no-inlines"), noCFI: c.Bool("no-cfi"), onlyCFI: c.Bool("only-cfi"), name: c.String("rename-module"),
	}
	if cfg.edit.prefixes, err = cli.PrefixMap(c.StringSlice("prefix-map")); err != nil {
		return err
	}
	if cfg.edit.maps, err = cli.NewMapConfig(c, false); err != nil {
		return err
	}
	if err := cfg.edit.maps.CheckList(cfg.output, cfg.files...); err != nil {
		return err
	}
	return cli.CheckModuleName("rename-module", cfg.edit.name)
}

// checkNumbers checks versions and addresses.
func (cfg *convertConfig) checkNumbers(c *cli.Context) error {
	for _, v := range []struct {
		flag     string
		min, max int
	}{{"sframe-version", 2, 3}, {"gsym-version", 1, 2}, {"symcache-version", 7, 9}} {
		if n := c.Int(v.flag); n < v.min || n > v.max {
			return fmt.Errorf("--%s is %d, want %d to %d", v.flag, n, v.min, v.max)
		}
	}
	for _, v := range []struct {
		flag string
		to   **uint64
	}{{"address", &cfg.options.Address}, {"base", &cfg.options.Base}} {
		if c.IsSet(v.flag) {
			addr, err := cli.Address(v.flag, c.String(v.flag))
			if err != nil {
				return err
			}
			*v.to = &addr
		}
	}
	if cfg.to != nil && cfg.to.Name == "elf" && cfg.options.Base != nil && *cfg.options.Base%4096 != 0 {
		return fmt.Errorf("--base is %#x, want a multiple of 0x1000 for --to elf", *cfg.options.Base)
	}
	return nil
}
