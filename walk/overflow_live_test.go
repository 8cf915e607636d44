package walk

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/oracle"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/elfcore"
)

const overflowSource = `
#include <pthread.h>
__attribute__((noinline)) int deep(int n, volatile char *p) {
	volatile char b[200];
	b[n % 200] = (char)n;
	return deep(n + 1, b) + *p;
}
static void *run(void *p) { return (void *)(long)deep(0, p); }
int main(int argc, char **argv) {
	char c = 0;
	pthread_t t;
	if (argc > 1) {
		pthread_create(&t, 0, run, &c);
		pthread_join(t, 0);
	}
	return deep(0, &c);
}
`

// overflowCore compiles a program whose stack overflows, and returns it and the core that
// the system writes.
func overflowCore(t *testing.T, options, args []string) (program, core string) {
	t.Helper()
	if pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern"); err != nil || strings.TrimSpace(string(pattern)) != "core" {
		t.Skip("the system writes cores elsewhere")
	}
	folder := t.TempDir()
	program = filepath.Join(folder, "deep")
	if err := os.WriteFile(program+".c", []byte(overflowSource), 0o600); err != nil {
		t.Fatal(err)
	}
	gcc := append([]string{"-g", "-O1", "-Wl,--build-id", "-pthread", "-o", program, program + ".c"}, options...)
	if out, err := exec.Command(testenv.Tool(t, "gcc"), gcc...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	run := exec.Command("sh", append([]string{"-c", `ulimit -c unlimited && ulimit -s 1024 && exec "$0" "$@"`, program}, args...)...)
	run.Dir = folder
	if err := run.Run(); err == nil {
		t.Fatal("no crash")
	}
	found, err := filepath.Glob(filepath.Join(folder, "core*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("cores %q, %v", found, err)
	}
	return program, found[0]
}

// A real stack overflow is reported, and the stack is walked to its end, by rules and by
// frame pointers: gdb has the same number of frames.
func TestOracleStackOverflow(t *testing.T) {
	testenv.Oracle(t)
	for _, c := range []struct {
		name          string
		options, args []string
		technique     Technique
	}{
		{"main thread", nil, nil, ByEHFrame},
		{"thread", nil, []string{"thread"}, ByEHFrame},
		{"main thread by frame pointer", []string{"-fno-omit-frame-pointer"}, nil, ByFramePointer},
	} {
		t.Run(c.name, func(t *testing.T) {
			program, core := overflowCore(t, c.options, c.args)
			file, err := dumpfile.Open(t.Context(), core, dumpfile.Options{Core: elfcore.Options{AtPaths: true}})
			if err != nil {
				t.Fatal(err)
			}
			d := file.Dump
			defer file.Close()
			res := walkDump(t, binarySources(t, program), d, Config{Techniques: []Technique{c.technique}, Threads: func(d *dump.Dump) []int { return []int{d.CrashedThread()} }})
			s := &res.Stacks[0]
			if len(s.Notes) != 1 || !strings.HasPrefix(s.Notes[0], "stack overflow: ") {
				t.Errorf("notes %q", s.Notes)
			}
			deep := 0
			for i := range s.Frames {
				if s.Frames[i].Function() == "deep" {
					deep++
				}
			}
			t.Logf("%d frames, %s", len(s.Frames), s.Notes)
			out := oracle.GDB(t, "-ex", "bt -4", program, core)
			last := regexp.MustCompile(`(?m)^#(\d+) .* in deep \(`).FindAllStringSubmatch(out, -1)
			if len(last) == 0 {
				t.Fatalf("gdb shows\n%s", out)
			}
			if want, _ := strconv.Atoi(last[len(last)-1][1]); deep != want+1 {
				t.Errorf("%d frames of deep, gdb has %d\n%s", deep, want+1, out)
			}
		})
	}
}
