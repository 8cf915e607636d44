package main

import (
	"slices"

	"github.com/symtool/symtool/lint"
	"github.com/symtool/symtool/resolve/store"
	"github.com/symtool/symtool/symfmt/symdiff"
)

// enumeration is a flag whose value is one of a few words.
type enumeration struct {
	command string // "" for every one that has the flag, unless it has its own
	flag    string
	values  func() []string
	list    bool // several, with commas
}

func words(list ...string) func() []string { return func() []string { return list } }

var textOrJSON = words(formatText, formatJSON)

// enumerations are the words that flags accept. A test compares them with what the commands accept,
// and with their error messages.
var enumerations = []enumeration{
	{"", "format", textOrJSON, false},
	{"diff", "format", diffFormatNames, false},
	{"lint", "format", func() []string { return lintFormatNames }, false},
	{"resolve", "format", words("text", "json", "addr2line", "llvm", "llvm-json"), false},
	{"walk", "format", words("text", "machine", "json", "jsonl"), false},
	{"", "log-level", func() []string { return logLevels }, false},
	{"", "cfi", words("auto", "dwarf", "sframe"), false},
	{"", "demangle", words("full", "none"), false},
	{"convert", "from", func() []string { return formatNames((*format).reads) }, false},
	{"convert", "to", func() []string { return formatNames((*format).writes) }, false},
	{"convert", "layout", store.Layouts, false},
	{"convert", "byte-order", words("little", "big"), false},
	{"convert", "gsym-version", words("1", "2"), false},
	{"convert", "symcache-version", words("7", "8", "9"), false},
	{"convert", "sframe-version", words("2", "3"), false},
	{"sframe", "check", words("spec", "binutils", "kernel"), false},
	{"lint", "fail-on", words("error", "warning", "never"), false},
	{"lint", "select", ruleNames, true},
	{"lint", "ignore", ruleNames, true},
	{"lint", "explain", ruleNames, false},
	{"diff", "fail-on", words("any", "regression", "never"), false},
	{"diff", "only", func() []string { return symdiff.Topics }, true},
	{"diff", "ignore", words("addresses", "paths", "generator"), true},
	{"diff", "color", words("auto", "always", "never"), false},
	{"upload", "protocol", protocolNames, false},
	{"store", "compress", words("none", "gzip", "zstd"), false},
	{"walk", "techniques", techniqueNames, true},
}

// flagValues are the words that a flag accepts; nil if it accepts others.
func flagValues(command, flag string) (values []string, list bool) {
	for _, e := range enumerations {
		if e.flag == flag && e.command == command {
			return e.values(), e.list
		}
	}
	for _, e := range enumerations {
		if e.flag == flag && e.command == "" {
			return e.values(), e.list
		}
	}
	return nil, false
}

// ruleNames are the families of lint's rules and their IDs.
func ruleNames() (names []string) {
	var ids []string
	for _, r := range lint.Rules() {
		ids = append(ids, r.ID)
		if family := r.Family().Name; !slices.Contains(names, family) {
			names = append(names, family)
		}
	}
	return append(names, ids...)
}
