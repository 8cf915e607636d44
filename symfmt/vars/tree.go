package vars

import "iter"

// Location says where a variable is while the code of its scope runs.
type Location struct {
	Whole ExprID  // the same in the whole scope; otherwise 0
	List  []Entry // by address; elsewhere it has no location
}

// Entry says where a variable is in a range of addresses, relative to the start of its scope.
type Entry struct {
	Range
	Expr ExprID
}

// at returns the expression that applies at an offset from the start of the scope. Of several
// entries, the first applies.
func (l *Location) at(off int64) ExprID {
	for i := range l.List {
		if l.List[i].Lo <= off && off < l.List[i].Hi {
			return l.List[i].Expr
		}
	}
	return l.Whole
}

// Block is a scope with all its contents, for code that examines everything. Evaluation does not
// need it.
type Block struct {
	Kind   ScopeKind
	Inline int     // InlineScope: the index of the INLINE record in its FUNC; otherwise -1
	Ranges []Range // BlockScope: sorted; relative to the start of the enclosing scope
	Group  GroupID
	Vars   []Location // of the variables of the group
	Blocks []Block
}

// Tree returns the scopes of a function of in; nil if there are none.
func (f *Func) Tree(in *Info) *Block {
	if f.Body.scopes == "" {
		return nil
	}
	u := unpacker{data: f.Body.scopes, lastInline: -1}
	root := u.block(in)
	return &root
}

func (u *unpacker) block(in *Info) Block {
	b := Block{Kind: ScopeKind(u.byte() - 1), Inline: -1}
	switch b.Kind {
	case InlineScope:
		b.Inline = u.inline()
	case BlockScope:
		b.Ranges = u.ranges(nil)
	}
	b.Group = GroupID(u.uvarint())
	group := in.Groups[b.Group]
	b.Vars = make([]Location, len(group))
	for i := range group {
		b.Vars[i] = u.location(nil)
	}
	for u.data[0] != 0 {
		b.Blocks = append(b.Blocks, u.block(in))
	}
	u.byte()
	return b
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
