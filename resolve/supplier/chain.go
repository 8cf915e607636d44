package supplier

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
)

// Chain is a Supplier that asks others in turn, once per module. It uses the first symbols with
// lines, otherwise the first with functions, otherwise the first of any kind, such as those of a
// binary without debug information.
type Chain struct {
	suppliers []resolve.Supplier
	mu        sync.Mutex
	known     map[string]*answer
}

// answer is the suppliers' answer for a module, once done is closed.
type answer struct {
	done  chan struct{}
	r     resolve.Symbols
	tried []symfmt.Tried
	err   error
	ended bool // the context ended before there was an answer
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
			return a.r, a.tried, a.err
		}
		select {
		case <-a.done:
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
		if !a.ended {
			return a.r, a.tried, a.err
		}
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

// answer returns the answer for a module. ours means that there is none yet, and that the caller
// must find it.
func (c *Chain) answer(key string) (a *answer, ours bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a := c.known[key]; a != nil {
		return a, false
	}
	a = &answer{done: make(chan struct{})}
	c.known[key] = a
	return a, true
}

func (c *Chain) ask(ctx context.Context, m resolve.Module, key string, a *answer) {
	defer close(a.done)
	a.ended = true // remains set if a supplier panics
	defer func() {
		if a.ended {
			c.mu.Lock()
			defer c.mu.Unlock()
			delete(c.known, key)
		}
	}()
	a.r, a.tried, a.err = c.first(ctx, m)
	if ctx.Err() != nil {
		a.err = context.Cause(ctx)
		return
	}
	a.ended = false
}

// first asks the suppliers in turn. An error that several return is reported once.
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
		if ctx.Err() != nil {
			break
		}
		if r != nil && (found == nil || r.Detail() > found.Detail()) {
			found = r
		}
		if found != nil && found.Detail() == resolve.LineDetail {
			break
		}
	}
	return found, tried, errors.Join(errs...)
}
