package dwarf2sym_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
)

// twinSources are the programs of TestOracleMachOTwins. Those with headers are preprocessed for Linux.
var twinSources = []string{"macho_frames.c", "macho_names.mm", "program_stb.c", "pdb_names.cc"}

// twinFlags are the flags with which each program is compiled.
var twinFlags = []string{
	"-O2 -fno-omit-frame-pointer", "-O2 -fomit-frame-pointer", "-O0", "-O1 -fomit-frame-pointer", "-O3", "-Os", "-Oz -fomit-frame-pointer",
	"-O2 -fstack-protector-all", "-O1 -fomit-frame-pointer -fstack-clash-protection", "-O2 -mllvm -hot-cold-split", "-O2 -fexceptions -fomit-frame-pointer",
}

// twinCPUs are the CPUs of macOS. dsymutil finds no lines for arm64e, as ld64.lld says arm64.
var twinCPUs = []string{"x86_64", "arm64", "arm64e"}

// The same for programs that are compiled now, twice each: with compact unwind, and with .debug_frame; the first is
// also read without its tables, as kernels are. Functions, lines and inlined functions are llvm-symbolizer's.
func TestOracleMachOTwins(t *testing.T) {
	testenv.Oracle(t)
	i := 0
	for _, source := range twinSources {
		dir := t.TempDir()
		text := preprocessed(t, dir, source)
		for _, cpu := range twinCPUs {
			for _, flags := range twinFlags {
				if i++; !testenv.OracleFull() && !sampled(i, cpu, source, flags) || !describable(cpu, source, flags) {
					continue
				}
				t.Run(cpu+"/"+source+"/"+flags, func(t *testing.T) {
					dir := t.TempDir()
					compact := buildTwin(t, dir, "compact", cpu, text, flags+" -femit-dwarf-unwind=no-compact-unwind")
					both := buildTwin(t, dir, "both", cpu, text, flags+" -fasynchronous-unwind-tables -fforce-dwarf-frame -femit-dwarf-unwind=always")
					run(t, testenv.Tool(t, "dsymutil-22"), "--flat", "-o", both+".debug", both)
					frames := twinFrames(run(t, testenv.Tool(t, "llvm-dwarfdump-22"), "--debug-frame", both+".debug"))
					n := compareTwins(t, symtest.Open(t, both), symtest.Open(t, compact), frames)
					if n.all < 30 {
						t.Errorf("%d instructions", n.all)
					}
					var bare twinCounts
					if cpu != "x86_64" || !strings.Contains(flags, "-Oz") { // .debug_frame has its pushes of constants twice
						bare = compareTwins(t, symtest.Open(t, both), symtest.Open(t, withoutTables(t, compact)), frames)
					}
					if bare.missing*8 > bare.all {
						t.Errorf("without tables %d of %d instructions have no rules", bare.missing, bare.all)
					}
					c := compareMachO(t, both+".debug", "", map[string]int{})
					t.Logf("%d instructions: %d agree, %d end a frame; %d functions differ; %d rows of lines; without tables %+v", n.all, n.exact, n.ends, n.others, c.rows, bare)
				})
			}
		}
	}
}

// sampled reports whether the i-th twin is included with SYMTOOL_ORACLE=1. clang takes 22 s of processor time to
// optimize the large program, and 3 s to translate it; the small ones are optimized in ten ways.
func sampled(i int, cpu, source, flags string) bool {
	if source == "program_stb.c" {
		return cpu == "arm64" && flags == "-O0"
	}
	return i%13 == 0
}

// describable reports whether a twin can be built: LLVM does not describe the prologues of functions of minimal size
// for arm64, such as cold parts, and ld64.lld does not link arm64e pointers in data, which all programs but one
// have.
func describable(cpu, source, flags string) bool {
	isARM, small := strings.HasPrefix(cpu, "arm64"), strings.Contains(flags, "-Oz") || strings.Contains(flags, "hot-cold")
	return !(isARM && small) && (cpu != "arm64e" || source == "macho_frames.c")
}

// preprocessed returns the path of a source without its headers.
func preprocessed(t *testing.T, dir, source string) string {
	t.Helper()
	path := source
	if !filepath.IsAbs(source) {
		path = testenv.Input(t, "src", source)
	}
	if source == "macho_frames.c" {
		return path // it has no headers, and asks for the CPU
	}
	out, args := "", []string{"-E", "-DSTBI_NO_SIMD", path}
	switch filepath.Ext(source) {
	case ".c":
		out = ".i"
	case ".cc", ".cpp":
		out, args = ".ii", append(args, "-std=c++20")
	default:
		return path
	}
	text := strings.ReplaceAll(string(run(t, testenv.Tool(t, "clang-22"), args...)), "__builtin_ia32_pause()", "0")
	out = filepath.Join(dir, "source"+out)
	writeFile(t, out, []byte(text))
	return out
}

// buildTwin compiles and links a source for macOS.
func buildTwin(t *testing.T, dir, name, cpu, source, flags string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	args := append(strings.Fields(flags), "--target="+cpu+"-apple-macos13", "-w", "-g", "-fno-builtin", "-funwind-tables", "-c", source, "-o", path+".o")
	if filepath.Ext(source) != ".i" && filepath.Ext(source) != ".c" {
		args = append(args, "-std=c++20", "-fno-threadsafe-statics")
	}
	if strings.HasPrefix(cpu, "x86_64") {
		// LLVM's rows for macOS follow the order of the code, and are wrong after an epilogue in its middle.
		args = append(args, "-mllvm", "-enable-shrink-wrap=false", "-mllvm", "-disable-tail-duplicate")
	}
	if !strings.Contains(flags, "-fstack-protector") {
		args = append(args, "-fno-stack-protector")
	}
	run(t, testenv.Tool(t, "clang-22"), args...)
	run(t, testenv.Tool(t, "ld64.lld-22"), "-arch", cpu, "-platform_version", "macos", "13", "13", "-undefined", "dynamic_lookup", "-dylib", "-o", path, path+".o")
	return path
}
