// Package varread reads the parameters and local variables of functions, and their types, out of DWARF.
// A Reader packs what it finds for varjoin, in a second pass over each unit: its Host, which reads the
// functions, knows the names of scopes and files.
package varread

import (
	"fmt"
	"slices"

	"github.com/symtool/symtool/dwarf2sym/internal/codemap"
	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/dwarf2sym/internal/varjoin"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/dw"
	"github.com/symtool/symtool/symfmt/vars"
)

// Variables are read in a second pass over each unit, while it is in memory and its scopes are known, so that they
// cost nothing if they are not wanted. Functions are packed as they are in the unit, with addresses in the file;
// varjoin assigns their scopes to FUNCs and INLINEs of the module once all functions are joined.

// Options select what is read.
type Options struct {
	Locals    bool // local variables, not just parameters
	FullTypes bool // types with their members

	// Imports gives the addresses of the words in which the loader stores the addresses of functions of other
	// files.
	Imports map[varjoin.Target]uint64
}

// Host reads the functions of the units whose variables are read.
type Host interface {
	// Scopes appends "ns::Class::", the scopes around the DIE at off of u.
	Scopes(b []byte, u *units.Unit, off uint64) []byte
	// Path returns the path of a file of the line table of the host's current unit.
	Path(file uint64) string
	// Problem records damage at off of .debug_info.
	Problem(off uint64, lost string, err error)
	// Begin makes a unit current for its scopes and files, but not its functions. It reports false if the unit is
	// damaged.
	Begin(d *units.Data, h *dwarf.Header, data []byte) bool
}

// Reader reads the variables in the units of a worker.
type Reader struct {
	Options
	host     Host
	code     *codemap.Map // of the file that is read
	module   *codemap.Map
	linked   Linked       // nil unless reading an object
	rust     bool         // there are units of Rust
	Meter    *dwarf.Meter // for variables only, so that they do not use up the functions' budget
	skeleton *dwarf.Unit  // of the current unit; nil if it is not split

	*varjoin.Records
	raw      rawExprs
	decoded  []opBuffers // by the nesting of expressions
	decoding int
	rawSize  uint8 // the address size of raw
	structs  []structure
	places   []uint32   // by TypeID: index in structs + 1; 0 or absent: none
	nameAt   dieNumbers // NameIDs, by their places in .debug_str
	tables   dwarf.AbbrevCache
	main     units.Unit
	starts   dwarf.Starts // of main, unless the host knows them
	opener   *units.Opener

	// The current unit.
	vars         []declaration // by number in packed functions
	varOf        dieNumbers    // the inverse of vars
	labels       map[dieKey]uint32
	abstract     []abstractVar   // variables in the DIEs that scopes are instances of, one DIE after another
	abstractEnds []int           // by DIE: the end of its variables
	abstractOf   dieNumbers      // indices in abstractEnds
	bad          map[dieKey]bool // offsets already reported
	marked       []uint64        // by number in packed functions: the last scope that has the variable
	marks        uint64          // number of scopes marked so far
	callees      map[dieKey]varjoin.Target
	firstFn      int // index of the unit's first function

	typeOf   dieNumbers  // TypeIDs
	namedOf  dieNumbers  // like typeOf, for types read while nameOnly was set
	info     []byte      // of the unit whose types are being read
	unread   []structure // wanted structures whose members are not read yet
	nameOnly bool        // the types being read are of variables without a value
	typeKey  []byte
	nameBuf  []byte
	depth    int

	fn      varjoin.Function
	records []varjoin.Variable

	dies []*dwarf.DIE // storage; dies[:top] are in use
	top  int
}

// New returns a reader for the units that host reads. The effort is shared by all readers of a file.
func New(host Host, code *codemap.Map, o Options, effort *dwarf.Effort, seeds *varjoin.Seeds) *Reader {
	v := &Reader{Options: o, host: host, code: code, module: code, Meter: &dwarf.Meter{Effort: effort}, Records: varjoin.New(seeds)}
	v.tables.All, v.tables.Vars = true, true
	v.labels, v.callees = map[dieKey]uint32{}, map[dieKey]varjoin.Target{}
	v.opener = units.NewOpener(v.Meter, &v.main, host.Problem)
	v.opener.Whole = true
	return v
}

// Linked maps addresses of an object to where a linker put its functions and variables. To reports false for what
// the linker dropped.
type Linked interface {
	To(addr uint64) (uint64, bool)
}

// Object makes the reader read units of an object, which has its own code and budget, until the next call.
func (v *Reader) Object(code *codemap.Map, linked Linked, effort *dwarf.Effort) {
	v.Reset()
	v.raw.clear()
	v.nameAt.clear()
	v.code, v.linked, *v.Meter = code, linked, dwarf.Meter{Effort: effort}
}

// rva converts an address of the file being read to an RVA of the module. It reports false if the linker dropped
// it.
func (v *Reader) rva(addr uint64) (vars.RVA, bool) {
	if v.linked == nil {
		return v.module.RVA(addr), true
	}
	to, ok := v.linked.To(addr)
	return v.module.RVA(to), ok
}

// Reset drops state that would make the result depend on which units the worker read before.
func (v *Reader) Reset() {
	v.tables.Reset()
	v.opener.Close()
	v.typeOf.clear()
	v.namedOf.clear()
	v.Meter.Flush()
}

// Finish drops what is needed only while units are read.
func (v *Reader) Finish() {
	v.Meter.Flush()
	v.Freeze()
	*v = Reader{Meter: v.Meter, Records: v.Records}
}

// Unit reads the variables of the host's current unit, own. funcs are the offsets of its functions in .debug_info.
func (v *Reader) Unit(own *units.Unit, data []byte, skeleton *dwarf.Unit, funcs []uint64) {
	d, h := own.D, &own.Header
	if v.Meter.Exhausted {
		return
	}
	if v.skeleton = skeleton; skeleton != nil { // every other half is in a different file
		v.Reset()
	}
	v.firstFn = v.Funcs()
	defer v.leave(d, h)
	if v.open(d, h, data) != nil {
		return // the pass over functions reports it
	}
	v.main.Starts = own.Starts
	if v.skeleton != nil {
		v.main.Join(v.skeleton)
	}
	v.rust = v.rust || v.main.Lang == dw.LangRust
	if v.rawSize != h.AddrSize {
		v.raw.clear()
		v.rawSize = h.AddrSize
	}
	for _, off := range funcs {
		if err := v.function(int(off - h.Off)); err != nil {
			if !v.Meter.Exhausted {
				v.host.Problem(h.Off, "variables of "+v.main.OwnName()+" from there on", err)
			}
			break
		}
	}
	v.endUnit()
}

// open opens the unit that is read.
func (v *Reader) open(d *units.Data, h *dwarf.Header, data []byte) error {
	t, cost, err := v.tables.Get(&d.Sections, h)
	v.Meter.Spend(cost)
	if err != nil {
		return err
	}
	return v.main.Open(d, h, data, t, v.Meter)
}

// leave, which is deferred, drops the unit, and its functions if reading it panicked.
func (v *Reader) leave(d *units.Data, h *dwarf.Header) {
	v.top = 0
	v.varOf.clear()
	clear(v.labels)
	v.abstractOf.clear()
	v.abstract, v.abstractEnds = v.abstract[:0], v.abstractEnds[:0]
	clear(v.callees)
	clear(v.bad)
	v.vars, v.depth, v.decoding = v.vars[:0], 0, 0
	if p := recover(); p != nil {
		v.DropFuncs(v.firstFn)
		v.host.Problem(h.Off, fmt.Sprintf("variables of the unit at %#x", h.Off),
			&bin.Error{File: d.File, Section: ".debug_info", Offset: h.Off, Msg: fmt.Sprintf("internal error: %v", p)})
	}
}

// function reads the variables of the function at pos.
func (v *Reader) function(pos int) error {
	u := &v.main
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
	spans, _ := u.Spans(low, d.Value(dw.AtHighPC), ranges, nil)
	if spans = v.code.Keep(spans); len(spans) == 0 {
		return nil
	}
	entry := spans[0].Lo // compilers list the piece with the entry first
	if addr, ok := u.Address(low); ok {
		entry = addr
	}
	spans = dwarf.Tidy(spans)
	f := &v.fn
	f.Reset(spans[0].Lo, len(spans) == 1)
	if v.linked != nil {
		to, ok := v.linked.To(f.Entry)
		if !ok || len(spans) > 1 {
			return nil // dropped; Mach-O has no functions in several pieces, which might have been moved apart
		}
		f.Moved = to - f.Entry
	}
	f.Language = languages[u.Lang]
	off := u.Off + uint64(pos)
	if a := d.Attr(dw.AtFrameBase); a != nil {
		f.Frame = v.frameBase(a, dieKey{u.D, off})
	}
	f.Entry = entry
	v.addTargets(d, entry+f.Moved)
	if d.Children {
		if _, err = v.scope(body, 0); err != nil {
			return err
		}
		v.inherited(d, 0)
	}
	id := varjoin.FuncID{Key: u.D.Tag | off}
	if v.skeleton != nil {
		id = varjoin.FuncID{Key: v.skeleton.Off, Sub: off}
	}
	v.Meter.Spend(uint64(v.AddFunc(id, f)))
	return nil
}

// frameBase returns the expression of the DW_AT_frame_base of the function at key. A list, which gcc generates for
// DWARF 2, becomes the location of an unnamed variable that has the function's DIE as its declaration.
func (v *Reader) frameBase(a *dwarf.Attr, key dieKey) vars.ExprID {
	u := &v.main
	if code, ok := u.Block(a); ok {
		return v.expr(u, code)
	}
	if !a.IsList() {
		return 0
	}
	v.locate(a)
	v.addVariable(0, v.number(key), 0)
	return v.addExpr([]vars.Op{{Code: vars.OpCall, Label: v.label(key)}})
}

// endUnit looks up the names and types of the unit's variables.
func (v *Reader) endUnit() {
	defer v.release(v.top)
	v.records = slices.Grow(v.records[:0], len(v.vars))[:len(v.vars)]
	for _, located := range []bool{true, false} {
		v.nameOnly = !located && v.main.Lang != dw.LangGo // an interface may hold any type
		for i := range v.vars {
			if v.vars[i].located == located {
				v.release(0)
				v.records[i] = v.declared(&v.vars[i])
				v.records[i].Located = located
			}
		}
	}
	v.nameOnly = false
	if v.skeleton != nil {
		v.readMembers()
	}
	v.unread = v.unread[:0] // others are read after all units
	if len(v.labels) > 0 {  // reading types may have assigned labels
		for i := range v.vars {
			v.records[i].Label = v.labels[v.vars[i].key]
		}
	}
	v.EndUnit(v.records)
}

// declaration is a variable of the current unit.
type declaration struct {
	key   dieKey
	known bool // the DIE at key was read: name, typ and these flags are set
	name  varjoin.NameID
	typ   dwarf.Value
	param bool
	made  bool // artificial

	located bool // it has a value somewhere
}

// describe fills in the declaration of a variable by its number in packed functions, unless it is known. d is the DIE
// at its key if that is in the current unit and has been read, otherwise nil.
func (v *Reader) describe(number uint32, d *dwarf.DIE) {
	to := &v.vars[number]
	if d == nil || to.known || d.Tag == dw.TagSubprogram {
		return
	}
	if to.typ = d.Value(dw.AtType); to.typ.Kind == dwarf.None {
		return // another DIE may have it
	}
	to.known, to.param, to.made = true, d.Tag == dw.TagFormalParameter, d.Flag(dw.AtArtificial)
	to.name = v.nameID(&v.main, d)
}

// declared reads the declaration of a variable.
func (v *Reader) declared(at *declaration) (r varjoin.Variable) {
	if at.known {
		return varjoin.Variable{Name: at.name, Param: at.param, Artificial: at.made, Type: v.typeAt(&v.main, at.typ)}
	}
	u, d, ok := v.dieIn(at.key.d, at.key.off)
	if !ok || !v.fitting(at.key, !isUnit(d.Tag), "a variable") {
		return r
	}
	if d.Tag == dw.TagSubprogram { // a frame base
		r.Artificial = true
		return r
	}
	r.Name = v.nameID(u, d)
	r.Param, r.Artificial = d.Tag == dw.TagFormalParameter, d.Flag(dw.AtArtificial)
	typ := d.Value(dw.AtType)
	if spec := d.Value(dw.AtSpecification); typ.Kind == dwarf.None && spec.IsRef() {
		if su, sd, ok := v.dieAt(u, spec); ok {
			u, typ = su, sd.Value(dw.AtType)
			if d.Value(dw.AtName).Kind == dwarf.None {
				r.Name = v.nameID(su, sd)
			}
		}
	}
	r.Type = v.typeAt(u, typ)
	return r
}
