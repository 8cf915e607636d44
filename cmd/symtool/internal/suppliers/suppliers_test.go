package suppliers

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
)

// supplierOf returns the Supplier for flags, and the error stream.
func supplierOf(t testing.TB, flags ...string) (s resolve.Supplier, stderr *bytes.Buffer) {
	t.Helper()
	s, status, stderr := callOf(flags)
	if status != cli.StatusOK {
		t.Fatalf("status %d: %s", status, stderr)
	}
	return s, stderr
}

// callOf returns the Supplier for flags, the exit status of a command with these flags, and the error
// stream.
func callOf(flags []string) (s resolve.Supplier, status int, stderr *bytes.Buffer) {
	stderr = &bytes.Buffer{}
	commands := func(msgs *cli.Messages) []*cli.Command {
		places := &Places{Msgs: msgs}
		return []*cli.Command{{Name: "test", Flags: places.Flags(), Action: func(*cli.Context) (err error) {
			if s, err = places.New(nil); err != nil {
				return cli.AsUsageError("test", err)
			}
			return nil
		}}}
	}
	status = cli.Run(context.Background(), commands, append([]string{"symtool", "test"}, flags...), nil, &bytes.Buffer{}, stderr)
	return s, status, stderr
}

const suppliedID = "5A9832E5287241C1838ED98914E9B7FF1"

func writeSym(t testing.TB, path, function string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	text := "MODULE Linux x86_64 " + suppliedID + " lib.so\nFUNC 1000 10 0 " + function + "\n"
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSupplierOrder checks that suppliers are in the order of the flags' help and of each flag's values.
func TestSupplierOrder(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "xdg"))
	place := filepath.Join("lib.so", suppliedID, "lib.so.sym")
	file := writeSym(t, filepath.Join(dir, "file.sym"), "file")
	writeSym(t, filepath.Join(dir, "store", place), "store")
	writeSym(t, filepath.Join(dir, "served", place), "served")
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(dir, "served"))))
	defer server.Close()
	m := resolve.Module{Name: "lib.so", DebugID: suppliedID}
	for _, c := range []struct{ flags, want, stderr string }{
		{"--symbols " + file + " --symbols " + dir + "/store", "file", ""},
		{"--symbols " + dir + "/store --symbols " + file, "store", ""},
		{"--symbol-url " + server.URL + " --binaries " + dir + " --symbols " + dir, "served", ""},
		{"--symbol-url " + server.URL + " --symbols " + dir + "/store", "store", ""},
		{"-v --symbol-url " + server.URL + " --symbol-cache " + dir + "/cache", "served", "symtool: asking " + server.URL + "/lib.so/" + suppliedID + "/lib.so.sym\n"},
		{"--binaries " + dir, "", ""},
		{"", "", ""},
	} {
		s, stderr := supplierOf(t, strings.Fields(c.flags)...)
		r, tried, err := s.Symbols(context.Background(), m)
		if err != nil || (r != nil) != (c.want != "") {
			t.Errorf("%s: %v, %q, %v", c.flags, r, tried, err)
			continue
		}
		if r != nil {
			var at resolve.Location
			if ok, err := resolve.Find(t.Context(), r, 0x1001, &at); !ok || err != nil || at.Frames[0].Function != c.want {
				t.Errorf("%s: %v, %v, %+v, want %s", c.flags, ok, err, at, c.want)
			}
		}
		if stderr.String() != c.stderr {
			t.Errorf("%s: printed %q, want %q", c.flags, stderr, c.stderr)
		}
	}
	for _, cached := range []string{"xdg/symtool/symbols", "cache"} {
		if _, err := os.Stat(filepath.Join(dir, cached, place)); err != nil {
			t.Error(err)
		}
	}
}

func TestSupplierFlags(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.sym")
	if err := os.WriteFile(bad, []byte("\x1b[2J"), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	for _, c := range []struct {
		flags  []string
		status int
		want   string
	}{
		{[]string{"--symbols", ""}, cli.StatusUsage, "--symbols is empty"},
		{[]string{"--symbol-url="}, cli.StatusUsage, "--symbol-url is empty"},
		{[]string{"--binaries", dir, "--binaries", ""}, cli.StatusUsage, "--binaries is empty"},
		{[]string{"--symbols", dir + "/none"}, cli.StatusInput, dir + "/none: no such file or directory"},
		{[]string{"--symbols", bad}, cli.StatusInput, bad + `: not a symbol file: it begins with "\x1b[2J"`},
		{[]string{"--binaries", dir + "/none"}, cli.StatusInput, dir + "/none: no such file or directory"},
		{[]string{"--symbol-url", "ftp://host"}, cli.StatusUsage, `--symbol-url: no folder for its cache: set --symbol-cache, XDG_CACHE_HOME or HOME`},
		{[]string{"--symbol-url", "ftp://host", "--symbol-cache", dir}, cli.StatusUsage, `--symbol-url: "ftp://host" is not an http: or https: URL`},
		{[]string{"--symbol-cache", dir}, cli.StatusUsage, "--symbol-cache is for --symbol-url; use --symbols for the files in such a folder"},
		{[]string{"--symbol-cache", ""}, cli.StatusUsage, "--symbol-cache is empty"},
	} {
		want := "symtool: " + c.want + "\n"
		if c.status == cli.StatusUsage {
			want = "symtool test: " + c.want + " (see symtool test --help)\n"
		}
		if _, status, stderr := callOf(c.flags); status != c.status || stderr.String() != want {
			t.Errorf("%q: status %d, %s, want %d, %s", c.flags, status, stderr, c.status, want)
		}
	}
}

// TestBinariesAnswerAsDumped checks that a binary found by --binaries gives the same answers as the symbol
// file that dump writes for it: at every FUNC, line, inlined function and PUBLIC of the libraries and
// programs of real crashes, and one byte before and after.
func TestBinariesAnswerAsDumped(t *testing.T) {
	root := testenv.Shared(t, "data", "crashes")
	s, _ := supplierOf(t, "--binaries", root)
	var files []string
	for _, pattern := range []string{"system/*.so.?", "*/prog", "*/libcb.so"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	total := 0
	for _, file := range files {
		sym := filepath.Join(t.TempDir(), "a.sym")
		if out, err := exec.Command(testenv.Symtool(t), "dump", "--no-debuginfod", "-o", sym, file).CombinedOutput(); err != nil && !strings.Contains(string(out), "no debug information") {
			t.Fatalf("%s: %v: %s", file, err, out)
		}
		want, err := resolve.Open(context.Background(), sym, resolve.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		x := want.Identity()
		got, tried, err := s.Symbols(context.Background(), resolve.Module{Name: x.Name, DebugID: x.ID})
		if got == nil || err != nil {
			t.Errorf("%s: %q, %v", file, tried, err)
			continue
		}
		total += compareAnswers(t, file, got, want, addressesOf(t, sym))
		want.Close()
	}
	t.Logf("%d addresses of %d files", total, len(files))
	if total < 500_000 {
		t.Errorf("%d addresses: too few for a comparison", total)
	}
}

// addressesOf lists the addresses at which the answer may change, and the addresses next to them.
func addressesOf(t testing.TB, sym string) (addrs []symfmt.RVA) {
	t.Helper()
	f, err := os.Open(sym)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	add := func(rva symfmt.RVA, size uint64) {
		addrs = append(addrs, rva-1, rva, rva+1, rva+symfmt.RVA(size)-1, rva+symfmt.RVA(size))
	}
	records := symfmt.NewReader(f, symfmt.ReadOptions{File: sym})
	for {
		rec, err := records.Next()
		if err == io.EOF {
			return addrs
		}
		if err != nil {
			t.Fatal(err)
		}
		switch rec.Kind {
		case symfmt.KindFunc:
			add(rec.RVA, rec.Size)
		case symfmt.KindPublic:
			add(rec.RVA, 1)
		case symfmt.KindLine:
			add(rec.Line.RVA, rec.Line.Size)
		case symfmt.KindInline:
			for _, r := range rec.Inline.Ranges {
				add(r.RVA, r.Size)
			}
		}
	}
}

func compareAnswers(t *testing.T, file string, got, want resolve.Symbols, addrs []symfmt.RVA) int {
	var a, b resolve.Location
	bad := 0
	for _, rva := range addrs {
		okA, errA := resolve.Find(t.Context(), got, rva, &a)
		okB, errB := resolve.Find(t.Context(), want, rva, &b)
		if okA != okB || errA != nil || errB != nil || okA && !reflect.DeepEqual(a, b) {
			if bad++; bad <= 5 {
				t.Errorf("%s: %#x: %+v, %v; want %+v, %v", file, rva, a, errA, b, errB)
			}
		}
	}
	if bad > 5 {
		t.Errorf("%s: %d differences", file, bad)
	}
	return len(addrs)
}
