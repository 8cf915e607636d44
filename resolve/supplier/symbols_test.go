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
	"github.com/symtool/symtool/resolve/internal/resolvetest"
)

func newSymbols(t testing.TB, path string) resolve.Supplier {
	t.Helper()
	s, err := NewSymbols(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The forms of a store, and what is reported if nothing fits.
func TestFolder(t *testing.T) {
	sym := resolvetest.SymbolFile("test_app.pdb", resolvetest.ID, "found")
	dll := resolvetest.SymbolFile("x.dll", resolvetest.ID, "found")
	app := resolve.Module{Name: `c:\work\test_app.exe`, DebugFile: `c:\build\test_app.pdb`, DebugID: resolvetest.ID}
	lib := resolve.Module{Name: "x.dll", DebugID: resolvetest.ID}
	for name, c := range map[string]struct {
		files []string
		m     resolve.Module
		want  resolvetest.Answer
	}{
		"plain":          {[]string{"test_app.pdb/" + resolvetest.ID + "/test_app.sym", sym}, app, resolvetest.Answer{Function: "found"}},
		"gzip":           {[]string{"test_app.pdb/" + resolvetest.ID + "/test_app.sym.gz", testenv.Gzip(t, sym)}, app, resolvetest.Answer{Function: "found", Tried: "/test_app.sym: no such file or directory"}},
		"zstd":           {[]string{"test_app.pdb/" + resolvetest.ID + "/test_app.sym.zst", testenv.Zstd(t, sym)}, app, resolvetest.Answer{Function: "found", Tried: "/test_app.sym.gz: no such file or directory"}},
		"lower-case id":  {[]string{"test_app.pdb/" + strings.ToLower(resolvetest.ID) + "/test_app.sym", sym}, app, resolvetest.Answer{Function: "found"}},
		"asked in lower": {[]string{"x.dll/" + resolvetest.ID + "/x.dll.sym", dll}, resolve.Module{Name: "x.dll", DebugID: strings.ToLower(resolvetest.ID)}, resolvetest.Answer{Function: "found"}},
		"lower-case PDB": {[]string{"test_app.pdb/" + resolvetest.ID + "/test_app.sym", sym}, resolve.Module{DebugFile: "Test_App.PDB", DebugID: resolvetest.ID}, resolvetest.Answer{Function: "found", Tried: "/Test_App.PDB: no such file or directory"}},
		"no PDB":         {[]string{"x.dll/" + resolvetest.ID + "/x.dll.sym", dll}, lib, resolvetest.Answer{Function: "found"}},
		"by the path":    {[]string{"x.dll/" + resolvetest.ID + "/x.dll.sym", dll}, resolve.Module{Path: "/lib/x.dll", DebugID: resolvetest.ID}, resolvetest.Answer{Function: "found"}},
		"by the other name": {[]string{"test_app.exe/" + resolvetest.ID + "/test_app.exe.sym", sym}, app,
			resolvetest.Answer{Function: "found", Tried: "/test_app.pdb: no such file or directory"}},
		"nothing":   {nil, lib, resolvetest.Answer{Tried: "/x.dll: no such file or directory"}},
		"other id":  {[]string{"x.dll/" + resolvetest.OtherID + "/x.dll.sym", ""}, lib, resolvetest.Answer{Tried: "/x.dll: no folder " + resolvetest.ID + "; there is " + resolvetest.OtherID}},
		"other ids": {[]string{"x.dll/1/a", "", "x.dll/2/a", "", "x.dll/3/a", "", "x.dll/4/a", "", "x.dll/5/a", ""}, lib, resolvetest.Answer{Tried: "; there is "}},
		"no file":   {[]string{"x.dll/" + resolvetest.ID + "/y.sym", dll}, lib, resolvetest.Answer{Tried: resolvetest.ID + "/x.dll.sym: no such file or directory\n"}},
		"wrong contents": {[]string{"x.dll/" + resolvetest.ID + "/x.dll.sym", resolvetest.SymbolFile("x.dll", resolvetest.OtherID, "wrong")}, lib,
			resolvetest.Answer{Tried: "x.dll.sym: not used", Err: `x.dll.sym: not used: it has the symbols of "x.dll" ` + resolvetest.OtherID + ", want x.dll " + resolvetest.ID}},
		"wrong, then right": {[]string{"x.dll/" + resolvetest.ID + "/x.dll.sym", resolvetest.SymbolFile("x.dll", resolvetest.OtherID, "wrong"), "x.dll/" + resolvetest.ID + "/x.dll.sym.gz", testenv.Gzip(t, dll)}, lib,
			resolvetest.Answer{Function: "found", Tried: "x.dll.sym: not used", Err: "x.dll.sym: not used"}},
		"damaged":        {[]string{"x.dll/" + resolvetest.ID + "/x.dll.sym.gz", testenv.Gzip(t, dll)[:40]}, lib, resolvetest.Answer{Tried: "x.dll.sym.gz: ", Err: "x.dll.sym.gz: "}},
		"empty":          {[]string{"x.dll/" + resolvetest.ID + "/x.dll.sym", ""}, lib, resolvetest.Answer{Tried: "not a symbol file", Err: "not a symbol file"}},
		"a folder":       {[]string{"x.dll/" + resolvetest.ID + "/x.dll.sym/a", ""}, lib, resolvetest.Answer{Tried: "not a regular file", Err: "x.dll.sym: not a regular file"}},
		"a file":         {[]string{"x.dll", ""}, lib, resolvetest.Answer{Tried: "/x.dll: ", Err: "/x.dll: "}},
		"no id":          {[]string{"x.dll/" + resolvetest.ID + "/x.dll.sym", dll}, resolve.Module{Name: "x.dll"}, resolvetest.Answer{Function: "found"}},
		"no id, several": {[]string{"x.dll/" + resolvetest.ID + "/x.dll.sym", dll, "x.dll/1/x.dll.sym", dll}, resolve.Module{Name: "x.dll"}, resolvetest.Answer{Tried: "/x.dll: several builds, and the module has no id: 1, " + resolvetest.ID}},
		"no id, none":    {nil, resolve.Module{Name: "x.dll"}, resolvetest.Answer{Tried: "/x.dll: no such file or directory"}},
		"nothing known":  {nil, resolve.Module{}, resolvetest.Answer{}},
		"no name":        {[]string{"a.so/" + resolvetest.OtherID + "/a.so.sym", "", "x.dll/" + resolvetest.ID + "/x.dll.sym", dll}, resolve.Module{DebugID: resolvetest.ID}, resolvetest.Answer{Function: "found"}},
		"no name, lower": {[]string{"x.dll/" + strings.ToLower(resolvetest.ID) + "/x.dll.sym", dll}, resolve.Module{DebugID: resolvetest.ID}, resolvetest.Answer{Function: "found"}},
		"no name, other": {[]string{"x.dll/" + resolvetest.OtherID + "/x.dll.sym", ""}, resolve.Module{DebugID: resolvetest.ID}, resolvetest.Answer{Tried: ": no module has the id " + resolvetest.ID}},
	} {
		t.Run(name, func(t *testing.T) {
			resolvetest.Ask(t, newSymbols(t, testenv.WriteFiles(t, c.files...)), c.m).Check(t, name, c.want)
		})
	}
}

// A module's symbols are found by its id under any name, preferably one that differs only
// in the version; without an id, only under the exact name.
func TestFolderByID(t *testing.T) {
	dir := testenv.WriteFiles(t,
		"liba.so.6/"+resolvetest.ID+"/liba.so.6.sym", resolvetest.SymbolFile("liba.so.6", resolvetest.ID, "a"),
		"liba.so.7/"+resolvetest.OtherID+"/liba.so.7.sym", resolvetest.SymbolFile("liba.so.7", resolvetest.OtherID, "other"),
		"libb.so/"+resolvetest.ID+"/libb.so.sym", resolvetest.SymbolFile("libb.so", resolvetest.ID, "b"),
		"liba.sox.6/"+resolvetest.ID+"/liba.sox.6.sym", resolvetest.SymbolFile("liba.sox.6", resolvetest.ID, "wrong"))
	for name, want := range map[string]string{
		"liba.so.6.0.30": "a", "liba.so": "a", "liba.so.8": "a", "libb.so.1": "b", "libb.so": "b", "liba.sox": "a", "prog": "a", "libc-1.2.so": "a", "": "a",
	} {
		r, tried, err := newSymbols(t, dir).Symbols(context.Background(), resolve.Module{Name: name, DebugID: resolvetest.ID})
		if got := nameAt(t, r); got != want || err != nil {
			t.Errorf("%s: %q %v %v, want %q", name, got, tried, err, want)
		}
		if r, _, _ := newSymbols(t, dir).Symbols(context.Background(), resolve.Module{Name: name, DebugID: "7" + resolvetest.ID[1:]}); r != nil {
			t.Errorf("%s: the symbols of another id", name)
		}
	}
	if r, _, _ := newSymbols(t, dir).Symbols(context.Background(), resolve.Module{Name: "libb.so.1"}); r != nil {
		t.Error("the symbols of another name without an id")
	}
	zeros := strings.Repeat("0", 33)
	noID := testenv.WriteFiles(t, "a/"+zeros+"/a.sym", resolvetest.SymbolFile("a", zeros, "a"))
	if r, _, _ := newSymbols(t, noID).Symbols(context.Background(), resolve.Module{Name: "b", DebugID: zeros}); r != nil {
		t.Error("the symbols of another module without an id")
	}
	lower := testenv.WriteFiles(t, "a/"+strings.ToLower(resolvetest.ID)+"/a.sym", resolvetest.SymbolFile("a", resolvetest.ID, "a"))
	if r, _, _ := newSymbols(t, lower).Symbols(context.Background(), resolve.Module{Name: "b", DebugID: resolvetest.ID}); nameAt(t, r) != "a" {
		t.Error("not found below an id in lower case")
	}
}

// nameAt returns the name of resolvetest.SymbolFile's function, or "" without symbols.
func nameAt(t *testing.T, r resolve.Symbols) string {
	t.Helper()
	var at resolve.Location
	if r == nil {
		return ""
	}
	if ok, err := resolve.Find(t.Context(), r, 0x1000, &at); !ok || err != nil {
		t.Fatal(ok, err)
	}
	return at.Frames[0].Function
}

// A named pipe in a store does not block.
func TestFolderPipe(t *testing.T) {
	dir := testenv.WriteFiles(t, "x.dll/"+resolvetest.ID+"/readme", "")
	if err := syscall.Mkfifo(filepath.Join(dir, "x.dll", resolvetest.ID, "x.dll.sym"), 0o666); err != nil {
		t.Skip(err)
	}
	resolvetest.Ask(t, newSymbols(t, dir), resolve.Module{Name: "x.dll", DebugID: resolvetest.ID}).Check(t, "pipe", resolvetest.Answer{Tried: "not a regular file", Err: "not a regular file"})
}

// hostileModules cannot be looked for. The value is part of the message.
var hostileModules = []struct {
	name, id, want string
}{
	{"..", resolvetest.ID, `module name "..": is not the name of a file: not looked for`},
	{".", resolvetest.ID, `module name ".": is not the name of a file`},
	{"../..", resolvetest.ID, `module name "..": is not the name of a file`},
	{`..\..`, resolvetest.ID, `module name "..": is not the name of a file`},
	{"a\x00b", resolvetest.ID, `module name "a\x00b": has the control character U+0000`},
	{"a\nb", resolvetest.ID, `has the control character U+000A`},
	{"a\x1b[2J", resolvetest.ID, `module name "a\x1b[2J": has the control character U+001B`},
	{"a\u009bb", resolvetest.ID, `has the control character U+009B`},
	{"a\u202eb", resolvetest.ID, `has the control character U+202E`},
	{"a\xff", resolvetest.ID, `is not UTF-8`},
	{strings.Repeat("n", 252), resolvetest.ID, `252 bytes, want at most 251`},
	{strings.Repeat("n", 1<<20), resolvetest.ID, `1048576 bytes, want at most 255`},
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
		"x.sym", resolvetest.SymbolFile("x", resolvetest.ID, "outside"), ".sym", resolvetest.SymbolFile("..", resolvetest.ID, "outside"),
		"store/.sym", resolvetest.SymbolFile("..", resolvetest.ID, "outside"), "a.sym", resolvetest.SymbolFile("a", resolvetest.ID, "outside"), resolvetest.ID+"/...sym", resolvetest.SymbolFile("a", resolvetest.ID, "outside"))
	s := newSymbols(t, filepath.Join(root, "store"))
	for _, c := range hostileModules {
		for _, m := range []resolve.Module{{Name: c.name, DebugID: c.id}, {DebugFile: c.name, DebugID: c.id}, {Path: "/lib/" + c.name, DebugID: c.id}} {
			a := resolvetest.Ask(t, s, m)
			a.Check(t, c.want, resolvetest.Answer{Tried: c.want, Err: c.want})
			if len(a.Err) > 2000 {
				t.Errorf("%.40q: an error of %d bytes", c.name, len(a.Err))
			}
		}
	}
	// Leading folders are ignored: these names stay in the store.
	for _, name := range []string{"../x", "../../x", `..\x`, "/x", root + "/x", "a/../../x"} {
		resolvetest.Ask(t, s, resolve.Module{Name: name, DebugID: resolvetest.ID}).Check(t, name, resolvetest.Answer{Tried: root + "/store/x: no such file or directory"})
	}
	// If one name is refused, the other is still looked for.
	good := testenv.WriteFiles(t, "a/"+resolvetest.ID+"/a.sym", resolvetest.SymbolFile("a", resolvetest.ID, "found"))
	resolvetest.Ask(t, newSymbols(t, good), resolve.Module{Name: "a", DebugFile: "..", DebugID: resolvetest.ID}).Check(t, "one good name", resolvetest.Answer{Function: "found", Tried: `name ".."`, Err: `name ".."`})
}

func TestFile(t *testing.T) {
	path := filepath.Join(testenv.WriteFiles(t, "any.name", resolvetest.SymbolFile("test_app.pdb", resolvetest.ID, "found")), "any.name")
	for name, c := range map[string]struct {
		m    resolve.Module
		want resolvetest.Answer
	}{
		"its module":      {resolve.Module{DebugFile: "test_app.pdb", DebugID: resolvetest.ID}, resolvetest.Answer{Function: "found"}},
		"lower case":      {resolve.Module{DebugFile: "TEST_APP.pdb", DebugID: strings.ToLower(resolvetest.ID)}, resolvetest.Answer{Function: "found"}},
		"renamed":         {resolve.Module{DebugFile: "renamed.pdb", DebugID: resolvetest.ID}, resolvetest.Answer{Function: "found"}},
		"by name":         {resolve.Module{DebugFile: "test_app.pdb"}, resolvetest.Answer{Function: "found"}},
		"nothing known":   {resolve.Module{}, resolvetest.Answer{Function: "found"}},
		"another":         {resolve.Module{DebugFile: "kernel32.pdb", DebugID: resolvetest.OtherID}, resolvetest.Answer{Tried: `any.name: has the symbols of "test_app.pdb" ` + resolvetest.ID}},
		"another by name": {resolve.Module{DebugFile: "kernel32.pdb"}, resolvetest.Answer{Tried: `any.name: has the symbols of "test_app.pdb" ` + resolvetest.ID}},
		"another version": {resolve.Module{DebugFile: "test_app.pdb", DebugID: resolvetest.OtherID}, resolvetest.Answer{Tried: "not used", Err: "any.name: not used: it has the symbols of \"test_app.pdb\" " + resolvetest.ID + ", want test_app.pdb " + resolvetest.OtherID}},
	} {
		resolvetest.Ask(t, newSymbols(t, path), c.m).Check(t, name, c.want)
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
			r, tried, err = s.Symbols(context.Background(), resolve.Module{DebugFile: name, DebugID: resolvetest.OtherID})
			if r != nil || err != nil || len(tried) == 0 || !strings.Contains(tried[0].String(), "no folder "+resolvetest.OtherID+"; there is "+id) {
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
	sym := resolvetest.SymbolFile("a", resolvetest.ID, "found")
	store := testenv.WriteFiles(t, "a/"+resolvetest.ID+"/a.sym", sym)
	file := filepath.Join(testenv.WriteFiles(t, "a.sym", sym), "a.sym")
	var opened []string
	open := func(_ context.Context, path string) (resolve.Symbols, error) {
		opened = append(opened, path)
		return nil, errors.New("damaged")
	}
	m := resolve.Module{Name: "a", DebugID: resolvetest.ID}
	for _, make := range []func() (resolve.Supplier, error){
		func() (resolve.Supplier, error) { return NewSymbols(file, open) },
		func() (resolve.Supplier, error) { return NewSymbols(store, open) },
	} {
		s, err := make()
		if err != nil {
			t.Fatal(err)
		}
		if a := resolvetest.Ask(t, s, m); !strings.HasPrefix(a.Err, "damaged") {
			t.Errorf("%+v", a)
		}
	}
	want := []string{file, filepath.Join(store, "a", resolvetest.ID, "a.sym")}
	if !slices.Equal(opened, want) {
		t.Errorf("opened %q, want %q", opened, want)
	}
}
