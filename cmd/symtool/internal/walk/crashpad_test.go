package walk_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/app"
	"github.com/symtool/symtool/internal/testenv"
)

// crashpadHandler is the program in Debian's chromium that writes minidumps.
const crashpadHandler = "/usr/lib/chromium/chrome_crashpad_handler"

// TestOracleCrashpad checks that a minidump that Crashpad wrote of an abort is walked without flags, by
// call frame information alone, although it names libraries without folders. The signature has the cause
// that the program has annotated.
func TestOracleCrashpad(t *testing.T) {
	testenv.Oracle(t)
	testenv.Tool(t, "chromium")
	if _, err := os.Stat(crashpadHandler); err != nil {
		t.Skip(err)
	}
	source, err := os.ReadFile("testdata/crashpad.c")
	if err != nil {
		t.Fatal(err)
	}
	program := testenv.Compile(t, "gcc", string(source), ".c", "-g", "-O1")
	database := t.TempDir()
	cmd := exec.Command(program, crashpadHandler, database)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	dumps, _ := filepath.Glob(filepath.Join(database, "pending", "*.dmp"))
	if len(dumps) != 1 {
		t.Fatalf("%d minidumps", len(dumps))
	}
	hereEnv(t, "", "")
	walked := func(args ...string) string {
		var out, messages bytes.Buffer
		if status := app.Run(t.Context(), append([]string{"symtool", "walk"}, append(args, dumps[0])...), strings.NewReader(""), &out, &messages); status != 0 {
			t.Errorf("%q: status %d, %s", args, status, &messages)
		}
		return out.String()
	}
	text := walked("--brief", "--verify")
	frames := regexp.MustCompile(`(?m)^ \d+  (\S+!\w+)`)
	var got []string
	for _, m := range frames.FindAllStringSubmatch(text, -1) {
		got = append(got, m[1])
	}
	// The frames between the first one, which has the system call, and abort depend on the C library.
	i := strings.Index(strings.Join(got, " "), "libc.so.6!abort prog!fail prog!load prog!main libc.so.6!")
	if i < 0 || !strings.Contains(text, "the symbols hold: ") {
		t.Errorf("printed\n%s", text)
	}
	if text := walked("--summary"); !strings.Contains(text, "  OOM | large | fail\n") {
		t.Errorf("printed\n%s", text)
	}
}
