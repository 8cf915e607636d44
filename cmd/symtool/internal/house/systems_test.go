package house

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// otherSystems lists the systems other than Linux for which the program is built.
var otherSystems = []string{"windows", "darwin", "freebsd"}

// TestOtherSystems checks that the program and its packages compile on other systems. It
// checks types from sources, which takes seconds instead of the minutes of a build.
// TestOracleOtherSystemsBuild builds the program.
func TestOtherSystems(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, in one goroutine only")
	}
	for _, system := range otherSystems {
		t.Run(system, func(t *testing.T) {
			own := 0
			packages := map[string]*types.Package{"unsafe": types.Unsafe}
			for _, p := range listedFor(t, system) {
				if p.ImportPath != "unsafe" {
					packages[p.ImportPath] = p.checked(t, packages, true)
				}
				if p.own() {
					own++
				}
			}
			if own < 20 {
				t.Errorf("%d packages of the program, want at least 20", own)
			}
		})
	}
}

// TestOtherSystemsReportWhatIsMissing checks that TestOtherSystems detects a name that a
// system lacks.
func TestOtherSystemsReportWhatIsMissing(t *testing.T) {
	dir := t.TempDir()
	testenv.WriteFile(t, filepath.Join(dir, "a.go"), "package a\n\nfunc f() { unknown() }\n")
	p := listedPackage{ImportPath: module + "/a", Dir: dir, GoFiles: []string{"a.go"}}
	if _, err := p.types(nil, true); err == nil || !strings.Contains(err.Error(), "undefined: unknown") {
		t.Errorf("error %v", err)
	}
}

// TestOracleOtherSystemsBuild checks that the linker also accepts the program.
func TestOracleOtherSystemsBuild(t *testing.T) {
	testenv.Oracle(t)
	if !testenv.OracleFull() {
		t.Skip("takes minutes: runs with SYMTOOL_ORACLE=full")
	}
	for _, system := range otherSystems {
		cmd := exec.Command("go", "build", "-o", filepath.Join(t.TempDir(), "symtool"), "./cmd/symtool")
		cmd.Dir = testenv.Root(t)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOARCH=amd64", "GOOS="+system)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", system, err, out)
		}
	}
}

// listedPackage is a package in the output of go list.
type listedPackage struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	ImportMap  map[string]string
}

func (p *listedPackage) own() bool {
	return p.ImportPath == module || strings.HasPrefix(p.ImportPath, module+"/")
}

// listedFor lists the program's packages for a system, in the order of their imports.
func listedFor(t *testing.T, system string) (list []listedPackage) {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap", "./cmd/symtool")
	cmd.Dir = testenv.Root(t)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOARCH=amd64", "GOOS="+system)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listedPackage
		if err := dec.Decode(&p); err == io.EOF {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
}

// checked type-checks a package. bodies says whether the bodies of our own functions are
// checked, too.
func (p *listedPackage) checked(t *testing.T, packages map[string]*types.Package, bodies bool) *types.Package {
	t.Helper()
	checked, err := p.types(packages, bodies && p.own())
	if err != nil && p.own() {
		t.Errorf("%s: %v", p.ImportPath, err)
	}
	return checked
}

// parsedFiles holds the parsed files of the packages for all systems: most files belong to
// several.
var parsedFiles = struct {
	set *token.FileSet
	sync.Mutex
	byPath map[string]*ast.File
}{set: token.NewFileSet(), byPath: map[string]*ast.File{}}

// parsed parses a file once. It keeps the bodies of functions only for our own files.
func (p *listedPackage) parsed(name string) (*ast.File, error) {
	path := filepath.Join(p.Dir, name)
	parsedFiles.Lock()
	defer parsedFiles.Unlock()
	if f := parsedFiles.byPath[path]; f != nil {
		return f, nil
	}
	f, err := parser.ParseFile(parsedFiles.set, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if !p.own() {
		for _, d := range f.Decls {
			if function, ok := d.(*ast.FuncDecl); ok && function.Body != nil {
				function.Body.List = nil
			}
		}
	}
	parsedFiles.byPath[path] = f
	return f, nil
}

// types checks a package, with the bodies of functions or without. It returns the first error.
func (p *listedPackage) types(packages map[string]*types.Package, bodies bool) (*types.Package, error) {
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := p.parsed(name)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	var first error
	config := types.Config{
		Importer:         mappedImporter{packages, p.ImportMap},
		Sizes:            types.SizesFor("gc", "amd64"),
		IgnoreFuncBodies: !bodies,
		Error: func(err error) {
			if first == nil {
				first = err
			}
		},
	}
	checked, _ := config.Check(p.ImportPath, parsedFiles.set, files, nil)
	return checked, first
}

type mappedImporter struct {
	packages map[string]*types.Package
	names    map[string]string
}

func (m mappedImporter) Import(path string) (*types.Package, error) {
	if mapped, ok := m.names[path]; ok {
		path = mapped
	}
	if p := m.packages[path]; p != nil {
		return p, nil
	}
	return nil, errors.New("not listed: " + path)
}
