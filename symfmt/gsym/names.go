package gsym

import (
	"strings"

	"github.com/symtool/symtool/symfmt"
)

// stringTable holds each string once. The first is the empty string.
type stringTable struct {
	data    []byte
	offsets map[string]uint64
}

func newStringTable() stringTable {
	return stringTable{data: []byte{0}, offsets: map[string]uint64{"": 0}}
}

// add returns the offset of s.
func (t *stringTable) add(s string) uint64 {
	if at, ok := t.offsets[s]; ok {
		return at
	}
	at := uint64(len(t.data))
	t.offsets[s] = at
	t.data = append(append(t.data, s...), 0)
	return at
}

// splitPath splits a path into directory and base name such that joinPath
// restores it. If that is impossible, the whole path is the base name.
func splitPath(path string) (dir, base string) {
	for _, separators := range []string{"/", `\`} {
		if i := strings.LastIndexAny(path, separators); i > 0 && i+1 < len(path) && joinPath(path[:i], path[i+1:]) == path {
			return path[:i], path[i+1:]
		}
	}
	return "", path
}

// joinPath joins a path as llvm-gsymutil prints it (LookupResult.cpp), except that
// a directory may end in its separator, as in "/x.c".
func joinPath(dir, base string) string {
	switch {
	case dir == "":
		return base
	case base == "":
		return dir
	case dir[len(dir)-1] == '/':
		return dir + base
	case strings.Contains(dir, `\`) && !strings.Contains(dir, "/"):
		return strings.TrimSuffix(dir, `\`) + `\` + base
	}
	return dir + "/" + base
}

// numbers maps the numbers of FILEs or INLINE_ORIGINs to others. Most modules
// have dense numbers.
type numbers struct {
	dense []uint32 // value + 1; 0: no value
	other map[uint32]uint32
}

func newNumbers(records int) numbers {
	return numbers{dense: make([]uint32, 2*records+64)}
}

func (n *numbers) find(id uint32) (value uint32, ok bool) {
	if uint64(id) < uint64(len(n.dense)) {
		return n.dense[id] - 1, n.dense[id] != 0
	}
	value, ok = n.other[id]
	return value, ok
}

// set gives id a value below 2^32-1.
func (n *numbers) set(id, value uint32) {
	if uint64(id) < uint64(len(n.dense)) {
		n.dense[id] = value + 1
		return
	}
	if n.other == nil {
		n.other = make(map[uint32]uint32)
	}
	n.other[id] = value
}

// fileTable is GSYM's table of files after the unused entry 0.
type fileTable struct {
	entries []fileEntry
	index   map[fileEntry]uint32
	number  numbers // indexed by FileID
	empty   uint32  // nameless entry that readers accept as a file; 0 if there is none yet
}

// fileEntry is a directory and a base name in the string table.
type fileEntry struct{ dir, base uint64 }

func newFileTable(m *symfmt.Module, strings *stringTable) *fileTable {
	t := &fileTable{
		entries: []fileEntry{{}}, index: make(map[fileEntry]uint32), number: newNumbers(len(m.Files)),
	}
	for i := range m.Files {
		id := uint32(m.Files[i].ID)
		if _, known := t.number.find(id); !known { // the first of two with the same number counts
			t.number.set(id, t.add(m.Files[i].Name, strings))
		}
	}
	return t
}

// add returns the index of a file in the table.
func (t *fileTable) add(name string, strings *stringTable) uint32 {
	dir, base := splitPath(symfmt.CleanName(name, symfmt.NoFile))
	e := fileEntry{strings.add(dir), strings.add(base)}
	at, ok := t.index[e]
	if !ok {
		at = uint32(len(t.entries))
		t.entries = append(t.entries, e)
		t.index[e] = at
	}
	return at
}

// addUnknown adds an entry for an undeclared file number.
func (t *fileTable) addUnknown(id symfmt.FileID, strings *stringTable) {
	if _, known := t.number.find(uint32(id)); !known {
		t.number.set(uint32(id), t.add(symfmt.NoFile, strings))
	}
}
