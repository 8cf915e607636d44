// Package suppliers finds symbols for the commands that look them up, in the places that flags
// name.
package suppliers

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/filekind"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/resolve/remote"
	"github.com/symtool/symtool/resolve/supplier"
)

// New returns a Supplier for the places, in this order: symbol files and folders, opened with open; binaries; servers.
func (p *Places) New(open supplier.Opener) (resolve.Supplier, error) {
	files, binaries, servers, err := p.Suppliers(open)
	if err != nil {
		return nil, err
	}
	if binaries != nil {
		files = append(files, binaries)
	}
	return supplier.NewChain(append(files, servers...)...), nil
}

// Suppliers returns the suppliers for the places, by kind.
func (p *Places) Suppliers(open supplier.Opener) (files []resolve.Supplier, binaries *supplier.Binaries, servers []resolve.Supplier, err error) {
	all := p.all()
	if files, err = all.files(open); err != nil {
		return nil, nil, nil, err
	}
	if binaries, err = p.newBinaries(); err != nil {
		return nil, nil, nil, err
	}
	cfg, err := all.servers.config(all.source("symbol-url"), p.Msgs, p.Verbose)
	if cfg == nil || err != nil {
		return files, binaries, nil, err
	}
	server, err := remote.NewServers(*cfg)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%s: %w", all.source("symbol-url"), err)
	}
	return files, binaries, []resolve.Supplier{server}, nil
}

// Files returns the suppliers for symbol files and folders.
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
	if k := filekind.Dumped(path); k != nil {
		return fmt.Errorf("not a symbol file but %s: use --binaries", k.Title)
	}
	return cmp.Or(filekind.NotSymbolFile(path), error(not))
}

// checkBinaries returns an error if one of the paths is a file that is not a binary.
func checkBinaries(paths []string) error {
	for _, path := range paths {
		if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() || filekind.Dumped(path) != nil {
			continue // folders are searched; a missing path is reported by the search
		}
		if not := filekind.Not(path, "a binary", cli.WantBinary); not != "" {
			return &cli.StatusError{Status: cli.StatusInput, Err: errors.New(path + ": " + not)}
		}
	}
	return nil
}

// newBinaries returns the binaries, which can fetch their debug files, or nil if there are none.
func (p *Places) newBinaries() (*supplier.Binaries, error) {
	if len(p.Binaries) == 0 && !p.Here() {
		return nil, nil
	}
	if err := checkBinaries(p.Binaries); err != nil {
		return nil, err
	}
	fetcher, err := p.fetcher()
	if err != nil {
		return nil, err
	}
	o := supplier.BinaryOptions{DebugDirs: cli.DebugDirs(p.DebugDirs, p.Hermetic), Fetcher: fetcher, AtPaths: p.Here(), Hermetic: p.Hermetic}
	if o.AtPaths {
		o.LibraryDirs = libraryDirs("/etc/ld.so.conf")
	}
	s, err := supplier.NewBinaries(p.Binaries, o)
	if err != nil {
		return nil, &cli.StatusError{Status: cli.StatusInput, Err: err}
	}
	return s, nil
}

// fetcher returns a fetcher for the servers of debug files, or nil.
func (p *Places) fetcher() (supplier.Fetcher, error) {
	if p.Hermetic {
		return nil, nil
	}
	return NewFetcher(&p.Debuginfod, p.Msgs, p.Verbose, "--no-debuginfod does not ask")
}

// NewFetcher returns a fetcher for the debuginfod servers that flags or the environment name, or nil. With verbose it
// prints each request. hush says, for messages, how to avoid requests to the environment's servers.
func NewFetcher(d *cli.Debuginfod, msgs *cli.Messages, verbose bool, hush string) (supplier.Fetcher, error) {
	client, err := d.Client(msgs, verbose, false)
	if err != nil || client == nil {
		return nil, err
	}
	if d.URLs != nil {
		return client, nil
	}
	return &unnamed{Fetcher: client, msgs: msgs, hush: hush}, nil
}
