package main

import (
	"embed"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

//go:embed integration/symtool.*
var integrationFiles embed.FS

// integrations are the build systems with rules, by name.
var integrations = []struct{ name, file, text string }{
	{"bazel", "symtool.bzl", "Bazel 4: an aspect for all targets; breakpad_symbols(), _test, _split, _store"},
	{"cmake", "symtool.cmake", "CMake 3.20: symtool_add_symbols(), symtool_add_all_symbols()"},
	{"gn", "symtool.gni", "GN: symtool_symbols()"},
	{"make", "symtool.mk", "GNU make: symbols, check-symbols, store-symbols, split-symbols"},
	{"meson", "symtool.meson.build", "Meson 0.61: the same, of symtool_targets"},
	{"ninja", "symtool.ninja", "Ninja: rules symtool_dump, symtool_lint, symtool_store"},
}

const integrationDescription = `
NAME is one of the build systems that are listed without it. What is printed is
the text of a file for that build system, to be saved and included; its first
lines say how, and what it gives: symbol files of programs and shared libraries
that are made again only when these change, targets that check them and put them
into a store, and separate debug files.
`

func integrationCommand() *cli.Command {
	return &cli.Command{
		Name:        "integration",
		Usage:       "print the rules for a build system",
		UsageText:   "symtool integration\nsymtool integration NAME >FILE",
		Description: integrationDescription,
		Action: func(c *cli.Context) error {
			switch c.NArg() {
			case 0:
				return writeText(c.App.Writer, integrationList())
			case 1:
				text, err := integrationText(c.Args().First())
				if err != nil {
					return err
				}
				return writeText(c.App.Writer, text)
			}
			return usagef("integration", "%d operands, want at most one", c.NArg())
		},
	}
}

// integrationList has a line for each build system.
func integrationList() string {
	var b strings.Builder
	for _, it := range integrations {
		fmt.Fprintf(&b, "%-6s  %-19s  %s\n", it.name, it.file, it.text)
	}
	return b.String()
}

func integrationText(name string) (string, error) {
	for _, it := range integrations {
		if it.name == name {
			text, err := integrationFiles.ReadFile("integration/" + it.file)
			return string(text), err
		}
	}
	return "", usagef("integration", "no rules for %q: symtool integration lists what there is", name)
}
