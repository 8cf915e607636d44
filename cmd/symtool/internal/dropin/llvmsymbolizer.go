package dropin

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/symtool/symtool/cmd/symtool/internal/symbolizer"
)

// llvmSymbolizer is LLVM's program.
var llvmSymbolizer = program{
	name:       "llvm-symbolizer",
	title:      "LLVM's llvm-symbolizer, which the sanitizers ask for functions, files and lines",
	usage:      []string{"[OPTION...] [[CODE|DATA] FILE ADDR...]", "-e FILE [OPTION...] [ADDR...]", "--filter-markup [OPTION...]"},
	options:    llvmOptions,
	plan:       func(l *commandLine) (*plan, error) { return planLLVM(l, false) },
	noOperands: true,
	failed:     1, misused: 1,
}

// llvmAddr2line is the same program with the defaults of addr2line.
var llvmAddr2line = program{
	name:       "llvm-addr2line",
	title:      "LLVM's llvm-addr2line, which prints files and lines",
	usage:      []string{"[OPTION...] [[CODE|DATA] FILE ADDR...]", "-e FILE [OPTION...] [ADDR...]"},
	options:    llvmOptions,
	plan:       func(l *commandLine) (*plan, error) { return planLLVM(l, true) },
	noOperands: true,
	failed:     1, misused: 1,
}

// llvmOptions are the options of both programs. The defaults in the help are those of
// llvm-symbolizer.
var llvmOptions = []option{
	{short: "e", long: "obj", value: "FILE", text: "look addresses up in FILE; without it, each line names a file"},
	{long: "exe", value: "FILE", text: "as --obj"},
	{short: "f", long: "functions", value: "WHICH", optional: true, text: "print the names of functions as linkage (default), short or none"},
	{short: "C", long: "demangle", text: "demangle names (default)", oneDash: true},
	{long: "no-demangle", text: "print names as they are mangled"},
	{short: "i", long: "inlines", text: "print inlined functions (default)"},
	{long: "inlining", value: "BOOL", optional: true, text: "as --inlines; with =false, as --no-inlines"},
	{long: "no-inlines", text: "print only the innermost function"},
	{short: "p", long: "pretty-print", text: "print each function on one line; indent JSON"},
	{short: "a", long: "addresses", text: "print each address before its functions"},
	{long: "print-address", text: "as --addresses"},
	{short: "s", long: "basenames", text: "print files without folders"},
	{long: "relativenames", text: "print files without the compilation directory"},
	{long: "output-style", value: "STYLE", text: "print LLVM (default), GNU or JSON"},
	{long: "adjust-vma", value: "OFFSET", text: "subtract OFFSET from addresses"},
	{long: "verbose", text: "print all that is known of each function, a line each"},
	{long: "debug-file-directory", value: "DIR", text: "also look for debug files in DIR"},
	{long: "fallback-debug-path", value: "DIR", text: "as --debug-file-directory"},
	{long: "relative-address", ignored: "addresses of ELF files are the same", text: "nothing: addresses of ELF files are the same"},
	{long: "default-arch", value: "ARCH", text: "of a universal file of macOS, which FILE:ARCH names as well, look up in\nthe binary for ARCH; nothing for other files"},
	{long: "cache-size", value: "BYTES", text: "nothing: binaries stay open, and take little memory"},
	{long: "untag-addresses", ignored: noTags, text: "nothing: " + noTags},
	{long: "no-untag-addresses", text: "nothing: " + noTags},
	{long: "no-debuginfod", text: "ask no debuginfod server"},
	{long: "disable-gsym", text: "nothing: GSYM files are not looked for"},
	{long: "filter-markup", text: "copy standard input, and replace symbolizer markup"},
	{long: "color", value: "WHEN", optional: true, text: "color answers to markup: always, auto (default) or never"},
	{long: "debuginfod", text: "ask the debuginfod servers in DEBUGINFOD_URLS (default)"},
	{long: "build-id", value: "ID", text: "look addresses up in the file DIR/.build-id/XX/YY.debug of a debug\ndirectory"},
	{long: "print-source-context-lines", value: "N", text: "print N lines of source"},
	{long: "skip-line-zero", refused: "lines are printed as the line table has them"},
	{long: "dwp", value: "FILE", text: "read split DWARF from FILE, not from the .dwp beside the binary"},
	{long: "dia", refused: "PDBs are read without it"},
	{long: "gsym-file-directory", value: "DIR", refused: "convert GSYM files with symtool convert"},
	{long: "dsym-hint", value: "DIR", refused: "a .dSYM bundle is found beside its binary"},
	{short: "h", long: "help", text: "print this help"},
	{short: "v", long: "version", text: "print the version"},
}

const noTags = "addresses are looked up as they are"

// planLLVM returns the plan for a command line of llvm-symbolizer.
func planLLVM(l *commandLine, addr2line bool) (*plan, error) {
	_, binary := l.lastOf("obj", "exe")
	o := symbolizer.Options{
		Binary: binary, Demangle: !addr2line, Inlines: !addr2line, Plain: addr2line, Paths: pathsOf(l),
		CPU: l.last("default-arch"), BuildID: l.last("build-id"), Package: l.last("dwp"), Markup: l.has("filter-markup"),
		Pretty: l.has("pretty-print"), Addresses: l.has("addresses") || l.has("print-address"), Verbose: l.has("verbose"),
		DebugDirs: append(append(l.values("debug-file-directory"), l.values("fallback-debug-path")...), systemDebug),
	}
	for _, set := range []func(*symbolizer.Options, *commandLine, bool) error{setSwitches, setWords, setColor, setBuild} {
		if err := set(&o, l, addr2line); err != nil {
			return nil, err
		}
	}
	if text := l.last("print-source-context-lines"); text != "" {
		var err error
		if o.Context, err = strconv.Atoi(text); err != nil || o.Context < 0 || o.Context > mostContext {
			return nil, fmt.Errorf("--print-source-context-lines is %q, want 0 to %d", text, mostContext)
		}
	}
	if text := l.last("adjust-vma"); text != "" {
		var err error
		if o.Adjust, err = strconv.ParseUint(text, 0, 64); err != nil {
			return nil, fmt.Errorf("--adjust-vma is %q, want a number", text)
		}
	}
	servers, _ := l.lastOf("debuginfod", "no-debuginfod")
	return &plan{symbolize: &o, operands: l.operands, local: servers == "no-debuginfod"}, nil
}

// mostContext is the maximum number of source lines printed around an address.
const mostContext = 10_000

// setSwitches sets the fields of o that options turn on and off.
func setSwitches(o *symbolizer.Options, l *commandLine, _ bool) error {
	switch name, value := l.lastOf("demangle", "no-demangle"); {
	case name == "no-demangle" || value == "false":
		o.Demangle = false
	case value != "" && value != "true":
		return fmt.Errorf("-demangle is %q, want true or false", value)
	case name != "":
		o.Demangle = true
	}
	switch name, value := l.lastOf("inlines", "inlining", "no-inlines"); {
	case name == "no-inlines" || value == "false":
		o.Inlines = false
	case value != "" && value != "true":
		return fmt.Errorf("--inlining is %q, want true or false", value)
	case name != "":
		o.Inlines = true
	}
	return nil
}

// setWords sets the fields of o that options choose by a word.
func setWords(o *symbolizer.Options, l *commandLine, addr2line bool) error {
	var ok bool
	if o.Names, ok = functionNames[l.last("functions")]; !ok {
		return fmt.Errorf("--functions is %q, want none, short or linkage", l.last("functions"))
	}
	if o.Style, ok = styles[l.last("output-style")]; !ok {
		return fmt.Errorf("--output-style is %q, want LLVM, GNU or JSON", l.last("output-style"))
	}
	if addr2line && !l.has("functions") {
		o.Names = symbolizer.NoNames
	}
	if addr2line && !l.has("output-style") {
		o.Style = symbolizer.GNU
	}
	return nil
}

// setColor sets whether answers to markup are coloured.
func setColor(o *symbolizer.Options, l *commandLine, _ bool) error {
	switch when := l.last("color"); when {
	case "always":
		o.Color = true
	case "never":
	case "", "auto":
		o.Color = l.has("color") && when == ""
		o.ColorTerminal = !o.Color
	default:
		return fmt.Errorf("--color is %q, want always, auto or never", when)
	}
	return nil
}

// setBuild checks --build-id and the options that it excludes.
func setBuild(o *symbolizer.Options, l *commandLine, _ bool) error {
	switch {
	case !l.has("build-id"):
		return nil
	case o.Binary != "":
		return errors.New("--build-id and --obj exclude each other")
	case !symbolizer.IsBuildID(o.BuildID):
		return fmt.Errorf("--build-id is %q, want hexadecimal digits", o.BuildID)
	}
	return nil
}

// systemDebug is the folder in which systems have debug files.
const systemDebug = "/usr/lib/debug"

// functionNames maps the values of llvm-symbolizer's --functions.
var functionNames = map[string]symbolizer.Names{
	"": symbolizer.Linkage, "linkage": symbolizer.Linkage, "short": symbolizer.Short, "none": symbolizer.NoNames,
}

// styles maps the values of --output-style.
var styles = map[string]symbolizer.Style{"": symbolizer.LLVM, "LLVM": symbolizer.LLVM, "GNU": symbolizer.GNU, "JSON": symbolizer.JSON}

// pathsOf returns how paths of files are printed. The last option counts.
func pathsOf(l *commandLine) symbolizer.Paths {
	switch name, _ := l.lastOf("basenames", "relativenames"); name {
	case "basenames":
		return symbolizer.BaseNames
	case "relativenames":
		return symbolizer.RelativePaths
	}
	return symbolizer.FullPaths
}
