// Package catalog lists the contents of stores: which modules, in which versions, since when. The server's
// overview shows it.
package catalog

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/symtool/symtool/resolve/store"
)

// Version is what a store has for a module with one id.
type Version struct {
	ID    string
	Dir   string        // of the store
	Files []store.Entry // symbol files, files of variables and programs
	Bytes int64         // their size
	Time  time.Time     // when the newest was written
}

// Module is what the stores have for modules of one name.
type Module struct {
	Name     string
	Versions []*Version // the newest first
	Bytes    int64
}

// Newest returns when the newest version was written.
func (m *Module) Newest() time.Time { return m.Versions[0].Time }

// Catalog is a list of the modules in stores. It is read again when it is requested and old, as others
// may add files to the stores and remove them.
type Catalog struct {
	dirs []string
	now  func() time.Time

	mu      sync.Mutex
	modules []*Module // in the order of names; never changed once it is stored here
	state   State
	done    chan struct{} // closed when the current reading ends; nil if there is none
	dirty   bool          // something was added since the reading began
}

// State is how the list was read.
type State struct {
	Read     time.Time     // when its reading began; zero if it was never read
	Took     time.Duration // by the reading
	Versions int
	Bytes    int64
	Problems []string // of folders that cannot be read
	Reading  bool     // it is being read, again or for the first time
}

// New returns the catalog of the stores in folders. Nothing is read yet.
func New(dirs []string) *Catalog { return &Catalog{dirs: dirs, now: time.Now} }

// The list is read again when it is older than minAge, and than ageOfCost times what reading it took: a large
// store is not read all the time.
const (
	minAge    = 5 * time.Second
	ageOfCost = 30
)

// Changed records that a file was added: the list is read again at the next request if reading it is cheap,
// otherwise when it is old.
func (c *Catalog) Changed() {
	c.mu.Lock()
	c.dirty = true
	c.mu.Unlock()
}

// old reports whether the list should be read again. The caller holds the lock.
func (c *Catalog) old() bool {
	age := c.now().Sub(c.state.Read)
	switch {
	case c.state.Read.IsZero():
		return true
	case c.dirty:
		return age > ageOfCost*c.state.Took
	}
	return age > max(minAge, ageOfCost*c.state.Took)
}

// renewal is how long Modules waits for a list to be read again.
const renewal = 200 * time.Millisecond

// Modules returns the list and how it was read. If the list was never read, Modules waits for it until ctx ends.
// An old list is read again, and returned as it was if that takes long. The list must not be changed.
func (c *Catalog) Modules(ctx context.Context) ([]*Module, State) {
	c.mu.Lock()
	if c.done == nil && c.old() {
		c.done = make(chan struct{})
		c.dirty = false
		go c.read(c.done)
	}
	done, first := c.done, c.state.Read.IsZero()
	c.mu.Unlock()
	if !first {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, renewal)
		defer cancel()
	}
	if done != nil {
		select {
		case <-done:
		case <-ctx.Done():
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	state := c.state
	state.Reading = c.done != nil
	return c.modules, state
}

// read reads the list.
func (c *Catalog) read(done chan struct{}) {
	began := c.now()
	byName := map[string]*Module{}
	state := State{Read: began}
	for _, dir := range c.dirs {
		if err := readStore(byName, &state, dir, began); err != nil {
			state.Problems = append(state.Problems, err.Error())
		}
	}
	modules := make([]*Module, 0, len(byName))
	for _, m := range byName {
		slices.SortFunc(m.Versions, func(a, b *Version) int { return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(a.ID, b.ID)) })
		modules = append(modules, m)
	}
	slices.SortFunc(modules, func(a, b *Module) int { return compareNames(a.Name, b.Name) })
	c.mu.Lock()
	defer c.mu.Unlock()
	state.Took = c.now().Sub(began)
	c.modules, c.state, c.done = modules, state, nil
	close(done)
}

// readStore adds the modules of a store.
func readStore(byName map[string]*Module, state *State, dir string, now time.Time) error {
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	l, err := s.List(now)
	if err != nil {
		return err
	}
	for _, p := range l.Problems {
		state.Problems = append(state.Problems, p.Err.Error())
	}
	for _, v := range l.Versions {
		files := slices.Concat(v.Files, v.Programs)
		if len(files) == 0 { // an index that was left over
			continue
		}
		m := byName[v.Name]
		if m == nil {
			m = &Module{Name: v.Name}
			byName[v.Name] = m
		}
		one := &Version{ID: v.ID, Dir: dir, Files: files, Bytes: v.Bytes(), Time: v.Time()}
		m.Versions = append(m.Versions, one)
		m.Bytes += one.Bytes
		state.Versions++
		state.Bytes += one.Bytes
	}
	return nil
}

// Find returns the module of a name in a list that Modules returned, or nil.
func Find(list []*Module, name string) *Module {
	i, found := slices.BinarySearchFunc(list, name, func(m *Module, name string) int { return compareNames(m.Name, name) })
	if !found {
		return nil
	}
	return list[i]
}

// compareNames orders names as people look for them: by case only if they do not differ otherwise.
func compareNames(a, b string) int {
	return cmp.Or(cmp.Compare(strings.ToLower(a), strings.ToLower(b)), cmp.Compare(a, b))
}

// Version returns the version with an id, in any case, or nil.
func (m *Module) Version(id string) *Version {
	for _, v := range m.Versions {
		if strings.EqualFold(v.ID, id) {
			return v
		}
	}
	return nil
}
