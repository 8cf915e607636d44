// Package convert implements symtool convert.
package convert

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/formats"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/par"
	"github.com/symtool/symtool/resolve/store"
)

const convertDescription = `
The format of IN is that of --from, or is detected from IN's content or else
from its name. The format of the output is that of --to or of --output's
extension, which may be followed by .gz or .zst. With neither, a dump is
converted to the other format of dumps.

Symbols come from a symbol file, from a binary, which is dumped first, or from
an SFrame section. They are written in canonical order and without duplicates,
so that converting the output again gives the same bytes. Several INs are merged
as parts of the same binary; if two of them describe the same code, the first
one counts. What a format cannot hold is reported, counted by kind of record;
with --strict, nothing is written then, and the status is 1.

With --to-store, each IN has an output below DIR, at the path where servers look
for it. IN may be a folder, such as a store in another layout. Layouts: breakpad
is NAME/ID/NAME.sym; build-id is .build-id/xx/yyyy.debug, without .debug for
executables; debuginfod is buildid/HEX/debuginfo and executable; unified is
xx/yyyy/debuginfo, executable and breakpad. ELF files are dumped for breakpad,
and copied for the others. An existing file is left alone if it is equal, and
never replaced if it differs.

SFrame holds the rules for the CFA, the return address and the frame pointer. It
is made from a symbol file, an ELF file or another section. Functions that it
cannot describe are left out and reported, and the status is 1. The starts of
functions are relative to the section, which must therefore be at the address
that it was written for: --address, or that of the .sframe of IN, or 0. With
--add, the output is a copy of BINARY that contains the section, made by objcopy
or llvm-objcopy. A new section has the address 0 and is not loaded: debuggers
and symtool find it in the file, but a process does not see it. One that
replaces an old section keeps its address, and must not be larger.

A dump is a minidump, an ELF core or, to read only, a microdump of Android's
log, plain or compressed with gzip, zstd, xz or lz4. What the other format cannot
hold is reported, and the status is 1; symtool keeps it in a form of its own, and
restores it if you convert back. A core does not contain code: --binaries adds
it to the minidump. gdb opens the core like one of the kernel, even if it comes
from one of Breakpad's minidumps. Of a core from a pipe, as the kernel's
core_pattern gives it, only stacks, modules and registers are kept, in little
memory whatever its size.

Examples:
  symtool convert -o app.gsym app.sym
  symtool convert --to-store debug --layout debuginfod symbols
`

// Command returns the command symtool convert.
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
		cli.Words(&cli.StringFlag{Name: "from", Usage: "read IN as `FORMAT`: " + strings.Join(formats.Names((*formats.Format).Reads), ", ")}, formats.Names((*formats.Format).Reads)...),
		cli.Words(&cli.StringFlag{Name: "to", Usage: "write `FORMAT`: " + strings.Join(formats.Names((*formats.Format).Writes), ", ")}, formats.Names((*formats.Format).Writes)...),
		cli.OutputFlag(),
		&cli.StringFlag{Name: "to-store", Usage: "write a file for each IN below `DIR`"},
		cli.Words(&cli.StringFlag{Name: "layout", Usage: "use `LAYOUT` for the store: " + strings.Join(store.Layouts(), ", ")}, store.Layouts()...),
		&cli.BoolFlag{Name: "strict", Usage: "write nothing if anything in IN would be lost"},
		&cli.BoolFlag{Name: "no-inlines", Usage: "omit INLINE and INLINE_ORIGIN records"},
		&cli.BoolFlag{Name: "no-cfi", Usage: "omit STACK CFI and STACK WIN records"},
		&cli.BoolFlag{Name: "only-cfi", Usage: "write only MODULE, INFO, STACK CFI and STACK WIN records"},
		&cli.StringSliceFlag{Name: "prefix-map", KeepSpace: true, Usage: "given `OLD=NEW`, replace OLD with NEW at the start of FILE names;\nmay be repeated, the last match counts"},
	}, cli.MapFlags(), []cli.Flag{
		&cli.StringFlag{Name: "rename-module", Usage: "use `NAME` as MODULE's name instead of IN's"},
		&cli.BoolFlag{Name: "old-inline-origin", Usage: "write Breakpad's form of 2021, INLINE_ORIGIN with a file and\nINLINE without one, which rust-minidump cannot read"},
		&cli.BoolFlag{Name: "digest", Usage: "end a symbol file with INFO DIGEST, a digest of its text, which\nreaders check; the default with --to-store and for an IN that has\none, where --digest=false omits it"},
		&cli.BoolFlag{Name: "crlf", Usage: "end lines with CR LF"},
		&cli.BoolFlag{Name: "gzip", Usage: "compress text with gzip"},
		&cli.BoolFlag{Name: "zstd", Usage: "compress text with zstd"},
		&cli.BoolFlag{Name: "json-names", Usage: "in JSON: also give each FUNC the names of its files and origins"},
		&cli.BoolFlag{Name: "json-indent", Usage: "in JSON: indent a document"},
		&cli.StringFlag{Name: "base", Usage: "in GSYM, ELF and lists, place RVA 0 at `ADDR`, hexadecimal; in a\nsymcache, whose numbers have 32 bits, make RVA ADDR 0"},
		cli.Words(&cli.IntFlag{Name: "gsym-version", Usage: "write version `N` of GSYM: 1 (default) or 2", Value: 1}, "1", "2"),
		cli.Words(&cli.IntFlag{Name: "symcache-version", Usage: "write version `N` of symcaches: 7, 8 (default) or 9", Value: 8}, "7", "8", "9"),
		cli.Words(&cli.StringFlag{Name: "byte-order", Usage: "write in byte `ORDER`, little or big, instead of that of the\nmodule's CPU"}, "little", "big"),
		cli.JobsFlag(),
		&cli.StringSliceFlag{Name: "debug-dir", Usage: "look for separate debug files of binaries in `DIR` instead of\n/usr/lib/debug; may be repeated"},
		cli.ArchFlag(),
		cli.CFIFlag("take the rules of an ELF file from `SOURCE`: dwarf, sframe or auto\n(default), which is dwarf, or sframe if dwarf has none"),
		cli.Words(&cli.IntFlag{Name: "sframe-version", Usage: "write version `N` of SFrame: 2 or 3 (default)", Value: 3}, "2", "3"),
		&cli.StringFlag{Name: "address", Usage: "place the section at `ADDR`, hexadecimal: one that is an IN by\nitself, and one that is written without --add"},
		&cli.StringFlag{Name: "add", Usage: "write a copy of `BINARY` that contains the section"},
		&cli.StringSliceFlag{Name: "binaries", Usage: "take code that a core left out from the binaries in `DIR`, by\nbuild-id, path or name; may be repeated"},
		cli.VerboseFlag(),
		&cli.BoolFlag{Name: "quiet", Usage: "print only errors"},
	})
}

// convertConfig is a call of convert, with its arguments checked as far as possible without reading
// the files.
type convertConfig struct {
	files       []string
	from        string // --from, or ""
	output      string
	to          *formats.Format // nil: the input's
	store       string          // --to-store, or ""
	layout      string
	compression *store.Compression // nil for no compression
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
			Jobs: par.Jobs(c.Int("jobs")), DebugDirs: c.StringSlice("debug-dir"), CPU: c.String("arch"), Source: cli.CFISources[c.String("cfi")],
			Strict: c.Bool("strict"), Verbose: c.Bool("verbose"), Quiet: c.Bool("quiet"), Renamed: c.String("rename-module") != "",
			ByteOrder: formats.ByteOrders[c.String("byte-order")], GsymVersion: c.Int("gsym-version"), SymcacheVersion: c.Int("symcache-version"),
			JSONNames: c.Bool("json-names"), JSONIndent: c.Bool("json-indent"), Crlf: c.Bool("crlf"),
			Version: uint8(c.Int("sframe-version")), Binary: c.String("add"),
		},
	}
	for i, file := range cfg.files {
		cfg.files[i] = objfile.InBundle(file)
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
		return errors.New("standard input is given twice, but can be read only once")
	}
	return nil
}

// checkFlags checks the flags individually and in pairs.
func (cfg *convertConfig) checkFlags(c *cli.Context) error {
	for _, name := range []string{"output", "to-store", "rename-module", "add"} {
		if c.IsSet(name) && c.String(name) == "" {
			return fmt.Errorf("--%s is empty", name)
		}
	}
	if err := cli.CheckStore(c.String("to-store"), "--output writes one file"); err != nil {
		return fmt.Errorf("--to-store: %w", err)
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

// chooseOutput determines the output format from --to or the name of the output.
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

// chooseEdit reads the flags that modify the symbols.
func (cfg *convertConfig) chooseEdit(c *cli.Context) (err error) {
	cfg.edit = edit{
		noInlines: c.Bool("no-inlines"), noCFI: c.Bool("no-cfi"), onlyCFI: c.Bool("only-cfi"), name: c.String("rename-module"),
		digest: c.Bool("digest") || cfg.store != "", noDigest: c.IsSet("digest") && !c.Bool("digest"),
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
