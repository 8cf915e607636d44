// Package integration implements symtool integration, and holds the files that it prints. It is
// not an internal package because its path is public: GitHub finds the action there.
package integration

import (
	"embed"
	"fmt"
	"path"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
)

//go:embed symtool.* ci
var integrationFiles embed.FS

// integrations lists the build systems and CI systems with rules, by name.
var integrations = []integration{
	{"bazel", "symtool.bzl", "Bazel 4: an aspect for all targets; breakpad_symbols(), _test, _split, _store"},
	{"cmake", "symtool.cmake", "CMake 3.20: symtool_add_symbols(), symtool_add_all_symbols()"},
	{"container", "ci/Containerfile", "podman, docker, buildah: an image with symtool alone, built with Go or from a release"},
	{"github", "ci/github/workflow.yml", "GitHub Actions: a workflow that dumps, and lints with the action"},
	{"github-action", "ci/github/action.yml", "GitHub Actions: the action: lint, annotations, SARIF for code scanning"},
	{"gitlab", "ci/gitlab.yml", "GitLab CI: a job that lints, with reports"},
	{"gn", "symtool.gni", "GN: symtool_symbols()"},
	{"make", "symtool.mk", "GNU make: symbols, check-symbols, store-symbols, split-symbols"},
	{"meson", "symtool.meson.build", "Meson 0.61: the same, for symtool_targets"},
	{"ninja", "symtool.ninja", "Ninja: rules symtool_dump, symtool_lint, symtool_store"},
	{"pre-commit", "ci/pre-commit-config.yaml", "pre-commit 3: lint of committed symbol files"},
}

// integration is a row of the list; path is its file's.
type integration struct{ name, path, text string }

// file returns the name under which the file is to be saved.
func (i integration) file() string { return path.Base(i.path) }

const integrationDescription = `
Without NAME, the build systems and CI systems are listed. With NAME, the text
of a file for that system is printed; save and include it. Its first lines say
how, and what it provides. For build systems: symbol files of programs and
shared libraries, which are made again only if these change; targets that check
them and add them to a store; and separate debug files. For CI: lint of symbol
files, with the reports that the system shows.
`

// Command returns the command symtool integration.
func Command() *cli.Command {
	return &cli.Command{
		Name:        "integration",
		Usage:       "print rules for a build system or for CI",
		UsageText:   "symtool integration\nsymtool integration NAME >FILE",
		Description: integrationDescription,
		Action: func(c *cli.Context) error {
			switch c.NArg() {
			case 0:
				return cli.WriteText(c.App.Writer, integrationList())
			case 1:
				text, err := integrationText(c.Args().First())
				if err != nil {
					return err
				}
				return cli.WriteText(c.App.Writer, text)
			}
			return cli.Usagef("integration", "%d operands, want at most one", c.NArg())
		},
	}
}

// integrationList returns a line for each system.
func integrationList() string {
	var b strings.Builder
	for _, it := range integrations {
		fmt.Fprintf(&b, "%-13s  %-22s  %s\n", it.name, it.file(), it.text)
	}
	return b.String()
}

func integrationText(name string) (string, error) {
	var names []string
	for _, it := range integrations {
		if it.name == name {
			text, err := integrationFiles.ReadFile(it.path)
			return string(text), err
		}
		names = append(names, it.name)
	}
	return "", cli.Usagef("integration", "no rules for %q%s", name, cli.DidYouMean(name, names, "symtool integration lists them"))
}
