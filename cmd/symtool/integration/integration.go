// Package integration is symtool integration, with the files that it prints. The folder is not an
// internal one, because its path is a name that others use: GitHub finds the action in it.
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

// integrations are the build systems, and the systems for CI, with rules, by name.
var integrations = []integration{
	{"bazel", "symtool.bzl", "Bazel 4: an aspect for all targets; breakpad_symbols(), _test, _split, _store"},
	{"cmake", "symtool.cmake", "CMake 3.20: symtool_add_symbols(), symtool_add_all_symbols()"},
	{"container", "ci/Containerfile", "podman, docker, buildah: an image of symtool alone, by Go or from a release"},
	{"github", "ci/github/workflow.yml", "GitHub Actions: a workflow that dumps, and lints by the action"},
	{"github-action", "ci/github/action.yml", "GitHub Actions: the action: lint, annotations, SARIF to code scanning"},
	{"gitlab", "ci/gitlab.yml", "GitLab CI: a job that lints, with reports"},
	{"gn", "symtool.gni", "GN: symtool_symbols()"},
	{"make", "symtool.mk", "GNU make: symbols, check-symbols, store-symbols, split-symbols"},
	{"meson", "symtool.meson.build", "Meson 0.61: the same, of symtool_targets"},
	{"ninja", "symtool.ninja", "Ninja: rules symtool_dump, symtool_lint, symtool_store"},
	{"pre-commit", "ci/pre-commit-config.yaml", "pre-commit 3: lint of symbol files that are committed"},
}

// integration is a row of the list: path is that of its file.
type integration struct{ name, path, text string }

// file is the path that the file has for itself.
func (i integration) file() string { return path.Base(i.path) }

const integrationDescription = `
Without NAME, the build systems and CI systems are listed. With NAME, the text
of a file for that system is printed; save and include it. Its first lines say
how, and what it provides. For build systems: symbol files of programs and
shared libraries, which are made again only if these change; targets that check
them and add them to a store; and separate debug files. For CI: lint of symbol
files, with the reports that the system shows.
`

// Command is symtool integration.
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

// integrationList has a line for each system.
func integrationList() string {
	var b strings.Builder
	for _, it := range integrations {
		fmt.Fprintf(&b, "%-13s  %-22s  %s\n", it.name, it.file(), it.text)
	}
	return b.String()
}

func integrationText(name string) (string, error) {
	for _, it := range integrations {
		if it.name == name {
			text, err := integrationFiles.ReadFile(it.path)
			return string(text), err
		}
	}
	return "", cli.Usagef("integration", "no rules for %q: symtool integration lists them", name)
}
