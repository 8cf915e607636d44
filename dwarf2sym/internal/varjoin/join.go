package varjoin

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/symtool/symtool/internal/intern"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/vars"
)

// Place says which function a FUNC is made from.
type Place struct {
	RVA symfmt.RVA
	FuncID
}

// joiner makes the Info of a module from the readers' Records, once the FUNCs are known.
type joiner struct {
	base      uint64 // address of RVA 0
	readers   []*Records
	info      *vars.Info
	funcs     []joinedFunc
	funcIndex pairNumbers // indices in funcs, by the halves of FuncIDs
	targets   []uint64    // the addresses of functions; ambiguous if there are several
	targetOf  pairNumbers // indices in targets, by the halves of Targets
	allExprs  vars.ExprTable
	exprs     [][]vars.ExprID // by reader; after orderExprs, the numbers used in functions
	types     [][]vars.TypeID
	baseTypes []uint32 // indices, among all types, of the base types in expressions
	baseKeys  []string // their contents
	vars      [][]vars.VarID
	groups    intern.Table  // by GroupID: the numbers of the variables
	inUse     []vars.ExprID // the expressions by number in functions - 1

	builder vars.Builder
	scopes  []joinedScope
	fn      *symfmt.Func // being packed
	inlines inlineIndex  // of fn, if it is indexed
	indexed bool
	key     []byte
	members []vars.VarID // storage of groups
	list    []vars.Entry
	locs    []vars.Location
	ranges  []vars.Range
	calls   []vars.CallSite
	params  []vars.SiteParam
	any     bool // the function has variables
}

// joinedFunc is a function of one of the readers.
type joinedFunc struct {
	reader int
	fn     *packedFunc
}

const ambiguous = ^uint64(0)

// Join fills in info with the variables of a module whose FUNCs are funcs. places lists the functions they are made
// from, in order of address. The addresses of info's RuntimeTypes are left as the offsets given to AddRuntimeType. base
// is the address of RVA 0 in the file. The readers must not be used afterwards.
func Join(info *vars.Info, funcs []symfmt.Func, places []Place, base uint64, readers []*Records) {
	j := &joiner{base: base, readers: readers, info: info}
	j.info.Groups = [][]vars.VarID{nil}
	j.groups.Intern(nil)
	j.joinTypes()
	j.joinVariables()
	j.indexFuncs()
	j.orderExprs()
	for _, p := range places {
		if from := j.find(p.FuncID); from != nil {
			from.fn.uses++
		}
	}
	for _, v := range readers { // functions may share their memory
		for i := range v.funcs {
			v.funcs[i].free()
		}
	}
	k := 0
	for i := range funcs {
		f := &funcs[i]
		for ; k < len(places) && places[k].RVA < f.RVA; k++ {
			j.used(places[k])
		}
		if k < len(places) && places[k].RVA == f.RVA {
			if fn := j.find(places[k].FuncID); fn != nil {
				j.add(f, *fn)
			}
		}
	}
	for _, v := range readers {
		*v = Records{}
	}
	j.info.Number(j.inUse)
}

// used frees the memory of a function after its last place.
func (j *joiner) used(p Place) {
	if from := j.find(p.FuncID); from != nil {
		from.fn.uses--
		from.fn.free()
	}
}

// rva converts an address of the file to an RVA.
func (j *joiner) rva(addr uint64) symfmt.RVA { return symfmt.RVA(addr - j.base) }

func (j *joiner) indexFuncs() {
	for r, v := range j.readers {
		for i := range v.funcs {
			fn := &v.funcs[i]
			if n, isNew := j.funcIndex.add(fn.id.Key, fn.id.Sub); isNew {
				j.funcs = append(j.funcs, joinedFunc{r, fn})
			} else {
				j.funcs[n] = joinedFunc{r, fn}
			}
		}
		j.addTargets(v.targets, 0)
		v.targets = nil
	}
	known := len(j.targets)
	for _, v := range j.readers {
		j.addTargets(v.symbols, known)
		v.symbols = nil
	}
}

// addTargets adds functions that calls may refer to. It does not change the first known targets.
func (j *joiner) addTargets(all []target, known int) {
	for _, t := range all {
		n, isNew := j.targetOf.add(t.die.Off, t.die.Skeleton)
		switch {
		case isNew:
			j.targets = append(j.targets, t.addr)
		case int(n) >= known && j.targets[n] != t.addr:
			j.targets[n] = ambiguous
		}
	}
}

// find returns the function with the given ID, or nil.
func (j *joiner) find(id FuncID) *joinedFunc {
	if n, ok := j.funcIndex.find(id.Key, id.Sub); ok {
		return &j.funcs[n]
	}
	return nil
}

func (j *joiner) joinVariables() {
	var index intern.Index
	var all []variable
	var names intern.Table
	for r, v := range j.readers {
		numbers := names.Join(&v.names)
		ids := make([]vars.VarID, len(v.variables))
		for i, rec := range v.variables {
			rec.name, rec.typ = numbers[rec.name], j.types[r][rec.typ]
			hash := rec.hash()
			n, ok := index.Find(hash, func(n uint32) bool { return all[n] == rec })
			if !ok {
				n = index.Add(hash)
				all = append(all, rec)
			}
			ids[i] = vars.VarID(n + 1)
		}
		j.vars = append(j.vars, ids)
		v.names, v.variables, v.exprs = intern.Table{}, nil, vars.ExprTable{}
	}
	j.info.Vars = make([]vars.Variable, 1, len(all)+1)
	for _, rec := range all {
		j.info.Vars = append(j.info.Vars, vars.Variable{Name: names.At(rec.name), Type: rec.typ, Label: rec.label,
			Param: rec.flags&isParam != 0, Artificial: rec.flags&isArtificial != 0})
	}
}

// joinedScope is a scope that is open in the Builder, or that is left out.
type joinedScope struct {
	level  uint64
	depth  uint32 // inlined calls around its variables
	start  uint64
	end    uint64
	absent bool
}

// add packs the variables of a FUNC.
func (j *joiner) add(f *symfmt.Func, from joinedFunc) {
	u := unpacker{data: from.fn.data, end: from.fn.base}
	lo := uint64(f.RVA) + j.base
	hi := lo + f.Size
	frame := j.exprs[from.reader][u.number()]
	language := vars.Language(u.number())
	entry := from.fn.base + uint64(u.signed())
	j.fn, j.indexed = f, false
	j.builder.Reset(f.RVA)
	j.scopes, j.any = j.scopes[:0], false
	for n := u.number(); n > 0; n-- {
		j.scope(&u, from, lo, hi)
	}
	j.leave(0)
	sites := j.sites(&u, from, f, lo, hi)
	if j.any || sites {
		j.info.Funcs = append(j.info.Funcs, vars.Func{RVA: f.RVA, Size: f.Size, FrameBase: frame, Language: language, EntryAt: int64(entry - lo), Body: j.builder.Finish()})
	}
}

// leave ends the scopes down to a level.
func (j *joiner) leave(level uint64) {
	for n := len(j.scopes); n > 0 && j.scopes[n-1].level >= level; n-- {
		if !j.scopes[n-1].absent {
			j.builder.End()
		}
		j.scopes = j.scopes[:n-1]
	}
}

// scope packs the next scope of a function. [lo, hi) is the FUNC's part of the function.
func (j *joiner) scope(u *unpacker, from joinedFunc, lo, hi uint64) {
	kind := vars.ScopeKind(u.byte())
	isHull := kind == hullScope
	if isHull {
		kind = vars.InlineScope
	}
	s := joinedScope{level: u.number(), start: lo, end: hi}
	j.leave(s.level)
	var around joinedScope
	if n := len(j.scopes); n > 0 {
		around = j.scopes[n-1]
		s.depth, s.absent = around.depth, around.absent
	}
	ranges := j.ranges[:0]
	for n := u.number(); n > 0; n-- {
		a, b := u.span()
		cut := isHull && a < lo // the start of the INLINE is then unknown
		if a, b = max(a, lo), min(b, hi); a < b && !cut {
			if len(ranges) == 0 {
				s.start = a
			}
			s.end = b
			ranges = append(ranges, vars.Range{Lo: int64(a - lo), Hi: int64(b - lo)})
		}
	}
	j.ranges = ranges
	if kind != vars.FuncScope && len(ranges) == 0 {
		s.absent = true
	}
	inline := 0
	if kind == vars.InlineScope && !s.absent {
		if !j.indexed {
			j.inlines.fill(j.fn)
			j.indexed = true
		}
		if in := j.inlines.find(s.depth, j.rva(s.start)); in == nil {
			s.absent = true
		} else {
			inline = in.number
			s.end = s.start + in.size
		}
		s.depth++
	}
	j.scopes = append(j.scopes, s)
	j.variables(u, from, &s, lo)
	if s.absent {
		return
	}
	group := j.group()
	switch kind {
	case vars.FuncScope:
		j.builder.Func(group)
	case vars.InlineScope:
		j.builder.Inline(inline, group)
	case vars.BlockScope:
		j.builder.Block(ranges, group)
	}
	j.any = j.any || group != 0
	for i := range j.locs {
		j.builder.Location(&j.locs[i])
	}
}

// variables reads the variables of a scope. It sets j.key, which identifies their group, and j.locs, their locations
// relative to base, the start of the FUNC.
func (j *joiner) variables(u *unpacker, from joinedFunc, s *joinedScope, base uint64) {
	v := j.readers[from.reader]
	remap := v.units[from.fn.unit]
	exprs := j.exprs[from.reader]
	j.key, j.locs = j.key[:0], j.locs[:0]
	list := j.list[:0]
	for n := u.number(); n > 0; n-- {
		j.key = binary.LittleEndian.AppendUint32(j.key, uint32(j.vars[from.reader][remap[u.number()]]))
		var l vars.Location
		switch n := u.number(); n {
		case 0:
		case 1:
			l.Whole = exprs[u.number()]
		default:
			first := len(list)
			for ; n > 1; n-- {
				lo, hi := u.span()
				expr := exprs[u.number()]
				if s.absent {
					continue
				}
				if lo, hi = max(lo, s.start), min(hi, s.end); lo >= hi {
					continue
				}
				r := vars.Range{Lo: int64(lo - base), Hi: int64(hi - base)}
				if k := len(list); k > first && list[k-1].Expr == expr && list[k-1].Hi == r.Lo {
					list[k-1].Hi = r.Hi
					continue
				}
				list = append(list, vars.Entry{Range: r, Expr: expr})
			}
			l.List = list[first:len(list):len(list)]
			if len(l.List) == 1 && l.List[0].Range == (vars.Range{Lo: int64(s.start - base), Hi: int64(s.end - base)}) {
				l = vars.Location{Whole: l.List[0].Expr}
			}
		}
		j.locs = append(j.locs, l)
	}
	j.list = list
}

const membersChunk = 4 << 10

// group returns the number of the group that j.key identifies.
func (j *joiner) group() vars.GroupID {
	if len(j.key) == 0 {
		return 0
	}
	id := vars.GroupID(j.groups.Intern(j.key))
	if int(id) < len(j.info.Groups) {
		return id
	}
	if len(j.members)+len(j.key)/4 > cap(j.members) {
		j.members = make([]vars.VarID, 0, max(membersChunk, len(j.key)/4))
	}
	from := len(j.members)
	for i := 0; i < len(j.key); i += 4 {
		j.members = append(j.members, vars.VarID(binary.LittleEndian.Uint32(j.key[i:])))
	}
	j.info.Groups = append(j.info.Groups, j.members[from:len(j.members):len(j.members)])
	return id
}

// sites packs the calls in [lo, hi). It reports whether there are any.
func (j *joiner) sites(u *unpacker, from joinedFunc, f *symfmt.Func, lo, hi uint64) bool {
	exprs := j.exprs[from.reader]
	all, params := j.calls[:0], j.params[:0]
	for n := u.number(); n > 0; n-- {
		ret := from.fn.base + uint64(u.signed())
		s := vars.CallSite{Return: j.rva(ret), Tail: u.byte() != 0}
		key := Target{u.number(), u.number()}
		s.TargetAt = exprs[u.number()]
		if key != (Target{}) && s.TargetAt == 0 {
			if n, ok := j.targetOf.find(key.Off, key.Skeleton); ok && j.targets[n] != ambiguous {
				s.Target, s.HasTarget = j.rva(j.targets[n]), true
			}
		}
		first := len(params)
		for k := u.number(); k > 0; k-- {
			loc := exprs[u.number()]
			params = append(params, vars.SiteParam{Location: loc, Value: exprs[u.number()]})
		}
		s.Params = params[first:len(params):len(params)]
		if lo < ret && ret <= hi {
			all = append(all, s)
		}
	}
	j.calls, j.params = all, params
	slices.SortStableFunc(all, func(a, b vars.CallSite) int { return cmp.Compare(a.Return, b.Return) })
	for i := range all {
		if i == 0 || all[i].Return != all[i-1].Return {
			j.builder.Site(&all[i])
		}
	}
	return len(all) > 0
}
