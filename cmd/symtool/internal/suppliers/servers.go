package suppliers

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/version"
	"github.com/symtool/symtool/resolve/remote"
)

// Servers holds the values of the flags for symbol servers.
type Servers struct {
	URLs      []string
	Cache     string // "" for the default one
	Variables bool   // also fetch files of variables
}

// flags returns the flags, with url and cache as the help of --symbol-url and --symbol-cache. any reports whether
// there are servers.
func (s *Servers) flags(url, cache string, any func() bool, conditions ...cli.Condition) []cli.Flag {
	return []cli.Flag{
		cli.Repeated("symbol-url", url, &s.URLs, append(conditions, cli.NotEmpty)...),
		cli.Text("symbol-cache", cache, &s.Cache, func(_ *cli.Context, flag string) error {
			if !any() {
				return fmt.Errorf("--%s is for --symbol-url; use --symbols for the files in such a folder", flag)
			}
			return nil
		}),
	}
}

// ProgramFlags returns the flags of commands that fetch only PDBs.
func (s *Servers) ProgramFlags(conditions ...cli.Condition) []cli.Flag {
	return s.flags("fetch a missing PDB from the symbol server at `URL`; may be repeated",
		"keep PDBs from symbol servers in `DIR` instead of\n$XDG_CACHE_HOME/symtool/symbols", func() bool { return len(s.URLs) > 0 }, conditions...)
}

// Programs returns the symbol servers for PDBs, or nil if there are none.
func (s *Servers) Programs(msgs *cli.Messages, verbose bool) (*remote.Programs, error) {
	cfg, err := s.config("--symbol-url", msgs, verbose)
	if cfg == nil || err != nil {
		return nil, err
	}
	programs, err := remote.NewPrograms(*cfg)
	if err != nil {
		return nil, fmt.Errorf("--symbol-url: %w", err)
	}
	return programs, nil
}

// config returns the configuration of the symbol servers, or nil if there are none. source is the name of the flag
// or variable that named them, for messages.
func (s *Servers) config(source string, msgs *cli.Messages, verbose bool) (*remote.Servers, error) {
	if len(s.URLs) == 0 {
		return nil, nil
	}
	cfg := &remote.Servers{URLs: s.URLs, Cache: s.Cache, Variables: s.Variables, UserAgent: version.Generator}
	if cfg.Cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("%s: no folder for its cache: set --symbol-cache, XDG_CACHE_HOME or HOME", source)
		}
		cfg.Cache = filepath.Join(dir, "symtool", "symbols")
	}
	if verbose {
		cfg.Log = func(url string) { msgs.Printf("symtool: asking %s", url) }
	}
	return cfg, nil
}
