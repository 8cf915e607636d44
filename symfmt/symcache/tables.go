package symcache

import (
	"github.com/symtool/symtool/internal/flatten"
	"github.com/symtool/symtool/symfmt"
)

// tables are the sections of a symcache being made from a module.
type tables struct {
	m       *symfmt.Module
	version uint32
	base    symfmt.RVA

	strings   stringTable
	files     []file
	functions []function
	calls     []location // calls that others are inlined into
	locations []location // locations of the ranges
	ranges    []uint32

	fileNames   *symfmt.FileNames
	originNames *symfmt.OriginNames
	fileOf      map[symfmt.FileID]uint32   // its index, or none
	originOf    map[symfmt.OriginID]uint32 // index of the function, or none
	filePlace   map[file]uint32
	functionAt  map[function]uint32

	lastID   symfmt.FileID // last one found: consecutive lines usually have the same file
	lastFile uint32
	hasLast  bool

	flattener flatten.Flattener
	single    flat            // for a FUNC with one segment
	around    map[owner]*flat // for FUNCs that continue after others

	originFile func(symfmt.OriginID) (symfmt.FileID, bool) // for the old form of INLINE
}

type file struct{ dir, name uint32 }

type function struct{ name, entry, language uint32 }

func newTables(m *symfmt.Module, o Options) *tables {
	t := &tables{
		m: m, version: o.Version, base: o.Base,
		strings:   stringTable{version: o.Version, offsets: make(map[string]uint32)},
		fileNames: m.FileNames(), originNames: m.OriginNames(),
		fileOf: make(map[symfmt.FileID]uint32), originOf: make(map[symfmt.OriginID]uint32),
		filePlace: make(map[file]uint32), functionAt: make(map[function]uint32),
		around: make(map[owner]*flat), originFile: originFiles(m),
	}
	return t
}

// originFiles returns a function that finds the file of an INLINE_ORIGIN of the old form.
func originFiles(m *symfmt.Module) func(symfmt.OriginID) (symfmt.FileID, bool) {
	files := make(map[symfmt.OriginID]symfmt.FileID)
	for i := len(m.Origins) - 1; i >= 0; i-- { // the first with a number counts
		if o := &m.Origins[i]; o.HasFile && o.File >= 0 {
			files[o.ID] = symfmt.FileID(o.File)
		} else {
			delete(files, o.ID)
		}
	}
	return func(id symfmt.OriginID) (symfmt.FileID, bool) {
		f, ok := files[id]
		return f, ok
	}
}

// fill makes ranges of all segments of code.
func (t *tables) fill() error {
	segments := coverOf(t.m, t.base)
	most := len(segments) // an estimate: inlined functions cut lines, and equal ranges are joined
	for i := range t.m.Funcs {
		_, lines := t.m.Funcs[i].Body.Counts()
		most += lines
	}
	t.ranges, t.locations = make([]uint32, 0, most), make([]location, 0, most)
	parts := make([]uint8, len(t.m.Funcs)) // number of segments of each FUNC; 2 means several
	for _, p := range segments {
		if p.owner >= 0 {
			parts[p.owner] = min(parts[p.owner]+1, 2)
		}
	}
	for i, p := range segments {
		end := uint64(addressEnd)
		if i+1 < len(segments) {
			end = segments[i+1].start
		}
		switch {
		case p.owner >= 0:
			t.addFunc(p, end, parts[p.owner] > 1)
		case p.owner != nobody:
			t.addPublic(p)
		case i > 0:
			t.addRange(p.start, unknown)
		}
		if err := t.check(); err != nil {
			return err
		}
	}
	return nil
}

// addRange starts a range, unless the previous one has the same location.
func (t *tables) addRange(start uint64, l location) {
	if n := len(t.locations); n > 0 && t.locations[n-1] == l {
		return
	}
	t.ranges = append(t.ranges, uint32(start))
	t.locations = append(t.locations, l)
}

func (t *tables) addPublic(p segment) {
	public := &t.m.Publics[p.owner.public()]
	f := t.function(public.Name, uint32(public.RVA-t.base), noLanguage)
	t.addRange(p.start, location{file: none, function: f, into: none})
}

// addFunc makes ranges of a segment of a FUNC; several is set if it has others.
func (t *tables) addFunc(p segment, end uint64, several bool) {
	f := &t.m.Funcs[p.owner]
	code := t.flatOf(p.owner, f, several)
	start := uint64(f.RVA - t.base)
	index := t.function(f.Name, uint32(start), 0)
	off, last := uint32(p.start-start), end-start
	for i := segmentAt(code.Segments, off); i < len(code.Segments) && uint64(code.Segments[i].Off) < last; i++ {
		s := &code.Segments[i]
		l := location{file: none, line: s.Line, function: index, into: none}
		if !s.NoLine {
			l.file = t.file(s.File)
		}
		if s.Call != flatten.NoCall {
			l.function = t.callee(code, s.Call)
			l.into = t.caller(code, s.Call, index)
		}
		t.addRange(start+uint64(max(s.Off, off)), l)
	}
}

// flatOf flattens a FUNC, once.
func (t *tables) flatOf(o owner, f *symfmt.Func, several bool) *flat {
	code := &t.single
	if several {
		if kept := t.around[o]; kept != nil {
			return kept
		}
		code = new(flat)
		t.around[o] = code
	}
	t.flatten(f, code)
	return code
}

// caller returns the source location of a call in the FUNC with an index.
func (t *tables) caller(code *flat, k int32, index uint32) uint32 {
	if at := code.written[k]; at != none {
		return at
	}
	c := &code.Calls[k]
	l := location{file: none, line: c.Line, function: index, into: none}
	if file, ok := t.callFile(code, c); ok {
		l.file = t.file(file)
	}
	if c.Outer != flatten.NoCall {
		l.function = t.callee(code, c.Outer)
		l.into = t.caller(code, c.Outer, index)
	}
	at, ok := code.known[l]
	if !ok {
		at = uint32(len(t.calls))
		t.calls = append(t.calls, l)
		code.known[l] = at
	}
	code.written[k] = at
	return at
}

// callFile returns the file of a call, if known.
func (t *tables) callFile(code *flat, c *flatten.Call) (symfmt.FileID, bool) {
	switch {
	case !c.NoFile:
		return c.File, true
	case c.Outer == flatten.NoCall:
		return 0, false
	}
	return t.originFile(code.Calls[c.Outer].Origin)
}

// callee returns the index of the function of a call.
func (t *tables) callee(code *flat, k int32) uint32 {
	if code.callees[k] == none {
		code.callees[k] = t.origin(code.Calls[k].Origin)
	}
	return code.callees[k]
}

// function returns the index of a function.
func (t *tables) function(name string, entry, language uint32) uint32 {
	f := function{t.strings.add(symfmt.CleanName(name, symfmt.NoName)), entry, language}
	index, ok := t.functionAt[f]
	if !ok {
		index = uint32(len(t.functions))
		t.functions = append(t.functions, f)
		t.functionAt[f] = index
	}
	return index
}

// origin returns the index of an inlined function.
func (t *tables) origin(id symfmt.OriginID) uint32 {
	index, ok := t.originOf[id]
	if !ok {
		name, _ := t.originNames.Name(id)
		index = t.function(name, none, 0)
		t.originOf[id] = index
	}
	return index
}

// file returns the index of a file, or none if it is unknown.
func (t *tables) file(id symfmt.FileID) uint32 {
	if t.hasLast && t.lastID == id {
		return t.lastFile
	}
	index, ok := t.fileOf[id]
	if !ok {
		index = t.newFile(id)
		t.fileOf[id] = index
	}
	t.lastID, t.lastFile, t.hasLast = id, index, true
	return index
}

func (t *tables) newFile(id symfmt.FileID) uint32 {
	path, ok := t.fileNames.Name(id)
	if !ok || path == symfmt.NoFile {
		return none
	}
	dir, name := splitPath(symfmt.CleanName(path, symfmt.NoFile))
	f := file{t.strings.add(dir), t.strings.add(name)}
	index, ok := t.filePlace[f]
	if !ok {
		index = uint32(len(t.files))
		t.files = append(t.files, f)
		t.filePlace[f] = index
	}
	return index
}
