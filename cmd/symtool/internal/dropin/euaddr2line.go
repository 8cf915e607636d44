package dropin

import (
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/symbolizer"
)

// euAddr2line is the program of elfutils.
var euAddr2line = program{
	name:  "eu-addr2line",
	title: "addr2line of elfutils, which prints files, lines and columns",
	usage: []string{"[OPTION...] [ADDR...]"},
	options: []option{
		{short: "e", long: "executable", value: "FILE", text: "look addresses up in FILE (default: a.out)"},
		{long: "debuginfo-path", value: "PATH", text: "also look for debug files in the folders of PATH, which colons separate"},
		{short: "a", long: "addresses", text: "print each address before its lines"},
		{short: "A", long: "absolute", text: "print files with the compilation directory (default)"},
		{long: "relative", text: "print files without the compilation directory"},
		{short: "s", long: "basenames", text: "print files without folders"},
		{short: "C", long: "demangle", value: "STYLE", optional: true, text: "demangle names; their style is found"},
		{short: "f", long: "functions", text: "print the names of functions, too"},
		{short: "i", long: "inlines", text: "print who calls inlined functions"},
		{long: "pretty-print", text: "print each function on one line"},
		{short: "j", long: "section", value: "NAME", text: "addresses count from the start of the section"},
		{short: "S", long: "symbols", text: "print the symbol at the address, too"},
		{short: "x", long: "symbols-sections", text: "print the symbol and its section, too"},
		{short: "b", long: "target", value: "FORMAT", text: "nothing: the format of a file is found"},
		{short: "F", long: "flags", refused: "flags of the line table are not printed"},
		{short: "p", long: "pid", value: "PID", refused: ofProcess},
		{short: "M", long: "linux-process-map", value: "FILE", refused: ofProcess},
		{long: "core", value: "FILE", refused: "use symtool resolve --filter --core FILE"},
		{short: "k", long: "kernel", refused: ofKernel},
		{short: "K", long: "offline-kernel", value: "RELEASE", optional: true, refused: ofKernel},
		{short: "?", long: "help", text: "print this help"},
		{long: "usage", text: "print this help"},
		{short: "V", long: "version", text: "print the version"},
	},
	plan:       planElfutils,
	noOperands: true, attached: true,
	abbreviated: true,
	failed:      1, misused: 64,
}

const (
	ofProcess = "use symtool resolve --filter --maps FILE, where FILE may be /proc/PID/maps"
	ofKernel  = "name the file: -e vmlinux"
)

func planElfutils(l *commandLine) (*plan, error) {
	if l.has("usage") {
		return &plan{answer: "see symtool as eu-addr2line --help\n"}, nil
	}
	o := symbolizer.Options{
		Style: symbolizer.Elfutils, Names: symbolizer.NoNames, Demangle: l.has("demangle"), Inlines: l.has("inlines"),
		Pretty: l.has("pretty-print"), Addresses: l.has("addresses"), Section: l.last("section"),
		Symbols: l.has("symbols") || l.has("symbols-sections"), Sections: l.has("symbols-sections"),
		DebugDirs: append(foldersOf(l.last("debuginfo-path")), systemDebug), Binary: "a.out",
	}
	if l.has("functions") {
		o.Names = symbolizer.Linkage
	}
	switch name, _ := l.lastOf("basenames", "relative", "absolute"); {
	case l.has("basenames"):
		o.Paths = symbolizer.BaseNames
	case name == "relative":
		o.Paths = symbolizer.RelativePaths
	}
	if file := l.last("executable"); file != "" {
		o.Binary = file
	}
	return &plan{symbolize: &o, operands: l.operands}, nil
}

// foldersOf returns the folders in a list, which may begin with a sign that has a meaning in
// elfutils.
func foldersOf(text string) (dirs []string) {
	for dir := range strings.SplitSeq(strings.TrimLeft(text, "+-"), ":") {
		if dir != "" {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
