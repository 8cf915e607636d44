package dwarf2sym_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/symtool/symtool/internal/testenv"
)

// Names in all golden symbol files, of all languages, can be printed on a line: none is
// empty, begins or ends with a space, or contains a character that breaks a line or
// controls a terminal.
func TestNamesCanBePrinted(t *testing.T) {
	files, names := 0, 0
	err := filepath.WalkDir(filepath.Join(testenv.Root(t), "golden"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".sym" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		n, err := checkNames(text)
		if names += n; err != nil {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < len(fixtures(t)) || names < 10*files {
		t.Errorf("%d names in %d files for %d fixtures", names, files, len(fixtures(t)))
	}
}

// nameFields maps records with names to the number of fields before the name.
var nameFields = map[string]int{"MODULE": 4, "FILE": 2, "INLINE_ORIGIN": 2, "FUNC": 4, "PUBLIC": 3}

// checkNames counts the names in a symbol file, and returns an error for the first bad
// one. Only \n ends a line here.
func checkNames(text []byte) (n int, err error) {
	in := bufio.NewScanner(bytes.NewReader(text))
	in.Buffer(nil, 1<<20)
	in.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			return i + 1, data[:i], nil
		}
		return 0, nil, nil
	})
	for line := 1; in.Scan(); line++ {
		kind, rest, _ := strings.Cut(in.Text(), " ")
		before, named := nameFields[kind]
		if !named {
			continue
		}
		if kind == "FUNC" || kind == "PUBLIC" {
			rest = strings.TrimPrefix(rest, "m ")
		}
		fields := strings.SplitN(rest, " ", before)
		if len(fields) < before {
			return n, fmt.Errorf("line %d: no name: %q", line, in.Text())
		}
		n++
		if why := wrongName(fields[before-1]); why != "" {
			return n, fmt.Errorf("line %d: name %q %s", line, fields[before-1], why)
		}
	}
	return n, in.Err()
}

func wrongName(name string) string {
	switch {
	case strings.TrimSpace(name) == "":
		return "is empty"
	case strings.TrimSpace(name) != name:
		return "begins or ends with a space"
	}
	for _, r := range name {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return fmt.Sprintf("has the character %U", r)
		}
	}
	return ""
}

func TestCheckNames(t *testing.T) {
	const good = "MODULE Linux x86_64 0 a b\nFILE 0 /a b\nINLINE_ORIGIN 0 f(int)\nFUNC m 1 2 0 f g\n1 2 3 0\nPUBLIC m 1 0 p\n"
	if n, err := checkNames([]byte(good)); n != 5 || err != nil {
		t.Errorf("%d names, %v", n, err)
	}
	for _, bad := range []string{
		"FILE 0 \n", "FILE 0\n", "INLINE_ORIGIN 3  \n", "FUNC 1 2 0 \n", "FUNC m 1 2 0\n", "PUBLIC 1 0 a\rb\n", "PUBLIC m 1 0 \n",
		"FUNC 1 2 0  a\n", "FUNC 1 2 0 a \n", "FUNC 1 2 0 a\tb\n", "FUNC 1 2 0 a\u0085b\n", "FUNC 1 2 0 a\u2028b\n", "FUNC 1 2 0 \x1b[31m\n",
		"MODULE Linux x86_64 0\n",
	} {
		if _, err := checkNames([]byte(good + bad)); err == nil {
			t.Errorf("%q: nothing found", bad)
		}
	}
}
