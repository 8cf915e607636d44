package funcs

import (
	"github.com/symtool/symtool/dwarf2sym/internal/names"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/intern"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/srcmap"
)

// Records are the results of a worker.
type Records struct {
	Names       names.Table
	Files       intern.Table
	Origins     []names.ID // by OriginID in this worker's bodies
	Funcs       []Func
	comdatKeys  []ComdatKey // of the first functions in Funcs
	Arena       symfmt.Arena
	Problems    units.Problems
	Elsewhere   units.Problems // for what skeletons stand for
	Stats       Stats
	CostlyOuter bool                  // the name of an enclosing function stays mangled, as demangling would take too much work
	Mapped      map[*srcmap.File]bool // files whose content is in the names of Files, or whose mapping failed
}

// NewRecords returns empty records.
func NewRecords() Records {
	return Records{Names: names.New()}
}

// Renumber replaces the numbers of names by the common ones.
func (r *Records) Renumber(common *names.Common) {
	if !common.Changed() {
		return
	}
	for i := range r.Funcs {
		r.Funcs[i].Name = common.Of(r.Funcs[i].Name)
	}
	for i := range r.Origins {
		r.Origins[i] = common.Of(r.Origins[i])
	}
}

// Func is a FUNC before all workers' records are joined.
type Func struct {
	Addr    uint64 // as in the file
	Size    uint64
	Key     uint64 // offset of its DIE, by which functions at the same address are ordered
	Sub     uint64 // if Key is a skeleton's: offset of the DIE in the split unit
	Name    names.ID
	Worker  uint16 // index of its Records among those that are merged
	Named   Naming
	Label   bool // from an assembly unit
	Inlined bool // something is inlined into it
	Tail    bool // continues the function of the last symbol before it
	Body    symfmt.Body
}

// Naming says where a function's name comes from.
type Naming uint8

const (
	Nameless Naming = iota
	Named           // a linkage name, or a name that is complete as it is
	Scoped          // a plain name after its scopes, without parameters
)

// Stats counts what a worker read.
type Stats struct {
	Units, SplitUnits int
	LineRows          int
	DeadFuncs         int // functions that the linker dropped
	SymbolFuncs       int // functions made from symbols
	RepairedInlines   int // pieces of functions whose inlines did not nest
}
