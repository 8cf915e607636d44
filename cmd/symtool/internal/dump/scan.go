package dump

import (
	"context"
	"errors"
	"os"
	"sync"

	"github.com/symtool/symtool/internal/archive"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/par"
	"github.com/symtool/symtool/internal/scratch"
	"github.com/symtool/symtool/resolve/supplier"
)

// found is a member of a package, or a problem of the package.
type found struct {
	files   []supplier.BinaryFile
	kept    *content
	problem *bin.Problem
}

// scan passes the binaries in a package on, with copies of them. Unless wanted is nil, only members count of whose paths
// it says so.
func (d *dumper) scan(ctx context.Context, path string, wanted func(path string) bool, emit func(found) error) error {
	f, err := os.Open(path)
	if err != nil {
		return emit(found{problem: &bin.Problem{Err: err}})
	}
	defer f.Close()
	var failed error
	problem := func(p bin.Problem) {
		if wanted == nil && failed == nil { // otherwise it was reported before
			failed = emit(found{problem: &p})
		}
	}
	err = archive.Walk(ctx, f, path, archive.Options{
		MaxUnpacked: d.packages.unpacked,
		MaxRatio:    int64(d.packages.ratio),
		Wanted:      supplier.IsBinary,
		Spool: func(r *archive.Member) (archive.Spooled, error) {
			return keep(r, r.Name, d.packages.scratch)
		},
		Problem: problem,
		Visit: func(m *archive.Member) error {
			if wanted != nil && !wanted(m.Path) {
				return failed
			}
			c, err := keep(m, m.Name, d.packages.scratch)
			var large *bin.SizeError
			if errors.As(err, &large) {
				problem(bin.Problem{Lost: "the file", Err: &bin.Error{File: m.Path, Err: err}})
				return failed
			}
			if err != nil {
				return err
			}
			files := supplier.ReadBinaries(c, c.size, m.Path)
			if len(files) == 0 {
				c.Close()
				return failed
			}
			failed = emit(found{files: files, kept: c})
			return failed
		},
	})
	if err == nil {
		err = failed
	}
	return err
}

// drop gives up a member that nothing will use.
func (f *found) drop() {
	if f.kept != nil {
		f.kept.Close()
	}
}

// size returns how many bytes of a member wait.
func (f *found) size() int64 {
	if f.kept == nil {
		return 0
	}
	return f.kept.size
}

// scanAll scans packages, as many at a time as there are jobs, and passes on what is in them in their order. done is
// called after each.
func (d *dumper) scanAll(ctx context.Context, emit func(pkg int, f found) error, done func(pkg int) error) error {
	if d.jobs == 1 { // what is in packages is passed on as it is read: nothing has to be kept
		for i, path := range d.archives {
			if err := d.scan(ctx, path, nil, func(f found) error { return emit(i, f) }); err != nil {
				return err
			}
			if err := done(i); err != nil {
				return err
			}
		}
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	q := newScanQueue(len(d.archives), d.packages.scratch/4)
	var scanners sync.WaitGroup
	defer func() {
		cancel()
		scanners.Wait()
		q.drop()
	}()
	scanners.Go(func() { q.end(d.scanAhead(ctx, q)) })
	for i := range d.archives {
		for {
			f, more, err := q.next(i)
			if err != nil {
				return err
			}
			if !more {
				break
			}
			if err := emit(i, f); err != nil {
				return err
			}
		}
		if err := done(i); err != nil {
			return err
		}
	}
	return nil
}

// scanAhead scans packages into the queue.
func (d *dumper) scanAhead(ctx context.Context, q *scanQueue) error {
	return par.Each(ctx, d.jobs, len(d.archives), func(ctx context.Context, _, pkg int) error {
		defer context.AfterFunc(ctx, q.wake)()
		d.begin()
		defer d.end()
		err := d.scan(ctx, d.archives[pkg], nil, func(f found) error {
			d.end() // whoever waits for it is first
			err := q.put(ctx, pkg, f)
			d.begin()
			return err
		})
		q.finish(pkg, err)
		return err
	})
}

// maxAhead is how many members of packages are kept, each perhaps in an open file, before they are asked for.
var maxAhead = min(512, scratch.Files()/8)

// scanQueue has what was found in packages, for a reader that asks for it package by package. What is ahead of the
// reader is bounded, except the next member of the package that it is at.
type scanQueue struct {
	mu      sync.Mutex
	changed sync.Cond
	limit   int64 // of bytes

	packages []scanned
	at       int // the package that is read
	members  int // that wait
	bytes    int64
	ended    bool // no more is scanned
	err      error
}

// scanned is a package, as far as it was scanned.
type scanned struct {
	found []found
	done  bool
	err   error
}

func newScanQueue(packages int, limit int64) *scanQueue {
	q := &scanQueue{packages: make([]scanned, packages), limit: limit}
	q.changed.L = &q.mu
	return q
}

// put adds what was found in a package. It waits while too much is ahead of the reader.
func (q *scanQueue) put(ctx context.Context, pkg int, f found) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	p := &q.packages[pkg]
	for ctx.Err() == nil && (q.members >= maxAhead || q.bytes+f.size() > q.limit) && (pkg != q.at || len(p.found) > 0) {
		q.changed.Wait()
	}
	if ctx.Err() != nil {
		f.drop()
		return context.Cause(ctx)
	}
	p.found = append(p.found, f)
	q.members++
	q.bytes += f.size()
	q.changed.Broadcast()
	return nil
}

// finish notes that a package was scanned.
func (q *scanQueue) finish(pkg int, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.packages[pkg].done, q.packages[pkg].err = true, err
	q.changed.Broadcast()
}

// end notes that no package is scanned any more.
func (q *scanQueue) end(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended, q.err = true, err
	q.changed.Broadcast()
}

// wake lets those that wait see that their context ended.
func (q *scanQueue) wake() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.changed.Broadcast()
}

// next returns what was found next in a package, or that there is no more. Packages are asked for in order.
func (q *scanQueue) next(pkg int) (f found, more bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.at != pkg {
		q.at = pkg
		q.changed.Broadcast()
	}
	p := &q.packages[pkg]
	for len(p.found) == 0 && !p.done && !q.ended {
		q.changed.Wait()
	}
	switch {
	case len(p.found) > 0:
		f, p.found = p.found[0], p.found[1:]
		q.members--
		q.bytes -= f.size()
		q.changed.Broadcast()
		return f, true, nil
	case p.done:
		p.found = nil
		return found{}, false, p.err
	}
	return found{}, false, q.err
}

// drop gives up what was not asked for.
func (q *scanQueue) drop() {
	for _, p := range q.packages {
		for _, f := range p.found {
			f.drop()
		}
	}
}
