package dwarf2sym

import (
	"crypto/md5"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/text"
)

// Mapping says where the source files are that FILE names: in a repository, in a
// bucket. A path becomes a name in these steps:
//
//  1. Where Manifests or Links know that the file was put there by the build, its
//     path is that of the file that it came from.
//  2. The prefix map is applied (see MapPath).
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
	Rules     []MapRule
	Links     bool // follow symbolic links of paths that are on this machine
	Manifests []*Manifest

	once  sync.Once
	sums  bool     // a rule wants digests
	paths sync.Map // mapKey -> *mapEntry
	files sync.Map // path -> *sourceFile
}

// MappedFile is what became of a path.
type MappedFile struct {
	Path   string // as in the debug information or the symbol file
	Name   string // of the FILE record
	File   string // whose content is in Name; "" if none is
	SHA512 string // of File, in lower case
	Err    error  // why Path is not mapped though a rule matches; nil
}

// maxMapPath is PATH_MAX of Linux: no file has a longer one. Longer names stay
// as they are, so that the time for a name has a bound.
const maxMapPath = 4096

type mapKey struct{ path, md5 string }

type mapEntry struct {
	once sync.Once
	file MappedFile
}

// Map returns what becomes of a path. md5 is the digest that the debug
// information has of the file, in lower case; "" for none.
func (m *Mapping) Map(prefixes []PrefixMap, path, md5 string) *MappedFile {
	if len(path) > maxMapPath {
		return &MappedFile{Path: path, Name: MapPath(prefixes, path),
			Err: fmt.Errorf("path of %d bytes, want at most %d", len(path), maxMapPath)}
	}
	m.once.Do(func() { m.sums = m.ReadsMD5() || m.ReadsFiles() })
	if !m.sums {
		md5 = ""
	}
	v, ok := m.paths.Load(mapKey{path, md5})
	if !ok {
		v, _ = m.paths.LoadOrStore(mapKey{strings.Clone(path), md5}, &mapEntry{})
	}
	e := v.(*mapEntry)
	e.once.Do(func() { e.file = m.apply(prefixes, strings.Clone(path), md5) })
	return &e.file
}

// Problem returns the problem to report for a file whose Err is not nil.
func (f *MappedFile) Problem() bin.Problem {
	return bin.Problem{Lost: "mapping of " + text.Printable(f.Path), Err: f.Err}
}

// ReadsFiles reports whether a rule reads source files.
func (m *Mapping) ReadsFiles() bool { return m.has(partDigest) || m.has(partDIGEST) }

// ReadsMD5 reports whether a rule wants what only debug information has.
func (m *Mapping) ReadsMD5() bool { return m.has(partMD5) }

func (m *Mapping) has(kind mapPartKind) bool {
	for i := range m.Rules {
		if m.Rules[i].has(kind) {
			return true
		}
	}
	return false
}

// apply finds the rule for a path, and fills its template in.
func (m *Mapping) apply(prefixes []PrefixMap, path, md5 string) MappedFile {
	f := MappedFile{Path: path, Name: MapPath(prefixes, path)}
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
func (m *Mapping) source(r *MapRule, places []string, sum string) (*sourceFile, error) {
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

// cleanPath takes "." and ".." and doubled separators out of a path, without a
// look at any file. The separators that stay are as they were.
func cleanPath(p string) string {
	root := 0
	if isDrive(p) {
		root = 3
	}
	for root < len(p) && isSeparator(p[root]) {
		root++
	}
	var parts []string // each with the separator behind it
	for rest := p[root:]; rest != ""; {
		n := strings.IndexAny(rest, `/\`) + 1
		if n == 0 {
			n = len(rest)
		}
		part, name := rest[:n], strings.TrimRight(rest[:n], `/\`)
		rest = rest[n:]
		switch last := len(parts) - 1; {
		case name == "" || name == ".":
		case name != "..":
			parts = append(parts, part)
		case last >= 0 && strings.TrimRight(parts[last], `/\`) != "..":
			parts = parts[:last]
		case root == 0:
			parts = append(parts, part)
		}
	}
	clean := p[:root] + strings.Join(parts, "")
	if clean == "" {
		return p
	}
	return clean
}

func isSeparator(b byte) bool { return b == '/' || b == '\\' }
