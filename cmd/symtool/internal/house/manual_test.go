package house

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/app"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/testenv"
)

// manuals returns the files in docs/ that are generated from the flags.
func manuals() map[string]string {
	program := cli.NewApp(nil, nil, cli.NewMessages(nil), app.Commands)
	commands := cli.Models(program)
	files := map[string]string{"reference.md": reference(program, commands), "man/symtool.1": programPage(program, commands)}
	for i := range commands {
		files["man/symtool-"+commands[i].Name+".1"] = manualPage(program, &commands[i])
	}
	return files
}

// TestManuals checks that the manual pages and the reference match the flags.
// GOLDIE_UPDATE=1 writes them.
func TestManuals(t *testing.T) {
	docs := filepath.Join(testenv.Root(t), "docs")
	want := manuals()
	if testenv.Updating() {
		writeManuals(t, docs, want)
	}
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join(docs, name))
		if err != nil {
			t.Error(err)
		} else if string(got) != text {
			t.Errorf("docs/%s does not match the flags: GOLDIE_UPDATE=1 go test ./cmd/symtool/internal/house -run TestManuals writes it", name)
		}
	}
	there, err := os.ReadDir(filepath.Join(docs, "man"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range there {
		if want["man/"+f.Name()] == "" {
			t.Errorf("docs/man/%s belongs to no command", f.Name())
		}
	}
}

func writeManuals(t *testing.T, docs string, files map[string]string) {
	if err := os.RemoveAll(filepath.Join(docs, "man")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(docs, "man"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(docs, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestValueKinds checks that each placeholder of a value has a kind, and that each flag
// that takes one of a few words has a list of them. Add new placeholders to placeKinds, or
// use cli.Words.
func TestValueKinds(t *testing.T) {
	program := cli.NewApp(nil, nil, cli.NewMessages(nil), app.Commands)
	n := 0
	for _, c := range cli.Models(program) {
		for _, f := range c.Flags {
			if f.Value == "" {
				continue
			}
			n++
			if f.Takes == cli.TakesNothing {
				t.Errorf("--%s of %s: the value %s is not in placeKinds, and the flag is not of words", f.Name, c.Name, f.Value)
			}
		}
		for _, line := range c.Synopsis {
			if !strings.HasPrefix(line, "symtool "+c.Name) {
				t.Errorf("%s: usage is %q", c.Name, line)
			}
		}
	}
	if n < 60 {
		t.Errorf("only %d flags with values", n)
	}
}

// TestEnumerations checks that the listed words of a flag are those that the commands
// accept.
func TestEnumerations(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, in one goroutine only")
	}
	program := cli.NewApp(nil, nil, cli.NewMessages(nil), app.Commands)
	refused := func(command, flag, value string) (bool, string) {
		args := []string{"symtool", command, "--" + flag, value, filepath.Join(t.TempDir(), "nothing")}
		switch command + " " + flag {
		case "convert layout":
			args = append(args, "--to-store", t.TempDir())
		case "lint explain", "version format":
			args = args[:4]
		case "dump vars-types":
			args = append([]string{"symtool", "dump", "--vars", "all"}, args[2:]...)
		case "resolve log-level":
			args = append(args[:4], "--symbols", testenv.Input(t), "0")
		case "walk techniques", "resolve format":
			args = append(args, "--symbols", testenv.Input(t))
		}
		switch {
		case command == "upload":
			args = append([]string{"symtool", "upload", "--protocol", "put"}, append(args[2:4], "http://127.0.0.1:1/", args[4])...)
		case command == "diff":
			args = append(args, "another")
		case command == "store" && flag == "compress":
			args = append([]string{"symtool", "store", "add"}, append(args[2:], "another")...)
		case command == "store":
			args = append([]string{"symtool", "store", "ls"}, args[2:]...)
		}
		var stdout, stderr bytes.Buffer
		status := app.Run(t.Context(), args, strings.NewReader(""), &stdout, &stderr)
		return status == cli.StatusUsage && (strings.Contains(stderr.String(), value) || strings.Contains(stderr.String(), flag)), stderr.String()
	}
	for _, c := range cli.Models(program) {
		for _, f := range c.Flags {
			if f.Takes != cli.TakesValues {
				continue
			}
			if is, text := refused(c.Name, f.Name, "0bogus"); !is {
				t.Errorf("%s --%s 0bogus is not refused: %s", c.Name, f.Name, text)
			}
			values := f.Values
			if testing.Short() { // all rules of lint, three times
				values = values[:min(len(values), 10)]
			}
			for _, v := range values {
				if is, text := refused(c.Name, f.Name, v); is {
					t.Errorf("%s --%s %s is refused: %s", c.Name, f.Name, v, text)
				}
				if !f.List && f.Name != "explain" && !strings.Contains(f.Text, v) {
					t.Errorf("%s --%s: its help does not name %s", c.Name, f.Name, v)
				}
			}
		}
	}
}

// TestEnumerationsAreWhole checks that a command that rejects a word lists exactly the
// words that it accepts.
func TestEnumerationsAreWhole(t *testing.T) {
	program := cli.NewApp(nil, nil, cli.NewMessages(nil), app.Commands)
	n := 0
	for _, c := range cli.Models(program) {
		for _, f := range c.Flags {
			if f.Takes != cli.TakesValues || f.List {
				continue
			}
			var stdout, stderr bytes.Buffer
			app.Run(t.Context(), []string{"symtool", c.Name, "--" + f.Name, "0bogus", "nothing", "another"}, strings.NewReader(""), &stdout, &stderr)
			_, said, ok := strings.Cut(stderr.String(), `"0bogus", want `)
			if !ok {
				continue
			}
			said, _, _ = strings.Cut(said, " (see symtool ")
			said = strings.NewReplacer(" or ", " ", ",", " ").Replace(said)
			got, want := strings.Fields(said), slices.Clone(f.Values)
			slices.Sort(got)
			slices.Sort(want)
			n++
			if !slices.Equal(got, want) {
				t.Errorf("%s --%s: the message lists %q, the flag has %q", c.Name, f.Name, got, want)
			}
		}
	}
	if n < 12 {
		t.Errorf("only %d flags checked", n)
	}
}

// TestManualsOracle checks that mandoc and groff have no complaints about the pages.
func TestManualsOracle(t *testing.T) {
	testenv.Oracle(t)
	mandoc, man := testenv.Tool(t, "mandoc"), testenv.Tool(t, "man")
	for name := range manuals() {
		if !strings.HasSuffix(name, ".1") {
			continue
		}
		path := filepath.Join(testenv.Root(t), "docs", name)
		if out, err := exec.Command(mandoc, "-T", "lint", "-W", "style", path).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("mandoc: %v\n%s", err, out)
		}
		cmd := exec.Command(man, "--warnings=w", "-l", path)
		cmd.Env = append(os.Environ(), "MANWIDTH=80", "LC_ALL=C.UTF-8", "MAN_KEEP_FORMATTING=", "PAGER=cat")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if out, err := cmd.Output(); err != nil || stderr.Len() > 0 || len(out) == 0 {
			t.Errorf("man %s: %v, %d bytes\n%s", name, err, len(out), stderr.Bytes())
		} else if at := bytes.Index(out, []byte("\u2010")); at >= 0 {
			t.Errorf("man %s: a word is divided: %q", name, out[max(0, at-40):min(len(out), at+40)])
		}
	}
}
