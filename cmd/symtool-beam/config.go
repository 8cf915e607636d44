package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/version"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/resolve/remote"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/elfcore"
	"github.com/symtool/symtool/walk/fleet"
)

// Config says how dumps are walked. It is passed to the workers as JSON. Paths are paths on a
// worker.
type Config struct {
	Symbols     []string `json:"symbols,omitempty"` // symbol files, and folders of them
	Binaries    []string `json:"binaries,omitempty"`
	Debuginfod  []string `json:"debuginfod,omitempty"`   // URLs
	SymbolURL   []string `json:"symbol_url,omitempty"`   // of symbol servers
	SymbolCache string   `json:"symbol_cache,omitempty"` // "" for the user's cache

	Registers  bool     `json:"registers,omitempty"`
	Techniques []string `json:"techniques,omitempty"` // nil for all
	MaxFrames  int      `json:"max_frames,omitempty"`

	Jobs   int   `json:"jobs,omitempty"`   // dumps walked side by side in a process; 0 for the number of processors
	Memory int64 `json:"memory,omitempty"` // bytes of live memory above which symbols are dropped; 0 for no limit
}

// list is a flag that may be repeated.
type list []string

func (l *list) String() string { return strings.Join(*l, ",") }

func (l *list) Set(value string) error {
	if value == "" {
		return fmt.Errorf("want a value that is not empty")
	}
	*l = append(*l, value)
	return nil
}

// flags holds the program's flags, without the flags of Beam's runners.
type flags struct {
	config     Config
	techniques string
	memory     int64
	lists      list
	output     string
	shardSize  int
	verbose    bool
	names      []string // of our flags, in order
}

// register adds the flags to a set.
func (f *flags) register(set *flag.FlagSet) {
	c := &f.config
	before := map[string]bool{}
	set.VisitAll(func(x *flag.Flag) { before[x.Name] = true })
	set.Var((*list)(&c.Symbols), "symbols", "take symbols from `PATH`: a symbol file, or a folder with NAME/ID/NAME.sym; may be repeated")
	set.Var((*list)(&c.Binaries), "binaries", "also from `PATH`: an ELF file, or a folder with such; may be repeated")
	set.Var((*list)(&c.Debuginfod), "debuginfod", "fetch debug files that binaries lack from the debuginfod server at `URL`; may be repeated")
	set.Var((*list)(&c.SymbolURL), "symbol-url", "also from the symbol server at `URL`; may be repeated")
	set.StringVar(&c.SymbolCache, "symbol-cache", "", "keep what comes from symbol servers in `DIR`, of each worker")
	set.BoolVar(&c.Registers, "registers", false, "the registers of every frame")
	set.StringVar(&f.techniques, "techniques", "", "find callers by these only, a `LIST` with commas")
	set.IntVar(&c.MaxFrames, "max-frames", 0, "end a stack after `N` frames")
	set.IntVar(&c.Jobs, "jobs", 0, "walk `N` dumps side by side in each worker process (default: as many as processors)")
	set.Int64Var(&f.memory, "symbol-memory", 2048, "drop a worker's symbols when more than `MB` of its memory are live; 0 for no limit")
	set.Var(&f.lists, "list", "also the dumps that `FILE` names, one on a line; - is standard input; may be repeated")
	set.StringVar(&f.output, "output", "", "write to `FOLDER`, which is empty or not there")
	set.IntVar(&f.shardSize, "shard-size", 64, "walk `N` dumps as one piece of work, whose lines are one file")
	set.BoolVar(&f.verbose, "verbose", false, "print the messages of Beam, and its metrics")
	set.VisitAll(func(x *flag.Flag) {
		if !before[x.Name] {
			f.names = append(f.names, x.Name)
		}
	})
}

// check checks each flag, and the flags against each other.
func (f *flags) check() error {
	c := &f.config
	switch {
	case f.output == "":
		return fmt.Errorf("no --output")
	case f.shardSize < 1:
		return fmt.Errorf("--shard-size is %d, want 1 or more", f.shardSize)
	case c.Jobs < 0 || c.MaxFrames < 0 || f.memory < 0:
		return fmt.Errorf("--jobs, --max-frames or --symbol-memory is negative, want 0 or more")
	case len(c.Debuginfod) > 0 && len(c.Binaries) == 0:
		return fmt.Errorf("--debuginfod is for --binaries")
	case c.SymbolCache != "" && len(c.SymbolURL) == 0:
		return fmt.Errorf("--symbol-cache is for --symbol-url")
	}
	c.Memory = f.memory << 20
	if f.techniques != "" {
		for name := range strings.SplitSeq(f.techniques, ",") {
			c.Techniques = append(c.Techniques, strings.TrimSpace(name))
		}
	}
	_, err := c.techniques()
	return err
}

// techniques returns the techniques that may be used, nil for all.
func (c *Config) techniques() (all []walk.Technique, err error) {
	var names []string
	for _, t := range walk.Techniques() {
		names = append(names, t.String())
	}
	for _, name := range c.Techniques {
		i := slices.Index(names, name)
		if i < 0 {
			return nil, fmt.Errorf("--techniques has %q, want some of %s", name, strings.Join(names, ", "))
		}
		all = append(all, walk.Techniques()[i])
	}
	return all, nil
}

// batch returns the configuration of the walks, with symbols that are not opened yet. open opens
// symbol files.
func (c *Config) batch(open supplier.Opener) (*fleet.Runner, error) {
	techniques, err := c.techniques()
	if err != nil {
		return nil, err
	}
	sources, err := c.sources(open)
	if err != nil {
		return nil, err
	}
	return &fleet.Runner{
		Open:    dumpfile.Options{Core: elfcore.Options{Binaries: c.Binaries, Spare: true}},
		Config:  walk.Config{Techniques: techniques, MaxFrames: c.MaxFrames},
		Symbols: sources,
		Render:  c.write,
	}, nil
}

// sources returns the places where symtool walk looks for symbols, in its order.
func (c *Config) sources(open supplier.Opener) (*walk.SymbolSet, error) {
	var suppliers []resolve.Supplier
	for _, path := range c.Symbols {
		s, err := supplier.NewSymbols(path, open)
		if err != nil {
			return nil, fmt.Errorf("--symbols: %w", err)
		}
		suppliers = append(suppliers, s)
	}
	if len(c.SymbolURL) > 0 {
		servers, err := remote.NewServers(remote.Servers{URLs: c.SymbolURL, Cache: c.cache(), Open: open, UserAgent: version.Generator})
		if err != nil {
			return nil, fmt.Errorf("--symbol-url: %w", err)
		}
		suppliers = append(suppliers, servers)
	}
	binaries, err := c.binaries()
	if err != nil {
		return nil, err
	}
	return walk.NewSymbolSet(suppliers, binaries), nil
}

// cache returns the folder for downloads from symbol servers. A worker's container may have no
// home folder.
func (c *Config) cache() string {
	if c.SymbolCache != "" {
		return c.SymbolCache
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "symtool", "symbols")
}

func (c *Config) binaries() (*supplier.Binaries, error) {
	if len(c.Binaries) == 0 {
		return nil, nil
	}
	var fetcher supplier.Fetcher
	if len(c.Debuginfod) > 0 {
		var err error
		if fetcher, err = remote.NewDebuginfod(remote.Debuginfod{URLs: c.Debuginfod, Getenv: os.Getenv, UserAgent: version.Generator}); err != nil {
			return nil, fmt.Errorf("--debuginfod: %w", err)
		}
	}
	b, err := supplier.NewBinaries(c.Binaries, supplier.BinaryOptions{DebugDirs: []string{"/usr/lib/debug"}, Fetcher: fetcher})
	if err != nil {
		return nil, fmt.Errorf("--binaries: %w", err)
	}
	return b, nil
}
