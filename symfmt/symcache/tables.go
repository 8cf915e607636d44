package symcache

import "github.com/symtool/symtool/symfmt"

// tables are the sections of a symcache while they are made of a module.
type tables struct {
	m       *symfmt.Module
	version uint32
	base    symfmt.RVA

	strings   stringTable
	files     []file
	functions []function
	calls     []location // those that others are inlined into
	locations []location // of the ranges
	ranges    []uint32

	fileNames   *symfmt.FileNames
	originNames *symfmt.OriginNames
	fileOf      map[symfmt.FileID]uint32   // its index, or none
	originOf    map[symfmt.OriginID]uint32 // the index of its function
	filePlace   map[file]uint32
	functionAt  map[function]uint32

	lastID   symfmt.FileID // found last: lines one behind the other name one file
	lastFile uint32
	hasLast  bool

	flattener flattener
	single    flat            // of a FUNC with one piece
	around    map[owner]*flat // of FUNCs that go on behind others
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
		around: make(map[owner]*flat),
	}
	t.flattener.originFile = originFiles(m)
	return t
}

// originFiles finds the file that an INLINE_ORIGIN of the old form has.
func originFiles(m *symfmt.Module) func(symfmt.OriginID) (symfmt.FileID, bool) {
	files := make(map[symfmt.OriginID]symfmt.FileID)
	for i := len(m.Origins) - 1; i >= 0; i-- { // the first of a number counts
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

// fill makes ranges of all pieces of code.
func (t *tables) fill() error {
	pieces := coverOf(t.m, t.base)
	most := len(pieces) // about: lines are cut by inlined functions, and joined
	for i := range t.m.Funcs {
		_, lines := t.m.Funcs[i].Body.Counts()
		most += lines
	}
	t.ranges, t.locations = make([]uint32, 0, most), make([]location, 0, most)
	parts := make([]uint8, len(t.m.Funcs)) // pieces of each FUNC, 2 for more
	for _, p := range pieces {
		if p.owner >= 0 {
			parts[p.owner] = min(parts[p.owner]+1, 2)
		}
	}
	for i, p := range pieces {
		end := uint64(addressEnd)
		if i+1 < len(pieces) {
			end = pieces[i+1].start
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

// addRange starts a range, unless the one before says the same.
func (t *tables) addRange(start uint64, l location) {
	if n := len(t.locations); n > 0 && t.locations[n-1] == l {
		return
	}
	t.ranges = append(t.ranges, uint32(start))
	t.locations = append(t.locations, l)
}

func (t *tables) addPublic(p piece) {
	public := &t.m.Publics[p.owner.public()]
	f := t.function(public.Name, uint32(public.RVA-t.base), noLanguage)
	t.addRange(p.start, location{file: none, function: f, into: none})
}

// addFunc makes ranges of a piece of a FUNC, which has others if several is set.
func (t *tables) addFunc(p piece, end uint64, several bool) {
	f := &t.m.Funcs[p.owner]
	code := t.flatOf(p.owner, f, several)
	start := uint64(f.RVA - t.base)
	index := t.function(f.Name, uint32(start), 0)
	off, last := uint32(p.start-start), end-start
	for i := segmentAt(code.segments, off); i < len(code.segments) && uint64(code.segments[i].off) < last; i++ {
		s := &code.segments[i]
		l := location{file: none, line: s.line, function: index, into: none}
		if !s.noFile {
			l.file = t.file(s.file)
		}
		if s.call != noCall {
			l.function = t.callee(code, s.call)
			l.into = t.caller(code, s.call, index)
		}
		t.addRange(start+uint64(max(s.off, off)), l)
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
	t.flattener.flatten(f, code)
	code.forget()
	return code
}

// maxKnown is how large a map is cleared for the next FUNC; a larger one is
// dropped, as clear would walk over it for each of them.
const maxKnown = 4096

// forget says that no call is written yet.
func (c *flat) forget() {
	c.written, c.callees = c.written[:0], c.callees[:0]
	for range c.calls {
		c.written, c.callees = append(c.written, none), append(c.callees, none)
	}
	if c.known == nil || len(c.known) > maxKnown {
		c.known = make(map[location]uint32)
	}
	clear(c.known)
}

// segmentAt is the index of the last segment that begins at or before off.
func segmentAt(segments []segment, off uint32) int {
	lo, hi := 0, len(segments)
	for lo < hi {
		if mid := (lo + hi) / 2; segments[mid].off <= off {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo - 1
}

// caller returns the source location of a call in the FUNC with an index.
func (t *tables) caller(code *flat, k int32, index uint32) uint32 {
	if at := code.written[k]; at != none {
		return at
	}
	c := &code.calls[k]
	l := location{file: none, line: c.line, function: index, into: none}
	if !c.noFile {
		l.file = t.file(c.file)
	}
	if c.outer != noCall {
		l.function = t.callee(code, c.outer)
		l.into = t.caller(code, c.outer, index)
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

// callee returns the index of the function of a call.
func (t *tables) callee(code *flat, k int32) uint32 {
	if code.callees[k] == none {
		code.callees[k] = t.origin(code.calls[k].origin)
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

// file returns the index of a file, none for one that is not known.
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
