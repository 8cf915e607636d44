// Package once computes values once, by a caller whose context may end.
package once

import (
	"context"
	"sync"
	"sync/atomic"
)

// Value holds a result that is computed once. If an attempt's context ends, its result is not
// kept, and the next caller tries again.
type Value[T any] struct {
	mu    sync.Mutex // held while computing
	found atomic.Pointer[T]
}

// Do returns the result of find, which the caller must not modify. If ctx ends during find, the
// result may be incomplete; if ctx has ended before, it is the zero value.
func (o *Value[T]) Do(ctx context.Context, find func(*T)) *T {
	if v := o.found.Load(); v != nil {
		return v
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if v := o.found.Load(); v != nil {
		return v
	}
	v := new(T)
	if ctx.Err() != nil {
		return v
	}
	if find(v); ctx.Err() == nil {
		o.found.Store(v)
	}
	return v
}

// Peek returns the result, or the zero value if there is none yet.
func (o *Value[T]) Peek() *T {
	if v := o.found.Load(); v != nil {
		return v
	}
	return new(T)
}
