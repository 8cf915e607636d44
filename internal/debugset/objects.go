package debugset

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
)

// Objects finds the objects of a debug map. All methods except Close may be called concurrently.
type Objects struct {
	Paths    func(name string) []string // returns where a file of a recorded name may be
	Limits   object.Limits
	Hermetic bool      // objects outside the folders are ignored
	AnyTime  bool      // objects that changed since linking are used, too
	Written  time.Time // when the linked file was last changed; zero if unknown

	mu       sync.Mutex
	archives map[string]func() (*objfile.Archive, error)
}

// Linked is an object whose functions and variables a linker moved.
type Linked struct {
	*object.File
	Newer   bool // changed well after the linked file, which does not record the object's time
	Missing int  // functions that were linked but have no symbols in the object

	moves []move // by lo
}

// move says that the linker put the function or variable at [lo, hi) of the object at to.
type move struct{ lo, hi, to uint64 }

// To returns the address to which the linker moved an address of the object. It reports false if the linker dropped it.
func (l *Linked) To(addr uint64) (uint64, bool) {
	i, found := slices.BinarySearchFunc(l.moves, addr, func(m move, a uint64) int { return cmp.Compare(m.lo, a) })
	if !found {
		i--
	}
	if i < 0 || addr >= l.moves[i].hi {
		return 0, false
	}
	return addr - l.moves[i].lo + l.moves[i].to, true
}

// Close closes the archives, and thus their members.
func (o *Objects) Close() {
	for _, open := range o.archives {
		if a, err := open(); err == nil {
			a.Close()
		}
	}
}

// ErrNoObject is the kind of problem of an object in a debug map that is missing or was changed.
var ErrNoObject = errors.New("no object")

// Open opens the object m if one is found that the linker can have read, one that has not changed since. The error is
// attributed to the binary at path and says where the object was looked for. absent reports whether it exists at none
// of these places.
func (o *Objects) Open(path string, m *object.MappedObject) (l *Linked, absent bool, err error) {
	var refused []string
	paths := o.Paths(m.Path)
	for _, p := range paths {
		l, err := o.at(p, m)
		if err == nil {
			return l, false, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			refused = append(refused, err.Error())
		}
	}
	why := "is not found: looked for " + strings.Join(paths, ", ")
	switch {
	case len(refused) > 0:
		why = "cannot be used: " + strings.Join(refused, "; ")
	case len(paths) == 0:
		why = "is not looked for: no folder with objects is named"
	}
	return nil, len(refused) == 0, &bin.Error{File: path, Msg: fmt.Sprintf("the object %s %s", m, why), Kind: ErrNoObject}
}

// at opens the object m in the file at path.
func (o *Objects) at(path string, m *object.MappedObject) (*Linked, error) {
	if m.Member != "" {
		return o.member(path, m)
	}
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if err := o.unchanged(path, m, st.ModTime().Unix()); err != nil {
		return nil, err
	}
	f, err := objfile.Open(path, o.Limits)
	if err != nil {
		return nil, err
	}
	return o.linked(f, m, st.ModTime())
}

// member opens the object m in the archive at path, which may have several members of that name.
func (o *Objects) member(path string, m *object.MappedObject) (l *Linked, err error) {
	a, err := o.archive(path)
	if err != nil {
		return nil, err
	}
	err = &bin.Error{File: path, Msg: fmt.Sprintf("no member %s", m.Member)}
	if file := a.Elsewhere(m.Member); file != "" && len(a.Times(m.Member)) > 0 {
		if o.Hermetic && !filepath.IsLocal(m.Member) {
			return nil, &bin.Error{File: path, Msg: fmt.Sprintf("the member %s is in another folder", m.Member)}
		}
		alone := *m
		alone.Path, alone.Member = file, ""
		return o.at(file, &alone)
	}
	for i, changed := range a.Times(m.Member) {
		if err = o.unchanged(fmt.Sprintf("%s(%s)", path, m.Member), m, changed); err != nil {
			continue
		}
		var f *object.File
		if f, err = a.Open(m.Member, i); err != nil {
			continue
		}
		if l, err = o.linked(f, m, a.Changed); err == nil {
			return l, nil
		}
	}
	return nil, err
}

// archive opens the archive at path, or returns it if it is already open.
func (o *Objects) archive(path string) (*objfile.Archive, error) {
	o.mu.Lock()
	open := o.archives[path]
	if open == nil {
		if o.archives == nil {
			o.archives = map[string]func() (*objfile.Archive, error){}
		}
		open = sync.OnceValues(func() (*objfile.Archive, error) { return objfile.OpenArchive(path, o.Limits) })
		o.archives[path] = open
	}
	o.mu.Unlock()
	return open()
}

// unchanged returns an error if an object was changed after it was linked.
func (o *Objects) unchanged(path string, m *object.MappedObject, changed int64) error {
	if o.AnyTime || m.Time == 0 || changed == m.Time {
		return nil
	}
	stamp := func(seconds int64) string { return time.Unix(seconds, 0).UTC().Format(time.DateTime) }
	return &bin.Error{File: path, Msg: fmt.Sprintf("changed at %s UTC, want %s as when it was linked", stamp(changed), stamp(m.Time))}
}

// copying is how much later than the linked file an object may have been written if both were copied: copies often do
// not preserve the times.
const copying = 2 * time.Second

// linked finds the functions of m in its object f, whose file last changed at the given time. It closes f on error.
// Linkers with reproducible output leave out the object's time; then each function must be in the object, with its
// size.
func (o *Objects) linked(f *object.File, m *object.MappedObject, changed time.Time) (*Linked, error) {
	l, found, err := moves(f, m)
	if err == nil && m.Time == 0 && found < len(m.Funcs) {
		err = &bin.Error{File: f.Path, Msg: fmt.Sprintf("another build: it has %d of the %d functions that were linked", found, len(m.Funcs))}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	l.Newer = m.Time == 0 && !o.AnyTime && !o.Written.IsZero() && changed.Sub(o.Written) > copying
	return l, nil
}

// moves finds the functions and variables of m in the symbols of its object. found is the number of functions whose
// size is the linked function's.
func moves(f *object.File, m *object.MappedObject) (l *Linked, found int, err error) {
	funcs := make(map[string][]int, len(m.Funcs)) // indices in m.Funcs: local functions may share a name
	for i := range m.Funcs {
		funcs[m.Funcs[i].Name] = append(funcs[m.Funcs[i].Name], i)
	}
	data := make(map[string][]int, len(m.Data))
	for i := range m.Data {
		if m.Data[i].Addr != 0 {
			data[m.Data[i].Name] = append(data[m.Data[i].Name], i)
		}
	}
	l = &Linked{File: f}
	var sizes, starts []uint64
	err = f.Symbols(object.Symtab, func(s *object.Symbol) {
		if s.Section == nil {
			return
		}
		wanted, addr := funcs, s.Addr&^f.ISABit
		if !s.Section.Exec {
			wanted, addr = data, s.Addr
		}
		name := string(s.Name)
		if left := wanted[name]; len(left) > 0 {
			wanted[name] = left[1:]
			mv := move{lo: addr, hi: s.Section.Addr + s.Section.MemSize}
			size := ^uint64(0) // a variable's size is not known
			if s.Section.Exec {
				mv.to, size = m.Funcs[left[0]].Addr, m.Funcs[left[0]].Size
			} else {
				mv.to = m.Data[left[0]].Addr
			}
			l.moves, sizes = append(l.moves, mv), append(sizes, size)
		} else if s.Section.Exec && s.Kind != object.Function {
			return
		}
		starts = append(starts, addr)
	})
	f.ReleaseSymbols()
	if err != nil {
		return nil, 0, err
	}
	for _, left := range funcs {
		l.Missing += len(left)
	}
	slices.Sort(starts)
	for i := range l.moves {
		to := &l.moves[i]
		if next, _ := slices.BinarySearch(starts, to.lo+1); next < len(starts) {
			to.hi = min(to.hi, starts[next])
		}
		if to.hi-to.lo == sizes[i] {
			found++
		}
	}
	slices.SortFunc(l.moves, func(a, b move) int { return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.to, b.to)) })
	return l, found, nil
}
