package symjson

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// example has a record of each kind and both forms of INLINE.
func example() *symfmt.Module {
	m := &symfmt.Module{OS: "Linux", Arch: "x86_64", ID: "D0BC4FEBE737372517950BF2B93BD5560", Name: "a b"}
	m.Infos = []symfmt.Info{{Key: "CODE_ID", Value: "EB4F"}, {Key: "GENERATOR", Value: ""}}
	m.Files = []symfmt.File{{ID: 0, Name: "init/main.c"}, {ID: 7, Name: `c:\x "y".c`}}
	m.Origins = []symfmt.InlineOrigin{{ID: 0, Name: "inl<日本>"}, {ID: 3, HasFile: true, Name: "old", File: -1}}
	var b symfmt.BodyBuilder
	var a symfmt.Arena
	b.Reset(0x1000)
	b.AddInline(&symfmt.Inline{CallLine: 7, CallFile: 7, Origin: 3, Ranges: []symfmt.Range{{RVA: 0x1004, Size: 8}, {RVA: 0x1010, Size: 2}}})
	b.AddInline(&symfmt.Inline{Depth: 1, CallLine: 8, NoFile: true, Ranges: []symfmt.Range{{RVA: 0x1004, Size: 4}}})
	b.AddLine(symfmt.Line{RVA: 0x1000, Size: 4, Num: 5, File: 0})
	b.AddLine(symfmt.Line{RVA: 0x1004, Size: 0x1c, Num: 7, File: 9})
	m.Funcs = []symfmt.Func{
		{RVA: 0x1000, Size: 0x20, ParamSize: 8, Name: "start\x1b[31m\u202e", Body: b.Finish(&a)},
		{RVA: 1<<53 - 1, Size: 1 << 53, Name: "\xff\x80 raw", Multiple: true},
	}
	m.Publics = []symfmt.Public{{RVA: 1<<64 - 1, ParamSize: 4, Name: "_end", Multiple: true}}
	m.Wins = []symfmt.StackWin{
		{Type: 4, RVA: 0x1000, CodeSize: 32, PrologueSize: 1, EpilogueSize: 2, ParameterSize: 3, SavedRegisterSize: 4, LocalSize: 5, MaxStackSize: 6, HasProgram: true, Program: "$eip 4 + ^ ="},
		{Type: 0, RVA: 0x3000, CodeSize: 1, AllocatesBasePtr: true},
	}
	rules := &m.CFI.Rules
	m.CFI.Rows = []symfmt.CFIRow{{RVA: 0x1001, Rules: rules.Parse([]byte(".cfa: $rsp 16 +"))}, {RVA: 0x1002, Rules: rules.Parse([]byte("$\xe9: .undef"))}}
	m.CFI.Blocks = []symfmt.CFIBlock{
		{RVA: 0x1000, Size: 0x20, Init: rules.Parse([]byte(".cfa: $rsp 8 + .ra: .cfa -8 + ^")), Count: 2},
		{RVA: 0x2000, Size: 1, Init: rules.Parse([]byte(".cfa: \xe9")), First: 2},
	}
	return m
}

func TestWrite(t *testing.T) {
	m := example()
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			got := write(t, m, f.o)
			testenv.Golden(t).Assert(t, "example."+f.name, got)
			if !mustRead(t, got).Equal(m) {
				t.Error("read again, it is another module")
			}
		})
	}
}

// A document is the same with and without line breaks.
func TestIndent(t *testing.T) {
	for seed := range uint64(50) {
		m := generate(seed)
		for _, names := range []bool{false, true} {
			var compact bytes.Buffer
			if err := json.Compact(&compact, write(t, m, Options{Indent: true, Names: names})); err != nil {
				t.Fatal(err)
			}
			if want := bytes.TrimSpace(write(t, m, Options{Names: names})); !bytes.Equal(compact.Bytes(), want) {
				t.Fatalf("seed %d: without its blanks, the document is\n%s\nwant\n%s", seed, compact.Bytes(), want)
			}
		}
	}
}

// No character of the output affects a terminal, and a line of JSON
// Lines is a record.
func TestWritePrintable(t *testing.T) {
	for seed := range uint64(100) {
		m := generate(seed)
		for i, line := range strings.Split(strings.TrimSuffix(string(write(t, m, Options{Lines: true})), "\n"), "\n") {
			for _, r := range line {
				if r < ' ' || 0x7f <= r && r < 0xa0 || 0x2028 <= r && r <= 0x202e {
					t.Fatalf("seed %d, line %d: %q", seed, i+1, line)
				}
			}
			if !json.Valid([]byte(line)) {
				t.Fatalf("seed %d, line %d is not JSON: %s", seed, i+1, line)
			}
		}
	}
}

func TestRoundTripGenerated(t *testing.T) {
	for seed := range uint64(500) {
		roundTrip(t, generate(seed))
	}
}

// roundTrip writes m in all forms and reads them again.
func roundTrip(t *testing.T, m *symfmt.Module) {
	t.Helper()
	for _, f := range forms {
		roundTripForm(t, m, f.o)
	}
}

func roundTripForm(t *testing.T, m *symfmt.Module, o Options) {
	t.Helper()
	data := write(t, m, o)
	got := mustRead(t, data)
	if !got.Equal(m) {
		t.Fatalf("%+v: read again, it is another module:\n%s", o, data)
	}
	if again := write(t, got, o); !bytes.Equal(again, data) {
		t.Fatalf("%+v: written again, it is\n%s\nwant\n%s", o, again, data)
	}
}

// symbolFiles calls fn for each symbol file of the repository and of the shared
// data, if that is there.
func symbolFiles(t *testing.T, fn func(name string, data []byte)) {
	dirs := append([]string{filepath.Join(testenv.Root(t), "golden")}, testenv.SharedGlob(t, "data")...)
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(path, ".sym") {
				return err
			}
			data, err := os.ReadFile(path)
			if err == nil {
				fn(path, data)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Every symbol file is the same after a round trip through JSON, both as a
// module and as text.
func TestRoundTripFiles(t *testing.T) {
	n, size := 0, 0
	symbolFiles(t, func(name string, data []byte) {
		result, err := symfmt.Read(context.Background(), bytes.NewReader(data), symfmt.ReadOptions{Tolerant: true})
		if err != nil {
			t.Logf("%s: not read: %v", name, err)
			return
		}
		m := result.Module
		n, size = n+1, size+len(data)
		want := breakpad(t, m)
		for _, f := range forms {
			got := mustRead(t, write(t, m, f.o))
			if !got.Equal(m) {
				t.Errorf("%s: %s is another module", name, f.name)
			}
			if !bytes.Equal(breakpad(t, got), want) {
				t.Errorf("%s: %s is another text", name, f.name)
			}
		}
	})
	if n < 100 {
		t.Errorf("%d symbol files, want 100 or more", n)
	}
	t.Logf("%d symbol files, %d bytes", n, size)
}

// Our output is also read after other programs have rewritten it.
func TestReadLayouts(t *testing.T) {
	m := example()
	lines, doc := write(t, m, Options{Lines: true}), write(t, m, Options{})
	for _, c := range []struct {
		name string
		data []byte
	}{
		{"CR LF", bytes.ReplaceAll(lines, []byte("\n"), []byte("\r\n"))},
		{"blank lines", bytes.ReplaceAll(lines, []byte("\n"), []byte("\n\n \t\n"))},
		{"no newline at the end", bytes.TrimSpace(lines)},
		{"byte order mark", append([]byte("\xef\xbb\xbf"), lines...)},
		{"document with a byte order mark", append([]byte("\xef\xbb\xbf \n"), doc...)},
		{"blanks", bytes.ReplaceAll(lines, []byte(`{"kind":"`), []byte(`{ "kind" : "`))},
		{"escaped keys", bytes.ReplaceAll(lines, []byte(`"kind"`), []byte(`"\u006bin\u0064"`))},
		{"escaped values", bytes.ReplaceAll(lines, []byte(`"0x`), []byte(`"\u0030x`))},
		{"one line", bytes.ReplaceAll(lines, []byte("\n"), []byte(" "))},
		{"gzip", testenv.Gzip(t, lines)},
		{"fractions", bytes.ReplaceAll(bytes.ReplaceAll(lines, []byte(`"size":32,`), []byte(`"size":32.0,`)), []byte(`"file":-1,`), []byte(`"file":-1.0,`))},
		{"capital digits", bytes.ReplaceAll(lines, []byte(`ffffffffffffffff"`), []byte(`FFFFFFFFFFFFFFFF"`))},
		{"exponents", bytes.ReplaceAll(lines, []byte(`"rva":4096,`), []byte(`"rva":4.096E3,`))},
		{"sorted keys", sortedKeys(t, lines, "")},
		{"sorted keys, indented", sortedKeys(t, lines, "  ")},
		{"document with sorted keys", sortedKeys(t, doc, "")},
		{"document, indented by others", sortedKeys(t, doc, "\t")},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !mustRead(t, c.data).Equal(m) {
				t.Errorf("another module:\n%s", c.data)
			}
		})
	}
}

// sortedKeys writes each value again, with sorted keys.
func sortedKeys(t *testing.T, data []byte, indent string) []byte {
	var out bytes.Buffer
	in := json.NewDecoder(bytes.NewReader(data))
	in.UseNumber()
	enc := json.NewEncoder(&out)
	enc.SetIndent("", indent)
	for in.More() {
		var v any
		if err := in.Decode(&v); err != nil {
			t.Fatal(err)
		}
		if err := enc.Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

func TestMatch(t *testing.T) {
	for _, f := range forms {
		head := write(t, example(), f.o)[:64]
		if MatchLines(head) != f.o.Lines || MatchDocument(head) == f.o.Lines {
			t.Errorf("%s: lines %v, document %v", head, MatchLines(head), MatchDocument(head))
		}
	}
	for head, want := range map[string]bool{
		"": false, "{": false, "{}": false, "[]": false, `"format"`: false, "MODULE Linux x86_64 0 x\n": false,
		`{"format":"sarif"}`: false, `{"format":1}`: false, `{"kind":"module"}`: false, `{"kind":"file","number":0}`: false,
		`{"kind":"Pod"}`: false, `{"kind":"func","rva":`: true, "\xef\xbb\xbf{ \"format\" :\n\"symtool-symbols\"": true,
	} {
		if got := MatchDocument([]byte(head)) || MatchLines([]byte(head)); got != want {
			t.Errorf("%q: %v, want %v", head, got, want)
		}
	}
}
