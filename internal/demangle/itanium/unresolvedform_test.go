package itanium

import (
	"errors"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"github.com/symtool/symtool/internal/demangle/mangled"
)

// The library counts some of the types and templates in unresolved names (sr) that the ABI
// does not count, and leaves out some that it does, so that the wrong types come after
// them. So that it can be a second opinion about such names, both of their forms, clang's
// and GCC's, are rewritten in another form, which it counts correctly, and what it has read
// is changed back:
//
//	dt il <simple-id>+ E <name>   for {<simple-id>, ...}.<name>
//	dt st <type> <name>           for sizeof(<type>).<name>
//
// Neither is C++.

// unresolvedForm is how a compiler mangles unresolved names.
type unresolvedForm struct{ beforeID, beforeDependent, beforeType string }

var (
	clangForm = unresolvedForm{"dtil", "dtilst", "dtst"}
	gccForm   = unresolvedForm{"dtst", "dtstN", "dtst"}
)

// maxUnresolved bounds how many unresolved names are looked for in a name.
const maxUnresolved = 256

var errNotUnresolved = errors.New("not the form of this name")

// cxxTrees parses a C++ name. There are two trees where it may be clang's or GCC's: if
// the two mean different functions, nothing says which one is meant.
func cxxTrees(raw string, options []demangle.Option) ([]demangle.AST, error) {
	places := unresolvedPlaces(raw)
	if len(places) == 0 {
		tree, err := demangle.ToAST(raw, options...)
		return []demangle.AST{tree}, err
	}
	ids := 0
	for _, at := range places {
		if mangled.IsDigit(raw[at+2]) {
			ids++
		}
	}
	clang, clangErr := clangForm.tree(raw, places, options)
	if clangErr == nil && ids == len(places) {
		return []demangle.AST{clang}, nil
	}
	gcc, gccErr := gccForm.tree(raw, places, options)
	switch {
	case clangErr != nil:
		return []demangle.AST{gcc}, gccErr
	case gccErr != nil:
		return []demangle.AST{clang}, nil
	}
	return []demangle.AST{clang, gcc}, nil
}

// isDependent reports whether a member of a template parameter, or of another type
// that is not spelled out, follows sr.
func isDependent(rest string) bool {
	return len(rest) > 2 && rest[0] == 'N' && (rest[1] == 'T' || rest[1] == 'D' || rest[1] == 'S' && rest[2] != 't')
}

// tree parses a name with unresolved names at places.
func (f unresolvedForm) tree(raw string, places []int, options []demangle.Option) (demangle.AST, error) {
	var b strings.Builder
	b.Grow(len(raw) + 4*len(places))
	from := 0
	for _, at := range places {
		b.WriteString(raw[from:at])
		from = at + len("sr")
		switch {
		case mangled.IsDigit(raw[from]):
			b.WriteString(f.beforeID)
		case isDependent(raw[from:]):
			b.WriteString(f.beforeDependent)
			from++
		default:
			b.WriteString(f.beforeType)
		}
	}
	b.WriteString(raw[from:])
	tree, err := demangle.ToAST(b.String(), options...)
	if err != nil {
		return nil, err
	}
	r := unresolvedReader{limit: mangled.StepsAllowed(raw)}
	if changed := tree.Copy(r.restore, r.skip); changed != nil {
		tree = changed
	}
	// Parts that the name refers to again may be copies.
	if len(r.found) < len(places) || r.nodes > r.limit {
		return nil, errNotUnresolved
	}
	return tree, nil
}

// unresolvedReader changes what stands for unresolved names into them.
type unresolvedReader struct {
	nodes int
	limit int
	found map[*demangle.Binary]bool
}

// skip is called with each part of the tree before it is copied. It returns true to end
// the copying of a tree whose parts stand in too many places.
func (r *unresolvedReader) skip(a demangle.AST) bool {
	if member, _ := unresolvedMember(a); member != nil {
		if r.found == nil {
			r.found = map[*demangle.Binary]bool{}
		}
		r.found[member] = true
	}
	r.nodes++
	return r.nodes > r.limit
}

// restore returns what replaces a part of the tree, or nil to keep the part. It was
// called with the part's own parts before.
func (r *unresolvedReader) restore(a demangle.AST) demangle.AST {
	if member, scope := unresolvedMember(a); member != nil {
		return &demangle.Qualified{Scope: scope, Name: member.Right}
	}
	return nil
}

// unresolvedMember returns a and the scope that its left side stands for if a stands for
// an unresolved name.
func unresolvedMember(a demangle.AST) (*demangle.Binary, demangle.AST) {
	member, ok := a.(*demangle.Binary)
	if !ok {
		return nil, nil
	}
	if op, ok := member.Op.(*demangle.Operator); ok && op.Name == "." {
		if scope := unresolvedScope(member.Left); scope != nil {
			return member, scope
		}
	}
	return nil, nil
}

// unresolvedScope returns the scope that the left side of a member stands for, or nil.
func unresolvedScope(a demangle.AST) demangle.AST {
	switch a := a.(type) {
	case *demangle.Unary:
		if op, ok := a.Op.(*demangle.Operator); ok && op.Name == "sizeof " && a.SizeofType {
			return a.Expr
		}
	case *demangle.InitializerList:
		list, ok := a.Exprs.(*demangle.ExprList)
		if !ok || a.Type != nil || len(list.Exprs) == 0 {
			return nil
		}
		scope := list.Exprs[0]
		if u, ok := scope.(*demangle.Unary); ok {
			if scope = unresolvedScope(u); scope == nil {
				return nil
			}
		}
		for _, id := range list.Exprs[1:] {
			scope = &demangle.Qualified{Scope: scope, Name: id}
		}
		return scope
	}
	return nil
}
