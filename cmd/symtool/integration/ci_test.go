package integration_test

import (
	"bytes"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/symtool/symtool/cmd/symtool/internal/app"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/testenv"
)

// ciAction holds the parts of an action, or of a job in a workflow, that the tests need.
type ciAction struct {
	Inputs  map[string]struct{ Default *string }
	Outputs map[string]struct{ Value string }
	Runs    struct {
		Using string
		Steps []ciStep
	}
}

type ciStep struct {
	ID, Name, If, Shell, Uses, Run string
	Env, With                      map[string]string
}

type ciWorkflow struct {
	Jobs map[string]struct{ Steps []ciStep }
}

type ciHook struct {
	ID, Name, Description, Entry, Language, Files string
	Args                                          []string
	RequireSerial                                 bool `yaml:"require_serial"`
}

func decodeYAML(t *testing.T, text string, v any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), v); err != nil {
		t.Fatal(err)
	}
}

// integrationOf returns what symtool integration prints for a system.
func integrationOf(t *testing.T, name string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if status := app.Run(t.Context(), []string{"symtool", "integration", name}, nil, &stdout, &stderr); status != cli.StatusOK {
		t.Fatalf("status %d: %s", status, &stderr)
	}
	return stdout.String()
}

func readAction(t *testing.T) *ciAction {
	t.Helper()
	action := &ciAction{}
	decodeYAML(t, integrationOf(t, "github-action"), action)
	return action
}

// TestHooksAreTheSame checks that the hooks that pre-commit finds at the top of the repository
// equal those that symtool prints, except for the origin of symtool.
func TestHooksAreTheSame(t *testing.T) {
	var hooks []ciHook
	decodeYAML(t, string(testenv.ReadFile(t, testenv.Root(t), ".pre-commit-hooks.yaml")), &hooks)
	var config struct {
		Repos []struct {
			Repo  string
			Hooks []ciHook
		}
	}
	decodeYAML(t, integrationOf(t, "pre-commit"), &config)
	if len(hooks) != 2 || len(config.Repos) != 1 || config.Repos[0].Repo != "local" || len(config.Repos[0].Hooks) != 1 {
		t.Fatalf("%+v\n%+v", hooks, config)
	}
	printed, built, system := config.Repos[0].Hooks[0], hooks[0], hooks[1]
	if !reflect.DeepEqual(system, printed) {
		t.Errorf(".pre-commit-hooks.yaml has\n%+v, symtool integration pre-commit prints\n%+v", system, printed)
	}
	if built.ID != "symtool-lint" || built.Language != "golang" {
		t.Errorf("the first hook is %+v", built)
	}
	built.ID, built.Language, built.Description = system.ID, system.Language, system.Description
	if !reflect.DeepEqual(built, system) {
		t.Errorf("the hooks differ in more than where symtool is from:\n%+v\n%+v", built, system)
	}
	name := regexp.MustCompile(system.Files)
	for file, want := range map[string]bool{"a.sym": true, "x/a b.sym.gz": true, "a.sym.zst": true, "a.symbols": false, "a.sym.xz": false, "asym": false} {
		if name.MatchString(file) != want {
			t.Errorf("%s: %v, want %v", file, !want, want)
		}
	}
}

var (
	ciExpression = regexp.MustCompile(`\$\{\{\s*(.*?)\s*\}\}`)
	ciPinned     = regexp.MustCompile(`^[\w-]+/[\w./-]+@[0-9a-f]{40}$`)
)

// TestActionIsSafe checks that no script contains the text of an input, that every input is used,
// and that every foreign action is pinned.
func TestActionIsSafe(t *testing.T) {
	action := readAction(t)
	used := map[string]bool{}
	for _, s := range action.Runs.Steps {
		checkStep(t, s)
		if s.Run != "" && (s.Shell != "bash" || !strings.HasPrefix(s.Run, "set -euo pipefail\n")) {
			t.Errorf("%s: shell %q, or not with set -euo pipefail", s.Name, s.Shell)
		}
		for _, text := range append(values(s.Env, s.With), s.If) {
			for _, m := range ciExpression.FindAllStringSubmatch(text, -1) {
				for _, ref := range regexp.MustCompile(`inputs\.([\w-]+)`).FindAllStringSubmatch(m[1], -1) {
					if _, ok := action.Inputs[ref[1]]; !ok {
						t.Errorf("%s: no input %s", s.Name, ref[1])
					}
					used[ref[1]] = true
				}
			}
		}
	}
	for name, in := range action.Inputs {
		if !used[name] || in.Default == nil {
			t.Errorf("input %s: used: %v, default: %v", name, used[name], in.Default)
		}
	}
	var workflow ciWorkflow
	decodeYAML(t, integrationOf(t, "github"), &workflow)
	own := 0
	for _, s := range workflow.Jobs["symbols"].Steps {
		if path, ok := strings.CutPrefix(s.Uses, "symtool/symtool/"); ok {
			own++
			path, _, _ = strings.Cut(path, "@")
			testenv.ReadFile(t, testenv.Root(t), filepath.FromSlash(path), "action.yml")
			for name := range s.With {
				if _, ok := action.Inputs[name]; !ok {
					t.Errorf("workflow.yml: the action has no input %s", name)
				}
			}
			continue
		}
		checkStep(t, s)
	}
	if own != 2 {
		t.Errorf("workflow.yml uses the action %d times, want 2", own)
	}
	for _, name := range []string{"container", "github", "github-action", "gitlab", "pre-commit"} {
		text := integrationOf(t, name)
		if m := regexp.MustCompile(`\|\s*(ba|da|z)?sh\b|secrets\.|:latest|\beval\b|\$\[\[`).FindString(text); m != "" {
			t.Errorf("%s has %q", name, m)
		}
	}
}

func checkStep(t *testing.T, s ciStep) {
	t.Helper()
	if strings.Contains(s.Run, "${{") {
		t.Errorf("%s: an expression within the script", s.Name)
	}
	if s.Uses != "" && !ciPinned.MatchString(s.Uses) {
		t.Errorf("%s: %s is not pinned", s.Name, s.Uses)
	}
}

func values(maps ...map[string]string) (all []string) {
	for _, m := range maps {
		for _, v := range m {
			all = append(all, v)
		}
	}
	return all
}
