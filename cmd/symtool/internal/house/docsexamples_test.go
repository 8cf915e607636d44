package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// TestDocExamples compares the examples in documents with the functions that go test runs. GOLDIE_UPDATE=1
// updates the documents.
func TestDocExamples(t *testing.T) {
	n := 0
	for _, d := range documents(t) {
		changed := false
		for _, b := range slices.Backward(d.blocks) {
			if b.example == "" {
				continue
			}
			n++
			pkg, name, _ := strings.Cut(b.example, ".")
			body, ok := examples(t, pkg)[name]
			if !ok {
				t.Errorf("%s:%d: there is no %s in %s/example_test.go", d.name, b.line, name, pkg)
			} else if slices.Equal(b.text, body) {
				continue
			} else if testenv.Updating() {
				d.lines, changed = slices.Replace(d.lines, b.line, b.line+len(b.text), body...), true
			} else {
				t.Errorf("%s:%d: the code differs from that of %s in %s/example_test.go", d.name, b.line, name, pkg)
			}
		}
		if changed {
			d.write(t)
		}
	}
	if n < 6 {
		t.Errorf("%d examples in documents, want at least 6", n)
	}
}

// TestPackagesHaveExamples checks that each package in docs/library.md has an Example with output.
func TestPackagesHaveExamples(t *testing.T) {
	quoted := regexp.MustCompile("`([^`]+)`")
	n := 0
	readDocument(t, "docs/library.md").prose(func(line int, text string) {
		cell, ok := strings.CutPrefix(text, "| `")
		if !ok {
			return
		}
		cell, _, _ = strings.Cut("`"+cell, " |")
		folder := ""
		for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
			pkg := m[1]
			if folder == "" {
				folder = path.Dir(pkg)
			} else {
				pkg = path.Join(folder, pkg)
			}
			n++
			if len(examples(t, pkg)) == 0 {
				t.Errorf("docs/library.md:%d: %s has no Example", line, pkg)
			}
		}
	})
	if n < 15 {
		t.Errorf("%d packages, want at least 15", n)
	}
}

// TestPackageComments checks that each package except programs has a comment that says what it is for.
func TestPackageComments(t *testing.T) {
	documented := map[string]bool{}
	sourceFiles(t, func(pkg, file string) {
		if strings.HasSuffix(file, "_test.go") {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Error(err)
			return
		}
		if f.Name.Name != "main" {
			documented[pkg] = documented[pkg] || strings.HasPrefix(f.Doc.Text(), "Package "+f.Name.Name+" ")
		}
	})
	for pkg, ok := range documented {
		if !ok {
			t.Errorf("%s has no comment that begins with Package", pkg)
		}
	}
	if len(documented) < 40 {
		t.Errorf("%d packages, want 40 and more", len(documented))
	}
}

// examples returns the lines of the Example functions of a package, without their output. It omits
// functions without output, which go test does not run.
func examples(t *testing.T, pkg string) map[string][]string {
	t.Helper()
	file := filepath.Join(testenv.Root(t), pkg, "example_test.go")
	fset := token.NewFileSet()
	text := string(testenv.ReadFile(t, testenv.Root(t), pkg+"/example_test.go"))
	f, err := parser.ParseFile(fset, file, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, decl := range f.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || !strings.HasPrefix(fn.Name.Name, "Example") {
			continue
		}
		body := text[fset.Position(fn.Body.Lbrace).Offset+2 : fset.Position(fn.Body.Rbrace).Offset]
		code, _, printed := strings.Cut(body, "\t// Output:\n")
		if !printed {
			continue
		}
		lines := strings.Split(strings.TrimSuffix(code, "\n"), "\n")
		for i := range lines {
			lines[i] = strings.TrimPrefix(lines[i], "\t")
		}
		all[fn.Name.Name] = lines
	}
	return all
}
