// Package store implements symtool store.
package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/symtool/symtool/cmd/symtool/internal/binfile"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/par"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/resolve/store"
)

const storeDescription = `
DIR is a folder with symbol files where stack walkers and symbol servers look
for them: NAME/ID/NAME.sym, .sym.gz or .sym.zst.

add puts symbol files there by their MODULE records. A folder stands for the
symbol files below it, and - for standard input. Each file is read to its end:
one that is cut off or damaged is not added. An equal file that is already
there, compressed or not, stays, and counts as added now; one that differs is
not replaced, and the status is 4: released symbols do not change. With --replace
the new one counts, as with dump --store, which suits the store of a build, where
flags and symtool change. Windows programs, DLLs and PDBs are copied as
they are to NAME/ID/NAME, where Microsoft's tools look for them: the ID of a
program is its time and its size.

verify reads all files and checks that they are whole, match their paths, and
are readable for everyone who can read DIR, that none is dated in the future,
and that there is nothing else.
Findings go to standard output, one a line, and the status is then 1.

gc always removes empty folders and what killed writers left behind, and removes
versions of modules as --keep-last, --older-than and --max-size say. A version
is as old as its newest file; one that is dated in the future counts as the
newest, with a warning. Files that are being written are never removed.

ls prints a line for each version: name, id, bytes, time in UTC, files.

Files in the other layouts that convert --to-store writes (build-id, debuginfod,
unified) are not read, listed or removed: verify names them, gc and ls count
them.

Any number of these commands, of dump --store and of convert --to-store may run
at once. A file appears whole or not at all, even if its writer is killed.

Examples:
  symtool store add symbols app.sym
  symtool store gc --keep-last 5 --older-than 90d --dry-run symbols
`

// storeVerb is a kind of work on a store.
type storeVerb struct {
	name  string
	flags []string
	run   func(*storeRun, context.Context) error
}

var storeVerbs = []storeVerb{
	{"add", []string{"compress", "damaged", "keep", "list", "replace", "no-sync", "jobs", "verbose", "quiet"}, (*storeRun).add},
	{"verify", []string{"format", "output", "jobs", "verbose", "quiet"}, (*storeRun).verify},
	{"gc", []string{"keep-last", "older-than", "max-size", "dry-run", "format", "output", "quiet"}, (*storeRun).gc},
	{"ls", []string{"last", "missing", "format", "output"}, (*storeRun).ls},
}

func storeVerbWords() (names []string) {
	for _, v := range storeVerbs {
		names = append(names, v.name)
	}
	return names
}

func storeVerbNames() string { return strings.Join(storeVerbWords(), ", ") }

// Command returns the command symtool store.
func Command(msgs *cli.Messages) *cli.Command {
	return &cli.Command{
		Name:  "store",
		Usage: "maintain a store of symbol files: add, verify, collect garbage, list",
		UsageText: "symtool store add [flags] DIR FILE...\nsymtool store verify [flags] DIR\n" +
			"symtool store gc [flags] DIR\nsymtool store ls [flags] DIR",
		Description: storeDescription,
		Flags:       storeFlags(),
		Action: func(c *cli.Context) error {
			r, err := newStoreRun(c)
			if err != nil {
				return cli.Usagef("store", "%v", err)
			}
			r.stdin, r.stdout, r.msgs = c.App.Reader, c.App.Writer, msgs
			return r.run(c.Context)
		},
	}
}

func storeFlags() []cli.Flag {
	return []cli.Flag{
		cli.Words(&cli.StringFlag{Name: "compress", Usage: "add: store files in `FORM`: none (default), gzip or zstd; the same\ntext gives the same bytes", Value: "none"}, "none", "gzip", "zstd"),
		&cli.BoolFlag{Name: "damaged", Usage: "add: also accept files that are cut off or have records that\ncannot be read"},
		&cli.IntFlag{Name: "keep", Usage: "add: of each module that is added, keep only the `N` newest versions\nand those being added"},
		&cli.StringFlag{Name: "list", Usage: "add: write to `FILE` a line for each FILE: added, same (it was\nthere), differs (another one is there) or replaced, a tab, and its\npath below DIR"},
		&cli.BoolFlag{Name: "replace", Usage: "add: replace symbol files that differ; others than Windows programs\nand PDBs"},
		&cli.BoolFlag{Name: "no-sync", Usage: "add: do not wait until files are on the disk; a power failure may\nleave them empty or short, which verify reports"},
		&cli.IntFlag{Name: "keep-last", Usage: "gc: keep the `N` newest versions of each module; of the others,\nremove those that --older-than and --max-size select, or all\nwithout these flags"},
		&cli.StringFlag{Name: "older-than", Usage: "gc: remove versions older than `AGE`: 36h, 90d, 26w"},
		&cli.StringFlag{Name: "max-size", Usage: "gc: remove the oldest versions until the rest has `SIZE` bytes; K,\nM, G or T (powers of 1024) may follow the number"},
		&cli.BoolFlag{Name: "dry-run", Usage: "gc: list what would be removed, but remove nothing"},
		&cli.BoolFlag{Name: "last", Usage: "ls: list only the newest version of each module"},
		&cli.StringFlag{Name: "missing", Usage: "ls: print the modules in `LIST` that DIR does not have, and end with\nstatus 1 if there are any; a line of LIST is NAME/ID, NAME,ID,\nNAME ID or a MODULE record; - is standard input"},
		cli.Words(&cli.StringFlag{Name: "format", Usage: "verify, gc, ls: print `FORM`: text (default) or json", Value: cli.FormatText}, cli.FormatText, cli.FormatJSON),
		cli.OutputFlag(),
		cli.JobsFlag(),
		cli.VerboseFlag(),
		&cli.BoolFlag{Name: "quiet", Usage: "print only errors"},
	}
}

// storeRun is a call of store, with its arguments checked.
type storeRun struct {
	verb   storeVerb
	dir    string
	files  []string // of add
	output string
	json   bool

	compression *store.Compression // nil for none
	keep        int                // 0 without --keep
	list        string
	missing     string
	policy      store.Policy
	damaged     bool
	noSync      bool
	replace     bool
	last        bool
	verbose     bool
	quiet       bool
	jobs        int

	stdin  io.Reader
	stdout io.Writer
	msgs   *cli.Messages
	store  *store.Store
	status int
}

func newStoreRun(c *cli.Context) (*storeRun, error) {
	r := &storeRun{
		output: "-", list: c.String("list"), missing: c.String("missing"), damaged: c.Bool("damaged"), replace: c.Bool("replace"), noSync: c.Bool("no-sync"),
		keep: c.Int("keep"), last: c.Bool("last"), verbose: c.Bool("verbose"), quiet: c.Bool("quiet"), jobs: par.Jobs(c.Int("jobs")),
		policy: store.Policy{KeepLast: c.Int("keep-last"), MaxSize: -1, DryRun: c.Bool("dry-run")},
	}
	for _, check := range []func(*cli.Context) error{r.operands, r.checkFlags, r.checkValues, r.checkLimits} {
		if err := check(c); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// swapped says what to do if one of the files is a folder, which may be the store.
func swapped(files []string) string {
	if i := slices.IndexFunc(files, cli.IsFolder); i >= 0 {
		return fmt.Sprintf("write %s before the files", files[i])
	}
	return ""
}

// instead says what to do if DIR is a file.
func (r *storeRun) instead() string {
	switch r.verb.name {
	case "add":
		return swapped(r.files)
	case "verify":
		return "symtool lint checks a symbol file"
	case "ls":
		return "the MODULE record of a symbol file has its name and id"
	}
	return ""
}

func (r *storeRun) operands(c *cli.Context) error {
	args := c.Args().Slice()
	if len(args) == 0 {
		return fmt.Errorf("nothing to do, want %s", storeVerbNames())
	}
	i := slices.IndexFunc(storeVerbs, func(v storeVerb) bool { return v.name == args[0] })
	if i < 0 {
		return fmt.Errorf("%q is unknown, want %s%s", args[0], storeVerbNames(), cli.Meant(args[0], storeVerbWords()))
	}
	r.verb = storeVerbs[i]
	switch {
	case len(args) < 2:
		return fmt.Errorf("%s: no DIR", r.verb.name)
	case slices.Contains(args[1:], ""):
		return fmt.Errorf("%s: the name of a file is empty", r.verb.name)
	case r.verb.name == "add" && len(args) == 2:
		return errors.New("add: no FILE")
	case r.verb.name != "add" && len(args) > 2:
		return fmt.Errorf("%s: %s, want DIR", r.verb.name, text.Count(len(args)-1, "operand"))
	}
	r.dir, r.files = args[1], args[2:]
	if err := cli.CheckStore(r.dir, r.instead()); err != nil {
		return fmt.Errorf("%s: %w", r.verb.name, err)
	}
	stdin := 0
	for _, file := range r.files {
		if file == "-" {
			stdin++
		}
	}
	if stdin > 1 {
		return errors.New("standard input is given twice, but can be read only once")
	}
	return nil
}

// checkFlags rejects flags of other verbs.
func (r *storeRun) checkFlags(c *cli.Context) error {
	for _, f := range c.Command.Flags {
		name := f.Names()[0]
		if !c.IsSet(name) || name == "log-level" || c.IsSet("log-level") && (name == "verbose" || name == "quiet") {
			continue
		}
		if !slices.Contains(r.verb.flags, name) {
			return fmt.Errorf("--%s is not for %s", name, r.verb.name)
		}
		if s, ok := c.Value(name).(string); ok && s == "" {
			return fmt.Errorf("--%s is empty", name)
		}
	}
	if r.verbose && r.quiet {
		return errors.New("--verbose and --quiet exclude each other")
	}
	if c.IsSet("missing") && c.Bool("last") {
		return errors.New("--missing and --last exclude each other")
	}
	return nil
}

func (r *storeRun) checkValues(c *cli.Context) error {
	if c.IsSet("output") {
		r.output = c.String("output")
	}
	r.json = c.String("format") == cli.FormatJSON
	for i := range store.Compressions {
		how := &store.Compressions[i]
		if c.String("compress") == how.Name {
			r.compression = how
		}
	}
	return cli.NotInput(r.output, r.missing)
}

// checkLimits reads the flags that limit what is kept.
func (r *storeRun) checkLimits(c *cli.Context) (err error) {
	for _, name := range []string{"keep", "keep-last"} {
		if n := c.Int(name); c.IsSet(name) && n < 1 {
			return fmt.Errorf("--%s is %d, want 1 or more", name, n)
		}
	}
	if text := c.String("older-than"); text != "" {
		if r.policy.OlderThan, err = parseAge(text); err != nil {
			return fmt.Errorf("--older-than is %q, want a number with h, d or w", text)
		}
	}
	if text := c.String("max-size"); text != "" {
		if r.policy.MaxSize, err = cli.ParseSize(text); err != nil {
			return fmt.Errorf("--max-size is %q, want a number of bytes, or one with K, M, G or T", text)
		}
	}
	return nil
}

// parseAge reads hours, days or weeks.
func parseAge(text string) (time.Duration, error) {
	units := map[byte]time.Duration{'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
	unit := units[text[len(text)-1]]
	n, err := strconv.ParseUint(text[:len(text)-1], 10, 31)
	if err != nil || unit == 0 || n == 0 || time.Duration(n) > (1<<63-1)/unit {
		return 0, cli.ErrUnit
	}
	return time.Duration(n) * unit, nil
}

func (r *storeRun) run(ctx context.Context) (err error) {
	if r.verb.name == "add" {
		r.store, err = cli.CreateStore(r.dir, r.noSync)
	} else {
		options := cli.StoreOptions(false)
		options.ProgramID = binfile.StoreID
		if r.store, err = store.Open(r.dir, options); err != nil {
			err = cli.FileError(r.dir, err)
		}
	}
	if err != nil {
		return err
	}
	defer r.store.Close()
	err = r.verb.run(r, ctx)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return err
	case r.status != cli.StatusOK:
		return &cli.StatusError{Status: r.status}
	}
	return nil
}

// raise raises the status.
func (r *storeRun) raise(status int) { r.status = max(r.status, status) }

// reportProblems reports what could not be read.
func (r *storeRun) reportProblems(problems []bin.Problem) {
	for _, p := range problems {
		r.raise(cli.StatusInput)
		r.msgs.Warnf("symtool: %v", p)
	}
}

// reportLayouts reports files that all verbs but verify ignore.
func (r *storeRun) reportLayouts(files map[string]int, done string) {
	if r.quiet {
		return
	}
	for _, layout := range slices.Sorted(maps.Keys(files)) {
		r.msgs.Printf("symtool: %s: %s of layout %s: only NAME/ID/NAME.sym is %s", r.dir, text.Count(files[layout], "file"), layout, done)
	}
}

// print writes the answer.
func (r *storeRun) print(write func(io.Writer) error) error {
	return cli.PrintTo(r.output, r.stdout, write)
}

// printJSON writes a JSON document.
func (r *storeRun) printJSON(v any) error {
	text, err := cli.EncodeJSON(v)
	if err != nil {
		return err
	}
	return r.print(func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}
