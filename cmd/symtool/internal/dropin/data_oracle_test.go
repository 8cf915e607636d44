package dropin

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
)

const dataSource = `
#include <cstdio>
namespace ns { int counter = 3; struct S { static long total; int a[4]; }; long S::total = 4; S object; }
static int hidden[16];
extern "C" { int plain = 4; }
template <class T> T made = T(7);
thread_local int own = 5;
inline int inlined = 9;
const char message[] = "hello";
int zero[100];
int main(int c, char **v) {
  static int local = 2;
  static const int list[] = {1, 2, 3, 4};
  hidden[c & 15] = local++;
  zero[c]++;
  own++;
  printf("%s %d %d %d %ld %d %d %d %d\n", message, hidden[3], ns::counter, plain, ns::S::total, made<int>, inlined, list[c & 3], ns::object.a[c]);
}
`

// TestOracleData checks that llvm-symbolizer and symtool agree about data: its name, its extent, and where it is
// declared. Addresses with these differences are left out:
//
//   - LLVM does not read the file of a declaration in GCC's DWARF 5 (DW_FORM_implicit_const).
//   - It takes the size to be 1 if the definition refers to a declaration for the type: for static members and, from
//     GCC, for data in a namespace.
func TestOracleData(t *testing.T) {
	testenv.Oracle(t)
	tool, dir := testenv.Tool(t, "llvm-symbolizer-22"), t.TempDir()
	source := filepath.Join(dir, "data.cc")
	if err := os.WriteFile(source, []byte(dataSource), 0o666); err != nil {
		t.Fatal(err)
	}
	for i, build := range [][]string{{"clang++-22", "-g"}, {"clang++-22", "-g", "-O2", "-gdwarf-4"}, {"g++", "-g", "-gdwarf-4"}, {"clang++-22", "-g1"}} {
		program := filepath.Join(dir, fmt.Sprint("data", i))
		if out, err := exec.Command(testenv.Tool(t, build[0]), append(build[1:], source, "-o", program)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		questions := dataAddresses(t, program)
		for _, options := range []string{"", "-a -p", "--output-style=GNU -s", "--output-style=JSON", "--no-demangle"} {
			args := append(strings.Fields(options), "-e", program)
			theirs := asked(t, questions, tool, args...)
			compareAnswers(t, strings.Join(build, " ")+" "+options, theirs, asked(t, questions, testenv.Symtool(t), append([]string{"as", "llvm-symbolizer"}, args...)...))
			if declared := strings.Count(string(theirs), source+":"); options == "" && build[1] == "-g" && declared < 10 {
				t.Errorf("%s: %d places in the source, want 10 or more", strings.Join(build, " "), declared)
			}
		}
	}
}

// dataAddresses returns lines with the start and the middle of each data symbol.
func dataAddresses(t *testing.T, path string) string {
	t.Helper()
	f, err := objfile.Open(path, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b strings.Builder
	err = f.Symbols(object.Symtab, func(s *object.Symbol) {
		if s.Kind != object.Data || s.Undefined {
			return
		}
		fmt.Fprintf(&b, "DATA %#x\n", s.Addr)
		if !strings.Contains(string(s.Name), "2ns") {
			fmt.Fprintf(&b, "DATA %#x\n", s.Addr+s.Size/2)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
