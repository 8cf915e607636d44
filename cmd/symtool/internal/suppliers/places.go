package suppliers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/debuginfod"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/resolve/remote"
	"github.com/symtool/symtool/resolve/supplier"
)

// symbolsVar is the environment variable that lists symbol files, folders and URLs of symbol servers, separated by
// spaces as in DEBUGINFOD_URLS.
const symbolsVar = "SYMTOOL_SYMBOLS"

// Places holds the values of the flags that say where symbols are.
type Places struct {
	Symbols, Binaries []string
	Debuginfod        cli.Debuginfod
	Servers           Servers
	DebugDirs         []string // nil for the system's
	Verbose           bool
	Msgs              *cli.Messages

	Operands bool     // operands may also be binaries
	OfDumps  bool     // the symbols are those of dumps, which may be looked for on this machine
	Local    bool     // with OfDumps: also look on this machine, even if flags name other places
	Hermetic bool     // read only what flags name
	SymbolsB []string // for a second walk
}

// Flags returns the flags of commands that look for symbols.
func (p *Places) Flags() []cli.Flag {
	return slices.Concat([]cli.Flag{
		cli.Repeated("symbols,s", "look for symbols in `PATH`, a symbol file or a folder with\nNAME/ID/NAME.sym, .sym.gz or .sym.zst; may be repeated, the first\none that has them counts", &p.Symbols, cli.NotEmpty),
		cli.Repeated("binaries", "also look for symbols in `PATH`, a binary of Linux, Windows or\nmacOS or a folder of them, by id; debug files, PDBs and dSYMs are\nfound there and in /usr/lib/debug; may be repeated", &p.Binaries, cli.NotEmpty),
	}, p.Debuginfod.Flags("fetch missing debug files of binaries from the debuginfod server\nat `URL` instead of $DEBUGINFOD_URLS; '' for none; may be repeated", "do not fetch debug files", p.forBinaries),
		p.Servers.flags("also look for symbols on the symbol server at `URL`; may be repeated", "keep files from symbol servers in `DIR` instead of\n$XDG_CACHE_HOME/symtool/symbols",
			func() bool { return len(p.all().servers.URLs) > 0 }),
		[]cli.Flag{cli.VerboseFlag(&p.Verbose)})
}

// HereFlags returns the flags for places that are searched without being named.
func (p *Places) HereFlags() []cli.Flag {
	return []cli.Flag{
		cli.Switch("local", "look on this machine, too, after what --symbols and --binaries name", &p.Local, cli.Without("hermetic")),
		cli.Switch("hermetic", "read only what is named on the command line: nothing at the paths in\nDUMP, next to a binary, in /usr/lib/debug, or from $DEBUGINFOD_URLS\nand $SYMTOOL_SYMBOLS", &p.Hermetic),
	}
}

// forBinaries is the condition of --debuginfod: there are binaries, whose debug files can be missing.
func (p *Places) forBinaries(_ *cli.Context, flag string) error {
	if len(p.Binaries) == 0 && !p.Here() && !p.Operands {
		return fmt.Errorf("--%s is for --binaries", flag)
	}
	return nil
}

// Here reports whether the symbols of dumps are looked for on this machine, because no flag says where they are, or
// because --local is given: binaries at their paths in the dump, debug files in /usr/lib/debug and from
// $DEBUGINFOD_URLS, and the places in $SYMTOOL_SYMBOLS.
func (p *Places) Here() bool { return p.OfDumps && !p.Hermetic && (p.Local || !p.named()) }

// named reports whether a flag says where symbols are.
func (p *Places) named() bool {
	return len(p.Symbols)+len(p.Binaries)+len(p.Servers.URLs)+len(p.SymbolsB) > 0
}

// Client returns the client for debuginfod servers, or nil if there are none.
func (p *Places) Client() (*debuginfod.Client, error) {
	if p.Hermetic {
		return nil, nil
	}
	return p.Debuginfod.Client(p.Msgs, p.Verbose, false)
}

// Programs returns the symbol servers that flags name, for PDBs, or nil if there are none.
func (p *Places) Programs() (*remote.Programs, error) { return p.Servers.Programs(p.Msgs, p.Verbose) }

// places holds the places where symbols are looked for: those that flags name, and those in $SYMTOOL_SYMBOLS.
type places struct {
	symbols []string
	servers Servers
	unnamed bool // no flag names a place
}

// all returns the places.
func (p *Places) all() places {
	all := places{symbols: p.Symbols, servers: p.Servers, unnamed: p.Here() && !p.named()}
	if !p.Here() {
		return all
	}
	for _, place := range strings.Fields(os.Getenv(symbolsVar)) {
		if strings.Contains(place, "://") {
			all.servers.URLs = append(slices.Clone(all.servers.URLs), place)
		} else {
			all.symbols = append(slices.Clone(all.symbols), place)
		}
	}
	return all
}

// source returns the name of the flag or the variable that named the places of a kind.
func (p *places) source(flag string) string {
	if p.unnamed {
		return symbolsVar
	}
	return "--" + flag
}

// files returns the suppliers for symbol files and folders.
func (p *places) files(open supplier.Opener) ([]resolve.Supplier, error) {
	all, err := Files(p.symbols, open)
	if err != nil && p.unnamed {
		err = &cli.StatusError{Status: cli.StatusInput, Err: fmt.Errorf("%s: %w", symbolsVar, err)}
	}
	return all, err
}

// unnamed is a Fetcher for servers that only an environment variable names. If they fail, for instance without a
// network, the failure is reported once, and the files count as missing.
type unnamed struct {
	supplier.Fetcher
	msgs *cli.Messages
	hush string // how to ask no server, for messages
	once sync.Once
	slow sync.Once
}

// Fetch implements supplier.Fetcher.
func (u *unnamed) Fetch(ctx context.Context, kind string, buildID []byte) (path string, tried []string, err error) {
	waiting := time.AfterFunc(cli.NoticeDelay(), func() {
		u.slow.Do(func() { u.msgs.Warnf("symtool: waiting for $DEBUGINFOD_URLS; %s", u.hush) })
	})
	path, tried, err = u.Fetcher.Fetch(ctx, kind, buildID)
	waiting.Stop()
	if err == nil || ctx.Err() != nil || errors.Is(err, fs.ErrNotExist) {
		return path, tried, err
	}
	u.once.Do(func() { u.msgs.Warnf("symtool: $DEBUGINFOD_URLS: %v; %s", err, u.hush) })
	return "", tried, fs.ErrNotExist
}
