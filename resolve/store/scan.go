package store

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/symtool/symtool/symfmt"

	"github.com/symtool/symtool/internal/bin"
)

// Entry is a file in a store.
type Entry struct {
	Path  string // below the store
	Bytes int64
	Time  time.Time // when it was written
	mode  fs.FileMode
}

// Version holds a store's files for a module with one id.
type Version struct {
	Name, ID string  // the folders' names
	Files    []Entry // symbol files and files of variables: usually one of each, more if stored in several compressions
	Programs []Entry // the PE file or PDB of that name
	Indexes  []Entry // symtool's, beside symbol files
}

// all returns all files of the version.
func (v *Version) all() []Entry { return slices.Concat(v.Files, v.Programs, v.Indexes) }

// Bytes returns the size of the files.
func (v *Version) Bytes() (sum int64) {
	for _, e := range v.all() {
		sum += e.Bytes
	}
	return sum
}

// Time returns when the newest file was written.
func (v *Version) Time() (last time.Time) {
	for _, e := range slices.Concat(v.Files, v.Programs) {
		if e.Time.After(last) {
			last = e.Time
		}
	}
	return last
}

// clockSlack is how far a file's time may be ahead of this computer's clock: the clocks of computers
// that share a store differ.
const clockSlack = time.Hour

// future returns the files that are dated in the future, which count as the newest until then.
func (v *Version) future(now time.Time) (all []Entry) {
	for _, e := range slices.Concat(v.Files, v.Programs) {
		if e.Time.Sub(now) > clockSlack {
			all = append(all, e)
		}
	}
	return all
}

// Listing is the contents of a store. All lists are sorted by name.
type Listing struct {
	Versions  []*Version
	Leftovers []Entry  // from writers that have ended
	Writing   []Entry  // temporary files of active writers
	Others    []Entry  // neither symbol files, PE files or PDBs nor files that belong to them
	Empty     []string // folders that are empty or contain only empty folders
	Problems  []symfmt.Problem

	folders []Entry
}

// Layouts counts the files in layouts other than breakpad, by layout.
func (l *Listing) Layouts() map[string]int {
	n := map[string]int{}
	for _, e := range l.Others {
		if layout := layoutOf(e.Path); layout != "" {
			n[layout]++
		}
	}
	return n
}

// List lists all names in the store without reading symbol files. What cannot be read
// is reported as a Problem, and the rest is listed.
func (s *Store) List(now time.Time) (*Listing, error) {
	l := &Listing{}
	entries := map[string]int{} // number of entries of each folder
	versions := map[string]*Version{}
	err := fs.WalkDir(s.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && name != "." {
			entries[path.Dir(name)]++
			err = s.listOne(l, versions, name, d, now)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist) && name != ".": // removed meanwhile
			return nil
		case err != nil && name == ".":
			return err
		case err != nil:
			l.Problems = append(l.Problems, symfmt.Problem{Err: s.named(name, err)})
			entries[name]++ // not known to be empty
			return nil
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	// Innermost first: a folder counts as empty if all folders in it do.
	for _, f := range slices.Backward(l.folders) {
		if name := filepath.ToSlash(f.Path); entries[name] == 0 {
			l.Empty = append(l.Empty, f.Path)
			entries[path.Dir(name)]--
		}
	}
	slices.Reverse(l.Empty)
	for _, v := range versions {
		l.Versions = append(l.Versions, v)
	}
	slices.SortFunc(l.Versions, func(a, b *Version) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return l, nil
}

// listOne adds one name to the list that it belongs to.
func (s *Store) listOne(l *Listing, versions map[string]*Version, name string, d fs.DirEntry, now time.Time) error {
	st, err := d.Info()
	if err != nil {
		return err
	}
	e := Entry{filepath.FromSlash(name), st.Size(), st.ModTime(), st.Mode()}
	parts := strings.Split(name, "/")
	last := parts[len(parts)-1]
	switch {
	case d.IsDir():
		l.folders = append(l.folders, e)
		return nil
	case last == lockName && len(parts) == 1:
		return nil
	case isTemp(last) && st.Mode().IsRegular():
		list := &l.Writing
		err := s.ifDead(e.Path, now, func() error { list = &l.Leftovers; return nil })
		*list = append(*list, e)
		return err
	}
	index, isIndex := strings.CutSuffix(last, ".idx")
	_, ext, isText := StemOf(strings.TrimSuffix(last, ".idx"))
	isProgram := len(parts) == 3 && !isText && strings.EqualFold(parts[0], last) && s.isProgram(e)
	if len(parts) != 3 || !isText && !isProgram || !st.Mode().IsRegular() || isIndex && (index == "" || ext != symbolExt) {
		l.Others = append(l.Others, e)
		return nil
	}
	key := parts[0] + "/" + parts[1]
	v := versions[key]
	if v == nil {
		v = &Version{Name: parts[0], ID: parts[1]}
		versions[key] = v
	}
	switch {
	case isIndex:
		v.Indexes = append(v.Indexes, e)
	case isProgram:
		v.Programs = append(v.Programs, e)
	default:
		v.Files = append(v.Files, e)
	}
	return nil
}

// named adds the path of a file of the store to an error, in the form in which
// the user gave it.
func (s *Store) named(name string, err error) error {
	return &bin.Error{File: s.Path(filepath.FromSlash(name)), Msg: bin.WithoutPath(err).Error()}
}
