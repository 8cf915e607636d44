// Package dump implements symtool dump.
package dump

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/binfile"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/suppliers"
	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/debuginfod"
	"github.com/symtool/symtool/internal/par"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/internal/version"
	"github.com/symtool/symtool/resolve/store"
	"github.com/symtool/symtool/symfmt"
)

const dumpDescription = `
FILE is an ELF executable or shared library. Its debug information comes from
FILE itself, from DEBUGFILE, or from a separate file, which is found by build-id
below --debug-dir, by .gnu_debuglink or as FILE.debug, or fetched from a
debuginfod server. The .dwo files of split debug information are found where
FILE says, next to FILE or in --dwo-dir; a package of them is FILE.dwp,
DEBUGFILE.dwp or the file named by --dwp. MODULE has the name that crash reports
use to ask for symbols: a library's DT_SONAME, or else FILE's name.

FILE may also be a Windows program or DLL (PE). Its symbols come from DWARF, or
from its PDB: DEBUGFILE, or NAME beside FILE or below --debug-dir, or there
NAME/ID/NAME as on symbol servers, or from a server (--symbol-url), where NAME is
what FILE calls it; without either there are exports alone. Its STACK CFI comes
from .pdata. A PDB alone may be FILE, too: then there is no STACK CFI for x86_64
and arm64, which only the program has. MODULE has the PDB's name and id.

FILE may be a program, library or dSYM of macOS or iOS (Mach-O), or a bundle: X.app,
F.framework, X.dSYM. Its debug information comes from its dSYM: DEBUGFILE, X.dSYM
beside FILE or the bundle that FILE is in, or any below --debug-dir with FILE's UUID.
Without a dSYM it comes from the objects and static libraries that FILE was linked
from, where they were then, beside FILE or in --dwo-dir, as if dsymutil had been run.
Its STACK CFI comes from __eh_frame and __unwind_info, which a dSYM does not have. Of a
universal file --arch chooses one binary.

The symbol file goes to standard output, to --output, or to NAME/ID/NAME.sym
below --store, which accepts many FILEs, and folders: all binaries below them are
dumped, with the debug files and PDBs there. It appears whole or not at all, and
has the same bytes with any --jobs.

For build systems, --MD writes a depfile, and --restat leaves an unchanged
output alone. symtool integration prints complete rules.

Examples:
  symtool dump -o app.sym app
  symtool dump --store symbols --gzip build/app libfoo.so_1.0_amd64.deb
`

// Command returns the command symtool dump.
func Command(msgs *cli.Messages) *cli.Command {
	cfg := newDumpConfig(msgs)
	return &cli.Command{
		Name:        "dump",
		Usage:       "write the Breakpad symbol file of an ELF, Windows or macOS binary",
		UsageText:   "symtool dump [flags] FILE [DEBUGFILE]\nsymtool dump [flags] --store DIR FILE|FOLDER...\nsymtool dump [flags] --build-id HEX",
		Description: dumpDescription,
		Flags:       cfg.flags(),
		Action: func(c *cli.Context) error {
			if err := cfg.finish(c); err != nil {
				return cli.AsUsageError("dump", err)
			}
			d := &dumper{dumpConfig: cfg, stdout: c.App.Writer, msgs: msgs}
			return d.run(c.Context)
		},
	}
}

// dumpConfig is a call of dump.
type dumpConfig struct {
	binfile.Reader // used for every file; Jobs and Progress are set for each
	files          []string
	msgs           *cli.Messages
	maps           cli.MapConfig
	debuginfod     cli.Debuginfod
	servers        suppliers.Servers
	buildID        string
	output         string
	store          string
	bothNames      bool
	packages       packageLimits
	indexFile      string
	since          index // modules in the files of --since-index
	accept         []string
	jobs           int
	moduleOnly     bool
	vars           varsWhich
	noGenerator    bool
	infos          []symfmt.Info
	md             bool
	depfile        depfile
	restat         bool
	compression    *store.Compression // nil for none
	gzip, zstd     bool
	digest         bool
	checkCFI       bool
	minCFI         float64 // percentage of the code that must have CFI for checkCFI
	verbose        bool
	quiet          bool
	json           bool
}

// newDumpConfig returns a call without flags.
func newDumpConfig(msgs *cli.Messages) *dumpConfig {
	return &dumpConfig{
		Reader: binfile.Reader{
			Options: dwarf2sym.Options{Demangle: true, Generator: version.Generator, Vars: dwarf2sym.VarOptions{FullTypes: true}},
			OrElse:  ", or write all with --store",
		},
		msgs: msgs, packages: packageLimits{scratch: 4 << 30, unpacked: 64 << 30, ratio: 200}, minCFI: 100,
	}
}

// flags returns the flags of the command. Parsing them sets fields of cfg.
func (cfg *dumpConfig) flags() []cli.Flag {
	o := &cfg.Options
	toStore := cli.With("store")
	size := "a number of bytes such as 500M"
	return slices.Concat([]cli.Flag{
		cli.OutputFlag(&cfg.output, cli.Without("store")),
		cli.Text("store", "write to `DIR`/NAME/ID/NAME.sym (with --gzip: NAME.sym.gz,\nwith --zstd: NAME.sym.zst)", &cfg.store, cli.StoreFolder("--output writes one file")),
		cli.Switch("both-names", "with --store: also write a library's symbols under FILE's name, if\nDT_SONAME differs", &cfg.bothNames, toStore),
		cli.Text("since-index", "with --store: skip what is in the list `FILE`: NAME/ID on each line, or\nthe JSON of symtool store ls", &cfg.indexFile, toStore),
		cli.Where(cli.SizeFlag("scratch", "of packages, keep at most `SIZE` in temporary files until binaries and\ndebug files have met, and read packages again for the rest\n(default 4G)", &cfg.packages.scratch, size), toStore),
		cli.Where(cli.SizeFlag("max-unpacked", "refuse a package of more than `SIZE` unpacked (default 64G)", &cfg.packages.unpacked, size), toStore),
		cli.Number("max-ratio", "refuse a package of more than 1G that unpacks to more than `N` times\nits size (default 200)", &cfg.packages.ratio, toStore, cli.AtLeast(1)),
		cli.WordList(cli.ParsedAll("accept", "end with status 0 in spite of `WHAT`, which is still reported:\nno-debug-info for binaries without debug information, no-binaries for\nfolders and packages without binaries; may be repeated", &cfg.accept, cli.WordOf(acceptable)), acceptable...),
		cli.Switch("skip-no-debug-info", "with --store: write nothing for binaries without debug information,\nwhich are reported", &cfg.NoDebug.Skipped, toStore),
		cli.Text("arch", "of a universal file of macOS, read the binary for `CPU`: x86_64, arm64,\narm64e; without it --store writes all", &cfg.CPU),
		cli.JobsFlag(&cfg.jobs),
		cli.Switch("no-inlines", "omit INLINE and INLINE_ORIGIN records", &o.NoInlines),
		cli.Switch("no-cfi", "omit STACK CFI records", &o.NoCFI),
		cli.CFIFlag("take STACK CFI from `SOURCE`: dwarf, sframe or auto (default), which\nis dwarf, or sframe if dwarf has none", &o.CFI, cli.Without("no-cfi")),
		cli.Switch("cfi-only", "write only MODULE, INFO and STACK CFI records", &o.CFIOnly, cli.Without("no-cfi", "vars")),
		cli.Switch("module-only", "write only MODULE and INFO records", &cfg.moduleOnly, cli.Without("cfi-only", "vars", "check-cfi")),
		cli.OneOf("vars", "also describe variables in INFO VAR records: `WHICH` is none (default),\nparams for parameters, or all for local variables as well; with\n--store they go to NAME.vars next to the symbol file", &cfg.vars, varsWords),
		cli.Where(cli.OneOf("vars-types", "with --vars: describe types in `FORM`: full (default), or names for\nnames and sizes without members", &o.Vars.FullTypes, []cli.Word[bool]{{Text: "full", Means: true}, {Text: "names"}}), cfg.withVars),
		cli.Text("name", "use `NAME` as MODULE's name instead of DT_SONAME or FILE's name", &o.Name, cli.ModuleName, cli.Without("both-names")),
		cli.Text("id", "use `ID`, 33 to 40 hexadecimal digits, as MODULE's id instead of the\none from the build-id or the code", &o.ID, cli.Wanted("33 to 40 hexadecimal digits", idForm.MatchString)),
		cli.Text("os", "use `SYSTEM` as MODULE's operating system", &o.OS, cli.Wanted("one word such as Linux", osForm.MatchString)),
		cli.PrefixMapFlag("given `OLD=NEW`, replace OLD with NEW at the start of FILE names;\nmay be repeated, the last match counts", &o.PrefixMap),
	}, cfg.maps.Flags(), []cli.Flag{
		cli.OneOf("demangle", "demangle C++ and Rust names: `MODE` is full (default) or none", &o.Demangle, []cli.Word[bool]{{Text: "full", Means: true}, {Text: "none"}}),
		cli.Switch("no-generator", "omit INFO GENERATOR", &cfg.noGenerator),
		cli.ParsedAll("info", "also write the record INFO `TEXT`, a keyword in capitals and a value;\nmay be repeated", &cfg.infos, parseInfo),
		cli.Switch("digest", "end the symbol file with INFO DIGEST, a digest of its text, which\nreaders check; the default with --store, where --digest=false omits\nit", &cfg.digest),
		cli.Switch("gzip", "compress the symbol file with gzip", &cfg.gzip, cli.Without("zstd")),
		cli.Switch("zstd", "compress the symbol file with zstd; other programs than symtool find\nneither in a store", &cfg.zstd),
		cli.Switch("restat", "leave an output alone if its bytes would not change", &cfg.restat, cfg.withFile),
	}, cfg.depfileFlags(), []cli.Flag{
		cli.Switch("check-cfi", "end with status 1 if code has no STACK CFI", &cfg.checkCFI, cli.Without("no-cfi")),
		cli.Share("min-cfi", "with --check-cfi: require STACK CFI for `PERCENT` of the code\n(default 100)", &cfg.minCFI, cli.With("check-cfi")),
		cli.Text("debug-file", "take debug information from `FILE`, as from DEBUGFILE, with --store, too", &cfg.DebugFile, cli.Without("build-id")),
		cli.Repeated("debug-dir", "look for separate debug files in `DIR` instead of /usr/lib/debug;\nmay be repeated", &cfg.DebugDirs),
	}, cfg.debuginfod.Flags("fetch missing debug files from the debuginfod server at `URL`\ninstead of $DEBUGINFOD_URLS; '' for none; may be repeated", "do not ask debuginfod servers", cli.Without("hermetic")),
		cfg.servers.ProgramFlags(cli.Without("hermetic")), []cli.Flag{
			cli.Switch("hermetic", "read only files and folders that are named on the command line:\nnothing next to FILE, in /usr/lib/debug, at a path recorded in\nFILE, or from a server", &o.Hermetic),
			cli.Text("build-id", "instead of reading FILE, fetch and dump the executable with the\nbuild-id `HEX`, which is then FILE's name", &cfg.buildID, cli.Without("hermetic")),
			cli.Repeated("dwo-dir", "also look for .dwo files, FILE.dwp and the objects of a Mach-O FILE\nin `DIR`; may be repeated", &o.DwoDirs),
			cli.Switch("no-object-timestamp", "also use objects that were changed after a Mach-O FILE was linked", &o.AnyObjectTime),
			cli.Text("dwp", "use `FILE` as the package of .dwo files instead of the operand's\nname followed by .dwp; an empty file counts as none", &o.Package),
			cli.VerboseFlag(&cfg.verbose),
			cli.QuietFlag(&cfg.quiet),
			cli.OneOf("format", "print the summary as `FORM`: text (default), which needs --verbose,\nor json, which goes to standard output or, if the symbol file goes\nthere, to standard error", &cfg.json, cli.TextOrJSON),
		})
}

// varsWhich is a value of --vars.
type varsWhich uint8

const (
	varsNone varsWhich = iota
	varsParams
	varsAll
)

var varsWords = []cli.Word[varsWhich]{{Text: "none", Means: varsNone}, {Text: "params", Means: varsParams}, {Text: "all", Means: varsAll}}

// withVars is the condition for the use of --vars-types.
func (cfg *dumpConfig) withVars(*cli.Context, string) error {
	if cfg.vars == varsNone {
		return fmt.Errorf("--vars-types is for --vars params or --vars all")
	}
	return nil
}

// Values of --accept.
const (
	noDebugInfo = "no-debug-info"
	noBinaries  = "no-binaries"
)

var acceptable = []string{noDebugInfo, noBinaries}

// finish completes a call after its flags are set.
func (cfg *dumpConfig) finish(c *cli.Context) (err error) {
	cfg.finishOptions()
	cfg.jobs = par.Jobs(cfg.jobs)
	if cfg.store != "" && !c.IsSet("digest") {
		cfg.digest = true
	}
	cfg.NoDebug.Accepted = slices.Contains(cfg.accept, noDebugInfo)
	cfg.compression = cli.CompressionOf(cfg.gzip, cfg.zstd)
	cfg.DebugDirs = cli.DebugDirs(cfg.DebugDirs, cfg.Options.Hermetic)
	if cfg.store != "" {
		cfg.output, cfg.Many = "", true
	}
	if err := cfg.maps.Read(true); err != nil {
		return err
	}
	cfg.Options.Mapping = cfg.maps.Mapping
	if !cfg.Options.Hermetic {
		if cfg.Client, err = cfg.debuginfod.Client(cfg.msgs, cfg.verbose, cfg.quiet); err != nil {
			return err
		}
	}
	if cfg.Programs, err = cfg.servers.Programs(cfg.msgs, cfg.verbose); err != nil {
		return err
	}
	args := c.Args().Slice()
	if cfg.buildID != "" {
		err = cfg.checkBuildID(args)
	} else {
		err = cfg.operands(args)
	}
	if err == nil {
		err = cfg.finishDepfile()
	}
	if err == nil && cfg.indexFile != "" {
		cfg.since, err = readIndex(cfg.indexFile)
	}
	return err
}

// finishOptions sets the options for reading a binary that depend on several flags.
func (cfg *dumpConfig) finishOptions() {
	o := &cfg.Options
	if cfg.moduleOnly {
		o.NoCFI, o.CFIOnly = true, true
	}
	if cfg.noGenerator {
		o.Generator = ""
	}
	o.ID = strings.ToUpper(o.ID)
	o.Vars.Params, o.Vars.Locals = cfg.vars != varsNone, cfg.vars == varsAll
	o.LateNames = !cfg.checkCFI // checkCFI prints the names of functions
	// Bazel creates an empty package if no unit is split.
	if st, err := os.Stat(o.Package); err == nil && st.Mode().IsRegular() && st.Size() == 0 {
		o.Package = ""
	}
}

var (
	idForm   = regexp.MustCompile(`^[0-9A-Fa-f]{33,40}$`)
	osForm   = regexp.MustCompile(`^[0-9A-Za-z_.-]+$`)
	infoForm = regexp.MustCompile(`^([A-Z][A-Z_]*) (\S.*)$`)
)

// parseInfo parses a value of --info. INFO VAR and INFO DIGEST are not allowed: they have grammars of their
// own.
func parseInfo(line string) (symfmt.Info, error) {
	m := infoForm.FindStringSubmatch(line)
	if m == nil || m[1] == "VAR" || m[1] == symfmt.DigestKey || !text.IsPrintable(line) {
		return symfmt.Info{}, cli.Want("a keyword in capitals other than VAR and DIGEST, a blank and a value")
	}
	return symfmt.Info{Key: m[1], Value: m[2]}, nil
}

// operands checks the operands and sets the names of the inputs.
func (cfg *dumpConfig) operands(args []string) error {
	for _, arg := range args {
		switch arg {
		case "":
			return fmt.Errorf("the name of a file is empty")
		case "-":
			return fmt.Errorf("reading a binary needs random access: name a file")
		}
	}
	cfg.files = args
	switch {
	case len(args) == 0:
		return fmt.Errorf("no FILE")
	case cfg.store != "" && len(args) > 1 && cfg.Options.Name+cfg.Options.ID != "":
		return fmt.Errorf("--name and --id are for one file, not for %d", len(args))
	case len(args) > 1 && cfg.store != "" && cfg.Options.Package != "":
		return fmt.Errorf("--dwp is for one file, not for %d", len(args))
	case cfg.DebugFile != "" && len(args) > 1:
		return fmt.Errorf("--debug-file is for one FILE, not for %d operands", len(args))
	case cfg.store == "" && len(args) > 2:
		return fmt.Errorf("%d files: one symbol file has one FILE and one DEBUGFILE, --store takes more", len(args))
	case cfg.store == "" && len(args) == 2:
		cfg.files, cfg.DebugFile = args[:1], args[1]
	}
	if err := cfg.checkFolders(); err != nil {
		return err
	}
	inputs := append(slices.Clone(args), cfg.DebugFile, cfg.Options.Package)
	if err := cfg.maps.CheckList(cfg.output, inputs...); err != nil {
		return err
	}
	return cli.NotInput(cfg.output, append(inputs, cfg.maps.Inputs()...)...)
}

// checkBuildID checks --build-id, which replaces FILE.
func (cfg *dumpConfig) checkBuildID(args []string) error {
	id, err := debuginfod.ParseBuildID(cfg.buildID)
	switch {
	case err != nil:
		return fmt.Errorf("--build-id: %w", err)
	case len(args) > 0:
		return fmt.Errorf("--build-id replaces FILE: unexpected operand %q", args[0])
	case cfg.Client == nil:
		return errors.New("--build-id needs a server: --debuginfod or DEBUGINFOD_URLS")
	}
	cfg.BuildID = id
	cfg.files = []string{fmt.Sprintf("%x", id)}
	cfg.Options.FileName = cfg.files[0]
	return nil
}
