// Package testenv is for tests only: golden files, the tools that serve as
// oracles, and the folders with test data. A test that needs something that
// the machine lacks is skipped with a message that says how to get it.
package testenv

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sebdah/goldie/v2"
)

// Environment variables that tests read, besides goldie's own GOLDIE_UPDATE.
const (
	oracleVar = "SYMTOOL_ORACLE" // 1: run the tests that compare with other tools; full: also the long ones
	sharedVar = "SYMTOOL_SHARED" // folder with the shared test data
)

// Root returns the repository's folder: the nearest one, from the test's
// folder upwards, that has a go.mod.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := root()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

var root = sync.OnceValues(func() (string, error) {
	wd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := wd; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New(wd + ": no go.mod here or above")
		}
	}
})

// Golden returns the golden files of the test's package, golden/<package>/;
// names include their extension. GOLDIE_UPDATE=1 writes them.
func Golden(t testing.TB) *goldie.Goldie {
	t.Helper()
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	pkg, err := filepath.Rel(Root(t), wd)
	if err != nil {
		t.Fatal(err)
	}
	return goldie.New(t,
		goldie.WithFixtureDir(filepath.Join(Root(t), "golden", pkg)),
		goldie.WithNameSuffix(""),
		goldie.WithDiffEngine(goldie.ColoredDiff))
}

// Updating reports whether golden files are to be written.
func Updating() bool {
	switch os.Getenv("GOLDIE_UPDATE") {
	case "1", "true", "yes", "on":
		return true
	}
	return false
}

// Input returns the path of a small shared input, golden/input/<path>. It is
// part of the repository, so the test fails without it.
func Input(t testing.TB, path ...string) string {
	t.Helper()
	p := filepath.Join(append([]string{Root(t), "golden", "input"}, path...)...)
	if _, err := os.Stat(p); err != nil {
		t.Fatal(err)
	}
	return p
}

// ReadInput returns the contents of an Input.
func ReadInput(t testing.TB, path ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(Input(t, path...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Shared returns a path in the shared test data, and skips the test if the data is absent. A test
// calls it before its first case, as it might otherwise pass with only some of its cases. Fuzz
// targets have their seeds in the repository, and take more from SharedGlob.
func Shared(t testing.TB, path ...string) string {
	t.Helper()
	p := filepath.Join(append([]string{sharedDir(t)}, path...)...)
	if _, fuzz := t.(*testing.F); fuzz {
		t.Fatalf("a fuzz target needs %s: its seeds belong in the repository", p)
	}
	if _, err := os.Stat(p); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("%s is absent: set %s to the folder with the shared test data", p, sharedVar)
	} else if err != nil {
		t.Fatal(err)
	}
	return p
}

// SharedGlob returns the paths in the shared test data that match a pattern, for tests
// that also have files of the repository. Without the data it returns nil.
func SharedGlob(t testing.TB, pattern ...string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(append([]string{sharedDir(t)}, pattern...)...))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// sharedDir returns the folder for the shared test data, which may not exist:
// SYMTOOL_SHARED, relative to the repository's folder, or ../shared.
func sharedDir(t testing.TB) string {
	t.Helper()
	dir := cmp.Or(os.Getenv(sharedVar), filepath.Join("..", "shared"))
	if filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(Root(t), dir)
}

// Oracle skips a test that compares with other tools, unless SYMTOOL_ORACLE is
// 1 or full.
func Oracle(t testing.TB) {
	t.Helper()
	if !Comparing() {
		t.Skipf("compares with other tools: runs with %s=1, as `make oracle` does", oracleVar)
	}
}

// Comparing reports whether tests compare with other tools, as in `make oracle` or `make
// oracle-full`, for tests that take more files there.
func Comparing() bool { return os.Getenv(oracleVar) == "1" || OracleFull() }

// OracleFull reports whether tests that compare with other tools run in full, as in
// `make oracle-full`, which takes minutes.
func OracleFull() bool { return os.Getenv(oracleVar) == "full" }

// Tool returns the path of a program. A test that needs a program that `make oracle` or `make
// oracle-full` installs runs in that target, and fails there if the program is missing. In other
// targets it is skipped, so that they do the same on every machine. A test that needs any other
// program is skipped if that is missing.
func Tool(t testing.TB, name string) string {
	t.Helper()
	need(t, "program "+name, packages[name])
	path, err := lookPath(name)
	if err == nil {
		return path
	}
	missing(t, "program "+name, packages[name])
	return ""
}

// lookPath finds a program in PATH, except where testscript has put symtool under the names of other programs: a test
// would compare it with itself.
func lookPath(name string) (path string, err error) {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if strings.HasPrefix(filepath.Base(filepath.Dir(dir)), "testscript-main") {
			continue
		}
		if path, err = exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}

// SuiteTool returns the command line of a program from another Debian suite's
// binutils, which .ci/suite-tool unpacks. Under OracleFull a test fails if it is not
// available; otherwise the test is skipped.
func SuiteTool(t testing.TB, suite, program string) []string {
	t.Helper()
	if !OracleFull() {
		t.Skipf("compares with %s's %s: runs with %s=full, as `make oracle-full` does", suite, program, oracleVar)
	}
	line := []string{filepath.Join(Root(t), ".ci", "suite-tool"), suite, program}
	if out, err := exec.Command(line[0], suite, program, "--version").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return line
}

// breakpadPackage is the package for Node.js that has Breakpad's programs for Linux.
const breakpadPackage = "minidump@0.26.0"

// BreakpadTool returns the path of one of Breakpad's programs: the one in PATH or, under
// SYMTOOL_ORACLE, the one that .ci/npm-tool installs. The test is skipped if there is none.
func BreakpadTool(t testing.TB, name string) string {
	t.Helper()
	if path, err := lookPath(name); err == nil {
		return path
	}
	if !Comparing() {
		t.Skipf("no program %s: .ci/npm-tool %s has it for %s=1", name, breakpadPackage, oracleVar)
	}
	dir, err := exec.Command(filepath.Join(Root(t), ".ci", "npm-tool"), breakpadPackage).Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			err = fmt.Errorf("%w: %s", err, failed.Stderr)
		}
		t.Fatalf(".ci/npm-tool %s: %v", breakpadPackage, err)
	}
	return filepath.Join(strings.TrimSpace(string(dir)), "bin", "linux-"+npmArch[runtime.GOARCH], name)
}

// npmArch are Node.js's names of CPUs.
var npmArch = map[string]string{"amd64": "x64", "arm64": "arm64"}

// File is like Tool, for a file that a Debian package installs.
func File(t testing.TB, path, pkg string) string {
	t.Helper()
	need(t, "file "+path, pkg)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	missing(t, "file "+path, pkg)
	return ""
}

// need skips a test that needs something from a Debian package, unless the target is the
// one that installs it.
func need(t testing.TB, what, pkg string) {
	t.Helper()
	switch {
	case slices.Contains(oraclePackages, pkg) && !Comparing():
		t.Skipf("needs %s: runs with %s=1, as `make oracle` does", what, oracleVar)
	case slices.Contains(fullPackages, pkg) && !OracleFull():
		t.Skipf("needs %s: runs with %s=full, as `make oracle-full` does", what, oracleVar)
	}
}

// missing ends a test that needs something from a Debian package that is not installed.
func missing(t testing.TB, what, pkg string) {
	t.Helper()
	if pkg == "" {
		t.Skipf("no %s", what)
	}
	if slices.Contains(oraclePackages, pkg) || slices.Contains(fullPackages, pkg) {
		t.Fatalf("no %s: apt-get install %s", what, pkg)
	}
	t.Skipf("no %s: apt-get install %s", what, pkg)
}

// oraclePackages are what `make oracle` installs, so that no comparison is skipped unnoticed.
// Large packages, or those that few tests need, are not among them: cross compilers, rustc, a
// browser, a second debugger.
var oraclePackages = []string{
	"binutils", "clang-22", "debuginfod", "diffstat", "dwz", "elfutils", "g++", "gcc", "gdb", "gdb-multiarch", "jq", "libc6-arm64-cross", "libc6-armhf-cross",
	"libc6-dbg", "libc6-dev", "libc6-i386-cross", "libclang-rt-22-dev", "libssl3", "libstb-dev", "libstdc++6-armhf-cross", "libxml2-utils", "lld-22", "llvm-22", "lz4", "make",
	"mingw-w64-common", "nginx-light", "ninja-build", "patch", "python3", "strace", "xz-utils", "zstd",
}

// fullPackages are what `make oracle-full` installs in addition.
var fullPackages = []string{
	"bazel-bootstrap", "bolt-22", "buildah", "busybox-static", "chromium", "cmake", "default-jdk-headless", "fish", "fp-compiler",
	"gcc-aarch64-linux-gnu", "gcc-arm-linux-gnueabihf", "gcc-i686-linux-gnu", "gcc-mips-linux-gnu", "gcc-mips64-linux-gnuabi64",
	"gcc-mips64el-linux-gnuabi64", "gcc-powerpc-linux-gnu", "gcc-powerpc64-linux-gnu", "gcc-powerpc64le-linux-gnu", "gcc-riscv64-linux-gnu",
	"gcc-s390x-linux-gnu", "gdc-12", "generate-ninja", "gfortran-12", "gm2-12", "gnat-12", "gobjc-12", "ldc", "libavcodec59", "libboost-context-dev",
	"libc6-dev-arm64-cross", "libc6-dev-armhf-cross", "libc6-dev-i386-cross", "libc6-dev-mips-cross", "libc6-dev-mips64-cross",
	"libc6-dev-mips64el-cross", "libc6-dev-powerpc-cross", "libc6-dev-ppc64-cross", "libc6-dev-ppc64el-cross", "libc6-dev-riscv64-cross",
	"libc6-dev-s390x-cross", "librust-symbolic-common-dev", "liburing-dev", "lintian", "lldb-22", "man-db", "mandoc", "meson", "mold", "musl-tools",
	"nim", "nodejs", "ocaml-nox", "pre-commit", "prometheus", "qemu-user-static", "rpm", "rustc", "shellcheck", "tmux", "zsh",
}

// packages names the Debian 12 package of each program that tests call.
var packages = map[string]string{
	"addr2line": "binutils",
	"as":        "binutils",
	"c++filt":   "binutils",
	"ld":        "binutils",
	"nm":        "binutils",
	"objcopy":   "binutils",
	"objdump":   "binutils",
	"readelf":   "binutils",
	"strip":     "binutils",

	"chromium":           "chromium",
	"diffstat":           "diffstat",
	"patch":              "patch",
	"clang-22":           "clang-22",
	"clang++-22":         "clang-22",
	"ld.lld-22":          "lld-22",
	"llvm-ar-22":         "llvm-22",
	"ld64.lld-22":        "lld-22",
	"dsymutil-22":        "llvm-22",
	"llvm-cxxfilt-22":    "llvm-22",
	"llvm-dwarfdump-22":  "llvm-22",
	"llvm-gsymutil-22":   "llvm-22",
	"llvm-objcopy-22":    "llvm-22",
	"llvm-objdump-22":    "llvm-22",
	"llvm-pdbutil-22":    "llvm-22",
	"llvm-readelf-22":    "llvm-22",
	"llvm-readobj-22":    "llvm-22",
	"llvm-symbolizer-22": "llvm-22",
	"llvm-undname-22":    "llvm-22",
	"obj2yaml-22":        "llvm-22",

	"cc":              "gcc",
	"gcc":             "gcc",
	"g++":             "g++",
	"dwz":             "dwz",
	"eu-addr2line":    "elfutils",
	"eu-readelf":      "elfutils",
	"eu-unstrip":      "elfutils",
	"gdb":             "gdb",
	"gdb-multiarch":   "gdb-multiarch",
	"gcore":           "gdb",
	"lldb-22":         "lldb-22",
	"hyperfine":       "hyperfine",
	"jq":              "jq",
	"bash":            "bash",
	"dpkg-deb":        "dpkg",
	"dpkg-query":      "dpkg",
	"lintian":         "lintian",
	"rpmbuild":        "rpm",
	"fish":            "fish",
	"man":             "man-db",
	"mandoc":          "mandoc",
	"strace":          "strace",
	"tmux":            "tmux",
	"zsh":             "zsh",
	"python3":         "python3",
	"bazel":           "bazel-bootstrap",
	"make":            "make",
	"cmake":           "cmake",
	"meson":           "meson",
	"nginx":           "nginx-light",
	"ninja":           "ninja-build",
	"gn":              "generate-ninja",
	"xmllint":         "libxml2-utils",
	"rustc":           "rustc",
	"musl-gcc":        "musl-tools",
	"node":            "nodejs",
	"javac":           "default-jdk-headless",
	"zstd":            "zstd",
	"debuginfod":      "debuginfod",
	"debuginfod-find": "debuginfod",
	"eu-strip":        "elfutils",
	"eu-stack":        "elfutils",
	"xz":              "xz-utils",
	"lz4":             "lz4",
	"llvm-bolt-22":    "bolt-22",
	"mold":            "mold",
	"promtool":        "prometheus",
	"buildah":         "buildah",
	"busybox":         "busybox-static",
	"git":             "git",
	"pre-commit":      "pre-commit",
	"shellcheck":      "shellcheck",

	"aarch64-linux-gnu-gcc":     "gcc-aarch64-linux-gnu",
	"arm-linux-gnueabihf-g++":   "g++-arm-linux-gnueabihf",
	"arm-linux-gnueabihf-gcc":   "gcc-arm-linux-gnueabihf",
	"i686-linux-gnu-gcc":        "gcc-i686-linux-gnu",
	"mips-linux-gnu-gcc":        "gcc-mips-linux-gnu",
	"mips64-linux-gnuabi64-gcc": "gcc-mips64-linux-gnuabi64",
	"powerpc-linux-gnu-gcc":     "gcc-powerpc-linux-gnu",
	"powerpc64-linux-gnu-gcc":   "gcc-powerpc64-linux-gnu",
	"riscv64-linux-gnu-gcc":     "gcc-riscv64-linux-gnu",
	"s390x-linux-gnu-gcc":       "gcc-s390x-linux-gnu",
	"fpc":                       "fp-compiler",
	"gcc-12":                    "gcc",
	"gdc-12":                    "gdc-12",
	"gfortran-12":               "gfortran-12",
	"gm2-12":                    "gm2-12",
	"ldc2":                      "ldc",
	"nim":                       "nim",
	"ocamlopt":                  "ocaml-nox",

	"mips64el-linux-gnuabi64-gcc": "gcc-mips64el-linux-gnuabi64",
	"qemu-aarch64-static":         "qemu-user-static",
	"qemu-arm-static":             "qemu-user-static",
	"qemu-i386-static":            "qemu-user-static",
	"qemu-mips-static":            "qemu-user-static",
	"qemu-mips64-static":          "qemu-user-static",
	"qemu-mips64el-static":        "qemu-user-static",
	"qemu-ppc-static":             "qemu-user-static",
	"qemu-ppc64-static":           "qemu-user-static",
	"qemu-ppc64le-static":         "qemu-user-static",
	"qemu-riscv64-static":         "qemu-user-static",
	"qemu-s390x-static":           "qemu-user-static",
	"qemu-x86_64-static":          "qemu-user-static",
	"powerpc64le-linux-gnu-gcc":   "gcc-powerpc64le-linux-gnu",
}

// Scratch is like t.TempDir, for programs whose last processes still write for
// a moment after they are stopped: it retries until the folder can be removed.
func Scratch(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "scratch")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		Until(t, "the last write to "+dir, func() bool { return os.RemoveAll(dir) == nil })
	})
	return dir
}
