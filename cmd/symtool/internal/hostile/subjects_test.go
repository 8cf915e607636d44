package hostile

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/testenv"
)

// hostileSubject is a kind of file to damage. In the commands, IN is the damaged file, WHOLE the
// original, and FILES the folder with all originals.
type hostileSubject struct {
	name     string
	files    []string
	commands []string
}

// hostileSubjects lists the subjects. The files include ELF32 and ELF64, both byte orders,
// compressed sections, C, C++, Rust, and DWARF 2 to 5; dumps of several systems and CPUs; and
// files that symtool makes from some of them.
var hostileSubjects = []hostileSubject{
	{"elf", []string{
		"gcc-dwarf2.elf", "cpu-i686.elf", "cpu-mips.elf", "cpu-s390x.elf", "cpu-thumb.elf", "clang-dwarf5.elf",
		"compressed-zlib.elf", "compressed-zstd.elf", "rust-v0.elf", "scopes-gcc5.elf", "lto-gcc.elf", "eh.elf",
	}, []string{
		"dump -v --debug-dir . -o out.sym IN && lint out.sym", "dump --check-cfi --gzip --debug-dir . -o out.sym.gz IN && lint out.sym.gz",
		"dump --store out --debug-dir . IN", "dump -v --debug-dir . -o out.sym IN",
		"lint --binary IN FILES/gcc.sym", "diff --debug-dir . IN WHOLE", "diff --debug-dir . --raw WHOLE IN",
		"resolve --no-debuginfod --binaries IN 1100 401136 0x10100", "as llvm-symbolizer --verbose -e IN 0x1100 0x401136 0x10100", "doctor --no-debuginfod --debug-dir . --format json IN",
		"convert --to sframe -o out.sframe IN && sframe out.sframe", "convert --to json -o out.json IN && convert --to breakpad -o out2.sym out.json",
		"convert --to gsym -o out.gsym IN && convert --to breakpad -o out2.sym out.gsym", "convert --to-store out --layout unified IN",
		"walk --no-debuginfod --verify --binaries IN FILES/walk-sources.core",
	}},
	{"pe", []string{"pe-unwind64.exe", "pe-unwind64v2.exe", "pe-unwindarm64.exe", "pe-arm64ec.exe", "pe-mingw64.dll", "pe-mingw32.dll"}, []string{
		"dump -v --debug-dir . -o out.sym IN && lint --binary IN out.sym", "dump --check-cfi -o out.sym IN", "dump --store out --debug-dir . IN", "diff --debug-dir . IN WHOLE",
		"resolve --no-debuginfod --binaries IN 1000 1100 0x10100", "doctor --no-debuginfod --debug-dir . --format json IN",
	}},
	{"macho", []string{"macho-x86_64", "macho-arm64", "macho-names", "macho-fat", "macho-fat.dSYM", "macho-object.o"}, []string{
		"dump -v --debug-dir . -o out.sym IN && lint --binary IN out.sym", "dump --arch arm64 --check-cfi -o out.sym IN", "dump --store out --debug-dir . IN",
		"resolve --no-debuginfod --binaries IN 1000 1100 0x10100",
	}},
	{"pdb", []string{"pdb-x86.pdb", "pdb-x64.pdb"}, []string{
		"dump -v -o out.sym IN && lint out.sym", "dump --no-inlines --gzip -o out.sym.gz IN && lint out.sym.gz", "dump --store out IN",
	}},
	{"sframe", []string{"sframe-text-v1.elf", "sframe-text-v2.elf", "sframe-text-v3.elf", "sframe-text-v3.sframe", "gcc.sframe"}, []string{
		"sframe IN", "sframe --format json IN", "sframe --check spec IN", "sframe --check binutils IN", "sframe --check kernel IN", "sframe --pc 0x1010 IN",
		"convert --to sframe -o out.sframe IN && sframe out.sframe", "convert --to breakpad -o out.sym IN && lint out.sym", "doctor --no-debuginfod IN",
	}},
	{"dumps", []string{
		"mini-linux.dmp", "mini-linux-be.dmp", "mini-windows.dmp", "mini-hostile.dmp", "walk-sources.core", "stacks.dmp", "win.dmp", "qemu-mips.core", "calls-arm.core", "calls-s390x.core",
		"vectors-x86_64.core", "vectors-aarch64.core",
	}, []string{
		"inspect --registers --memory --streams IN", "inspect --format json IN", "walk --no-debuginfod -s FILES/gcc.sym IN", "walk --no-debuginfod --format json --binaries FILES IN",
		"walk --no-debuginfod --verify --binaries FILES IN", "walk --no-debuginfod --trace --stack-bytes IN", "walk --no-debuginfod --format machine -o out.txt IN",
		"convert --to core -o out.core IN", "convert --to minidump -o out.dmp IN", "doctor --no-debuginfod --binaries FILES IN",
	}},
	{"jit", []string{"jitcode.jitdump", "jitcode.map"}, []string{"walk --no-debuginfod --jit IN --binaries FILES FILES/jitcode.core", "walk --no-debuginfod --format json --jit IN FILES/jitcode.core"}},
	{"fibers", []string{"fibers-fcontext.core", "fibers-ucontext.core"}, []string{"walk --no-debuginfod --coroutines --binaries FILES --symbols FILES/fibers-libc.sym IN"}},
	{"symbols", []string{"gcc.sym", "gcc.sym.gz", "gcc.sym.zst", "win.sym", "rust.sym", "i686.sym"}, []string{
		"lint IN", "lint --format json IN", "lint --format html IN", "lint --binary FILES/gcc-dwarf5.elf IN", "diff --detail IN WHOLE", "diff --format html -o out.html WHOLE IN",
		"resolve --no-debuginfod -s IN 1100 401136 0x10100", "resolve --no-debuginfod --index-dir out -s IN 1100", "doctor --no-debuginfod IN",
		"walk --no-debuginfod --verify -s IN FILES/walk-sources.core", "walk --no-debuginfod -s IN FILES/mini-windows.dmp", "store add out IN", "store add --damaged --compress zstd out IN",
		"convert --to breakpad -o out.sym IN && convert --to breakpad -o out2.sym out.sym", "convert --to json -o out.json IN && convert --to breakpad -o out2.sym out.json",
		"convert --to jsonl -o out.jsonl IN && convert --to breakpad -o out2.sym out.jsonl", "convert --to gsym -o out.gsym IN", "convert --to symcache -o out.symcache IN",
		"convert --to elf -o out.elf IN", "convert --to sframe -o out.sframe IN && sframe out.sframe",
	}},
	{"formats", []string{
		"gcc.json", "gcc.jsonl", "gcc.gsym", "gcc.v2.gsym", "gcc.symcache", "gcc.v7.symcache", "rust.gsym", "rust.symcache", "gcc.perfmap", "gcc.nm",
	}, []string{
		"convert --to breakpad -o out.sym IN && lint out.sym", "convert --to json -o out.json IN && convert --to breakpad -o out2.sym out.json",
		"convert --to symcache -o out.symcache IN", "convert --to gsym -o out.gsym IN", "diff IN WHOLE", "doctor --no-debuginfod IN",
	}},
	{"indexes", []string{"gcc.sym.idx"}, []string{"resolve --no-debuginfod --index -s gcc.sym 1100 401136"}},
	{"walks", []string{"walk.json"}, []string{"walk --compare IN WHOLE", "walk --compare WHOLE IN"}},
	{"baselines", []string{"gcc.baseline"}, []string{"lint --baseline IN FILES/gcc.sym"}},
	{"machomap", []string{"macho-map", "macho-map-main.o", "macho-map-library.a"}, []string{
		"dump -v --hermetic --dwo-dir . --dwo-dir FILES -o out.sym FILES/macho-map", "dump -v --dwo-dir FILES --no-object-timestamp -o out.sym IN",
		"resolve --no-debuginfod --binaries IN 2f8 31c 0x10100",
	}},
	{"machovars", []string{"macho-vars", "macho-vars-main.o", "macho-vars-more.o"}, []string{
		"dump -v --vars all --hermetic --dwo-dir . --dwo-dir FILES -o out.sym FILES/macho-vars", "dump -v --vars all --dwo-dir FILES --no-object-timestamp -o out.sym IN",
	}},
}

// hostileMade lists commands that make files. They run in a folder with the files of
// golden/input.
var hostileMade = []string{
	"dump -o gcc.sym gcc-dwarf5.elf", "dump -o rust.sym rust-v0.elf", "dump -o i686.sym cpu-i686.elf",
	"convert --gzip -o gcc.sym.gz gcc.sym", "convert --zstd -o gcc.sym.zst gcc.sym", "convert -o gcc.sframe gcc.sym",
	"convert -o gcc.json gcc.sym", "convert -o gcc.jsonl gcc.sym", "convert -o gcc.gsym gcc.sym", "convert --gsym-version 2 -o gcc.v2.gsym gcc.sym",
	"convert -o gcc.symcache gcc.sym", "convert --symcache-version 7 -o gcc.v7.symcache gcc.sym", "convert -o rust.gsym rust.sym", "convert -o rust.symcache rust.sym",
	"convert --to perfmap -o gcc.perfmap gcc.sym", "convert --to nm -o gcc.nm gcc.sym",
	"resolve --no-debuginfod --index -s gcc.sym 1100", "walk --no-debuginfod --format json -o walk.json walk-sources.core", "lint --write-baseline gcc.baseline gcc.sym",
}

// hostileWholes makes the folder with all files of the subjects. Compressed files are unpacked,
// so that the damage is in their contents.
func hostileWholes(t *testing.T, program string) string {
	t.Helper()
	dir := t.TempDir()
	for _, pattern := range []string{"*.elf", "pe-*", "macho-*", "*.pdb.gz", "*.dmp", "*.sframe", "*.core.gz", "crashes/stacks.dmp.gz", "crashes/win.*", "crashes/calls-*.core.gz", "crashes/vectors-*.core.gz", "crashes/jitcode.*", "crashes/fibers-*"} {
		paths, err := filepath.Glob(filepath.Join(testenv.Input(t), pattern))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(paths), err)
		}
		for _, path := range paths {
			data := unpacked(t, path)
			testenv.WriteFile(t, filepath.Join(dir, strings.TrimSuffix(filepath.Base(path), ".gz")), data)
		}
	}
	for _, command := range hostileMade {
		cmd := exec.Command(program, strings.Fields(command)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() > cli.StatusFindings {
			t.Fatalf("symtool %s: %v\n%s", command, err, out)
		}
	}
	return dir
}

// unpacked reads a file, which may be compressed with gzip.
func unpacked(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil && strings.HasSuffix(path, ".gz") {
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(data)); err == nil {
			data, err = io.ReadAll(z)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}
