package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/symtool/symtool/symfmt/srcmap"
)

// MapConfig holds the values of the flags for names of source files.
type MapConfig struct {
	Mapping   *srcmap.Mapping // nil without --map and --map-file
	Files     []string        // of --map-file
	Manifests []ManifestArg
	list      string // of --map-list
	rules     []string
	variables map[string]string
	links     bool
}

// Flags returns the flags of the commands that write FILE names.
func (cfg *MapConfig) Flags() []cli.Flag {
	mapped := func(c *cli.Context, flag string) error {
		if !On(c, "map") && !On(c, "map-file") {
			return fmt.Errorf("--%s needs --map or --map-file", flag)
		}
		return nil
	}
	var vars []string
	return []cli.Flag{
		Repeated("map", "given `REGEX=TEMPLATE`, replace each FILE name that REGEX matches\nwith TEMPLATE, which may have {1} and {NAME} for groups, {VAR} and\n{digest}; applies after --prefix-map; may be repeated, the first\nmatch counts; rust is a ready-made rule for Rust's standard\nlibrary", &cfg.rules),
		Repeated("map-file", "read rules from `FILE`, one a line or in the JSON of Mozilla's\ndump_syms --mapping-file; they precede those of --map; may be\nrepeated", &cfg.Files),
		Where(Repeated("map-var", "set a variable for templates to a value: `VAR=VALUE`; may be\nrepeated", &vars), mapped, func(*cli.Context, string) (err error) {
			cfg.variables, err = mapVars(vars)
			return err
		}),
		Switch("map-links", "follow symbolic links in paths before --map", &cfg.links, Without("hermetic"), mapped),
		Where(ParsedAll("map-manifest", "given `FILE,DIR`, look up the origin of files in DIR in Mozilla's\ninstall manifest FILE before --map; may be repeated", &cfg.Manifests, manifestArg), mapped),
		Where(&cli.StringFlag{Name: "map-list", Usage: "write to `FILE` a line for each file whose digest is in a name: the\nname, the SHA-512 and the file, separated by tabs", Destination: &cfg.list}, mapped, func(c *cli.Context, flag string) error {
			if cfg.list == "" || cfg.list == "-" {
				return fmt.Errorf("--%s is %q, want the name of a file", flag, cfg.list)
			}
			return nil
		}),
	}
}

// Inputs returns the files that define the mapping.
func (cfg *MapConfig) Inputs() []string {
	all := slices.Clone(cfg.Files)
	for _, m := range cfg.Manifests {
		all = append(all, m.File)
	}
	return all
}

// Read reads the rules and their files. debugInfo allows {md5}. If a file cannot be read, the error has
// an exit status.
func (cfg *MapConfig) Read(debugInfo bool) error {
	if len(cfg.rules)+len(cfg.Files) == 0 {
		return nil
	}
	m := &srcmap.Mapping{Links: cfg.links}
	for _, file := range cfg.Files {
		rules, err := readMapRules(file, cfg.variables)
		if err != nil {
			return &StatusError{Status: StatusInput, Err: fmt.Errorf("--map-file: %w", hintMapVar(err))}
		}
		m.Rules = append(m.Rules, rules...)
	}
	for _, text := range cfg.rules {
		rule, err := srcmap.ParseRule(text, cfg.variables)
		if err != nil {
			return fmt.Errorf("--map is %q: %w", text, hintMapVar(err))
		}
		m.Rules = append(m.Rules, rule)
	}
	switch {
	case m.ReadsMD5() && !debugInfo:
		return errors.New("--map has {md5}, which only debug information has: want symtool dump")
	case cfg.list != "" && !m.ReadsFiles():
		return errors.New("--map-list needs {digest} in --map")
	}
	cfg.Mapping = m
	return nil
}

// hintMapVar adds to an error for an unknown name how to define a variable.
func hintMapVar(err error) error {
	var unknown *srcmap.NameError
	if errors.As(err, &unknown) && srcmap.CheckVar(unknown.Name, "") == nil {
		return fmt.Errorf("%w; define it with --map-var %s=VALUE", err, unknown.Name)
	}
	return err
}

// readMapRules reads a file that --map-file names.
func readMapRules(file string, vars map[string]string) ([]srcmap.Rule, error) {
	if file == "" {
		return nil, errors.New("the name of the file is empty")
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, unopened(err)
	}
	defer f.Close()
	rules, err := srcmap.ReadRules(f, file, vars)
	return rules, unopened(err)
}

// unopened formats an error of the operating system like other errors: first the file, then the reason.
func unopened(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return fmt.Errorf("%s: %w", path.Path, path.Err)
	}
	return err
}

// mapVars parses arguments of the form VAR=VALUE.
func mapVars(args []string) (map[string]string, error) {
	vars := map[string]string{}
	for _, arg := range args {
		name, value, ok := strings.Cut(arg, "=")
		if !ok {
			return nil, fmt.Errorf("--map-var is %q, want VAR=VALUE: the environment is not consulted", arg)
		}
		if err := srcmap.CheckVar(name, value); err != nil {
			return nil, fmt.Errorf("--map-var is %q: %w", arg, err)
		}
		if _, again := vars[name]; again {
			return nil, fmt.Errorf("--map-var %s is given twice", name)
		}
		vars[name] = value
	}
	return vars, nil
}

// ManifestArg is a value of --map-manifest, FILE,DIR.
type ManifestArg struct{ File, dir string }

// manifestArg parses FILE,DIR; DIR follows the last comma.
func manifestArg(arg string) (ManifestArg, error) {
	n := strings.LastIndexByte(arg, ',')
	if n <= 0 || n == len(arg)-1 {
		return ManifestArg{}, wanted("FILE,DIR")
	}
	return ManifestArg{arg[:n], arg[n+1:]}, nil
}

// ReadManifests reads the files that --map-manifest names.
func (cfg *MapConfig) ReadManifests() error {
	for _, arg := range cfg.Manifests {
		m, err := readManifest(arg)
		if err != nil {
			return &StatusError{Status: StatusInput, Err: fmt.Errorf("--map-manifest: %w", unopened(err))}
		}
		cfg.Mapping.Manifests = append(cfg.Mapping.Manifests, m)
	}
	return nil
}

func readManifest(arg ManifestArg) (*srcmap.Manifest, error) {
	dir, err := filepath.Abs(arg.dir)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(arg.File)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return srcmap.ReadManifest(f, arg.File, arg.dir, dir)
}

// CheckList returns an error if --map-list would overwrite an input or the output.
func (cfg *MapConfig) CheckList(output string, inputs ...string) error {
	list, err := os.Stat(cfg.list)
	if cfg.list == "" {
		return nil
	}
	if filepath.Clean(cfg.list) == filepath.Clean(output) {
		return fmt.Errorf("--map-list is %s, which is the output", cfg.list)
	}
	for _, in := range append(cfg.Inputs(), inputs...) {
		if st, statErr := os.Stat(in); err == nil && statErr == nil && os.SameFile(st, list) {
			return fmt.Errorf("--map-list is %s, which is an input", cfg.list)
		}
	}
	return nil
}

// WriteList writes the file of --map-list, whole or not at all: a sorted line for each name that contains
// a file's digest. Names and files contain no tabs (see Mapping).
func (cfg *MapConfig) WriteList(mapped []srcmap.File) error {
	if cfg.list == "" {
		return nil
	}
	// One file per name is enough, since the name contains the file's digest.
	byName := func(a, b srcmap.File) int { return cmp.Compare(a.Name, b.Name) }
	slices.SortFunc(mapped, func(a, b srcmap.File) int { return cmp.Or(byName(a, b), cmp.Compare(a.File, b.File)) })
	mapped = slices.CompactFunc(mapped, func(a, b srcmap.File) bool { return byName(a, b) == 0 })
	out, err := CreateOutput(cfg.list, io.Discard)
	if err != nil {
		return OutputError(cfg.list, err)
	}
	defer out.Abort()
	for _, f := range mapped {
		if _, err := fmt.Fprintf(out, "%s\t%s\t%s\n", f.Name, f.SHA512, f.File); err != nil {
			return OutputError(out.Name(), err)
		}
	}
	return OutputError(out.Name(), out.Commit())
}
