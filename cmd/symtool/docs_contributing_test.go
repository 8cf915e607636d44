package main

import (
	"fmt"
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
	if !strings.Contains(readFile(t, "CONTRIBUTING.md"), "| layer | packages |\n|---|---|\n"+want.String()+"\n") {
		t.Errorf("the table of layers in CONTRIBUTING.md differs from that of imports_test.go:\n%s", want.String())
	}
}

// TestContributingFolders checks that CONTRIBUTING.md says what is in each package's folder.
func TestContributingFolders(t *testing.T) {
	_, tree, _ := strings.Cut(readFile(t, "CONTRIBUTING.md"), "| folder | what is in it |\n")
	tree, _, _ = strings.Cut(tree, "\n\n")
	for _, pkg := range slices.Concat(layers...) {
		if !strings.HasPrefix(pkg, "internal/") && !strings.Contains(tree, "`"+pkg+"`") {
			t.Errorf("CONTRIBUTING.md does not say what is in %s", pkg)
		}
	}
}

var docPath = regexp.MustCompile("`([\\w.-]+(?:/[\\w.-]+)*)/?`")

// TestDocPaths checks that the files and folders of the repository that the documents name
// are there. A name counts if it begins with a folder of the repository's root.
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
