package publics

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	elfobj "github.com/symtool/symtool/internal/object/elfobj"
	"github.com/symtool/symtool/internal/oracle"
	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// publicsOf is like Read, for files that were not moved; nil ones are left out.
func publicsOf(base uint64, files ...*object.File) ([]Symbol, []bin.Problem) {
	return Read(base, filesOf(files...))
}

func filesOf(files ...*object.File) (out []object.Companion) {
	for _, f := range files {
		if f != nil {
			out = append(out, object.Companion{File: f})
		}
	}
	return out
}

// pubsOf returns the publics by address, and checks what must hold for all.
func pubsOf(t testing.TB, files ...*object.File) map[uint64]Symbol {
	t.Helper()
	pubs, problems := publicsOf(0, files...)
	if len(problems) > 0 {
		t.Error(problems)
	}
	out := map[uint64]Symbol{}
	for i, p := range pubs {
		if i > 0 && p.RVA <= pubs[i-1].RVA {
			t.Fatalf("%#x after %#x", p.RVA, pubs[i-1].RVA)
		}
		if p.Name == "" || strings.Contains(p.Name, "@") {
			t.Errorf("%#x: name %q", p.RVA, p.Name)
		}
		out[uint64(p.RVA)] = p
	}
	return out
}

// TestElfPublicsLikeReadelf checks that every function that readelf lists is there, under
// one of its names, and nothing that readelf does not list.
func TestElfPublicsLikeReadelf(t *testing.T) {
	libc := testenv.File(t, "/lib/x86_64-linux-gnu/libc.so.6", "libc6")
	libstdcxx := testenv.File(t, "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "libstdc++6")
	t.Run("libc", func(t *testing.T) { checkReadelf(t, libc, ".dynsym", 0) })
	t.Run("libc's debug file", func(t *testing.T) {
		id := fmt.Sprintf("%x", symtest.Open(t, libc).BuildID())
		checkReadelf(t, testenv.File(t, "/usr/lib/debug/.build-id/"+id[:2]+"/"+id[2:]+".debug", "libc6-dbg"), ".symtab", 0)
	})
	t.Run("libstdc++", func(t *testing.T) { checkReadelf(t, libstdcxx, ".dynsym", 0) })
	t.Run("x86_64", func(t *testing.T) { checkReadelf(t, testenv.Compile(t, "gcc", cSource, ".c", "-O1"), ".symtab", 0) })
	t.Run("arm", func(t *testing.T) {
		checkReadelf(t, testenv.Compile(t, "arm-linux-gnueabihf-gcc", cSource, ".c", "-O1", "-nostdlib", "-Wl,-e0"), ".symtab", 1)
		checkReadelf(t, testenv.File(t, "/usr/arm-linux-gnueabihf/lib/libc.so.6", "libc6-armhf-cross"), ".dynsym", 1)
	})
	t.Run("arm64", func(t *testing.T) {
		checkReadelf(t, testenv.Compile(t, "aarch64-linux-gnu-gcc", cSource, ".c", "-O1", "-nostdlib", "-Wl,-e0"), ".symtab", 0)
	})
	t.Run("riscv64", func(t *testing.T) {
		checkReadelf(t, testenv.Compile(t, "riscv64-linux-gnu-gcc", cSource, ".c", "-O1", "-nostdlib", "-Wl,-e0"), ".symtab", 0)
	})
	t.Run("mips", func(t *testing.T) {
		checkReadelf(t, testenv.Compile(t, "mips-linux-gnu-gcc", cSource, ".c", "-O1", "-mips32r2", "-mmicromips", "-nostdlib", "-Wl,-e0"), ".symtab", 1)
	})
}

// cSource needs no headers, which cross compilers may lack.
const cSource = `
static __attribute__((noinline)) int local(int a) { return a * 3; }
int global(int a) { return local(a) + 1; }
int weak(int a) __attribute__((weak, alias("global")));
int __GI_global(int a) __attribute__((alias("global")));
int main(int c, char **v) { return global(c) + v[0][0]; }
`

func checkReadelf(t *testing.T, path, table string, clear uint64) {
	got := pubsOf(t, symtest.Open(t, path))
	names := map[uint64][]string{}
	functions := 0
	flag := "-sW"
	if table == ".dynsym" {
		flag = "--dyn-syms"
	}
	for _, s := range oracle.ReadSymbols(oracle.Readelf(t, path, flag, "-W"), table) {
		if s.Section == "UND" || s.Section == "ABS" {
			continue
		}
		name, _, _ := strings.Cut(s.Name, "@")
		names[s.Addr&^clear] = append(names[s.Addr&^clear], name)
		if s.Type != "FUNC" && s.Type != "IFUNC" {
			continue
		}
		functions++
		p, ok := got[s.Addr&^clear]
		switch {
		case !ok:
			t.Errorf("%#x %s is missing", s.Addr, s.Name)
		case !p.Func:
			t.Errorf("%#x %s is untyped", s.Addr, s.Name)
		case p.Name == name && p.Size < s.Size:
			t.Errorf("%#x %s: size %d, want %d", s.Addr, s.Name, p.Size, s.Size)
		}
	}
	for addr, p := range got {
		if !slices.Contains(names[addr], p.Name) {
			t.Errorf("%#x is called %s, readelf says %q", addr, p.Name, names[addr])
		}
		if strings.HasPrefix(p.Name, "$") || strings.HasPrefix(p.Name, ".L") {
			t.Errorf("%#x: %s is a mapping symbol or a local label", addr, p.Name)
		}
	}
	t.Logf("%d functions, %d publics", functions, len(got))
	if functions == 0 {
		t.Error("no function")
	}
}

// TestElfPublicsDescriptors compares with nm, which resolves .opd too.
func TestElfPublicsDescriptors(t *testing.T) {
	path := testenv.Compile(t, "powerpc64-linux-gnu-gcc", cSource, ".c", "-O1", "-nostdlib", "-mabi=elfv1", "-g", "-Wl,-e0")
	checkSplitDescriptors(t, path, checkSynthetic(t, path, 3))
	checkSynthetic(t, testenv.File(t, "/usr/powerpc64-linux-gnu/lib/libc.so.6", "libc6-ppc64-cross"), 1500, "-D")
}

func checkSynthetic(t *testing.T, path string, atLeast int, flags ...string) map[uint64]Symbol {
	f := symtest.Open(t, path)
	got := pubsOf(t, f)
	out, err := exec.Command(testenv.Tool(t, "powerpc64-linux-gnu-nm"), append(flags, "--synthetic", path)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	synthetic := 0
	for line := range strings.Lines(string(out)) {
		w := strings.Fields(line)
		if len(w) != 3 || !strings.HasPrefix(w[2], ".") || !strings.Contains("Tt", w[1]) {
			continue
		}
		addr, err := strconv.ParseUint(w[0], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		if !f.Executable(addr) {
			continue
		}
		synthetic++
		if p, ok := got[addr]; !ok {
			t.Errorf("%#x %s is missing", addr, w[2])
		} else if strings.HasPrefix(p.Name, ".") {
			t.Errorf("%#x: %s", addr, p.Name)
		}
	}
	t.Logf("%d code addresses by nm --synthetic, %d publics", synthetic, len(got))
	if synthetic < atLeast {
		t.Errorf("nm --synthetic lists %d functions, want %d", synthetic, atLeast)
	}
	return got
}

// checkSplitDescriptors splits off the debug file, whose symbols need the binary's .opd.
func checkSplitDescriptors(t *testing.T, path string, want map[uint64]Symbol) {
	debug, stripped := path+".debug", path+".stripped"
	objcopy, strip := testenv.Tool(t, "powerpc64-linux-gnu-objcopy"), testenv.Tool(t, "powerpc64-linux-gnu-strip")
	for _, c := range [][]string{{objcopy, "--only-keep-debug", path, debug}, {strip, "-o", stripped, path}} {
		if out, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", c, err, out)
		}
	}
	got := pubsOf(t, symtest.Open(t, stripped), symtest.Open(t, debug))
	if len(got) != len(want) {
		t.Errorf("split: %d publics, want %d", len(got), len(want))
	}
	for addr, p := range want {
		if got[addr] != p {
			t.Errorf("split: %+v, want %+v", got[addr], p)
		}
	}
}

func TestElfPublicsPreference(t *testing.T) {
	const source = `
	.text
	.globl _stext
_stext:
	.type local_function, @function
local_function: nop
	.size local_function, 1
	.globl __GI_abort, abort, _abort2
	.type abort, @function
	.type __GI_abort, @function
	.type _abort2, @function
__GI_abort:
_abort2:
abort:	nop
	.weak weak_short
	.globl a_longer_global
	.type weak_short, @function
	.type a_longer_global, @function
weak_short:
a_longer_global: nop
	.size weak_short, 1
	.globl ba, ab, abc
	.type ba, @function
	.type ab, @function
	.type abc, @function
ba:
abc:
ab:	nop
	.globl empty, behind_empty
	.type empty, @function
	.type behind_empty, @function
empty:
behind_empty: nop
	.size behind_empty, 1
	.globl untyped
untyped: nop
.Llocal: nop
	.globl versioned
	.type versioned, @function
versioned: nop
	.symver versioned, versioned@V1
	.globl _etext_here
	.data
	.type in_data, @function
	.globl in_data
in_data: .long 0
	.type object, @object
	.globl object
object: .long 0
	.section .text.last, "ax"
	.type last, @function
last:	nop
	.globl last_end
last_end:
	.globl absolute
	.type absolute, @function
	absolute = 0x401000
`
	f := symtest.Open(t, assembled(t, source))
	var names []string
	pubs, _ := publicsOf(0, f)
	for _, p := range pubs {
		names = append(names, p.Name)
		if p.Multiple {
			t.Errorf("%s is multiple", p.Name)
		}
		if p.Func == (p.Name == "untyped") {
			t.Errorf("%s: Func %v", p.Name, p.Func)
		}
		if p.Name == "a_longer_global" && p.Size != 1 {
			t.Errorf("%s: size %d, want its alias's", p.Name, p.Size)
		}
	}
	want := []string{"local_function", "abort", "a_longer_global", "ab", "behind_empty", "untyped", "versioned", "last"}
	if !slices.Equal(names, want) {
		t.Errorf("names %q, want %q", names, want)
	}
}

// assembled links an assembler source so that the result contains only what the source
// says.
func assembled(t *testing.T, source string) string {
	return testenv.Compile(t, "gcc", source, ".s", "-nostdlib", "-no-pie", "-Wl,-N,-e0,--build-id=none,-z,noseparate-code")
}

func TestElfPublicsMultiple(t *testing.T) {
	const source = `
	.text
	.globl _ZN1AC1Ev, _ZN1AC2Ev, _ZN1AD0Ev, _ZN1BD0Ev, alias1, alias2, _Z3foov, foo
	.type _ZN1AC1Ev, @function
	.type _ZN1AC2Ev, @function
	.type _ZN1AD0Ev, @function
	.type _ZN1BD0Ev, @function
	.type alias1, @function
	.type alias2, @function
	.type _Z3foov, @function
	.type foo, @function
_ZN1AC1Ev:
_ZN1AC2Ev: nop
_ZN1AD0Ev:
_ZN1BD0Ev: nop
alias1:
alias2: nop
_Z3foov:
foo:	nop
	.type _Z3barv, @function
	.type _Z3barv.localalias, @function
_Z3barv:
_Z3barv.localalias: nop
`
	pubs, _ := publicsOf(0, symtest.Open(t, assembled(t, source)))
	got := map[string]bool{}
	for _, p := range pubs {
		got[p.Name] = p.Multiple
	}
	want := map[string]bool{"_ZN1AC1Ev": false, "_ZN1AD0Ev": true, "alias1": false, "foo": false, "_Z3barv": false}
	for name, m := range want {
		if v, ok := got[name]; !ok || v != m {
			t.Errorf("%s: %v, %v, want %v (all: %v)", name, v, ok, m, got)
		}
	}
}

func TestElfPublicsOfDebugFile(t *testing.T) {
	path := testenv.Compile(t, "gcc", cSource, ".c", "-O1", "-g")
	all := pubsOf(t, symtest.Open(t, path))
	debug, stripped := path+".debug", path+".stripped"
	for _, c := range [][]string{{"objcopy", "--only-keep-debug", path, debug}, {"strip", "-o", stripped, path}} {
		if out, err := exec.Command(testenv.Tool(t, c[0]), c[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", c, err, out)
		}
	}
	bin, dbg := symtest.Open(t, stripped), symtest.Open(t, debug)
	for name, files := range map[string][]*object.File{
		"binary, debug file": {bin, dbg}, "debug file, binary": {dbg, bin}, "debug file": {nil, dbg},
	} {
		got := pubsOf(t, files...)
		if len(got) != len(all) {
			t.Errorf("%s: %d publics, want %d", name, len(got), len(all))
		}
		for addr, p := range all {
			if got[addr] != p {
				t.Errorf("%s: %+v, want %+v", name, got[addr], p)
			}
		}
	}
	if only := pubsOf(t, bin); len(only) != 0 {
		t.Errorf("stripped program exports %v", only)
	}
	if pubs, problems := publicsOf(0); len(pubs) != 0 || len(problems) != 0 {
		t.Errorf("no files: %v, %v", pubs, problems)
	}
}

func TestElfPublicsAreRelativeToBase(t *testing.T) {
	f := symtest.Open(t, testenv.Compile(t, "gcc", cSource, ".c", "-no-pie"))
	base := f.Base
	if base == 0 {
		t.Fatal("base 0")
	}
	abs, _ := publicsOf(0, f)
	rel, _ := publicsOf(base, f)
	if len(abs) != len(rel) || abs[0].RVA-rel[0].RVA != symfmt.RVA(base) {
		t.Errorf("%d and %d publics; first at %#x and %#x", len(abs), len(rel), abs[0].RVA, rel[0].RVA)
	}
}

func TestStripVersion(t *testing.T) {
	for in, want := range map[string]string{"f@@V": "f", "f@V": "f", "f": "f", "@f": "@f", "?f@@YAXXZ": "?f@@YAXXZ"} {
		if got := string(stripVersion([]byte(in))); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
}

// TestElfPublicsOfDamagedTables checks that what can be read is kept, and that the damage
// is reported.
func TestElfPublicsOfDamagedTables(t *testing.T) {
	path := testenv.Compile(t, "gcc", cSource, ".c", "-O1")
	whole := pubsOf(t, symtest.Open(t, path))
	image, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f := symtest.Open(t, path)
	symtab := elfobj.Of(f).Header(".symtab")
	copy(image[symtab.Offset+24*5:], "\xff\xff\xff\xff") // st_name of the sixth
	damaged, err := elfobj.NewFile(bytes.NewReader(image), int64(len(image)), filepath.Base(path), object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	pubs, problems := publicsOf(0, damaged.Object())
	if len(problems) != 1 || !strings.Contains(problems[0].String(), ".symtab+0x78: name at 0xffffffff") {
		t.Errorf("problems %v", problems)
	}
	if len(pubs) < len(whole)-1 {
		t.Errorf("%d publics of %d", len(pubs), len(whole))
	}
}

// TestElfPublicsSharedNames checks that a file whose symbols share one long name does not
// cost more time and memory than names of its size can, whether the symbols have the same
// address or many.
func TestElfPublicsSharedNames(t *testing.T) {
	for _, long := range []string{strings.Repeat("n", 60000), strings.Repeat("_", 60000)} {
		source := ".text\n.globl " + long + "\n" + long + ":\nb: .fill 4096\n"
		for i := range 3000 {
			source += fmt.Sprintf("s%d = b+%d\n.type s%d, @function\n.globl s%d\n", i, i%1500, i, i)
		}
		path := assembled(t, source)
		image, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f := symtest.Open(t, path)
		tab := elfobj.Of(f).Header(".symtab")
		var at uint32
		f.Symbols(object.Symtab, func(s *object.Symbol) {
			if string(s.Name) == long {
				at = s.NameOff
			}
		})
		for off := tab.Offset + 24; off < tab.Offset+tab.FileSize; off += 24 {
			binary.LittleEndian.PutUint32(image[off:], at)
		}
		bad, err := elfobj.NewFile(bytes.NewReader(image), int64(len(image)), "bad", object.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		pubs, problems := publicsOf(0, bad.Object())
		if len(problems) != 1 || !strings.Contains(problems[0].String(), "symbols from here on are left out") {
			t.Errorf("problems %v", problems)
		}
		if n := len(pubs) * len(long); n == 0 || n > 16*len(image)+1<<20 {
			t.Errorf("%d bytes of names for a file of %d", n, len(image))
		}
	}
}

func BenchmarkElfPublics(b *testing.B) {
	f := symtest.Open(b, testenv.File(b, "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "libstdc++6"))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		pubs, _ := publicsOf(0, f)
		n = len(pubs)
	}
	b.ReportMetric(float64(n), "publics")
}
