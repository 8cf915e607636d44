package cli

import (
	"slices"

	"github.com/urfave/cli/v2"
)

// PeerFlag is a flag that another program has and the command that replaces this program does not.
type PeerFlag struct {
	Name    string // without dashes
	Instead string // what to use instead
}

// CommonPeerFlags lists flags of other programs that people try with any command. The answer is true only for a
// command that has the flag Has; it is true for every command if Has is "".
var CommonPeerFlags = []struct {
	PeerFlag
	Has string
}{
	{PeerFlag{"json", "use --format json"}, "format"},
	{PeerFlag{"human", "text is the default, as --format text"}, "format"},
	{PeerFlag{"text", "text is the default, as --format text"}, "format"},
	{PeerFlag{"symbols-path", "use --symbols PATH"}, "symbols"},
	{PeerFlag{"symbols-url", "use --symbol-url URL"}, "symbol-url"},
	{PeerFlag{"symbols-cache", "use --symbol-cache DIR"}, "symbol-cache"},
	{PeerFlag{"output-file", "use --output FILE"}, "output"},
	{PeerFlag{"out", "use --output FILE"}, "output"},
	{PeerFlag{"threads", "use --jobs N"}, "jobs"},
	{PeerFlag{"log-file", "messages go to standard error"}, ""},
	{PeerFlag{"V", "symtool --version prints the version"}, ""},
	{PeerFlag{"version", "symtool --version prints the version"}, ""},
}

// PeerCommands maps a word that people write as a command, or the name of a program, to the command of symtool that
// does the same.
var PeerCommands = map[string]string{
	"dump_syms":          "dump",
	"minidump_stackwalk": "walk",
	"minidump-stackwalk": "walk",
	"stackwalk":          "walk",
	"llvm-symbolizer":    "resolve",
	"llvm-addr2line":     "resolve",
	"addr2line":          "resolve",
	"eu-addr2line":       "resolve",
	"symbolize":          "resolve",
	"symbolicate":        "resolve",
	"atos":               "resolve",
	"eu-stack":           "walk",
	"eu-unstrip":         "inspect",
	"check":              "lint",
	"validate":           "lint",
	"verify":             "lint",
}

// Programs lists the programs whose command lines symtool takes, in the order of the help, with their options. The
// command symtool as sets it.
var Programs []Program

// Program is a program whose command line symtool accepts.
type Program struct {
	Name    string
	Options []string
}

// peerCommand returns what to write instead of word, which is not a command, or "".
func peerCommand(word string) string {
	command := PeerCommands[word]
	if command == "" {
		return ""
	}
	if slices.ContainsFunc(Programs, func(p Program) bool { return p.Name == word }) {
		return "use symtool " + command + ", or symtool as " + word
	}
	return "use symtool " + command
}

// optionOf returns a text that names the programs that have option and whose work command does, or "" if there are
// none. If command is "", the text names every program that has the option.
func optionOf(command, option string) string {
	var names []string
	for _, p := range Programs {
		if (command == "" || PeerCommands[p.Name] == command) && slices.Contains(p.Options, option) {
			names = append(names, p.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "an option of symtool as " + Choice(names)
}

// peerFlag returns what to use in command instead of another program's flag, or "".
func peerFlag(command *cli.Command, name string) string {
	for _, f := range PeerFlags[command.Name] {
		if f.Name == name {
			return f.Instead
		}
	}
	for _, f := range CommonPeerFlags {
		if f.Name == name && (f.Has == "" || hasFlag(command, f.Has)) {
			return f.Instead
		}
	}
	return ""
}

func hasFlag(command *cli.Command, name string) bool {
	return slices.ContainsFunc(command.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
}

// PeerFlags lists, by command, flags that people know from other programs: Breakpad's and Mozilla's dump_syms,
// Breakpad's minidump_stackwalk, rust-minidump's minidump-stackwalk, addr2line and llvm-symbolizer. The message for
// such a flag says what to write instead.
var PeerFlags = map[string][]PeerFlag{
	"dump": {
		{"inlines", "inlined functions are written, unless --no-inlines is given"},
		{"d", "inlined functions are written, unless --no-inlines is given"},
		{"r", "references between units are always followed"},
		{"m", "FUNC and PUBLIC records have m wherever a function has several names"},
		{"c", "--no-cfi omits STACK CFI records"},
		{"n", "use --name NAME"},
		{"i", "use --module-only"},
		{"extra-info", "use --info TEXT"},
		{"keep-mangled", "use --demangle none"},
		{"s", "use --store DIR"},
		{"debug-id", "use --id ID"},
		{"a", "use --arch CPU"},
		{"symbol-server", "use --symbol-url URL"},
		{"mapping-var", "use --map-var VAR=VALUE"},
		{"mapping-src", "use --map REGEX=TEMPLATE, for a pair of source and destination"},
		{"mapping-dest", "use --map REGEX=TEMPLATE, for a pair of source and destination"},
		{"mapping-file", "use --map-file FILE, which reads the same JSON"},
	},
	"lint": {
		{"r", "a folder stands for the symbol files in it and in its folders"},
		{"recursive", "a folder stands for the symbol files in it and in its folders"},
	},
	"walk": {
		{"r", "a folder stands for the dumps in it and in its folders"},
		{"m", "use --format machine"},
		{"c", "use --crashed-only"},
		{"b", "use --brief"},
		{"cyborg", "run it twice, with --format text and --format json"},
		{"pretty", "use --format json, and jq to lay it out"},
		{"dump", "symtool inspect DUMP prints what a dump contains"},
		{"symbols-tmp", "temporary files are in $TMPDIR"},
		{"use-local-debuginfo", "use --binaries PATH"},
		{"no-color", "use --color never"},
		{"p", "use --pid PID"},
		{"core", "name the core as DUMP"},
		{"e", "use --binaries PATH"},
		{"executable", "use --binaries PATH"},
		{"n", "use --max-frames N"},
		{"i", "inlined functions are printed"},
		{"inlines", "inlined functions are printed"},
		{"l", "symtool inspect DUMP lists the modules"},
		{"list-modules", "symtool inspect DUMP lists the modules"},
		{"recover-function-args", "use --vars params, with symbols that have variables"},
	},
	"inspect": {
		{"n", "modules are printed, with their ids"},
		{"list-only", "modules are printed, with their ids"},
		{"core", "name the core as DUMP"},
	},
	"serve": {
		{"port", "use --listen HOST:PORT"},
		{"p", "use --listen HOST:PORT"},
		{"addr", "use --listen HOST:PORT"},
	},
	"resolve": {
		{"e", "name the binary with --binaries PATH"},
		{"exe", "name the binary with --binaries PATH"},
		{"obj", "name the binary with --binaries PATH"},
		{"f", "functions are printed in every format"},
		{"functions", "functions are printed in every format"},
		{"C", "names are demangled"},
		{"demangle", "names are demangled"},
		{"i", "inlined functions are printed, unless --no-inlines is given"},
		{"inlines", "inlined functions are printed, unless --no-inlines is given"},
		{"inlining", "inlined functions are printed, unless --no-inlines is given"},
		{"output-style", "use --format addr2line, llvm or llvm-json"},
		{"filter-markup", "--filter replaces addresses in a text"},
	},
}
