package cli

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
)

func TestSplitArgs(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{" \n\t\v\f\r ", nil},
		{"a b\nc", []string{"a", "b", "c"}},
		{"'a b' \"c d\"", []string{"a b", "c d"}},
		{"a'b'\"c\"d", []string{"abcd"}},
		{"'' \"\"", []string{"", ""}},
		{`a\ b \'c\" \\`, []string{"a b", `'c"`, `\`}},
		{`"a\"b" 'a\'b'`, []string{`a"b`, "a'b"}},
		{`"it's" 'a "b"'`, []string{"it's", `a "b"`}},
		{`'a\b'`, []string{"ab"}},
		{"'open to the end ", []string{"open to the end "}},
		{`a \`, []string{"a", ""}},
		{"a\\\nb", []string{"a\nb"}},
		{"--map a=b\u00e9", []string{"--map", "a=b\u00e9"}},
	} {
		if got := splitArgs(c.text); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// TestExpandArgs checks that response files named in response files are expanded in place.
func TestExpandArgs(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{
		"flags": "-j 4 @more '@more x' end",
		"more":  "a @none\n@empty b",
		"empty": " \n",
		"self":  "x @self",
		"bom":   "\ufeffa\r\nb\r\n",
		"zero":  "a\x00b",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("loop", "loop"); err != nil {
		t.Fatal(err)
	}
	got, err := expandArgs([]string{"@flags", "dump", "@flags", "@bom", "@", "--", "@none"})
	want := strings.Fields("@flags dump -j 4 a @none b @more|x end a b @ -- @none")
	for i := range want {
		want[i] = strings.ReplaceAll(want[i], "|", " ")
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	for arg, want := range map[string]string{
		"@self": "@self: more than 2000 response files: perhaps one names itself",
		"@zero": "@zero: offset 0x1: a NUL byte, which arguments cannot contain",
		"@.":    "@.: is a directory",
		"@bom/": "@bom/: not a directory",
		"@loop": "@loop: too many levels of symbolic links",
	} {
		if _, err := expandArgs([]string{"symtool", arg}); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", arg, err, want)
		}
	}
}

// TestManyResponseFiles checks that many consecutive response files do not move the arguments
// after them again and again.
func TestManyResponseFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	many := strings.Repeat("@empty\n", maxResponseFiles-1) + strings.Repeat("x\n", 200_000)
	for name, text := range map[string]string{"empty": "", "many": many} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	watch := testenv.StartWatch()
	got, err := expandArgs([]string{"symtool", "@many"})
	if took := watch.Took(); err != nil || len(got) != 200_001 || took > 2*time.Second {
		t.Errorf("%d arguments after %v, %v", len(got), took, err)
	}
}

func FuzzSplitArgs(f *testing.F) {
	f.Add(`a 'b c' "d\"" \`)
	f.Fuzz(func(t *testing.T, text string) {
		args := splitArgs(text)
		var again strings.Builder
		for _, arg := range args {
			again.WriteString("'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(arg) + "' ")
		}
		if got := splitArgs(again.String()); !reflect.DeepEqual(got, args) {
			t.Errorf("%q: %q, quoted %q: %q", text, args, again.String(), got)
		}
	})
}

// TestOracleResponseFile compares with binutils' nm, which has libiberty's rules and reports
// each argument in 3,000 response files as a missing file.
func TestOracleResponseFile(t *testing.T) {
	testenv.Oracle(t)
	nm := testenv.Tool(t, "nm")
	dir := t.TempDir()
	rnd := rand.New(rand.NewPCG(1, 2))
	const letters = "abxy  \t\n\v\f\r''\"\"\\\\#$-%"
	compared := 0
	for range 60 {
		var calls []string
		var want bytes.Buffer
		for i := range 50 {
			var text strings.Builder
			for range rnd.IntN(40) {
				text.WriteByte(letters[rnd.IntN(len(letters))])
			}
			name := filepath.Join(dir, fmt.Sprint(i))
			if err := os.WriteFile(name, []byte(text.String()), 0o666); err != nil {
				t.Fatal(err)
			}
			calls = append(calls, "@"+name)
			for _, arg := range splitArgs(text.String()) {
				fmt.Fprintf(&want, "%s: '%s': No such file\n", nm, arg)
				compared++
			}
		}
		cmd := exec.Command(nm, append([]string{"--"}, append([]string{"none"}, calls...)...)...)
		cmd.Dir, cmd.Env = t.TempDir(), []string{"LC_ALL=C"}
		got, _ := cmd.CombinedOutput()
		if text, ok := strings.CutPrefix(string(got), nm+": 'none': No such file\n"); !ok || text != want.String() {
			t.Fatalf("nm says\n%s\nwant\n%s", got, want.String())
		}
	}
	t.Logf("%d arguments compared", compared)
	if compared < 5000 {
		t.Errorf("only %d arguments", compared)
	}
}
