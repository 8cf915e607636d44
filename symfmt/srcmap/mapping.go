// Package srcmap says where source files are: it replaces the paths of FILE records by
// places in a repository or a bucket. Rules and prefixes come from the caller, install
// manifests from a build.
package srcmap

import (
	"crypto/md5"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/symtool/symtool/internal/text"
)

// Mapping says where the source files are that FILE names: in a repository, in a
// bucket. A path becomes a name in these steps:
//
//  1. Where Manifests or Links know that the file was put there by the build, its
//     path is that of the file that it came from.
//  2. The prefix map is applied (see ReplacePrefix).
//  3. "." and ".." go away, by name alone.
//  4. The first of the Rules whose expression matches any part of the path, all
//     groups of its template included, gives the whole name.
//
// Where no rule matches, the name is the result of the prefix map alone. The same
// holds where a rule matches but its template cannot be filled in, because the
// source file is missing or differs: that is reported, and later rules are not
// tried, since they would lead to some other file.
//
// Rules and order are those of mozilla/dump_syms' --mapping-src and -dest; what
// is ours are names of groups, {md5}, {{ and }}, and that a missing file costs
// the mapping of this file and not the whole dump.
//
// A Mapping may be used concurrently and for several modules, with the same prefix
// map; each file is looked at once.
type Mapping struct {
	Rules     []Rule
	Links     bool // follow symbolic links of paths that are on this machine
	Manifests []*Manifest

	once  sync.Once
	sums  bool     // a rule wants digests
	paths sync.Map // key -> *entry
	files sync.Map // path -> *sourceFile
}

// File is what became of a path.
type File struct {
	Path   string // as in the debug information or the symbol file
	Name   string // of the FILE record
	File   string // whose content is in Name; "" if none is
	SHA512 string // of File, in lower case
	Err    error  // why Path is not mapped though a rule matches; nil
}

// maxPath is PATH_MAX of Linux: no file has a longer one. Longer names stay
// as they are, so that the time for a name has a bound.
const maxPath = 4096

type key struct{ path, md5 string }

type entry struct {
	once sync.Once
	file File
}

// Map returns what becomes of a path. md5 is the digest that the debug
// information has of the file, in lower case; "" for none.
func (m *Mapping) Map(prefixes []Prefix, path, md5 string) *File {
	if len(path) > maxPath {
		return &File{Path: path, Name: ReplacePrefix(prefixes, path),
			Err: fmt.Errorf("path of %d bytes, want at most %d", len(path), maxPath)}
	}
	m.once.Do(func() { m.sums = m.ReadsMD5() || m.ReadsFiles() })
	if !m.sums {
		md5 = ""
	}
	v, ok := m.paths.Load(key{path, md5})
	if !ok {
		v, _ = m.paths.LoadOrStore(key{strings.Clone(path), md5}, &entry{})
	}
	e := v.(*entry)
	e.once.Do(func() { e.file = m.apply(prefixes, strings.Clone(path), md5) })
	return &e.file
}

// Lost returns what is lost by Err, for messages.
func (f *File) Lost() string { return "mapping of " + text.Printable(f.Path) }

// ReadsFiles reports whether a rule reads source files.
func (m *Mapping) ReadsFiles() bool { return m.has(partDigest) || m.has(partDIGEST) }

// ReadsMD5 reports whether a rule wants what only debug information has.
func (m *Mapping) ReadsMD5() bool { return m.has(partMD5) }

func (m *Mapping) has(kind partKind) bool {
	for i := range m.Rules {
		if m.Rules[i].has(kind) {
			return true
		}
	}
	return false
}

// apply finds the rule for a path, and fills its template in.
func (m *Mapping) apply(prefixes []Prefix, path, md5 string) File {
	f := File{Path: path, Name: ReplacePrefix(prefixes, path)}
	places := []string{path}
	if f.Name != path {
		places = append(places, f.Name)
	}
	origin := cleanPath(m.origin(prefixes, path, places))
	for i := range m.Rules {
		r := &m.Rules[i]
		subject, ok := r.subject(path, origin)
		if !ok {
			continue
		}
		match := r.match(subject)
		if match == nil || !r.filled(match) {
			continue
		}
		file, err := m.source(r, places, md5)
		if err == nil {
			name := r.name(subject, match, file, md5)
			switch {
			case name == "":
				err = errors.New("the name that its rule gives is empty")
			case file != nil && strings.ContainsAny(name, tabsAndEnds):
				err = errors.New("{digest}: the name that its rule gives has tabs or ends of lines")
			default:
				f.Name = name
			}
		}
		if f.Err = err; err == nil && file != nil {
			f.File, f.SHA512 = file.path, file.sha512
		}
		break
	}
	return f
}

// source reads what the rule's template wants to know of the source file; nil if
// that is nothing. What is not what the compiler read is an error.
func (m *Mapping) source(r *Rule, places []string, sum string) (*sourceFile, error) {
	if r.has(partMD5) && sum == "" {
		return nil, errors.New("{md5}: the debug information has none for this file")
	}
	if !r.has(partDigest) && !r.has(partDIGEST) {
		return nil, nil
	}
	f := m.read(places)
	switch {
	case f.err != nil:
		return nil, fmt.Errorf("{digest}: %w", f.err)
	case strings.ContainsAny(f.path, tabsAndEnds):
		return nil, fmt.Errorf("{digest}: %s: a name with tabs or ends of lines", text.Printable(f.path))
	case len(sum) == 2*md5.Size && f.md5 != sum:
		return nil, fmt.Errorf("{digest}: %s is not what was compiled: its MD5 is %s, that in the debug information %s",
			text.Printable(f.path), f.md5, sum)
	}
	return f, nil
}
