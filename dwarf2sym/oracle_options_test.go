package dwarf2sym_test

import (
	"slices"
	"strings"
)

// What options of gcc and clang change in the debug information or the line tables, a build each. The builds are
// compared as the other builds of the matrix.

// optionBuild compiles sources that fit into one library, which needs no main function.
func optionBuild(tool string, sources []string, flags string) matrixBuild {
	name := "opt-" + tool + strings.NewReplacer(" ", "", "=", "-", ",", "-").Replace(flags)
	args := slices.Concat([]string{"-g", "-fPIC", "-shared", "-nostdlib", "-Wl,-z,muldefs"}, linker(tool), strings.Fields(flags), sources, []string{"-o", target})
	return matrixBuild{name: name, tool: tool, args: args, rowsOnly: strings.Contains(flags, "dwarf64"), least: 50}
}

// The sources in C and C++: hot and cold parts, inlined calls in each other, nested scopes, exceptions, folded functions.
var (
	optionC   = []string{"hotcold.c", "nest.c", "line0.c", "icf.c", "program_json.c", "dead.c"}
	optionCXX = []string{"scopes.cc", "except.cc", "folded.cc", "lto_a.cc", "lto_b.cc"}
)

// Options of gcc and of clang. Left out, as there is nothing to compare:
// -gline-directives-only has no debug information; llvm-symbolizer does not read the functions whose addresses
// -minimize-addr-in-v5=Expressions makes expressions, and debug/dwarf no form of =Form.
var (
	optionsGCC = []string{
		"-O2 -gdwarf-2", "-O2 -gdwarf-5", "-O2 -g1", "-O2 -gdwarf64 -gdwarf-3", "-O2 -gdwarf64 -gdwarf-4", "-O2 -gdwarf64 -gdwarf-5",
		"-O2 -gno-as-loc-support", "-O2 -ginline-points", "-O2 -gdescribe-dies",
	}
	optionsClang = []string{
		"-O1", "-Oz", "-O2 -gmlt", "-O2 -gline-tables-only -gdwarf-4", "-O2 -fdebug-info-for-profiling", "-O2 -gdwarf64 -gdwarf-4",
		"-O2 -gsimple-template-names", "-O2 -gembed-source -gdwarf-5", "-O2 -fdebug-macro", "-O2 -fdebug-macro -gdwarf-4", "-O2 -gkey-instructions",
		"-O2 -fstandalone-debug", "-O2 -gno-inline-line-tables", "-O2 -gno-call-site-info", "-O2 -gstructor-decl-linkage-names", "-O2 -gtemplate-alias",
		"-O2 -fdebug-ranges-base-address", "-O2 -fdebug-ranges-base-address -gdwarf-4",
		"-O2 -fbasic-block-sections=all", "-O2 -fbasic-block-sections=all -gdwarf-4", "-O2 -flto", "-O2 -flto=thin",
		"-O2 -mllvm -minimize-addr-in-v5=Ranges", "-O2 -mllvm -minimize-addr-in-v5=Disabled",
		"-O2 -mllvm -hot-cold-split", "-O2 -mllvm -enable-machine-outliner=always", "-O2 -mllvm -generate-type-units",
		"-O2 -mllvm -dwarf-sections-as-references=Enable", "-O2 -mllvm -dwarf-linkage-names=Abstract",
		"-O2 -mllvm -use-unknown-locations=Enable", "-O2 -mllvm -debugify-level=locations",
		"-O2 -fstack-clash-protection", "-O2 -mno-red-zone", "-O2 -save-temps=obj",
	}
)

// optionBuilds returns a build of each option: of clang's for C and C++, of gcc's for C.
func optionBuilds() (all []matrixBuild) {
	for _, flags := range optionsGCC {
		all = append(all, optionBuild(gcc, optionC, flags))
	}
	for _, flags := range optionsClang {
		all = append(all, optionBuild(clang, optionC, flags), optionBuild(clxx, optionCXX, flags+" -std=c++20"))
	}
	return all
}
