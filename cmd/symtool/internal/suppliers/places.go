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
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/resolve/supplier"
)

// symbolsVar is the variable with symbol files, folders and URLs of symbol servers, separated by spaces as in
// DEBUGINFOD_URLS.
const symbolsVar = "SYMTOOL_SYMBOLS"

// naming lists the flags that name places of symbols. Any of them restricts a search to what is named.
var naming = []string{"symbols", "binaries", "symbol-url", "symbols-b"}

// HereFlags returns the flags about what is found without being named.
func HereFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "local", Usage: "look on this machine, too, after what --symbols and --binaries name"},
		&cli.BoolFlag{Name: "hermetic", Usage: "read only what is named on the command line: nothing at the paths in\nDUMP, next to a binary, in /usr/lib/debug, or from $DEBUGINFOD_URLS\nand $SYMTOOL_SYMBOLS"},
	}
}

// Here reports whether the symbols of dumps are looked for on this machine, since no flag says where they are, or one
// says so: binaries at their paths in the dump, debug files of /usr/lib/debug and $DEBUGINFOD_URLS, and what
// $SYMTOOL_SYMBOLS names.
func Here(c *cli.Context) bool {
	return !c.Bool("hermetic") && (c.Bool("local") || !named(c))
}

// named reports whether a flag says where symbols are.
func named(c *cli.Context) bool { return slices.ContainsFunc(naming, c.IsSet) }

// places are where symbols are looked for.
type places struct {
	symbols, binaries, urls []string
	here                    bool // binaries at their paths in the process
	named                   bool // by flags
}

// placesOf returns the places that flags name. With here, those of Here are added.
func placesOf(c *cli.Context, here bool) (*places, error) {
	p := &places{symbols: c.StringSlice("symbols"), binaries: c.StringSlice("binaries"), urls: c.StringSlice("symbol-url"), here: here, named: named(c)}
	for i, values := range [][]string{p.symbols, p.binaries, p.urls} {
		for _, value := range values {
			if value == "" {
				return nil, cli.Usagef(c.Command.Name, "--%s is empty", naming[i])
			}
		}
	}
	if c.Bool("local") && c.Bool("hermetic") {
		return nil, cli.Usagef(c.Command.Name, "--local and --hermetic exclude each other")
	}
	if !p.here {
		return p, nil
	}
	for _, place := range strings.Fields(os.Getenv(symbolsVar)) {
		if strings.Contains(place, "://") {
			p.urls = append(p.urls, place)
		} else {
			p.symbols = append(p.symbols, place)
		}
	}
	return p, nil
}

// source returns the flag, or the variable, that named the places of a kind.
func (p *places) source(flag string) string {
	if p.here && !p.named {
		return symbolsVar
	}
	return "--" + flag
}

// files returns the suppliers of symbol files and folders.
func (p *places) files(open supplier.Opener) ([]resolve.Supplier, error) {
	all, err := Files(p.symbols, open)
	if err != nil && p.here && !p.named {
		err = &cli.StatusError{Status: cli.StatusInput, Err: fmt.Errorf("%s: %w", symbolsVar, err)}
	}
	return all, err
}

// unnamed is a Fetcher of servers that only a variable of the environment names. If they fail, as without a network, that
// is reported once, and the files count as missing.
type unnamed struct {
	supplier.Fetcher
	msgs *cli.Messages
	hush string // how to ask none, for messages
	once sync.Once
	slow sync.Once
}

// Fetch implements supplier.Fetcher.
func (u *unnamed) Fetch(ctx context.Context, kind string, buildID []byte) (path string, tried []string, err error) {
	waiting := time.AfterFunc(cli.UntilTold(), func() {
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
