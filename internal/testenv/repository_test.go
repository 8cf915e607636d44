package testenv

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// maxInput is the largest size of the fixtures in bytes: they are part of every clone.
const maxInput = 6 << 20

func TestInputSize(t *testing.T) {
	var sum int64
	err := filepath.WalkDir(Input(t), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if sum < 1<<20 || sum > maxInput {
		t.Errorf("golden/input has %d bytes, want at most %d", sum, maxInput)
	}
}

// testFunction is a function in a test file of this module.
type testFunction struct {
	file string
	decl *ast.FuncDecl
}

// testFunctions returns the functions of all tests of the module.
func testFunctions(t *testing.T) (all []testFunction) {
	t.Helper()
	root := Root(t)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata" || isModule(path)):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		functions, err := functionsOf(path, nil)
		all = append(all, functions...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// functionsOf parses a file, or its source if that is not nil.
func functionsOf(path string, source any) (all []testFunction, err error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), path, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range parsed.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
			all = append(all, testFunction{path, f})
		}
	}
	return all, nil
}

// Without seeds, go test -fuzz starts from empty input and finds little, and go test
// runs the target over nothing. Each target therefore has seeds in the repository.
func TestFuzzSeeds(t *testing.T) {
	functions, targets := testFunctions(t), 0
	for _, f := range functions {
		if !isFuzzTarget(f.decl) {
			continue
		}
		targets++
		kept, err := filepath.Glob(filepath.Join(filepath.Dir(f.file), "testdata", "fuzz", f.decl.Name.Name, "*"))
		if err != nil {
			t.Fatal(err)
		}
		if len(kept) == 0 && !addsSeeds(f, functions) {
			t.Errorf("%s: %s has seeds in the shared test data only", f.file, f.decl.Name.Name)
		}
	}
	if targets < 40 {
		t.Errorf("%d fuzz targets in the repository", targets)
	}
}

// isFuzzTarget reports whether go test runs a function as a fuzz target.
func isFuzzTarget(f *ast.FuncDecl) bool {
	return strings.HasPrefix(f.Name.Name, "Fuzz") && f.Recv == nil && len(f.Type.Params.List) == 1
}

// addsSeeds reports whether a function calls Add outside loops over the shared test data, either
// itself or in a function of its package that it passes its parameter to.
func addsSeeds(f testFunction, functions []testFunction) bool {
	return seedsIn(f.decl.Body, functions, filepath.Dir(f.file), sharedNames(f.decl.Body))
}

func seedsIn(node ast.Node, functions []testFunction, dir string, shared []string) (found bool) {
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			if isShared(n.X, shared) {
				return false
			}
		case *ast.CallExpr:
			switch fun := n.Fun.(type) {
			case *ast.SelectorExpr:
				if fun.Sel.Name == "Fuzz" {
					return false // the code that uses the seeds
				}
				found = found || fun.Sel.Name == "Add" && fmt.Sprint(fun.X) == "f"
			case *ast.Ident:
				i := slices.IndexFunc(functions, func(f testFunction) bool {
					return f.decl.Name.Name == fun.Name && f.decl.Recv == nil && filepath.Dir(f.file) == dir
				})
				if i >= 0 && len(n.Args) > 0 && fmt.Sprint(n.Args[0]) == "f" && takesF(functions[i].decl) {
					found = found || addsSeeds(functions[i], functions)
				}
			}
		}
		return !found
	})
	return found
}

// takesF reports whether the first parameter of a function is f *testing.F.
func takesF(f *ast.FuncDecl) bool {
	params := f.Type.Params.List
	if len(params) == 0 || len(params[0].Names) == 0 || params[0].Names[0].Name != "f" {
		return false
	}
	pointer, ok := params[0].Type.(*ast.StarExpr)
	return ok && fmt.Sprint(pointer.X) == "&{testing F}"
}

// sharedNames returns the variables that hold nothing but paths in the shared test data.
func sharedNames(body *ast.BlockStmt) (names []string) {
	ast.Inspect(body, func(n ast.Node) bool {
		if assigned, ok := n.(*ast.AssignStmt); ok && len(assigned.Lhs) == 1 && isShared(assigned.Rhs[0], nil) {
			names = append(names, fmt.Sprint(assigned.Lhs[0]))
		}
		return true
	})
	return names
}

// isShared reports whether an expression is a call of testenv.SharedGlob, or one of its results.
func isShared(x ast.Expr, names []string) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return slices.Contains(names, x.Name)
	case *ast.CallExpr:
		return fmt.Sprint(x.Fun) == "&{testenv SharedGlob}"
	}
	return false
}

// TestAddsSeeds checks which fuzz targets count as having seeds without the shared data.
func TestAddsSeeds(t *testing.T) {
	for body, want := range map[string]bool{
		`f.Add(1); f.Fuzz(nil)`: true,
		`f.Fuzz(nil)`:           false,
		`for _, s := range []string{"a"} { f.Add(s) }`:                              true,
		`for _, s := range testenv.SharedGlob(f, "x") { f.Add(s) }`:                 false,
		`paths := testenv.SharedGlob(f, "x"); for _, s := range paths { f.Add(s) }`: false,
		`for _, s := range append(own, testenv.SharedGlob(f, "x")...) { f.Add(s) }`: true,
		`for _, s := range testenv.SharedGlob(f, "x") { f.Add(s) }; f.Add(2)`:       true,
		`f.Fuzz(func(t *testing.T, s string) { var f set; f.Add(s) })`:              false,
		`var all set; all.Add(1); f.Fuzz(nil)`:                                      false,
		`seeds(f); f.Fuzz(nil)`:                                                     true,
		`sharedSeeds(f); f.Fuzz(nil)`:                                               false,
		`for range testenv.SharedGlob(f, "x") { seeds(f) }`:                         false,
		`other("f"); f.Fuzz(nil)`:                                                   false,
	} {
		source := "package p\nfunc FuzzX(f *testing.F) {" + body + "}\n" + `
func seeds(f *testing.F) { for range 2 { f.Add(1) } }
func sharedSeeds(f *testing.F) { for range testenv.SharedGlob(f) { f.Add(1) } }
func other(f set) { f.Add(1) }
`
		functions, err := functionsOf("p/x_test.go", source)
		if err != nil {
			t.Fatal(err)
		}
		if got := addsSeeds(functions[0], functions); got != want {
			t.Errorf("%s: %v, want %v", body, got, want)
		}
	}
}
