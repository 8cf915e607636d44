package dropin

import "github.com/symtool/symtool/cmd/symtool/internal/symbolizer"

// addr2line is the program of GNU binutils.
var addr2line = program{
	name:  "addr2line",
	title: "addr2line of GNU binutils, which prints files and lines",
	usage: []string{"[OPTION...] [ADDR...]"},
	options: []option{
		{short: "e", long: "exe", value: "FILE", text: "look addresses up in FILE (default: a.out)"},
		{short: "f", long: "functions", text: "print the names of functions, too"},
		{short: "C", long: "demangle", value: "STYLE", optional: true, text: "demangle names; their style is found"},
		{short: "i", long: "inlines", text: "print inlined functions, and who calls them"},
		{short: "p", long: "pretty-print", text: "print each function on one line"},
		{short: "a", long: "addresses", text: "print each address before its lines"},
		{short: "s", long: "basenames", text: "print files without folders"},
		{short: "j", long: "section", value: "NAME", text: "addresses count from the start of the section"},
		{short: "b", long: "target", value: "FORMAT", text: "nothing: the format of a file is found"},
		{short: "r", long: "no-recurse-limit", text: "nothing: names that take too much work stay mangled"},
		{short: "R", long: "recurse-limit", text: "nothing: the limit cannot be changed"},
		{short: "S", long: "symbols", refused: onlyElfutils},
		{short: "x", long: "symbols-sections", refused: onlyElfutils},
		{short: "A", long: "absolute", refused: onlyElfutils},
		{short: "F", long: "flags", refused: onlyElfutils},
		{short: "m", long: "module", refused: onlyElfutils},
		{short: "k", long: "kernel", refused: onlyElfutils},
		{short: "K", long: "offline-kernel", refused: onlyElfutils},
		{short: "M", long: "linux-process-map", value: "FILE", refused: onlyElfutils},
		{short: "P", long: "pid", value: "PID", refused: onlyElfutils},
		{long: "core", value: "FILE", refused: onlyElfutils},
		{long: "executable", value: "FILE", text: "as --exe, in elfutils"},
		{long: "debuginfo-path", value: "PATH", refused: onlyElfutils},
		{short: "h", long: "help", text: "print this help"},
		{short: "v", long: "version", text: "print the version"},
	},
	plan: func(l *commandLine) (*plan, error) {
		o := symbolizer.Options{
			Style: symbolizer.Addr2line, Names: symbolizer.NoNames, Paths: pathsOf(l), Demangle: l.has("demangle"), Inlines: l.has("inlines"),
			Pretty: l.has("pretty-print"), Addresses: l.has("addresses"), Section: l.last("section"), DebugDirs: []string{systemDebug},
			Binary: "a.out",
		}
		if l.has("functions") {
			o.Names = symbolizer.Linkage
		}
		if name, file := l.lastOf("exe", "executable"); name != "" {
			o.Binary = file
		}
		return &plan{symbolize: &o, operands: l.operands}, nil
	},
	noOperands:  true,
	abbreviated: true,
	failed:      1, misused: 1,
}

const onlyElfutils = "an option of eu-addr2line; see symtool as eu-addr2line"
