package oracle

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
)

// GDB returns what gdb prints, to standard output and standard error, when it runs with args and ends. It reads no
// user's settings and, unless args enable it, asks no debuginfod server.
func GDB(t testing.TB, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), testenv.Tool(t, "gdb"), append([]string{"-nx", "-batch", "-iex", "set debuginfod enabled off"}, args...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return string(out)
}

// CrashCore runs a program until it crashes, and writes a core as gdb does. It returns the program's and gdb's output.
func CrashCore(t testing.TB, core, program string, args ...string) string {
	t.Helper()
	return GDB(t, append([]string{"-ex", "handle SIGUSR1 SIGURG nostop noprint pass", "-ex", "run", "-ex", "generate-core-file " + core, "--args", program}, args...)...)
}

// coreTimeout ends a gdb that loops in a stack that it misunderstands.
const coreTimeout = 2 * time.Minute

// GDBCore returns what gdb prints to standard output for commands about a core of any CPU. It takes libraries from the
// shared test data and from beside the core and the program, not from this machine. Without a program, program is "".
func GDBCore(t testing.TB, core, program string, commands ...string) string {
	t.Helper()
	libraries := append(testenv.SharedGlob(t, "data", "crashes", "system"), filepath.Dir(core))
	first := []string{"set sysroot /nonexistent", "set debug-file-directory /nonexistent", "set debuginfod enabled off", "set confirm off"}
	if program != "" {
		libraries = append(libraries, filepath.Dir(program))
		first = append(first, "file "+program)
	}
	first = append(first, "set solib-search-path "+strings.Join(libraries, ":"), "core-file "+core)
	args := []string{"-nx", "-batch"}
	for _, c := range append(first, commands...) {
		args = append(args, "-ex", c)
	}
	ctx, cancel := context.WithTimeout(t.Context(), coreTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, testenv.Tool(t, "gdb-multiarch"), args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return string(out)
}
