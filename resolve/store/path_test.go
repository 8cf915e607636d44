package store

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt"
)

const id = "D3096ED481217FD4C16B29CD9BC208BA0"

func TestPath(t *testing.T) {
	long := strings.Repeat("n", maxName-len(".sym.gz"))
	for name, want := range map[string]string{
		"libc.so.6":             "libc.so.6",
		"my program":            "my program",
		"/usr/lib/libc.so.6":    "libc.so.6",
		`c:\windows\kernel.dll`: "kernel.dll",
		"../../etc/passwd":      "passwd",
		"...":                   "...",
		"-rf":                   "-rf",
		"größe":                 "größe",
		long:                    long,
		"test_app.pdb":          "test_app.pdb",
		`c:\build\Test_App.PDB`: "Test_App.PDB",
		".pdb":                  ".pdb",
	} {
		stem := want
		if len(want) > 4 && strings.EqualFold(filepath.Ext(want), ".pdb") {
			stem = want[:len(want)-4]
		}
		got, err := Path(&symfmt.Module{Name: name, ID: id}, ".sym.gz")
		if want := filepath.Join(want, id, stem+".sym.gz"); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", name, got, err, want)
		}
	}
}

// Names and ids are limited to what file systems accept, messages to a readable length.
func TestLongest(t *testing.T) {
	if _, err := NewPlace(strings.Repeat("n", maxName-len(".sym")), strings.Repeat("0", maxName)); err != nil {
		t.Error(err)
	}
	for n, want := range map[int]int{299: 299, 300: 300, 301: 303, 1000: 303} {
		if got := clipped(strings.Repeat("n", n)); len(got) != want {
			t.Errorf("%d bytes are %d, want %d", n, len(got), want)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct{ name, id, want string }{
		{"", id, `MODULE name "": is empty`},
		{"lib/", id, `MODULE name "lib/": is empty`},
		{".", id, `MODULE name ".": is not the name of a file`},
		{"a/..", id, `MODULE name "a/..": is not the name of a file`},
		{"a\x00b", id, `MODULE name "a\x00b": has the control character U+0000`},
		{"a\nb", id, `MODULE name "a\nb": has the control character U+000A`},
		{"a\u202eb", id, `MODULE name "a\u202eb": has the control character U+202E`},
		{"a\xff", id, `MODULE name "a\xff": is not UTF-8`},
		{strings.Repeat("n", maxName-3), id, `MODULE name "` + strings.Repeat("n", maxName-3) + `": 252 bytes, want at most 251`},
		{"a", "", `MODULE id "": is empty`},
		{"a", "../x", `MODULE id "../x": is not hexadecimal`},
		{"a", "12 4", `MODULE id "12 4": is not hexadecimal`},
		{"a", strings.Repeat("0", 256), `MODULE id "` + strings.Repeat("0", 256) + `": 256 digits, want at most 255`},
	} {
		got, err := Path(&symfmt.Module{Name: c.name, ID: c.id}, ".sym")
		if err == nil || err.Error() != c.want {
			t.Errorf("%q %q: path %q, error %v; want %s", c.name, c.id, got, err, c.want)
		}
	}
}

// Names and ids from a dump lead to a file three levels below the root, or to an error.
func FuzzPlace(f *testing.F) {
	for _, name := range []string{"libc.so.6", "../x", `..\x`, "a.pdb", "..", "\x00", "c:x", ".pdb", "a/"} {
		f.Add(name, id)
		f.Add(name, "../"+id)
	}
	f.Fuzz(func(t *testing.T, name, id string) {
		p, err := NewPlace(name, id)
		if err != nil {
			if len(err.Error()) > 5000 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		path := p.Path(".sym")
		parts := strings.Split(path, string(filepath.Separator))
		if !filepath.IsLocal(path) || len(parts) != 3 || strings.ContainsAny(path, "\x00\\\n\x1b") || len(parts[2]) > maxName {
			t.Errorf("%q %q: %q", name, id, path)
		}
	})
}
