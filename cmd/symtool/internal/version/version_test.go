package version

import (
	"bytes"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/testenv"
	releases "github.com/symtool/symtool/internal/version"
)

func TestBuild(t *testing.T) {
	b := newBuild(&debug.BuildInfo{
		Main: debug.Module{Path: "github.com/symtool/symtool", Version: "v1.2.3"},
		Settings: []debug.BuildSetting{
			{Key: "-compiler", Value: "gc"}, {Key: "CGO_ENABLED", Value: "0"}, {Key: "-trimpath", Value: "true"}, {Key: "GOOS", Value: "x"},
			{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "0123abc"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"},
			{Key: "vcs.modified", Value: "true"},
		},
	})
	want := releases.Generator + " (" + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH + ")\n" +
		"  module     github.com/symtool/symtool v1.2.3\n" +
		"  revision   0123abc, 2026-01-02T03:04:05Z, with changes\n" +
		"  build      CGO_ENABLED=0 -trimpath=true\n"
	if got := b.text(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got, want := newBuild(nil).text(), cli.VersionLine(); got != want {
		t.Errorf("without information: %q, want %q", got, want)
	}
}

// TestBuildOracle checks that the version has the settings that `go version -m` reads
// from the program.
func TestBuildOracle(t *testing.T) {
	testenv.Oracle(t)
	program := testenv.Symtool(t)
	want, err := exec.Command("go", "version", "-m", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	got, err := exec.Command(program, "version").Output()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(want)) {
		fields := strings.Fields(line)
		var value string
		switch {
		case fields[0] == "mod":
			value = fields[1] + " " + fields[2]
		case fields[0] == "build" && strings.HasPrefix(fields[1], "vcs.revision="):
			_, value, _ = strings.Cut(fields[1], "=")
		case fields[0] == "build" && !strings.HasPrefix(fields[1], "vcs") && !strings.HasPrefix(fields[1], "GOOS") &&
			!strings.HasPrefix(fields[1], "GOARCH") && !strings.HasPrefix(fields[1], "-compiler"):
			value = fields[1]
		default:
			continue
		}
		n++
		if !bytes.Contains(got, []byte(value)) {
			t.Errorf("no %q in\n%s", value, got)
		}
	}
	if n < 3 {
		t.Errorf("compared only %d settings with\n%s", n, want)
	}
}
