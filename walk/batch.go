package walk

import (
	"context"
	"errors"

	"github.com/symtool/symtool/internal/par"
)

// Batch says how many dumps are walked.
type Batch struct {
	Open    Options
	Config  Config
	Sources *Sources
	Jobs    int // 0 or less: as many as GOMAXPROCS
}

// Walked is a dump that was walked, or could not be opened.
type Walked struct {
	Path string
	*Result
	Err error // of the dump; Result is nil

	close func() error
}

// Run walks dumps side by side and hands each one over, in the order of paths
// and one at a time; it is closed when done returns. A dump that cannot be read
// does not end the run: its Walked has the error. The error of Run is done's, or
// the context's.
func (b *Batch) Run(ctx context.Context, paths []string, done func(*Walked) error) error {
	walkers := make([]*Walker, par.Jobs(b.Jobs))
	work := func(ctx context.Context, worker, i int) (*Walked, error) {
		if walkers[worker] == nil {
			walkers[worker] = NewWalker(b.Sources, b.Config)
		}
		w := b.walk(ctx, walkers[worker], paths[i])
		if ctx.Err() != nil {
			w.Close()
			return nil, context.Cause(ctx)
		}
		return w, nil
	}
	return par.Ordered(ctx, b.Jobs, len(paths), work, func(_ int, w *Walked) error {
		return errors.Join(done(w), w.Close())
	})
}

// walk walks one dump.
func (b *Batch) walk(ctx context.Context, w *Walker, path string) *Walked {
	d, closer, err := Open(path, b.Open)
	if err != nil {
		return &Walked{Path: path, Err: err}
	}
	walked := &Walked{Path: path, close: closer.Close}
	walked.Result, walked.Err = w.Walk(ctx, d)
	return walked
}

// Close gives the dump back.
func (w *Walked) Close() error {
	if w.close == nil {
		return nil
	}
	err := w.close()
	w.close = nil
	return err
}
