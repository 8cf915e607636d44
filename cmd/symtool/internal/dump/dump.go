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
	return &cli.Command{
		Name:        "dump",
		Usage:       "write the Breakpad symbol file of an ELF, Windows or macOS binary",
		UsageText:   "symtool dump [flags] FILE [DEBUGFILE]\nsymtool dump [flags] --store DIR FILE|FOLDER...\nsymtool dump [flags] --build-id HEX",
		Description: dumpDescription,
		Flags:       dumpFlags(),
		Action: func(c *cli.Context) error {
			cfg, err := newDumpConfig(c, msgs)
			if err != nil {
				return err
			}
			d := &dumper{dumpConfig: cfg, stdout: c.App.Writer, msgs: msgs}
			return d.run(c.Context)
		},
	}
}

func dumpFlags() []cli.Flag {
	return slices.Concat([]cli.Flag{
		cli.OutputFlag(),
		&cli.StringFlag{Name: "store", Usage: "write to `DIR`/NAME/ID/NAME.sym (with --gzip: NAME.sym.gz,\nwith --zstd: NAME.sym.zst)"},
		&cli.BoolFlag{Name: "both-names", Usage: "with --store: also write a library's symbols under FILE's name, if\nDT_SONAME differs"},
		&cli.StringFlag{Name: "since-index", Usage: "with --store: skip what is in the list `FILE`: NAME/ID on each line, or\nthe JSON of symtool store ls"},
		&cli.StringFlag{Name: "scratch", Usage: "of packages, keep at most `SIZE` in temporary files until binaries and\ndebug files have met, and read packages again for the rest\n(default 4G)", Value: "4G"},
		&cli.StringFlag{Name: "max-unpacked", Usage: "refuse a package of more than `SIZE` unpacked (default 64G)", Value: "64G"},
		&cli.IntFlag{Name: "max-ratio", Usage: "refuse a package of more than 1G that unpacks to more than `N` times\nits size (default 200)", Value: 200},
		cli.WordList(&cli.StringSliceFlag{Name: "accept", Usage: "end with status 0 in spite of `WHAT`, which is still reported:\nno-debug-info for binaries without debug information, no-binaries for\nfolders and packages without binaries; may be repeated"}, acceptable...),
		&cli.BoolFlag{Name: "skip-no-debug-info", Usage: "with --store: write nothing for binaries without debug information,\nwhich are reported"},
		&cli.StringFlag{Name: "arch", Usage: "of a universal file of macOS, read the binary for `CPU`: x86_64, arm64,\narm64e; without it --store writes all"},
		cli.JobsFlag(),
		&cli.BoolFlag{Name: "no-inlines", Usage: "omit INLINE and INLINE_ORIGIN records"},
		&cli.BoolFlag{Name: "no-cfi", Usage: "omit STACK CFI records"},
		cli.CFIFlag("take STACK CFI from `SOURCE`: dwarf, sframe or auto (default), which\nis dwarf, or sframe if dwarf has none"),
		&cli.BoolFlag{Name: "cfi-only", Usage: "write only MODULE, INFO and STACK CFI records"},
		&cli.BoolFlag{Name: "module-only", Usage: "write only MODULE and INFO records"},
		cli.Words(&cli.StringFlag{Name: "vars", Usage: "also describe variables in INFO VAR records: `WHICH` is none (default),\nparams for parameters, or all for local variables as well; with\n--store they go to NAME.vars next to the symbol file", Value: varsNone}, varsNone, varsParams, varsAll),
		cli.Words(&cli.StringFlag{Name: "vars-types", Usage: "with --vars: describe types in `FORM`: full (default), or names for\nnames and sizes without members", Value: typesFull}, typesFull, typesNames),
		&cli.StringFlag{Name: "name", Usage: "use `NAME` as MODULE's name instead of DT_SONAME or FILE's name"},
		&cli.StringFlag{Name: "id", Usage: "use `ID`, 33 to 40 hexadecimal digits, as MODULE's id instead of the\none from the build-id or the code"},
		&cli.StringFlag{Name: "os", Usage: "use `SYSTEM` as MODULE's operating system"},
		&cli.StringSliceFlag{Name: "prefix-map", KeepSpace: true, Usage: "given `OLD=NEW`, replace OLD with NEW at the start of FILE names;\nmay be repeated, the last match counts"},
	}, cli.MapFlags(), []cli.Flag{
		cli.Words(&cli.StringFlag{Name: "demangle", Usage: "demangle C++ and Rust names: `MODE` is full (default) or none", Value: "full"}, "full", "none"),
		&cli.BoolFlag{Name: "no-generator", Usage: "omit INFO GENERATOR"},
		&cli.StringSliceFlag{Name: "info", KeepSpace: true, Usage: "also write the record INFO `TEXT`, a keyword in capitals and a value;\nmay be repeated"},
		&cli.BoolFlag{Name: "digest", Usage: "end the symbol file with INFO DIGEST, a digest of its text, which\nreaders check; the default with --store, where --digest=false omits\nit"},
		&cli.BoolFlag{Name: "gzip", Usage: "compress the symbol file with gzip"},
		&cli.BoolFlag{Name: "zstd", Usage: "compress the symbol file with zstd; other programs than symtool find\nneither in a store"},
		&cli.BoolFlag{Name: "restat", Usage: "leave an output alone if its bytes would not change"},
		&cli.BoolFlag{Name: "MD", Usage: "write a depfile for make and ninja with the files that were read,\nlike -MD of a compiler; -MD works too"},
		&cli.StringFlag{Name: "MF", Usage: "with --MD: write the depfile to `FILE` instead of the output's name\nfollowed by .d"},
		&cli.StringSliceFlag{Name: "MT", Usage: "with --MD: make `TARGET` the target instead of the output; may be\nrepeated"},
		&cli.BoolFlag{Name: "MP", Usage: "with --MD: also make every file except FILE a target, so that make\ncontinues when one of them is gone"},
		&cli.BoolFlag{Name: "check-cfi", Usage: "end with status 1 if code has no STACK CFI"},
		&cli.Float64Flag{Name: "min-cfi", Usage: "with --check-cfi: require STACK CFI for `PERCENT` of the code\n(default 100)", Value: 100},
		&cli.StringFlag{Name: "debug-file", Usage: "take debug information from `FILE`, as from DEBUGFILE, with --store, too"},
		&cli.StringSliceFlag{Name: "debug-dir", Usage: "look for separate debug files in `DIR` instead of /usr/lib/debug;\nmay be repeated"},
		&cli.StringSliceFlag{Name: "debuginfod", Usage: "fetch missing debug files from the debuginfod server at `URL`\ninstead of $DEBUGINFOD_URLS; '' for none; may be repeated"},
		&cli.BoolFlag{Name: "no-debuginfod", Usage: "do not ask debuginfod servers"},
	}, suppliers.ProgramFlags(), []cli.Flag{
		&cli.BoolFlag{Name: "hermetic", Usage: "read only files and folders that are named on the command line:\nnothing next to FILE, in /usr/lib/debug, at a path recorded in\nFILE, or from a server"},
		&cli.StringFlag{Name: "build-id", Usage: "instead of reading FILE, fetch and dump the executable with the\nbuild-id `HEX`, which is then FILE's name"},
		&cli.StringSliceFlag{Name: "dwo-dir", Usage: "also look for .dwo files, FILE.dwp and the objects of a Mach-O FILE\nin `DIR`; may be repeated"},
		&cli.BoolFlag{Name: "no-object-timestamp", Usage: "also use objects that were changed after a Mach-O FILE was linked"},
		&cli.StringFlag{Name: "dwp", Usage: "use `FILE` as the package of .dwo files instead of the operand's\nname followed by .dwp; an empty file counts as none"},
		cli.VerboseFlag(),
		&cli.BoolFlag{Name: "quiet", Usage: "print only errors"},
		cli.Words(&cli.StringFlag{Name: "format", Usage: "print the summary as `FORM`: text (default), which needs --verbose,\nor json, which goes to standard output or, if the symbol file goes\nthere, to standard error", Value: cli.FormatText}, cli.FormatText, cli.FormatJSON),
	})
}

// dumpConfig is a call of dump, with its arguments checked.
type dumpConfig struct {
	binfile.Reader // used for every file; Jobs and Progress are set for each
	files          []string
	maps           cli.MapConfig
	output         string
	store          string
	bothNames      bool
	packages       packageLimits
	since          index // of --since-index
	accept         []string
	jobs           int
	infos          []symfmt.Info // of --info
	depfile        *depfile      // nil without --MD
	restat         bool
	compression    *store.Compression // nil for none
	digest         bool
	checkCFI       bool
	minCFI         float64 // Percentage of the code that satisfies checkCFI
	verbose        bool
	quiet          bool
	json           bool
}

// Values of --vars and --vars-types.
const (
	varsNone   = "none"
	varsParams = "params"
	varsAll    = "all"

	typesFull  = "full"
	typesNames = "names"
)

// Values of --accept.
const (
	noDebugInfo = "no-debug-info"
	noBinaries  = "no-binaries"
)

var acceptable = []string{noDebugInfo, noBinaries}

// noValue lists the flags whose value may not be empty.
var noValue = []string{"arch", "since-index", "scratch", "max-unpacked", "output", "store", "name", "id", "os", "build-id", "debug-file", "dwp", "MF"}

// excluded lists the pairs of flags that contradict each other.
var excluded = [][2]string{
	{"output", "store"},
	{"gzip", "zstd"},
	{"name", "both-names"},
	{"cfi-only", "no-cfi"},
	{"cfi-only", "vars"},
	{"module-only", "cfi-only"},
	{"module-only", "vars"},
	{"module-only", "check-cfi"},
	{"debug-file", "build-id"},
	{"check-cfi", "no-cfi"},
	{"cfi", "no-cfi"},
	{"verbose", "quiet"},
	{"debuginfod", "no-debuginfod"},
	{"debuginfod", "hermetic"},
	{"build-id", "hermetic"},
	{"symbol-url", "hermetic"},
	{"map-links", "hermetic"},
}

func newDumpConfig(c *cli.Context, msgs *cli.Messages) (*dumpConfig, error) {
	if err := checkFlags(c); err != nil {
		return nil, cli.Usagef("dump", "%v", err)
	}
	prefixes, err := cli.PrefixMap(c.StringSlice("prefix-map"))
	if err != nil {
		return nil, cli.Usagef("dump", "%v", err)
	}
	infos, err := parseInfos(c.StringSlice("info"))
	if err != nil {
		return nil, cli.Usagef("dump", "%v", err)
	}
	cfg := &dumpConfig{
		Reader:    binfile.Reader{DebugFile: c.String("debug-file"), DebugDirs: c.StringSlice("debug-dir"), Options: readOptions(c), CPU: c.String("arch"), OrElse: ", or write all with --store"},
		infos:     infos,
		output:    c.String("output"),
		store:     c.String("store"),
		bothNames: c.Bool("both-names"),
		accept:    c.StringSlice("accept"),
		jobs:      par.Jobs(c.Int("jobs")),
		restat:    c.Bool("restat"),
		digest:    c.Bool("digest") || c.IsSet("store") && !c.IsSet("digest"),
		checkCFI:  c.Bool("check-cfi"),
		minCFI:    c.Float64("min-cfi"),
		verbose:   c.Bool("verbose"),
		quiet:     c.Bool("quiet"),
		json:      c.String("format") == cli.FormatJSON,
	}
	cfg.NoDebug = binfile.NoDebug{Accepted: slices.Contains(cfg.accept, noDebugInfo), Skipped: c.Bool("skip-no-debug-info")}
	for i := range store.Compressions {
		if c.Bool(store.Compressions[i].Name) {
			cfg.compression = &store.Compressions[i]
		}
	}
	cfg.Options.PrefixMap = prefixes
	cfg.Options.LateNames = !cfg.checkCFI // which prints names of functions
	if !c.IsSet("debug-dir") && !c.Bool("hermetic") {
		cfg.DebugDirs = []string{"/usr/lib/debug"}
	}
	if cfg.output == "" && cfg.store == "" {
		cfg.output = "-"
	}
	if cfg.maps, err = cli.NewMapConfig(c, true); err != nil {
		return nil, cli.AsUsageError("dump", err)
	}
	cfg.Options.Mapping = cfg.maps.Mapping
	if cfg.Client, err = cli.NewDebuginfod(c, msgs); err != nil {
		return nil, cli.Usagef("dump", "%v", err)
	}
	if cfg.Programs, err = suppliers.NewPrograms(c); err != nil {
		return nil, cli.Usagef("dump", "%v", err)
	}
	args := c.Args().Slice()
	if id := c.String("build-id"); id != "" {
		err = cfg.checkBuildID(id, args)
	} else {
		err = cfg.operands(args)
	}
	if err == nil {
		err = cfg.buildFlags(c)
	}
	if err == nil {
		cfg.packages, err = packageFlags(c)
	}
	if err != nil {
		return nil, cli.Usagef("dump", "%v", err)
	}
	if path := c.String("since-index"); path != "" {
		if cfg.since, err = readIndex(path); err != nil {
			return nil, err
		}
	}
	return cfg, nil
}

// readOptions returns what flags say about the reading of a binary.
func readOptions(c *cli.Context) dwarf2sym.Options {
	which := c.String("vars")
	opts := dwarf2sym.Options{
		NoInlines: c.Bool("no-inlines"),
		NoCFI:     c.Bool("no-cfi") || c.Bool("module-only"),
		CFIOnly:   c.Bool("cfi-only") || c.Bool("module-only"),
		CFI:       cli.CFISources[c.String("cfi")],
		Name:      c.String("name"),
		ID:        strings.ToUpper(c.String("id")),
		OS:        c.String("os"),
		DwoDirs:   c.StringSlice("dwo-dir"),

		AnyObjectTime: c.Bool("no-object-timestamp"),

		Package:   c.String("dwp"),
		Hermetic:  c.Bool("hermetic"),
		Demangle:  c.String("demangle") == "full",
		Generator: version.Generator,
		Vars:      dwarf2sym.VarOptions{Params: which != varsNone, Locals: which == varsAll, FullTypes: c.String("vars-types") == typesFull},
	}
	if c.Bool("no-generator") {
		opts.Generator = ""
	}
	// Bazel creates an empty one if nothing is split.
	if st, err := os.Stat(opts.Package); err == nil && st.Mode().IsRegular() && st.Size() == 0 {
		opts.Package = ""
	}
	return opts
}

var (
	idForm   = regexp.MustCompile(`^[0-9A-Fa-f]{33,40}$`)
	osForm   = regexp.MustCompile(`^[0-9A-Za-z_.-]+$`)
	infoForm = regexp.MustCompile(`^([A-Z][A-Z_]*) (\S.*)$`)
)

// parseInfos parses the values of --info. INFO VAR and INFO DIGEST are not free: they have grammars of their own.
func parseInfos(texts []string) (all []symfmt.Info, err error) {
	for _, line := range texts {
		m := infoForm.FindStringSubmatch(line)
		if m == nil || m[1] == "VAR" || m[1] == symfmt.DigestKey || !text.IsPrintable(line) {
			return nil, fmt.Errorf("--info is %q, want a keyword in capitals other than VAR and DIGEST, a blank and a value", line)
		}
		all = append(all, symfmt.Info{Key: m[1], Value: m[2]})
	}
	return all, nil
}

// checkFlags checks the flags individually and in pairs.
func checkFlags(c *cli.Context) error {
	for _, name := range noValue {
		if c.IsSet(name) && c.String(name) == "" {
			return fmt.Errorf("--%s is empty", name)
		}
	}
	for _, pair := range excluded {
		if c.IsSet(pair[0]) && c.IsSet(pair[1]) {
			return fmt.Errorf("--%s and --%s exclude each other", pair[0], pair[1])
		}
	}
	if err := cli.CheckStore(c.String("store"), "--output writes one file"); err != nil {
		return fmt.Errorf("--store: %w", err)
	}
	if c.Bool("both-names") && !c.IsSet("store") {
		return fmt.Errorf("--both-names is for --store")
	}
	for _, name := range []string{"since-index", "skip-no-debug-info"} {
		if c.IsSet(name) && !c.IsSet("store") {
			return fmt.Errorf("--%s is for --store", name)
		}
	}
	for _, what := range c.StringSlice("accept") {
		if !slices.Contains(acceptable, what) {
			return fmt.Errorf("--accept is %q, want %s%s", what, cli.Choice(acceptable), cli.Meant(what, acceptable))
		}
	}
	if c.IsSet("min-cfi") && !c.Bool("check-cfi") {
		return fmt.Errorf("--min-cfi is for --check-cfi")
	}
	if c.IsSet("vars-types") && c.String("vars") == varsNone {
		return fmt.Errorf("--vars-types is for --vars params or --vars all")
	}
	if err := cli.Percentage(c, "min-cfi"); err != nil {
		return err
	}
	return checkModuleFlags(c)
}

// packageFlags returns the limits of packages.
func packageFlags(c *cli.Context) (l packageLimits, err error) {
	l.ratio = int64(c.Int("max-ratio"))
	if l.ratio < 1 {
		return l, fmt.Errorf("--max-ratio is %d, want at least 1", l.ratio)
	}
	for name, size := range map[string]*int64{"scratch": &l.scratch, "max-unpacked": &l.unpacked} {
		if *size, err = cli.ParseSize(c.String(name)); err != nil || *size == 0 {
			return l, fmt.Errorf("--%s is %q, want a number of bytes such as 500M", name, c.String(name))
		}
		if c.IsSet(name) && !c.IsSet("store") {
			return l, fmt.Errorf("--%s is for --store", name)
		}
	}
	return l, nil
}

// checkModuleFlags checks the values for the MODULE record: its fields are
// separated by blanks, and only the last may contain one.
func checkModuleFlags(c *cli.Context) error {
	if id := c.String("id"); id != "" && !idForm.MatchString(id) {
		return fmt.Errorf("--id is %q, want 33 to 40 hexadecimal digits", id)
	}
	if system := c.String("os"); system != "" && !osForm.MatchString(system) {
		return fmt.Errorf("--os is %q, want one word such as Linux", system)
	}
	return cli.CheckModuleName("name", c.String("name"))
}

// operands sets the names of the inputs.
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
func (cfg *dumpConfig) checkBuildID(text string, args []string) error {
	id, err := debuginfod.ParseBuildID(text)
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
