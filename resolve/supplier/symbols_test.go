package supplier

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
)

const (
	testID  = "5A9832E5287241C1838ED98914E9B7FF1"
	otherOf = "6A9832E5287241C1838ED98914E9B7FF1"
)

// testSym returns a symbol file with one function, called function, at 0x1000.
func testSym(name, id, function string) string {
	return "MODULE windows x86 " + id + " " + name + "\nFILE 0 a.c\nFUNC 1000 10 0 " + function + "\n1000 10 7 0\n"
}

func newSymbols(t testing.TB, path string) resolve.Supplier {
	t.Helper()
	s, err := NewSymbols(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// functionAt names the function at an address, "" without symbols.
func functionAt(t testing.TB, r resolve.Symbols, rva symfmt.RVA) string {
	t.Helper()
	if r == nil {
		return ""
	}
	var at resolve.Location
	ok, err := r.Find(rva, &at)
	if err != nil || !ok || len(at.Frames) == 0 {
		t.Errorf("%s: %#x: %v, %v", r.Identity().Path, rva, ok, err)
		return ""
	}
	return at.Frames[len(at.Frames)-1].Function
}

// answered is a Supplier's answer for a module: function, tried and error.
type answered struct {
	function string // at 0x1000
	tried    string // lines
	err      string
}

func askFor(t testing.TB, s resolve.Supplier, m resolve.Module) answered {
	t.Helper()
	r, tried, err := s.Symbols(context.Background(), m)
	a := answered{functionAt(t, r, 0x1000), strings.Join(resolve.Lines(tried), "\n"), ""}
	if err != nil {
		a.err = err.Error()
	}
	return a
}

func (a answered) check(t testing.TB, what string, want answered) {
	t.Helper()
	if a.function != want.function || (want.tried == "") != (a.tried == "") || !strings.Contains(a.tried, want.tried) ||
		(want.err == "") != (a.err == "") || !strings.Contains(a.err, want.err) {
		t.Errorf("%s: %+v\nwant %+v", what, a, want)
	}
}

// The forms of a store, and what is reported if nothing fits.
func TestFolder(t *testing.T) {
	sym := testSym("test_app.pdb", testID, "found")
	dll := testSym("x.dll", testID, "found")
	app := resolve.Module{Name: `c:\work\test_app.exe`, DebugFile: `c:\build\test_app.pdb`, DebugID: testID}
	lib := resolve.Module{Name: "x.dll", DebugID: testID}
	for name, c := range map[string]struct {
		files []string
		m     resolve.Module
		want  answered
	}{
		"plain":          {[]string{"test_app.pdb/" + testID + "/test_app.sym", sym}, app, answered{function: "found"}},
		"gzip":           {[]string{"test_app.pdb/" + testID + "/test_app.sym.gz", testenv.Gzip(t, sym)}, app, answered{"found", "/test_app.sym: no such file or directory", ""}},
		"zstd":           {[]string{"test_app.pdb/" + testID + "/test_app.sym.zst", testenv.Zstd(t, sym)}, app, answered{"found", "/test_app.sym.gz: no such file or directory", ""}},
		"lower-case id":  {[]string{"test_app.pdb/" + strings.ToLower(testID) + "/test_app.sym", sym}, app, answered{function: "found"}},
		"asked in lower": {[]string{"x.dll/" + testID + "/x.dll.sym", dll}, resolve.Module{Name: "x.dll", DebugID: strings.ToLower(testID)}, answered{function: "found"}},
		"lower-case PDB": {[]string{"test_app.pdb/" + testID + "/test_app.sym", sym}, resolve.Module{DebugFile: "Test_App.PDB", DebugID: testID}, answered{"found", "/Test_App.PDB: no such file or directory", ""}},
		"no PDB":         {[]string{"x.dll/" + testID + "/x.dll.sym", dll}, lib, answered{function: "found"}},
		"by the path":    {[]string{"x.dll/" + testID + "/x.dll.sym", dll}, resolve.Module{Path: "/lib/x.dll", DebugID: testID}, answered{function: "found"}},
		"by the other name": {[]string{"test_app.exe/" + testID + "/test_app.exe.sym", sym}, app,
			answered{"found", "/test_app.pdb: no such file or directory", ""}},
		"nothing":   {nil, lib, answered{"", "/x.dll: no such file or directory", ""}},
		"other id":  {[]string{"x.dll/" + otherOf + "/x.dll.sym", ""}, lib, answered{"", "/x.dll: no folder " + testID + "; there is " + otherOf, ""}},
		"other ids": {[]string{"x.dll/1/a", "", "x.dll/2/a", "", "x.dll/3/a", "", "x.dll/4/a", "", "x.dll/5/a", ""}, lib, answered{"", "; there is ", ""}},
		"no file":   {[]string{"x.dll/" + testID + "/y.sym", dll}, lib, answered{"", testID + "/x.dll.sym: no such file or directory\n", ""}},
		"wrong contents": {[]string{"x.dll/" + testID + "/x.dll.sym", testSym("x.dll", otherOf, "wrong")}, lib,
			answered{"", "x.dll.sym: not used", `x.dll.sym: not used: it has the symbols of "x.dll" ` + otherOf + ", want x.dll " + testID}},
		"wrong, then right": {[]string{"x.dll/" + testID + "/x.dll.sym", testSym("x.dll", otherOf, "wrong"), "x.dll/" + testID + "/x.dll.sym.gz", testenv.Gzip(t, dll)}, lib,
			answered{"found", "x.dll.sym: not used", "x.dll.sym: not used"}},
		"damaged":        {[]string{"x.dll/" + testID + "/x.dll.sym.gz", testenv.Gzip(t, dll)[:40]}, lib, answered{"", "x.dll.sym.gz: ", "x.dll.sym.gz: "}},
		"empty":          {[]string{"x.dll/" + testID + "/x.dll.sym", ""}, lib, answered{"", "not a symbol file", "not a symbol file"}},
		"a folder":       {[]string{"x.dll/" + testID + "/x.dll.sym/a", ""}, lib, answered{"", "not a regular file", "x.dll.sym: not a regular file"}},
		"a file":         {[]string{"x.dll", ""}, lib, answered{"", "/x.dll: ", "/x.dll: "}},
		"no id":          {[]string{"x.dll/" + testID + "/x.dll.sym", dll}, resolve.Module{Name: "x.dll"}, answered{function: "found"}},
		"no id, several": {[]string{"x.dll/" + testID + "/x.dll.sym", dll, "x.dll/1/x.dll.sym", dll}, resolve.Module{Name: "x.dll"}, answered{"", "/x.dll: several builds, and the module has no id: 1, " + testID, ""}},
		"no id, none":    {nil, resolve.Module{Name: "x.dll"}, answered{"", "/x.dll: no such file or directory", ""}},
		"nothing known":  {nil, resolve.Module{}, answered{}},
		"no name":        {[]string{"a.so/" + otherOf + "/a.so.sym", "", "x.dll/" + testID + "/x.dll.sym", dll}, resolve.Module{DebugID: testID}, answered{function: "found"}},
		"no name, lower": {[]string{"x.dll/" + strings.ToLower(testID) + "/x.dll.sym", dll}, resolve.Module{DebugID: testID}, answered{function: "found"}},
		"no name, other": {[]string{"x.dll/" + otherOf + "/x.dll.sym", ""}, resolve.Module{DebugID: testID}, answered{"", ": no module has the id " + testID, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			askFor(t, newSymbols(t, testenv.WriteFiles(t, c.files...)), c.m).check(t, name, c.want)
		})
	}
}

// A module's symbols are found by its id under any name, preferably one that differs only
// in the version; without an id, only under the exact name.
func TestFolderByID(t *testing.T) {
	dir := testenv.WriteFiles(t,
		"liba.so.6/"+testID+"/liba.so.6.sym", testSym("liba.so.6", testID, "a"),
		"liba.so.7/"+otherOf+"/liba.so.7.sym", testSym("liba.so.7", otherOf, "other"),
		"libb.so/"+testID+"/libb.so.sym", testSym("libb.so", testID, "b"),
		"liba.sox.6/"+testID+"/liba.sox.6.sym", testSym("liba.sox.6", testID, "wrong"))
	for name, want := range map[string]string{
		"liba.so.6.0.30": "a", "liba.so": "a", "liba.so.8": "a", "libb.so.1": "b", "libb.so": "b", "liba.sox": "a", "prog": "a", "libc-1.2.so": "a", "": "a",
	} {
		r, tried, err := newSymbols(t, dir).Symbols(context.Background(), resolve.Module{Name: name, DebugID: testID})
		if got := nameAt(t, r); got != want || err != nil {
			t.Errorf("%s: %q %v %v, want %q", name, got, tried, err, want)
		}
		if r, _, _ := newSymbols(t, dir).Symbols(context.Background(), resolve.Module{Name: name, DebugID: "7" + testID[1:]}); r != nil {
			t.Errorf("%s: the symbols of another id", name)
		}
	}
	if r, _, _ := newSymbols(t, dir).Symbols(context.Background(), resolve.Module{Name: "libb.so.1"}); r != nil {
		t.Error("the symbols of another name without an id")
	}
	zeros := strings.Repeat("0", 33)
	noID := testenv.WriteFiles(t, "a/"+zeros+"/a.sym", testSym("a", zeros, "a"))
	if r, _, _ := newSymbols(t, noID).Symbols(context.Background(), resolve.Module{Name: "b", DebugID: zeros}); r != nil {
		t.Error("the symbols of another module without an id")
	}
	lower := testenv.WriteFiles(t, "a/"+strings.ToLower(testID)+"/a.sym", testSym("a", testID, "a"))
	if r, _, _ := newSymbols(t, lower).Symbols(context.Background(), resolve.Module{Name: "b", DebugID: testID}); nameAt(t, r) != "a" {
		t.Error("not found below an id in lower case")
	}
}

// nameAt returns the name of testSym's function, or "" without symbols.
func nameAt(t *testing.T, r resolve.Symbols) string {
	t.Helper()
	var at resolve.Location
	if r == nil {
		return ""
	}
	if ok, err := r.Find(0x1000, &at); !ok || err != nil {
		t.Fatal(ok, err)
	}
	return at.Frames[0].Function
}

// A named pipe in a store does not block.
func TestFolderPipe(t *testing.T) {
	dir := testenv.WriteFiles(t, "x.dll/"+testID+"/readme", "")
	if err := syscall.Mkfifo(filepath.Join(dir, "x.dll", testID, "x.dll.sym"), 0o666); err != nil {
		t.Skip(err)
	}
	askFor(t, newSymbols(t, dir), resolve.Module{Name: "x.dll", DebugID: testID}).check(t, "pipe", answered{"", "not a regular file", "not a regular file"})
}

// hostileModules cannot be looked for. The value is part of the message.
var hostileModules = []struct {
	name, id, want string
}{
	{"..", testID, `module name "..": is not the name of a file: not looked for`},
	{".", testID, `module name ".": is not the name of a file`},
	{"../..", testID, `module name "..": is not the name of a file`},
	{`..\..`, testID, `module name "..": is not the name of a file`},
	{"a\x00b", testID, `module name "a\x00b": has the control character U+0000`},
	{"a\nb", testID, `has the control character U+000A`},
	{"a\x1b[2J", testID, `module name "a\x1b[2J": has the control character U+001B`},
	{"a\u009bb", testID, `has the control character U+009B`},
	{"a\u202eb", testID, `has the control character U+202E`},
	{"a\xff", testID, `is not UTF-8`},
	{strings.Repeat("n", 252), testID, `252 bytes, want at most 251`},
	{strings.Repeat("n", 1<<20), testID, `1048576 bytes, want at most 255`},
	{"a", "../x", `module id "../X": is not hexadecimal`},
	{"a", "..", `module id "..": is not hexadecimal`},
	{"a", "/etc/passwd", `is not hexadecimal`},
	{"a", "12\x0034", `is not hexadecimal`},
	{"a", `12\34`, `is not hexadecimal`},
	{"a", "1 2", `is not hexadecimal`},
	{"a", strings.Repeat("0", 256), `256 digits, want at most 255`},
	{"a", strings.Repeat("0", 1<<20), `1048576 digits, want at most 255`},
}

// Names and ids that would lead out of a store, or hide something, are refused and reported; files
// outside are never opened.
func TestFolderRefuses(t *testing.T) {
	root := testenv.WriteFiles(t, "store/a/readme", "",
		"x.sym", testSym("x", testID, "outside"), ".sym", testSym("..", testID, "outside"),
		"store/.sym", testSym("..", testID, "outside"), "a.sym", testSym("a", testID, "outside"), testID+"/...sym", testSym("a", testID, "outside"))
	s := newSymbols(t, filepath.Join(root, "store"))
	for _, c := range hostileModules {
		for _, m := range []resolve.Module{{Name: c.name, DebugID: c.id}, {DebugFile: c.name, DebugID: c.id}, {Path: "/lib/" + c.name, DebugID: c.id}} {
			a := askFor(t, s, m)
			a.check(t, c.want, answered{"", c.want, c.want})
			if len(a.err) > 2000 {
				t.Errorf("%.40q: an error of %d bytes", c.name, len(a.err))
			}
		}
	}
	// Leading folders are ignored: these names stay in the store.
	for _, name := range []string{"../x", "../../x", `..\x`, "/x", root + "/x", "a/../../x"} {
		askFor(t, s, resolve.Module{Name: name, DebugID: testID}).check(t, name, answered{"", root + "/store/x: no such file or directory", ""})
	}
	// If one name is refused, the other is still looked for.
	good := testenv.WriteFiles(t, "a/"+testID+"/a.sym", testSym("a", testID, "found"))
	askFor(t, newSymbols(t, good), resolve.Module{Name: "a", DebugFile: "..", DebugID: testID}).check(t, "one good name", answered{"found", `name ".."`, `name ".."`})
}

func TestFile(t *testing.T) {
	path := filepath.Join(testenv.WriteFiles(t, "any.name", testSym("test_app.pdb", testID, "found")), "any.name")
	for name, c := range map[string]struct {
		m    resolve.Module
		want answered
	}{
		"its module":      {resolve.Module{DebugFile: "test_app.pdb", DebugID: testID}, answered{function: "found"}},
		"lower case":      {resolve.Module{DebugFile: "TEST_APP.pdb", DebugID: strings.ToLower(testID)}, answered{function: "found"}},
		"renamed":         {resolve.Module{DebugFile: "renamed.pdb", DebugID: testID}, answered{function: "found"}},
		"by name":         {resolve.Module{DebugFile: "test_app.pdb"}, answered{function: "found"}},
		"nothing known":   {resolve.Module{}, answered{function: "found"}},
		"another":         {resolve.Module{DebugFile: "kernel32.pdb", DebugID: otherOf}, answered{"", `any.name: has the symbols of "test_app.pdb" ` + testID, ""}},
		"another by name": {resolve.Module{DebugFile: "kernel32.pdb"}, answered{"", `any.name: has the symbols of "test_app.pdb" ` + testID, ""}},
		"another version": {resolve.Module{DebugFile: "test_app.pdb", DebugID: otherOf}, answered{"", "not used", "any.name: not used: it has the symbols of \"test_app.pdb\" " + testID + ", want test_app.pdb " + otherOf}},
	} {
		askFor(t, newSymbols(t, path), c.m).check(t, name, c.want)
	}
	for text, want := range map[string]string{
		"":                               `not a symbol file: it begins with ""`,
		"\x7fELF\x02\x01\x01":            `not a symbol file: it begins with "\x7fELF`,
		strings.Repeat("x", 1<<20):       `not a symbol file: it begins with "xxxxxxxxxxxxxxxxxxxx"`,
		"FUNC 1000 10 0 f\n":             `not a symbol file: it begins with "FUNC 1000 10 0 f"`,
		"M\x00O\x00D\x00U\x00L\x00E\x00": "UTF-16",
	} {
		path := filepath.Join(testenv.WriteFiles(t, "a.sym", text), "a.sym")
		if _, err := NewSymbols(path, nil); err == nil || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
	if _, err := NewSymbols(path+"x", nil); !errors.Is(err, fs.ErrNotExist) || err.Error() != path+"x: no such file or directory" {
		t.Error(err)
	}
}

// In the stores of Breakpad and rust-minidump, each file is found by the name and id in its
// MODULE record, and by nothing else.
func TestFolderOfOthers(t *testing.T) {
	for _, c := range []struct {
		dir  string
		want int
	}{{"breakpad", 7}, {"rust-minidump", 2}} {
		root := testenv.Shared(t, "data", "minidumps", c.dir, "symbols")
		s := newSymbols(t, root)
		found := 0
		files, err := filepath.Glob(filepath.Join(root, "*", "*", "*.sym"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			name, id, err := FileModule(file)
			if err != nil {
				t.Fatal(err)
			}
			r, tried, err := s.Symbols(context.Background(), resolve.Module{DebugFile: name, DebugID: id})
			if strings.HasPrefix(filepath.Base(file), "linux_inline.") {
				// Breakpad's tests use this path, which is not in the layout.
				if r != nil || err != nil || len(tried) != len(extensions) {
					t.Errorf("%s: %v, %q, %v", file, r, tried, err)
				}
				continue
			}
			if r == nil || err != nil || len(tried) > 0 || r.Identity().Path != file {
				t.Errorf("%s: %v, %q, %v", file, r, tried, err)
				continue
			}
			found++
			r, tried, err = s.Symbols(context.Background(), resolve.Module{DebugFile: name, DebugID: otherOf})
			if r != nil || err != nil || len(tried) == 0 || !strings.Contains(tried[0].String(), "no folder "+otherOf+"; there is "+id) {
				t.Errorf("%s: with another id: %v, %q, %v", file, r, tried, err)
			}
		}
		if found != c.want {
			t.Errorf("%s: %d of %d files found, want %d", c.dir, found, len(files), c.want)
		}
	}
}

// Each symbol file is opened with the Opener of the Supplier.
func TestOpener(t *testing.T) {
	sym := testSym("a", testID, "found")
	store := testenv.WriteFiles(t, "a/"+testID+"/a.sym", sym)
	file := filepath.Join(testenv.WriteFiles(t, "a.sym", sym), "a.sym")
	var opened []string
	open := func(_ context.Context, path string) (resolve.Symbols, error) {
		opened = append(opened, path)
		return nil, errors.New("damaged")
	}
	m := resolve.Module{Name: "a", DebugID: testID}
	for _, make := range []func() (resolve.Supplier, error){
		func() (resolve.Supplier, error) { return NewSymbols(file, open) },
		func() (resolve.Supplier, error) { return NewSymbols(store, open) },
	} {
		s, err := make()
		if err != nil {
			t.Fatal(err)
		}
		if a := askFor(t, s, m); !strings.HasPrefix(a.err, "damaged") {
			t.Errorf("%+v", a)
		}
	}
	want := []string{file, filepath.Join(store, "a", testID, "a.sym")}
	if !slices.Equal(opened, want) {
		t.Errorf("opened %q, want %q", opened, want)
	}
}
