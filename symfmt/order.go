package symfmt

import (
	"cmp"
	"slices"
)

// The canonical order. FUNCs are sorted by RVA, then size, name, parameter size
// and "m", which comes last; PUBLICs likewise; STACK WIN by RVA, type and code
// size; STACK CFI INIT by RVA and size; the rows of one by RVA. Records that are
// equal in all of these keep their order, as do a FUNC's lines and its INLINEs,
// which form a tree. FILE and INLINE_ORIGIN are sorted by number.

func compareFuncs(a, b *Func) int {
	if a.RVA != b.RVA {
		return cmp.Compare(a.RVA, b.RVA)
	}
	return cmp.Or(cmp.Compare(a.Size, b.Size), compareNames(a.Name, b.Name),
		cmp.Compare(a.ParamSize, b.ParamSize), compareBools(a.Multiple, b.Multiple))
}

func comparePublics(a, b *Public) int {
	if a.RVA != b.RVA {
		return cmp.Compare(a.RVA, b.RVA)
	}
	return cmp.Or(compareNames(a.Name, b.Name), cmp.Compare(a.ParamSize, b.ParamSize),
		compareBools(a.Multiple, b.Multiple))
}

// compareNames compares names in their written form, so that the order does not
// change when a text is read and written again.
func compareNames(a, b string) int {
	if a == b {
		return 0
	}
	return cmp.Compare(CleanName(a, NoName), CleanName(b, NoName))
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func compareWins(a, b *StackWin) int {
	return cmp.Or(cmp.Compare(a.RVA, b.RVA), cmp.Compare(a.Type, b.Type), cmp.Compare(a.CodeSize, b.CodeSize))
}

func compareBlocks(a, b *CFIBlock) int {
	return cmp.Or(cmp.Compare(a.RVA, b.RVA), cmp.Compare(a.Size, b.Size))
}

func compareRows(a, b *CFIRow) int          { return cmp.Compare(a.RVA, b.RVA) }
func compareFiles(a, b *File) int           { return cmp.Compare(a.ID, b.ID) }
func compareOrigins(a, b *InlineOrigin) int { return cmp.Compare(a.ID, b.ID) }

// order is a permutation of records for writing; nil keeps their order.
type order []uint32

// at returns the index of the i-th record.
func (o order) at(i int) int {
	if o == nil {
		return i
	}
	return int(o[i])
}

// orderOf returns the order that sorts s, without moving anything.
func orderOf[T any](s []T, compare func(a, b *T) int) order {
	sorted := true
	for i := 1; i < len(s) && sorted; i++ {
		sorted = compare(&s[i-1], &s[i]) <= 0
	}
	if sorted {
		return nil
	}
	o := make(order, len(s))
	for i := range o {
		o[i] = uint32(i)
	}
	slices.SortFunc(o, func(i, j uint32) int {
		if c := compare(&s[i], &s[j]); c != 0 {
			return c
		}
		return cmp.Compare(i, j)
	})
	return o
}

// sorted returns s in canonical order, without copying if it is sorted already.
func sorted[T any](s []T, compare func(a, b *T) int) []T {
	o := orderOf(s, compare)
	if o == nil {
		return s
	}
	t := make([]T, len(s))
	for i, from := range o {
		t[i] = s[from]
	}
	return t
}

// Canonicalize brings m into the form that Write writes and Read reads again:
//
//   - records are in canonical order;
//   - FILE and INLINE_ORIGIN are numbered from 0 in order of first use over the
//     sorted FUNCs, a FUNC's INLINEs before its lines; records with equal names
//     are joined, unused ones removed, and undeclared numbers in use get the
//     name NoFile or NoName;
//   - either no INLINE record has a call file and the origins have the old
//     form, or the file NoFile stands for unknown call files;
//   - names are cleaned by CleanName, and records without a text form (a STACK
//     WIN without its program, a STACK CFI without rules) are removed.
//
// It changes bodies in place. Only their tables change, unless call files are missing.
func (m *Module) Canonicalize() {
	m.cleanNames()
	m.Funcs = sorted(m.Funcs, compareFuncs)
	m.Publics = sorted(m.Publics, comparePublics)
	m.Wins = slices.DeleteFunc(m.Wins, func(w StackWin) bool { return w.SaysNothing() })
	m.Wins = sorted(m.Wins, compareWins)
	m.CFI.canonicalize()
	forms := m.inlineForms(func() {})
	if forms == bodyOldInlines|bodyNewInlines {
		m.nameCallFiles()
	}
	m.renumber(forms == bodyOldInlines)
}

func (m *Module) cleanNames() {
	m.OS, m.Arch = cleanWord(m.OS, noModule), cleanWord(m.Arch, noModule)
	m.ID, m.Name = cleanID(m.ID), CleanName(m.Name, noModule)
	for i := range m.Infos {
		in := &m.Infos[i]
		in.Key, in.Value = cleanWord(in.Key, noKey), CleanName(in.Value, "")
	}
	for i := range m.Funcs {
		m.Funcs[i].Name = CleanName(m.Funcs[i].Name, NoName)
	}
	for i := range m.Publics {
		m.Publics[i].Name = CleanName(m.Publics[i].Name, NoName)
	}
	for i := range m.Wins {
		w := &m.Wins[i]
		if w.HasProgram {
			w.Program, w.AllocatesBasePtr = CleanName(w.Program, ""), false
		} else {
			w.Program = ""
		}
	}
}

// Ordered returns a copy of m with its records in canonical order. The copy shares
// everything that the order leaves unchanged. That includes the rules of STACK CFI, so
// those of m are cleaned too.
func (m *Module) Ordered() *Module {
	o := *m
	o.Files, o.Origins = sorted(m.Files, compareFiles), sorted(m.Origins, compareOrigins)
	o.Funcs, o.Publics, o.Wins = sorted(m.Funcs, compareFuncs), sorted(m.Publics, comparePublics), sorted(m.Wins, compareWins)
	o.CFI.canonicalize()
	return &o
}

// HasOldInlines reports whether the module has INLINE records and all of them are of
// the old form, without a call file.
func (m *Module) HasOldInlines() bool { return m.inlineForms(func() {}) == bodyOldInlines }

// inlineForms returns the forms of the INLINE records in m; passed is WriteOptions.Passed.
func (m *Module) inlineForms(passed func()) (forms uint64) {
	for i := range m.Funcs {
		if i%passedBodies == 0 {
			passed()
		}
		forms |= m.Funcs[i].Body.inlineForms()
	}
	return forms
}

// freeFileID returns a number that no FILE uses.
func (m *Module) freeFileID() FileID {
	var next FileID
	for i := range m.Files {
		next = max(next, m.Files[i].ID+1)
	}
	if len(m.Files) == 0 || next > 0 && !slices.ContainsFunc(m.Files, func(f File) bool { return f.ID == maxID }) {
		return next
	}
	index := m.fileIndex()
	for next = 0; ; next++ {
		if _, taken := index.find(uint32(next)); !taken {
			return next
		}
	}
}

// nameCallFiles sets unknown call files of INLINEs to the file NoFile.
func (m *Module) nameCallFiles() {
	unknown := m.freeFileID()
	m.Files = append(m.Files, File{ID: unknown, Name: NoFile})
	var b BodyBuilder
	var a Arena
	for i := range m.Funcs {
		f := &m.Funcs[i]
		if f.Body.inlineForms()&bodyOldInlines == 0 {
			continue
		}
		b.Reset(f.RVA)
		for in := range f.Inlines() {
			if in.NoFile {
				in.NoFile, in.CallFile = false, unknown
			}
			b.AddInline(in)
		}
		for l := range f.Lines() {
			b.AddLine(l)
		}
		f.Body = b.Finish(&a)
	}
}

// renumber numbers FILE and INLINE_ORIGIN by first use.
func (m *Module) renumber(old bool) {
	files := fileNumbers{
		files: m.Files, index: m.fileIndex(),
		number: make([]uint32, len(m.Files)), byName: make(map[string]uint32),
	}
	origins := originNumbers{
		origins: m.Origins, index: m.originIndex(), old: old, files: &files,
		number: make([]uint32, len(m.Origins)), byName: make(map[InlineOrigin]uint32),
	}
	for i := range m.Funcs {
		m.Funcs[i].Body.Renumber(files.use, origins.use)
	}
	m.Files, m.Origins = files.out, origins.out
}

// fileNumbers assigns new numbers to files.
type fileNumbers struct {
	files  []File
	index  idIndex
	number []uint32 // new number + 1 of files[i]; 0 before its first use
	byName map[string]uint32
	out    []File
}

func (n *fileNumbers) use(id FileID) FileID {
	pos, declared := n.index.find(uint32(id))
	if !declared {
		return FileID(n.named(NoFile))
	}
	if n.number[pos] == 0 {
		n.number[pos] = n.named(CleanName(n.files[pos].Name, NoFile)) + 1
	}
	return FileID(n.number[pos] - 1)
}

func (n *fileNumbers) named(name string) uint32 {
	id, ok := n.byName[name]
	if !ok {
		id = uint32(len(n.out))
		n.out = append(n.out, File{ID: FileID(id), Name: name})
		n.byName[name] = id
	}
	return id
}

// originNumbers assigns new numbers to origins.
type originNumbers struct {
	origins []InlineOrigin
	index   idIndex
	old     bool // origins have a file
	files   *fileNumbers
	number  []uint32 // as in fileNumbers
	byName  map[InlineOrigin]uint32
	out     []InlineOrigin
}

func (n *originNumbers) use(id OriginID) OriginID {
	pos, declared := n.index.find(uint32(id))
	if !declared {
		return OriginID(n.equal(InlineOrigin{Name: NoName, HasFile: n.old, File: n.file(-1)}))
	}
	if n.number[pos] == 0 {
		o := &n.origins[pos]
		n.number[pos] = 1 + n.equal(InlineOrigin{
			Name: CleanName(o.Name, NoName), HasFile: n.old, File: n.file(originFile(o)),
		})
	}
	return OriginID(n.number[pos] - 1)
}

// file returns the new number of an origin's file.
func (n *originNumbers) file(id int64) int64 {
	switch {
	case !n.old:
		return 0
	case id < 0:
		return -1
	}
	return int64(n.files.use(FileID(id)))
}

// equal returns the number of the origin that equals o except for its number, which is 0 in o.
func (n *originNumbers) equal(o InlineOrigin) uint32 {
	id, ok := n.byName[o]
	if !ok {
		id = uint32(len(n.out))
		n.byName[o] = id
		o.ID = OriginID(id)
		n.out = append(n.out, o)
	}
	return id
}
