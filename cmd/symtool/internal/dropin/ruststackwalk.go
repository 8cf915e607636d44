package dropin

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// rustStackwalk is rust-minidump's program.
var rustStackwalk = program{
	name:  "minidump-stackwalk",
	title: "rust-minidump's minidump-stackwalk, which prints the stacks of a minidump",
	usage: []string{"[--human [--brief] | --json | --cyborg FILE | --dump] ... DUMP [SYMBOLS...]"},
	options: []option{
		{long: "human", text: "print text, in the form of Breakpad's minidump_stackwalk (default)"},
		{long: "json", text: "print JSON by rust-minidump's schema"},
		{long: "pretty", text: "with --json or --cyborg: nothing, the JSON is laid out"},
		{long: "cyborg", value: "FILE", text: "print text, and write JSON to FILE"},
		{long: "dump", text: "print the contents of DUMP, as inspect"},
		{long: "brief", text: "in text: print only the frames of the thread that crashed"},
		{long: "output-file", value: "FILE", text: "write to FILE"},
		{long: "log-file", value: "FILE", text: "write messages to FILE"},
		{long: "verbose", value: "LEVEL", flag: "--log-level=", text: "print messages up to LEVEL: off, error, warn (default), info, debug, trace"},
		{long: "symbols-path", value: "PATH", text: "as walk --symbols"},
		{long: "symbols-url", value: "URL", text: "as walk --symbol-url"},
		{long: "symbols-cache", value: "DIR", text: "as walk --symbol-cache (default: rust-minidump-cache in the folder for\ntemporary files)"},
		{long: "symbols-tmp", value: "DIR", text: "nothing: files are complete when they get their name in the cache"},
		{long: "symbols-download-timeout-secs", value: "N", text: "nothing: a download may take as long as it makes progress"},
		{long: "features", value: "WHICH", text: "stable-basic, stable-all or unstable-all: nothing"},
		{long: "recover-function-args", ignored: noGuessing, text: "nothing: arguments are not guessed; see walk --vars"},
		{long: "use-local-debuginfo", text: "also take symbols from binaries and debug files on this machine"},
		{long: "no-color", text: "nothing: output has no colours"},
		{long: "no-interactive", text: "nothing: there is no progress to show for one dump"},
		{long: "evil-json", value: "FILE", refused: "nothing of FILE would be in the output"},
		{long: "raw-json", value: "FILE", refused: "nothing of FILE would be in the output"},
		{long: "help-markdown", refused: "docs/reference.md of symtool is made from its help"},
		{short: "h", long: "help", text: "print this help"},
		{short: "V", long: "version", text: "print the version"},
	},
	plan:   rustWalk,
	failed: 1, misused: 2,
}

const noGuessing = "arguments are not guessed; symtool walk --vars prints those of symbols with variables"

// rustWalk returns the plan for a command line of rust-minidump's program.
func rustWalk(l *commandLine) (*plan, error) {
	if err := checkRust(l); err != nil {
		return nil, err
	}
	p := &plan{log: l.last("log-file")}
	if l.last("features") == "unstable-all" {
		p.notes = append(p.notes, "--features unstable-all has no effect: "+noGuessing)
	}
	dump, output := l.operands[0], l.last("output-file")
	if l.has("dump") {
		p.add("inspect", output, append(l.flags(), "--", dump)...)
		return p, nil
	}
	flags := append(l.flags(), p.rustSymbols(l)...)
	document, text := slices.Concat(flags, []string{"--format=json", "--", dump}), slices.Concat(flags, []string{"--", dump})
	if l.has("brief") {
		text = append([]string{"--brief"}, text...)
	}
	switch {
	case l.has("cyborg"):
		p.add("walk", l.last("cyborg"), document...)
		p.add("walk", output, text...)
	case l.has("json"):
		p.add("walk", output, document...)
	default:
		p.add("walk", output, text...)
	}
	return p, nil
}

// rustSymbols returns walk's flags for the places where symbols are.
func (p *plan) rustSymbols(l *commandLine) (flags []string) {
	paths := append(l.values("symbols-path"), l.operands[1:]...)
	if flags = p.symbols(paths); l.has("use-local-debuginfo") {
		flags = flags[:len(flags)-1] // without --hermetic
	}
	for _, url := range l.values("symbols-url") {
		flags = append(flags, "--symbol-url="+url)
	}
	if l.has("symbols-url") {
		cache := l.last("symbols-cache")
		if cache == "" {
			cache = filepath.Join(os.TempDir(), "rust-minidump-cache")
		}
		flags = append(flags, "--symbol-cache="+cache)
	}
	return flags
}

// add adds a call of a command. It adds --output unless output is "".
func (p *plan) add(command, output string, args ...string) {
	call := []string{command}
	if output != "" {
		call = append(call, "--output="+output)
	}
	p.calls = append(p.calls, append(call, args...))
}

// checkRust rejects what rust-minidump's program rejects, and what symtool does not
// support.
func checkRust(l *commandLine) error {
	forms := 0
	for _, form := range []string{"human", "json", "cyborg", "dump"} {
		if l.has(form) {
			forms++
		}
	}
	switch features := l.last("features"); {
	case forms > 1:
		return errors.New("--human, --json, --cyborg and --dump exclude each other")
	case l.has("pretty") && !l.has("json") && !l.has("cyborg"):
		return errors.New("--pretty is for --json and --cyborg")
	case l.has("brief") && l.has("json"):
		return errors.New("--brief is for text")
	case l.has("features") && features != "stable-basic" && features != "stable-all" && features != "unstable-all":
		return fmt.Errorf("--features is %q, want stable-basic, stable-all or unstable-all", features)
	case l.has("use-local-debuginfo") && (l.has("symbols-path") || l.has("symbols-url") || len(l.operands) > 1):
		return errors.New("--use-local-debuginfo is not supported beside other symbols: name the binaries with symtool walk --binaries")
	}
	return nil
}
