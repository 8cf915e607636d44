package resolve_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/app"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/testenv"
)

// sanitized crashes, or overflows, in bad, which main calls.
const sanitized = `
#include <stdlib.h>
#include <limits.h>
volatile int sink;
__attribute__((noinline)) int bad(int *p, int n) {
  return p[3] + n;
}
int main(int argc, char **argv) {
  int *p = malloc(argc > 1 ? 16 : 8);
  p[argc > 1 ? 3 : 0] = INT_MAX;
  int r = bad(p, argc);
  free(p);
  sink = r;
  return 0;
}
`

// sanitizerFrame matches a line of a stack: the number and the text after the address.
var sanitizerFrame = regexp.MustCompile(`(?m)^ *#(\d+) 0x[0-9a-f]+ +(.*)$`)

// TestOracleSanitizers runs programs with sanitizers twice. After --filter, stacks without names
// have the functions and lines that the sanitizer itself gets from llvm-symbolizer. A folder has
// two builds of each program.
func TestOracleSanitizers(t *testing.T) {
	testenv.Oracle(t)
	symbolizer := testenv.Tool(t, "llvm-symbolizer-22")
	for _, c := range []struct {
		compiler string
		flags    []string
		args     []string
		builds   bool // the runtime prints build-ids
	}{
		{"gcc", []string{"-fsanitize=address", "-no-pie"}, nil, false},
		{"gcc", []string{"-fsanitize=address", "-pie"}, nil, false},
		{"clang-22", []string{"-fsanitize=address", "-no-pie"}, nil, true},
		{"clang-22", []string{"-fsanitize=address", "-pie"}, nil, true},
		{"clang-22", []string{"-fsanitize=undefined", "-no-pie"}, []string{"overflow"}, true},
		{"clang-22", []string{"-fsanitize=undefined", "-pie"}, []string{"overflow"}, true},
	} {
		name := c.compiler + strings.Join(c.flags, "")
		t.Run(name, func(t *testing.T) {
			if c.builds {
				testenv.File(t, "/usr/lib/llvm-22/lib/clang/22/lib/linux/libclang_rt.asan-x86_64.a", "libclang-rt-22-dev")
			}
			dir := t.TempDir()
			source := filepath.Join(dir, "bad.c")
			if err := os.WriteFile(source, []byte(sanitized), 0o666); err != nil {
				t.Fatal(err)
			}
			build := func(program string, more ...string) string {
				program = filepath.Join(dir, program)
				if err := os.MkdirAll(filepath.Dir(program), 0o777); err != nil {
					t.Fatal(err)
				}
				args := append(append([]string{"-g", "-O1", "-Wl,--build-id", "-o", program, source}, c.flags...), more...)
				if out, err := exec.Command(testenv.Tool(t, c.compiler), args...).CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				return program
			}
			program := build("bin/bad")
			if c.builds {
				build("bin/other/bad", "-DOTHER", "-O0")
			}
			report := func(options string) string {
				cmd := exec.Command(program, c.args...)
				cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
				for _, v := range []string{"ASAN", "UBSAN"} {
					cmd.Env = append(cmd.Env, v+"_OPTIONS=print_stacktrace=1:"+options)
				}
				out, _ := cmd.CombinedOutput()
				return string(out)
			}
			want := report("external_symbolizer_path=" + symbolizer)
			log := report("symbolize=0")
			var out, errs bytes.Buffer
			status := app.Run(t.Context(), []string{"symtool", "resolve", "--filter", "--binaries", filepath.Join(dir, "bin")}, strings.NewReader(log), &out, &errs)
			if status != cli.StatusOK {
				t.Fatalf("status %d: %s\n%s", status, errs.String(), log)
			}
			compareReports(t, out.String(), want)
		})
	}
}

// compareReports compares the frames in the program's own file: "bad at /x/bad.c:5" and
// "in bad /x/bad.c:5:10".
func compareReports(t *testing.T, got, want string) {
	t.Helper()
	ours, theirs := sanitizerFrame.FindAllStringSubmatch(got, -1), sanitizerFrame.FindAllStringSubmatch(want, -1)
	if len(ours) != len(theirs) || len(ours) == 0 {
		t.Fatalf("%d frames, want %d:\n%s\nwant\n%s", len(ours), len(theirs), got, want)
	}
	same := 0
	inSource := regexp.MustCompile(`^in (\S+) (\S*/bad\.c:\d+)`)
	for i := range theirs {
		m := inSource.FindStringSubmatch(theirs[i][2])
		if m == nil {
			continue
		}
		if text := fmt.Sprintf("(%s at %s)", m[1], m[2]); !strings.HasPrefix(ours[i][2], text) {
			t.Errorf("#%d %s, want %s", i, ours[i][2], text)
		}
		same++
	}
	if same < 2 {
		t.Errorf("%d frames in the source:\n%s", same, want)
	}
}
