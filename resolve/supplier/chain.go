package supplier

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
)

// Chain is a Supplier that asks others in turn, once per module. It uses the first symbols with
// lines, otherwise the first with functions, otherwise the first of any kind, such as from a
// binary without debug information.
//
// A Chain is the cache of modules' symbols: it is one of the users of those that it has returned, until Close.
type Chain struct {
	// MaxMemory bounds the memory of symbols that only the Chain uses, in bytes: whenever a module is opened, the
	// least recently requested of them are closed, and read again if they are requested again. 0 means no bound. It
	// must not be changed after the first request.
	MaxMemory int64

	suppliers []resolve.Supplier
	mu        sync.Mutex
	known     map[string]*answer
	requests  int64
}

// answer is the suppliers' answer for a module, once done is closed.
type answer struct {
	done  chan struct{}
	r     resolve.Symbols
	tried []symfmt.Tried
	err   error
	ended bool  // the context ended before there was an answer
	last  int64 // number of the last request; guarded by the Chain's mutex
}

// NewChain returns a Chain of suppliers.
func NewChain(suppliers ...resolve.Supplier) *Chain {
	return &Chain{suppliers: suppliers, known: map[string]*answer{}}
}

// Symbols implements Supplier. If several goroutines ask for the same module, one does the work.
func (c *Chain) Symbols(ctx context.Context, m resolve.Module) (resolve.Symbols, []symfmt.Tried, error) {
	key := fmt.Sprintf("%q %q %q %q %x", m.Name, m.DebugFile, m.DebugID, m.Path, m.BuildID)
	for {
		a, ours := c.answer(key)
		if ours {
			c.ask(ctx, m, key, a)
			if a.ended {
				return nil, a.tried, a.err
			}
		}
		select {
		case <-a.done:
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
		if !a.ended && (a.r == nil || a.r.Share()) {
			return a.r, a.tried, a.err
		}
		c.forget(key, a)
	}
}

// forget forgets an answer whose symbols are closed: those that were dropped meanwhile, or that a user closed twice.
func (c *Chain) forget(key string, a *answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known[key] == a {
		delete(c.known, key)
	}
}

// Names implements Lister.
func (c *Chain) Names(ctx context.Context) (names []string) {
	for _, s := range c.suppliers {
		if l, ok := s.(resolve.Lister); ok {
			names = append(names, l.Names(ctx)...)
		}
	}
	return names
}

// Close ends the Chain's use of the symbols. Those that nobody else uses are closed.
func (c *Chain) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for key, a := range c.known {
		if a.isDone() {
			errs = append(errs, c.drop(key, a))
		}
	}
	return errors.Join(errs...)
}

// isDone reports whether there is an answer.
func (a *answer) isDone() bool {
	select {
	case <-a.done:
		return true
	default:
		return false
	}
}

// drop forgets an answer. c.mu must be held.
func (c *Chain) drop(key string, a *answer) error {
	delete(c.known, key)
	if a.r == nil {
		return nil
	}
	return a.r.Close()
}

// answer returns the answer for a module. ours means that there is none yet, and that the caller
// must find it.
func (c *Chain) answer(key string) (a *answer, ours bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests++
	a, ours = c.known[key], false
	if a == nil {
		a, ours = &answer{done: make(chan struct{})}, true
		c.known[key] = a
	}
	a.last = c.requests
	return a, ours
}

func (c *Chain) ask(ctx context.Context, m resolve.Module, key string, a *answer) {
	defer close(a.done)
	a.ended = true // remains set if a supplier panics
	defer func() {
		if a.ended {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.drop(key, a)
		}
	}()
	a.r, a.tried, a.err = c.first(ctx, m)
	if ctx.Err() != nil {
		a.err = context.Cause(ctx)
		return
	}
	a.ended = false
	if a.r != nil && c.MaxMemory > 0 {
		c.evict(c.MaxMemory - a.r.Memory())
	}
}

// evict closes the least recently requested symbols that only the Chain uses, until the others hold at most limit bytes.
func (c *Chain) evict(limit int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var idle []string
	held := int64(0)
	for key, a := range c.known {
		if a.isDone() && a.r != nil && !a.r.Shared() {
			idle = append(idle, key)
			held += a.r.Memory()
		}
	}
	slices.SortFunc(idle, func(a, b string) int { return int(c.known[a].last - c.known[b].last) })
	for _, key := range idle {
		if held <= limit {
			return
		}
		a := c.known[key]
		held -= a.r.Memory()
		c.drop(key, a)
	}
}

// first asks the suppliers in turn, and closes symbols that are not used. An error that several return is reported once.
func (c *Chain) first(ctx context.Context, m resolve.Module) (found resolve.Symbols, tried []symfmt.Tried, err error) {
	var errs []error
	seen := map[string]bool{}
	for _, s := range c.suppliers {
		r, t, err := s.Symbols(ctx, m)
		tried = append(tried, t...)
		if err != nil && !seen[err.Error()] {
			seen[err.Error()] = true
			errs = append(errs, err)
		}
		if r != nil && (found == nil || r.Detail(ctx) > found.Detail(ctx)) {
			found, r = r, found
		}
		if r != nil {
			r.Close()
		}
		if ctx.Err() != nil || found != nil && found.Detail(ctx) == resolve.LineDetail {
			break
		}
	}
	return found, tried, errors.Join(errs...)
}
