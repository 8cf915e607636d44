package symcache

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/symfmt"
)

// nameTable makes FILEs and INLINE_ORIGINs for files and functions on demand.
type nameTable struct {
	c *cache
	m *symfmt.Module

	files   []bool // by number: in the module
	origins []bool
	paths   map[[3]uint32]string // by compilation directory, directory and name
	joined  int                  // bytes that may still be joined
	names   int                  // bytes that function names may still take

	unknownFile, unknownOrigin                bool
	stringDamage, fileDamage, long, longNames damage
}

// Limits of the bytes of paths, and of function names, per byte of the strings and of
// the entries that refer to them. They bound memory and output, because many entries
// may refer to one long string. Most functions have distinct names, but paths repeat
// their directories. freeText is allowed for any file.
const (
	pathsPerByte = 16
	namesPerByte = 4
	freeText     = 1 << 20
)

func (t *nameTable) init(c *cache, m *symfmt.Module) {
	t.c, t.m = c, m
	t.files, t.origins = make([]bool, c.files.len()), make([]bool, c.functions.len())
	t.paths = make(map[[3]uint32]string)
	t.joined = freeText + pathsPerByte*(len(c.strings)+len(c.files.data))
	t.names = freeText + namesPerByte*(len(c.strings)+len(c.functions.data))
	t.stringDamage.lost, t.fileDamage.lost, t.long.lost, t.longNames.lost = "names", "names of files", "directories of files", "names of functions"
}

// text returns the string at an offset, or instead if it is empty or damaged.
func (t *nameTable) text(at uint32, instead string) string {
	s, err := t.c.stringAt(at)
	if err != nil {
		t.c.damaged(&t.stringDamage, func() error { return err })
	}
	if s == "" {
		return instead
	}
	return s
}

// function returns the name of an existing function or, if it has none, "?", as
// symbolic does.
func (t *nameTable) function(i uint32) string {
	name := t.text(t.c.order.Uint32(t.c.functions.entry(i)), "?")
	if len(name) > t.names {
		t.c.damaged(&t.longNames, func() error {
			return t.c.errorf(t.c.functions.place(i), "function names take more than %d times the bytes of the strings", namesPerByte)
		})
		return "?"
	}
	t.names -= len(name)
	return name
}

// file returns the number of a file's FILE. A number above all files stands for
// the unknown file.
func (t *nameTable) file(i uint32) symfmt.FileID {
	if !t.c.files.has(i) {
		if i != none {
			t.c.damaged(&t.fileDamage, func() error {
				return t.c.errorf(t.c.files.at, "a source location refers to file %d of %d", i, t.c.files.len())
			})
		}
		id := symfmt.FileID(len(t.files))
		if !t.unknownFile {
			t.unknownFile = true
			t.m.Files = append(t.m.Files, symfmt.File{ID: id, Name: symfmt.NoFile})
		}
		return id
	}
	if !t.files[i] {
		t.files[i] = true
		t.m.Files = append(t.m.Files, symfmt.File{ID: symfmt.FileID(i), Name: t.path(i)})
	}
	return symfmt.FileID(i)
}

// path joins the parts of a file's path.
func (t *nameTable) path(i uint32) string {
	b := t.c.files.entry(i)
	key := [3]uint32{t.c.order.Uint32(b), t.c.order.Uint32(b[4:]), t.c.order.Uint32(b[8:])}
	if path, ok := t.paths[key]; ok {
		return path
	}
	comp, dir, name := t.text(key[0], ""), t.text(key[1], ""), t.text(key[2], "")
	path := name
	if comp != "" || dir != "" {
		if n := len(comp) + len(dir) + len(name) + 2; n <= t.joined {
			t.joined -= n
			path = joinPath(joinPath(comp, dir), name)
		} else {
			t.c.damaged(&t.long, func() error {
				return t.c.errorf(t.c.files.place(i), "file paths take more than %d times the bytes of the strings", pathsPerByte)
			})
		}
	}
	if path == "" {
		path = symfmt.NoFile
	}
	t.paths[key] = path
	return path
}

// origin returns the number of a function's INLINE_ORIGIN; name returns its name.
func (t *nameTable) origin(i uint32, name func(uint32) string) symfmt.OriginID {
	if !t.c.functions.has(i) {
		id := symfmt.OriginID(len(t.origins))
		if text := name(i); !t.unknownOrigin {
			t.unknownOrigin = true
			t.m.Origins = append(t.m.Origins, symfmt.InlineOrigin{ID: id, Name: text})
		}
		return id
	}
	if !t.origins[i] {
		t.origins[i] = true
		t.m.Origins = append(t.m.Origins, symfmt.InlineOrigin{ID: symfmt.OriginID(i), Name: name(i)})
	}
	return symfmt.OriginID(i)
}

// finish sorts the FILEs and INLINE_ORIGINs that were requested by number.
func (t *nameTable) finish() {
	slices.SortFunc(t.m.Files, func(a, b symfmt.File) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(t.m.Origins, func(a, b symfmt.InlineOrigin) int { return cmp.Compare(a.ID, b.ID) })
}
