// Package fleet walks many dumps, and says what the walks say together: set up a Runner and call Run,
// and add each walk to a Summary.
//
// A Runner walks concurrently, and verifies and compares each walk. A SignatureMaker names crashes: equal
// signatures have the same cause, as far as stacks say. A Summary has the crashes by their signatures, and
// the modules that lack the symbols and rules that their stacks need. Its memory depends on the number of
// signatures and modules, not on the number of dumps.
package fleet

import (
	"context"
	"errors"
	"io"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/symtool/symtool/internal/par"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/compare"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/verify"
)

// Runner walks many dumps.
type Runner struct {
	Open    dumpfile.Options
	Config  walk.Config
	Symbols *walk.SymbolSet
	Verify  *verify.Thresholds // thresholds for Walked.Verdict; nil for none
	Other   *walk.SymbolSet    // sources to walk again with and compare; nil for none
	Jobs    int                // number of workers; GOMAXPROCS if not positive
	// MaxMemory bounds the memory of symbols, in bytes: when those that walks have used take more, they are closed as
	// soon as their dumps are, and later dumps open theirs again. 0 means no bound. What a supplier keeps, such as a
	// supplier.Chain other than that of walk.NewSymbolSet, has a bound of its own.
	MaxMemory int64

	// Render, if non-nil, is called for each dump that was walked, possibly concurrently. What it
	// writes becomes Walked.Rendered.
	Render func(io.Writer, *Walked) error

	sources, others lender // of Symbols and Other
}

// Walked is a dump that was walked, or could not be opened.
type Walked struct {
	Path string
	*walk.Result
	Verdict  *verify.Verdict     // nil without Runner.Verify
	Compared *compare.Comparison // Result compared with the walk by Runner.Other; nil without Other
	Err      error               // why the dump could not be read; Result is then nil

	// Rendered is what Runner.Render wrote, until the dump is closed. It is nil without Render, if
	// Render failed, or if the output is too long to keep until the preceding dumps are done.
	Rendered []byte

	text  *limitedText // holds Rendered
	close []func() error
}

// Run walks dumps concurrently and calls done for each, in the order of paths and one at a time;
// the dump is closed when done returns. A dump that cannot be read does not end the run: its Walked
// has the error. Run returns an error of done or of ctx.
func (b *Runner) Run(ctx context.Context, paths []string, done func(*Walked) error) error {
	workers := make([]*Worker, par.Jobs(b.Jobs))
	work := func(ctx context.Context, worker, i int) (*Walked, error) {
		if workers[worker] == nil {
			workers[worker] = b.NewWorker()
		}
		return workers[worker].Walk(ctx, paths[i], paths[i])
	}
	return par.Ordered(ctx, b.Jobs, len(paths), work, func(_ int, w *Walked) error {
		return errors.Join(done(w), w.Close())
	})
}

// Worker walks dumps of a Runner one after another. It must not be used concurrently.
type Worker struct {
	batch         *Runner
	walker, other *walk.Walker // of the last dump
}

// NewWorker returns a Worker, for callers that choose their own order.
func (b *Runner) NewWorker() *Worker { return &Worker{batch: b} }

// borrow returns a Walker with a SymbolSet that stays open until walked is closed: last, unless its SymbolSet has changed.
func (w *Worker) borrow(l *lender, from *walk.SymbolSet, last *walk.Walker, walked *Walked) (*walk.Walker, error) {
	loan, err := l.borrow(from, w.batch.MaxMemory)
	walked.close = append(walked.close, func() error { return l.giveBack(loan) })
	if last == nil || last.SymbolSet() != loan.sources {
		last = walk.NewWalker(loan.sources, w.batch.Config)
	}
	return last, err
}

// Walk walks the dump at path; name is its name in messages. The caller closes the result. The
// error is ctx's; if the dump cannot be read, Walked.Err says why.
func (w *Worker) Walk(ctx context.Context, path, name string) (*Walked, error) {
	walked := &Walked{Path: name}
	if err := w.walk(ctx, path, walked); err != nil {
		walked.Close()
		return nil, err
	}
	return walked, nil
}

// walk implements Walk and stores its results in walked.
func (w *Worker) walk(ctx context.Context, path string, walked *Walked) error {
	b := w.batch
	var err error
	if w.walker, err = w.borrow(&b.sources, b.Symbols, w.walker, walked); err != nil {
		return err
	}
	o := b.Open
	o.Name = walked.Path
	o.Reads = func(ctx context.Context, d *dump.Dump) {
		_, _ = w.walker.Walk(ctx, d) // the error is the context's
	}
	file, err := dumpfile.Open(ctx, path, o)
	if err != nil {
		walked.Err = err
		return context.Cause(ctx)
	}
	walked.close = append(walked.close, file.Close)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if fault := dumpfile.FaultError(walked.Path, recover()); fault != nil {
			walked.Result, walked.Err = nil, fault
		}
	}()
	if walked.Result, err = w.walker.Walk(ctx, file.Dump); err != nil {
		return err
	}
	if b.Verify != nil {
		if walked.Verdict, err = verify.Judge(ctx, w.walker, walked.Result, *b.Verify); err != nil {
			return err
		}
	}
	if b.Other != nil {
		if w.other, err = w.borrow(&b.others, b.Other, w.other, walked); err != nil {
			return err
		}
		other, err := w.other.Walk(ctx, file.Dump)
		if err != nil {
			return err
		}
		walked.Compared = compare.Walks(walked.Result, other, walked.Path)
	}
	if b.Render != nil {
		b.render(walked)
	}
	return nil
}

// maxRendered is the maximum size in bytes of a dump's Rendered: a few hundred
// threads as JSON.
const maxRendered = 4 << 20

// render sets Rendered.
func (b *Runner) render(walked *Walked) {
	text := texts.Get().(*limitedText)
	if err := b.Render(text, walked); err != nil || text.full {
		text.free()
		return
	}
	walked.text, walked.Rendered = text, text.data
}

// texts reuses the memory of closed dumps, because the cost of collecting it as garbage would be
// shared by all workers.
var texts = sync.Pool{New: func() any { return &limitedText{limit: maxRendered} }}

// limitedText keeps what is written to it, up to a limit.
type limitedText struct {
	data  []byte
	limit int
	full  bool
}

// free makes the memory available for another dump.
func (t *limitedText) free() {
	t.data, t.full = t.data[:0], false
	texts.Put(t)
}

var errTextFull = errors.New("too long to keep")

func (t *limitedText) Write(p []byte) (int, error) {
	if t.full = t.full || len(p) > t.limit-len(t.data); t.full {
		t.data = nil
		return 0, errTextFull
	}
	t.data = append(t.data, p...)
	return len(p), nil
}

// Close closes the dump, and ends the use of the symbols.
func (w *Walked) Close() error {
	if w.text != nil {
		w.text.free()
		w.text, w.Rendered = nil, nil
	}
	var errs []error
	for _, end := range slices.Backward(w.close) {
		errs = append(errs, end())
	}
	w.close = nil
	return errors.Join(errs...)
}
