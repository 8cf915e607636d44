package dwarf2sym_test

// Reasons for options without a build.
const (
	byDefault = "what the compiler does without it"
	noDebug   = "without debug information there is nothing to compare"
	otherFile = "changes nothing in the binary: what is printed, or another file"
	ofOthers  = "for other systems, languages or devices"
	sanitized = "debugs a sanitizer itself; its code is a row of its own"
	profiled  = "needs a profile: the builds with -fprofile-use and -fprofile-sample-use have one"
)

// optionsClang has the options that clang 22 lists, with -help-hidden and for completion, for debug information, line
// tables and call frame information.
var optionsClang = []optionRow{
	// Kinds and amounts.
	{both: true, names: "-g -g2 -ggdb2 -gdwarf -gdwarf32 -gfull", builds: []string{"-O0", "-O1", "-O2", "-O3", "-Os", "-Oz", "-Og"}, why: byDefault},
	{names: "-g0 -ggdb0", why: noDebug},
	{names: "-g1 -ggdb1 -gline-tables-only", builds: []string{"-gmlt", "-gline-tables-only -gdwarf-4"}, why: byDefault},
	{names: "-g3 -ggdb3 -gused", builds: []string{"-g3", "-ggdb3", "-gused"}},
	{names: "-gline-directives-only", why: "line tables without functions: llvm-symbolizer finds no unit for an address"},
	{names: "-ggdb -glldb -gsce -gdbx", builds: []string{"-ggdb", "-glldb", "-gsce"}, why: "-gdbx puts strings into .debug_info, which clang 22 fails to: Undefined temporary symbol"},
	{names: "-gcodeview -gcodeview-* -gno-codeview-*", why: "for Windows: the oracles of symfmt/pdb"},
	{both: true, names: "-gdwarf-2 -gdwarf-3 -gdwarf-4 -gdwarf-5", builds: []string{"-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5"}},
	{names: "-gdwarf-6", why: "DWARF 6 is not published: its units are refused, with status 3"},
	{names: "-fdebug-default-version=", builds: []string{"-fdebug-default-version=4"}},
	{names: "-gstrict-dwarf -gno-strict-dwarf", builds: []string{"-gstrict-dwarf -gdwarf-3"}, why: byDefault},
	{names: "-gdwarf64", builds: []string{"-gdwarf64 -gdwarf-3"}, plain: "-gdwarf-3"},
	{names: "-gdwarf64", builds: []string{"-gdwarf64 -gdwarf-4"}, plain: "-gdwarf-4"},
	{names: "-gdwarf64", builds: []string{"-gdwarf64 -gdwarf-5"}, plain: "-gdwarf-5"},
	{names: "-gz -gz=", builds: []string{"-gz", "-gz=zlib -gdwarf-4", "-gz=zstd"}},
	{names: "-gembed-source -gno-embed-source", builds: []string{"-gembed-source -gdwarf-5"}, why: byDefault},

	// The contents of DIEs and rows.
	{names: "-gcolumn-info", why: byDefault},
	{names: "-gno-column-info", builds: []string{"-gno-column-info", "-gno-column-info -gdwarf-4"}},
	{names: "-gkey-instructions -gno-key-instructions", builds: []string{"-gkey-instructions"}, why: byDefault},
	{names: "-ginline-line-tables", why: byDefault},
	{names: "-gno-inline-line-tables", builds: []string{"-gno-inline-line-tables"}},
	{names: "-gcall-site-info -gno-call-site-info", builds: []string{"-gno-call-site-info"}, why: byDefault},
	{names: "-gsimple-template-names -gno-simple-template-names", builds: []string{"-gsimple-template-names"}, only: "c++", why: byDefault},
	{names: "-gtemplate-alias -gno-template-alias", builds: []string{"-gtemplate-alias"}, only: "c++", why: byDefault},
	{names: "-gstructor-decl-linkage-names -gno-structor-decl-linkage-names", builds: []string{"-gstructor-decl-linkage-names"}, only: "c++", why: byDefault},
	{names: "-gomit-unreferenced-methods -gno-omit-unreferenced-methods", builds: []string{"-gomit-unreferenced-methods"}, only: "c++", why: byDefault},
	{names: "-grecord-command-line -gno-record-command-line -frecord-command-line -fno-record-command-line", builds: []string{
		"-grecord-command-line",
	}, why: byDefault},
	{both: true, names: "-fdebug-info-for-profiling -fno-debug-info-for-profiling", builds: []string{"-fdebug-info-for-profiling", "-fdebug-info-for-profiling -gmlt"}, why: byDefault},
	{both: true, names: "-fpseudo-probe-for-profiling -fno-pseudo-probe-for-profiling", builds: []string{"-fpseudo-probe-for-profiling", "-fpseudo-probe-for-profiling -gdwarf-4"}, why: byDefault},
	{both: true, names: "-funique-internal-linkage-names -fno-unique-internal-linkage-names", builds: []string{"-funique-internal-linkage-names", "-funique-internal-linkage-names -g1"}, why: byDefault},
	{names: "-fdebug-macro -fno-debug-macro", builds: []string{"-fdebug-macro", "-fdebug-macro -gdwarf-4"}, why: byDefault},
	{names: "-fstandalone-debug -fno-standalone-debug", builds: []string{"-fstandalone-debug"}, why: byDefault},
	// Code and data that the compiler would leave out.
	{both: true, names: "-femit-all-decls -fkeep-static-consts -fkeep-persistent-storage-variables", builds: []string{
		"-femit-all-decls", "-fkeep-static-consts", "-fkeep-persistent-storage-variables", "-femit-all-decls -gdwarf-4 -O0",
	}},
	{names: "-feliminate-unused-debug-types -fno-eliminate-unused-debug-types -feliminate-unused-debug-symbols -fno-eliminate-unused-debug-symbols", builds: []string{
		"-fno-eliminate-unused-debug-types",
	}, why: byDefault},
	{names: "-fextend-variable-liveness=", builds: []string{"-fextend-variable-liveness=all", "-fextend-variable-liveness=this -O1"}},
	{names: "-fsanitize-annotate-debug-info -fsanitize-annotate-debug-info= -fno-sanitize-annotate-debug-info -fno-sanitize-annotate-debug-info=", builds: []string{
		"-fsanitize-annotate-debug-info", "-fsanitize-annotate-debug-info=signed-integer-overflow",
	}, code: "-fsanitize=undefined -fsanitize-trap=all -fno-sanitize=function,vptr", why: byDefault},
	{names: "-fsanitize-debug-trap-reasons -fsanitize-debug-trap-reasons= -fno-sanitize-debug-trap-reasons", builds: []string{
		"-fsanitize-debug-trap-reasons", "-fsanitize-debug-trap-reasons=basic",
	}, code: "-fsanitize=undefined -fsanitize-trap=all -fno-sanitize=function,vptr", why: byDefault},
	{names: "-gmodules -gno-modules", builds: []string{"-gmodules"}, why: byDefault},
	{names: "-fpch-debuginfo -fno-pch-debuginfo", why: "types of precompiled headers, which symbol files do not have"},

	// Sections and files.
	{names: "-gpubnames -ggnu-pubnames -gno-pubnames -gno-gnu-pubnames -gdwarf-aranges", builds: []string{"-gpubnames -gdwarf-4", "-gpubnames", "-ggnu-pubnames", "-gdwarf-aranges"}, why: byDefault},
	{names: "-fdebug-types-section -fno-debug-types-section", builds: []string{"-fdebug-types-section -gdwarf-4", "-fdebug-types-section -gdwarf-5"}, why: byDefault},
	{names: "-fdebug-ranges-base-address -fno-debug-ranges-base-address", builds: []string{"-fdebug-ranges-base-address", "-fdebug-ranges-base-address -gdwarf-4"}, why: byDefault},
	{names: "-gsplit-dwarf -fno-split-dwarf-inlining", builds: []string{"-gsplit-dwarf", "-gsplit-dwarf -fno-split-dwarf-inlining", "-gsplit-dwarf -gdwarf64"}, plain: "-gdwarf-5"},
	{names: "-gsplit-dwarf -fsplit-dwarf-inlining", builds: []string{"-gsplit-dwarf -fsplit-dwarf-inlining -gdwarf-4"}, plain: "-gdwarf-4"},
	{names: "-gsplit-dwarf=", builds: []string{"-gsplit-dwarf=split -gdwarf-5"}, plain: "-gdwarf-5", why: "=single needs objects that stay, compiled one by one: TestOracleSplit"},
	{names: "-gno-split-dwarf", why: byDefault},
	{names: "-fdebug-prefix-map= -ffile-prefix-map= -fdebug-compilation-dir -fdebug-compilation-dir= -ffile-compilation-dir=", builds: []string{
		"-fdebug-prefix-map=/=/elsewhere/", "-ffile-prefix-map=/=./", "-fdebug-compilation-dir /nowhere", "-fdebug-compilation-dir=.", "-ffile-compilation-dir=/some/where -gdwarf-4",
	}},
	{names: "-fmacro-prefix-map= -fcoverage-compilation-dir= -fcoverage-prefix-map=", why: otherFile},
	{names: "-fdwarf-directory-asm -fno-dwarf-directory-asm", builds: []string{"-fno-dwarf-directory-asm", "-fno-dwarf-directory-asm -save-temps=obj"}, why: byDefault},

	// Call frame information.
	{names: "-femit-dwarf-unwind= -fforce-dwarf-frame -fno-force-dwarf-frame -fdwarf2-cfi-asm -fno-dwarf2-cfi-asm", builds: []string{
		"-femit-dwarf-unwind=always", "-fforce-dwarf-frame", "-fno-dwarf2-cfi-asm",
	}, why: byDefault},
	{names: "-fasynchronous-unwind-tables -fno-asynchronous-unwind-tables -funwind-tables -fno-unwind-tables -fdwarf-exceptions", builds: []string{
		"-fno-asynchronous-unwind-tables", "-fno-unwind-tables -fno-asynchronous-unwind-tables", "-fdwarf-exceptions",
	}, why: byDefault},
	{names: "-fomit-frame-pointer", builds: []string{"-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer", "-mno-red-zone", "-fstack-protector-all", "-fstack-clash-protection", "-fcf-protection=full"}, why: byDefault},
	{names: "-femit-compact-unwind-non-canonical -fno-emit-compact-unwind-non-canonical -fwinx64-eh-unwindv2=", why: ofOthers},

	// Where code is, and to what it belongs.
	{both: true, names: "-fbasic-block-sections= -fbasic-block-address-map -funique-basic-block-section-names", builds: []string{
		"-fbasic-block-sections=all", "-fbasic-block-sections=all -gdwarf-4", "-fbasic-block-address-map", "-fbasic-block-sections=all -funique-basic-block-section-names",
	}},
	{both: true, names: "-ffunction-sections -fno-unique-section-names -flto -flto=", builds: []string{
		"-ffunction-sections -Wl,--gc-sections", "-ffunction-sections -Wl,--gc-sections -gdwarf-4", "-ffunction-sections -fno-unique-section-names", "-flto", "-flto -gdwarf-4", "-flto=thin", "-ffunction-sections -Wl,--icf=all",
	}},
	{names: "-fpatchable-function-entry= -finstrument-functions -fxray-instrument -fprofile-instr-generate -fsanitize-coverage=", builds: []string{
		"-fpatchable-function-entry=4,2", "-finstrument-functions", "-fxray-instrument -fxray-instruction-threshold=1 -fno-xray-link-deps", "-fsanitize-coverage=trace-pc", "-fsanitize-coverage=trace-pc-guard,stack-depth",
	}, why: "-fprofile-instr-generate needs a library"},
	{names: "-mlvi-cfi -mno-lvi-cfi -fsanitize-cfi-* -fno-sanitize-cfi-*", builds: []string{"-mlvi-cfi"}, why: "control-flow integrity is not call frame information"},
	{names: "-fjmc", builds: []string{"-fjmc"}},

	// Options that do not belong in this table.
	{names: "-gen-* -fdebug-pass-* -fno-diagnostics-* -Wdebug-* -Wno-debug-* -Wno-cfi-* -object-file-name= --verify-debug-info", why: otherFile},
	{names: "-gpulibc --cuda-* --no-cuda-* -fopenmp-target-debug -fopenmp-target-debug= -fno-openmp-target-debug", why: ofOthers},
	{names: "--unwindlib= -unwindlib=", why: "chooses a library"},

	// LLVM's own options, after -mllvm.
	{both: true, names: "-minimize-addr-in-v5=", builds: []string{"-mllvm -minimize-addr-in-v5=Ranges", "-mllvm -minimize-addr-in-v5=Disabled"}},
	{both: true, names: "-minimize-addr-in-v5=", builds: []string{"-mllvm -minimize-addr-in-v5=Form"}, plain: "-mllvm -minimize-addr-in-v5=Disabled"},
	// llvm-symbolizer does not support an expression as DW_AT_low_pc: without symbols, such a function has no name.
	{both: true, names: "-minimize-addr-in-v5=", builds: []string{"-mllvm -minimize-addr-in-v5=Expressions"}, plain: "-mllvm -minimize-addr-in-v5=Disabled", unread: true},
	{names: "-accel-tables= -generate-arange-section -no-dwarf-ranges-section -use-dwarf-ranges-base-address-specifier", builds: []string{
		"-mllvm -accel-tables=Dwarf", "-mllvm -accel-tables=Apple", "-mllvm -accel-tables=Disable", "-mllvm -generate-arange-section", "-mllvm -use-dwarf-ranges-base-address-specifier",
	}, why: "-no-dwarf-ranges-section leaves out the ranges of functions"},
	{names: "-add-linkage-names-to-declaration-call-origins -dwarf-linkage-names=", builds: []string{
		"-mllvm -add-linkage-names-to-declaration-call-origins", "-mllvm -dwarf-linkage-names=Abstract", "-mllvm -dwarf-linkage-names=All",
	}},
	{names: "-dwarf-extended-loc= -dwarf-op-convert= -dwarf-sections-as-references=", builds: []string{
		"-fno-integrated-as -mllvm -dwarf-extended-loc=Disable", "-mllvm -dwarf-op-convert=Disable", "-mllvm -dwarf-sections-as-references=Enable",
	}, why: byDefault},
	{names: "-dwarf-inlined-strings=", why: "as -gdbx"},
	{names: "-dwarf-use-key-instructions", builds: []string{"-gkey-instructions -mllvm -dwarf-use-key-instructions=false"}},
	{names: "-gsframe -gc-empty-basic-blocks -disable-cfi-fixup -disable-nounwind-inference", builds: []string{
		"-mllvm -gsframe", "-fbasic-block-sections=all -mllvm -gc-empty-basic-blocks", "-fbasic-block-sections=all -mllvm -disable-cfi-fixup", "-mllvm -disable-nounwind-inference",
	}},
	{names: "-emit-func-debug-line-table-offsets", builds: []string{"-mllvm -emit-func-debug-line-table-offsets"}},
	{names: "-generate-type-units", builds: []string{"-mllvm -generate-type-units"}},
	{names: "-use-unknown-locations= -use-gnu-debug-macro", builds: []string{
		"-mllvm -use-unknown-locations=Enable", "-mllvm -use-unknown-locations=Disable", "-fdebug-macro -gdwarf-4 -mllvm -use-gnu-debug-macro",
	}},
	{names: "-debugify-level= -debugify-quiet", builds: []string{"-mllvm -debugify-level=locations"}, why: byDefault},
	{names: "-no-discriminators -enable-fs-discriminator -improved-fs-discriminator -profile-isfs", builds: []string{
		"-fdebug-info-for-profiling -mllvm -no-discriminators", "-fdebug-info-for-profiling -mllvm -enable-fs-discriminator -mllvm -improved-fs-discriminator",
	}, why: profiled},
	{names: "-update-pseudo-probe -sample-profile-remove-probe -verify-pseudo-probe -verify-pseudo-probe-funcs=", builds: []string{"-fpseudo-probe-for-profiling -mllvm -update-pseudo-probe=false"}, why: profiled},
	{names: "-emulate-old-livedebugvalues -experimental-debug-variable-locations -force-instr-ref-livedebugvalues -live-debug-variables -livedebugvalues-* -instcombine-lower-dbg-declare=", builds: []string{
		"-mllvm -emulate-old-livedebugvalues", "-mllvm -experimental-debug-variable-locations=false", "-mllvm -live-debug-variables=false", "-mllvm -force-instr-ref-livedebugvalues", "-mllvm -instcombine-lower-dbg-declare=0",
	}, why: "a limit of the same"},
	{names: "-mergefunc-preserve-debug-info -mergefunc-verify=", builds: []string{"-mllvm -enable-merge-functions -mllvm -mergefunc-preserve-debug-info"}, why: otherFile},
	{names: "-strip-global-constants -hot-cold-split -enable-machine-outliner", builds: []string{"-flto -Wl,-mllvm,-strip-global-constants", "-mllvm -hot-cold-split", "-mllvm -enable-machine-outliner=always"}},
	{names: "-split-dwarf-cross-cu-references", builds: []string{"-flto -gsplit-dwarf -mllvm -split-dwarf-cross-cu-references"}, plain: "-flto -gdwarf-5"},
	{names: "-dwarf-version= -dwarf64 -emit-dwarf-unwind= -emit-compact-unwind-non-canonical", why: "of llvm-mc and llc: clang's own options set them"},
	{names: "-asan-* -tsan-* -dfsan-* -memprof-* -msan-* -nsan-* -polly-*", why: sanitized},
	{names: "-aarch64-* -arm-* -riscv-* -sparc-* -spv-* -x86-*", why: "branches of other CPUs; mitigations"},
	{names: "-debug-* -print-* -debugify-* -mir-* -dropped-variable-stats* -disable-auto-upgrade-debug-info -*-debug-hash -agg-antidep-debug* -postra-sched-debug* -pipeliner-dbg-res -check-bfi-* -fs-profile-debug-* -interactive-model-* -verbose-gisel-* -partial-inlining-extra-penalty=", why: otherFile},
	{names: "-ctx-prof-* -generate-merged-base-profiles -thinlto-workload-def= -profile-* -no-warn-sample-unused", why: profiled},
}

// optionsGCC has the options that gcc 12 lists, with --help, for debug information, line tables and call frame
// information.
var optionsGCC = []optionRow{
	{both: true, names: "-g -gdwarf -gdwarf32 -Og", builds: []string{"-O0", "-O1", "-Og", "-Os", "-O3"}, why: byDefault},
	{both: true, names: "-gdwarf- -ggdb", builds: []string{"-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5", "-g3", "-ggdb", "-ggdb3 -gdwarf-4"}, why: byDefault},
	{names: "-gdwarf64", builds: []string{"-gdwarf64 -gdwarf-3", "-gdwarf64 -gdwarf-4", "-gdwarf64 -gdwarf-5"}},
	{names: "-gas-loc-support -gas-locview-support", why: byDefault},
	{names: "-gas-loc-support -gas-locview-support", builds: []string{"-gno-as-loc-support", "-gno-as-loc-support -gdwarf-4", "-gno-as-locview-support"}},
	{names: "-gcolumn-info", builds: []string{"-gcolumn-info", "-gno-column-info"}},
	{names: "-gdescribe-dies -grecord-gcc-switches -frecord-gcc-switches", builds: []string{"-gdescribe-dies", "-grecord-gcc-switches", "-gno-record-gcc-switches", "-frecord-gcc-switches"}},
	{names: "-ginline-points -gstatement-frontiers -ginternal-reset-location-views", builds: []string{"-ginline-points", "-gstatement-frontiers", "-gno-statement-frontiers", "-ginternal-reset-location-views", "-gno-internal-reset-location-views"}},
	{names: "-gvariable-location-views -gvariable-location-views=incompat5", builds: []string{"-gvariable-location-views", "-gno-variable-location-views", "-gvariable-location-views=incompat5"}},
	{names: "-gstrict-dwarf", builds: []string{"-gstrict-dwarf -gdwarf-4", "-gstrict-dwarf -gdwarf-5"}},
	// DWARF 2 has no ranges: a function lacks its cold part, and what is inlined there is lost, which is reported.
	{names: "-gstrict-dwarf", builds: []string{"-gstrict-dwarf -gdwarf-2"}, code: "-fno-reorder-blocks-and-partition"},
	{names: "-gpubnames -ggnu-pubnames -gno-pubnames", builds: []string{"-gpubnames", "-ggnu-pubnames"}, why: byDefault},
	{names: "-gz -gz=<format>", builds: []string{"-gz", "-gz=zlib", "-gz=none"}},
	{names: "-gsplit-dwarf", builds: []string{"-gsplit-dwarf -gdwarf-5"}, plain: "-gdwarf-5"},
	{names: "-gsplit-dwarf", builds: []string{"-gsplit-dwarf -gdwarf-4"}, plain: "-gdwarf-4"},
	{names: "-fdebug-types-section", builds: []string{"-fdebug-types-section -gdwarf-4", "-fdebug-types-section -gdwarf-5"}},
	{names: "-fdebug-prefix-map=* -ffile-prefix-map=*", builds: []string{"-fdebug-prefix-map=/=/elsewhere/", "-ffile-prefix-map=/=./"}},
	{names: "-feliminate-unused-debug-symbols -feliminate-unused-debug-types -femit-class-debug-always -femit-struct-debug-baseonly -femit-struct-debug-reduced -femit-struct-debug-detailed=* -fmerge-debug-strings", builds: []string{
		"-fno-eliminate-unused-debug-types", "-femit-struct-debug-baseonly", "-femit-struct-debug-reduced", "-femit-struct-debug-detailed=none", "-fno-merge-debug-strings",
	}, why: byDefault},
	{names: "-femit-class-debug-always", builds: []string{"-femit-class-debug-always"}, only: "c++"},
	{names: "-fdwarf2-cfi-asm -fasynchronous-unwind-tables -funwind-tables -fdelete-dead-exceptions -fnon-call-exceptions", builds: []string{
		"-fno-dwarf2-cfi-asm", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables -fno-asynchronous-unwind-tables", "-fnon-call-exceptions", "-fno-dwarf2-cfi-asm -gdwarf-4",
	}, why: byDefault},
	{names: "-fvar-tracking -fvar-tracking-assignments -fvar-tracking-assignments-toggle -fvar-tracking-uninit", builds: []string{"-fno-var-tracking", "-fno-var-tracking-assignments", "-fvar-tracking-uninit", "-fvar-tracking-assignments-toggle"}, why: byDefault},
	{both: true, names: "-freorder-blocks-and-partition -fipa-icf -fipa-sra -fipa-cp-clone -fpartial-inlining -fomit-frame-pointer", builds: []string{
		"-fno-reorder-blocks-and-partition", "-fno-ipa-icf", "-fno-ipa-sra -fno-ipa-ra", "-fipa-cp-clone -fipa-pta", "-fno-partial-inlining", "-fno-omit-frame-pointer", "-fipa-icf -fkeep-inline-functions", "-fkeep-static-functions -fno-keep-static-consts", "-fno-toplevel-reorder", "-flto", "-flto -gdwarf-4",
		"-ffunction-sections -Wl,--gc-sections", "-fpatchable-function-entry=4,2", "-finstrument-functions", "-fcf-protection=full", "-fstack-clash-protection", "-fsanitize-coverage=trace-pc",
	}},
	{names: "-gtoggle", why: noDebug},
	{names: "-gbtf -gctf", builds: []string{"-g -gbtf", "-g -gctf"}, only: "c"},
	{names: "-gcoff -gcoff1 -gcoff2 -gcoff3 -gstabs -gstabs+ -gvms -gxcoff -gxcoff+ -fgnat-encodings=*", why: ofOthers},
	{names: "-gant -gno-", why: otherFile},
	{names: "--debug -fcompare-debug* -fdbg-cnt* -fdump-* -fdiagnostics-* -feliminate-dwarf2-dups -freport-bug -fvtv-debug -Wcoverage-* -Winline -fmacro-prefix-map=* -fprofile-prefix-map=* -fdebug-cpp -fworking-directory", why: otherFile},
}
