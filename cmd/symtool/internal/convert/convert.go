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
	cfg := newConvertConfig()
	return &cli.Command{
		Name:        "convert",
		Usage:       "write symbols, unwind information or a dump in another format",
		UsageText:   "symtool convert [--to FORMAT] [-o OUT] [flags] IN...\nsymtool convert --to-store DIR --layout LAYOUT [flags] IN...",
		Description: convertDescription,
		Flags:       cfg.flags(),
		Action: func(c *cli.Context) error {
			if err := cfg.finish(c); err != nil {
				return cli.AsUsageError("convert", err)
			}
			return (&converter{convertConfig: cfg, Job: formats.Job{Options: cfg.options, Msgs: msgs}, stdout: c.App.Writer}).run(c.Context)
		},
	}
}

// convertConfig holds the values of convert's flags. They are checked as far as possible without reading any file.
type convertConfig struct {
	files       []string
	from        string // --from, or ""
	output      string
	toName      string          // --to, or ""
	to          *formats.Format // nil: the input's
	store       string          // --to-store, or ""
	layout      string
	compression *store.Compression // nil for no compression
	gzip, zstd  bool
	given       []string // flags that were given, in the order of the help
	edit        edit

	options    formats.Options
	oldInlines bool

	binaries []string // of --binaries
}

// newConvertConfig returns a call without flags.
func newConvertConfig() *convertConfig {
	return &convertConfig{options: formats.Options{GsymVersion: 1, SymcacheVersion: 8, Version: 3}}
}

// flags returns the flags of the command. Parsing them sets fields of cfg.
func (cfg *convertConfig) flags() []cli.Flag {
	o, e := &cfg.options, &cfg.edit
	reads, writes := formats.Names((*formats.Format).Reads), formats.Names((*formats.Format).Writes)
	return slices.Concat([]cli.Flag{
		cli.Words(cli.Text("from", "read IN as `FORMAT`: "+strings.Join(reads, ", "), &cfg.from), reads...),
		cli.Words(cli.Text("to", "write `FORMAT`: "+strings.Join(writes, ", "), &cfg.toName), writes...),
		cli.OutputFlag(&cfg.output),
		cli.Text("to-store", "write a file for each IN below `DIR`", &cfg.store, cli.Without("output", "to"), cfg.withLayout, cli.StoreFolder("--output writes one file")),
		cli.Words(cli.Text("layout", "use `LAYOUT` for the store: "+strings.Join(store.Layouts(), ", "), &cfg.layout, cli.With("to-store")), store.Layouts()...),
		cli.Switch("strict", "write nothing if anything in IN would be lost", &o.Strict),
		cli.Switch("no-inlines", "omit INLINE and INLINE_ORIGIN records", &e.noInlines),
		cli.Switch("no-cfi", "omit STACK CFI and STACK WIN records", &e.noCFI, cli.Without("only-cfi")),
		cli.Switch("only-cfi", "write only MODULE, INFO, STACK CFI and STACK WIN records", &e.onlyCFI),
		cli.PrefixMapFlag("given `OLD=NEW`, replace OLD with NEW at the start of FILE names;\nmay be repeated, the last match counts", &e.prefixes),
	}, e.maps.Flags(), []cli.Flag{
		cli.Text("rename-module", "use `NAME` as MODULE's name instead of IN's", &e.name, cli.ModuleName),
		cli.Switch("old-inline-origin", "write Breakpad's form of 2021, INLINE_ORIGIN with a file and\nINLINE without one, which rust-minidump cannot read", &cfg.oldInlines),
		cli.Switch("digest", "end a symbol file with INFO DIGEST, a digest of its text, which\nreaders check; the default with --to-store and for an IN that has\none, where --digest=false omits it", &e.digest),
		cli.Switch("crlf", "end lines with CR LF", &o.Crlf),
		cli.Switch("gzip", "compress text with gzip", &cfg.gzip, cli.Without("zstd")),
		cli.Switch("zstd", "compress text with zstd", &cfg.zstd),
		cli.Switch("json-names", "in JSON: also give each FUNC the names of its files and origins", &o.JSONNames),
		cli.Switch("json-indent", "in JSON: indent a document", &o.JSONIndent),
		cli.AddressFlag("base", "in GSYM, ELF and lists, place RVA 0 at `ADDR`, hexadecimal; in a\nsymcache, whose numbers have 32 bits, make RVA ADDR 0", &o.Base),
		cli.OneOf("gsym-version", "write version `N` of GSYM: 1 (default) or 2", &o.GsymVersion, cli.Numbers(1, 2)),
		cli.OneOf("symcache-version", "write version `N` of symcaches: 7, 8 (default) or 9", &o.SymcacheVersion, cli.Numbers(7, 9)),
		cli.OneOf("byte-order", "write in byte `ORDER`, little or big, instead of that of the\nmodule's CPU", &o.ByteOrder, formats.ByteOrders),
		cli.JobsFlag(&o.Jobs),
		cli.Repeated("debug-dir", "look for separate debug files of binaries in `DIR` instead of\n/usr/lib/debug; may be repeated", &o.DebugDirs),
		cli.ArchFlag(&o.CPU),
		cli.CFIFlag("take the rules of an ELF file from `SOURCE`: dwarf, sframe or auto\n(default), which is dwarf, or sframe if dwarf has none", &o.Source),
		cli.OneOf("sframe-version", "write version `N` of SFrame: 2 or 3 (default)", &o.Version, cli.Numbers[uint8](2, 3)),
		cli.AddressFlag("address", "place the section at `ADDR`, hexadecimal: one that is an IN by\nitself, and one that is written without --add", &o.Address),
		cli.Text("add", "write a copy of `BINARY` that contains the section", &o.Binary),
		cli.Repeated("binaries", "take code that a core left out from the binaries in `DIR`, by\nbuild-id, path or name; may be repeated", &cfg.binaries, cli.NotEmpty),
		cli.VerboseFlag(&o.Verbose),
		cli.QuietFlag(&o.Quiet),
	})
}

// withLayout is the condition for the use of --to-store.
func (cfg *convertConfig) withLayout(*cli.Context, string) error {
	if cfg.layout == "" {
		return fmt.Errorf("--to-store needs --layout, want %s", cli.Choice(store.Layouts()))
	}
	return nil
}

// finish completes a call after its flags are set.
func (cfg *convertConfig) finish(c *cli.Context) error {
	cfg.files, cfg.given = c.Args().Slice(), cli.Given(c)
	for i, file := range cfg.files {
		cfg.files[i] = objfile.InBundle(file)
	}
	o := &cfg.options
	o.Jobs, o.DebugDirs, o.Renamed = par.Jobs(o.Jobs), cli.DebugDirs(o.DebugDirs, false), cfg.edit.name != ""
	cfg.edit.noDigest = c.IsSet("digest") && !cfg.edit.digest
	cfg.edit.digest = cfg.edit.digest || cfg.store != ""
	if len(cfg.files) == 0 {
		return errors.New("no IN")
	}
	if err := cli.CheckFiles(cfg.files); err != nil {
		return err
	}
	if err := cfg.chooseOutput(); err != nil {
		return err
	}
	maps := &cfg.edit.maps
	if err := maps.Read(false); err != nil {
		return err
	}
	if err := maps.CheckList(cfg.output, cfg.files...); err != nil {
		return err
	}
	return cli.NotInput(cfg.output, append(append(slices.Clone(cfg.files), o.Binary), maps.Inputs()...)...)
}

// chooseOutput determines the output format and the compression from the name of the output, unless flags set them.
func (cfg *convertConfig) chooseOutput() error {
	cfg.compression = cli.CompressionOf(cfg.gzip, cfg.zstd)
	cfg.to = formats.Named(cfg.toName)
	named, packed := formats.OfName(cfg.output)
	switch {
	case cfg.store != "":
		cfg.to, packed = formats.Named("breakpad"), ""
	case cfg.to == nil:
		cfg.to = named
	case named == nil || !named.Packed:
		packed = ""
	}
	if cfg.compression == nil {
		cfg.compression = cli.CompressionOf(packed == "gzip", packed == "zstd")
	}
	switch {
	case cfg.to == nil:
		return nil
	case (cfg.to.Dump || cfg.to.OnlyRules()) && len(cfg.files) > 1:
		return fmt.Errorf("%d operands, want one IN for --to %s", len(cfg.files), cfg.to.Name)
	case cfg.to.Name == "elf" && cfg.options.Base != nil && *cfg.options.Base%4096 != 0:
		return fmt.Errorf("--base is %#x, want a multiple of 0x1000 for --to elf", *cfg.options.Base)
	}
	return nil
}
