package walk

import (
	"context"
	"sync"
	"sync/atomic"
)

// settled is what is found out once, for all that ask. An attempt whose context
// ends is nobody else's answer: whoever asks next makes another one.
type settled[T any] struct {
	mu    sync.Mutex // held by the one that finds out
	found atomic.Pointer[T]
}

// get returns what find finds, which nobody may change, or something of it if ctx
// ends; nothing if it has ended.
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

// known returns what was found, nothing if nobody has asked.
func (s *settled[T]) known() *T {
	if v := s.found.Load(); v != nil {
		return v
	}
	return new(T)
}
