package house

import (
	"fmt"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// TestContributingLayers checks that CONTRIBUTING.md has the layers of imports_test.go.
func TestContributingLayers(t *testing.T) {
	var want strings.Builder
	for i, packages := range layers {
		if len(packages) > 0 {
			fmt.Fprintf(&want, "| %d | `%s` |\n", i, strings.Join(packages, "`, `"))
		}
	}
	if !strings.Contains(string(testenv.ReadFile(t, testenv.Root(t), "CONTRIBUTING.md")), "| layer | packages |\n|---|---|\n"+want.String()+"\n") {
		t.Errorf("the table of layers in CONTRIBUTING.md differs from that of imports_test.go:\n%s", want.String())
	}
}

// TestContributingPackages checks that CONTRIBUTING.md says what each package does, in the first sentence of its
// documentation.
func TestContributingPackages(t *testing.T) {
	docs := map[string]string{}
	sourceFiles(t, func(pkg, file string) {
		if strings.HasSuffix(file, "_test.go") || docs[pkg] != "" {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Error(err)
		} else if f.Doc != nil {
			docs[pkg] = strings.TrimSuffix(new(doc.Package).Synopsis(f.Doc.Text()), ".")
		}
	})
	var want strings.Builder
	for _, pkg := range slices.Sorted(slices.Values(slices.Concat(layers...))) {
		_, does, _ := strings.Cut(docs[pkg], " ") // Package or Command
		_, does, _ = strings.Cut(does, " ")
		if does == "" {
			t.Errorf("%s has no documentation", pkg)
		}
		fmt.Fprintf(&want, "| `%s` | %s |\n", pkg, does)
	}
	if !strings.Contains(string(testenv.ReadFile(t, testenv.Root(t), "CONTRIBUTING.md")), "| package | what it does |\n|---|---|\n"+want.String()+"\n") {
		t.Errorf("the table of packages in CONTRIBUTING.md differs from their documentation:\n%s", want.String())
	}
}

var pictureLine = regexp.MustCompile(`^    ( *)([a-z0-9]+(?:/[a-z0-9]+)+|[a-z0-9]+) {2,}\S`)

// TestContributingPictures checks that each package in the pictures of CONTRIBUTING.md imports the packages drawn
// below it.
func TestContributingPictures(t *testing.T) {
	imports := map[string]map[string]bool{}
	sourceFiles(t, func(pkg, file string) {
		if strings.HasSuffix(file, "_test.go") {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Error(err)
			return
		}
		if imports[pkg] == nil {
			imports[pkg] = map[string]bool{}
		}
		for _, spec := range f.Imports {
			imports[pkg][strings.TrimPrefix(strings.Trim(spec.Path.Value, `"`), module+"/")] = true
		}
	})
	_, text, _ := strings.Cut(string(testenv.ReadFile(t, testenv.Root(t), "CONTRIBUTING.md")), "Each line of these is a package")
	text, _, _ = strings.Cut(text, "Four rules about the models:")
	var above []string
	arrows := 0
	for line := range strings.Lines(text) {
		m := pictureLine.FindStringSubmatch(line)
		if m == nil {
			above = nil
			continue
		}
		depth := len(m[1]) / 2
		if depth > len(above) {
			t.Fatalf("%q has no package above it", line)
		}
		above = append(above[:depth], m[2])
		if depth == 0 {
			continue
		}
		arrows++
		if from := above[depth-1]; !imports[from][m[2]] {
			t.Errorf("%s is drawn below %s, which does not import it", m[2], from)
		}
	}
	if arrows < 20 {
		t.Errorf("only %d arrows", arrows)
	}
}

var docPath = regexp.MustCompile("`([\\w.-]+(?:/[\\w.-]+)*)/?`")

// TestDocPaths checks that the files and folders of the repository that the documents name exist. A name is checked
// if it begins with a folder in the repository's root.
func TestDocPaths(t *testing.T) {
	n := 0
	for _, d := range documents(t) {
		d.prose(func(line int, text string) {
			for _, m := range docPath.FindAllStringSubmatch(text, -1) {
				first, _, below := strings.Cut(m[1], "/")
				if info, err := os.Stat(filepath.Join(testenv.Root(t), first)); !below || first == "build" || !filepath.IsLocal(m[1]) || err != nil || !info.IsDir() {
					continue
				}
				n++
				if _, err := os.Stat(filepath.Join(testenv.Root(t), m[1])); err != nil {
					t.Errorf("%s:%d: %v", d.name, line, err)
				}
			}
		})
	}
	if n < 60 {
		t.Errorf("only %d paths", n)
	}
}
