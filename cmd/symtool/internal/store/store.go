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

// storeVerb is an operation on a store.
type storeVerb struct {
	name string
	run  func(*storeRun, context.Context) error
}

var storeVerbs = []storeVerb{
	{"add", (*storeRun).add}, {"verify", (*storeRun).verify}, {"gc", (*storeRun).gc}, {"ls", (*storeRun).ls},
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
	r := &storeRun{msgs: msgs, policy: store.Policy{MaxSize: -1}}
	return &cli.Command{
		Name:  "store",
		Usage: "maintain a store of symbol files: add, verify, collect garbage, list",
		UsageText: "symtool store add [flags] DIR FILE...\nsymtool store verify [flags] DIR\n" +
			"symtool store gc [flags] DIR\nsymtool store ls [flags] DIR",
		Description: storeDescription,
		Flags:       r.flags(),
		Action: func(c *cli.Context) error {
			r.stdin, r.stdout, r.jobs = c.App.Reader, c.App.Writer, par.Jobs(r.jobs)
			if err := r.operands(c.Args().Slice()); err != nil {
				return cli.Usagef("store", "%v", err)
			}
			return r.run(c.Context)
		},
	}
}

// storeRun is a call of store.
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

// flags returns the flags of the command. Parsing them sets fields of r.
func (r *storeRun) flags() []cli.Flag {
	add, gc, ls := onlyFor("add"), onlyFor("gc"), onlyFor("ls")
	answers := onlyFor("verify", "gc", "ls")
	return []cli.Flag{
		cli.Where(cli.OneOf("compress", "add: store files in `FORM`: none (default), gzip or zstd; the same\ntext gives the same bytes", &r.compression, cli.CompressionWords()), add),
		cli.Switch("damaged", "add: also accept files that are cut off or have records that\ncannot be read", &r.damaged, add),
		cli.Number("keep", "add: of each module that is added, keep only the `N` newest versions\nand those being added", &r.keep, add, cli.AtLeast(1)),
		cli.Text("list", "add: write to `FILE` a line for each FILE: added, same (it was\nthere), differs (another one is there) or replaced, a tab, and its\npath below DIR", &r.list, add),
		cli.Switch("replace", "add: replace symbol files that differ; others than Windows programs\nand PDBs", &r.replace, add),
		cli.Switch("no-sync", "add: do not wait until files are on the disk; a power failure may\nleave them empty or short, which verify reports", &r.noSync, add),
		cli.Number("keep-last", "gc: keep the `N` newest versions of each module; of the others,\nremove those that --older-than and --max-size select, or all\nwithout these flags", &r.policy.KeepLast, gc, cli.AtLeast(1)),
		cli.Where(cli.Parsed("older-than", "gc: remove versions older than `AGE`: 36h, 90d, 26w", &r.policy.OlderThan, "a number with h, d or w", parseAge), gc),
		cli.Where(cli.Parsed("max-size", "gc: remove the oldest versions until the rest has `SIZE` bytes; K,\nM, G or T (powers of 1024) may follow the number", &r.policy.MaxSize, "a number of bytes, or one with K, M, G or T", cli.ParseSize), gc),
		cli.Switch("dry-run", "gc: list what would be removed, but remove nothing", &r.policy.DryRun, gc),
		cli.Switch("last", "ls: list only the newest version of each module", &r.last, ls),
		cli.Text("missing", "ls: print the modules in `LIST` that DIR does not have, and end with\nstatus 1 if there are any; a line of LIST is NAME/ID, NAME,ID,\nNAME ID or a MODULE record; - is standard input", &r.missing, ls, cli.Without("last")),
		cli.Where(cli.OneOf("format", "verify, gc, ls: print `FORM`: text (default) or json", &r.json, cli.TextOrJSON), answers),
		cli.OutputFlag(&r.output, answers),
		cli.Where(cli.JobsFlag(&r.jobs), onlyFor("add", "verify")),
		cli.Where(cli.VerboseFlag(&r.verbose), onlyFor("add", "verify")),
		cli.Where(cli.QuietFlag(&r.quiet), onlyFor("add", "verify", "gc")),
	}
}

// onlyFor requires one of some verbs. If the verb is not a verb at all, another
// error says so.
func onlyFor(verbs ...string) cli.Condition {
	return func(c *cli.Context, flag string) error {
		verb := c.Args().First()
		if slices.Contains(storeVerbWords(), verb) && !slices.Contains(verbs, verb) {
			return fmt.Errorf("--%s is not for %s", flag, verb)
		}
		return nil
	}
}

// swapped says what to do if one of the files is a folder, since the user may have
// swapped the store and the files.
func swapped(files []string) string {
	if i := slices.IndexFunc(files, cli.IsFolder); i >= 0 {
		return fmt.Sprintf("write %s before the files", files[i])
	}
	return ""
}

// instead returns advice for the case that DIR is a file.
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

func (r *storeRun) operands(args []string) error {
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
	if err := cli.CheckFiles(r.files); err != nil {
		return err
	}
	return cli.NotInput(r.output, r.missing)
}

// parseAge parses a number of hours, days or weeks.
func parseAge(text string) (time.Duration, bool) {
	if text == "" {
		return 0, false
	}
	units := map[byte]time.Duration{'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
	unit := units[text[len(text)-1]]
	n, err := strconv.ParseUint(text[:len(text)-1], 10, 31)
	if err != nil || unit == 0 || n == 0 || time.Duration(n) > (1<<63-1)/unit {
		return 0, false
	}
	return time.Duration(n) * unit, true
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

// raise sets the status to status if that is higher.
func (r *storeRun) raise(status int) { r.status = max(r.status, status) }

// reportProblems reports what could not be read.
func (r *storeRun) reportProblems(problems []bin.Problem) {
	for _, p := range problems {
		r.raise(cli.StatusInput)
		r.msgs.Warnf("symtool: %v", p)
	}
}

// reportLayouts reports files that only verify does not ignore.
func (r *storeRun) reportLayouts(files map[string]int, done string) {
	if r.quiet {
		return
	}
	for _, layout := range slices.Sorted(maps.Keys(files)) {
		r.msgs.Printf("symtool: %s: %s of layout %s: only NAME/ID/NAME.sym is %s", r.dir, text.Count(files[layout], "file"), layout, done)
	}
}

// print writes the result.
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
