package dropin

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// TestOracleSpecialNames checks that mangled names are printed as by llvm-symbolizer. They are names in every mangling
// scheme that LLVM's demangler knows, above all names that compilers make up; names that it leaves unchanged; and
// truncated names.
func TestOracleSpecialNames(t *testing.T) {
	testenv.Oracle(t)
	dir := t.TempDir()
	source, object := filepath.Join(dir, "names.s"), filepath.Join(dir, "names.o")
	var assembly, questions strings.Builder
	for i, name := range strings.Fields(string(testenv.ReadFile(t, "testdata/specialnames.txt"))) {
		fmt.Fprintf(&assembly, ".globl %[1]q\n.type %[1]q, @function\n%[1]q: .fill 16, 1, 0x90\n.size %[1]q, 16\n", name)
		fmt.Fprintf(&questions, "%#x\n", 16*i)
	}
	if err := os.WriteFile(source, []byte(assembly.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(testenv.Tool(t, "clang-22"), "--target=x86_64-linux-gnu", "-c", source, "-o", object).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	compareAnswers(t, "special names", asked(t, questions.String(), testenv.Tool(t, "llvm-symbolizer-22"), "-e", object),
		asked(t, questions.String(), testenv.Symtool(t), "as", "llvm-symbolizer", "-e", object))
}
