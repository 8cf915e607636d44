package dwarf2sym_test

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
)

// objectBuild is a way to make a relocatable file out of golden/input/src.
type objectBuild struct {
	name   string
	tool   string
	args   []string
	linker string
	rows   int // of its line table, at least
}

// fast reports whether the build is in the short run, in which fixtures replace the large
// builds.
func (b *objectBuild) fast() bool { return b.rows < large }

// rowsOnly reports whether debug/dwarf does not read the linked file.
func (b *objectBuild) rowsOnly() bool {
	return b.tool == clang && strings.Contains(b.name, "-linux-")
}

const lld, ld = "ld.lld-22", "ld"

func objectBuilds() (all []objectBuild) {
	add := func(name, tool, linker string, rows int, args ...string) {
		all = append(all, objectBuild{name, tool, append([]string{"-g"}, args...), linker, rows})
	}
	templates := func(flags ...string) []string { return append(flags, "-std=c++20", "templates.cc") }
	for _, version := range []string{"2", "3", "4", "5"} {
		add("c-gcc"+version, gcc, ld, 200, "-O2", "-gdwarf-"+version, "program_json.c")
	}
	add("cxx-gcc5-O0-sections", gxx, ld, large, templates("-O0", sections)...)
	add("cxx-gcc5-gz-types", gxx, ld, large, templates("-O2", "-gz=zlib", "-fdebug-types-section")...)
	add("cxx-gcc4-dwarf64-pic", gxx, ld, large, templates("-O2", "-gdwarf-4", "-gdwarf64", "-fPIC")...)
	add("cxx-clang4", clxx, lld, large, templates("-O2", "-gdwarf-4")...)
	add("cxx-clang5-gz-sections", clxx, lld, large, templates("-O2", "-gdwarf-5", "-gz=zstd", sections)...)
	add("c-clang5-bbsections", clang, lld, 200, "-O2", "-gdwarf-5", "-fbasic-block-sections=all", "program_json.c")
	for _, target := range []string{"i686-linux-gnu", "arm-linux-gnueabihf", "aarch64-linux-gnu", "mips-linux-gnu", "mipsel-linux-gnu",
		"mips64-linux-gnuabi64", "mips64el-linux-gnuabi64", "powerpc-linux-gnu", "powerpc64-linux-gnu", "powerpc64le-linux-gnu",
		"riscv64-linux-gnu", "s390x-linux-gnu"} {
		args := []string{"-O2", "-ffreestanding", "-fasynchronous-unwind-tables", "nest.c"}
		add("clang-"+target, clang, lld, 30, append(args, "--target="+target)...)
		add(target, target+"-gcc", target+"-ld", 30, args...)
	}
	return all
}

// The symbol file of a relocatable file equals, byte for byte after the MODULE record, that
// of the same file after a linker gave its sections the addresses that place.go documents.
// llvm-symbolizer agrees with it at every address of the linked file.
func TestOracleObjects(t *testing.T) {
	testenv.Oracle(t)
	symtool := symtoolBinary(t)
	for _, b := range objectBuilds() {
		if !b.fast() && !testenv.OracleFull() {
			continue
		}
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			object := filepath.Join(t.TempDir(), "object.o")
			cmd := exec.Command(testenv.Tool(t, b.tool), append(b.args, "-c", "-o", object)...)
			cmd.Dir = testenv.Input(t, "src")
			if text, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %v\n%s", cmd, err, text)
			}
			compareLinked(t, symtool, object, b.linker, b.rows, b.rowsOnly())
		})
	}
	for _, c := range fixtures(t) {
		if _, ok := isObject(t, c.file); !ok {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			linker := lld
			switch f, _ := isObject(t, c.file); f.Machine {
			case elf.EM_X86_64:
				linker = ld
			case elf.EM_BPF:
				t.Skip("no linker for programs of BPF")
			}
			rows := 1
			if f := symtest.Open(t, c.file); !f.HasDWARF() {
				rows = 0
			}
			compareLinked(t, symtool, c.file, linker, rows, false)
		})
	}
}

// isObject reports whether the file at path is relocatable. It also returns the header.
func isObject(t *testing.T, path string) (elf.FileHeader, bool) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return f.FileHeader, f.Type == elf.ET_REL
}

// compareLinked compares an object with the file that the linker makes from it and, if rows
// are expected, with llvm-symbolizer.
func compareLinked(t *testing.T, symtool, object, linker string, rows int, rowsOnly bool) {
	linked := linkObject(t, object, linker)
	ours := dumpText(t, fixture{file: object}, 4)
	theirs := dumpText(t, fixture{file: linked}, 4)
	if got, want := recordsOf(ours), recordsOf(theirs); !bytes.Equal(got, want) {
		t.Errorf("the object's records differ from those of the linked file: %s", firstDifference(got, want))
	}
	if rows == 0 {
		return
	}
	c, err := compareText(t, ours, subject{file: linked, rowsOnly: rowsOnly})
	if err != nil {
		t.Fatal(err)
	}
	if c.rows < rows {
		t.Errorf("%d rows, want %d or more", c.rows, rows)
	}
	t.Logf("%d lines equal; %d addresses, %d by rules, %d unexplained", bytes.Count(ours, []byte("\n")), c.addresses, c.addresses-c.agree-c.unexplained, c.unexplained)
	c.report(t)
	compareResolved(t, symtool, ours, c, object)
}

// recordsOf returns a symbol file without the records that identify the file.
func recordsOf(text []byte) []byte {
	var out []byte
	for line := range bytes.Lines(text) {
		if !bytes.HasPrefix(line, []byte("MODULE ")) && !bytes.HasPrefix(line, []byte("INFO ")) {
			out = append(out, line...)
		}
	}
	return out
}

// linkObject links one object without any library. Undefined symbols are at 0.
func linkObject(t *testing.T, object, linker string) string {
	t.Helper()
	dir := t.TempDir()
	script, out := filepath.Join(dir, "script.ld"), filepath.Join(dir, "linked.elf")
	if err := os.WriteFile(script, linkScript(t, object), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"-e", "0", "--defsym", "__dso_handle=0", "--unresolved-symbols=ignore-all", "--no-relax", "--no-warnings", "-T", script, "-o", out, object}
	if linker == lld {
		args = append(args, "-z", "norelro")
	}
	if text, err := exec.Command(testenv.Tool(t, linker), args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", linker, err, text)
	}
	return out
}

// linkScript puts each section with code at the address that the documented rule gives it,
// based on debug/elf's section headers.
func linkScript(t *testing.T, object string) []byte {
	t.Helper()
	f, err := elf.Open(object)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var code, init, rest []*elf.Section
	for _, s := range f.Sections {
		switch {
		case s.Flags&elf.SHF_ALLOC == 0:
		case s.Flags&elf.SHF_EXECINSTR == 0:
			rest = append(rest, s)
		case strings.HasPrefix(s.Name, ".init"):
			init = append(init, s)
		default:
			code = append(code, s)
		}
	}
	var b bytes.Buffer
	fmt.Fprintln(&b, "SECTIONS {")
	at, seen := uint64(0), map[string]bool{}
	for _, s := range slices.Concat(code, init) {
		align := max(s.Addralign, 1)
		at = (at + align - 1) / align * align
		fmt.Fprintf(&b, "  %s %#x : { *(%s) }\n", s.Name, at, s.Name)
		at += s.Size
	}
	fmt.Fprintln(&b, "  . = ALIGN(0x10000);")
	for _, s := range rest {
		if !seen[s.Name] {
			fmt.Fprintf(&b, "  %s : { *(%s) }\n", s.Name, s.Name)
		}
		seen[s.Name] = true
	}
	fmt.Fprintln(&b, "}")
	return b.Bytes()
}

// A linked file that kept its relocations (--emit-relocs) gives the same symbols as without
// them, as the linker has applied them.
func TestOracleKeptRelocations(t *testing.T) {
	testenv.Oracle(t)
	for _, flags := range [][]string{{"-no-pie"}, {"-shared", "-fPIC"}} {
		var texts [2][]byte
		for i, keep := range []string{"-Wl,--no-undefined", "-Wl,--emit-relocs"} {
			out := filepath.Join(t.TempDir(), "linked")
			args := slices.Concat([]string{"-g", "-O2", "-nostdlib", keep, "nest.c", "second.c", "start.c", "-Wl,-e,0", "-o", out}, flags)
			cmd := exec.Command(testenv.Tool(t, gcc), args...)
			cmd.Dir = testenv.Input(t, "src")
			if text, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %v\n%s", cmd, err, text)
			}
			texts[i] = dumpText(t, fixture{file: out}, 2)
		}
		if a, b := recordsOf(texts[0]), recordsOf(texts[1]); !bytes.Equal(a, b) || !bytes.Contains(a, []byte("\nSTACK CFI")) {
			t.Errorf("%v: relocations that were kept change the dump: %s", flags, firstDifference(a, b))
		}
	}
}

// An object with SHT_CREL relocations gives the same symbols as with the usual ones, which
// TestOracleObjects compares. The same holds after the linker has joined them. Clang has no
// CREL for MIPS.
func TestOracleCREL(t *testing.T) {
	testenv.Oracle(t)
	for _, b := range objectBuilds() {
		if b.tool != clang && b.tool != clxx || strings.Contains(b.name, "mips") || !b.fast() && !testenv.OracleFull() {
			continue
		}
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			var texts [2][]byte
			for i, more := range [][]string{nil, {"-Wa,--crel", "-Wa,--allow-experimental-crel"}} {
				dir := t.TempDir()
				object, joined := filepath.Join(dir, "object.o"), filepath.Join(dir, "joined.o")
				src := testenv.Input(t, "src")
				if err := runIn(t, src, slices.Concat([]string{b.tool}, b.args, more, []string{"-c", "-o", object})); err != nil {
					t.Fatal(err)
				}
				if err := runIn(t, src, []string{lld, "-r", object, "-o", joined}); err != nil {
					t.Fatal(err)
				}
				for _, file := range []string{object, joined} {
					if n := crelSections(t, file); (n > 4) != (i > 0) {
						t.Errorf("%s: %d sections of relocations are SHT_CREL", file, n)
					}
					texts[i] = append(texts[i], recordsOf(dumpText(t, fixture{file: file}, 3))...)
				}
			}
			if !bytes.Equal(texts[0], texts[1]) || bytes.Count(texts[0], []byte("\nSTACK CFI ")) < 4 {
				t.Errorf("SHT_CREL changes the dump: %s", firstDifference(texts[1], texts[0]))
			}
			t.Logf("%d lines are equal", bytes.Count(texts[0], []byte("\n")))
		})
	}
}

func crelSections(t *testing.T, path string) (n int) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, s := range f.Sections {
		if s.Type == 0x40000014 {
			n++
		}
	}
	return n
}
