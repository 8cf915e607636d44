package dwarf2sym_test

import "slices"

// layouts are builds whose linker or optimizer moved code: it is not where the compiler
// put it, is in several pieces, or is shared.
//
// BOLT drops the second of two equal files from a line table of DWARF 5, as GNU as writes
// them, and does not renumber the others (issue 209184 of llvm-project). In the
// gcc5-O2-bolt builds the files are therefore wrong, in llvm's answers as in ours; those
// of gcc4 and clang are right.
var layouts = []matrixBuild{
	cxxBuild("clang5-O2-thinlto", clxx, "-O2", "-gdwarf-5", "-flto=thin"),
	cxxBuild("clang4-O3-thinlto", clxx, "-O3", "-gdwarf-4", "-flto=thin", sections, gc),
	cxxBuild("gcc5-O2-mold", gxx, "-O2", "-gdwarf-5", mold),
	cxxBuild("gcc5-O2-mold-icf", gxx, "-O2", "-gdwarf-5", mold, sections, gc, icf),
	cxxBuild("gcc4-O2-mold-gc", gxx, "-O2", "-gdwarf-4", mold, sections, gc),
	cxxBuild("gcc5-O2-gold", gxx, "-O2", "-gdwarf-5", gold),
	cxxBuild("gcc5-O2-gold-icf", gxx, "-O2", "-gdwarf-5", gold, sections, gc, icf),
	cxxBuild("gcc4-O2-gold-icf", gxx, "-O2", "-gdwarf-4", gold, sections, gc, icf),
	cxxBuild("clang4-O2-icf", clxx, "-O2", "-gdwarf-4", sections, gc, icf),
	cxxBuild("clang5-O2-bbsections", clxx, "-O2", "-gdwarf-5", "-fbasic-block-sections=all", "-funique-basic-block-section-names"),
	cxxBuild("gcc5-O2-profile", gxx, "-O2", "-gdwarf-5", "-fprofile-use").trained().split(),
	cxxBuild("gcc4-O2-profile", gxx, "-O2", "-gdwarf-4", "-fprofile-use").trained().split(),
	cxxBuild("gcc5-O2-bolt", gxx, "-O2", "-gdwarf-5", relocs, uncut).bolted().split(),
	cxxBuild("gcc4-O2-bolt", gxx, "-O2", "-gdwarf-4", relocs, uncut).bolted().split(),
	cxxBuild("clang5-O2-bolt", clxx, "-O2", "-gdwarf-5", relocs).bolted().split(),

	cBuild("gcc5-O2-mold", gcc, "-O2", "-gdwarf-5", mold, sections, gc, icf),
	cBuild("gcc4-O2-gold-icf", gcc, "-O2", "-gdwarf-4", gold, sections, gc, icf),
	cBuild("clang4-O2-bbsections", clang, "-O2", "-gdwarf-4", "-fbasic-block-sections=all"),
	cBuild("clang4-O2-machine-split", clang, "-O2", "-gdwarf-4", "-fsplit-machine-functions", "-fprofile-sample-use=profile.txt").with(samples).split(),
	cBuild("gcc4-O2-profile", gcc, "-O2", "-gdwarf-4", "-fprofile-use").trained().split(),
	cBuild("gcc5-O2-bolt", gcc, "-O2", "-gdwarf-5", relocs, uncut).bolted().split(),
	cBuild("gcc4-O2-bolt", gcc, "-O2", "-gdwarf-4", relocs, uncut).bolted().split(),
	cBuild("clang5-O2-bolt", clang, "-O2", "-gdwarf-5", relocs).bolted().split(),
	cBuild("clang4-O2-bolt", clang, "-O2", "-gdwarf-4", relocs).bolted().split(),
	cBuild("clang5-O2-bolt-plain", clang, "-O2", "-gdwarf-5", relocs).boltedWith("-reorder-functions=none"),
}

const (
	mold, gold = "-fuse-ld=mold", "-fuse-ld=gold"
	icf        = "-Wl,--icf=all"
	relocs     = "-Wl,--emit-relocs"
	uncut      = "-fno-reorder-blocks-and-partition" // BOLT does not change functions that GCC split
)

// bolted changes the layout of the program with BOLT, based on the profile of a run.
func (b matrixBuild) bolted() matrixBuild {
	return b.boltedWith("-data=profile.fdata", "-reorder-blocks=ext-tsp", "-reorder-functions=cdsort",
		"-split-functions", "-split-all-cold", "-split-eh", "-icf=all")
}

func (b matrixBuild) boltedWith(flags ...string) matrixBuild {
	const bolt, plain = "llvm-bolt-22", "plain.elf"
	b.uses = ""
	b = b.after("mv", target, plain)
	if slices.Contains(flags, "-data=profile.fdata") {
		b = b.after(bolt, plain, "-instrument", "--instrumentation-file=profile.fdata", "-o", "counting.elf").after(training("counting.elf", "profile.fdata")...)
	}
	return b.after(slices.Concat([]string{bolt, plain, "-o", target, "-update-debug-sections"}, flags)...)
}
