package house

import (
	"fmt"
	"go/types"
	"slices"
	"strings"
	"testing"
)

// TestPublicAPI checks that a program that imports a public package can name every type in its
// API, and read its documentation: no type is declared in an internal package, even under an alias.
func TestPublicAPI(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, in one goroutine only")
	}
	public := 0
	packages := map[string]*types.Package{"unsafe": types.Unsafe}
	for _, p := range listedFor(t, "linux") {
		if p.ImportPath == "unsafe" {
			continue
		}
		packages[p.ImportPath] = p.checked(t, packages, false)
		if p.own() && !internalPath(p.ImportPath) && !strings.HasPrefix(p.ImportPath, module+"/cmd/") {
			public++
			for _, leak := range leaks(packages[p.ImportPath]) {
				t.Errorf("%s: %s", p.ImportPath, leak)
			}
		}
	}
	if public < 15 {
		t.Errorf("%d public packages, want at least 15", public)
	}
}

// TestPublicAPIFindsLeaks checks that TestPublicAPI finds internal types anywhere in the API.
func TestPublicAPIFindsLeaks(t *testing.T) {
	hidden := types.NewPackage(module+"/internal/hidden", "hidden")
	secret := types.NewNamed(types.NewTypeName(0, hidden, "Secret", nil), types.NewStruct(nil, nil), nil)
	pkg := types.NewPackage(module+"/open", "open")
	declare := func(name string, typ types.Type) {
		pkg.Scope().Insert(types.NewTypeName(0, pkg, name, nil))
		types.NewNamed(pkg.Scope().Lookup(name).(*types.TypeName), typ, nil)
	}
	field := func(name string, typ types.Type) *types.Var { return types.NewField(0, pkg, name, typ, false) }
	declare("Shown", types.NewStruct([]*types.Var{field("A", types.NewSlice(secret)), field("b", secret)}, nil))
	declare("unseen", types.NewStruct([]*types.Var{field("A", secret)}, nil))
	signature := types.NewSignatureType(nil, nil, nil, types.NewTuple(field("", types.NewPointer(secret))), nil, false)
	pkg.Scope().Insert(types.NewFunc(0, pkg, "Take", signature))
	alias := types.NewAlias(types.NewTypeName(0, pkg, "Name", nil), secret)
	pkg.Scope().Insert(alias.Obj())
	pkg.Scope().Insert(types.NewVar(0, pkg, "Value", alias))
	declare("Asked", types.NewInterfaceType([]*types.Func{types.NewFunc(0, pkg, "Ask", signature)}, nil).Complete())
	foreign := types.NewAlias(types.NewTypeName(0, hidden, "Other", nil), types.Typ[types.Int])
	pkg.Scope().Insert(types.NewVar(0, pkg, "Counts", types.NewMap(types.Typ[types.String], foreign)))
	want := []string{
		"Asked.Ask has internal/hidden.Secret", "Counts has internal/hidden.Other",
		"Name has internal/hidden.Secret", "Shown.A has internal/hidden.Secret", "Take has internal/hidden.Secret",
		"Value has internal/hidden.Secret",
	}
	if got := leaks(pkg); !slices.Equal(got, want) {
		t.Errorf("leaks %q, want %q", got, want)
	}
}

func internalPath(path string) bool {
	return strings.HasPrefix(path, module+"/") && strings.Contains(path, "/internal/")
}

// leaks lists the exported names of a package whose types contain an internal type.
func leaks(pkg *types.Package) []string {
	l := &leakFinder{}
	for _, name := range pkg.Scope().Names() {
		obj := pkg.Scope().Lookup(name)
		if !obj.Exported() {
			continue
		}
		l.at = name
		switch typ := obj.Type().(type) {
		case *types.Alias:
			l.uses(types.Unalias(typ)) // an alias would hide an internal type's fields and methods from go doc
		case *types.Named:
			if _, ok := obj.(*types.TypeName); ok {
				l.members(typ)
				continue
			}
			l.uses(typ)
		default:
			l.uses(typ)
		}
	}
	return l.found
}

// leakFinder searches types. The search ends at named types of public packages, since each is
// searched in the package that declares it.
type leakFinder struct {
	at    string // the exported name, with its members
	found []string
}

// members searches the exported members of a named type.
func (l *leakFinder) members(typ types.Type) {
	named, ok := typ.(*types.Named)
	if !ok {
		l.uses(typ)
		return
	}
	l.uses(named.Underlying())
	for m := range named.Methods() {
		if m.Exported() {
			l.below(m.Name(), m.Type())
		}
	}
}

func (l *leakFinder) below(name string, typ types.Type) {
	at := l.at
	l.at += "." + name
	l.uses(typ)
	l.at = at
}

// declared checks the package in which a name is declared.
func (l *leakFinder) declared(name *types.TypeName) {
	if p := name.Pkg(); p != nil && internalPath(p.Path()) {
		l.found = append(l.found, fmt.Sprintf("%s has %s.%s", l.at, strings.TrimPrefix(p.Path(), module+"/"), name.Name()))
	}
}

// uses searches a type that is part of another.
func (l *leakFinder) uses(typ types.Type) {
	switch typ := typ.(type) {
	case *types.Alias:
		l.declared(typ.Obj())
	case *types.Named:
		l.declared(typ.Obj())
		for arg := range typ.TypeArgs().Types() {
			l.uses(arg)
		}
	case *types.Pointer:
		l.uses(typ.Elem())
	case *types.Slice:
		l.uses(typ.Elem())
	case *types.Array:
		l.uses(typ.Elem())
	case *types.Chan:
		l.uses(typ.Elem())
	case *types.Map:
		l.uses(typ.Key())
		l.uses(typ.Elem())
	case *types.Tuple:
		for v := range typ.Variables() {
			l.uses(v.Type())
		}
	case *types.Signature:
		l.uses(typ.Params())
		l.uses(typ.Results())
	case *types.Struct:
		for f := range typ.Fields() {
			if f.Exported() || f.Embedded() {
				l.below(f.Name(), f.Type())
			}
		}
	case *types.Interface:
		for m := range typ.Methods() {
			l.below(m.Name(), m.Type())
		}
	}
}
