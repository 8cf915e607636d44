package lint

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/symtool/symtool/internal/elfobj"
)

// symtool builds the program, once.
var symtool = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "symtool")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "symtool")
	out, err := exec.Command("go", "build", "-o", path, "github.com/symtool/symtool/cmd/symtool").CombinedOutput()
	if err != nil {
		return "", &exec.Error{Name: string(out), Err: err}
	}
	return path, nil
})

// dumped is what symtool writes for a binary.
func dumped(t testing.TB, path string) []byte {
	t.Helper()
	program, err := symtool()
	if err != nil {
		t.Fatal(err)
	}
	var out, problems bytes.Buffer
	cmd := exec.Command(program, "dump", path)
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil && out.Len() == 0 {
		t.Fatalf("dump %s: %v: %s", path, err, problems.Bytes())
	}
	return out.Bytes()
}

// lintBinary checks a text against a binary with the rules of the family.
func lintBinary(t testing.TB, text []byte, f *elfobj.File, o Options) *Report {
	t.Helper()
	o.Binary = f
	if o.File == "" {
		o.File = "a.sym"
	}
	if o.Rules == nil {
		o.Rules = binaryRules
	}
	r, err := Run(context.Background(), bytes.NewReader(text), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func openELF(t testing.TB, path string) *elfobj.File {
	t.Helper()
	f, err := elfobj.Open(path, elfobj.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}
