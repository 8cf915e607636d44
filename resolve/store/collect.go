package store

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/symtool/symtool/symfmt"
)

// Policy says what Collect removes besides leftovers and empty folders. The
// last KeepLast versions of each module stay. Of the others, those older than
// OlderThan are removed, then the oldest until the store is no larger than
// MaxSize. Without these two limits, all of the others are removed.
type Policy struct {
	KeepLast  int           // versions of each module to keep; 0 for no such rule
	OlderThan time.Duration // 0 for no limit
	MaxSize   int64         // in bytes; negative for no limit
	DryRun    bool

	Modules map[string]bool     // if non-nil, only versions of these modules are removed
	Keep    func(*Version) bool // if non-nil, reports whether a version must stay
	Removed func(Removal)       // if non-nil, called for each removal
}

// Removal is a file or folder that Collect removes.
type Removal struct {
	Path  string // relative to the store
	Bytes int64  // of a file
	Why   string
}

// Collected is what Collect has done or, in a dry run, would do.
type Collected struct {
	Versions int            // number of versions removed
	Files    int            // number of files removed, including leftovers
	Bytes    int64          // size of these files
	Left     int64          // size of the remaining versions
	Layouts  map[string]int // number of files in other layouts; all of them stay
	Future   []Entry        // files dated in the future, that keep their version from becoming old
	Problems []symfmt.Problem
}

// collector holds the state of Collect.
type collector struct {
	s *Store
	Policy
	Collected
}

// Collect removes the leftovers of writers that have ended, empty folders, and versions according to a policy. A
// version is as old as its newest symbol file; versions of the same age are removed in the order of name and id. A
// version dated in the future counts as the newest. A version whose files were rewritten, or added again, after they
// were listed is not touched.
func (s *Store) Collect(ctx context.Context, p Policy, now time.Time) (*Collected, error) {
	l, err := s.List(now)
	if err != nil {
		return nil, err
	}
	c := &collector{s: s, Policy: p}
	c.Problems, c.Layouts = l.Problems, l.Layouts()
	for _, e := range l.Leftovers {
		c.problem(e.Path, c.leftover(e, now))
	}
	for _, v := range l.Versions {
		c.Future = append(c.Future, v.future(now)...)
	}
	for _, v := range c.choose(l.Versions, now) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		c.problem(filepath.Join(v.version.Name, v.version.ID), c.version(v))
	}
	// Innermost first: a folder is empty once those in it are gone.
	for _, path := range slices.Backward(l.Empty) {
		c.problem(path, c.folder(path))
	}
	return &c.Collected, nil
}

func (c *collector) problem(path string, err error) {
	if err != nil {
		c.Problems = append(c.Problems, symfmt.Problem{Err: c.s.named(path, err)})
	}
}

// condemned is a version to remove.
type condemned struct {
	version *Version
	why     string
}

// choose selects the versions to remove, oldest first, and adds up the sizes
// of those that stay.
func (c *collector) choose(versions []*Version, now time.Time) (out []condemned) {
	newest := slices.Clone(versions)
	slices.SortStableFunc(newest, func(a, b *Version) int {
		return cmp.Or(b.Time().Compare(a.Time()), cmp.Compare(b.Name, a.Name), cmp.Compare(b.ID, a.ID))
	})
	rank := map[string]int{}
	var rest []*Version // may be removed for their size
	for _, v := range newest {
		rank[v.Name]++
		c.Left += v.Bytes()
		if len(v.Files)+len(v.Programs) > 0 && c.stays(v, rank[v.Name]) {
			continue
		}
		if why := c.why(v, now); why != "" {
			c.Left -= v.Bytes()
			out = append(out, condemned{v, why})
		} else {
			rest = append(rest, v)
		}
	}
	slices.Reverse(out)
	for _, v := range slices.Backward(rest) {
		if c.MaxSize < 0 || c.Left <= c.MaxSize {
			break
		}
		c.Left -= v.Bytes()
		out = append(out, condemned{v, "size"})
	}
	return out
}

// stays reports whether a version stays regardless of its age and size.
func (c *collector) stays(v *Version, rank int) bool {
	return c.KeepLast > 0 && rank <= c.KeepLast || c.Modules != nil && !c.Modules[v.Name] || c.Keep != nil && c.Keep(v)
}

// why returns the reason to remove a version, or "" to keep it.
func (c *collector) why(v *Version, now time.Time) string {
	old := c.OlderThan > 0 && now.Sub(v.Time()) > c.OlderThan
	switch {
	case len(v.Files)+len(v.Programs) == 0:
		return "leftover"
	case old:
		return "age"
	case c.KeepLast > 0 && c.OlderThan == 0 && c.MaxSize < 0:
		return "number"
	}
	return ""
}

// version removes a version while no file can be added.
func (c *collector) version(v condemned) error {
	entries := v.version.all()
	unlock, err := c.lock()
	if err != nil {
		return err
	}
	defer unlock()
	for _, e := range entries {
		if st, err := c.s.root.Lstat(e.Path); err != nil || st.Size() != e.Bytes || !st.ModTime().Equal(e.Time) {
			c.Left += v.version.Bytes()
			return nil // it has changed
		}
	}
	for i, e := range entries {
		if err := c.remove(e, v.why); err != nil {
			for _, left := range entries[i:] {
				c.Left += left.Bytes
			}
			return err
		}
	}
	if len(v.version.Files)+len(v.version.Programs) > 0 {
		c.Versions++
	}
	dir := filepath.Join(v.version.Name, v.version.ID)
	if c.DryRun {
		return nil
	}
	if c.s.root.Remove(dir) == nil { // fails if the folder is not empty
		_ = c.s.root.Remove(v.version.Name)
	}
	return nil
}

// lock keeps writers from publishing files.
func (c *collector) lock() (unlock func(), err error) {
	if c.DryRun {
		return func() {}, nil
	}
	return c.s.lock(true)
}

// leftover removes a temporary file after checking again that its writer has
// ended.
func (c *collector) leftover(e Entry, now time.Time) error {
	return c.s.ifDead(e.Path, now, func() error { return c.remove(e, "leftover") })
}

func (c *collector) remove(e Entry, why string) error {
	if !c.DryRun {
		err := c.s.root.Remove(e.Path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		c.s.step("remove")
	}
	c.Files++
	c.Bytes += e.Bytes
	c.report(Removal{e.Path, e.Bytes, why})
	return nil
}

// folder removes an empty folder.
func (c *collector) folder(path string) error {
	if !c.DryRun {
		unlock, err := c.lock()
		if err != nil {
			return err
		}
		defer unlock()
		if c.s.root.Remove(path) != nil {
			return nil // no longer empty
		}
	}
	c.report(Removal{path, 0, "empty"})
	return nil
}

func (c *collector) report(r Removal) {
	if c.Removed != nil {
		c.Removed(r)
	}
}
