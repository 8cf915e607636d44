package integration_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
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

// actionRun is a run of the action, step by step, as on GitHub.
type actionRun struct {
	dir    string // workspace
	path   string
	inputs map[string]string
	env    []string

	values map[string]string // steps.S.outputs.O and inputs.I
	status int
	output string
	upload map[string]string // the "with" of the step that uploads, nil if it did not run
}

// run runs the steps as GitHub does, up to the first step that fails.
func (r *actionRun) run(t *testing.T, action *ciAction) {
	t.Helper()
	r.values = map[string]string{}
	for name, in := range action.Inputs {
		r.values["inputs."+name] = *in.Default
	}
	for name, value := range r.inputs {
		if _, ok := action.Inputs[name]; !ok {
			t.Fatalf("no input %s", name)
		}
		r.values["inputs."+name] = value
	}
	temp := t.TempDir()
	for i, s := range action.Runs.Steps {
		if !r.holds(t, s.If) {
			continue
		}
		if s.Uses != "" {
			r.upload = map[string]string{}
			for name, value := range s.With {
				r.upload[name] = r.expand(t, value)
			}
			continue
		}
		if r.step(t, temp, i, s); r.status != 0 {
			return
		}
	}
}

func (r *actionRun) step(t *testing.T, temp string, i int, s ciStep) {
	t.Helper()
	file := func(name, text string) string {
		file := filepath.Join(temp, fmt.Sprintf("%d-%s", i, name))
		testenv.WriteFile(t, file, text)
		return file
	}
	output, path := file("output", ""), file("path", "")
	cmd := exec.Command(testenv.Tool(t, "bash"), "--noprofile", "--norc", "-eo", "pipefail", file("script.sh", s.Run))
	cmd.Dir = r.dir
	cmd.Env = append([]string{
		"PATH=" + r.path, "HOME=" + temp, "RUNNER_TEMP=" + temp, "RUNNER_OS=Linux", "RUNNER_ARCH=X64", "GITHUB_ACTION_PATH=" + temp,
		"GITHUB_OUTPUT=" + output, "GITHUB_PATH=" + path, "GITHUB_ENV=" + file("env", ""), "GITHUB_WORKSPACE=" + r.dir,
	}, r.env...)
	for name, value := range s.Env {
		cmd.Env = append(cmd.Env, name+"="+r.expand(t, value))
	}
	out, err := cmd.CombinedOutput()
	r.output += string(out)
	if err != nil {
		r.status = cmd.ProcessState.ExitCode()
	}
	for line := range strings.Lines(string(testenv.ReadFile(t, output))) {
		name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		if !ok {
			t.Fatalf("%s: output %q", s.Name, line)
		}
		r.values["steps."+s.ID+".outputs."+name] = value
	}
	for line := range strings.Lines(string(testenv.ReadFile(t, path))) {
		r.path = strings.TrimSuffix(line, "\n") + ":" + r.path
	}
}

// expand replaces expressions. Each expression is a name.
func (r *actionRun) expand(t *testing.T, text string) string {
	return ciExpression.ReplaceAllStringFunc(text, func(m string) string {
		return r.value(t, ciExpression.FindStringSubmatch(m)[1])
	})
}

func (r *actionRun) value(t *testing.T, name string) string {
	t.Helper()
	if !regexp.MustCompile(`^(inputs\.[\w-]+|steps\.\w+\.outputs\.\w+)$`).MatchString(name) {
		t.Fatalf("expression %q", name)
	}
	return r.values[name] // empty for a step that did not run
}

// holds evaluates the condition of a step: comparisons of names with texts.
func (r *actionRun) holds(t *testing.T, condition string) bool {
	t.Helper()
	if condition == "" {
		return true
	}
	m := ciExpression.FindStringSubmatch(condition)
	for part := range strings.SplitSeq(m[1], " && ") {
		p := regexp.MustCompile(`^(\S+) (==|!=) '([^']*)'$`).FindStringSubmatch(part)
		if p == nil {
			t.Fatalf("condition %q", condition)
		}
		if (r.value(t, p[1]) == p[3]) != (p[2] == "==") {
			return false
		}
	}
	return true
}

// goodSymbols has no errors, poorSymbols has one warning, badSymbols has errors.
const (
	goodSymbols = "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a\nFILE 0 a.c\nFUNC 1000 10 0 f\n1000 10 1 0\nSTACK CFI INIT 1000 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"
	poorSymbols = "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a\nFILE 0 a.c\nFUNC 1000 10 0 f\n1000 10 1 0\n"
	badSymbols  = "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a\nFUNC 1000 10 0 f\n1000 10 1 7\n"
)

// ciHostile lists file names that a shell, lint or readers of lists could misinterpret.
var ciHostile = []string{
	"a b.sym", "$(touch pwned).sym", "`touch pwned`.sym", "it's \"q\".sym", "*.sym", "-x.sym", "--write-baseline=pwned.sym", "@list.sym",
	" two  blanks .sym", "x;touch pwned;.sym", "${HOME}.sym", "a\\nb.sym", "::error::x.sym", "é.sym", "#x.sym", "%41.sym", "~.sym",
}

// ciProject returns a folder with symbol files: good.sym, poor.sym, bad.sym, and bad ones
// with hostile names.
func ciProject(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "work space")
	for name, text := range map[string]string{
		"good.sym": goodSymbols, "poor.sym": poorSymbols, "bad.sym": badSymbols, "folder/sub dir/good.sym": goodSymbols, "list.sym": "good.sym", "text": "x",
		"lint $(x).toml": "min-cfi = 95\n",
	} {
		testenv.WriteFile(t, filepath.Join(dir, name), text)
	}
	for _, name := range ciHostile {
		testenv.WriteFile(t, filepath.Join(dir, name), badSymbols)
	}
	return dir
}

// TestActionSteps runs the steps of the action with bash, and checks what they find,
// upload and print, and their status.
func TestActionSteps(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, in one goroutine only")
	}
	testenv.Tool(t, "bash")
	action := readAction(t)
	dir := ciProject(t)
	program := testenv.Symtool(t)
	archive := releaseArchive(t, program)
	sum := fmt.Sprintf("%x", sha256.Sum256(testenv.ReadFile(t, archive)))
	testenv.WriteFile(t, filepath.Join(dir, "re lease.tar.gz"), string(testenv.ReadFile(t, archive)))
	fetch := t.TempDir() // a curl that provides the archive, and records its arguments
	testenv.WriteFile(t, filepath.Join(fetch, "curl"), "#!/bin/bash\necho \"curl $*\"\ntest \"${*: -1}\" != https://example.org/404 || exit 22\nwhile [ \"$1\" != --output ]; do shift; done\ncp '"+archive+"' \"$2\"\n")
	if err := os.Chmod(filepath.Join(fetch, "curl"), 0o777); err != nil {
		t.Fatal(err)
	}
	bare := "/usr/bin:/bin"
	withProgram := filepath.Dir(program) + ":" + bare
	hostile := strings.Join(ciHostile, "\r\n")
	type inputs = map[string]string
	for _, c := range []struct {
		name   string
		inputs inputs
		path   string
		env    []string
		status int
		want   string // pattern for the output
		upload bool
	}{
		{"good", inputs{"files": "good.sym"}, withProgram, nil, 0, `^\S+/symtool: symtool \S+ \(.*\)\n(::notice.*\n)*0 errors, 0 warnings`, true},
		{"bad", inputs{"files": "bad.sym"}, withProgram, nil, 1, `::error file=bad.sym,line=3,title=SYM203(.*\n)+::error title=symtool lint::there are findings\n$`, true},
		{"several", inputs{"files": "\n  \ngood.sym\r\nfolder\n\nbad.sym"}, withProgram, nil, 1, `in 3 files`, true},
		{"names", inputs{"files": hostile}, withProgram, nil, 1, fmt.Sprintf(`in %d files`, len(ciHostile)), true},
		{"no upload", inputs{"files": "bad.sym", "upload-sarif": "false"}, withProgram, nil, 1, `there are findings`, false},
		{"absent", inputs{"files": "nothing.sym"}, withProgram, nil, 3, `::error title=symtool lint::a file could not be read`, true},
		{"half absent", inputs{"files": "bad.sym\nnothing.sym"}, withProgram, nil, 3, `SYM203`, true},
		{"warning", inputs{"files": "poor.sym"}, withProgram, nil, 0, `::warning file=poor.sym,title=SYM701`, true},
		{"fail on", inputs{"files": "poor.sym", "fail-on": "warning"}, withProgram, nil, 1, `SYM701`, true},
		{"never", inputs{"files": "bad.sym", "fail-on": "never"}, withProgram, nil, 0, `SYM203`, true},
		{"min-cfi", inputs{"files": "poor.sym", "min-cfi": "95"}, withProgram, nil, 1, `::error file=poor.sym`, true},
		{"min-lines", inputs{"files": "good.sym", "min-lines": "x"}, withProgram, nil, 2, `::error title=symtool lint::wrong usage`, false},
		{"config", inputs{"files": "poor.sym", "config": "lint $(x).toml"}, withProgram, nil, 1, `::error file=poor.sym`, true},
		{"no config", inputs{"files": "poor.sym", "config": "$(touch pwned)"}, withProgram, nil, 3, `\$\(touch pwned\)`, false},
		{"no baseline", inputs{"files": "poor.sym", "baseline": "`touch pwned`"}, withProgram, nil, 3, "`touch pwned`", false},
		{"no binary", inputs{"files": "bad.sym", "binary": "; touch pwned"}, withProgram, nil, 3, "; touch pwned", true},
		{"severity", inputs{"files": "poor.sym", "fail-on": "note; touch pwned"}, withProgram, nil, 2, `wrong usage`, false},
		{"no files", inputs{"files": " \n"}, withProgram, nil, 2, `^::error title=symtool::no files`, false},
		{"upload yes", inputs{"files": "good.sym", "upload-sarif": "yes\n::x"}, withProgram, nil, 2, `^::error .*not 'yes%0A::x'\n$`, false},
		{"setup", inputs{"setup-only": "true"}, withProgram, nil, 0, `^\S+/symtool: symtool .*\n$`, false},
		{"version", inputs{"files": "good.sym", "version": version.Version}, withProgram, nil, 0, `0 errors`, true},
		{"other version", inputs{"files": "good.sym", "version": "0.1"}, withProgram, nil, 2, `::error .*want version 0\.1\n$`, false},

		{"archive", inputs{"files": "bad.sym", "archive": "re lease.tar.gz", "sha256": strings.ToUpper(sum)}, bare, nil, 1, `^\S+/release/symtool: symtool`, true},
		{"archive before PATH", inputs{"setup-only": "true", "archive": "re lease.tar.gz", "sha256": sum}, withProgram, nil, 0, `^\S+/release/symtool: symtool`, false},
		{"checksum", inputs{"files": "bad.sym", "archive": "re lease.tar.gz", "sha256": strings.Repeat("0", 64)}, withProgram, nil, 2, `^::error title=symtool::re lease.tar.gz has the SHA-256 ` + sum, false},
		{"no checksum", inputs{"files": "bad.sym", "archive": "re lease.tar.gz"}, withProgram, nil, 2, `^::error .*archive needs sha256`, false},
		{"no archive", inputs{"files": "bad.sym", "archive": "http://example.org/x.tar.gz", "sha256": sum}, withProgram, nil, 2, `^::error .*there is no archive http://`, false},
		{"text", inputs{"files": "bad.sym", "archive": "text", "sha256": fmt.Sprintf("%x", sha256.Sum256([]byte("x")))}, withProgram, nil, 2, `::error .*text is no release archive`, false},
		{"URL", inputs{"files": "bad.sym", "archive": "https://example.org/x y.tar.gz", "sha256": sum}, fetch + ":" + bare, nil, 1, `^curl --fail .*--proto =https .*https://example\.org/x y\.tar\.gz\n\S+/release/symtool: `, true},
		{"URL, other bytes", inputs{"files": "bad.sym", "archive": "https://example.org/x.tar.gz", "sha256": strings.Repeat("a", 64)}, fetch + ":" + bare, nil, 2, `has the SHA-256 ` + sum, false},
		{"URL, 404", inputs{"files": "bad.sym", "archive": "https://example.org/404", "sha256": sum}, fetch + ":" + bare, nil, 2, `::error .*cannot be downloaded`, false},
		{"release", inputs{"files": "good.sym", "version": version.Version, "sha256": sum}, fetch + ":" + bare, nil, 0, `/releases/download/v` + version.Version + `/symtool-` + version.Version + `-linux-amd64\.tar\.gz\n`, true},
		{"release for ARM", inputs{"files": "good.sym", "version": version.Version, "sha256": sum}, fetch + ":" + bare, []string{"RUNNER_ARCH=ARM64"}, 0, `-linux-arm64\.tar\.gz\n`, true},
		{"release for macOS", inputs{"files": "good.sym", "version": version.Version, "sha256": sum}, fetch + ":" + bare, []string{"RUNNER_OS=macOS"}, 2, `^::error .*not for macOS on X64`, false},
		{"release of nothing", inputs{"files": "good.sym", "version": "1/../..", "sha256": sum}, fetch + ":" + bare, nil, 2, `^::error .*such as 1\.2\.3, not '1/\.\./\.\.'`, false},
		{"nothing", inputs{"files": "good.sym"}, bare, nil, 2, `^::error .*no symtool: there is none in PATH, and this action is no part`, false},
		{"no Go", inputs{"files": "good.sym"}, bare, []string{"GITHUB_ACTION_PATH=" + filepath.Join(testenv.Root(t), "cmd/symtool/integration/ci/github")}, 2, `^::error .*and no Go to build it`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := &actionRun{dir: dir, path: c.path, inputs: c.inputs, env: c.env}
			r.run(t, action)
			if r.status != c.status || !regexp.MustCompile(c.want).MatchString(r.output) || (r.upload != nil) != c.upload {
				t.Errorf("status %d, uploaded %v; want %d, %v, and %q in\n%s", r.status, r.upload != nil, c.status, c.upload, c.want, r.output)
			}
			if strings.Contains(r.output, "unbound variable") {
				t.Error(r.output)
			}
			if c.upload {
				checkUpload(t, r)
			}
			if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
				t.Error("an input was run as a command")
			}
		})
	}
}

// checkUpload compares the names in the uploaded SARIF file with the names of the input.
func checkUpload(t *testing.T, r *actionRun) {
	t.Helper()
	if r.upload["category"] != "symtool" {
		t.Errorf("category %q", r.upload["category"])
	}
	names := sarifNames(t, r.upload["sarif_file"])
	var want []string
	if r.inputs["files"] == strings.Join(ciHostile, "\r\n") {
		for _, name := range ciHostile {
			want = append(want, strings.ReplaceAll(name, `\`, "/"))
		}
		slices.Sort(want)
	} else if r.inputs["binary"] == "" { // without the binary, no file is checked
		for _, name := range []string{"bad.sym", "poor.sym"} {
			if strings.Contains(r.inputs["files"], name) {
				want = append(want, name)
			}
		}
	}
	if !slices.Equal(names, want) {
		t.Errorf("SARIF has %q, want %q", names, want)
	}
}

// sarifNames returns the files with errors or warnings.
func sarifNames(t *testing.T, file string) []string {
	t.Helper()
	var log struct {
		Runs []struct {
			Results []struct {
				Level     string
				Locations []struct {
					PhysicalLocation struct{ ArtifactLocation struct{ URI string } }
				}
			}
		}
	}
	if err := json.Unmarshal(testenv.ReadFile(t, file), &log); err != nil || len(log.Runs) != 1 {
		t.Fatalf("%s: %v", file, err)
	}
	names := map[string]bool{}
	for _, r := range log.Runs[0].Results {
		if r.Level == "note" {
			continue
		}
		name, err := url.PathUnescape(r.Locations[0].PhysicalLocation.ArtifactLocation.URI)
		if err != nil {
			t.Fatal(err)
		}
		// WriteSARIF treats a backslash as a slash, as on Windows.
		names[strings.TrimPrefix(name, "./")] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// releaseArchive returns an archive with the folders of a release, and a program that
// starts another.
func releaseArchive(t *testing.T, program string) string {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	w := tar.NewWriter(zip)
	script := "#!/bin/sh\nexec '" + program + "' \"$@\"\n"
	folder := "symtool-" + version.Version + "-linux-amd64/"
	for _, f := range []struct {
		name, text string
		mode       int64
	}{{folder, "", 0o755}, {folder + "LICENSE", "x", 0o644}, {folder + "share/symtool", "complete", 0o644}, {folder + "symtool", script, 0o755}} {
		head := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Size: int64(len(f.text)), Mode: f.mode}
		if strings.HasSuffix(f.name, "/") {
			head.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(head); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(f.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "release.tar.gz")
	testenv.WriteFile(t, file, b.String())
	return file
}
