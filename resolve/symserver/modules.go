package symserver

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/symtool/symtool/resolve"
)

// The bounds of the cache of modules, in addition to its size in bytes.
const (
	maxEntries = 512              // each may hold an open file
	entryCost  = 4 << 10          // approximate size of an entry itself in bytes
	failureAge = 10 * time.Second // how long a file that cannot be used is not read again
)

// modules caches indexed symbol files. One goroutine reads a file, however many need it.
type modules struct {
	limit int64
	warnf func(format string, args ...any)
	m     *metrics
	loads chan struct{} // a slot for each file being read

	mu      sync.Mutex
	entries map[string]*entry // by file
	recent  list.List         // of entries that are ready, the most recently used first
	used    int64
}

// entry is a symbol file, which may be in use by several requests.
type entry struct {
	key        string // the file's folder and path
	size, time int64  // of the file
	done       chan struct{}
	cancel     context.CancelFunc

	// Valid once done is closed:
	r        *resolve.Resolver // nil if it cannot be used
	err      error             // of this request, such as its cancellation; not kept
	codeFile string
	failed   time.Time // when it was found to be unusable

	users int // guarded by modules.mu, as is all that follows
	cost  int64
	in    *list.Element // in recent; nil before it is ready and after it was removed
	gone  bool          // to be closed when it is no longer used
}

func newModules(limit int64, m *metrics, warnf func(string, ...any)) *modules {
	return &modules{limit: limit, m: m, warnf: warnf, loads: make(chan struct{}, runtime.GOMAXPROCS(0)), entries: map[string]*entry{}}
}

// acquire returns the symbols in a file, which it closes or keeps; nil if they cannot be used or
// are another module's. The caller must release the result.
func (c *modules) acquire(ctx context.Context, f *file, id string) (*entry, error) {
	e, ours := c.entry(f)
	if ours {
		loading, cancel := context.WithCancel(context.WithoutCancel(ctx))
		c.mu.Lock()
		e.cancel = cancel
		c.mu.Unlock()
		go c.load(loading, e, f)
	} else {
		f.Close()
	}
	select {
	case <-e.done:
	case <-ctx.Done():
		c.release(e)
		return nil, context.Cause(ctx)
	}
	switch {
	case e.err != nil:
		err := e.err
		c.release(e)
		return nil, err
	case e.r == nil || !strings.EqualFold(e.r.Identity().ID, id):
		if e.r != nil {
			c.warnf("%s: not used: it has the symbols of %q %s", e.key, e.r.Identity().Name, e.r.Identity().ID)
		}
		c.release(e)
		return nil, nil
	}
	return e, nil
}

// entry returns the entry of a file. ours means that it is new, and that the caller must load it.
func (c *modules) entry(f *file) (e *entry, ours bool) {
	key := f.root.dir + "/" + f.path
	c.mu.Lock()
	defer c.mu.Unlock()
	if e = c.entries[key]; e != nil {
		stale := !e.failed.IsZero() && time.Since(e.failed) > failureAge
		if e.size == f.size && e.time == f.time && !stale {
			c.m.cacheHits.Add(1)
			e.users++
			if e.in != nil {
				c.recent.MoveToFront(e.in)
			}
			return e, false
		}
		c.drop(e)
	}
	c.m.cacheMisses.Add(1)
	e = &entry{key: key, size: f.size, time: f.time, done: make(chan struct{}), users: 1}
	c.entries[key] = e
	return e, true
}

// load reads a file. It stops when no request needs it any more.
func (c *modules) load(ctx context.Context, e *entry, f *file) {
	defer e.cancel()
	var r *resolve.Resolver
	var err error
	name := ""
	select {
	case c.loads <- struct{}{}:
		r, name, err = c.open(ctx, e, f.File)
		<-c.loads
	case <-ctx.Done():
		f.Close()
		err = context.Cause(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e.r, e.codeFile = r, name
	e.cost = entryCost
	switch {
	case ctx.Err() != nil:
		e.err = context.Canceled
		c.drop(e)
	case err != nil:
		c.warnf("%v", err)
		c.m.cacheErrors.Add(1)
		e.failed = time.Now()
	default:
		e.cost += r.Memory()
	}
	close(e.done)
	if e.gone {
		c.closeUnused(e)
		return
	}
	c.used += e.cost
	e.in = c.recent.PushFront(e)
	c.evict()
}

// open reads a file. A panic affects only this file.
func (c *modules) open(ctx context.Context, e *entry, f *os.File) (r *resolve.Resolver, codeFile string, err error) {
	began := time.Now()
	defer func() {
		c.m.loadTime.Add(int64(time.Since(began)))
		if p := recover(); p != nil {
			r, err = nil, fmt.Errorf("%s: reading it failed: %v", e.key, p)
		}
	}()
	r, err = resolve.OpenFile(ctx, f, resolve.FileOptions{Name: e.key, MaxMemory: c.limit})
	if err != nil {
		return nil, "", err
	}
	if len(r.Damage()) > 0 {
		c.warnf("%s: %d records cannot be read, the first: %v", e.key, len(r.Damage()), r.Damage()[0].Err)
	}
	return r, r.CodeFile(), nil
}

// release ends a use, and accounts for what grew meanwhile.
func (c *modules) release(e *entry) {
	memory := int64(0)
	select {
	case <-e.done:
		if e.r != nil {
			memory = e.r.Memory()
		}
	default:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e.users--
	if e.in != nil {
		c.used += entryCost + memory - e.cost
		e.cost = entryCost + memory
		c.evict()
		return
	}
	if e.users > 0 {
		return
	}
	select {
	case <-e.done:
		c.closeUnused(e)
	default: // it is being read, but no request waits any more
		c.drop(e)
		if e.cancel != nil {
			e.cancel()
		}
	}
}

// evict drops the least recently used entries until the rest fits.
func (c *modules) evict() {
	for at := c.recent.Back(); at != nil && (c.used > c.limit || c.recent.Len() > maxEntries); {
		e := at.Value.(*entry)
		at = at.Prev()
		if e.users == 0 {
			c.m.evictions.Add(1)
			c.drop(e)
		}
	}
	c.m.cacheBytes.Store(c.used)
	c.m.cacheModules.Store(int64(c.recent.Len()))
}

// drop hides an entry from new requests.
func (c *modules) drop(e *entry) {
	if c.entries[e.key] == e {
		delete(c.entries, e.key)
	}
	if e.in != nil {
		c.recent.Remove(e.in)
		c.used -= e.cost
		e.in = nil
	}
	e.gone = true
	select {
	case <-e.done:
		c.closeUnused(e)
	default:
	}
}

// closeUnused closes an entry that was dropped and is no longer used.
func (c *modules) closeUnused(e *entry) {
	if e.gone && e.users == 0 && e.r != nil {
		if err := e.r.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			c.warnf("%s: %v", e.key, err)
		}
		e.r = nil
	}
}

// close closes all.
func (c *modules) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.entries {
		c.drop(e)
	}
}
