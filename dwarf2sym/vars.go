package dwarf2sym

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/maphash"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/intern"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/dw"
	"github.com/symtool/symtool/symfmt/vars"
)

// Variables are read by a second pass over each unit, while it is in memory and its scopes are
// known, so that nothing is paid for them where they are not wanted. Functions are packed as they
// are in the unit, with addresses of the file; what their scopes are in the module (FUNCs, INLINEs)
// is decided when all functions are joined (varjoin.go).

// VarOptions select what is read about variables.
type VarOptions struct {
	Params    bool // parameters
	Locals    bool // local variables, and parameters
	FullTypes bool // types with their members, not names and sizes alone
}

// wanted reports whether anything is.
func (o *VarOptions) wanted() bool { return o.Params || o.Locals }

// varReader reads the variables in the units of a worker.
type varReader struct {
	w         *worker
	locals    bool
	fullTypes bool
	meter     *dwarf.Meter // of variables alone: they cannot cost functions

	varRecords
	tables  dwarf.AbbrevCache
	main    fileUnit
	foreign map[foreignKey]*fileUnit
	shared  map[tableKey]*dwarf.Abbrevs
	held    int // bytes of foreign units

	// The current unit.
	vars    []dieKey          // by their number in packed functions
	varOf   map[dieKey]uint32 // the inverse
	labels  map[dieKey]uint32
	nested  []int // functions in functions that are still to be read
	firstFn int   // index of the unit's first function

	typeOf  map[dieKey]vars.TypeID
	unread  []unreadType // structures whose members are not read yet
	typeKey []byte
	nameBuf []byte
	depth   int

	fn openVars

	dies []*dwarf.DIE // storage of those that are being looked at: dies[:top]
	top  int
}

// die returns a DIE to read into. It belongs to the caller until top is what it was before.
func (v *varReader) die() *dwarf.DIE {
	if v.top == len(v.dies) {
		v.dies = append(v.dies, &dwarf.DIE{})
	}
	v.top++
	return v.dies[v.top-1]
}

// release gives back the DIEs from top on.
func (v *varReader) release(top int) { v.top = top }

// varRecords are what a varReader leaves behind.
type varRecords struct {
	names     intern.Table
	exprs     []vars.Expr
	exprIndex map[vars.Expr]vars.ExprID
	raw       map[string]vars.ExprID
	rawSize   uint8 // the address size of raw
	types     []vars.Type
	typeIndex map[typeHash]vars.TypeID
	variables []varRecord
	varIndex  map[varRecord]uint32
	seeds     [2]maphash.Seed // of typeIndex, the same for all readers
	remaps    [][]uint32      // by unit: the variables of its packed functions
	funcs     []varFunc
	targets   []callTarget
	chunk     []byte                   // where packed functions are
	pending   []unreadType             // structures whose members are read after all units
	met       map[typeHash]vars.TypeID // of the reader that does: what they are
}

// varRecord is a variable: its name is in names.
type varRecord struct {
	name  uint32
	typ   vars.TypeID
	label uint32
	flags uint8
}

// Flags of a varRecord.
const (
	varParam = 1 << iota
	varArtificial
)

// varFunc is a function with its variables, packed.
type varFunc struct {
	key, sub uint64 // as in funcRecord
	base     uint64 // its lowest address; packed addresses count from it
	unit     int32  // of remaps
	data     []byte
}

// callTarget is a function that calls may name by the place of its DIE.
type callTarget struct {
	die  targetKey
	addr uint64
}

// targetKey is the place of a DIE for all workers.
type targetKey struct {
	skeleton uint64 // of the other half of a unit; else 0
	off      uint64 // with the tag of its file
}

// targetKey returns the key of the DIE at off of d.
func (v *varReader) targetKey(d *debugData, off uint64) targetKey {
	key := targetKey{off: d.tag | off}
	if v.w.skeleton != nil {
		key.skeleton = v.w.skeleton.Off + 1
	}
	return key
}

func newVarReader(w *worker, o *VarOptions, effort *dwarf.Effort, seeds [2]maphash.Seed) *varReader {
	v := &varReader{w: w, locals: o.Locals, fullTypes: o.FullTypes, meter: &dwarf.Meter{Effort: effort}}
	v.tables.All = true
	v.exprs, v.exprIndex, v.raw = []vars.Expr{{}}, map[vars.Expr]vars.ExprID{}, map[string]vars.ExprID{}
	v.types, v.typeIndex, v.seeds = []vars.Type{{}}, map[typeHash]vars.TypeID{}, seeds
	v.varIndex = map[varRecord]uint32{}
	v.varOf, v.labels, v.typeOf = map[dieKey]uint32{}, map[dieKey]uint32{}, map[dieKey]vars.TypeID{}
	v.foreign, v.shared = map[foreignKey]*fileUnit{}, map[tableKey]*dwarf.Abbrevs{}
	return v
}

// reset forgets what may not depend on which worker read the units before.
func (v *varReader) reset() {
	v.tables.Reset()
	v.closeForeign()
	clear(v.typeOf)
	v.meter.Flush()
}

// finish forgets what was needed for units only.
func (v *varReader) finish() {
	v.meter.Flush()
	*v = varReader{meter: v.meter, varRecords: v.varRecords}
	v.raw, v.exprIndex, v.varIndex, v.typeIndex = nil, nil, nil, nil
}

func (v *varReader) closeForeign() {
	clear(v.foreign)
	clear(v.shared)
	v.held = 0
}

// unit reads the variables of the worker's current unit.
func (v *varReader) unit(h *dwarf.Header, data []byte) {
	w := v.w
	if v.meter.Exhausted {
		return
	}
	if w.skeleton != nil { // of another file each
		v.reset()
	}
	v.firstFn = len(v.funcs)
	defer func() {
		v.top = 0
		clear(v.varOf)
		clear(v.labels)
		v.vars, v.nested, v.depth = v.vars[:0], v.nested[:0], 0
		if p := recover(); p != nil {
			v.funcs = v.funcs[:v.firstFn]
			w.problem(h.Off, fmt.Sprintf("variables of the unit at %#x", h.Off),
				&bin.Error{File: w.d.File, Section: ".debug_info", Offset: h.Off, Msg: fmt.Sprintf("internal error: %v", p)})
		}
	}()
	t, cost, err := v.tables.Get(w.d.Abbrev, h)
	v.meter.Spend(cost)
	if err == nil {
		err = v.main.open(w.d, h, data, t, v.meter)
	}
	if err != nil {
		return // the functions' pass reports it
	}
	if w.skeleton != nil {
		v.main.Join(w.skeleton)
	}
	if v.rawSize != h.AddrSize {
		clear(v.raw)
		v.rawSize = h.AddrSize
	}
	_, err = v.walk(v.main.Children(), 0)
	if err != nil && !v.meter.Exhausted {
		w.problem(h.Off, "variables of "+w.u.ownName()+" from there on", err)
	}
	v.endUnit()
}

// walk reads the functions among the DIEs from pos to the end of their parent's children.
func (v *varReader) walk(pos, depth int) (next int, err error) {
	u := &v.main
	if depth > dwarf.MaxDepth {
		return 0, u.Errorf(pos, "DIEs nested over %d deep", dwarf.MaxDepth)
	}
	defer v.release(v.top)
	d := v.die()
	for pos < u.Len() {
		if err := u.Head(pos, d); err != nil {
			return 0, err
		}
		start := pos
		if pos, err = u.Over(d); err != nil {
			return 0, err
		}
		switch d.Tag {
		case 0:
			return pos, nil
		case dw.TagSubprogram:
			v.nested = append(v.nested[:0], start)
			for i := 0; i < len(v.nested); i++ {
				if err := v.function(v.nested[i]); err != nil {
					return 0, err
				}
			}
			v.nested = v.nested[:0]
			if pos, err = u.SkipTree(d, pos); err != nil {
				return 0, err
			}
			continue
		case dw.TagArrayType, dw.TagSubroutineType, dw.TagEnumerationType:
			if pos, err = u.SkipTree(d, pos); err != nil {
				return 0, err
			}
			continue
		case dw.TagStructureType, dw.TagClassType, dw.TagUnionType:
			if to := u.Sibling(d); to > 0 && u.flat() {
				pos = to
				continue
			}
		}
		if d.Children {
			if pos, err = v.walk(pos, depth+1); err != nil {
				return 0, err
			}
		}
	}
	return pos, nil
}

// openVars is the function that is being read.
type openVars struct {
	base   uint64
	frame  vars.ExprID
	scopes []openScope
	vars   []openVar
	locs   []openLoc
	spans  []dwarf.Span
	sites  []openSite
	params []vars.SiteParam
}

// openScope is a scope of the function.
type openScope struct {
	kind        vars.ScopeKind
	level       int32 // how many scopes are around it
	first, last int32 // of its spans
	vars        int32 // how many variables it has itself
	used        bool  // it or a scope in it has variables
}

// openVar is a variable of a scope.
type openVar struct {
	scope       int32
	number      uint32
	whole       vars.ExprID
	first, last int32 // of its locs
}

type openLoc struct {
	lo, hi uint64
	expr   vars.ExprID
}

// openSite is a call.
type openSite struct {
	ret         uint64
	tail        bool
	target      targetKey // 0: not known
	targetAt    vars.ExprID
	first, last int32 // of its params
}

// function reads the variables of the function at pos, if it has code.
func (v *varReader) function(pos int) error {
	u, w := &v.main, v.w
	defer v.release(v.top)
	d := v.die()
	if err := u.Head(pos, d); err != nil {
		return err
	}
	body, err := u.Take(d)
	if err != nil {
		return err
	}
	low, ranges := d.Value(dw.AtLowPC), d.Value(dw.AtRanges)
	if low.Kind == dwarf.None && ranges.Kind == dwarf.None {
		return v.inner(d, body)
	}
	spans, _ := u.Spans(low, d.Value(dw.AtHighPC), ranges, nil)
	spans = tidy(w.code.keep(spans))
	if len(spans) == 0 {
		return v.inner(d, body)
	}
	f := &v.fn
	*f = openVars{base: spans[0].Lo, scopes: f.scopes[:0], vars: f.vars[:0], locs: f.locs[:0], spans: f.spans[:0], sites: f.sites[:0], params: f.params[:0]}
	if a := d.Attr(dw.AtFrameBase); a != nil {
		f.frame = v.frameBase(a)
	}
	off := u.Off + uint64(pos)
	entry := spans[0].Lo
	if addr, ok := u.Address(low); ok {
		entry = addr
	}
	v.targets = append(v.targets, callTarget{v.targetKey(u.d, off), entry})
	for _, at := range []uint16{dw.AtAbstractOrigin, dw.AtSpecification} {
		if ref := d.Value(at); ref.IsRef() {
			if od, ooff, ok := w.locate(u, ref); ok {
				v.targets = append(v.targets, callTarget{v.targetKey(od, ooff), entry})
			}
		}
	}
	f.scopes = append(f.scopes, openScope{kind: vars.FuncScope})
	if d.Children {
		if _, err = v.scope(body, 0); err != nil {
			return err
		}
	}
	v.pack(off)
	return nil
}

// inner looks for functions with code in a function without any: what is nested in a GNU C function
// that was inlined everywhere.
func (v *varReader) inner(d *dwarf.DIE, pos int) error {
	if !d.Children {
		return nil
	}
	u := &v.main
	var e dwarf.DIE
	for depth := 1; depth > 0 && pos < u.Len(); {
		err := u.Head(pos, &e)
		if err != nil {
			return err
		}
		start := pos
		if pos, err = u.Over(&e); err != nil {
			return err
		}
		switch {
		case e.Tag == 0:
			depth--
		case e.Tag == dw.TagSubprogram:
			v.nested = append(v.nested, start)
			if pos, err = u.SkipTree(&e, pos); err != nil {
				return err
			}
		case e.Children:
			if depth++; depth > dwarf.MaxDepth {
				return u.Errorf(pos, "DIEs nested over %d deep", dwarf.MaxDepth)
			}
		}
	}
	return nil
}

// frameBase returns the expression of DW_AT_frame_base. Of a list, which compilers no longer make, the
// last entry is taken: it holds after the prologue.
func (v *varReader) frameBase(a *dwarf.Attr) (id vars.ExprID) {
	u := &v.main
	if code, ok := u.Block(a); ok {
		return v.expr(u, code)
	}
	if a.IsList() {
		u.Locations(a, func(_, _ uint64, code []byte) { id = v.expr(u, code) })
	}
	return id
}

// scope reads what is in the scope of the given number, from pos on.
func (v *varReader) scope(pos int, scope int32) (next int, err error) {
	u, f := &v.main, &v.fn
	if f.scopes[scope].level > dwarf.MaxDepth {
		return 0, u.Errorf(pos, "scopes nested over %d deep", dwarf.MaxDepth)
	}
	defer v.release(v.top)
	d := v.die()
	for pos < u.Len() {
		if err := u.Head(pos, d); err != nil {
			return 0, err
		}
		switch d.Tag {
		case 0:
			return u.Over(d)
		case dw.TagFormalParameter, dw.TagVariable:
			if pos, err = u.Take(d); err != nil {
				return 0, err
			}
			if d.Tag == dw.TagFormalParameter || v.locals {
				v.variable(d, scope)
			}
			pos, err = u.SkipTree(d, pos)
		case dw.TagInlinedSubroutine, dw.TagLexicalBlock, dw.TagTryBlock, dw.TagCatchBlock, dw.TagWithStmt:
			if pos, err = u.Take(d); err != nil {
				return 0, err
			}
			if d.Children {
				pos, err = v.scope(pos, v.openScope(d, scope))
			}
		case dw.TagGNUFormalParamPack:
			if pos, err = u.Over(d); err == nil && d.Children {
				pos, err = v.scope(pos, scope)
			}
		case dw.TagCallSite, dw.TagGNUCallSite:
			pos, err = v.callSite(d)
		case dw.TagSubprogram:
			v.nested = append(v.nested, pos)
			fallthrough
		default:
			if pos, err = u.Over(d); err != nil {
				return 0, err
			}
			if d.Tag != dw.TagSubprogram { // methods of local classes
				if err := v.inner(d, pos); err != nil {
					return 0, err
				}
			}
			pos, err = u.SkipTree(d, pos)
		}
		if err != nil {
			return 0, err
		}
	}
	return pos, nil
}

// openScope returns the number of the scope that a DIE is. A block without code is a part of the scope around it.
func (v *varReader) openScope(d *dwarf.DIE, around int32) int32 {
	u, f := &v.main, &v.fn
	low, ranges := d.Value(dw.AtLowPC), d.Value(dw.AtRanges)
	s := openScope{kind: vars.BlockScope, level: f.scopes[around].level + 1, first: int32(len(f.spans))}
	if d.Tag == dw.TagInlinedSubroutine {
		s.kind = vars.InlineScope
	} else if low.Kind == dwarf.None && ranges.Kind == dwarf.None {
		return around
	}
	from := len(f.spans)
	f.spans, _ = u.Spans(low, d.Value(dw.AtHighPC), ranges, f.spans)
	f.spans = f.spans[:from+len(tidy(f.spans[from:]))]
	s.last = int32(len(f.spans))
	f.scopes = append(f.scopes, s)
	return int32(len(f.scopes) - 1)
}

// originOf returns the place of the DIE that a variable is an instance of.
func (v *varReader) originOf(u *fileUnit, d *dwarf.DIE) dieKey {
	defer v.release(v.top)
	key := dieKey{u.d, u.Off + uint64(d.Pos)}
	ref := d.Value(dw.AtAbstractOrigin)
	for hops := 0; ref.IsRef() && hops < maxChain; hops++ {
		od, off, ok := v.w.locate(u, ref)
		if !ok {
			break
		}
		key = dieKey{od, off}
		if _, known := v.varOf[key]; known {
			break
		}
		ou, die, ok := v.dieIn(od, off)
		if !ok {
			break
		}
		u, ref = ou, die.Value(dw.AtAbstractOrigin)
	}
	return key
}

// variable reads a variable or parameter of a scope.
func (v *varReader) variable(d *dwarf.DIE, scope int32) {
	u, f := &v.main, &v.fn
	if d.Flag(dw.AtDeclaration) {
		return
	}
	key := v.originOf(u, d)
	number, ok := v.varOf[key]
	if !ok {
		number = uint32(len(v.vars))
		v.vars = append(v.vars, key)
		v.varOf[key] = number
	}
	va := openVar{scope: scope, number: number, first: int32(len(f.locs))}
	switch loc := d.Attr(dw.AtLocation); {
	case loc == nil:
		if c := d.Attr(dw.AtConstValue); c != nil {
			va.whole = v.constValue(u, c)
		} else {
			va.whole = v.abstractLocation(d)
		}
	case loc.IsBlock():
		code, _ := u.Block(loc)
		va.whole = v.expr(u, code)
	case loc.IsList():
		err := u.Locations(loc, func(lo, hi uint64, code []byte) {
			if id := v.expr(u, code); id != 0 {
				f.locs = append(f.locs, openLoc{lo, hi, id})
			}
		})
		if err != nil && !v.meter.Exhausted {
			v.w.problem(u.Off+uint64(d.Pos), fmt.Sprintf("where the variable at %#x is", u.Off+uint64(d.Pos)), err)
		}
	}
	va.last = int32(len(f.locs))
	f.vars = append(f.vars, va)
	f.scopes[scope].vars++
	for i := scope; ; {
		f.scopes[i].used = true
		level := f.scopes[i].level
		if level == 0 {
			break
		}
		for i--; f.scopes[i].level >= level; i-- {
		}
		if f.scopes[i].used {
			break
		}
	}
}

// abstractLocation returns where the DIE that a variable is an instance of says it is: static ones,
// and constants, are described once.
func (v *varReader) abstractLocation(d *dwarf.DIE) vars.ExprID {
	defer v.release(v.top)
	ref := d.Value(dw.AtAbstractOrigin)
	if !ref.IsRef() {
		return 0
	}
	u, o, ok := v.dieAt(&v.main, ref)
	if !ok {
		return 0
	}
	if c := o.Attr(dw.AtConstValue); c != nil {
		return v.constValue(u, c)
	}
	if loc := o.Attr(dw.AtLocation); loc != nil {
		if code, ok := u.Block(loc); ok {
			return v.expr(u, code)
		}
	}
	return 0
}

// callSite reads a call with its arguments.
func (v *varReader) callSite(d *dwarf.DIE) (next int, err error) {
	u, f := &v.main, &v.fn
	pos, err := u.Take(d)
	if err != nil {
		return 0, err
	}
	gnu := d.Tag == dw.TagGNUCallSite
	ret, origin := d.Value(dw.AtCallReturnPC), d.Value(dw.AtCallOrigin)
	tail := d.Flag(dw.AtCallTailCall)
	if gnu {
		ret, origin, tail = d.Value(dw.AtLowPC), d.Value(dw.AtAbstractOrigin), d.Flag(dw.AtGNUTailCall)
	}
	s := openSite{tail: tail, first: int32(len(f.params))}
	var ok bool
	if s.ret, ok = u.Address(ret); !ok && tail {
		// clang names the jump. What is after it is not executed.
		if s.ret, ok = u.Address(d.Value(dw.AtCallPC)); ok {
			s.ret++
		}
	}
	if origin.IsRef() {
		if od, off, ok := v.w.locate(u, origin); ok {
			s.target = v.targetKey(od, off)
		}
	}
	at := d.Attr(dw.AtCallTarget)
	if gnu {
		at = d.Attr(dw.AtGNUCallSiteTarget)
	}
	if at != nil && !origin.IsRef() {
		if code, ok := u.Block(at); ok {
			s.targetAt = v.expr(u, code)
		}
	}
	end, err := u.SkipTree(d, pos)
	if err != nil || !ok {
		return end, err
	}
	v.arguments(d, pos)
	s.last = int32(len(f.params))
	if s.last > s.first || tail { // values at entry depend on which functions tail calls may lead to
		f.sites = append(f.sites, s)
	}
	return end, nil
}

// arguments reads those of a call.
func (v *varReader) arguments(d *dwarf.DIE, pos int) {
	u, f := &v.main, &v.fn
	if !d.Children {
		return
	}
	v.childrenAt(u, pos, func(c *dwarf.DIE) {
		if c.Tag != dw.TagCallSiteParameter && c.Tag != dw.TagGNUCallSiteParam {
			return
		}
		loc, value := c.Attr(dw.AtLocation), c.Attr(dw.AtCallValue)
		if value == nil {
			value = c.Attr(dw.AtGNUCallSiteValue)
		}
		if loc == nil || value == nil {
			return
		}
		where, _ := u.Block(loc)
		what, _ := u.Block(value)
		if p := (vars.SiteParam{Location: v.expr(u, where), Value: v.expr(u, what)}); p.Location != 0 && p.Value != 0 {
			f.params = append(f.params, p)
		}
	})
}

// pack keeps the function that was read. The scopes come in order, each with its level, its spans and its variables.
func (v *varReader) pack(off uint64) {
	f := &v.fn
	if !f.scopes[0].used && len(f.sites) == 0 {
		return
	}
	var p []byte
	number := func(n uint64) { p = binary.AppendUvarint(p, n) }
	end := f.base
	span := func(lo, hi uint64) {
		p = binary.AppendVarint(p, int64(lo-end))
		number(hi - lo)
		end = hi
	}
	// Of the variables, those of one scope are together only if no scope is between them.
	firsts := make([]int32, len(f.scopes)+1)
	for i := range f.scopes {
		firsts[i+1] = firsts[i] + f.scopes[i].vars
	}
	order := make([]int32, len(f.vars))
	for i := range f.vars {
		s := f.vars[i].scope
		order[firsts[s]] = int32(i)
		firsts[s]++
	}
	number(uint64(f.frame))
	used := 0
	for i := range f.scopes {
		if f.scopes[i].used || i == 0 {
			used++
		}
	}
	number(uint64(used))
	at := 0
	for i := range f.scopes {
		s := &f.scopes[i]
		from := at
		at += int(s.vars)
		if !s.used && i > 0 {
			continue
		}
		p = append(p, byte(s.kind))
		number(uint64(s.level))
		number(uint64(s.last - s.first))
		for _, r := range f.spans[s.first:s.last] {
			span(r.Lo, r.Hi)
		}
		number(uint64(s.vars))
		for _, k := range order[from:at] {
			va := &f.vars[k]
			number(uint64(va.number))
			switch n := va.last - va.first; {
			case va.whole != 0:
				number(1)
				number(uint64(va.whole))
			case n == 0:
				number(0)
			default:
				number(uint64(n) + 1)
				for _, l := range f.locs[va.first:va.last] {
					span(l.lo, l.hi)
					number(uint64(l.expr))
				}
			}
		}
	}
	number(uint64(len(f.sites)))
	for i := range f.sites {
		s := &f.sites[i]
		p = binary.AppendVarint(p, int64(s.ret-f.base))
		p = append(p, btob(s.tail))
		number(s.target.skeleton)
		number(s.target.off)
		number(uint64(s.targetAt))
		number(uint64(s.last - s.first))
		for _, q := range f.params[s.first:s.last] {
			number(uint64(q.Location))
			number(uint64(q.Value))
		}
	}
	v.meter.Spend(uint64(len(p)))
	fn := varFunc{key: off, base: f.base, unit: int32(len(v.remaps)), data: v.keep(p)}
	if v.w.skeleton != nil {
		fn.key, fn.sub = v.w.skeleton.Off, off
	}
	v.funcs = append(v.funcs, fn)
}

const varChunk = 256 << 10

// keep returns a copy of p that stays.
func (r *varRecords) keep(p []byte) []byte {
	if len(p) > cap(r.chunk)-len(r.chunk) {
		r.chunk = make([]byte, 0, max(varChunk, len(p)))
	}
	n := len(r.chunk)
	r.chunk = append(r.chunk, p...)
	return r.chunk[n:len(r.chunk):len(r.chunk)]
}

// endUnit finds the names and types of the unit's variables.
func (v *varReader) endUnit() {
	records := make([]varRecord, len(v.vars))
	defer v.release(v.top)
	for i, key := range v.vars {
		v.release(0)
		vu, d, ok := v.dieIn(key.d, key.off)
		if !ok {
			continue
		}
		r := &records[i]
		name, _ := vu.Text(d.Value(dw.AtName))
		v.meter.Spend(uint64(len(name)))
		r.name = v.names.Intern(name)
		if d.Tag == dw.TagFormalParameter {
			r.flags |= varParam
		}
		if d.Flag(dw.AtArtificial) {
			r.flags |= varArtificial
		}
		typ := d.Value(dw.AtType)
		if spec := d.Value(dw.AtSpecification); typ.Kind == dwarf.None && spec.IsRef() {
			if su, sd, ok := v.dieAt(vu, spec); ok {
				vu, typ = su, sd.Value(dw.AtType)
				if len(name) == 0 {
					name, _ = su.Text(sd.Value(dw.AtName))
					r.name = v.names.Intern(name)
				}
			}
		}
		r.typ = v.typeAt(vu, typ)
	}
	if v.w.skeleton != nil {
		v.readMembers()
	} else {
		v.pending = append(v.pending, v.unread...)
		v.unread = v.unread[:0]
	}
	remap := make([]uint32, len(v.vars))
	for i, key := range v.vars {
		r := records[i]
		r.label = v.labels[key]
		id, ok := v.varIndex[r]
		if !ok {
			id = uint32(len(v.variables))
			v.variables = append(v.variables, r)
			v.varIndex[r] = id
		}
		remap[i] = id
	}
	v.remaps = append(v.remaps, remap)
}

// dieAt reads the DIE that u refers to. It is given back by release; its unit is valid until the end of a batch.
func (v *varReader) dieAt(u *fileUnit, ref dwarf.Value) (*fileUnit, *dwarf.DIE, bool) {
	if !ref.IsRef() {
		return nil, nil, false
	}
	d, off, ok := v.w.locate(u, ref)
	if !ok {
		return nil, nil, false
	}
	return v.dieIn(d, off)
}

// dieIn reads the DIE at an offset of d.
func (v *varReader) dieIn(d *debugData, off uint64) (*fileUnit, *dwarf.DIE, bool) {
	u := v.unitAt(d, off)
	if u == nil {
		return nil, nil, false
	}
	die := v.die()
	if u.Head(int(off-u.Off), die) != nil || die.Tag == 0 {
		return nil, nil, false
	}
	if _, err := u.Take(die); err != nil {
		return nil, nil, false
	}
	return u, die, true
}

// maxHeld is how many bytes of other units are held.
const maxHeld = 64 << 20

// unitAt returns the unit of d that holds off, with all attributes, or nil.
func (v *varReader) unitAt(d *debugData, off uint64) *fileUnit {
	if u := &v.main; d == u.d && off >= u.Off+uint64(u.HeadSize) && off < u.Off+u.Size {
		return u
	}
	i, ok := d.unitAt(off)
	if !ok || v.meter.Exhausted || off < d.units[i].Off+uint64(d.units[i].HeadSize) {
		return nil
	}
	key := foreignKey{d, i}
	if u, ok := v.foreign[key]; ok {
		return u
	}
	if v.held > maxHeld {
		v.closeForeign()
	}
	h := &d.units[i].Header
	u := &fileUnit{}
	if v.openUnit(u, d, h) != nil {
		u = nil
	}
	v.foreign[key] = u
	v.held += int(h.Size)
	return u
}

func (v *varReader) openUnit(u *fileUnit, d *debugData, h *dwarf.Header) error {
	key := newTableKey(d.Abbrev, h)
	t, ok := v.shared[key]
	if !ok {
		t = &dwarf.Abbrevs{All: true}
		err := t.Parse(d.Abbrev, key.offset, key.sizes)
		v.meter.Spend(t.Cost())
		if err != nil {
			return err
		}
		v.shared[key] = t
	}
	data, err := d.Info.Bytes(int64(h.Off), int64(h.Size), nil)
	if err != nil || !v.meter.Spend(h.Size) {
		return cmp.Or(err, dwarf.ErrExhausted)
	}
	return u.open(d, h, data, t, v.meter)
}

// children calls fn with each child of a DIE.
func (v *varReader) children(u *fileUnit, d *dwarf.DIE, fn func(c *dwarf.DIE)) {
	if !d.Children {
		return
	}
	if pos, err := u.Over(d); err == nil {
		v.childrenAt(u, pos, fn)
	}
}

// childrenAt calls fn with each DIE from pos to the end of its siblings.
func (v *varReader) childrenAt(u *fileUnit, pos int, fn func(c *dwarf.DIE)) {
	defer v.release(v.top)
	c := v.die()
	top := v.top
	for pos < u.Len() {
		v.release(top)
		if u.Head(pos, c) != nil || c.Tag == 0 {
			return
		}
		next, err := u.Take(c)
		if err != nil {
			return
		}
		fn(c)
		if next, err = u.SkipTree(c, next); err != nil {
			return
		}
		pos = next
	}
}
