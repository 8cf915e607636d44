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

// scan passes each binary in a package to emit, with a copy of its contents. Unless wanted is nil, it passes only
// members for whose paths wanted returns true.
func (d *dumper) scan(ctx context.Context, path string, wanted func(path string) bool, emit func(found) error) error {
	f, err := os.Open(path)
	if err != nil {
		return emit(found{problem: &bin.Problem{Err: err}})
	}
	defer f.Close()
	var failed error
	problem := func(p bin.Problem) {
		if wanted == nil && failed == nil { // otherwise already reported
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

// drop closes the copy of a member that nothing will use.
func (f *found) drop() {
	if f.kept != nil {
		f.kept.Close()
	}
}

// size returns the size of the member's copy, in bytes.
func (f *found) size() int64 {
	if f.kept == nil {
		return 0
	}
	return f.kept.size
}

// scanAll scans packages concurrently, with up to d.jobs at a time, and passes their members to emit in order. It
// calls done after each package.
func (d *dumper) scanAll(ctx context.Context, emit func(pkg int, f found) error, done func(pkg int) error) error {
	if d.jobs == 1 { // members are passed on as they are read, so no queue is needed
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

// scanAhead scans packages and adds their members to the queue.
func (d *dumper) scanAhead(ctx context.Context, q *scanQueue) error {
	return par.Each(ctx, d.jobs, len(d.archives), func(ctx context.Context, _, pkg int) error {
		defer context.AfterFunc(ctx, q.wake)()
		d.begin()
		defer d.end()
		err := d.scan(ctx, d.archives[pkg], nil, func(f found) error {
			d.end() // others that wait for a job go first
			err := q.put(ctx, pkg, f)
			d.begin()
			return err
		})
		q.finish(pkg, err)
		return err
	})
}

// maxAhead is the maximum number of members that are queued before they are needed. Each may need an open file.
var maxAhead = min(512, scratch.Files()/8)

// scanQueue holds what was found in packages, for a reader that reads package by package. The amount ahead of the
// reader is limited, except for the next member of the package that it is reading.
type scanQueue struct {
	mu      sync.Mutex
	changed sync.Cond
	limit   int64 // maximum of bytes

	packages []scanned
	at       int // the package that the reader is reading
	members  int // number of members in the queue
	bytes    int64
	ended    bool // no more packages are scanned
	err      error
}

// scanned is a package, as far as it has been scanned.
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

// put adds something found in a package. It waits while too much is ahead of the reader.
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

// finish records that a package has been scanned.
func (q *scanQueue) finish(pkg int, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.packages[pkg].done, q.packages[pkg].err = true, err
	q.changed.Broadcast()
}

// end records that no more packages will be scanned.
func (q *scanQueue) end(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended, q.err = true, err
	q.changed.Broadcast()
}

// wake wakes all waiting goroutines, so that they see that their context has ended.
func (q *scanQueue) wake() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.changed.Broadcast()
}

// next returns the next item found in a package; more is false if there are no more. Packages must be requested in
// order.
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

// drop closes everything that was not requested.
func (q *scanQueue) drop() {
	for _, p := range q.packages {
		for _, f := range p.found {
			f.drop()
		}
	}
}
