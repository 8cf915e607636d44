// Package version implements symtool version.
package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/text"
	releases "github.com/symtool/symtool/internal/version"
)

// Command returns the command symtool version.
func Command() *cli.Command {
	var json bool
	return &cli.Command{
		Name:      "version",
		Usage:     "print the version, and how the program was built",
		UsageText: "symtool version [flags]",
		Flags: []cli.Flag{
			cli.OneOf("format", "print `FORM`: text (default) or json", &json, cli.TextOrJSON),
		},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return cli.Usagef("version", "unexpected operand %q", c.Args().First())
			}
			info, _ := debug.ReadBuildInfo()
			b := newBuild(info)
			if !json {
				return cli.WriteText(c.App.Writer, b.text())
			}
			text, err := cli.EncodeJSON(b)
			if err != nil {
				return err
			}
			return cli.WriteText(c.App.Writer, string(text))
		},
	}
}

// build is the document that `version --format json` prints: how the program was built. Fields may
// be added, but none may change its meaning. Unknown fields are omitted.
type build struct {
	Schema   int    `json:"schema"`
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`                 // OS/CPU
	Module   string `json:"module,omitempty"`         // path of the Go module
	ModuleAt string `json:"module_version,omitempty"` // "(devel)" for a build in a folder
	VCS      string `json:"vcs,omitempty"`            // "git"
	Revision string `json:"revision,omitempty"`
	Time     string `json:"revision_time,omitempty"` // RFC 3339
	Modified bool   `json:"modified,omitempty"`      // the folder had uncommitted changes
	Flags    string `json:"build_flags,omitempty"`
}

func newBuild(info *debug.BuildInfo) *build {
	b := &build{Schema: 1, Version: releases.Version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info == nil {
		return b
	}
	b.Module, b.ModuleAt = info.Main.Path, info.Main.Version
	var flags []string
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs":
			b.VCS = s.Value
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		case "GOOS", "GOARCH", "-compiler":
		default:
			flags = append(flags, s.Key+"="+s.Value)
		}
	}
	b.Flags = strings.Join(flags, " ")
	return b
}

func (b *build) text() string {
	lines := cli.VersionLine()
	line := func(name, value string) {
		if value != "" {
			lines += fmt.Sprintf("  %-10s %s\n", name, text.Printable(value))
		}
	}
	line("module", strings.TrimSpace(b.Module+" "+b.ModuleAt))
	revision := b.Revision
	if b.Time != "" {
		revision += ", " + b.Time
	}
	if b.Modified {
		revision += ", with changes"
	}
	line("revision", revision)
	line("build", b.Flags)
	return lines
}
