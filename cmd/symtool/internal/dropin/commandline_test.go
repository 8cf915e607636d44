package dropin

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// testProgram has an option of each kind.
var testProgram = program{
	name: "prog",
	options: []option{
		{long: "file", short: "f", value: "FILE", flag: "--input="},
		{long: "fill", flag: "--fill"},
		{short: "x"},
		{long: "old", ignored: "it is new"},
		{long: "gone", refused: "it is gone"},
		{long: "maybe", short: "m", value: "HOW", optional: true},
	},
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"a b", "| a b"},
		{"-f a b", "-f=a | b"},
		{"-fa b", "-f=a | b"},
		{"-f=a b", "-f=a | b"},
		{"-xf a b", "-x= -f=a | b"},
		{"a --file b", "--file=b | a"},
		{"--file=b a -- -x", "--file=b | a -x"},
		{"--file= a", "--file= | a"},
		{"-", "| -"},
		{"--", "|"},
		{"-f", "-f needs a value: FILE"},
		{"--file", "--file needs a value: FILE"},
		{"--fill=1", `--fill takes no value, not "1"`},
		{"-m a --maybe b", "-m= --maybe= | a b"},
		{"-mx -m=a --maybe=b", "-m= -x= -m=a --maybe=b |"},
		{"-y", "unknown option -y"},
		{"--flie a", "unknown option --flie: did you mean --file?"},
		{"--=a", "unknown option --"},
		{"--fil a", "unknown option --fil: did you mean --file?"},
	} {
		line, err := testProgram.parse(strings.Fields(c.args))
		if got := shown(line, err); got != c.want {
			t.Errorf("%s: %s, want %s", c.args, got, c.want)
		}
	}
}

// shown returns a command line in a short form.
func shown(l *commandLine, err error) string {
	if err != nil {
		return err.Error()
	}
	var words []string
	for _, g := range l.given {
		words = append(words, g.as+"="+g.value)
	}
	return strings.Join(append(append(words, "|"), l.operands...), " ")
}

func TestOptions(t *testing.T) {
	line, err := testProgram.parse(strings.Fields("-f a --fill --file b --old"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(line.flags()), "[--input=a --fill --input=b]"; got != want {
		t.Errorf("flags: %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(line.ignored()), "[--old has no effect: it is new]"; got != want {
		t.Errorf("ignored: %s, want %s", got, want)
	}
	if got := line.last("file"); got != "b" || line.has("gone") || line.refusal() != nil {
		t.Errorf("last: %q, refused: %v", got, line.refusal())
	}
	if name, value := line.lastOf("fill", "file", "gone"); name != "file" || value != "b" {
		t.Errorf("last of two: --%s=%s", name, value)
	}
	if name, value := line.lastOf("gone"); name != "" || value != "" {
		t.Errorf("last of none: --%s=%s", name, value)
	}
	if line, _ = testProgram.parse([]string{"--gone"}); line.refusal() == nil {
		t.Error("--gone is not refused")
	}
}

// TestHelp checks that the help has every option of every program, with what the option does or
// why it is refused, and that no two options have the same name.
func TestHelp(t *testing.T) {
	for _, p := range programs {
		var seen []string
		help := p.help()
		for i := range p.options {
			o := &p.options[i]
			if o.text == "" && o.refused == "" {
				t.Errorf("%s: %s has no text", p.name, o.head())
			}
			if !strings.Contains(help, o.head()) {
				t.Errorf("%s: %s is not in the help", p.name, o.head())
			}
			for _, name := range []string{"-" + o.short, "--" + o.long} {
				if len(name) > 2 || len(name) == 2 && name != "--" {
					if slices.Contains(seen, name) {
						t.Errorf("%s: two options %s", p.name, name)
					}
					seen = append(seen, name)
				}
			}
		}
		for _, line := range strings.Split(help, "\n") {
			if len(line) > 120 {
				t.Errorf("%s: %d characters: %s", p.name, len(line), line)
			}
		}
	}
}

func TestArgs(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"symtool dump x", "symtool dump x"},
		{"/usr/bin/dump_syms -r x", "symtool as dump_syms -r x"},
		{"minidump-stackwalk.exe x", "symtool as minidump-stackwalk x"},
		{"dump_syms2 x", "dump_syms2 x"},
	} {
		if got := strings.Join(Args(strings.Fields(c.args)), " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.args, got, c.want)
		}
	}
	if got := Args(nil); got != nil {
		t.Errorf("%q without arguments", got)
	}
}

// TestDecoratedNames checks that a program may have the names that systems give to one of several
// versions.
func TestDecoratedNames(t *testing.T) {
	for name, want := range map[string]string{
		"/usr/bin/llvm-symbolizer-22": "symtool as llvm-symbolizer -e", "llvm-addr2line-14.0": "symtool as llvm-addr2line -e",
		"x86_64-linux-gnu-addr2line": "symtool as addr2line -e", "arm-none-eabi-addr2line": "symtool as addr2line -e",
		"eu-addr2line": "symtool as eu-addr2line -e", "addr2line.exe": "symtool as addr2line -e", "llvm-addr2line": "symtool as llvm-addr2line -e",
		"symtool": "symtool -e", "my-addr2line": "my-addr2line -e", "llvm-symbolizer-x": "llvm-symbolizer-x -e",
	} {
		if got := strings.Join(Args([]string{name, "-e"}), " "); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
