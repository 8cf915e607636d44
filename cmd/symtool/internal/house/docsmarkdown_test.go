package house

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/symtool/symtool/internal/testenv"
)

// document is a Markdown file of the documentation.
type document struct {
	name   string // path from the repository's root
	lines  []string
	blocks []*docBlock
}

// docBlock is a fenced block. The words after the three backquotes are
//
//	LANGUAGE [oracle] [file=NAME] [example=PACKAGE.NAME] [norun: REASON]
//
// Blocks in the language console are run: "$ " begins a command, "> " continues it,
// and the lines that follow are its output, where a line ... stands for any lines, and
// ... in a line for any text. Blocks with oracle are run only in make oracle. A block
// with file= becomes that file. A block with example= shows the body of an Example
// function. A block with norun: is not run, for the given reason.
type docBlock struct {
	line     int // of the first line in it, counted from 0
	lang     string
	oracle   bool
	file     string
	example  string
	norun    string
	text     []string
	commands []*docCommand
}

// docCommand is a command of a block, and its expected output.
type docCommand struct {
	from, to int // lines of the document with the output
	script   []string
	output   []string
}

var docInfo = regexp.MustCompile(`^(?:norun: (.+)|file=(\S+)|example=(\S+)|(oracle))(?: |$)`)

// readDocument reads a Markdown file.
func readDocument(t *testing.T, name string) *document {
	t.Helper()
	d := &document{name: name, lines: strings.Split(strings.TrimSuffix(string(testenv.ReadFile(t, testenv.Root(t), name)), "\n"), "\n")}
	var b *docBlock
	for i, line := range d.lines {
		info, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && b == nil:
			b = newDocBlock(t, d, i, info)
		case fence:
			b.split(t, d)
			d.blocks, b = append(d.blocks, b), nil
		case b != nil:
			b.text = append(b.text, line)
		}
	}
	if b != nil {
		t.Fatalf("%s:%d: block has no end", name, b.line)
	}
	return d
}

func newDocBlock(t *testing.T, d *document, line int, info string) *docBlock {
	b := &docBlock{line: line + 1}
	b.lang, info, _ = strings.Cut(info, " ")
	for info != "" {
		m := docInfo.FindStringSubmatch(info)
		if m == nil {
			t.Fatalf("%s:%d: unknown word %q after the backquotes", d.name, line+1, info)
		}
		info = info[len(m[0]):]
		b.norun, b.file, b.example, b.oracle = cmp.Or(m[1], b.norun), cmp.Or(m[2], b.file), cmp.Or(m[3], b.example), m[4] != "" || b.oracle
	}
	return b
}

// split splits the text of a console block into commands.
func (b *docBlock) split(t *testing.T, d *document) {
	if b.lang != "console" {
		return
	}
	var c *docCommand
	for i, line := range b.text {
		at := b.line + i
		more, isMore := strings.CutPrefix(line, "> ")
		if script, ok := strings.CutPrefix(line, "$ "); ok {
			c = &docCommand{from: at + 1, to: at + 1, script: []string{script}}
			b.commands = append(b.commands, c)
		} else if c == nil {
			t.Fatalf("%s:%d: a console block begins with \"$ \"", d.name, at+1)
		} else if (isMore || line == ">") && len(c.output) == 0 {
			c.script = append(c.script, more)
			c.from, c.to = at+1, at+1
		} else {
			c.output = append(c.output, line)
			c.to = at + 1
		}
	}
}

// documents returns the README, the guides and CONTRIBUTING, but not the reference, which is generated.
func documents(t *testing.T) (all []*document) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(testenv.Root(t), "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	all = append(all, readDocument(t, "README.md"), readDocument(t, "CONTRIBUTING.md"))
	for _, path := range found {
		if name := filepath.Base(path); name != "reference.md" {
			all = append(all, readDocument(t, "docs/"+name))
		}
	}
	return all
}

// printsAs reports whether output matches lines.
func printsAs(lines, output []string, same func(a, b string) bool) bool {
	for i, line := range lines {
		if line != "..." {
			if len(output) == 0 || !same(line, output[0]) {
				return false
			}
			output = output[1:]
			continue
		}
		for n := range len(output) + 1 {
			if printsAs(lines[i+1:], output[n:], same) {
				return true
			}
		}
		return false
	}
	return len(output) == 0
}

// sameLine reports whether a line matches a line of the document, in which ... stands for any text.
func sameLine(want, got string) bool {
	if want == got {
		return true
	}
	parts := strings.Split(want, "...")
	if len(parts) == 1 || !strings.HasPrefix(got, parts[0]) {
		return false
	}
	got = got[len(parts[0]):]
	for _, part := range parts[1 : len(parts)-1] {
		_, after, ok := strings.Cut(got, part)
		if !ok {
			return false
		}
		got = after
	}
	return strings.HasSuffix(got, parts[len(parts)-1])
}

var longHex = regexp.MustCompile(`[0-9A-Fa-f]{30,}|\.build-id/[0-9a-f/]+`)

// sameElsewhere is like sameLine, for the output of the system's compiler and linker, in which IDs
// depend on their versions. Nothing else may differ: other variable text, such as figures of the
// system's libc, is ... in the document.
func sameElsewhere(want, got string) bool {
	return sameLine(longHex.ReplaceAllString(want, "ID"), longHex.ReplaceAllString(got, "ID"))
}

// shortened omits from an output what old omits from the previous output: everything between its first
// and its last lines.
func shortened(old, output []string) []string {
	head, tail := -1, 0
	for i, line := range old {
		if line != "..." {
			continue
		}
		if head < 0 {
			head = i
		}
		tail = len(old) - i - 1
	}
	if head < 0 || head+tail >= len(output) {
		return output
	}
	short := append([]string{}, output[:head]...)
	return append(append(short, "..."), output[len(output)-tail:]...)
}

// prose calls f with each line outside blocks, and its number.
func (d *document) prose(f func(line int, text string)) {
	fenced := false
	for i, line := range d.lines {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		} else if !fenced {
			f(i+1, line)
		}
	}
}

// chapter returns the text below the heading "## title", up to the next heading of that level.
func chapter(t *testing.T, d *document, title string) string {
	t.Helper()
	from := slices.Index(d.lines, "## "+title)
	if from < 0 {
		t.Fatalf("%s has no chapter %q", d.name, title)
	}
	lines := d.lines[from+1:]
	if to := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "## ") }); to >= 0 {
		lines = lines[:to]
	}
	return strings.Join(lines, "\n")
}

// anchors returns the names by which links refer to the headings of a document, as generated by GitHub.
func anchors(d *document) map[string]bool {
	names := map[string]bool{}
	d.prose(func(_ int, text string) {
		title := strings.TrimLeft(text, "#")
		if title == text || !strings.HasPrefix(title, " ") {
			return
		}
		names[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(title))] = true
	})
	return names
}

// write writes the changed document to its file.
func (d *document) write(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(testenv.Root(t), d.name), []byte(strings.Join(d.lines, "\n")+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
}
