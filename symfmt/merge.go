package symfmt

import (
	"fmt"
	"math"
	"slices"
)

// Merged counts what Merge left out of a module because other records replaced
// it. Exact copies of other records are not counted.
type Merged struct {
	Funcs       int // over code for which m already has a FUNC
	Publics     int // with a different name at the address of a FUNC of the other module
	Blocks      int // STACK CFI INITs over code for which m already has rules
	OriginFiles int // files of origins, because one module has INLINEs of the old form
}

// Losses returns the non-zero counts, all with the same reason.
func (l Merged) Losses(why string) []Loss {
	var losses LossList
	losses.Add("FUNC records", l.Funcs, why)
	losses.Add("PUBLIC records", l.Publics, why)
	losses.Add("STACK CFI INIT records", l.Blocks, why)
	losses.Add("files of INLINE_ORIGIN records", l.OriginFiles, "the other module's INLINE records have call files, and origins then have none")
	return losses
}

// Merge adds the records of o to m: the symbols and call frame information of one
// binary, dumped from two files. If the two are from different binaries, the error
// says how they differ. Where both describe the same code, m wins, except that a
// FUNC replaces a PUBLIC. Merge canonicalizes both and takes over the bodies of o,
// which must not be used afterwards; m must be canonicalized again.
func (m *Module) Merge(o *Module) (Merged, error) {
	var out Merged
	for _, f := range [...]struct{ what, a, b string }{
		{"id", m.ID, o.ID}, {"architecture", m.Arch, o.Arch}, {"operating system", m.OS, o.OS},
	} {
		if f.a != f.b && (f.what == "id" || f.a != noModule && f.b != noModule) {
			return out, fmt.Errorf("not of the same binary: %s %s, and %s before", f.what, f.b, f.a)
		}
	}
	// GSYM files and symbol lists do not record these two.
	if m.Arch == noModule {
		m.Arch = o.Arch
	}
	if m.OS == noModule {
		m.OS = o.OS
	}
	// From here on, numbers are indices of files and origins, and all are declared.
	m.Canonicalize()
	o.Canonicalize()
	if m.inlineForms(func() {})|o.inlineForms(func() {}) == bodyOldInlines|bodyNewInlines {
		out.OriginFiles = m.originFiles() + o.originFiles()
	}
	m.Infos = uniqueInfos(append(m.Infos, o.Infos...))
	m.Digest = m.Digest || o.Digest
	have := len(m.Funcs)
	out.Funcs = m.mergeFuncs(o)
	out.Publics = m.mergePublics(o, have)
	out.Blocks = m.CFI.merge(&o.CFI)
	m.Wins = append(m.Wins, o.Wins...)
	return out, nil
}

func (m *Module) originFiles() (n int) {
	for i := range m.Origins {
		if originFile(&m.Origins[i]) >= 0 {
			n++
		}
	}
	return n
}

// mergeFuncs adds the FUNCs of o, with the FILEs and INLINE_ORIGINs that they use, and returns the
// number left out.
func (m *Module) mergeFuncs(o *Module) (left int) {
	own := m.Funcs
	taken := newCovered(len(own), func(i int) (RVA, uint64) { return own[i].RVA, own[i].Size })
	files := m.adoptFiles(o)
	origins := m.adoptOrigins(o, files)
	for i := range o.Funcs {
		f := o.Funcs[i]
		f.Body.Renumber(files, origins)
		switch {
		case !taken.overlaps(f.RVA, f.Size):
			m.Funcs = append(m.Funcs, f)
		case !hasFunc(own, &f):
			left++
		}
	}
	return left
}

// hasFunc reports whether f is among funcs, which are in canonical order.
func hasFunc(funcs []Func, f *Func) bool {
	i, _ := slices.BinarySearchFunc(funcs, f, func(a Func, b *Func) int { return compareFuncs(&a, b) })
	for ; i < len(funcs) && compareFuncs(&funcs[i], f) == 0; i++ {
		if funcs[i].equal(f) {
			return true
		}
	}
	return false
}

// adoptFiles adds the FILEs of o under new numbers, and returns a function from an old number
// to the new one.
func (m *Module) adoptFiles(o *Module) func(FileID) FileID {
	byName := make(map[string]FileID, len(m.Files))
	for _, f := range m.Files {
		byName[f.Name] = f.ID
	}
	to := make([]FileID, len(o.Files))
	for i, f := range o.Files {
		id, ok := byName[f.Name]
		if !ok {
			id = FileID(len(m.Files))
			m.Files = append(m.Files, File{ID: id, Name: f.Name})
			byName[f.Name] = id
		}
		to[i] = id
	}
	return func(id FileID) FileID { return to[id] }
}

// adoptOrigins is like adoptFiles, for the INLINE_ORIGINs.
func (m *Module) adoptOrigins(o *Module, files func(FileID) FileID) func(OriginID) OriginID {
	bySaid := make(map[InlineOrigin]OriginID, len(m.Origins)) // keyed by everything but the number
	for _, x := range m.Origins {
		id := x.ID
		x.ID = 0
		bySaid[x] = id
	}
	to := make([]OriginID, len(o.Origins))
	for i, x := range o.Origins {
		x.ID = 0
		if x.HasFile && x.File >= 0 {
			x.File = int64(files(FileID(x.File)))
		}
		id, ok := bySaid[x]
		if !ok {
			id = OriginID(len(m.Origins))
			bySaid[x] = id
			x.ID = id
			m.Origins = append(m.Origins, x)
		}
		to[i] = id
	}
	return func(id OriginID) OriginID { return to[id] }
}

// mergePublics adds the PUBLICs for which the other module has no FUNC, and
// returns the number left out. The first have entries of m.Funcs are m's own;
// the others came from o.
func (m *Module) mergePublics(o *Module, have int) (left int) {
	own := make(map[Public]bool, len(m.Publics))
	for _, p := range m.Publics {
		own[p] = true
	}
	o.Publics = slices.DeleteFunc(o.Publics, func(p Public) bool { return own[p] })
	replaced := func(funcs []Func) func(Public) bool {
		names := make(map[RVA]string, len(funcs))
		for i := range funcs {
			names[funcs[i].RVA] = funcs[i].Name
		}
		return func(p Public) bool {
			name, ok := names[p.RVA]
			if ok && name != p.Name {
				left++
			}
			return ok
		}
	}
	m.Publics = slices.DeleteFunc(m.Publics, replaced(m.Funcs[have:]))
	m.Publics = append(m.Publics, slices.DeleteFunc(o.Publics, replaced(m.Funcs[:have]))...)
	return left
}

// merge adds the blocks of o over code for which t has none, and returns the number left out.
func (t *CFITable) merge(o *CFITable) (left int) {
	own := t.Blocks
	taken := newCovered(len(own), func(i int) (RVA, uint64) { return own[i].RVA, own[i].Size })
	for i := range o.Blocks {
		b := o.Blocks[i]
		if taken.overlaps(b.RVA, b.Size) {
			if !t.hasBlock(own, o, &b) {
				left++
			}
			continue
		}
		first := uint32(len(t.Rows))
		for _, row := range o.Rows[b.First : b.First+b.Count] {
			row.Rules = t.Rules.adopt(&o.Rules, row.Rules)
			t.Rows = append(t.Rows, row)
		}
		b.Init, b.First = t.Rules.adopt(&o.Rules, b.Init), first
		t.Blocks = append(t.Blocks, b)
	}
	return left
}

// hasBlock reports whether b, a block of o, is among the blocks of t, which are in
// canonical order.
func (t *CFITable) hasBlock(blocks []CFIBlock, o *CFITable, b *CFIBlock) bool {
	i, _ := slices.BinarySearchFunc(blocks, b, func(a CFIBlock, b *CFIBlock) int { return compareBlocks(&a, b) })
	for ; i < len(blocks) && compareBlocks(&blocks[i], b) == 0; i++ {
		if t.sameBlock(&blocks[i], o, b) {
			return true
		}
	}
	return false
}

// covered is the code covered by a set of records.
type covered struct {
	starts []RVA // sorted
	lasts  []RVA // the highest last address of the records up to this one
}

// newCovered returns the code covered by n records in order of address. A record of
// size 0 covers its address.
func newCovered(n int, at func(i int) (RVA, uint64)) covered {
	c := covered{make([]RVA, n), make([]RVA, n)}
	for i := range n {
		rva, size := at(i)
		c.starts[i], c.lasts[i] = rva, lastOf(rva, size)
		if i > 0 {
			c.lasts[i] = max(c.lasts[i], c.lasts[i-1])
		}
	}
	return c
}

func (c *covered) overlaps(rva RVA, size uint64) bool {
	last := lastOf(rva, size)
	n, _ := slices.BinarySearchFunc(c.starts, last, func(a, b RVA) int {
		if a <= b {
			return -1
		}
		return 1
	})
	return n > 0 && c.lasts[n-1] >= rva
}

// lastOf returns the last address of code, capped at the end of the address space.
func lastOf(rva RVA, size uint64) RVA {
	return rva + RVA(min(max(size, 1)-1, math.MaxUint64-uint64(rva)))
}
