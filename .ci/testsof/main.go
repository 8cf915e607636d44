// testsof prints, as arguments for go test, the tests of one or more kinds and the packages that have them:
//
//	go run ./.ci/testsof oracle   tests that compare with other tools: they call testenv's Oracle, Comparing or Tool
//	go run ./.ci/testsof full     these, and tests that do more under SYMTOOL_ORACLE=full: they call OracleFull
//	go run ./.ci/testsof shared   tests that read the shared test data, and do not compare with other tools
//
// A test may make the call through other functions. Methods are matched by name only, whatever their type. The remaining
// tests do the same with and without SYMTOOL_ORACLE, or the shared data, so they need not run again.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// helpers are packages of internal whose functions tests call.
var helpers = []string{"testenv", "oracle"}

// uses maps each function of a package to the names in its body. Names of the helpers'
// functions begin with testenv. or oracle., those of methods with a dot.
type uses map[string][]string

// kind selects the tests that reach a function in reached, and none in none.
type kind struct {
	prefixes      []string
	reached, none []string
}

// Every function of testenv that does more under SYMTOOL_ORACLE=1 calls Comparing, which calls OracleFull.
var oracle, full = []string{"testenv.Comparing"}, []string{"testenv.OracleFull"}

var kinds = map[string]kind{
	"oracle": {prefixes: []string{"Test"}, reached: oracle},
	"full":   {prefixes: []string{"Test"}, reached: full},
	"shared": {prefixes: []string{"Test", "Fuzz"}, reached: []string{"testenv.sharedDir"}, none: oracle},
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("testsof: ")
	if len(os.Args) == 1 {
		log.Fatal("want oracle, full or shared")
	}
	var names, packages []string
	for _, arg := range os.Args[1:] {
		k, ok := kinds[arg]
		if !ok {
			log.Fatalf("%s: want oracle, full or shared", arg)
		}
		n, p, err := k.tests(".")
		if err != nil {
			log.Fatal(err)
		}
		if len(n) == 0 {
			log.Fatalf("no test of kind %s in this folder", arg)
		}
		names, packages = append(names, n...), append(packages, p...)
	}
	fmt.Printf("-run ^(%s)$ %s\n", strings.Join(inOrder(names), "|"), strings.Join(inOrder(packages), " "))
}

// inOrder sorts a list and removes duplicates.
func inOrder(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// tests finds the tests of a kind, and their packages, in all folders below root.
func (k kind) tests(root string) (names, packages []string, err error) {
	env := uses{}
	for _, helper := range helpers {
		found, err := readFolder(filepath.Join(root, "internal", helper), helper)
		if err != nil {
			return nil, nil, err
		}
		maps.Copy(env, found)
	}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if _, err := os.Stat(filepath.Join(path, "go.mod")); path != root && err == nil {
			return fs.SkipDir // another module
		}
		folder, err := readFolder(path, "")
		if err != nil {
			return err
		}
		before := len(names)
		for name := range folder {
			if k.has(name, folder, env) {
				names = append(names, name)
			}
		}
		if len(names) > before {
			packages = append(packages, "./"+filepath.ToSlash(path))
		}
		return nil
	})
	return names, packages, err
}

func (k kind) has(name string, folder, env uses) bool {
	return slices.ContainsFunc(k.prefixes, func(p string) bool { return strings.HasPrefix(name, p) }) &&
		reaches(name, folder, env, k.reached, map[string]bool{}) && !reaches(name, folder, env, k.none, map[string]bool{})
}

// readFolder reads the functions in the test files of a folder or, if it is a helper's, in its
// other files.
func readFolder(path, helper string) (uses, error) {
	files, err := filepath.Glob(filepath.Join(path, "*.go"))
	if err != nil {
		return nil, err
	}
	found := uses{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") == (helper != "") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, declaration := range parsed.Decls {
			if function, ok := declaration.(*ast.FuncDecl); ok && function.Body != nil {
				name := function.Name.Name
				if function.Recv != nil {
					name = "." + name
				}
				if helper != "" {
					name = helper + "." + name
				}
				found[name] = append(found[name], namesIn(function.Body, helper)...)
			}
		}
	}
	return found, nil
}

// namesIn returns the names of the functions that a function calls or passes to others. Other identifiers are
// usually variables, often with the name of a function.
func namesIn(body *ast.BlockStmt, helper string) []string {
	var names []string
	add := func(node ast.Expr) {
		switch node := node.(type) {
		case *ast.SelectorExpr:
			if of, ok := node.X.(*ast.Ident); ok && slices.Contains(helpers, of.Name) {
				names = append(names, of.Name+"."+node.Sel.Name)
			} else {
				names = append(names, "."+node.Sel.Name) // a method, or another package's function
			}
		case *ast.Ident:
			if helper != "" {
				names = append(names, helper+"."+node.Name)
			} else {
				names = append(names, node.Name)
			}
		}
	}
	ast.Inspect(body, func(node ast.Node) bool {
		if call, ok := node.(*ast.CallExpr); ok {
			add(call.Fun)
			if of, ok := call.Fun.(*ast.SelectorExpr); ok && of.Sel.Name == "Run" {
				for _, argument := range call.Args {
					add(argument)
				}
			}
		}
		return true
	})
	return names
}

// reaches reports whether a function calls one of roots, directly or through others.
func reaches(name string, folder, env uses, roots []string, seen map[string]bool) bool {
	if slices.Contains(roots, name) {
		return true
	}
	if seen[name] {
		return false
	}
	seen[name] = true
	of := folder
	if slices.ContainsFunc(helpers, func(helper string) bool { return strings.HasPrefix(name, helper+".") }) {
		of = env
	}
	return slices.ContainsFunc(of[name], func(used string) bool { return reaches(used, folder, env, roots, seen) })
}
