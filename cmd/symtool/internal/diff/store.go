package diff

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/par"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/symdiff"
	diffreport "github.com/symtool/symtool/symfmt/symdiff/report"
)

// storeFile is a symbol file in a folder.
type storeFile struct {
	path string // relative to the folder
	head diffreport.Head
}

// filePair is a pair of files, one from each folder. One of them may be nil.
type filePair struct{ old, new *storeFile }

func (p filePair) name() string {
	if p.new != nil {
		return p.new.head.Name
	}
	return p.old.head.Name
}

// runStores compares the symbol files of two folders.
func (d *differ) runStores(ctx context.Context) error {
	cli.TuneCollector(cli.DiffCollectorPercent)
	old, err := d.files(d.old)
	if err != nil {
		return err
	}
	new, err := d.files(d.new)
	if err != nil {
		return err
	}
	pairs := pairFiles(old, new)
	out, err := d.create()
	if err != nil {
		return cli.OutputError(d.output, err)
	}
	defer out.Abort()
	d.out.Compared = d.options
	w := diffreport.Forms[d.form](out, &diffreport.Folders{Old: d.old, New: d.new, Modules: len(pairs)}, d.out)
	if err := d.comparePairs(ctx, pairs, w); err != nil {
		var failed *cli.StatusError
		if errors.As(err, &failed) || ctx.Err() != nil {
			return err
		}
		return d.failed(out, err)
	}
	if err := w.End(); err != nil {
		return d.failed(out, err)
	}
	if err := out.Commit(); err != nil {
		return cli.OutputError(out.Name(), err)
	}
	return d.end()
}

// pairDone is the comparison of a pair.
type pairDone struct {
	result *symdiff.Result
	err    error // from reading one of them
}

// comparePairs compares pairs concurrently, and passes the results to w in order.
func (d *differ) comparePairs(ctx context.Context, pairs []filePair, w diffreport.Writer) error {
	compare := func(ctx context.Context, _, i int) (pairDone, error) {
		p := pairs[i]
		if p.old == nil || p.new == nil {
			return pairDone{}, nil
		}
		done, err := d.comparePair(ctx, p)
		if ctx.Err() != nil {
			return pairDone{}, context.Cause(ctx)
		}
		return pairDone{result: done, err: err}, nil
	}
	return par.Ordered(ctx, d.options.Jobs, len(pairs), compare, func(i int, done pairDone) error {
		return d.addPair(pairs[i], done, w)
	})
}

func (d *differ) comparePair(ctx context.Context, p filePair) (*symdiff.Result, error) {
	old, err := symdiff.OpenSource(p.old.head.File)
	if err != nil {
		return nil, err
	}
	new, err := symdiff.OpenSource(p.new.head.File)
	if err != nil {
		old.Close()
		return nil, err
	}
	options := d.options
	options.Jobs = 1
	r, err := symdiff.Compare(ctx, old, new, options)
	if err != nil {
		old.Close()
		new.Close()
	}
	return r, err
}

// addPair adds the result for a pair to the output.
func (d *differ) addPair(p filePair, done pairDone, w diffreport.Writer) error {
	m := &diffreport.Module{Result: done.result}
	if p.old != nil {
		m.Old = &p.old.head
	}
	if p.new != nil {
		m.New = &p.new.head
	}
	if done.err != nil {
		m.Failed = done.err.Error()
		d.msgs.Printf("symtool: %v", done.err)
		d.status = max(d.status, cli.StatusInput)
	}
	if r := done.result; r != nil {
		defer r.Close()
		d.reportProblems(r.Old)
		d.reportProblems(r.New)
	}
	d.judgeModule(m)
	return w.Add(m)
}

// judgeModule raises the status if the differences of a module require it. A missing module
// counts as a change for the worse.
func (d *differ) judgeModule(m *diffreport.Module) {
	status := m.Status()
	bad := status == diffreport.StatusWorse || status == diffreport.StatusRemoved
	if d.failOn == failAny {
		bad = status != diffreport.StatusSame && status != diffreport.StatusFailed
	}
	if bad && d.failOn != failNever {
		d.status = max(d.status, cli.StatusFindings)
	}
}

// files returns the symbol files below a folder. A file that cannot be read does not affect the
// others.
func (d *differ) files(folder string) ([]*storeFile, error) {
	var all []*storeFile
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && (entry.IsDir() || !cli.HasSymbolSuffix(path)) {
			return nil
		}
		f := &storeFile{path: path}
		if err == nil {
			f.head, err = readHead(path)
		}
		if err != nil {
			if path == folder {
				return err
			}
			d.msgs.Printf("symtool: %s", cli.Named(path, err))
			d.status = max(d.status, cli.StatusInput)
			return nil
		}
		if f.path, err = filepath.Rel(folder, path); err != nil {
			return err
		}
		all = append(all, f)
		return nil
	})
	if err == nil && len(all) == 0 && d.status == cli.StatusOK {
		err = errors.New("no symbol files in this folder: want .sym, .sym.gz, .sym.zst")
	}
	if err != nil {
		return nil, cli.InputError(folder, err)
	}
	return all, nil
}

// readHead reads the MODULE record of a symbol file.
func readHead(path string) (h diffreport.Head, err error) {
	f, err := os.Open(path)
	if err != nil {
		return h, err
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return h, cmp.Or(err, errors.New("is not a regular file"))
	}
	text, _, err := symfmt.Decompress(f)
	if err != nil {
		return h, err
	}
	rd := symfmt.NewReader(io.LimitReader(text, cli.ModuleHead), symfmt.ReadOptions{File: path, Tolerant: true, MaxProblems: 1})
	for range 10 { // damaged lines may precede it
		rec, err := rd.Next()
		if err != nil {
			break
		}
		if rec.Kind == symfmt.KindModule {
			return diffreport.Head{File: path, OS: string(rec.OS), CPU: string(rec.Arch), ID: string(rec.DebugID), Name: string(rec.Name)}, nil
		}
	}
	return h, fmt.Errorf("no MODULE record in its first %d bytes: its module is not known", cli.ModuleHead)
}

// pairKeys lists the keys by which the files of two folders are matched, one after the other.
// Equal keys match; "" matches nothing. A library may have different names if one folder uses
// DT_SONAME and the other the file's name.
var pairKeys = []func(h *diffreport.Head) string{
	func(h *diffreport.Head) string { return pairKey(h.OS, h.CPU, h.Name, h.ID) },
	func(h *diffreport.Head) string {
		if strings.Trim(h.ID, "0") == "" {
			return "" // not a real ID: many files have it
		}
		return pairKey(h.OS, h.CPU, h.ID)
	},
	func(h *diffreport.Head) string { return pairKey(h.OS, h.CPU, h.Name) },
}

func pairKey(parts ...string) string { return strings.Join(parts, " ") }

// pairFiles matches files for the same operating system and CPU: first by name and id, then by
// id, then by name. If several match, they are paired in the order of their paths.
func pairFiles(old, new []*storeFile) (pairs []filePair) {
	for _, key := range pairKeys {
		var matched []filePair
		matched, old, new = matchFiles(old, new, key)
		pairs = append(pairs, matched...)
	}
	for _, f := range old {
		pairs = append(pairs, filePair{old: f})
	}
	for _, f := range new {
		pairs = append(pairs, filePair{new: f})
	}
	slices.SortFunc(pairs, func(a, b filePair) int {
		return cmp.Or(cmp.Compare(a.name(), b.name()), cmp.Compare(a.place(), b.place()), cmp.Compare(a.oldPlace(), b.oldPlace()))
	})
	return pairs
}

// place returns the sort key for pairs of the same name.
func (p filePair) place() string {
	if p.new != nil {
		return p.new.path
	}
	return p.old.path
}

func (p filePair) oldPlace() string {
	if p.old != nil {
		return p.old.path
	}
	return ""
}

// matchFiles pairs files with equal keys, and returns the unmatched files of each side.
func matchFiles(old, new []*storeFile, key func(h *diffreport.Head) string) (pairs []filePair, oldRest, newRest []*storeFile) {
	byKey := map[string][]*storeFile{}
	for _, f := range new {
		if k := key(&f.head); k != "" {
			byKey[k] = append(byKey[k], f)
		}
	}
	taken := map[*storeFile]bool{}
	for _, f := range old {
		k := key(&f.head)
		found := byKey[k]
		if len(found) == 0 {
			oldRest = append(oldRest, f)
			continue
		}
		pairs = append(pairs, filePair{f, found[0]})
		byKey[k], taken[found[0]] = found[1:], true
	}
	return pairs, oldRest, slices.DeleteFunc(new, func(f *storeFile) bool { return taken[f] })
}
