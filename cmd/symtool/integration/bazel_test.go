package integration_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
)

// bazelClone is a workspace, and the Bazel that builds it.
type bazelClone struct {
	dir, root string   // workspace; --output_user_root
	env       []string // in addition to the test's
	user      int      // 0 for the user who runs the test
	log       string   // execution log of the last build
	profile   string
}

func newBazelClone(t *testing.T, dir, root string) *bazelClone {
	t.Helper()
	for _, d := range []string{dir, root} {
		if err := os.MkdirAll(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	b := &bazelClone{dir: dir, root: root, log: filepath.Join(root, "executions.json"), profile: filepath.Join(root, "profile.gz")}
	t.Cleanup(func() { _, _ = b.command("shutdown").CombinedOutput() })
	return b
}

func (b *bazelClone) command(args ...string) *exec.Cmd {
	args = append([]string{"-c", `umask "$0"; exec bazel "$@"`, map[bool]string{true: "022", false: "077"}[b.user == 0], "--output_user_root=" + b.root}, args...)
	cmd := exec.Command("sh", args...)
	cmd.Dir, cmd.Env = b.dir, append(os.Environ(), b.env...)
	if b.user != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(b.user), Gid: uint32(b.user)}}
	}
	return cmd
}

// try builds, and returns Bazel's output and the execution log.
func (b *bazelClone) try(t *testing.T, args ...string) (string, []spawn, error) {
	t.Helper()
	os.Remove(b.log)
	out, err := b.command(append([]string{"build", "--execution_log_json_file=" + b.log, "--profile=" + b.profile}, args...)...).CombinedOutput()
	var said []byte
	for line := range bytes.Lines(out) {
		if !bytes.Contains(line, []byte("src/main/tools/linux-sandbox")) {
			said = append(said, line...)
		}
	}
	if _, statErr := os.Stat(b.log); statErr != nil {
		t.Fatalf("%v: no execution log\n%s", err, said)
	}
	return string(said), readSpawns(t, b.log), err
}

func (b *bazelClone) build(t *testing.T, args ...string) (string, []spawn) {
	t.Helper()
	said, log, err := b.try(t, args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return said, log
}

// bin returns the output folder. rel is its path below execRoot.
func (b *bazelClone) bin(t *testing.T) (rel, execRoot string) {
	t.Helper()
	real, err := filepath.EvalSymlinks(filepath.Join(b.dir, "bazel-bin"))
	if err != nil {
		t.Fatal(err)
	}
	execRoot, rel, ok := strings.Cut(real, "/bazel-out/")
	if !ok {
		t.Fatal(real)
	}
	return "bazel-out/" + rel + "/", execRoot
}

// spent sums the time of actions in the profile by the first word of their message.
func (b *bazelClone) spent(t *testing.T) map[string]time.Duration {
	t.Helper()
	f, err := os.Open(b.profile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var profile struct {
		TraceEvents []struct {
			Cat, Name string
			Dur       int64 // microseconds
		}
	}
	if err := json.NewDecoder(z).Decode(&profile); err != nil {
		t.Fatal(err)
	}
	sums := map[string]time.Duration{}
	for _, e := range profile.TraceEvents {
		if e.Cat == "action processing" {
			word, _, _ := strings.Cut(e.Name, " ")
			sums[word] += time.Duration(e.Dur) * time.Microsecond
		}
	}
	return sums
}

// outputs returns the files that symtool wrote below the output folder, by name.
func (b *bazelClone) outputs(t *testing.T) map[string][]byte {
	t.Helper()
	rel, execRoot := b.bin(t)
	all := map[string][]byte{}
	ours := regexp.MustCompile(`\.sym(\.checked|\.json)?$`)
	err := filepath.WalkDir(filepath.Join(execRoot, rel), func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !ours.MatchString(name) {
			return err
		}
		path, _ := filepath.Rel(filepath.Join(execRoot, rel), name)
		if strings.HasPrefix(path, "bad/") {
			return nil
		}
		all[path], err = os.ReadFile(name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// processes parses Bazel's summary: 12 processes: 3 remote cache hit, 9 internal.
func processes(t *testing.T, said string) (all int, by map[string]int) {
	t.Helper()
	m := regexp.MustCompile(`(?m)^INFO: (\d+) process(?:es)?: (.*)\.$`).FindStringSubmatch(said)
	if m == nil {
		t.Fatalf("no summary of processes:\n%s", said)
	}
	all, _ = strconv.Atoi(m[1])
	by = map[string]int{}
	for part := range strings.SplitSeq(m[2], ", ") {
		n, what, _ := strings.Cut(part, " ")
		by[what], _ = strconv.Atoi(n)
	}
	return all, by
}

// farmTest is the state of TestOracleBazel.
type farmTest struct {
	dir, program string
	cache        *httpCache
	one, two     *bazelClone
	first        []spawn // the log of the first build
}

// TestOracleBazel builds 200 targets with Bazel in sandboxes, with a cache on an HTTP server.
// A second clone of the project, in another folder and owned by another user, must get
// everything from the cache, with the same bytes. The execution log shows the actions of the
// rules.
func TestOracleBazel(t *testing.T) {
	if !testenv.OracleFull() {
		t.Skip("200 targets: runs with SYMTOOL_ORACLE=full")
	}
	for _, tool := range []string{"bazel", "nginx", "g++", "gcc", "objcopy"} {
		testenv.Tool(t, tool)
	}
	f := &farmTest{dir: openFolder(t)}
	f.program = filepath.Join(f.dir, "symtool")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", f.program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f.cache = newHTTPCache(t, filepath.Join(f.dir, "nginx"))
	for _, step := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"first", f.firstBuild},
		{"log", f.checkLog},
		{"replay", f.replayAll},
		{"bad", f.badActions},
		{"second", f.secondBuild},
		{"miss", f.missedAction},
		{"incremental", f.incremental},
		{"test", f.bazelTest},
	} {
		if !t.Run(step.name, step.run) {
			return
		}
	}
}

// openFolder returns a folder that other users can reach.
func openFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func (f *farmTest) firstBuild(t *testing.T) {
	f.one = newBazelClone(t, filepath.Join(f.dir, "one"), filepath.Join(f.dir, "root"))
	writeFarm(t, f.one.dir, f.program, f.cache.url)
	begin := time.Now()
	said, log := f.one.build(t, "//...")
	elapsed := time.Since(begin)
	f.first = log
	all, by := processes(t, said)
	if by["linux-sandbox"]+by["processwrapper-sandbox"] != len(log) || by["remote cache hit"] != 0 {
		t.Errorf("%d processes, %v; %d in the log", all, by, len(log))
	}
	requests := f.cache.requests(t)
	files, size := f.cache.size(t)
	if requests["PUT 201"]+requests["PUT 204"] < len(log) || files < len(log) || requests["GET 200"] != 0 {
		t.Errorf("the cache has %d files after %v, %d actions", files, requests, len(log))
	}
	spent, n := f.one.spent(t), map[string]int{}
	for i := range log {
		n[log[i].Mnemonic]++
	}
	t.Logf("first build: %.1f s, %d processes %v; actions %v", elapsed.Seconds(), all, by, n)
	t.Logf("time in actions: dump %v, check %v, report %v, store %v; compile %v, link %v",
		spent["Dumping"], spent["Checking"], spent["Reporting"], spent["Storing"], spent["Compiling"], spent["Linking"])
	t.Logf("cache: %d files, %d bytes, requests %v", files, size, requests)
}

// checkLog compares each action with what the test expects of the project.
func (f *farmTest) checkLog(t *testing.T) {
	bin, _ := f.one.bin(t)
	wants := farmWants(bin)
	n, compilers := 0, 0
	for i := range f.first {
		s := &f.first[i]
		if !s.ours() {
			continue
		}
		n++
		want, ok := wants[s.name()]
		if !ok {
			t.Errorf("unknown action %s", s.name())
			continue
		}
		delete(wants, s.name())
		for _, bad := range s.audit(want) {
			t.Error(bad)
		}
		if s.Runner != "linux-sandbox" && s.Runner != "processwrapper-sandbox" || s.ExitCode != 0 {
			t.Errorf("%s: runner %q, status %d", s.name(), s.Runner, s.ExitCode)
		}
		for _, arg := range s.CommandArgs {
			if slices.Contains(bazelCwd, arg) {
				compilers++
			}
		}
	}
	for name := range wants {
		t.Errorf("no action %s", name)
	}
	if modules := len(farmModules()) + 1; n != 3*modules+1 || compilers != 2*modules {
		t.Errorf("%d actions, want %d; %d with %s", n, 3*modules+1, compilers, bazelCwd)
	}
	t.Logf("%d actions with their declared inputs only; the only absolute arguments are %s, %d times", n, bazelCwd, compilers)
}

func (f *farmTest) replayAll(t *testing.T) {
	_, execRoot := f.one.bin(t)
	begin, n := time.Now(), 0
	for i := range f.first {
		if s := &f.first[i]; s.ours() {
			n++
			if bad := s.replay(t, execRoot); bad != "" {
				t.Error(bad)
			}
		}
	}
	t.Logf("%d actions again, in folders with their inputs only: %.1f s", n, time.Since(begin).Seconds())
}

const farmBad = `load(":bad.bzl", "bad")

bad(name = "good", binary = "//p00:app0")
bad(name = "environment", binary = "//p00:app0", env = {"LANG": "C"})
bad(name = "shell", binary = "//p00:app0", shell_env = True)
bad(name = "more", binary = "//p00:app0", more = ["//p00:app0.dwp"])
bad(name = "host", binary = "//p00:app0", flags = ["--debug-dir", "/usr/lib/debug"])
bad(name = "tagged", binary = "//p00:app0", requirements = ["no-remote"])
bad(name = "undeclared", binary = "//p00:app0", declared = False)
bad(name = "beside", binary = "//ship:ship.stripped", flags = ["--no-debuginfod"])
`

// badActions checks that bad actions are detected: by the audit, by the sandbox, or when they
// run elsewhere.
func (f *farmTest) badActions(t *testing.T) {
	rules, err := os.ReadFile(filepath.Join("testdata", "bazel", "bad.bzl"))
	if err != nil {
		t.Fatal(err)
	}
	writeIn(t, f.one.dir, "bad/bad.bzl", string(rules))
	writeIn(t, f.one.dir, "bad/BUILD", farmBad)
	defer os.RemoveAll(filepath.Join(f.one.dir, "bad"))
	// Undeclared files must exist.
	f.one.build(t, "//p00:app0", "//ship:ship", "--output_groups=+debug")

	flags := []string{"--aspects=", "--output_groups=default", "--noremote_accept_cached", "--noremote_upload_local_results"}
	said, _, err := f.one.try(t, append(flags, "//bad:undeclared")...)
	if err == nil || !strings.Contains(said, "no such file or directory") {
		t.Errorf("undeclared files are visible in a sandbox: %v\n%s", err, said)
	}
	_, log := f.one.build(t, append(flags, "--spawn_strategy=local", "//bad:all")...)
	bin, execRoot := f.one.bin(t)
	var found []string
	for i := range log {
		s := &log[i]
		if !s.ours() {
			continue
		}
		operand := bin + "p00/app0"
		if strings.HasSuffix(s.ListedOutputs[0], "/beside.sym") {
			operand = bin + "ship/ship.stripped"
		}
		found = append(found, s.audit([]string{"tools/symtool", operand})...)
		if bad := s.replay(t, execRoot); bad != "" {
			found = append(found, "elsewhere: "+strings.ReplaceAll(bad, bin, ""))
		}
	}
	slices.Sort(found)
	want := []string{
		"elsewhere: beside.sym: exit status 3: symtool: ship/ship.stripped: no debug information: no functions and lines; symtool doctor lists where to get them",
		"elsewhere: undeclared.sym: exit status 3: symtool: p00/app0: no such file or directory",
		"environment.sym: has LANG in its environment",
		"host.sym: has the absolute path /usr/lib/debug",
		"more.sym: has the input " + bin + "p00/app0.dwp, which it is not to have",
		"shell.sym: has PATH in its environment",
		"tagged.sym: remotable false, cacheable true",
		"undeclared.sym: has no input " + bin + "p00/app0",
		"undeclared.sym: names app0, which is not declared",
	}
	if !slices.Equal(found, want) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(found, "\n"), strings.Join(want, "\n"))
	}
}

// secondBuild builds another clone with a different folder, output base, home, umask, language
// and time zone and, if root runs the test, a different user.
func (f *farmTest) secondBuild(t *testing.T) {
	home := filepath.Join(f.dir, "elsewhere")
	f.two = newBazelClone(t, filepath.Join(home, "a", "second-clone"), filepath.Join(home, "output"))
	f.two.env = []string{"HOME=" + home, "USER=other", "LOGNAME=other", "TZ=Pacific/Chatham", "LANG=tr_TR.UTF-8", "LC_ALL=de_DE.UTF-8",
		"TMPDIR=" + home, "PATH=" + home + ":" + os.Getenv("PATH"), "SOURCE_DATE_EPOCH=1", "DEBUGINFOD_URLS=http://127.0.0.1:1"}
	writeFarm(t, f.two.dir, f.program, f.cache.url)
	if os.Getuid() == 0 {
		f.two.user = 65534
		if out, err := exec.Command("chown", "-R", "65534:65534", home).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	f.cache.requests(t)
	begin := time.Now()
	said, log := f.two.build(t, "//...")
	elapsed := time.Since(begin)
	all, by := processes(t, said)
	requests := f.cache.requests(t)
	if bad := missed(log); len(bad) > 0 || len(log) != len(f.first) {
		t.Errorf("%d actions, %d in the first build; not from the cache: %q", len(log), len(f.first), bad)
	}
	if by["remote cache hit"] != len(log) || by["remote cache hit"]+by["internal"] != all {
		t.Errorf("%d processes: %v", all, by)
	}
	for request, n := range requests {
		if request != "GET 200" {
			t.Errorf("%d requests %s", n, request)
		}
	}
	f.compare(t)
	t.Logf("second clone: %.1f s, %d of %d actions from the cache, %v; requests %v", elapsed.Seconds(), by["remote cache hit"], len(log), by, requests)
}

// compare compares everything that symtool wrote in the two clones.
func (f *farmTest) compare(t *testing.T) {
	one, two := f.one.outputs(t), f.two.outputs(t)
	var size int
	for name, text := range one {
		size += len(text)
		if !bytes.Equal(two[name], text) {
			t.Errorf("%s differs", name)
		}
		if bytes.Contains(text, []byte(f.dir)) || bytes.Contains(text, []byte("/proc/self")) {
			t.Errorf("%s has a folder of this build", name)
		}
	}
	// For each module a symbol file, a stamp and a report; and the store.
	stored := len(farmModules()) * 8 / 10
	if want := 3*(len(farmModules())+1) + stored; len(one) != want || len(two) != want {
		t.Errorf("%d and %d files, want %d", len(one), len(two), want)
	}
	if !bytes.Equal(one["ship/pair.sym"], one["p00/app0.sym"]) || !bytes.Contains(one["p00/app0.sym"], []byte(" p00/lib.h\n")) || !bytes.Contains(one["p00/app0.sym"], []byte("\nINLINE ")) {
		t.Errorf("p00/app0.sym:\n%.3000s", one["p00/app0.sym"])
	}
	t.Logf("%d files, %d bytes, the same in both clones", len(one), size)
}

// missedAction checks that the check for cached actions can fail: an action with the user's
// environment is not found in the cache.
func (f *farmTest) missedAction(t *testing.T) {
	rules, err := os.ReadFile(filepath.Join("testdata", "bazel", "bad.bzl"))
	if err != nil {
		t.Fatal(err)
	}
	flags := []string{"--aspects=", "--output_groups=default", "--action_env=HOME", "//miss:good", "//miss:shell"}
	var last []spawn
	for _, b := range []*bazelClone{f.one, f.two} {
		writeIn(t, b.dir, "miss/bad.bzl", string(rules))
		writeIn(t, b.dir, "miss/BUILD", strings.Join(strings.SplitAfter(farmBad, "\n")[:5], ""))
		_, last = b.build(t, flags...)
		os.RemoveAll(filepath.Join(b.dir, "miss"))
	}
	var bad []string
	hits := 0
	for i := range last {
		if s := &last[i]; s.ours() {
			bad = append(bad, missed([]spawn{*s})...)
			if s.RemoteCacheHit {
				hits++
			}
		}
	}
	if len(bad) != 1 || !strings.Contains(bad[0], "miss/shell.sym: ") || hits != 1 {
		t.Errorf("not from the cache: %q; %d are", bad, hits)
	}
}

// incremental checks that unchanged targets are not built again.
func (f *farmTest) incremental(t *testing.T) {
	f.one.build(t, "//...")
	source := filepath.Join(f.one.dir, "p03", "app1.cc")
	now := time.Now().Add(time.Minute)
	if err := os.Chtimes(source, now, now); err != nil {
		t.Fatal(err)
	}
	if _, log := f.one.build(t, "//..."); len(log) != 0 {
		t.Errorf("touched: %d actions, first %s", len(log), log[0].name())
	}
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	// The linker drops a function without a caller.
	changed := strings.NewReplacer("int main", "__attribute__((noipa)) static int more(int n) { return use(n) - 1; }\nint main", "{ return use(argc); }", "{ return more(argc); }")
	writeIn(t, f.one.dir, "p03/app1.cc", changed.Replace(string(text)))
	begin := time.Now()
	said, log := f.one.build(t, "//...")
	bin, _ := f.one.bin(t)
	var names []string
	for i := range log {
		names = append(names, log[i].Mnemonic+" "+strings.TrimPrefix(log[i].ListedOutputs[0], bin))
	}
	slices.Sort(names)
	want := []string{"SymtoolCheck p03/app1.sym.checked", "SymtoolDump p03/app1.sym", "SymtoolReport p03/app1.sym.json", "SymtoolStore ship/store"}
	ours := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !strings.HasPrefix(name, "Symtool") })
	if !slices.Equal(ours, want) || len(names) != len(want)+2 {
		t.Errorf("%q, want %q and a compiler and a linker\n%s", names, want, said)
	}
	t.Logf("one source changed: %d actions, %.1f s", len(names), time.Since(begin).Seconds())
	if !bytes.Contains(f.one.outputs(t)["p03/app1.sym"], []byte(" more(int)\n")) {
		t.Error("no new symbols")
	}
}

const farmBare = `load("//tools:symtool.bzl", "breakpad_symbols", "breakpad_symbols_test")

breakpad_symbols(name = "bare", binary = "//p00:app0", dump_flags = ["--no-cfi"], lint_flags = ["--min-cfi", "100"])
breakpad_symbols_test(name = "bare_test", symbols = ":bare")
`

// bazelTest checks that the rule for tests passes, and fails if lint has findings.
func (f *farmTest) bazelTest(t *testing.T) {
	if out, err := f.one.command("test", "//ship:pair_test").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	writeIn(t, f.one.dir, "bad/BUILD", farmBare)
	out, err := f.one.command("test", "--test_output=errors", "--output_groups=default", "//bad:bare_test").CombinedOutput()
	if err == nil || !regexp.MustCompile(`bare\.sym.* error: `).Match(out) {
		t.Errorf("%v\n%s", err, fmt.Sprintf("%.4000s", out))
	}
}
