package dump

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/archive"
	"github.com/symtool/symtool/resolve/supplier"
)

// packageLimits bound what packages may cost.
type packageLimits struct {
	unpacked int64 // bytes that one may have unpacked
	ratio    int64 // to its size
	scratch  int64 // bytes of members that wait, and of one member
}

// packageExtensions are those of the files below a folder that are taken for packages, if their contents are. Among
// the operands, the contents are enough.
var packageExtensions = []string{
	".deb", ".ddeb", ".udeb", ".rpm", ".apk", ".aar", ".ipa", ".jar", ".whl", ".zip", ".cpio",
	".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.zst", ".tar.bz2", ".tbz2", ".tar.lz4", ".pkg.tar.zst", ".conda",
}

// formatOf returns the format of a regular file that is a package or archive, or nil.
func formatOf(path string) *archive.Format {
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, archive.HeadSize)
	n, _ := f.ReadAt(head, 0)
	return archive.Find(head[:n])
}

// listPackages returns the packages below a folder, in order of path. Links are not followed.
func listPackages(ctx context.Context, dir string) (paths []string) {
	filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return fs.SkipAll
		}
		named := func(ext string) bool { return strings.HasSuffix(strings.ToLower(path), ext) }
		if err == nil && e.Type().IsRegular() && slices.ContainsFunc(packageExtensions, named) && formatOf(path) != nil {
			paths = append(paths, path)
		}
		return nil
	})
	return paths
}

// batchBytes and batchBuilds are how much of packages is dumped at a time.
const (
	batchBytes  = 256 << 20
	batchBuilds = 512
)

// dumpPackages dumps what is in packages, and what waited for them.
func (d *dumper) dumpPackages(ctx context.Context) error {
	first := len(d.files) - len(d.archives) // number of the first package, for the progress
	var about *dumpResult                   // the problems of a package
	emit := func(pkg int, f found) error {
		if f.problem == nil {
			return d.addMember(ctx, pkg, f)
		}
		if about == nil {
			about = newResult(d.archives[pkg], "")
			about.number, about.damaged = -1, true
		}
		about.Lose(*f.problem)
		return nil
	}
	if d.jobs > 1 {
		d.working = make(chan struct{}, d.jobs)
	}
	err := d.scanAll(ctx, emit, func(pkg int) error {
		d.progress.Finish(first + pkg)
		if about == nil {
			return nil
		}
		r := about
		about = nil
		d.results = append(d.results, r)
		d.report(r)
		return nil
	})
	if err != nil {
		return err
	}
	if err := d.dumpReady(ctx); err != nil {
		return err
	}
	return d.dumpRest(ctx)
}

// addMember adds a member of a package to its build, which is dumped if that makes it complete.
func (d *dumper) addMember(ctx context.Context, pkg int, f found) error {
	f.files = slices.DeleteFunc(f.files, func(b supplier.BinaryFile) bool { return left(&b, d.CPU) })
	if f.kept.refs = len(f.files); f.kept.refs == 0 {
		return f.kept.Close()
	}
	for _, file := range f.files {
		d.plan.add(&part{BinaryFile: file, name: path.Base(f.kept.name), pkg: pkg, kept: f.kept, size: f.kept.size})
	}
	for _, b := range d.plan.complete {
		d.ready = append(d.ready, b)
		d.waiting += b.size()
	}
	d.plan.complete = nil
	d.plan.shrink()
	if d.waiting < batchBytes && len(d.ready) < batchBuilds {
		return nil
	}
	return d.dumpReady(ctx)
}

// dumpReady dumps the builds that are complete.
func (d *dumper) dumpReady(ctx context.Context) error {
	builds := d.ready
	d.ready, d.waiting = nil, 0
	return d.dumpBuilds(ctx, builds)
}

// dumpBuilds dumps builds, and gives up their members.
func (d *dumper) dumpBuilds(ctx context.Context, builds []*build) error {
	var results []*dumpResult
	for _, b := range builds {
		if d.skip(b) {
			b.taken = true
			d.plan.done(b)
			b.result.build = nil
		} else if d.plan.readable(b) {
			r := d.plan.take(b)
			r.number = -1
			results = append(results, r)
		}
	}
	d.results = append(d.results, results...)
	err := d.dumpAll(ctx, results)
	for _, r := range results {
		d.plan.done(r.build)
		r.build, r.members = nil, nil
	}
	return err
}

// dumpRest dumps the builds that have no counterpart, and those whose members did not fit in the scratch: the packages
// are read again for as many at a time as fit.
func (d *dumper) dumpRest(ctx context.Context) error {
	rest := d.plan.rest()
	if err := d.dumpBuilds(ctx, rest); err != nil {
		return err
	}
	rest = slices.DeleteFunc(rest, func(b *build) bool { return b.taken })
	for len(rest) > 0 {
		n, again := d.plan.fitting(rest)
		if err := d.readAgain(ctx, again); err != nil {
			return err
		}
		if err := d.dumpBuilds(ctx, rest[:n]); err != nil {
			return err
		}
		for _, parts := range again {
			for _, f := range parts {
				d.plan.release(f)
			}
		}
		rest = rest[n:]
	}
	return nil
}

// readAgain keeps the members of these paths.
func (d *dumper) readAgain(ctx context.Context, again map[string][]*part) error {
	wanted, packages := map[string]bool{}, map[int]bool{}
	for path, parts := range again {
		wanted[path] = true
		for _, p := range parts {
			packages[p.pkg] = true
		}
	}
	for i, path := range d.archives {
		if !packages[i] {
			continue
		}
		err := d.scan(ctx, path, wanted, func(f found) error {
			for _, p := range again[f.files[0].Path] {
				same := func(b supplier.BinaryFile) bool { return b.ID == p.ID && b.CPU == p.CPU }
				if p.kept == nil && slices.ContainsFunc(f.files, same) { // a package may have two members of one name
					p.kept = f.kept
					f.kept.refs++
				}
			}
			if f.kept.refs == 0 {
				f.drop()
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
