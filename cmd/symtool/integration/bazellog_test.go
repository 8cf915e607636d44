package integration_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// spawn is an action in Bazel's execution log, in the form of --execution_log_json_file.
type spawn struct {
	CommandArgs          []string
	EnvironmentVariables []struct{ Name, Value string }
	Inputs               []spawnFile
	ListedOutputs        []string
	ActualOutputs        []spawnFile
	Remotable, Cacheable bool
	Mnemonic             string
	Runner               string
	RemoteCacheHit       bool
	ExitCode             int
}

type spawnFile struct {
	Path   string
	Digest struct{ Hash, SizeBytes string }
}

// readSpawns reads an execution log, a sequence of JSON objects.
func readSpawns(t *testing.T, name string) (all []spawn) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for d := json.NewDecoder(bufio.NewReader(f)); ; {
		var s spawn
		err := d.Decode(&s)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, s)
	}
}

// ours reports whether the action belongs to a rule that runs symtool.
func (s *spawn) ours() bool {
	return strings.HasPrefix(s.Mnemonic, "Symtool") && s.Mnemonic != "SymtoolSplit"
}

func (s *spawn) name() string { return s.Mnemonic + " " + strings.Join(s.ListedOutputs, " ") }

// paths returns the names of files, in order.
func paths(files []spawnFile) (names []string) {
	for _, f := range files {
		names = append(names, f.Path)
	}
	slices.Sort(names)
	return names
}

// bazelCwd lists the folders that Bazel's compilers take for their working directory. They
// appear in values of --prefix-map, and no file is read from them.
var bazelCwd = []string{"/proc/self/cwd/=", "/proc/self/cwd/./="}

// audit returns the reasons why an action could have another result elsewhere. want lists the
// inputs that it must have; nil means only those in its arguments.
func (s *spawn) audit(want []string) (bad []string) {
	complain := func(format string, args ...any) {
		bad = append(bad, path.Base(s.ListedOutputs[0])+": "+fmt.Sprintf(format, args...))
	}
	for _, v := range s.EnvironmentVariables {
		complain("has %s in its environment", v.Name)
	}
	if !s.Remotable || !s.Cacheable {
		complain("remotable %v, cacheable %v", s.Remotable, s.Cacheable)
	}
	inputs := paths(s.Inputs)
	known := append(slices.Clone(inputs), s.ListedOutputs...)
	for i, arg := range s.CommandArgs {
		switch {
		case slices.Contains(bazelCwd, arg) && s.CommandArgs[i-1] == "--prefix-map":
		case strings.HasPrefix(arg, "/") || strings.Contains(arg, "=/"):
			complain("has the absolute path %s", arg)
		case strings.Contains(arg, "/") && !slices.Contains(known, arg):
			complain("names %s, which is not declared", path.Base(arg))
		}
	}
	if want == nil {
		return bad
	}
	for _, name := range inputs {
		if !slices.Contains(want, name) {
			complain("has the input %s, which it is not to have", name)
		}
	}
	for _, name := range want {
		if !slices.Contains(inputs, name) {
			complain("has no input %s", name)
		}
	}
	return bad
}

// missed lists the actions that were not taken from the cache.
func missed(all []spawn) (names []string) {
	for i := range all {
		if !all[i].RemoteCacheHit || all[i].Runner != "remote cache hit" {
			names = append(names, all[i].name()+": "+all[i].Runner)
		}
	}
	return names
}

// TestBazelAudit checks that each fault of an action is found, and that none is found in a
// good action.
func TestBazelAudit(t *testing.T) {
	const log = `{"commandArgs":["tools/symtool","dump","--prefix-map","/proc/self/cwd/=","-o","bin/a.sym","bin/a"],"environmentVariables":[],
		"inputs":[{"path":"bin/a"},{"path":"tools/symtool"}],"listedOutputs":["bin/a.sym"],"remotable":true,"cacheable":true,
		"mnemonic":"SymtoolDump","runner":"remote cache hit","remoteCacheHit":true}`
	want := []string{"tools/symtool", "bin/a"}
	for change, found := range map[string]string{
		`{`:                        ``,
		`"environmentVariables":[`: `a.sym: has TZ in its environment`,
		`"remotable":true`:         `a.sym: remotable false, cacheable true`,
		`"bin/a"],`:                `a.sym: names b, which is not declared`,
		`"dump"`:                   `a.sym: has the absolute path /usr/bin/dump`,
		`{"path":"bin/a"},`:        `a.sym: names a, which is not declared; a.sym: has no input bin/a`,
		`"inputs":[`:               `a.sym: has the input bin/c, which it is not to have`,
	} {
		to := map[string]string{`{`: `{`, `"environmentVariables":[`: `"environmentVariables":[{"name":"TZ","value":"UTC"}`, `"remotable":true`: `"remotable":false`,
			`"bin/a"],`: `"bin/a","bin/b"],`, `"dump"`: `"/usr/bin/dump"`, `{"path":"bin/a"},`: ``, `"inputs":[`: `"inputs":[{"path":"bin/c"},`}[change]
		name := filepath.Join(t.TempDir(), "log.json")
		if err := os.WriteFile(name, []byte(strings.Replace(log, change, to, 1)+"\n"+log), 0o666); err != nil {
			t.Fatal(err)
		}
		all := readSpawns(t, name)
		if got := strings.Join(all[0].audit(want), "; "); got != found {
			t.Errorf("%s: %q, want %q", change, got, found)
		}
		if bad := all[1].audit(want); len(all) != 2 || bad != nil || missed(all) != nil {
			t.Errorf("%d actions, %q, %q", len(all), bad, missed(all))
		}
	}
}
