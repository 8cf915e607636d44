// Package srcmap locates source files: a Mapping replaces the paths of FILE records by
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

// Mapping maps the paths of FILE records to places in a repository or a bucket,
// in these steps:
//
//  1. If Manifests or Links show that the build put the file there, its path
//     becomes the original's.
//  2. The prefix map is applied (see ReplacePrefix).
//  3. "." and ".." are removed, lexically.
//  4. The first of the Rules whose expression matches any part of the path,
//     with all groups of its template, yields the whole name.
//
// If no rule matches, the name is the result of the prefix map alone. The same
// holds if a rule matches but its template cannot be filled in because the source
// file is missing or differs. This is reported, and later rules are not tried,
// since they would lead to another file.
//
// Rules and their order are the same as in mozilla/dump_syms' --mapping-src and
// -dest. Named groups, {md5}, {{ and }} are additions, and a missing file costs
// only that file's mapping, not the whole dump.
//
// A Mapping may be used concurrently and for several modules with the same prefix
// map; each file is read once.
type Mapping struct {
	Rules     []Rule
	Links     bool // follow symbolic links of paths that exist on this machine
	Manifests []*Manifest

	once  sync.Once
	sums  bool     // a rule uses digests
	paths sync.Map // key -> *entry
	files sync.Map // path -> *sourceFile
}

// File is the result of mapping a path.
type File struct {
	Path   string // as in the debug information or the symbol file
	Name   string // of the FILE record
	File   string // file whose content Name refers to; "" if none
	SHA512 string // of File, in lower case
	Err    error  // why Path is not mapped although a rule matches; or nil
}

// maxPath is Linux's PATH_MAX: no file has a longer path. Longer names are left
// unchanged, which bounds the time for a name.
const maxPath = 4096

type key struct{ path, md5 string }

type entry struct {
	once sync.Once
	file File
}

// Map returns the result for a path. md5 is the file's digest in the debug
// information, in lower case, or "".
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

// Lost describes what is lost because of Err, for messages.
func (f *File) Lost() string { return "mapping of " + text.Printable(f.Path) }

// ReadsFiles reports whether a rule reads source files.
func (m *Mapping) ReadsFiles() bool { return m.has(partDigest) || m.has(partDIGEST) }

// ReadsMD5 reports whether a rule uses digests that only debug information has.
func (m *Mapping) ReadsMD5() bool { return m.has(partMD5) }

func (m *Mapping) has(kind partKind) bool {
	for i := range m.Rules {
		if m.Rules[i].has(kind) {
			return true
		}
	}
	return false
}

// apply finds the rule for a path and fills in its template.
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
				err = errors.New("the name that its rule yields is empty")
			case file != nil && strings.ContainsAny(name, tabsAndEnds):
				err = errors.New("{digest}: the name that its rule yields has tabs or line ends")
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

// source returns the source file if the rule's template needs it, or nil
// otherwise. A file that differs from the compiled one is an error.
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
		return nil, fmt.Errorf("{digest}: %s: the name has tabs or line ends", text.Printable(f.path))
	case len(sum) == 2*md5.Size && f.md5 != sum:
		return nil, fmt.Errorf("{digest}: %s is not the file that was compiled: its MD5 is %s, the debug information has %s",
			text.Printable(f.path), f.md5, sum)
	}
	return f, nil
}
