package house

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/app"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/dropin"
	"github.com/symtool/symtool/internal/testenv"
)

var (
	docLink = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)
	docCode = regexp.MustCompile("`+[^`]+`+")
	docFlag = regexp.MustCompile(`(?:^|[\s\[(=])--([a-z][a-z0-9-]*|MD|MF|MT|MP)`)
)

// TestDocLinks checks that links lead to existing files, and to existing headings in them.
func TestDocLinks(t *testing.T) {
	n, reached := 0, map[string]bool{}
	for _, d := range documents(t) {
		d.prose(func(line int, text string) {
			for _, m := range docLink.FindAllStringSubmatch(docCode.ReplaceAllString(text, "x"), -1) {
				if strings.HasPrefix(m[1], "https://") {
					continue
				}
				n++
				path, anchor, _ := strings.Cut(m[1], "#")
				target := d.name
				if path != "" {
					target = filepath.Join(filepath.Dir(d.name), path)
				}
				if _, err := os.Stat(filepath.Join(testenv.Root(t), target)); err != nil {
					t.Errorf("%s:%d: %v", d.name, line, err)
				} else if anchor != "" && !anchors(readDocument(t, target))[anchor] {
					t.Errorf("%s:%d: %s has no heading #%s", d.name, line, target, anchor)
				}
				if d.name == "docs/README.md" {
					reached[target] = true
				}
			}
		})
	}
	for _, d := range documents(t) {
		if !reached[d.name] && d.name != "docs/README.md" {
			t.Errorf("docs/README.md has no link to %s", d.name)
		}
	}
	if n < 30 {
		t.Errorf("only %d links", n)
	}
}

// foreignFlags are flags of other programs that the documents name.
var foreignFlags = []string{"only-keep-debug", "add-gnu-debuglink", "strip-debug", "icf", "crel", "num-threads", "long", "ultra"}

// replacedFlags returns the help of the programs whose place symtool can take, which names their
// options.
func replacedFlags(t *testing.T) string {
	t.Helper()
	var help strings.Builder
	for _, name := range dropin.Names() {
		if status := app.Run(t.Context(), []string{name, "--help"}, nil, &help, io.Discard); status != cli.StatusOK {
			t.Fatalf("%s --help: status %d", name, status)
		}
	}
	return help.String()
}

// TestDocFlags checks that each flag that the documents name belongs to the command before it,
// to any command, or to a program whose place symtool can take.
func TestDocFlags(t *testing.T) {
	program := cli.NewApp(nil, nil, cli.NewMessages(nil), app.Commands)
	replaced := replacedFlags(t)
	n := 0
	check := func(d *document, line int, text string) {
		for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '|' || r == ';' || r == '&' }) {
			words := strings.Fields(strings.Trim(part, "` "))
			if len(words) == 0 || words[0] != "symtool" && !strings.HasPrefix(words[0], "-") {
				continue
			}
			command := ""
			if words[0] == "symtool" && len(words) > 1 {
				command = words[1]
			}
			for _, m := range docFlag.FindAllStringSubmatch(strings.Join(words, " "), -1) {
				n++
				if !knownFlag(program, command, m[1]) && (command != "" || !slices.Contains(foreignFlags, m[1]) && !strings.Contains(replaced, "--"+m[1]+" ")) {
					t.Errorf("%s:%d: symtool %s has no --%s", d.name, line, command, m[1])
				}
			}
		}
	}
	for _, d := range documents(t) {
		d.prose(func(line int, text string) {
			for _, code := range docCode.FindAllString(text, -1) {
				check(d, line, code)
			}
		})
		for _, b := range d.blocks {
			for _, c := range b.commands {
				check(d, c.from, strings.ReplaceAll(strings.Join(c.script, " "), `\`, " "))
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d flags", n)
	}
}

// knownFlag reports whether a command has a flag; with command "", any command.
func knownFlag(app *cli.App, command, flag string) bool {
	for _, c := range app.Commands {
		if command != "" && c.Name != command {
			continue
		}
		if flag == "help" || slices.ContainsFunc(c.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), flag) }) {
			return true
		}
	}
	return (command == "" || strings.HasPrefix(command, "-")) && (flag == "version" || flag == "help")
}

// TestDocCommands checks that each command is shown in a guide, in a block that is run.
func TestDocCommands(t *testing.T) {
	var shown []string
	exceptions := 0
	for _, d := range documents(t) {
		lines := len(d.lines)
		for _, b := range d.blocks {
			if b.lang == "go" {
				lines -= len(b.text)
			}
			if b.norun != "" {
				if exceptions++; len(b.norun) < 10 {
					t.Errorf("%s:%d: %q is no reason", d.name, b.line, b.norun)
				}
				continue
			}
			if b.lang == "" || (b.lang == "sh" || b.lang == "go") && b.file == "" && b.example == "" {
				t.Errorf("%s:%d: block without a language: want console, which is run, or text", d.name, b.line)
			}
			for _, c := range b.commands {
				lines -= len(c.output)
				shown = append(shown, strings.Join(c.script, "\n"))
			}
		}
		if d.name == "CONTRIBUTING.md" {
			lines -= len(layers) + len(slices.Concat(layers...)) // the tables of packages are for reference, and do not count
		}
		if lines > guideLines {
			t.Errorf("%s has %d lines, want at most %d", d.name, lines, guideLines)
		}
		if d.name == "README.md" && len(d.lines) > readmeLines {
			t.Errorf("%s has %d lines, want at most %d", d.name, len(d.lines), readmeLines)
		}
	}
	if exceptions != docExceptions {
		t.Errorf("%d blocks are not run, docExceptions has %d", exceptions, docExceptions)
	}
	for _, c := range cli.NewApp(nil, nil, cli.NewMessages(nil), app.Commands).Commands {
		if !slices.ContainsFunc(shown, func(s string) bool { return strings.Contains(s, "symtool "+c.Name) }) {
			t.Errorf("no guide shows symtool %s", c.Name)
		}
	}
}

// TestDocMessages checks that the guide's table of messages contains messages of the program,
// with X, N and M for the variable parts.
func TestDocMessages(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, in one goroutine only")
	}
	var source strings.Builder
	sources(t, ".go", &source)
	n := 0
	readDocument(t, "docs/build-engineer.md").prose(func(line int, text string) {
		cells := strings.Split(text, "|")
		if len(cells) != 5 || !strings.HasPrefix(cells[1], " `") {
			return
		}
		n++
		for part := range strings.SplitSeq(regexp.MustCompile(`\b(X\.dwo|N|M)\b`).ReplaceAllString(strings.Split(cells[1], "`")[1], "\x00"), "\x00") {
			if !strings.Contains(source.String(), strings.TrimSpace(part)) {
				t.Errorf("docs/build-engineer.md:%d: no message has %q", line, part)
			}
		}
	})
	if n < 5 {
		t.Errorf("only %d messages", n)
	}
}

// sources reads the files of the repository whose names end in suffix.
func sources(t *testing.T, suffix string, text *strings.Builder) {
	t.Helper()
	err := filepath.WalkDir(testenv.Root(t), func(path string, e os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, suffix) {
			return err
		}
		file, err := os.ReadFile(path)
		text.Write(file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

var docTest = regexp.MustCompile("`(Test[A-Z]\\w*)`")

// TestDocTests checks that each test that the documents name exists.
func TestDocTests(t *testing.T) {
	var source strings.Builder
	sources(t, "_test.go", &source)
	n := 0
	for _, d := range documents(t) {
		d.prose(func(line int, text string) {
			for _, m := range docTest.FindAllStringSubmatch(text, -1) {
				if n++; !strings.Contains(source.String(), "\nfunc "+m[1]+"(t *testing.T)") {
					t.Errorf("%s:%d: there is no %s", d.name, line, m[1])
				}
			}
		})
	}
	if n < 30 {
		t.Errorf("only %d tests are named", n)
	}
}
