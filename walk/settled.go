package walk

import (
	"context"
	"sync"
	"sync/atomic"
)

// settled holds a result that is computed once. If an attempt's context ends, its result is not
// kept, and the next caller tries again.
type settled[T any] struct {
	mu    sync.Mutex // held while computing
	found atomic.Pointer[T]
}

// get returns the result of find, which the caller must not modify. If ctx ends during find, the
// result may be incomplete; if ctx has ended before, it is the zero value.
func (s *settled[T]) get(ctx context.Context, find func(*T)) *T {
	if v := s.found.Load(); v != nil {
		return v
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.found.Load(); v != nil {
		return v
	}
	v := new(T)
	if ctx.Err() != nil {
		return v
	}
	if find(v); ctx.Err() == nil {
		s.found.Store(v)
	}
	return v
}

// known returns the result, or the zero value if there is none yet.
func (s *settled[T]) known() *T {
	if v := s.found.Load(); v != nil {
		return v
	}
	return new(T)
}
