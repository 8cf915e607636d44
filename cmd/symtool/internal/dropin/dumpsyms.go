package dropin

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
)

// dumpSyms stands for both programs of that name, Breakpad's and Mozilla's. The options say which
// one is meant.
var dumpSyms = program{
	name:  "dump_syms",
	title: "Breakpad's and Mozilla's dump_syms, which write symbol files",
	usage: []string{
		"[-i] [-c] [-d] [-r] [-m] [-v] [-n NAME] [-o OS] FILE [DIR...]",
		"[-o FILE] [-s DIR] [--inlines] [--check-cfi] ... FILE [DEBUGFILE]",
	},
	options: slices.Concat([]option{
		{long: "dialect", value: "WHICH", text: "breakpad or mozilla, if the other options do not say which"},
		{short: "o", long: "output", value: "FILE|OS", text: "Mozilla's: write to FILE, - for standard output\nBreakpad's: use OS as MODULE's operating system"},
	}, breakpadOptions, mozillaOptions, []option{
		{short: "h", long: "help", text: "print this help"},
		{short: "V", long: "version", text: "print the version"},
	}),
	plan: func(l *commandLine) (*plan, error) {
		dialect, err := dialectOf(l)
		switch {
		case err != nil:
			return nil, err
		case dialect == breakpad:
			return breakpadDump(l), nil
		}
		return mozillaDump(l)
	},
	failed: 1, misused: 1,
}

// The values of --dialect.
const (
	breakpad = "breakpad"
	mozilla  = "mozilla"
)

// breakpadOptions lists the options that only Breakpad's program has.
var breakpadOptions = []option{
	{short: "i", flag: "--module-only", text: "write only MODULE and INFO records"},
	{short: "c", flag: "--no-cfi", text: "omit STACK CFI records"},
	{short: "d", text: "write INLINE and INLINE_ORIGIN records, which are omitted otherwise"},
	{short: "r", text: "nothing: references between units cost nothing to follow"},
	{short: "m", text: "nothing: m is always written where a function has several names"},
	{short: "v", flag: "--verbose", text: "print all messages"},
	{short: "n", value: "NAME", flag: "--name=", text: "use NAME as MODULE's name"},
}

// dialectOf returns which of the two programs a command line is meant for.
func dialectOf(l *commandLine) (string, error) {
	given := func(options []option) string {
		for _, g := range l.given {
			if slices.ContainsFunc(options, func(o option) bool { return o.long == g.long && o.short == g.short }) {
				return g.as
			}
		}
		return ""
	}
	theirs, ours := given(breakpadOptions), given(mozillaOptions)
	switch chosen := l.last("dialect"); {
	case l.has("dialect") && chosen != breakpad && chosen != mozilla:
		return "", fmt.Errorf("--dialect is %q, want breakpad or mozilla", chosen)
	case theirs != "" && ours != "":
		return "", fmt.Errorf("%s is Breakpad's, %s is Mozilla's", theirs, ours)
	case chosen == breakpad && ours != "", chosen == mozilla && theirs != "":
		return "", fmt.Errorf("%s%s is not an option of --dialect %s", theirs, ours, chosen)
	case chosen != "":
		return chosen, nil
	case theirs != "":
		return breakpad, nil
	case ours == "" && !l.has("output") && namesFolder(l.operands):
		return breakpad, nil
	case ours != "" || !l.has("output"):
		return mozilla, nil // without options, both do the same
	}
	switch where := l.last("output"); {
	case slices.Contains(systems, where):
		return breakpad, nil
	case where == "-" || strings.ContainsAny(where, `/\.`):
		return mozilla, nil
	}
	return "", fmt.Errorf("-o %s may be Mozilla's output or Breakpad's operating system: say --dialect mozilla or --dialect breakpad", l.last("output"))
}

// namesFolder reports whether operands after the first name a folder of debug files. Only Breakpad's
// program takes one.
func namesFolder(operands []string) bool {
	return len(operands) > 1 && slices.ContainsFunc(operands[1:], func(path string) bool {
		st, err := os.Stat(path)
		return err == nil && st.IsDir() && filepath.Ext(filepath.Clean(path)) != ".dSYM"
	})
}

// systems are the operating systems that Breakpad's tools write into MODULE records.
var systems = []string{"Linux", "linux", "Android", "android", "Fuchsia", "ChromeOS", "mac", "ios", "windows", "solaris"}

// breakpadDump returns the plan for a command line of Breakpad's program.
func breakpadDump(l *commandLine) *plan {
	args := append([]string{"dump", "--no-generator"}, l.flags()...)
	if !l.has("d") {
		args = append(args, "--no-inlines")
	}
	if l.has("output") {
		args = append(args, "--os="+l.last("output"))
	}
	file := l.operands[0]
	args = append(args, debugFlags(file, l.operands[1:])...)
	return &plan{calls: [][]string{append(args, "--", file)}}
}

// debugFlags returns the flags for the operands that Breakpad's program takes after FILE: folders of
// debug files, which have the names in .gnu_debuglink. A folder that does not exist has none. A file
// is the debug file itself.
func debugFlags(file string, operands []string) (flags []string) {
	for _, operand := range operands {
		st, err := os.Stat(operand)
		switch {
		case err != nil:
			continue
		case !st.IsDir():
			return []string{"--debug-file=" + operand}
		}
		if linked := linkedFile(file, operand); linked != "" {
			return []string{"--debug-file=" + linked}
		}
		flags = append(flags, "--debug-dir="+operand)
	}
	return flags
}

// linkedFile returns the path, in a folder, of a file's debug file, or "".
func linkedFile(file, folder string) string {
	f, err := objfile.Open(file, object.DefaultLimits())
	if err != nil {
		return ""
	}
	defer f.Close()
	name, _, ok := f.DebugLink()
	if !ok || name != filepath.Base(name) {
		return ""
	}
	path := filepath.Join(folder, name)
	debug, err := objfile.Open(path, object.DefaultLimits())
	if err != nil {
		return ""
	}
	defer debug.Close()
	if object.CheckPair(f, debug) != nil {
		return ""
	}
	return path
}
