package walktest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// CrashProgram builds a program of walk/testdata/derived with a compiler.
func CrashProgram(t testing.TB, compiler, source string, flags ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	cc := exec.Command(testenv.Tool(t, compiler), append([]string{"-g", "-w", source, "-o", program}, flags...)...)
	cc.Dir = filepath.Join(testenv.Root(t), "walk", "testdata", "derived")
	if out, err := cc.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// CrashCore returns the core that the system writes for a program that crashes. The test is skipped if the system writes
// cores elsewhere.
func CrashCore(t testing.TB, program string, args ...string) string {
	t.Helper()
	if pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern"); err != nil || strings.TrimSpace(string(pattern)) != "core" {
		t.Skip("the system writes cores elsewhere")
	}
	run := exec.Command("sh", append([]string{"-c", `ulimit -c unlimited && exec "$0" "$@"`, program}, args...)...)
	run.Dir = t.TempDir()
	if out, err := run.CombinedOutput(); err == nil {
		t.Fatalf("%s %s did not crash\n%s", program, args, out)
	}
	cores, err := filepath.Glob(filepath.Join(run.Dir, "core*"))
	if err != nil || len(cores) != 1 {
		t.Fatalf("cores %q, %v", cores, err)
	}
	return cores[0]
}
