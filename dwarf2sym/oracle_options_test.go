package dwarf2sym_test

import (
	"cmp"
	"slices"
	"strings"
)

// The effects of options of gcc and clang on debug information or line tables, with one build each. The builds are
// compared like the other builds of the matrix. TestOracleOptionNames finds options of the compilers that are in no
// row.

// optionRow lists options that have the same effect.
type optionRow struct {
	names  string   // as the compiler has them; * stands for any text
	builds []string // flags of one build each, to which -O2 is added if they do not choose a level
	why    string   // why a name has no build

	// plain has flags for the same code in a form that debug/dwarf reads, or is empty. unread means that
	// llvm-symbolizer needs that form, too.
	plain  string
	unread bool
	only   string // "c" or "c++": use these sources instead of those chosen for the compiler
	both   bool   // all sources
	code   string // flags of both forms
}

// The sources: hot and cold parts, nested inlined calls, nested scopes, exceptions, folded functions, coroutines,
// assembly, threads. They fit into one library, which needs no main function.
var (
	optionC = []string{
		"hotcold.c", "nest.c", "line0.c", "icf.c", "program_json.c", "dead.c", "vla.c", "asmcode.c", "tls.c", "floats.c", "signals.c", "realign.c",
	}
	optionCXX = []string{
		"scopes.cc", "except.cc", "folded.cc", "lto_a.cc", "lto_b.cc", "coroutines.cc", "lambdas.cc", "virtuals.cc", "initial.cc",
	}
)

// optionBuild compiles the sources.
func optionBuild(tool string, sources []string, row *optionRow, flags string) matrixBuild {
	args := func(flags string) []string {
		if !strings.Contains(flags, "-O") {
			flags = "-O2 " + flags
		}
		if tool == clxx || tool == gxx {
			flags = "-std=c++20 " + flags
		}
		return slices.Concat([]string{"-g", "-fPIC", "-shared", "-nostdlib", "-Wl,-z,muldefs", "-Wl,--defsym=__dso_handle=0"}, linker(tool), strings.Fields(row.code), strings.Fields(flags), sources, []string{"-o", target})
	}
	name := "opt-" + tool + strings.NewReplacer(" ", "", "=", "-", ",", "-", "/", "-").Replace(row.code+flags)
	b := matrixBuild{name: name, tool: tool, args: args(flags), unread: row.unread, least: 50}
	if row.plain != "" {
		b.plain = args(row.plain)
	}
	return b
}

// optionBuilds returns the builds of the rows. Most options do the same for C and C++, and are tried on one of them:
// gcc's on C, clang's on C++.
func optionBuilds() (all []matrixBuild) {
	for _, of := range []struct {
		c, cxx, only string
		rows         []optionRow
	}{{gcc, gxx, "c", optionsGCC}, {clang, clxx, "c++", optionsClang}} {
		for i := range of.rows {
			row := &of.rows[i]
			only := cmp.Or(row.only, of.only)
			for _, flags := range row.builds {
				if row.both || only == "c" {
					all = append(all, optionBuild(of.c, optionC, row, flags))
				}
				if row.both || only == "c++" {
					all = append(all, optionBuild(of.cxx, optionCXX, row, flags))
				}
			}
		}
	}
	return all
}
