package dump

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/archive"
	"github.com/symtool/symtool/internal/scratch"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/resolve/supplier"
)

// packageLimits limits the resources that packages may use.
type packageLimits struct {
	unpacked int64 // unpacked size of a package, in bytes
	ratio    int   // unpacked size divided by the size of the package
	scratch  int64 // bytes of waiting members, and of a single member
}

// packageExtensions lists the extensions of the files below a folder that are treated as packages if their contents
// match. For an operand, the contents are enough.
var packageExtensions = []string{
	".deb", ".ddeb", ".udeb", ".ipk", ".rpm", ".apk", ".xapk", ".aar", ".ipa", ".jar", ".war", ".whl", ".egg", ".gem", ".crate",
	".nupkg", ".snupkg", ".vsix", ".xpi", ".msix", ".appx", ".snap", ".appimage", ".zip", ".cpio",
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
	return archive.FindAt(f, st.Size(), supplier.IsBinary)
}

// listPackages returns the packages below a folder, in the order of their paths. It does not follow links.
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

// batchBytes and batchBuilds limit the members of packages that are dumped at one time.
const batchBytes = 256 << 20

var batchBuilds = min(512, scratch.Files()/8) // of two files each

// dumpPackages dumps the contents of packages, and the files that waited for them.
func (d *dumper) dumpPackages(ctx context.Context) error {
	first := len(d.files) - len(d.archives) // number of the first package, for the progress
	var about *dumpResult                   // result for the problems of a package
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
	return d.rescan(ctx)
}

// noMembers reports an error if no package has a binary. One of several packages may have none.
func (d *dumper) noMembers() {
	if d.members > 0 || slices.ContainsFunc(d.results, func(r *dumpResult) bool { return r.Status != cli.StatusOK }) {
		return
	}
	what := "no binaries in this package"
	if n := len(d.archives); n > 1 {
		what = fmt.Sprintf("no binaries in this and %s", text.Count(n-1, "other package"))
	}
	r := d.without(d.archives[0], what)
	d.results = append(d.results, r)
	d.report(r)
}

// addMember adds a member of a package to its build. If that makes the build complete, it is dumped.
func (d *dumper) addMember(ctx context.Context, pkg int, f found) error {
	d.members++
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
	return d.dumpBatch(ctx)
}

// dumpBatch dumps the complete builds if there are enough of them.
func (d *dumper) dumpBatch(ctx context.Context) error {
	if d.waiting < batchBytes && len(d.ready) < batchBuilds {
		return nil
	}
	return d.dumpReady(ctx)
}

// dumpReady dumps the complete builds, except those whose members must be read again.
func (d *dumper) dumpReady(ctx context.Context) error {
	builds := d.ready
	d.ready, d.waiting = nil, 0
	return d.dumpBuilds(ctx, builds)
}

// dumpBuilds dumps builds, and releases their members.
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
