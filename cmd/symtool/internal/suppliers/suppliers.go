// Package suppliers finds symbols for the commands that look them up, in the places that flags
// name.
package suppliers

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/filekind"
	"github.com/symtool/symtool/cmd/symtool/internal/formats"
	"github.com/symtool/symtool/internal/version"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/resolve/remote"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/walk/elfcore"
)

// Flags returns the flags of commands that look for symbols.
func Flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "symbols", Aliases: []string{"s"}, Usage: "look for symbols in `PATH`, a symbol file or a folder with\nNAME/ID/NAME.sym, .sym.gz or .sym.zst; may be repeated, the first\none that has them counts"},
		&cli.StringSliceFlag{Name: "binaries", Usage: "also look for symbols in `PATH`, a binary of Linux, Windows or\nmacOS or a folder of them, by id; debug files, PDBs and dSYMs are\nfound there and in /usr/lib/debug; may be repeated"},
		&cli.StringSliceFlag{Name: "debuginfod", Usage: "fetch missing debug files of binaries from the debuginfod server\nat `URL` instead of $DEBUGINFOD_URLS; '' for none; may be repeated"},
		&cli.BoolFlag{Name: "no-debuginfod", Usage: "do not fetch debug files"},
		&cli.StringSliceFlag{Name: "symbol-url", Usage: "also look for symbols on the symbol server at `URL`; may be repeated"},
		&cli.StringFlag{Name: "symbol-cache", Usage: "keep files from symbol servers in `DIR` instead of\n$XDG_CACHE_HOME/symtool/symbols"},
		cli.VerboseFlag(),
	}
}

// New returns a Supplier for the flags, in this order: symbol files and folders, which open
// opens, binaries, servers.
func New(c *cli.Context, open supplier.Opener) (resolve.Supplier, error) {
	if err := CheckDebuginfod(c, false); err != nil {
		return nil, err
	}
	files, binaries, servers, err := NewSuppliers(c, open, false)
	if err != nil {
		return nil, err
	}
	if binaries != nil {
		files = append(files, binaries)
	}
	return supplier.NewChain(append(files, servers...)...), nil
}

// NewSuppliers returns the suppliers for the flags by kind. here is Here for commands that look for symbols of dumps
// on this machine.
func NewSuppliers(c *cli.Context, open supplier.Opener, here bool) (files []resolve.Supplier, binaries *supplier.Binaries, servers []resolve.Supplier, err error) {
	p, err := placesOf(c, here)
	if err != nil {
		return nil, nil, nil, err
	}
	if files, err = p.files(open); err != nil {
		return nil, nil, nil, err
	}
	if binaries, err = p.newBinaries(c); err != nil {
		return nil, nil, nil, err
	}
	server, err := p.newServers(c)
	if err != nil {
		return nil, nil, nil, cli.Usagef(c.Command.Name, "%v", err)
	}
	if server != nil {
		servers = append(servers, server)
	}
	return files, binaries, servers, nil
}

// Files returns the suppliers of symbol files and folders.
func Files(paths []string, open supplier.Opener) (all []resolve.Supplier, err error) {
	for _, path := range paths {
		s, err := supplier.NewSymbols(path, open)
		var not *supplier.NotSymbolsError
		if errors.As(err, &not) {
			err = fmt.Errorf("%s: %w", path, notSymbols(path, not))
		}
		if u, bad := url.Parse(path); err != nil && bad == nil && (u.Scheme == "http" || u.Scheme == "https") {
			err = fmt.Errorf("%s: no such file or folder; --symbol-url takes the URL of a symbol server", u.Redacted())
		}
		if err != nil {
			return nil, &cli.StatusError{Status: cli.StatusInput, Err: err}
		}
		all = append(all, s)
	}
	return all, nil
}

// notSymbols returns the error for a file that is not the symbol file that a flag should name.
func notSymbols(path string, not *supplier.NotSymbolsError) error {
	head, _ := formats.Head(path) // without one it is not known to be a binary
	if f := formats.OfBinary(head); f != nil && !elfcore.Sniff(head) {
		return fmt.Errorf("not a symbol file but %s: use --binaries", f.Title)
	}
	return cmp.Or(filekind.NotSymbolFile(path), error(not))
}

// checkBinaries returns an error if one of the paths is a file that is not a binary.
func checkBinaries(paths []string) error {
	for _, path := range paths {
		if head, err := formats.Head(path); err != nil || head == nil || formats.OfBinary(head) != nil && !elfcore.Sniff(head) {
			continue // folders are searched, and what is missing is reported when it is
		}
		if not := filekind.Not(path, "a binary", cli.WantBinary); not != "" {
			return &cli.StatusError{Status: cli.StatusInput, Err: errors.New(path + ": " + not)}
		}
	}
	return nil
}

// newBinaries returns the binaries, with a fetcher of their debug files, or nil if there are none.
func (p *places) newBinaries(c *cli.Context) (*supplier.Binaries, error) {
	if len(p.binaries) == 0 && !p.here {
		return nil, nil
	}
	if err := checkBinaries(p.binaries); err != nil {
		return nil, err
	}
	fetcher, err := NewFetcher(c, "--no-debuginfod does not ask")
	if err != nil {
		return nil, cli.Usagef(c.Command.Name, "%v", err)
	}
	o := supplier.BinaryOptions{DebugDirs: c.StringSlice("debug-dir"), Fetcher: fetcher, AtPaths: p.here, Hermetic: c.Bool("hermetic")}
	if o.AtPaths {
		o.LibraryDirs = libraryDirs("/etc/ld.so.conf")
	}
	if !c.IsSet("debug-dir") && !o.Hermetic {
		o.DebugDirs = []string{"/usr/lib/debug"}
	}
	s, err := supplier.NewBinaries(p.binaries, o)
	if err != nil {
		return nil, &cli.StatusError{Status: cli.StatusInput, Err: err}
	}
	return s, nil
}

// CheckDebuginfod checks the flags about servers of debug files, for a command that reads no other binaries than those
// of modules. here is as for NewSuppliers.
func CheckDebuginfod(c *cli.Context, here bool) error {
	switch {
	case c.IsSet("debuginfod") && len(c.StringSlice("binaries")) == 0 && !here:
		return cli.Usagef(c.Command.Name, "--debuginfod is for --binaries")
	case c.IsSet("debuginfod") && c.Bool("no-debuginfod"):
		return cli.Usagef(c.Command.Name, "--debuginfod and --no-debuginfod exclude each other")
	}
	return nil
}

// NewFetcher returns the servers of debug files that flags or the environment name, or nil. hush says how not to ask those
// of the environment.
func NewFetcher(c *cli.Context, hush string) (supplier.Fetcher, error) {
	msgs := c.App.ErrWriter.(*cli.Messages)
	client, err := cli.NewDebuginfod(c, msgs)
	if err != nil || client == nil {
		return nil, err
	}
	if c.IsSet("debuginfod") {
		return client, nil
	}
	return &unnamed{Fetcher: client, msgs: msgs, hush: hush}, nil
}

// newServers returns the symbol servers, or nil if there are none.
func (p *places) newServers(c *cli.Context) (resolve.Supplier, error) {
	cfg, err := p.serverConfig(c)
	if cfg == nil || err != nil {
		return nil, err
	}
	servers, err := remote.NewServers(*cfg)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.source("symbol-url"), err)
	}
	return servers, nil
}

// ProgramFlags returns the flags of commands that fetch PDBs.
func ProgramFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "symbol-url", Usage: "fetch a missing PDB from the symbol server at `URL`; may be repeated"},
		&cli.StringFlag{Name: "symbol-cache", Usage: "keep PDBs from symbol servers in `DIR` instead of\n$XDG_CACHE_HOME/symtool/symbols"},
	}
}

// NewPrograms returns the symbol servers that flags name, for PDBs, or nil if there are none.
func NewPrograms(c *cli.Context) (*remote.Programs, error) {
	p, err := placesOf(c, false)
	if err != nil {
		return nil, err
	}
	cfg, err := p.serverConfig(c)
	if cfg == nil || err != nil {
		return nil, err
	}
	programs, err := remote.NewPrograms(*cfg)
	if err != nil {
		return nil, fmt.Errorf("--symbol-url: %w", err)
	}
	return programs, nil
}

// serverConfig returns what there is to know about symbol servers, or nil if there are none.
func (p *places) serverConfig(c *cli.Context) (*remote.Servers, error) {
	cfg := &remote.Servers{URLs: p.urls, Cache: c.String("symbol-cache"), Variables: c.IsSet("vars"), UserAgent: version.Generator}
	switch named := c.IsSet("symbol-cache"); {
	case named && cfg.Cache == "":
		return nil, fmt.Errorf("--symbol-cache is empty")
	case named && len(cfg.URLs) == 0:
		return nil, fmt.Errorf("--symbol-cache is for --symbol-url; use --symbols for the files in such a folder")
	case len(cfg.URLs) == 0:
		return nil, nil
	case !named:
		dir, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("%s: no folder for its cache: set --symbol-cache, XDG_CACHE_HOME or HOME", p.source("symbol-url"))
		}
		cfg.Cache = filepath.Join(dir, "symtool", "symbols")
	}
	if msgs, ok := c.App.ErrWriter.(*cli.Messages); ok && c.Bool("verbose") {
		cfg.Log = func(url string) { msgs.Printf("symtool: asking %s", url) }
	}
	return cfg, nil
}
