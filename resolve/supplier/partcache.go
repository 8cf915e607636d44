package supplier

import (
	"context"
	"sort"
	"sync"
	"unsafe"

	"github.com/symtool/symtool/internal/lru"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
)

// partCache keeps the most recently used parts of a module. Each is read once, however many ask for it.
type partCache[K comparable] struct {
	read    func(context.Context, K) *part // nil if the areas have changed, or if the context ends
	mu      sync.Mutex
	kept    lru.Cache[K, *part]
	reading map[K]*reading
}

// The number of bytes of parts that a module keeps. Addresses that are looked up one at a time
// need more than many at once, because Order groups the latter by part.
const (
	heldParts   = 256 << 20
	heldInOrder = 24 << 20
	manyAtOnce  = 1000 // addresses
)

func (c *partCache[K]) init(read func(context.Context, K) *part) {
	c.read, c.kept.Limit, c.reading = read, heldParts, make(map[K]*reading)
}

// setLimit sets the number of bytes to keep.
func (c *partCache[K]) setLimit(limit int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept.Limit = limit
}

// held returns roughly how many bytes are kept.
func (c *partCache[K]) held() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kept.Held()
}

// reading is a part that is being read; other callers that need it wait.
type reading struct {
	done chan struct{} // closed at the end
	part *part         // nil if the areas have changed, or if the context of its reader ended
}

// get returns a part, reading it unless it is kept; it returns nil if the areas have changed, or if the context of its reader ends.
func (c *partCache[K]) get(ctx context.Context, key K) *part {
	c.mu.Lock()
	if p, ok := c.kept.Get(key); ok {
		defer c.mu.Unlock()
		c.kept.Resize(key, p.held())
		return p
	}
	if r := c.reading[key]; r != nil {
		c.mu.Unlock()
		select {
		case <-r.done:
			return r.part
		case <-ctx.Done():
			return nil
		}
	}
	r := &reading{done: make(chan struct{})}
	c.reading[key] = r
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if delete(c.reading, key); r.part != nil {
			c.kept.Add(key, r.part, r.part.held())
		}
		close(r.done)
	}()
	r.part = c.read(ctx, key)
	return r.part
}

// part is a part that was read.
type part struct {
	*resolve.Resolver
	funcs []symfmt.Func // in order of address
	size  int64         // approximate size of its functions in bytes, and the most that its Resolver keeps in addition

	mu     sync.Mutex
	names  map[string]string // written names of functions, by their names in the file, as far as they were needed
	length int64             // total length of the written names in bytes
}

// held returns the approximate memory that a part takes.
func (p *part) held() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return 2*p.size + p.length
}

// rename replaces the names of functions by the written ones, which name derives: deriving all of
// them would take longer than everything else.
func (p *part) rename(frames []resolve.Frame, name func(string) string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range frames {
		raw := frames[i].Function
		written, ok := p.names[raw]
		if !ok {
			written = symfmt.CleanName(name(raw), symfmt.NoName)
			p.names[raw] = written
			p.length += int64(len(written))
		}
		frames[i].Function = written
	}
}

// newPart returns the part with the functions of a module.
func newPart(m *symfmt.Module, path string) *part {
	m = m.Ordered()
	p := &part{funcs: m.Funcs, size: moduleSize(m), names: make(map[string]string)}
	p.Resolver = resolve.FromModule(m, resolve.ModuleOptions{Path: path, MaxMemory: p.size})
	return p
}

// starts reports whether a function of the part starts in [first, last].
func (p *part) starts(first, last symfmt.RVA) bool {
	i := sort.Search(len(p.funcs), func(i int) bool { return p.funcs[i].RVA >= first })
	for i < len(p.funcs) && p.funcs[i].Size == 0 {
		i++
	}
	return i < len(p.funcs) && p.funcs[i].RVA <= last
}

// moduleSize returns the approximate size in bytes of a module's functions.
func moduleSize(m *symfmt.Module) (n int64) {
	for i := range m.Funcs {
		f := &m.Funcs[i]
		n += int64(unsafe.Sizeof(*f)) + int64(len(f.Name)+f.Body.Size())
	}
	for i := range m.Files {
		n += int64(unsafe.Sizeof(m.Files[i])) + int64(len(m.Files[i].Name))
	}
	for i := range m.Origins {
		n += int64(unsafe.Sizeof(m.Origins[i])) + int64(len(m.Origins[i].Name))
	}
	return n + minPart
}

// minPart is the size of a part with hardly any functions.
const minPart = 32 << 10
