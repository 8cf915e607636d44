package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/symdiff"
)

// compareTexts compares two texts.
func compareTexts(t testing.TB, old, new string, opts symdiff.Options) *symdiff.Result {
	t.Helper()
	r, err := symdiff.Compare(context.Background(), symdiff.NewSource(strings.NewReader(old), int64(len(old)), "old.sym"), symdiff.NewSource(strings.NewReader(new), int64(len(new)), "new.sym"), opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func testdata(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// shapes returns the difference of testdata/old.sym and new.sym.
func shapes(t testing.TB, opts symdiff.Options) *symdiff.Result {
	return compareTexts(t, testdata(t, "old.sym"), testdata(t, "new.sym"), opts)
}

// folderModules returns a module of each status.
func folderModules(t testing.TB) []*Module {
	one := &Head{File: "a/one.sym", OS: "Linux", CPU: "x86_64", ID: "0", Name: "one.so"}
	two := &Head{File: "b/two.sym", OS: "Linux", CPU: "arm64", ID: "1", Name: "two.so"}
	same := testdata(t, "old.sym")
	same = same[:strings.LastIndex(same, "INFO GENERATOR")] + same[strings.Index(same, "FILE 0"):]
	moved := strings.Replace(same, "10d0 10 50 0", "10d0 10 49 0", 1)
	return []*Module{
		twoFiles(shapes(t, symdiff.Options{})), twoFiles(compareTexts(t, same, same, symdiff.Options{})), twoFiles(compareTexts(t, same, moved, symdiff.Options{})),
		{Old: one}, {New: two}, {Old: one, New: two, Failed: "b/two.sym: line 1: not a symbol file"},
	}
}

func written(t testing.TB, form string, folders *Folders, modules []*Module, o Options) []byte {
	t.Helper()
	var b bytes.Buffer
	w := Forms[form](&b, folders, o)
	for _, m := range modules {
		if err := w.Add(m); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestOutputGoldens(t *testing.T) {
	two, folders := []*Module{twoFiles(shapes(t, symdiff.Options{}))}, folderModules(t)
	place := &Folders{Old: "a", New: "b", Modules: len(folders)}
	plain, detail := Options{Version: "test"}, Options{Version: "test", Detail: true}
	for name, text := range map[string][]byte{
		"text.txt":     written(t, "text", nil, two, plain),
		"detail.txt":   written(t, "text", nil, two, detail),
		"color.txt":    written(t, "text", nil, two, Options{Detail: true, Color: true}),
		"names.json":   written(t, "json", nil, two, plain),
		"detail.json":  written(t, "json", nil, two, detail),
		"raw.diff":     written(t, "raw", nil, two, plain),
		"stat.txt":     written(t, "stat", nil, two, plain),
		"page.html":    withoutParts(written(t, "html", nil, two, plain)),
		"folders.txt":  written(t, "text", place, folders, plain),
		"folders.json": written(t, "json", place, folders, plain),
		"folders.diff": written(t, "raw", place, folders, plain),
		"folders.stat": written(t, "stat", place, folders, plain),
		"folders.html": withoutParts(written(t, "html", place, folders, plain)),
	} {
		testenv.Golden(t).Assert(t, name, text)
	}
}

var pageParts = regexp.MustCompile(`(?s)(<style>).*?(</style>)|(<script>).*?(</script>)|sha256-.*?(&#39;)`)

// withoutParts leaves out the style and the script, which are separate files.
func withoutParts(page []byte) []byte {
	return pageParts.ReplaceAll(page, []byte("$1$3...$2$4$5"))
}

// Output is safe for a terminal: colours are the only escapes.
func TestOutputsAreSafe(t *testing.T) {
	r := hostileResult(t)
	colors := strings.NewReplacer(bold, "", red, "", green, "", yellow, "", cyan, "", redBold, "", dim, "", "\x1b[m", "")
	for form := range Forms {
		for _, o := range []Options{{}, {Detail: true, Color: true}} {
			text := colors.Replace(string(written(t, form, nil, []*Module{twoFiles(r)}, o)))
			for i, c := range text {
				if c < ' ' && c != '\n' && c != '\t' || c == 0x7f || c == '\u202e' || c == '\u2028' || c == '\ufffd' {
					t.Errorf("%s: %q at %d: %q", form, c, i, text[max(0, i-40):min(len(text), i+40)])
					break
				}
			}
			if form == "raw" && strings.Count(text, "\t") != strings.Count(text, "\t0x") {
				t.Errorf("a tab of an input is in raw output")
			}
		}
	}
}

// hostileName would be markup, script, a terminal's command or another line.
const hostileName = "</script><script>window.hostile=1</script><img src=x onerror=\"window.hostile=1\">'\"&`\x00\x1b[31m\xff\u202e\u2028\t{{.}}"

// hostileResult returns a difference with such names everywhere.
func hostileResult(t testing.TB) *symdiff.Result {
	text := func(folder, line, rules string) string {
		return "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF" + line + " " + hostileName + "\nINFO " + "K" + line + " " + hostileName + "\n" +
			"FILE 0 " + folder + hostileName + "\nINLINE_ORIGIN 0 " + hostileName + "\n" +
			"FUNC 1000 10 0 " + hostileName + "\nINLINE 0 " + line + " 0 0 1000 8\n1000 8 " + line + " 0\n1008 8 5 0\n" +
			"FUNC 2000 10 0 " + line + hostileName + "\nPUBLIC 3000 0 " + line + hostileName + "\nFUNC zz " + hostileName + "\n" +
			"STACK CFI INIT 1000 10 .cfa: $rsp " + rules + " + .ra: .cfa -8 + ^ $x" + line + ": " + "$r\x1b<b>\n"
	}
	return compareTexts(t, text("/one/", "1", "8"), text("/two/", "2", "16"), symdiff.Options{})
}

func compiledSchema(t testing.TB) *jsonschema.Schema {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	schema, err := c.Compile(filepath.Join(testenv.Root(t), "golden", "symfmt", "symdiff", "schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func TestJSONIsOfTheSchema(t *testing.T) {
	schema := compiledSchema(t)
	modules := folderModules(t)
	modules = append(modules, twoFiles(hostileResult(t)))
	decode := func(folders *Folders, modules []*Module, o Options) any {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(written(t, "json", folders, modules, o)))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	check := func(what string, v any) {
		if err := schema.Validate(v); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	place := &Folders{Old: "a\x1b", New: "b"}
	for _, detail := range []bool{false, true} {
		check("folders", decode(place, modules, Options{Detail: detail}))
		for i, m := range modules {
			if m.Result != nil {
				check(fmt.Sprint("module ", i), decode(nil, []*Module{m}, Options{Detail: detail, Compared: symdiff.Options{Topics: symdiff.OnCFI, IgnorePaths: true}}))
			}
		}
	}
	check("no modules", decode(place, nil, Options{}))
	for name, change := range map[string]func(doc, module, change map[string]any){
		"another key":       func(doc, _, _ map[string]any) { doc["more"] = 1 },
		"another version":   func(doc, _, _ map[string]any) { doc["symtool"].(map[string]any)["schema"] = 2 },
		"another status":    func(_, module, _ map[string]any) { module["status"] = "fine" },
		"no changes":        func(_, module, _ map[string]any) { delete(module, "changes") },
		"added with before": func(_, module, _ map[string]any) { module["status"] = "added" },
		"a bare address":    func(_, _, change map[string]any) { change["after"].(map[string]any)["rva"] = 16 },
		"no side":           func(_, _, change map[string]any) { delete(change, "before"); delete(change, "after") },
		"another aspect":    func(_, _, change map[string]any) { change["what"] = []any{"vanished"} },
		"nothing differs":   func(_, _, change map[string]any) { change["what"] = []any{} },
		"another sign": func(_, _, change map[string]any) {
			change["sections"] = []any{map[string]any{"name": "lines", "rows": []any{"*"}, "cut": 0}}
		},
	} {
		doc := decode(nil, modules[:1], Options{}).(map[string]any)
		module := doc["modules"].([]any)[0].(map[string]any)
		if change(doc, module, module["changes"].([]any)[1].(map[string]any)); schema.Validate(doc) == nil {
			t.Errorf("%s is of the schema", name)
		}
	}
}

// Each aspect has a word, and the schema has the same words.
func TestAspectNames(t *testing.T) {
	var doc struct {
		Defs map[string]struct{ Enum []string } `json:"$defs"`
	}
	text, err := os.ReadFile(filepath.Join(testenv.Root(t), "golden", "symfmt", "symdiff", "schema.json"))
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	if err != nil {
		t.Fatal(err)
	}
	all := ^symdiff.Aspect(0)
	if got, want := strings.Join(all.Names(), " "), strings.Join(doc.Defs["aspect"].Enum, " "); got != want {
		t.Errorf("aspects are\n%s\nin the schema\n%s", got, want)
	}
	for bit := symdiff.Added; bit <= symdiff.Lost; bit <<= 1 {
		if n := len(bit.Names()); n != 1 {
			t.Errorf("aspect %#x has %d names", bit, n)
		}
		if regression := bit.Regression(); regression != (lostWords(bit) != "") {
			t.Errorf("%s is a regression: %v, its words are %q", bit.Names(), regression, lostWords(bit))
		}
	}
}

func lostWords(a symdiff.Aspect) string {
	for _, w := range aspectWords {
		if w.what == a {
			return w.lost
		}
	}
	return ""
}

// many returns a module of n functions, each with a line that depends on shift.
func many(n, shift int) string {
	var b strings.Builder
	b.WriteString("MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 many\nFILE 0 /src/many.c\n")
	for i := range n {
		fmt.Fprintf(&b, "FUNC %x 20 0 function_number_%d\n%x 10 %d 0\n%x 10 %d 0\n", 0x1000+i*0x20, i, 0x1000+i*0x20, i+shift, 0x1010+i*0x20, i+shift*2)
	}
	return b.String()
}

// A page has a limit, and says what is beyond it.
func TestPageLimit(t *testing.T) {
	const functions = 40000
	r := compareTexts(t, many(functions, 1), many(functions, 2), symdiff.Options{})
	page := written(t, "html", nil, []*Module{twoFiles(r)}, Options{})
	if len(page) > 5<<20 || len(page) < 2<<20 {
		t.Errorf("the page has %d bytes, want 2 to 5 MB", len(page))
	}
	shown, details := bytes.Count(page, []byte(`class="change"`)), bytes.Count(page, []byte("<details"))
	for _, want := range []string{fmt.Sprintf(" %d changes are left out;", functions-shown), fmt.Sprintf(" %d are without their lines;", shown-details)} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if shown == functions || details == shown || details == 0 {
		t.Errorf("%d of %d changes are shown, %d with lines: no limit was reached", shown, functions, details)
	}
	gone := compareTexts(t, many(functions, 1), many(10, 1), symdiff.Options{})
	page = written(t, "html", nil, []*Module{twoFiles(gone)}, Options{})
	shown = bytes.Count(page, []byte(`class="change worse"`))
	want := fmt.Sprintf(" %d changes are left out, %d of them worse;", functions-10-shown, functions-10-shown)
	if len(page) > 5<<20 || shown == 0 || !bytes.Contains(page, []byte(want)) {
		t.Errorf("the page has %d bytes and %d changes, and does not say %q", len(page), shown, want)
	}
}

// Many modules share the room of a page.
func TestPageLimitOfFolders(t *testing.T) {
	var modules []*Module
	for range 30 {
		modules = append(modules, twoFiles(compareTexts(t, many(2000, 1), many(2000, 2), symdiff.Options{})))
	}
	page := written(t, "html", &Folders{Old: "a", New: "b", Modules: len(modules)}, modules, Options{})
	if len(page) > 5<<20+maxUnlisted {
		t.Errorf("the page has %d bytes", len(page))
	}
	sections := strings.Split(string(page), "<section")
	for i, s := range sections[1:] {
		if !strings.Contains(s, `class="change"`) {
			t.Errorf("module %d has no changes on the page", i)
		}
	}
}

// A failure to write, and one to read details, is an error of each form.
func TestOutputErrors(t *testing.T) {
	for form := range Forms {
		r := shapes(t, symdiff.Options{})
		if err := Write(&testenv.FullWriter{}, form, r, Options{Detail: true}); err == nil {
			t.Errorf("%s: no error of writing", form)
		}
		if form == "stat" {
			continue // it reads nothing
		}
		r.New.Source = symdiff.NewSource(strings.NewReader(""), 0, "new.sym")
		err := Write(io.Discard, form, r, Options{Detail: true})
		var read *symdiff.ReadError
		if !errors.As(err, &read) {
			t.Errorf("%s: %v, want an error of reading", form, err)
		}
	}
}
