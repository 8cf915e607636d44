package cli

// PeerFlag is a flag of a program that a command replaces, and that the command does not have.
type PeerFlag struct {
	Name    string // without dashes
	Instead string // what the command has in its place
}

// PeerFlags lists, by command, flags that people know from other programs: Breakpad's and
// Mozilla's dump_syms, Breakpad's minidump_stackwalk, rust-minidump's minidump-stackwalk,
// addr2line and llvm-symbolizer. The message about such a flag says what to write instead.
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
		{"mapping-var", "use --map-var VAR=VALUE"},
		{"mapping-src", "use --map REGEX=TEMPLATE, for a pair of source and destination"},
		{"mapping-dest", "use --map REGEX=TEMPLATE, for a pair of source and destination"},
		{"mapping-file", "use --map-file FILE, which reads the same JSON"},
	},
	"walk": {
		{"m", "use --format machine"},
		{"c", "use --crashed-only"},
		{"b", "use --brief"},
		{"human", "text is the default, as --format text"},
		{"json", "use --format json"},
		{"cyborg", "run it twice, with --format text and --format json"},
		{"pretty", "use --format json, and jq to lay it out"},
		{"dump", "symtool inspect DUMP prints what a dump contains"},
		{"symbols-path", "use --symbols PATH"},
		{"symbols-url", "use --symbol-url URL"},
		{"symbols-cache", "use --symbol-cache DIR"},
		{"symbols-tmp", "temporary files are in $TMPDIR"},
		{"output-file", "use --output FILE"},
		{"log-file", "messages go to standard error"},
		{"use-local-debuginfo", "use --binaries PATH"},
		{"recover-function-args", "use --vars params, with symbols that have variables"},
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
