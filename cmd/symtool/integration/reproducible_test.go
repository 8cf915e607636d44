package integration_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// reproduction is a build of the program in the worked examples.
type reproduction struct {
	folder string
	env    []string
	jobs   string
	umask  string
}

// mapping is the program that removes the folder from names.
type mapping string

const (
	byCompiler mapping = "compiler"
	byDump     mapping = "dump"
	byNobody   mapping = "nobody"
)

// TestOracleReproducible checks that the symbol files of a program that is built in two folders have
// the same bytes if the compiler or --prefix-map maps the folders. This holds for plain and compressed
// files, in a store, from a separate debug file and from .dwo files; in other time zones and languages,
// with other umasks, with any number of threads, and on another day. If nothing maps the folders, each
// file with names of sources differs.
func TestOracleReproducible(t *testing.T) {
	testenv.Oracle(t)
	for _, tool := range []string{"gcc", "clang-22", "objcopy"} {
		testenv.Tool(t, tool)
	}
	builds := []reproduction{
		{"one", []string{"TZ=UTC", "LANG=C", "LC_ALL=C"}, "1", "022"},
		{"another one/far below", []string{"TZ=Pacific/Chatham", "LANG=de_DE.UTF-8", "LC_ALL=tr_TR.UTF-8", "SOURCE_DATE_EPOCH=0"}, "7", "077"},
		{"3", []string{"TZ=America/New_York", "LC_ALL=ja_JP.eucJP", "GOMAXPROCS=1", "SOURCE_DATE_EPOCH=1234567890"}, "2", "000"},
	}
	for _, compiler := range []string{"gcc", "clang-22"} {
		for _, who := range []mapping{byCompiler, byDump, byNobody} {
			t.Run(compiler+" mapped by "+string(who), func(t *testing.T) {
				root := t.TempDir()
				want := builds[0].symbols(t, root, compiler, who)
				for _, b := range builds[1:] {
					compareBuilds(t, want, b.symbols(t, root, compiler, who), who)
				}
				for name, text := range want {
					if bytes.Contains(text, []byte(root)) != (who == byNobody && !strings.HasSuffix(name, ".gz") && !strings.HasSuffix(name, ".d")) {
						t.Errorf("%s: wrong about the folder:\n%s", name, text)
					}
				}
				if who != byNobody && !bytes.Contains(want["app.sym"], []byte("/src/main.c\n")) {
					t.Errorf("%s", want["app.sym"])
				}
			})
		}
	}
}

// compareBuilds compares the files of two builds: they are equal or, if nothing maps the folders, all
// files except the depfiles differ.
func compareBuilds(t *testing.T, want, got map[string][]byte, who mapping) {
	t.Helper()
	if len(want) != 6 || len(got) != len(want) {
		t.Errorf("%d and %d files, want 6", len(want), len(got))
	}
	for name, text := range want {
		same := who != byNobody || strings.HasSuffix(name, ".d")
		if bytes.Equal(got[name], text) != same {
			t.Errorf("%s: the same is %v:\n%s\nand\n%s", name, !same, got[name], text)
		}
	}
}

// symbols builds the program, and returns the files that dump writes, by name.
func (b reproduction) symbols(t *testing.T, root, compiler string, who mapping) map[string][]byte {
	t.Helper()
	dir := filepath.Join(root, b.folder)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	src, err := filepath.Abs(filepath.Join("testdata", "integration", "src"))
	if err != nil {
		t.Fatal(err)
	}
	// The compiler's environment is always the same: dump is what is tested.
	script := `cp "$1"/* . && $3 -g -O2 $2 -Wl,--build-id=none -o app "$PWD/main.c" core.c &&
		objcopy --only-keep-debug app app.debug && objcopy --strip-all --add-gnu-debuglink=app.debug app stripped &&
		$3 -g -O2 -gsplit-dwarf $2 -c main.c core.c && $3 -Wl,--build-id=none -o split main.o core.o`
	flags, prefix := "", []string(nil)
	if who == byDump {
		prefix = []string{"--prefix-map", dir + "=/src"}
	}
	if who == byCompiler {
		// $2 is split at blanks, so the map is in a response file.
		if err := os.WriteFile(filepath.Join(dir, "map.rsp"), []byte(`"-ffile-prefix-map=`+dir+`=/src"`), 0o666); err != nil {
			t.Fatal(err)
		}
		flags = "@map.rsp"
	}
	cmd := exec.Command("sh", "-c", script, "sh", src, flags, compiler)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	program := testenv.Symtool(t)
	dump := func(args ...string) {
		t.Helper()
		c := exec.Command("sh", append(append([]string{"-c", `umask "$0"; exec "$@"`, b.umask, program, "dump", "-j", b.jobs, "--no-debuginfod"}, prefix...), args...)...)
		c.Dir, c.Env = dir, append(os.Environ(), b.env...)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
	dump("--digest", "-MD", "-o", "app.sym", "app") // as in a store
	dump("--gzip", "-o", "app.sym.gz", "app")
	dump("--store", "store", "app")
	dump("-o", "pair.sym", "stripped", "app.debug")
	dump("-MD", "-o", "split.sym", "split")
	return readAll(t, dir, "app.sym", "app.sym.d", "app.sym.gz", "pair.sym", "split.sym", "split.sym.d")
}

func readAll(t *testing.T, dir string, names ...string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = text
	}
	stored, err := filepath.Glob(filepath.Join(dir, "store", "*", "*", "*"))
	if err != nil || len(stored) != 1 {
		t.Fatalf("%q, %v", stored, err)
	}
	text, err := os.ReadFile(stored[0])
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, all["app.sym"]) {
		t.Errorf("the store has\n%s\nwant\n%s", text, all["app.sym"])
	}
	return all
}
