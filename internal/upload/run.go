package upload

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/symtool/symtool/internal/par"
)

// runFiles sends each file by itself.
func (u *Uploader) runFiles(ctx context.Context, paths []string, done func(*Result)) error {
	return par.Each(ctx, u.Jobs, len(paths), func(ctx context.Context, _, i int) error {
		r := u.prepare(ctx, i, paths[i])
		if r.Err == nil && r.Outcome == Uploaded {
			r.file.progress = func(n int64) { u.Progress(i, n, r.Bytes) }
			r.Outcome, r.Err = u.send(ctx, r)
		}
		if ctx.Err() != nil {
			r.forget()
			return context.Cause(ctx)
		}
		return u.conclude(r, done)
	})
}

// forget frees what sending needed.
func (r *Result) forget() {
	if r.file != nil {
		r.file.remove()
		r.file = nil
	}
}

// prepare reads a file and decides what to do: the outcome is Uploaded without an error
// if the file is to be sent.
func (u *Uploader) prepare(ctx context.Context, i int, path string) *Result {
	r := &Result{Item: i, Path: path}
	turn := false
	defer func() {
		if !turn { // after a panic, the others must not wait for this item
			u.turns.wait(i, func(map[string]*claim) {})
		}
	}()
	f, err := u.inspect(ctx, path)
	var claimed error
	turn = true
	u.turns.wait(i, func(claims map[string]*claim) {
		if err == nil {
			r.claim, claimed = f.claim(claims)
		}
	})
	if err != nil {
		r.Outcome, r.Err = Rejected, err
		var mine *spoolError
		if errors.As(err, &mine) {
			r.Outcome = Failed
		}
		return r
	}
	r.file, r.Place, r.Faults, r.Bytes, r.Target = f, f.Place, f.Faults, f.body.size, u.target.url(f)
	switch {
	case u.Wanted != nil && !u.Wanted[f.Place]:
		r.Outcome = Unwanted
	case claimed == errTwice:
		r.Outcome, r.twin = Present, true
	case claimed != nil:
		r.Outcome, r.Err = Failed, claimed
	case u.Resume.has(r.Target, f):
		r.Outcome = Resumed
	case u.DryRun:
		r.Outcome = Planned
	}
	return r
}

// send sends one file, unless the server is known to accept none.
func (u *Uploader) send(ctx context.Context, r *Result) (Outcome, error) {
	if err := u.client.state(); err != nil {
		return Failed, fmt.Errorf("not tried: %w", err)
	}
	o, err := u.target.send(ctx, r.file, r)
	u.client.ended(ctx, err)
	if err != nil {
		return Failed, u.client.redacted(err)
	}
	return o, nil
}

// conclude reports the outcome of a file, one at a time. A file with the same text as an earlier
// one waits for that one, and gets its outcome.
func (u *Uploader) conclude(r *Result, done func(*Result)) error {
	u.ends.Lock()
	defer u.ends.Unlock()
	err := u.record(r)
	r.forget()
	switch {
	case !r.twin:
		done(r)
		if r.claim != nil {
			r.claim.first = r
			for _, twin := range r.claim.twins {
				twin.follow(r)
				done(twin)
			}
			r.claim.twins = nil
		}
	case r.Outcome == Present && r.claim.first == nil:
		r.claim.twins = append(r.claim.twins, r)
	default:
		r.follow(r.claim.first)
		done(r)
	}
	return err
}

// follow copies the outcome of the first file with the same text.
func (r *Result) follow(first *Result) {
	if first.Outcome == Failed {
		r.Outcome, r.Err = Failed, fmt.Errorf("%s, which has the same text, failed", first.Path)
	}
}

// record adds a file that is done to the list.
func (u *Uploader) record(r *Result) error {
	if r.twin || r.Err != nil || r.Outcome != Uploaded && r.Outcome != Present {
		return nil
	}
	return u.Resume.add(r.Outcome, r.Target, r.file)
}

// claim is the claim on a place of the first file that goes there.
type claim struct {
	path string
	sum  [32]byte

	// Guarded by Uploader.ends:
	first *Result   // nil until its outcome is known
	twins []*Result // files that wait for it
}

// errTwice means that a file with the same text goes to the same place.
var errTwice = errors.New("given twice")

// claim claims a place for a file, or returns the earlier claim on it.
func (f *file) claim(claims map[string]*claim) (*claim, error) {
	name := f.Place.Path(f.Ext)
	first, taken := claims[name]
	switch {
	case !taken:
		first = &claim{path: f.path, sum: f.text}
		claims[name] = first
		return first, nil
	case first.sum == f.text:
		return first, errTwice
	}
	return nil, fmt.Errorf("%s goes to the same place and has another text", first.path)
}

// turns runs steps of items in their order, so that timing does not decide which of two files
// is used.
type turns struct {
	mu     sync.Mutex
	cond   *sync.Cond
	next   int
	claims map[string]*claim
}

func (t *turns) init() {
	*t = turns{claims: map[string]*claim{}}
	t.cond = sync.NewCond(&t.mu)
}

// wait calls f once all items before i have had their turn. As items are started in order, those
// before i are being worked on.
func (t *turns) wait(i int, f func(map[string]*claim)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.next < i {
		t.cond.Wait()
	}
	t.next = i + 1
	t.cond.Broadcast()
	f(t.claims)
}

// parts returns the file's place on servers.
func (f *file) parts() []string { return []string{f.Place.Name, f.Place.ID, f.Place.Stem + f.Ext} }
