package dwarf2sym_test

import (
	"path/filepath"
	"strings"
)

// The folders in which Debian's compilers keep the sources of their run-time libraries,
// which are the largest programs available in these languages.
const (
	adaSources   = "/usr/lib/gcc/x86_64-linux-gnu/12/adainclude"
	dSources     = "/usr/lib/gcc/x86_64-linux-gnu/12/include/d/std"
	ocamlSources = "/usr/lib/ocaml"
)

var sharedLibrary = []string{"-shared", "-nostdlib", "-fPIC", "-g"}

// languages returns builds in languages other than C, C++ and Rust, whose names
// llvm-symbolizer gives as they are in the file, as symtool does.
func languages() []matrixBuild {
	return []matrixBuild{
		languageBuild("ada-O2", 10_000, gcc, "*.o").first("gcc-12", adaFlags("-O2", "-gnatpg", adaSources,
			"g-spipat", "s-regpat", "g-comlin", "a-strunb", "s-utf_32", "a-calfor", "g-awk", "a-ngcefu")...),
		languageBuild("ada-O0", 50, gcc, "*.o").first("gcc-12", adaFlags("-O0", "-gnatp", ".", "shapes")...),
		languageBuild("fortran-O0", 30, "gfortran-12", "-O0", "modules.f90"),
		languageBuild("fortran-O3", 30, "gfortran-12", "-O3", "modules.f90"),
		languageBuild("d-gdc-O2", 10_000, "gdc-12", append([]string{"-O2"}, sources(dSources, ".d", "json", "uri", "socket", "getopt", "zip", "xml", "csv")...)...),
		languageBuild("d-gdc-O0", 50, "gdc-12", "-O0", "things.d"),
		languageBuild("d-ldc-O1", 40, gcc, "*.o").first("ldc2", "-g", "-O1", "-relocation-model=pic", "-c", "things.d"),
		languageBuild("objc-O0", 20, "gcc-12", "-O0", "methods.m"),
		languageBuild("objc-clang-O2", 10, clang, append(linker(clang), "-O2", "-fgnu-runtime", "methods.m")...),
		languageBuild("modula2-O0", 5, gcc, "*.o").first("gm2-12", "-g", "-O0", "-fPIC", "-c", "Lists.mod"),
		languageBuild("pascal-O2", 20, gcc, "*.o").first("fpc", "-gw3", "-O2", "-Cg", "units.pas").withLongPointers(),
		languageBuild("pascal-dwarf2-O0", 20, gcc, "*.o").first("fpc", "-gw2", "-O-", "-Cg", "units.pas").withLongPointers(),
		languageBuild("ocaml", 500, gcc, "*.o").first("cp", sources(ocamlSources, ".ml", "arg", "hashtbl", "random", "scanf")...).
			first("ocamlopt", "-g", "-fPIC", "-w", "-a", "-c", "hashtbl.ml", "random.ml", "scanf.ml", "arg.ml", "inner.ml"),
		{name: "go-cgo", tool: "go", least: large, args: []string{"build", "-o", target, "main.go"}, before: [][]string{{"cp", "cgo.txt", "main.go"}}},
		{name: "nim", tool: "nim", least: 1000, args: []string{"c", "--debugger:native", "--nimcache:cache", "-o:" + target, "squares.nim"}},
	}
}

// languageBuild links a library of sources, or of the results of the commands added by
// first.
func languageBuild(name string, least int, tool string, args ...string) matrixBuild {
	command := append(append([]string{}, sharedLibrary...), args...)
	return matrixBuild{name: "lang-" + name, tool: tool, least: least, args: append(command, "-o", target)}
}

// first adds a command that runs before the others.
func (b matrixBuild) first(tool string, args ...string) matrixBuild {
	if tool == "cp" {
		args = append(args, ".")
	}
	b.before = append(b.before, append([]string{tool}, args...))
	return b
}

// withLongPointers marks a build of Free Pascal, whose pointers to CIEs have 64 bits in the 32-bit format: the other tools
// take the upper half for the address of the code. TestLongPointers has the readings.
func (b matrixBuild) withLongPointers() matrixBuild {
	b.noCFI = true
	return b
}

func adaFlags(level, style, dir string, units ...string) []string {
	return append(strings.Fields("-c -g -fPIC -w "+style+" "+level), sources(dir, ".adb", units...)...)
}

func sources(dir, suffix string, names ...string) (files []string) {
	for _, name := range names {
		files = append(files, filepath.Join(dir, name+suffix))
	}
	return files
}
