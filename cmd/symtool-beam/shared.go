package main

import (
	"context"
	"encoding/json"
	"errors"
	"runtime/metrics"
	"sync"

	"github.com/symtool/symtool/internal/par"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/walk/fleet"
)

// shared is what all bundles of a worker process share: symbols, and the limit on concurrent walks.
// Its methods may be called concurrently.
//
// Symbols are kept until too much memory is live. Then the next dumps get a fresh set, and the old
// set is closed after the last walk that uses it. Which set is used does not affect a dump's line.
type shared struct {
	config  Config
	slots   chan struct{} // one for each dump that may be walked at once
	key     string        // in sharedOnes
	users   int           // guarded by sharedOnes.mu
	limit   int64
	live    func() (bytes int64, cycle uint64) // live heap, as the last garbage collection found it
	mu      sync.Mutex
	now     *symbols
	dropped int    // how many sets were dropped
	cycle   uint64 // of the collection after which the next set may be dropped
}

// symbols is a set of symbols with its users.
type symbols struct {
	batch *fleet.Runner
	idle  []*fleet.Worker
	users int
	old   bool // a newer set has replaced it

	mu   sync.Mutex
	open []resolve.Symbols
}

var sharedOnes struct {
	mu  sync.Mutex
	all map[string]*shared
}

// acquire returns the process's shared for a Config. The caller must release it.
func acquire(c Config) (*shared, error) {
	key, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	sharedOnes.mu.Lock()
	defer sharedOnes.mu.Unlock()
	s := sharedOnes.all[string(key)]
	if s == nil {
		s = &shared{config: c, key: string(key), slots: make(chan struct{}, par.Jobs(c.Jobs)), limit: c.Memory, live: liveHeap}
		// A missing folder is reported once, not once per dump.
		if s.now, err = c.newSymbols(); err != nil {
			return nil, err
		}
		if sharedOnes.all == nil {
			sharedOnes.all = map[string]*shared{}
		}
		sharedOnes.all[s.key] = s
	}
	s.users++
	return s, nil
}

// release closes the symbols after the last user.
func (s *shared) release() error {
	sharedOnes.mu.Lock()
	defer sharedOnes.mu.Unlock()
	if s.users--; s.users > 0 {
		return nil
	}
	delete(sharedOnes.all, s.key)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now.retire()
}

func (c *Config) newSymbols() (*symbols, error) {
	y := &symbols{}
	var err error
	y.batch, err = c.batch(y.openFile)
	return y, err
}

// openFile opens a symbol file, which is closed with the set.
func (y *symbols) openFile(ctx context.Context, path string) (resolve.Symbols, error) {
	r, err := resolve.Open(ctx, path, resolve.OpenOptions{})
	if err == nil {
		y.mu.Lock()
		y.open = append(y.open, r)
		y.mu.Unlock()
	}
	return r, err
}

// retire closes the set after its last user.
func (y *symbols) retire() error {
	y.old = true
	if y.users > 0 {
		return nil
	}
	errs := []error{y.batch.Symbols.Close()}
	for _, r := range y.open {
		errs = append(errs, r.Close())
	}
	y.open = nil
	return errors.Join(errs...)
}

// walked is a walked dump, with the resources that it holds.
type walked struct {
	*fleet.Walked
	ms      int64
	release func() error // returns the symbols and removes the dump's temporary file
}

// walker returns a walker and its set, which the caller returns with give.
func (s *shared) walker() (*symbols, *fleet.Worker, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.renew(); err != nil {
		return nil, nil, err
	}
	y := s.now
	y.users++
	if n := len(y.idle); n > 0 {
		w := y.idle[n-1]
		y.idle = y.idle[:n-1]
		return y, w, nil
	}
	return y, y.batch.NewWorker(), nil
}

// give returns a walker and its set to s. The walker is nil if it panicked.
func (s *shared) give(y *symbols, w *fleet.Worker) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w != nil {
		y.idle = append(y.idle, w)
	}
	if y.users--; y.users == 0 && y.old {
		return y.retire()
	}
	return nil
}

// renew drops the set if too much memory is live. Dropped memory stays live until the next
// collection, and until then no other set is dropped.
func (s *shared) renew() error {
	if s.limit <= 0 {
		return nil
	}
	live, cycle := s.live()
	if live <= s.limit || cycle <= s.cycle {
		return nil
	}
	y, err := s.config.newSymbols()
	if err != nil {
		return err
	}
	old := s.now
	s.now, s.cycle = y, cycle+1
	s.dropped++
	return old.retire()
}

// liveHeap returns the number of bytes that the last garbage collection found live, and the number
// of that collection.
func liveHeap() (bytes int64, cycle uint64) {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64()), samples[1].Value.Uint64()
}

// take waits for a slot, or for the end of ctx.
func (s *shared) take(ctx context.Context) error {
	select {
	case s.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
