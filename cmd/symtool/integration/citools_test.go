package integration_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/internal/version"
)

const actionlint = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"

func oracleFull(t *testing.T) {
	t.Helper()
	if testenv.Oracle(t); !testenv.OracleFull() {
		t.Skip("runs with SYMTOOL_ORACLE=full")
	}
}

// combined runs a command in dir, and returns its status and its combined output.
func combined(t *testing.T, dir string, env []string, name string, args ...string) (int, string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

func mustRun(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	status, out := combined(t, dir, env, name, args...)
	if status != 0 {
		t.Fatalf("%s %q: status %d\n%s", name, args, status, out)
	}
	return out
}

// TestPreCommitOracle runs the hook that symtool prints, and the hook in a clone of symtool,
// with pre-commit.
func TestPreCommitOracle(t *testing.T) {
	oracleFull(t)
	preCommit, git := testenv.Tool(t, "pre-commit"), testenv.Tool(t, "git")
	dir := ciProject(t)
	home := t.TempDir()
	env := []string{
		"HOME=" + home, "PRE_COMMIT_HOME=" + home, "GIT_CONFIG_GLOBAL=" + home + "/gitconfig", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org",
	}
	mustRun(t, dir, env, git, "init", "-q")
	testenv.WriteFile(t, filepath.Join(dir, ".pre-commit-config.yaml"), integrationOf(t, "pre-commit"))
	mustRun(t, dir, env, preCommit, "install")
	mustRun(t, dir, env, git, "add", "good.sym", "poor.sym", "folder", "text")
	if out := mustRun(t, dir, env, git, "commit", "-m", "good"); !strings.Contains(out, "Passed") {
		t.Errorf("good files:\n%s", out)
	}
	mustRun(t, dir, env, git, "add", "text", "bad.sym")
	if status, out := combined(t, dir, env, git, "commit", "-m", "bad"); status != 1 || !strings.Contains(out, "exit code: 1") || !strings.Contains(out, "SYM203 error") || !strings.Contains(out, "in 1 file ") {
		t.Errorf("bad.sym: status %d\n%s", status, out)
	}
	mustRun(t, dir, env, git, "rm", "-q", "--cached", "bad.sym")
	// @list.sym would be a response file, since list.sym exists. The other operands are files.
	names := slices.DeleteFunc(slices.Clone(ciHostile), func(name string) bool { return name[0] == '@' })
	mustRun(t, dir, env, git, append([]string{"--literal-pathspecs", "add", "--"}, names...)...)
	status, out := combined(t, dir, env, git, "commit", "-m", "names")
	if status != 1 || !strings.Contains(out, fmt.Sprintf("in %d files", len(names))) {
		t.Errorf("names: status %d\n%s", status, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
		t.Error("a name was run as a command")
	}

	// The hook that pre-commit builds with Go, with the modules on this machine.
	modules := strings.TrimSpace(mustRun(t, dir, nil, "go", "env", "GOMODCACHE"))
	cache := strings.TrimSpace(mustRun(t, dir, nil, "go", "env", "GOCACHE"))
	clone := filepath.Join(t.TempDir(), "symtool")
	mustRun(t, dir, env, git, "clone", "-q", testenv.Root(t), clone)
	head := strings.TrimSpace(mustRun(t, clone, env, git, "rev-parse", "HEAD"))
	testenv.WriteFile(t, filepath.Join(dir, ".pre-commit-config.yaml"), "repos: [{repo: '"+clone+"', rev: "+head+", hooks: [{id: symtool-lint}]}]\n")
	env = append(env, "GOPROXY=file://"+modules+"/cache/download", "GONOSUMDB=*", "GOFLAGS=-modcacherw", "GOCACHE="+cache, "PATH="+pathWithout(t, "symtool"))
	if status, out := combined(t, dir, env, preCommit, "run", "--files", "good.sym"); status != 0 || !strings.Contains(out, "Passed") {
		t.Errorf("built by pre-commit, good.sym: status %d\n%s", status, out)
	}
	if status, out := combined(t, dir, env, preCommit, "run", "--files", "good.sym", "bad.sym"); status != 1 || !strings.Contains(out, "SYM203 error") {
		t.Errorf("built by pre-commit, bad.sym: status %d\n%s", status, out)
	}
}

// pathWithout returns PATH without the folders that contain a program.
func pathWithout(t *testing.T, program string) string {
	t.Helper()
	return strings.Join(slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")), func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, program))
		return err == nil
	}), ":")
}

// TestActionlintOracle checks the workflow with actionlint, with the inputs of the action, and
// the scripts with shellcheck.
func TestActionlintOracle(t *testing.T) {
	oracleFull(t)
	dir := t.TempDir()
	workflow := filepath.Join(dir, ".github/workflows/symbols.yml")
	const ours = "symtool/symtool/cmd/symtool/integration/ci/github@v1"
	text := integrationOf(t, "github")
	mustRun(t, dir, nil, testenv.Tool(t, "git"), "init", "-q")
	testenv.WriteFile(t, filepath.Join(dir, ".github/actions/symtool/action.yml"), integrationOf(t, "github-action"))
	lint := func(text string) (int, string) {
		testenv.WriteFile(t, workflow, text)
		return combined(t, dir, nil, "go", "run", actionlint, "-shellcheck", testenv.Tool(t, "shellcheck"), "-pyflakes=", workflow)
	}
	if status, out := lint(text); status != 0 {
		t.Errorf("status %d\n%s", status, out)
	}
	local := strings.ReplaceAll(text, ours, "./.github/actions/symtool")
	if status, out := lint(local); status != 0 {
		t.Errorf("status %d\n%s", status, out)
	}
	if status, out := lint(strings.ReplaceAll(local, "min-cfi:", "min-cfo:")); status != 1 || !strings.Contains(out, `"min-cfo" is not defined`) {
		t.Errorf("missing input: status %d\n%s", status, out)
	}
	for _, s := range readAction(t).Runs.Steps {
		if s.Run != "" {
			shellcheck(t, "bash", s.Run)
		}
	}
	shellcheck(t, "sh", readGitLab(t).Script[0])
}

// shellcheck checks a script. It ignores SC2015, about a && b || c: that c also runs if b fails
// is intended.
func shellcheck(t *testing.T, shell, script string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "script")
	testenv.WriteFile(t, file, script)
	if status, out := combined(t, ".", nil, testenv.Tool(t, "shellcheck"), "--exclude=SC2015", "--shell="+shell, file); status != 0 {
		t.Errorf("status %d\n%s", status, out)
	}
}

// TestGitLabLocalOracle runs the job with gitlab-ci-local, if it is installed (npm), like a
// GitLab runner.
func TestGitLabLocalOracle(t *testing.T) {
	oracleFull(t)
	tool, err := exec.LookPath("gitlab-ci-local")
	if err != nil {
		t.Skip("no gitlab-ci-local: npm install -g gitlab-ci-local@4.75.1, with Node 22 and rsync")
	}
	for _, c := range []struct {
		file, want string
		status     int
	}{{"good.sym", "0 errors", 0}, {"bad.sym", "SYM203", 1}, {"a b.sym\n        $(touch pwned).sym", "in 2 files", 1}} {
		dir := ciProject(t)
		testenv.WriteFile(t, filepath.Join(dir, "symtool.gitlab.yml"), integrationOf(t, "gitlab"))
		testenv.WriteFile(t, filepath.Join(dir, ".gitlab-ci.yml"), "include:\n  - local: symtool.gitlab.yml\nsymtool-lint:\n  variables:\n    SYMTOOL_FILES: |\n        "+c.file+"\n")
		mustRun(t, dir, nil, testenv.Tool(t, "git"), "init", "-q")
		mustRun(t, dir, nil, "git", "add", "symtool.gitlab.yml", ".gitlab-ci.yml")
		status, out := combined(t, dir, []string{"HOME=" + t.TempDir()}, tool, "--force-shell-executor", "--shell-isolation=false", "symtool-lint")
		if status != c.status || !strings.Contains(out, c.want) {
			t.Errorf("%q: status %d, want %d and %q\n%s", c.file, status, c.status, c.want, out)
		}
		if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
			t.Error("a name was run as a command")
		}
	}
}

// TestContainerOracle builds the image with buildah from a release, and with Go in an image
// made from this machine's tools, and runs it.
func TestContainerOracle(t *testing.T) {
	oracleFull(t)
	dir := t.TempDir()
	clone := filepath.Join(dir, "symtool")
	mustRun(t, dir, nil, testenv.Tool(t, "git"), "clone", "-q", testenv.Root(t), clone)
	testenv.WriteFile(t, filepath.Join(clone, "Containerfile"), integrationOf(t, "container"))
	mustRun(t, clone, nil, "go", "run", "./.ci/dist", "-cpus", "amd64", "-o", "build/dist")
	b := &buildah{t: t, dir: clone, program: testenv.Tool(t, "buildah"), root: filepath.Join(dir, "storage")}
	archive := "build/dist/symtool-" + version.Version + "-linux-amd64.tar.gz"
	b.run("bud", "--isolation", "chroot", "--target", "released", "--build-arg", "ARCHIVE="+archive, "-t", "released", ".")
	released := b.check("released")
	unpacked := t.TempDir()
	mustRun(t, clone, nil, testenv.Tool(t, "tar"), "-xzf", archive, "--strip-components=1", "-C", unpacked)
	if want := testenv.ReadFile(t, unpacked, "symtool"); !bytes.Equal(released, want) {
		t.Errorf("the program of the image has %d bytes, and that of the release %d others", len(released), len(want))
	}
	pulled := strings.TrimSpace(b.run("pull", "-q", "oci-archive:"+strings.TrimSuffix(archive, ".tar.gz")+".oci.tar"))
	if !bytes.Equal(b.check(pulled), released) {
		t.Error("the image of make dist has another program")
	}
}

type buildah struct {
	t                  *testing.T
	dir, program, root string
}

func (b *buildah) run(args ...string) string {
	b.t.Helper()
	return mustRun(b.t, b.dir, nil, b.program, append([]string{"--storage-driver", "vfs", "--root", b.root, "--runroot", b.root + "-run"}, args...)...)
}

// check checks an image, and returns the program in it.
func (b *buildah) check(image string) []byte {
	t := b.t
	t.Helper()
	var about struct {
		OCIv1 struct {
			Config struct {
				User       string
				Entrypoint []string
			}
		}
	}
	if err := json.Unmarshal([]byte(b.run("inspect", "--type", "image", image)), &about); err != nil {
		t.Fatal(err)
	}
	if c := about.OCIv1.Config; c.User != "65532:65532" || !slices.Equal(c.Entrypoint, []string{"/symtool"}) {
		t.Errorf("%s: %+v", image, c)
	}
	container := strings.TrimSpace(b.run("from", "--pull-never", image))
	folder := strings.TrimSpace(b.run("mount", container))
	defer b.run("umount", container)
	files := strings.Fields(mustRun(t, folder, nil, "find", ".", "-type", "f", "-perm", "/444", "-printf", "%p "))
	slices.Sort(files)
	want := []string{"./symtool", "./usr/share/doc/symtool/LICENSE", "./usr/share/doc/symtool/THIRD-PARTY-LICENSES"}
	if !slices.Equal(files, want) {
		t.Errorf("%s: files %q, want %q", image, files, want)
	}
	project := ciProject(t)
	for file, want := range map[string]int{"good.sym": 0, "bad.sym": 1, "a b.sym": 1} {
		cmd := []string{"--storage-driver", "vfs", "--root", b.root, "--runroot", b.root + "-run", "run", "--isolation", "chroot", "--volume", project + ":/work:ro", container, "--", "/symtool", "lint", file}
		if status, out := combined(t, b.dir, nil, b.program, cmd...); status != want || !strings.Contains(out, "in 1 file") {
			t.Errorf("%s: status %d, want %d\n%s", file, status, want, out)
		}
	}
	return testenv.ReadFile(t, filepath.Join(folder, "symtool"))
}
