package dwarf

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"unsafe"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/dw"
)

// Class is what the scan of a unit does with a DIE.
type Class uint8

const (
	ClassOther  Class = iota // skip it, visit its children
	ClassPrune               // nothing below it is needed: skip to the sibling if there is a reference
	ClassScope               // a namespace or type, whose name becomes part of the names below it
	ClassFunc                // DW_TAG_subprogram
	ClassInline              // DW_TAG_inlined_subroutine
	ClassUnit                // the first DIE of a unit
	ClassBare                // DW_TAG_subprogram without code
)

func classOf(tag uint64) Class {
	switch tag {
	case dw.TagSubprogram:
		return ClassFunc
	case dw.TagInlinedSubroutine:
		return ClassInline
	case dw.TagClassType, dw.TagStructureType, dw.TagUnionType, dw.TagInterfaceType, dw.TagNamespace, dw.TagModule, dw.TagEnumerationType:
		return ClassScope
	case dw.TagArrayType, dw.TagSubroutineType, dw.TagCallSite, dw.TagGNUCallSite:
		return ClassPrune
	case dw.TagCompileUnit, dw.TagPartialUnit, dw.TagSkeletonUnit, dw.TagTypeUnit:
		return ClassUnit
	}
	return ClassOther
}

// wanted reports whether the scan needs the value of attribute at in a DIE of class c.
func wanted(c Class, at uint64) bool {
	switch c {
	case ClassFunc, ClassInline:
		switch at {
		case dw.AtName, dw.AtLinkageName, dw.AtMIPSLinkageName, dw.AtLowPC, dw.AtHighPC, dw.AtRanges,
			dw.AtSpecification, dw.AtAbstractOrigin, dw.AtCallFile, dw.AtCallLine:
			return true
		}
	case ClassScope:
		switch at {
		case dw.AtName, dw.AtSpecification, dw.AtAbstractOrigin, dw.AtExtension, dw.AtSignature:
			return true
		}
	case ClassUnit:
		switch at {
		case dw.AtName, dw.AtProducer, dw.AtCompDir, dw.AtLanguage, dw.AtStmtList, dw.AtLowPC, dw.AtHighPC, dw.AtRanges,
			dw.AtStrOffsetsBase, dw.AtAddrBase, dw.AtRnglistsBase, dw.AtGNUAddrBase, dw.AtDwoName, dw.AtGNUDwoName, dw.AtGNUDwoID, dw.AtGNURangesBase:
			return true
		}
	}
	return false
}

// Steps of a skip program, which skips the attributes of a DIE.
const (
	opFixed  = iota // n bytes
	opLEB           // a LEB128
	opString        // up to and including a NUL
	opBlock1        // a length of 1, 2, 4 bytes or ULEB128, and as many bytes
	opBlock2
	opBlock4
	opBlock
	opIndirect // a form, and its value
	opLEB4     // a LEB128 and 4 bytes
	opTake     // read the attribute at, of the given form
)

// step is a step of a skip program. Adjacent attributes of fixed size become
// one opFixed, so that most DIEs are skipped by one addition.
type step struct {
	op   uint8
	slot slot // opTake: where the scan keeps the value
	at   uint16
	form uint16
	fixedForm
	n int64 // opFixed: bytes; opTake: the constant of DW_FORM_implicit_const
}

// slot is a field of Attrs.
type slot uint8

const (
	noSlot slot = iota
	slotName
	slotLinkage
	slotLow
	slotHigh
	slotRanges
	slotSpec
	slotOrigin
	slotCallFile
	slotCallLine
)

func slotOf(at uint64) slot {
	switch at {
	case dw.AtName:
		return slotName
	case dw.AtLinkageName, dw.AtMIPSLinkageName:
		return slotLinkage
	case dw.AtLowPC:
		return slotLow
	case dw.AtHighPC:
		return slotHigh
	case dw.AtRanges:
		return slotRanges
	case dw.AtSpecification, dw.AtExtension, dw.AtSignature:
		return slotSpec
	case dw.AtAbstractOrigin:
		return slotOrigin
	case dw.AtCallFile:
		return slotCallFile
	case dw.AtCallLine:
		return slotCallLine
	}
	return noSlot
}

// decl is one abbreviation declaration, compiled for the sizes of its unit.
type decl struct {
	class    Class
	tag      uint16
	children bool
	known    bool  // the code is declared
	bad      bool  // has a form that cannot be skipped
	sibForm  uint8 // size of the DW_AT_sibling reference at sibOff, 4 or 8; 0 if there is none
	sibOff   int32 // offset of DW_AT_sibling from the first attribute
	size     int32 // size of all attributes if it is fixed, otherwise -1
	badForm  uint32
	steps    []step
}

// Abbrevs is one table of .debug_abbrev, compiled. As codes are dense in practice, they index a slice. Codes far above
// the number of preceding declarations go into a sorted list, as a code in a damaged file must not determine the size
// of an allocation.
type Abbrevs struct {
	All  bool // the programs take every attribute, for Unit.Take
	Vars bool // with All: except those that variables and types do not need

	offset   uint64
	sizes    FormSizes
	forms    formTable
	declared int // number of declarations
	dense    []decl
	sparse   *sparse         // nil if there never was a code for it
	steps    []step          // storage of skip programs: the chunk in use
	recent   *[shared][]step // programs compiled last, by their hash: most declarations share one; nil in a small table
	stepped  int             // number of steps in all chunks
	length   int             // of the table in the section
}

// sparse holds the declarations whose codes are outside the dense part.
type sparse struct {
	list  []sparseDecl // by code; of several with one code, the last counts
	decls []decl       // storage: the chunk in use
}

type sparseDecl struct {
	code uint64
	*decl
}

// freeDense is the number of codes by which the dense part may exceed the number of declarations.
const freeDense = 256

// Storage is in chunks of this many declarations or steps, which double in size: copying a large table would take
// twice its memory.
const (
	minChunk = 64
	maxChunk = 4096
)

// Cost estimates the work of making the table and the memory that it takes.
func (t *Abbrevs) Cost() uint64 {
	return uint64(t.length) + uint64(len(t.dense)+2*t.sparse.len())*uint64(unsafe.Sizeof(decl{})) + uint64(t.stepped)*uint64(unsafe.Sizeof(step{}))
}

// lookup returns the declaration of code, which must not be zero.
func (t *Abbrevs) lookup(code uint64) *decl {
	if code < uint64(len(t.dense)) && t.dense[code].known {
		return &t.dense[code]
	}
	if d := t.sparse.find(code); d != nil {
		return d
	}
	return &undeclared
}

func (s *sparse) len() int {
	if s == nil {
		return 0
	}
	return len(s.list)
}

// find returns the last declaration of code, or nil.
func (s *sparse) find(code uint64) *decl {
	i := sort.Search(s.len(), func(i int) bool { return s.list[i].code > code })
	if i == 0 || s.list[i-1].code != code {
		return nil
	}
	return s.list[i-1].decl
}

func (s *sparse) add(code uint64, d decl) {
	if len(s.decls) == cap(s.decls) {
		s.decls = make([]decl, 0, min(max(minChunk, 2*cap(s.decls)), maxChunk))
	}
	s.decls = append(s.decls, d)
	s.list = append(s.list, sparseDecl{code, &s.decls[len(s.decls)-1]})
}

// reset removes all declarations.
func (s *sparse) reset() {
	if s != nil {
		s.list, s.decls = s.list[:0], s.decls[:0]
	}
}

// sort sorts the list, as find requires.
func (s *sparse) sort() {
	if s != nil {
		slices.SortStableFunc(s.list, func(a, b sparseDecl) int { return cmp.Compare(a.code, b.code) })
	}
}

// undeclared is the declaration for unknown codes. Its size takes the scan off the fast path.
var undeclared = decl{size: -1}

// Parse compiles the table at offset of .debug_abbrev (DWARF 5, 7.5.3), reusing
// the storage of t.
func (t *Abbrevs) Parse(section []byte, offset uint64, sizes FormSizes) error {
	return t.parseUpTo(section, offset, sizes, 0)
}

// ParseFirst compiles the part of a unit's table that the unit's own DIE needs. data is the unit from its header on.
// It returns the work done.
func (t *Abbrevs) ParseFirst(section []byte, h *Header, data []byte) (cost uint64, err error) {
	code, _ := uleb(data, int(h.HeadSize))
	err = t.parseUpTo(section, h.Abbrev, h.Sizes(), code)
	return uint64(t.length), err
}

// parseUpTo is like Parse, but stops after the declaration of code last; 0 means all.
func (t *Abbrevs) parseUpTo(section []byte, offset uint64, sizes FormSizes, last uint64) error {
	t.offset, t.sizes, t.length, t.declared, t.stepped = offset, sizes, 0, 0, 0
	t.dense, t.steps = t.dense[:0], t.steps[:0]
	t.sparse.reset()
	t.recent = nil
	if offset >= uint64(len(section)) {
		return &bin.Error{Section: ".debug_abbrev", Offset: offset,
			Msg: fmt.Sprintf("table starts outside the section's %d bytes", len(section))}
	}
	data := section[offset:]
	c := bin.NewAt(".debug_abbrev", data, offset, nil)
	defer func() {
		t.length = c.Pos()
		t.sparse.sort()
	}()
	t.forms.fill(sizes)
	for {
		code := c.ULEB()
		if c.Err() != nil {
			return c.Err()
		}
		if code == 0 {
			return nil
		}
		if last != 0 && code != last {
			if next := skipDecl(data, c.Pos()); next >= 0 {
				c.Seek(next)
				continue
			}
		}
		d := t.parseDecl(&c, data)
		if err := c.Err(); err != nil {
			return err
		}
		t.add(code, d)
		if code == last {
			return nil
		}
	}
}

// skipDecl returns the end of the declaration whose tag is at pos, or -1 if the data ends before it.
func skipDecl(data []byte, pos int) int {
	if _, pos = uleb(data, pos); pos < 0 || pos == len(data) {
		return -1
	}
	pos++ // DW_CHILDREN_yes or no
	for {
		at, next := uleb(data, pos)
		if next < 0 {
			return -1
		}
		form, next := uleb(data, next)
		if next < 0 {
			return -1
		}
		if pos = next; at == 0 && form == 0 {
			return pos
		}
		if form == dw.FormImplicitConst {
			if _, pos = uleb(data, pos); pos < 0 {
				return -1
			}
		}
	}
}

func (t *Abbrevs) add(code uint64, d decl) {
	t.declared++
	if code >= uint64(freeDense+t.declared) {
		if t.sparse == nil {
			t.sparse = new(sparse)
		}
		t.sparse.add(code, d)
		return
	}
	for uint64(len(t.dense)) <= code {
		t.dense = append(t.dense, undeclared)
	}
	t.dense[code] = d
}

// parseDecl reads one declaration after its code. data is what c reads.
func (t *Abbrevs) parseDecl(c *bin.Cursor, data []byte) decl {
	d := decl{known: true, sibOff: -1}
	tag := c.ULEB()
	d.class, d.tag = classOf(tag), uint16(tag)
	d.children = c.U8() != 0
	first := len(t.steps)
	size, fixed, code := 0, true, false
	for c.Err() == nil {
		at, form := attrSpec(c, data)
		var constant int64
		if form == dw.FormImplicitConst {
			constant = c.SLEB()
		}
		if at == 0 && form == 0 {
			break
		}
		code = code || at == dw.AtLowPC || at == dw.AtRanges
		f := t.forms.of(form)
		if at == dw.AtSibling && fixed && size <= math.MaxInt32 && (form == dw.FormRef4 || form == dw.FormRef8) {
			d.sibForm, d.sibOff = uint8(f.n), int32(size)
		}
		if at == 0 || form == 0 {
			d.bad, d.badForm = true, 0
		} else if !f.known {
			d.bad, d.badForm = true, uint32(form)
		} else {
			first = t.addStep(first, d.class, at, form, constant, f)
		}
		if f.n < 0 {
			fixed = false
		} else {
			size += int(f.n)
		}
	}
	d.steps = t.program(first)
	if d.class == ClassFunc && !code {
		d.class = ClassBare
	}
	d.size = -1
	if fixed && !d.bad && size <= math.MaxInt32 {
		d.size = int32(size)
	}
	return d
}

// shared is the number of programs of a table that are remembered for sharing. Tables with fewer declarations share
// none.
const shared = 32

// program returns the program that starts at first, or an equal one of an earlier declaration.
func (t *Abbrevs) program(first int) []step {
	p := t.steps[first:len(t.steps):len(t.steps)]
	if t.declared < shared {
		return p
	}
	if t.recent == nil {
		t.recent = new([shared][]step)
	}
	recent := &t.recent[hashOf(p)%uint64(len(t.recent))]
	if slices.Equal(*recent, p) {
		t.steps = t.steps[:first]
		t.stepped -= len(p)
	} else {
		*recent = p
	}
	return *recent
}

func hashOf(program []step) (h uint64) {
	for i := range program {
		s := &program[i]
		h = (h ^ uint64(s.op) ^ uint64(s.at)<<8 ^ uint64(s.form)<<24 ^ uint64(s.n)<<32) * 0x9e3779b97f4a7c15
		h ^= h >> 32
	}
	return h
}

// attrSpec reads an attribute and its form; nearly all of them have one byte each.
func attrSpec(c *bin.Cursor, data []byte) (at, form uint64) {
	if pos := c.Pos(); len(data)-pos >= 2 && data[pos]|data[pos+1] < 0x80 {
		c.Seek(pos + 2)
		return uint64(data[pos]), uint64(data[pos+1])
	}
	return c.ULEB(), c.ULEB()
}

// addStep appends a step that skips (or takes) one attribute to the program that starts at first. It returns where the
// program starts afterwards.
func (t *Abbrevs) addStep(first int, c Class, at, form uint64, constant int64, f *formStep) int {
	switch last := len(t.steps) - 1; {
	case t.All && !(t.Vars && c.varsSkip(at)) || !t.All && c.wants(at):
		if form == dw.FormFlagPresent {
			constant = 1
		}
		s := step{op: opTake, slot: slotOf(at), at: uint16(at), form: uint16(form), fixedForm: f.fixedForm, n: constant}
		if s.kind != None && !fits(at, s.kind) {
			s.kind = None // for takenSlowly
		}
		return t.push(first, s)
	case f.op == opFixed && last >= first && t.steps[last].op == opFixed:
		t.steps[last].n += int64(f.n)
	case f.op != opFixed || f.n > 0:
		return t.push(first, step{op: f.op, n: int64(f.n)})
	}
	return first
}

// push appends a step to the program that starts at first, moving it to another chunk if this one is full.
func (t *Abbrevs) push(first int, s step) int {
	if len(t.steps) == cap(t.steps) {
		program := t.steps[first:]
		size := max(minChunk, min(2*cap(t.steps), maxChunk), 2*len(program))
		t.steps, first = append(make([]step, 0, size), program...), 0
	}
	t.steps = append(t.steps, s)
	t.stepped++
	return first
}

// varsSkip reports whether variables and types do not need an attribute of a DIE of class c. Such attributes are
// skipped together with neighbours of fixed size.
func (c Class) varsSkip(at uint64) bool {
	switch at {
	case dw.AtSibling, dw.AtDeclColumn, dw.AtEntryPC, dw.AtCallFile, dw.AtCallLine, dw.AtCallColumn, dw.AtGNULocviews, dw.AtGNUEntryView:
		return c != ClassUnit
	case dw.AtLinkageName, dw.AtMIPSLinkageName: // calls use it to find functions of other units
		return c != ClassUnit && c != ClassFunc && c != ClassBare
	case dw.AtDeclFile, dw.AtDeclLine:
		return c != ClassScope // the place of a structure identifies it
	}
	return false
}

// wantedBits are the wanted attributes below 128, by class.
var wantedBits = func() (bits [ClassBare + 1][2]uint64) {
	for c := range bits {
		for at := range uint64(128) {
			if wanted(Class(c), at) {
				bits[c][at/64] |= 1 << (at % 64)
			}
		}
	}
	return bits
}()

// wants is a faster form of wanted: it is called for each attribute of each table.
func (c Class) wants(at uint64) bool {
	if at < 128 {
		return wantedBits[c][at/64]>>(at%64)&1 != 0
	}
	return wanted(c, at)
}

func declaresSplit(section []byte) bool {
	pos := 0
	next := func() (v uint64) {
		if pos >= 0 {
			v, pos = uleb(section, pos)
		}
		return v
	}
	for pos >= 0 && pos < len(section) {
		if next() == 0 {
			continue // the end of a table
		}
		if next(); pos < 0 || pos == len(section) {
			return true
		}
		pos++ // DW_CHILDREN_yes or no
		for at, form := next(), next(); at != 0 || form != 0; at, form = next(), next() {
			if form == dw.FormImplicitConst {
				next()
			}
			if pos < 0 || at == dw.AtDwoName || at == dw.AtGNUDwoName {
				return true
			}
		}
	}
	return pos < 0
}

// AbbrevCache keeps the most recent tables, as units of one producer often share a table.
type AbbrevCache struct {
	All, Vars bool // as in Abbrevs

	recent []*Abbrevs
	next   int
}

const recentTables = 4

// Reset forgets the tables but keeps their storage.
func (c *AbbrevCache) Reset() {
	for _, t := range c.recent {
		t.sizes = FormSizes{} // matches no unit
	}
	c.next = 0
}

// Get returns the table of a unit in s, and the cost of making it.
func (c *AbbrevCache) Get(s *Sections, h *Header) (*Abbrevs, uint64, error) {
	sizes := h.Sizes()
	for _, t := range c.recent {
		if t.offset == h.Abbrev && t.sizes == sizes {
			return t, 0, nil
		}
	}
	if len(c.recent) < recentTables {
		c.recent = append(c.recent, &Abbrevs{All: c.All, Vars: c.Vars})
		c.next = len(c.recent) - 1
	}
	t := c.recent[c.next]
	c.next = (c.next + 1) % recentTables
	err := s.ReadAbbrevs(h.Abbrev, func(section []byte) error { return t.Parse(section, h.Abbrev, sizes) })
	if err != nil {
		t.sizes = FormSizes{}
		return nil, t.Cost(), err
	}
	return t, t.Cost(), nil
}
