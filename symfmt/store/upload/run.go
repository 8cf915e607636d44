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
	var mu sync.Mutex
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
		err := u.record(r)
		r.forget()
		mu.Lock()
		defer mu.Unlock()
		done(r)
		return err
	})
}

// forget frees what sending needed.
func (r *Result) forget() {
	if r.file != nil {
		r.file.remove()
		r.file = nil
	}
}

// prepare reads a file and tells what is to be done: Uploaded without an error for what
// is to be sent.
func (u *Uploader) prepare(ctx context.Context, i int, path string) *Result {
	r := &Result{Item: i, Path: path}
	f, err := u.inspect(ctx, path)
	claimed := u.turns.wait(i, func(claims map[string]claim) error {
		if err != nil {
			return nil
		}
		return f.claim(claims)
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
		r.Outcome = Present
	case claimed != nil:
		r.Outcome, r.Err = Failed, claimed
	case u.Resume.has(r.Target, f):
		r.Outcome = Resumed
	case u.DryRun:
		r.Outcome = Planned
	}
	return r
}

// send sends one file, unless the server is known not to take any.
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

// record writes what is done into the list.
func (u *Uploader) record(r *Result) error {
	if r.Err != nil || r.Outcome != Uploaded && r.Outcome != Present {
		return nil
	}
	return u.Resume.add(r.Outcome, r.Target, r.file)
}

// claim is the first file that goes to a place.
type claim struct {
	path string
	sum  [32]byte
}

// errTwice says that a file with the same text goes to the same place.
var errTwice = errors.New("is there twice")

// claim takes a place for a file, or tells who has it.
func (f *file) claim(claims map[string]claim) error {
	name := f.Place.Path(".sym")
	first, taken := claims[name]
	switch {
	case !taken:
		claims[name] = claim{f.path, f.text}
		return nil
	case first.sum == f.text:
		return errTwice
	}
	return fmt.Errorf("%s goes to the same place and has another text", first.path)
}

// turns lets items do something in their order, so that which of two files wins does
// not depend on who is faster.
type turns struct {
	mu     sync.Mutex
	cond   *sync.Cond
	next   int
	claims map[string]claim
}

func (t *turns) init() {
	*t = turns{claims: map[string]claim{}}
	t.cond = sync.NewCond(&t.mu)
}

// wait calls f when all items before i have had their turn. Items are started in their
// order: those before i are at work.
func (t *turns) wait(i int, f func(map[string]claim) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.next < i {
		t.cond.Wait()
	}
	t.next = i + 1
	t.cond.Broadcast()
	return f(t.claims)
}

// name is a file's place on servers, with slashes.
func (f *file) parts() []string { return []string{f.Place.Name, f.Place.ID, f.Place.Stem + ".sym"} }
