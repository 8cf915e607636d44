package dump

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/resolve/supplier"
)

// TestIndex checks the forms of a list of modules, and the errors for files that are not
// lists.
func TestIndex(t *testing.T) {
	const id = "995D3282FF2182D34C4C44205044422E1"
	path := filepath.Join(t.TempDir(), "index")
	for text, want := range map[string]string{
		"x.so/" + id + "/x.so.sym\n":          "",
		"# of a store\n\ny/A0\nx.so," + id:    "",
		"x.so\t" + id + "\n":                  "",
		"MODULE Linux x86_64 " + id + " x.so": "",
		`{"store": {"modules": []}, "modules": [{"name": "x.so", "versions": [{"id": "A0"}, {"id": "` + id + `"}]}], "more": 1}`: "",

		"":                         "not known",
		"x.so/A0\n":                "not known",
		"y/" + id:                  "not known",
		`{"modules":[]}`:           "not known",
		"x/../y":                   "line 1: ",
		strings.Repeat("x", 1<<17): "line 1: more than 65536 bytes",
		`{"a": 1}`:                 "JSON without modules, want that of symtool store ls",
		`{"modules": 1}`:           "modules are 1, want an array",
		`{"modules": [{"name": "..", "versions": [{"id": "A0"}]}]}`: `module "..": `,
		`{"modules": [{"name": "x.so"}`:                             "unexpected EOF",
		`{"modules": [1]}`:                                          "cannot unmarshal",
		`{`:                                                         "JSON without modules, want",
	} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		x, err := readIndex(path)
		d := &dumper{dumpConfig: &dumpConfig{since: x}}
		got := ""
		switch {
		case err != nil:
			got = err.Error()
		case !d.known(&supplier.BinaryFile{ID: id, Name: "x.so"}, "x.so.1"):
			got = "not known"
		}
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%.80q: %q, want %q", text, got, want)
		}
	}
}

// BenchmarkIndex reads a list of 300,000 modules, as many as in a distribution.
func BenchmarkIndex(b *testing.B) {
	var text strings.Builder
	for i := range 300_000 {
		fmt.Fprintf(&text, "libsomething-%d.so/%033X\n", i, i)
	}
	path := filepath.Join(b.TempDir(), "index")
	if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if x, err := readIndex(path); len(x) != 300_000 {
			b.Fatalf("%d modules, %v", len(x), err)
		}
	}
}
