package integration_test

import (
	"crypto/sha256"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/internal/version"
)

type gitlabJob struct {
	Variables map[string]string
	Script    []string
	Artifacts struct {
		When    string
		Paths   []string
		Reports map[string]string
	}
}

func readGitLab(t *testing.T) *gitlabJob {
	t.Helper()
	var jobs map[string]*gitlabJob
	decodeYAML(t, integrationOf(t, "gitlab"), &jobs)
	job := jobs["symtool-lint"]
	if len(jobs) != 1 || job == nil || len(job.Script) != 1 || job.Artifacts.When != "always" {
		t.Fatalf("%+v", jobs)
	}
	for name := range job.Variables {
		if n := strings.Count(job.Script[0], "$"+name) + strings.Count(job.Script[0], "${"+name); n == 0 {
			t.Errorf("the script has no %s", name)
		}
	}
	return job
}

// TestGitLabScript runs the script of the GitLab job with the shells of several images,
// and checks what it finds and writes, and its status.
func TestGitLabScript(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, in one goroutine only")
	}
	job := readGitLab(t)
	program := testenv.Symtool(t)
	archive := releaseArchive(t, program)
	sum := fmt.Sprintf("%x", sha256.Sum256(testenv.ReadFile(t, archive)))
	install := t.TempDir() // a go that installs the program, and records its arguments
	testenv.WriteFile(t, filepath.Join(install, "go"), "#!/bin/sh\necho \"go $* for $GOBIN\"\nln -s '"+program+"' \"$GOBIN/symtool\"\n")
	if err := os.Chmod(filepath.Join(install, "go"), 0o777); err != nil {
		t.Fatal(err)
	}
	bare := "/usr/bin:/bin"
	withProgram := filepath.Dir(program) + ":" + bare
	type variables = map[string]string
	for _, c := range []struct {
		name      string
		variables variables
		path      string
		status    int
		want      string // pattern for the output
		failed    []string
	}{
		{"good", variables{"FILES": "good.sym"}, withProgram, 0, `^\S+/symtool: symtool (.*\n)+0 errors`, nil},
		{"bad", variables{"FILES": "good.sym\nbad.sym\n"}, withProgram, 1, `bad.sym:3:\S+ SYM203 error(.*\n)+.*in 2 files`, []string{"bad.sym"}},
		{"names", variables{"FILES": "\n" + strings.Join(ciHostile, "\n") + "\n\n"}, withProgram, 1, fmt.Sprintf("in %d files", len(ciHostile)), ciHostile},
		{"folder", variables{"FILES": "folder"}, withProgram, 0, `in 1 file`, nil},
		{"absent", variables{"FILES": "nothing.sym"}, withProgram, 3, `no such file`, nil},
		{"no files", variables{"FILES": ""}, withProgram, 2, `no FILE`, nil},
		{"fail on", variables{"FILES": "poor.sym", "FAIL_ON": "warning"}, withProgram, 1, `SYM701`, []string{"poor.sym"}},
		{"min-cfi", variables{"FILES": "poor.sym", "MIN_CFI": "95"}, withProgram, 1, `error`, []string{"poor.sym"}},
		{"min-lines", variables{"FILES": "poor.sym", "MIN_LINES": "$(touch pwned)"}, withProgram, 2, `\$\(touch pwned\)`, nil},
		{"config", variables{"FILES": "poor.sym", "CONFIG": "lint $(x).toml"}, withProgram, 1, `error`, []string{"poor.sym"}},
		{"baseline", variables{"FILES": "poor.sym", "BASELINE": "`touch pwned`"}, withProgram, 3, "`touch pwned`", nil},
		{"binary", variables{"FILES": "poor.sym", "BINARY": ";touch pwned"}, withProgram, 3, ";touch pwned", nil},
		{"version", variables{"FILES": "good.sym", "VERSION": version.Version}, withProgram, 0, `0 errors`, nil},
		{"other version", variables{"FILES": "good.sym", "VERSION": "0.1"}, withProgram, 2, `want version 0\.1\n$`, nil},
		{"archive", variables{"FILES": "bad.sym", "ARCHIVE": "re lease.tar.gz", "SHA256": sum}, bare, 1, `^\S+/symtool-` + version.Version + `-linux-amd64/symtool: symtool`, []string{"bad.sym"}},
		{"checksum", variables{"FILES": "bad.sym", "ARCHIVE": "re lease.tar.gz", "SHA256": strings.Repeat("0", 64)}, bare, 2, `^symtool-lint: re lease.tar.gz has the SHA-256 ` + sum, nil},
		{"no checksum", variables{"FILES": "bad.sym", "ARCHIVE": "re lease.tar.gz"}, bare, 2, `needs SYMTOOL_SHA256`, nil},
		{"no archive", variables{"FILES": "bad.sym", "ARCHIVE": "nothing", "SHA256": sum}, bare, 2, `there is no archive nothing`, nil},
		{"text", variables{"FILES": "bad.sym", "ARCHIVE": "text", "SHA256": fmt.Sprintf("%x", sha256.Sum256([]byte("x")))}, bare, 2, `text is no release archive`, nil},
		{"nothing", variables{"FILES": "good.sym"}, bare, 2, `^symtool-lint: no symtool: give SYMTOOL_VERSION`, nil},
		{"install", variables{"FILES": "good.sym", "VERSION": version.Version}, install + ":" + bare, 0, `go install .*/cmd/symtool@v` + version.Version + ` for /`, nil},
	} {
		for _, shell := range [][]string{{"bash", "-eo", "pipefail"}, {"sh"}, {"busybox", "sh"}} {
			t.Run(c.name+"/"+shell[0], func(t *testing.T) {
				t.Parallel()
				if shell[0] == "busybox" && !testenv.OracleFull() {
					t.Skip("runs with SYMTOOL_ORACLE=full")
				}
				dir := ciProject(t)
				testenv.WriteFile(t, filepath.Join(dir, "re lease.tar.gz"), string(testenv.ReadFile(t, archive)))
				cmd := exec.Command(testenv.Tool(t, shell[0]), append(shell[1:], "-c", job.Script[0])...)
				cmd.Dir = dir
				cmd.Env = []string{"PATH=" + c.path, "HOME=" + dir, "TMPDIR=" + t.TempDir()}
				for name, value := range job.Variables {
					cmd.Env = append(cmd.Env, name+"="+value)
				}
				for name, value := range c.variables {
					if _, ok := job.Variables["SYMTOOL_"+name]; !ok {
						t.Fatalf("no variable %s", name)
					}
					cmd.Env = append(cmd.Env, "SYMTOOL_"+name+"="+value)
				}
				out, err := cmd.CombinedOutput()
				if status := cmd.ProcessState.ExitCode(); status != c.status || !regexp.MustCompile(c.want).Match(out) {
					t.Errorf("status %d (%v), want %d and %q in\n%s", status, err, c.status, c.want, out)
				}
				if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
					t.Error("a variable was run as a command")
				}
				checkGitLabReports(t, dir, job, c.status, c.failed)
			})
		}
	}
}

// checkGitLabReports checks the artifacts of a job that had a file to read.
func checkGitLabReports(t *testing.T, dir string, job *gitlabJob, status int, failed []string) {
	t.Helper()
	if status > 1 {
		return
	}
	for _, name := range job.Artifacts.Paths {
		if len(testenv.ReadFile(t, filepath.Join(dir, name))) == 0 {
			t.Errorf("%s is empty", name)
		}
	}
	var report struct {
		Suites []struct {
			Name     string `xml:"name,attr"`
			Failures int    `xml:"failures,attr"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(testenv.ReadFile(t, filepath.Join(dir, job.Artifacts.Reports["junit"])), &report); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range report.Suites {
		if s.Failures > 0 {
			got = append(got, strings.TrimPrefix(s.Name, "./"))
		}
	}
	slices.Sort(got)
	want := slices.Sorted(slices.Values(failed))
	if !slices.Equal(got, want) {
		t.Errorf("JUnit has failures of %q, want %q", got, want)
	}
	var issues []struct {
		Description, Fingerprint, Severity string
		Location                           struct{ Path string }
	}
	if err := json.Unmarshal(testenv.ReadFile(t, filepath.Join(dir, job.Artifacts.Reports["codequality"])), &issues); err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, issue := range issues {
		if issue.Severity != "info" {
			found = append(found, issue.Location.Path)
		}
	}
	slices.Sort(found)
	if found = slices.Compact(found); !slices.Equal(found, want) {
		t.Errorf("Code Quality has issues of %q, want %q", found, want)
	}
}
