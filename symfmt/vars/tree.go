package vars

import "iter"

// Location says where a variable is while the code of its scope runs.
type Location struct {
	Whole ExprID  // the same in the whole scope; otherwise 0
	List  []Entry // by address; elsewhere it has no location
}

// Entry says where a variable is in a range of addresses.
type Entry struct {
	Range
	Expr ExprID
}

// Block is a scope with all its contents, for code that examines everything. Evaluation does not
// need it.
type Block struct {
	Kind   ScopeKind
	Inline int     // InlineScope: the index of the INLINE record in its FUNC; otherwise -1
	Ranges []Range // BlockScope: sorted
	Group  GroupID
	Vars   []Location // of the variables of the group
	Blocks []Block
}

// Tree returns the scopes of f, a function of in, or nil if there are none.
func (f *Func) Tree(in *Info) *Block {
	if f.Body.scopes == "" {
		return nil
	}
	t := treeReader{info: in}
	t.unpacker, t.bounds = f.Body.unpack(nil)
	root := t.block()
	return &root
}

// treeReader unpacks a whole body.
type treeReader struct {
	unpacker
	info   *Info
	bounds []int64
}

func (t *treeReader) block() Block {
	defer func(cursor int64) { t.cursor = cursor }(t.cursor)
	b := Block{Kind: ScopeKind(t.byte() - 1), Inline: -1}
	switch b.Kind {
	case InlineScope:
		b.Inline = t.inline()
	case BlockScope:
		for i, n := uint64(0), t.uvarint(); i < n; i++ {
			b.Ranges = append(b.Ranges, t.spanAt(i == 0))
		}
	}
	b.Group = GroupID(t.uvarint())
	b.Vars = make([]Location, len(t.info.Groups[b.Group]))
	for i := range b.Vars {
		b.Vars[i] = t.location()
	}
	for t.data[0] != 0 {
		b.Blocks = append(b.Blocks, t.block())
	}
	t.byte()
	return b
}

func (t *treeReader) spanAt(first bool) Range {
	lo, hi := t.span(first)
	return Range{t.bounds[lo], t.bounds[hi]}
}

func (t *treeReader) location() (l Location) {
	n := t.uvarint()
	switch n {
	case 0:
	case 1:
		l.Whole = ExprID(t.uvarint())
	default:
		for i := uint64(1); i < n; i++ {
			r := t.spanAt(i == 1)
			l.List = append(l.List, Entry{r, ExprID(t.uvarint())})
		}
	}
	return l
}

// CallSites yields the call sites of a function, in order of their return addresses.
func (f *Func) CallSites() iter.Seq[CallSite] {
	return func(yield func(CallSite) bool) {
		u, n := f.sites()
		for ret := f.RVA; n > 0; n-- {
			s := u.site(f.RVA, ret, nil)
			if !yield(s) {
				return
			}
			ret = s.Return
		}
	}
}

// sites returns an unpacker of the call sites of f, and their number.
func (f *Func) sites() (unpacker, uint64) {
	u := unpacker{data: f.Body.sites}
	if u.data == "" {
		return u, 0
	}
	return u, u.uvarint()
}

// site reads the call site of a function at rva after the one with the return address ret. Its arguments are
// appended to params.
func (u *unpacker) site(rva, ret RVA, params []SiteParam) CallSite {
	s := CallSite{Return: ret + RVA(u.uvarint()), Params: params}
	flags := u.uvarint()
	s.Tail, s.HasTarget = flags&siteTail != 0, flags&siteTarget != 0
	if s.HasTarget {
		s.Target = rva + RVA(u.varint())
	}
	if flags&siteTargetAt != 0 {
		s.TargetAt = ExprID(u.uvarint())
	}
	for n := u.uvarint(); n > 0; n-- {
		loc := ExprID(u.uvarint())
		s.Params = append(s.Params, SiteParam{loc, ExprID(u.uvarint())})
	}
	return s
}
