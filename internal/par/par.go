// Package par runs work in parallel and delivers the results in the order of
// the input, so that output does not depend on the number of workers.
//
// Items are started in order. The error returned is from the lowest item
// that failed, so it does not depend on the number of workers, either. A panic
// in an item becomes a *PanicError for that item. No goroutine outlives the
// call.
package par

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Jobs returns the number of workers for a number given by the user: n, or
// GOMAXPROCS if n is not positive.
func Jobs(n int) int {
	if n > 0 {
		return n
	}
	return runtime.GOMAXPROCS(0)
}

// PanicError is a panic in the work on one item.
type PanicError struct {
	Item  int
	Value any
	Stack []byte // as returned by debug.Stack
}

// Error returns the panic's value, without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the panic's value if it was an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// The number of items that may be done or under way ahead of the first one that has not been
// delivered. The lower it is, the sooner a slow item stops all other workers.
const (
	waiting      = 4   // items per worker, if results may be large
	waitingLight = 64  // items per worker, if results take little memory
	maxWaiting   = 256 // items with small results, for all workers together, as each may hold a file open
)

// Ordered calls work for the items 0 to n-1 from up to jobs goroutines (see
// Jobs), and done with each result, in order, one at a time, in the caller's
// goroutine; with one job, work is called there, too. worker is less than the
// number of workers, and only one goroutine uses it at a time: it can select
// scratch space. Only a few results wait for a slow item, as they may be
// large.
//
// After a failure of work or done, or when ctx ends, no further item is
// started. Ordered then cancels the ctx of items in progress and waits for
// them. done is not called for an item that failed, nor for later ones.
func Ordered[T any](ctx context.Context, jobs, n int,
	work func(ctx context.Context, worker, item int) (T, error),
	done func(item int, result T) error,
) error {
	return ordered(ctx, jobs, n, waiting*Jobs(jobs), work, done)
}

// OrderedLight is like Ordered, for results that take little memory: many of
// them may wait for a slower item.
func OrderedLight[T any](ctx context.Context, jobs, n int,
	work func(ctx context.Context, worker, item int) (T, error),
	done func(item int, result T) error,
) error {
	window := max(waiting*Jobs(jobs), min(waitingLight*Jobs(jobs), maxWaiting))
	return ordered(ctx, jobs, n, window, work, done)
}

// ordered is like Ordered, with up to window items ahead of the first one not
// yet delivered.
func ordered[T any](ctx context.Context, jobs, n, window int,
	work func(ctx context.Context, worker, item int) (T, error),
	done func(item int, result T) error,
) error {
	if n <= 0 {
		return context.Cause(ctx)
	}
	if Jobs(jobs) == 1 {
		return inline(ctx, n, work, done)
	}
	p := newPool(ctx, min(Jobs(jobs), n), n, min(window, n), work)
	defer p.close()
	for item := range n {
		r, err := p.result(ctx, item)
		if err != nil {
			return err
		}
		if err := done(item, r); err != nil {
			return err
		}
	}
	return nil
}

// inline is like Ordered, but runs everything in the caller's goroutine.
func inline[T any](ctx context.Context, n int,
	work func(ctx context.Context, worker, item int) (T, error),
	done func(item int, result T) error,
) error {
	for item := range n {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		o := attempt(ctx, work, 0, item)
		if o.err != nil {
			return o.err
		}
		if err := done(item, o.result); err != nil {
			return err
		}
	}
	return nil
}

// Map returns the results of work for the items 0 to n-1; otherwise it is like
// Ordered.
func Map[T any](ctx context.Context, jobs, n int, work func(ctx context.Context, worker, item int) (T, error)) ([]T, error) {
	all := make([]T, 0, max(n, 0))
	err := OrderedLight(ctx, jobs, n, work, func(_ int, r T) error { // all results are kept anyway
		all = append(all, r)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Each calls work for the items 0 to n-1, like Ordered.
func Each(ctx context.Context, jobs, n int, work func(ctx context.Context, worker, item int) error) error {
	type none struct{}
	return OrderedLight(ctx, jobs, n,
		func(ctx context.Context, worker, item int) (none, error) { return none{}, work(ctx, worker, item) },
		func(int, none) error { return nil })
}

type outcome[T any] struct {
	result T
	err    error
}

// pool is one call of Ordered. A worker takes a token before it takes an item,
// and the consumer returns the token: so at most cap(tokens) items are between
// start and delivery, and no two of them share a slot.
type pool[T any] struct {
	n      int
	work   func(ctx context.Context, worker, item int) (T, error)
	next   atomic.Int64
	tokens chan struct{}
	slots  []chan outcome[T]
	failed chan struct{} // closed when no more items are to be started
	once   sync.Once
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

func newPool[T any](ctx context.Context, jobs, n, window int, work func(context.Context, int, int) (T, error)) *pool[T] {
	p := &pool[T]{
		n:      n,
		work:   work,
		tokens: make(chan struct{}, window),
		slots:  make([]chan outcome[T], window),
		failed: make(chan struct{}),
	}
	for i := range p.slots {
		p.slots[i] = make(chan outcome[T], 1)
	}
	ctx, p.cancel = context.WithCancel(ctx)
	for worker := range jobs {
		p.wg.Go(func() { p.run(ctx, worker) })
	}
	return p
}

// run takes one item after another. It does not check ctx when failed is closed: all items
// below the one that failed are already under way.
func (p *pool[T]) run(ctx context.Context, worker int) {
	for {
		select {
		case <-p.failed:
			return
		case <-ctx.Done():
			return
		case p.tokens <- struct{}{}:
		}
		if p.stopped() { // if several cases of a select are ready, it takes any of them
			return
		}
		item := int(p.next.Add(1)) - 1
		if item >= p.n {
			return
		}
		o := attempt(ctx, p.work, worker, item)
		if o.err != nil {
			p.stop()
		}
		p.slots[item%len(p.slots)] <- o
	}
}

// attempt calls work and turns a panic into an error. Nothing else here recovers from panics.
func attempt[T any](ctx context.Context, work func(context.Context, int, int) (T, error), worker, item int) (o outcome[T]) {
	defer func() {
		if v := recover(); v != nil {
			o.err = &PanicError{Item: item, Value: v, Stack: debug.Stack()}
		}
	}()
	o.result, o.err = work(ctx, worker, item)
	return o
}

// result waits for one item.
func (p *pool[T]) result(ctx context.Context, item int) (T, error) {
	var o outcome[T]
	select {
	case o = <-p.slots[item%len(p.slots)]:
		<-p.tokens
	case <-ctx.Done():
		o.err = context.Cause(ctx)
	}
	return o.result, o.err
}

func (p *pool[T]) stop() { p.once.Do(func() { close(p.failed) }) }

// stopped reports whether no more items are to be started.
func (p *pool[T]) stopped() bool {
	select {
	case <-p.failed:
		return true
	default:
		return false
	}
}

// close ends the workers. Only now is their ctx cancelled: earlier, an item below the one that
// failed could fail only because of that.
func (p *pool[T]) close() {
	p.stop()
	p.cancel()
	p.wg.Wait()
}
