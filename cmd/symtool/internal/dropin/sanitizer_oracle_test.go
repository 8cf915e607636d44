package dropin

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// sanitizerCrashes are programs whose errors one of clang's sanitizers reports, with a line of the report that
// requires symbols.
var sanitizerCrashes = []struct{ name, sanitizer, text, want string }{
	{"heap", "address", `
#include <cstdlib>
namespace ns {
struct Box {
  int *p;
  __attribute__((always_inline)) int get(int i) const { return p[i]; }
};
template <class T> __attribute__((noinline)) int read(T &b, int i) { return b.get(i) + 1; }
}
int main(int argc, char **argv) {
  ns::Box b{static_cast<int *>(malloc(12))};
  free(b.p);
  return ns::read(b, argc);
}
`, "in ns::Box::get(int) const SOURCE:6:64"},
	{"global", "address", `
namespace ns { int table[8]; }
__attribute__((noinline)) int at(int i) { return ns::table[i]; }
int main(int argc, char **) { ns::table[argc] = 1; return at(7 + argc); }
`, "in at(int) SOURCE:3:50"},
	{"leak", "address", `
#include <cstdlib>
__attribute__((noinline)) void *make(int n) { void *volatile p = malloc(n); return p; }
int main(int argc, char **) { void *volatile p = make(argc * 10); p = nullptr; return 0; }
`, "in make(int) SOURCE:3:66"},
	{"undefined", "undefined", `
#include <climits>
template <class T> __attribute__((noinline)) T grow(T x, int n) { return x + n; }
int main(int argc, char **argv) { return grow(INT_MAX, argc) & 1; }
`, "in int grow<int>(int, int) SOURCE:3:76"},
	{"memory", "memory", `
#include <cstdio>
struct Box { int *p; __attribute__((always_inline)) int get(int i) const { return p[i]; } };
__attribute__((noinline)) int pick(const Box &b, int i) { if (b.get(i)) puts("set"); return 1; }
int main(int argc, char **) { Box b{new int[4]}; return pick(b, argc); }
`, "in pick(Box const&, int) SOURCE:4:63"},
	{"thread", "thread", `
#include <pthread.h>
#include <unistd.h>
namespace ns {
struct T { static long total; };
long T::total;
template <class U> __attribute__((noinline)) void add(U *p) { *p = *p + 1; }
}
static void *work(void *) { ns::add(&ns::T::total); return nullptr; }
int main() { pthread_t t; pthread_create(&t, nullptr, work, nullptr); usleep(300000); work(nullptr); pthread_join(t, nullptr); return 0; }
`, "Location is global 'ns::T::total' of size 8"},
}

// TestOracleSanitizer checks that sanitizers' reports of real crashes are the same with symtool as with
// llvm-symbolizer.
func TestOracleSanitizer(t *testing.T) {
	testenv.Oracle(t)
	clang, llvm, dir := testenv.Tool(t, "clang++-22"), testenv.Tool(t, "llvm-symbolizer-22"), t.TempDir()
	link := filepath.Join(dir, "llvm-symbolizer")
	if err := os.Symlink(testenv.Symtool(t), link); err != nil {
		t.Fatal(err)
	}
	for _, c := range sanitizerCrashes {
		source, program := filepath.Join(dir, c.name+".cc"), filepath.Join(dir, c.name)
		if err := os.WriteFile(source, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(clang, "-g", "-O1", "-fsanitize="+c.sanitizer, source, "-o", program).CombinedOutput(); err != nil {
			t.Skipf("no runtime of the sanitizers: %v: %s", err, out)
		}
		theirs, ours := sanitizerReport(program, llvm), sanitizerReport(program, link)
		if theirs != ours {
			t.Errorf("%s: report:\n%s\nwant:\n%s", c.name, ours, theirs)
		}
		if want := strings.ReplaceAll(c.want, "SOURCE", source); !strings.Contains(ours, want) {
			t.Errorf("%s: no %q:\n%s", c.name, want, ours)
		}
	}
}

// varying matches text that differs between runs: IDs and addresses.
var varying = regexp.MustCompile(`==[0-9]+==|[pt]id=[0-9]+|0x[0-9a-f]{6,}`)

// sanitizerReport returns the output of a program that fails, with symbols from a symbolizer.
func sanitizerReport(program, symbolizer string) string {
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), "UBSAN_OPTIONS=print_stacktrace=1")
	for _, kind := range []string{"ASAN", "UBSAN", "MSAN", "TSAN"} {
		cmd.Env = append(cmd.Env, kind+"_SYMBOLIZER_PATH="+symbolizer)
	}
	cmd.Env = append(cmd.Env, "TSAN_OPTIONS=external_symbolizer_path="+symbolizer)
	out, _ := cmd.CombinedOutput() // the program fails
	return varying.ReplaceAllString(string(out), "X")
}
