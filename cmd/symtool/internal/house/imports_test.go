package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

const module = "github.com/symtool/symtool"

// inSymtool is the folder of the program's packages. Commands must not import each other.
const inSymtool = "cmd/symtool/internal/"

// cfitest has what tests of call frame information in several packages share.
const cfitest = "dwarf2sym/internal/callframe/cfitest"

// layers lists every package of the module. A package imports only packages of lower layers. A new
// package is a decision about the design, and is added here.
var layers = [][]string{
	0:  {"symfmt/damage"},
	1:  {"internal/bin", "internal/cabinet", "internal/closest", "internal/demangle/mangled", "internal/dw", "internal/insn", "internal/intern", "internal/lru", "internal/once", "internal/page", "internal/par", "internal/pattern", "internal/scratch", "internal/span", "internal/testenv", "internal/text", "internal/version", "internal/xz", "internal/zst", "sframe", "symfmt/arch"},
	2:  {inSymtool + "markup", "internal/demangle/itanium", "internal/demangle/msvc", "internal/demangle/rust", "internal/fetch", "internal/object", "internal/oracle", "internal/unpack", "symfmt/cfi", "symfmt/srcmap", "symfmt/vars", "walk/dump"},
	3:  {"dwarf2sym/internal/dwarf", "internal/archive", "internal/demangle", "internal/object/elfobj", "internal/object/machobj", "internal/object/peobj", "symfmt", "walk/coroutine", "walk/crash", "walk/eval", "walk/internal/cpu", "walk/internal/regset"},
	4:  {"dwarf2sym/internal/codemap", "dwarf2sym/internal/die", "dwarf2sym/internal/publics", "dwarf2sym/internal/units", "dwarf2sym/internal/varjoin", "dwarf2sym/unwind", "internal/coderange", "internal/debuginfod", "internal/execcode", "internal/flatten", "internal/object/objfile", "lint/coverage", "resolve/internal/extent", "resolve/store", "symfmt/pdb", "symfmt/symjson", "symfmt/symlist", "symfmt/symsframe", "walk/elfcore", "walk/goroutine", "walk/minidump", "walk/show", "walk/source"},
	5:  {"dwarf2sym/internal/names", "dwarf2sym/internal/srcread", "dwarf2sym/internal/varread", "internal/debugset", "internal/symtest", "internal/unwind/code", "internal/upload", "lint/finding", "lint/internal/extent", "lint/internal/follow", "resolve/symserver/internal/catalog", "symfmt/gsym", "symfmt/jitdump", "symfmt/symcache", "symfmt/symdiff", "symfmt/symelf", "walk/live", "walk/microdump"},
	6:  {"dwarf2sym/internal/callframe", "dwarf2sym/internal/funcs", "lint/internal/facts", "symfmt/symdiff/report", "walk/dumpfile"},
	7:  {inSymtool + "filekind", "dwarf2sym/internal/callframe/cfitest", "dwarf2sym/internal/lookup", "dwarf2sym/internal/merge", "lint/internal/check"},
	8:  {"dwarf2sym", "lint/filter", "lint/internal/rules/binary", "lint/internal/rules/cfi", "lint/internal/rules/coverage", "lint/internal/rules/grammar", "lint/internal/rules/names", "lint/internal/rules/ranges", "lint/internal/rules/references", "lint/internal/rules/variables"},
	9:  {inSymtool + "cli", "lint", "resolve"},
	10: {"cmd/symtool/integration", inSymtool + "completion", inSymtool + "hostile", inSymtool + "inspect", inSymtool + "logs", inSymtool + "upload", inSymtool + "version", "lint/config", "lint/report", "resolve/internal/resolvetest", "resolve/supplier", "resolve/symserver", "walk/jit"},
	11: {"resolve/remote", "walk", "walk/internal/walktest"},
	12: {inSymtool + "binfile", inSymtool + "suppliers", inSymtool + "symbolizer", "walk/compare", "walk/internal/walktest/walks", "walk/report", "walk/verify"},
	13: {inSymtool + "diff", inSymtool + "dropin", inSymtool + "dump", inSymtool + "formats", inSymtool + "lint", inSymtool + "resolve", inSymtool + "serve", "walk/fleet"},
	14: {inSymtool + "convert", inSymtool + "doctor", inSymtool + "house", inSymtool + "sframe", inSymtool + "store", inSymtool + "walk"},
	15: {inSymtool + "app"},
	16: {"cmd/symtool", inSymtool + "apptest"},
}

// forTests are the packages that tests of every layer import. A command's tests run the whole program.
var forTests = []string{
	"internal/testenv", "internal/oracle", "internal/symtest", "dwarf2sym/internal/callframe/cfitest", "resolve/internal/resolvetest", "walk/internal/walktest", "walk/internal/walktest/walks", inSymtool + "app", inSymtool + "apptest",
}

// rule forbids an import in the packages for which from returns true.
type rule struct {
	imports string // a path or, if it ends in "/...", all paths below it
	from    func(pkg string, isTest bool) bool
	why     string
}

func except(packages ...string) func(string, bool) bool {
	return func(pkg string, _ bool) bool { return !slices.Contains(packages, pkg) }
}

func productExcept(packages ...string) func(string, bool) bool {
	return func(pkg string, isTest bool) bool { return !isTest && !slices.Contains(packages, pkg) }
}

func only(pkg string) func(string, bool) bool {
	return func(p string, _ bool) bool { return p == pkg }
}

// inLint reports whether a package is a part of the linter.
func inLint(pkg string, _ bool) bool { return pkg == "lint" || strings.HasPrefix(pkg, "lint/") }

// inProgram reports whether a package is a part of the program.
func inProgram(pkg string, _ bool) bool {
	return pkg == "cmd/symtool" || strings.HasPrefix(pkg, "cmd/symtool/")
}

func libraryExcept(packages ...string) func(string, bool) bool {
	product := productExcept(packages...)
	return func(pkg string, isTest bool) bool { return product(pkg, isTest) && !inProgram(pkg, isTest) }
}

const delve = "github.com/go-delve/delve/pkg/dwarf/"

var importRules = []rule{
	{module + "/dwarf2sym", inLint, "a reader that lints its own output agrees with its own mistakes: take the facts from internal/object"},
	{module + "/walk/...", only("dwarf2sym"), "dwarf2sym knows nothing of walking"},
	{module + "/symfmt", only("walk/dump"), "walk/dump knows nothing of symbol files"},
	{module + "/internal/testenv", productExcept("internal/oracle", "walk/internal/walktest", cfitest), "internal/testenv is for tests"},
	{module + "/internal/oracle", productExcept(cfitest), "internal/oracle is for tests"},
	{module + "/internal/symtest", productExcept(cfitest), "internal/symtest is for tests"},
	{module + "/" + cfitest, productExcept(), cfitest + " is for tests"},
	{module + "/resolve/internal/resolvetest", productExcept(), "resolve/internal/resolvetest is for tests"},
	{module + "/walk/internal/walktest", productExcept("walk/internal/walktest/walks"), "walk/internal/walktest is for tests"},
	{module + "/walk/internal/walktest/walks", productExcept(), "walk/internal/walktest/walks is for tests"},
	{"github.com/sebdah/goldie/v2/...", productExcept("internal/testenv"), "goldie is for tests, through internal/testenv.Golden"},
	{"github.com/santhosh-tekuri/jsonschema/v6/...", productExcept(), "JSON is checked against its schema in tests"},
	{"github.com/santhosh-tekuri/jsonschema/v6/...", inProgram, "each symtool in a script would start 10 ms later: see .ci/validate"},
	{"github.com/owenrumney/go-sarif/v3/...", productExcept(), "SARIF is read in tests"},
	{"github.com/pelletier/go-toml/v2/...", except("lint/config"), "TOML is the configuration of lint"},
	{"github.com/minio/minio-go/v7/...", except("internal/upload"), "buckets of S3's kind are a matter of internal/upload"},
	{"github.com/prometheus/...", except("resolve/symserver"), "metrics are the server's"},
	{"golang.org/x/time/rate", except("resolve/symserver"), "the server limits uploads"},
	{"golang.org/x/arch/...", except("walk/internal/cpu", "walk/crash", "walk/coroutine", "lint/internal/follow"), "instructions are decoded in walk/internal/cpu, walk/crash, walk/coroutine and lint/internal/follow"},
	{"github.com/urfave/cli/v2/...", except(inSymtool + "cli"), "commands take their flags from cmd/symtool/internal/cli; below it is the library"},
	{"github.com/ianlancetaylor/demangle/...", except("internal/demangle/itanium"), "names are demangled in internal/demangle"},
	{"debug/elf", productExcept("internal/object/elfobj", "symfmt/symelf", "walk/elfcore", "symfmt/arch"), "what a container calls things stays in its package: ask internal/object"},
	{module + "/internal/object/elfobj", productExcept("internal/object/objfile", "internal/debuginfod", "resolve/symserver", "walk", "walk/elfcore", "walk/minidump"), "a binary is opened by internal/object/objfile, and known as an object.File"},
	{"debug/pe", productExcept("internal/object/peobj"), "what a container calls things stays in its package: ask internal/object"},
	{module + "/internal/object/peobj", productExcept("internal/object/objfile"), "a binary is opened by internal/object/objfile, and known as an object.File"},
	{"debug/macho", productExcept("internal/object/machobj"), "what a container calls things stays in its package: ask internal/object"},
	{module + "/internal/object/machobj", productExcept("internal/object/objfile"), "a binary is opened by internal/object/objfile, and known as an object.File"},
	{delve + "frame", productExcept(), "delve's CFI reader panics on damaged input: it is a second opinion for tests"},
	{delve + "line", productExcept(), "delve's line reader panics on damaged input: it is a second opinion for tests"},
	{delve + "reader", productExcept(), "delve's DIE reader is a second opinion for tests"},
	{delve + "godwarf", productExcept(), "delve's DIE reader is a second opinion for tests"},
	{delve + "dwarfbuilder", productExcept(), "dwarfbuilder makes input for tests"},
}

// useRules lists names of imported packages that are forbidden outside tests.
var useRules = []struct {
	pkg, name string
	from      func(pkg string, isTest bool) bool
	why       string
}{
	{"os", "Exit", productExcept("cmd/symtool", inSymtool+"apptest"), "a library returns an error"},
	{"os", "Stderr", productExcept("cmd/symtool", inSymtool+"apptest"), "a library returns an error or a Problem"},
	{"os", "Stdout", productExcept("cmd/symtool", inSymtool+"apptest"), "a library writes to an io.Writer that it is given"},
	{"os", "Getenv", libraryExcept("internal/testenv"), "a library gets its options from the caller"},
	{"os", "LookupEnv", libraryExcept("internal/testenv"), "a library gets its options from the caller"},
}

// matches reports whether an import path matches a rule's pattern.
func matches(pattern, imported string) bool {
	base, all := strings.CutSuffix(pattern, "/...")
	return imported == base || all && strings.HasPrefix(imported, base+"/")
}

// layer returns the layer of a package, or -1 if it is not in the table.
func layer(pkg string) int {
	for i, packages := range layers {
		if slices.Contains(packages, pkg) {
			return i
		}
	}
	return -1
}

// checkImport returns what is wrong with an import, or "".
func checkImport(pkg, imported string, isTest bool) string {
	if pkg == "sframe" && !isTest && strings.HasPrefix(imported, module+"/") && imported != module+"/symfmt/damage" {
		return "sframe imports symfmt/damage only, to be usable alone"
	}
	for _, r := range importRules {
		if matches(r.imports, imported) && r.from(pkg, isTest) {
			return r.why
		}
	}
	other, ours := strings.CutPrefix(imported, module+"/")
	if !ours || isTest && other == pkg {
		return ""
	}
	switch from, to := layer(pkg), layer(other); {
	case to < 0:
		return other + " is not in the table: add it to layers in imports_test.go, at the layer it belongs to"
	case to >= from && !(isTest && slices.Contains(forTests, other)):
		return "layer " + strconv.Itoa(from) + " imports layer " + strconv.Itoa(to) + ": only lower layers may be imported"
	}
	return ""
}

// checkUses returns what is wrong with the names that a file uses.
func checkUses(pkg string, f *ast.File, isTest bool) []string {
	imports := map[string]string{} // name in the file -> path
	for _, spec := range f.Imports {
		p, _ := strconv.Unquote(spec.Path.Value)
		name := path.Base(p)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imports[name] = p
	}
	var wrong []string
	ast.Inspect(f, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := sel.X.(*ast.Ident)
		if !ok {
			return true
		}
		for _, r := range useRules {
			if imports[x.Name] == r.pkg && sel.Sel.Name == r.name && r.from(pkg, isTest) {
				wrong = append(wrong, "uses "+r.pkg+"."+r.name+": "+r.why)
			}
		}
		return true
	})
	return wrong
}

// otherModule reports whether a folder is the root of another Go module.
func otherModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// sourceFiles calls fn for each Go file of the module.
func sourceFiles(t *testing.T, fn func(pkg, file string)) {
	root := testenv.Root(t)
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && p != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "golden" || otherModule(p)) {
			return filepath.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(p, ".go") {
			rel, err := filepath.Rel(root, p)
			if err != nil {
				return err
			}
			fn(filepath.ToSlash(filepath.Dir(rel)), p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestImports(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, in one goroutine only")
	}
	seen := map[string]bool{}
	sourceFiles(t, func(pkg, file string) {
		if !seen[pkg] && layer(pkg) < 0 {
			t.Errorf("package %s is not in the table: add it to layers in imports_test.go, at the layer it belongs to", pkg)
		}
		seen[pkg] = true
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			return
		}
		isTest := strings.HasSuffix(file, "_test.go")
		for _, spec := range f.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Error(err)
			}
			if why := checkImport(pkg, imported, isTest); why != "" {
				t.Errorf("%s imports %s: %s", file, imported, why)
			}
		}
		for _, why := range checkUses(pkg, f, isTest) {
			t.Errorf("%s %s", file, why)
		}
	})
	if !seen["cmd/symtool"] || !seen["internal/bin"] {
		t.Errorf("only %d packages checked", len(seen))
	}
}

// TestImportRules checks that each rule forbids what it is supposed to forbid.
func TestImportRules(t *testing.T) {
	for _, c := range []struct {
		pkg, imported string
		isTest        bool
		want          string // part of the message; empty: allowed
	}{
		{"internal/bin", module + "/symfmt", false, "layer 1 imports layer 3"},
		{"symfmt", module + "/internal/bin", false, ""},
		{"symfmt", module + "/resolve/store", false, "layer 3 imports layer 4"},
		{"symfmt", module + "/walk/minidump", false, "layer 3 imports layer 4"},
		{"symfmt", module + "/new", false, "not in the table"},
		{"lint", module + "/dwarf2sym", false, "agrees with its own mistakes"},
		{"dwarf2sym", module + "/walk", false, "knows nothing of walking"},
		{"dwarf2sym", module + "/walk/dump", false, "knows nothing of walking"},
		{"walk/dump", module + "/symfmt/arch", false, ""},
		{"walk/dump", module + "/symfmt", false, "knows nothing of symbol files"},
		{"sframe", module + "/symfmt/arch", false, "usable alone"},
		{"sframe", module + "/symfmt/damage", false, ""},
		{"sframe", module + "/internal/testenv", true, ""},
		{"internal/par", module + "/internal/testenv", true, ""},
		{"symfmt", module + "/internal/testenv", false, "for tests"},
		{"symfmt", "github.com/sebdah/goldie/v2", false, "for tests"},
		{"internal/testenv", "github.com/sebdah/goldie/v2", false, ""},
		{"dwarf2sym", "github.com/urfave/cli/v2", false, "commands take their flags"},
		{"cmd/symtool/internal/dump", "github.com/urfave/cli/v2", false, "commands take their flags"},
		{"cmd/symtool/internal/cli", "github.com/urfave/cli/v2", false, ""},
		{"cmd/symtool/internal/dump", module + "/cmd/symtool/internal/convert", false, "imports layer"},
		{"symfmt", "github.com/ianlancetaylor/demangle", false, "demangled in internal/demangle"},
		{"internal/demangle/itanium", "github.com/ianlancetaylor/demangle", false, ""},
		{"dwarf2sym", delve + "frame", false, "second opinion"},
		{"dwarf2sym", delve + "frame", true, ""},
		{"dwarf2sym", delve + "regnum", false, ""},
		{"symfmt", "debug/elf", false, "stays in its package"},
		{"symfmt/symelf", "debug/elf", false, ""},
		{"dwarf2sym", module + "/internal/object/elfobj", false, "opened by internal/object/objfile"},
		{"dwarf2sym", module + "/internal/object/elfobj", true, ""},
	} {
		got := checkImport(c.pkg, c.imported, c.isTest)
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s imports %s (test: %v): %q, want %q", c.pkg, c.imported, c.isTest, got, c.want)
		}
	}
}

func TestUseRules(t *testing.T) {
	const source = `package x
import (
	o "os"
)
func f() { o.Exit(1) }
var home = o.Getenv("HOME")
var args = o.Args
`
	f, err := parser.ParseFile(token.NewFileSet(), "x.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		pkg    string
		isTest bool
		want   int
	}{{"symfmt", false, 2}, {"cmd/symtool", false, 0}, {"internal/testenv", false, 1}, {"symfmt", true, 0}} {
		if got := checkUses(c.pkg, f, c.isTest); len(got) != c.want {
			t.Errorf("%s (test: %v): %q, want %d", c.pkg, c.isTest, got, c.want)
		}
	}
}
