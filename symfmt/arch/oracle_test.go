package arch

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/oracle"
)

// assemble makes an object with one .cfi_offset for each line, and returns the
// lines that the assembler refused.
func assemble(t *testing.T, tool []string, operands []string) (object string, refused map[int]bool) {
	t.Helper()
	dir := t.TempDir()
	object = filepath.Join(dir, "a.o")
	refused = map[int]bool{}
	for range 2 {
		var src bytes.Buffer
		src.WriteString(".text\nf:\n.cfi_startproc\n")
		for i, op := range operands {
			if refused[i] {
				src.WriteString("\n")
			} else {
				fmt.Fprintf(&src, ".cfi_offset %s, %d\n", op, 8*(i+1))
			}
		}
		src.WriteString(".cfi_endproc\n")
		file := filepath.Join(dir, "a.s")
		if err := os.WriteFile(file, src.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(tool[0], append(tool[1:], "-o", object, file)...).CombinedOutput()
		if err == nil {
			return object, refused
		}
		for _, m := range errorLine.FindAllSubmatch(out, -1) {
			n, _ := strconv.Atoi(string(m[1]))
			refused[n-4] = true // three lines before the first operand
		}
	}
	t.Fatalf("%s: does not assemble", tool[0])
	return "", nil
}

var (
	errorLine = regexp.MustCompile(`(?m)a\.s:(\d+):(?:\d+:)? [Ee]rror`)
	offsetOp  = regexp.MustCompile(`DW_CFA_offset\w*: r(-?\d+)(?: \((\S+)\))? at cfa\+(\d+)`)
)

// offsets returns, for each operand of assemble, the register's number and
// the name that readelf gives it.
func offsets(t *testing.T, object string) (number map[int]string, name map[int]string) {
	t.Helper()
	out := strings.Join(oracle.Readelf(t, object, "--debug-dump=frames"), "\n")
	number, name = map[int]string{}, map[int]string{}
	for _, m := range offsetOp.FindAllStringSubmatch(strings.ReplaceAll(out, "bad register: ", ""), -1) {
		at, _ := strconv.Atoi(m[3])
		number[at/8-1], name[at/8-1] = m[1], m[2]
	}
	return number, name
}

func need(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
}

// intel and the others convert our names to an assembler's.
func intel(name string) string {
	if s, ok := strings.CutPrefix(name, "$st"); ok {
		return "%st(" + s + ")"
	}
	return "%" + name[1:]
}

func s390(name string) string {
	if s, ok := strings.CutPrefix(name, "cr"); ok {
		return "%c" + s
	}
	return "%" + name
}

// o32: the n64 ABI's assembler has other names for some general registers, but Breakpad
// does not, so they are named by their numbers.
func o32(name string) string {
	if n, ok := MIPS64.RegNumber(name); ok && n < 32 {
		return "$" + strconv.FormatUint(n, 10)
	}
	return name
}

// neon: the assembler numbers v0 by its low half, d0.
func neon(name string) string {
	if s, ok := strings.CutPrefix(name, "v"); ok && s != "g" {
		return "d" + s
	}
	return name
}

func same(name string) string { return name }

// TestLLVMNames and TestGNUNames ask assemblers for the number of each name.
// "unknown" lists the names that the assembler does not know.
func TestLLVMNames(t *testing.T) {
	for _, c := range []struct {
		a       *Arch
		triple  string
		spell   func(string) string
		unknown string
	}{
		{X86, "i386-linux-gnu", intel, "$fcw $fsw $mxcsr $tr $ldtr"},
		{X86_64, "x86_64-linux-gnu", intel, "$tr $ldtr $mxcsr $fcw $fsw"},
		{ARM, "armv7-linux-gnueabihf", same, "s0 s1* s2* s3* s4 s5 s6 s7 s8 s9 f*"},
		{ARM64, "aarch64-linux-gnu -mattr=+sve", neon, "pc p* z*"},
		{MIPS, "mips-linux-gnu", same, "$f0 $f1* $f2* $f3* $f4 $f5 $f6 $f7 $f8 $f9 $hi $lo"},
		{MIPS64, "mips64-linux-gnu", o32, "$f0 $f1* $f2* $f3* $f4 $f5 $f6 $f7 $f8 $f9 $hi $lo"},
		{PPC, "powerpc-linux-gnu", same, "xer vrsave vscr"},
		{PPC64, "powerpc64-linux-gnu", same, "vscr"},
		{RISCV, "riscv32-linux-gnu", same, "vstart vcsr vl vtype"},
		{RISCV64, "riscv64-linux-gnu", same, "vstart vcsr vl vtype"},
		{S390X, "s390x-linux-gnu", s390, "psw*"},
	} {
		t.Run(c.a.Name, func(t *testing.T) {
			need(t, "llvm-mc-22", "readelf")
			checkNumbers(t, c.a, append([]string{"llvm-mc-22", "-filetype=obj"}, strings.Fields("-triple="+c.triple)...), c.spell, c.unknown)
		})
	}
}

func TestGNUNames(t *testing.T) {
	for _, c := range []struct {
		a       *Arch
		tool    string
		spell   func(string) string
		unknown string
	}{
		{X86, "i686-linux-gnu-as", intel, ""},
		{X86_64, "x86_64-linux-gnu-as", intel, "$r16 $r17 $r18 $r19 $r2* $r30 $r31"},
		{ARM, "arm-linux-gnueabihf-as", same, "f*"},
		{MIPS, "mips-linux-gnu-as", same, "$f0 $f1* $f2* $f3* $f4 $f5 $f6 $f7 $f8 $f9 $hi $lo"},
		{PPC, "powerpc-linux-gnu-as", same, ""},
		{PPC64, "powerpc64-linux-gnu-as", same, ""},
	} { // not s390x: its as numbers f2 18, against the ABI and readelf
		t.Run(c.a.Name, func(t *testing.T) {
			need(t, c.tool, "readelf")
			checkNumbers(t, c.a, []string{c.tool}, c.spell, c.unknown)
		})
	}
}

func checkNumbers(t *testing.T, a *Arch, tool []string, spell func(string) string, unknown string) {
	var operands []string
	for _, r := range a.Regs {
		operands = append(operands, spell(r.Name))
	}
	object, refused := assemble(t, tool, operands)
	number, _ := offsets(t, object)
	for i, r := range a.Regs {
		if r.DWARF == NoDWARF {
			continue
		}
		got, ok := number[i]
		ok = ok && !refused[i] && got != "-1"
		if has := !listed(unknown, r.Name); ok != has {
			t.Errorf("%s: the assembler knows it: %v, want %v", r.Name, ok, has)
		} else if ok && got != strconv.FormatUint(r.DWARF, 10) {
			t.Errorf("%s: number %d, the assembler has %s", r.Name, r.DWARF, got)
		}
	}
}

// listed reports whether a word of list is name, or with a "*" its beginning.
func listed(list, name string) bool {
	for w := range strings.FieldsSeq(list) {
		if s, prefix := strings.CutSuffix(w, "*"); w == name || prefix && strings.HasPrefix(name, s) {
			return true
		}
	}
	return false
}

// TestReadelfNames asks readelf for the name of each number up to 160, on the
// CPUs for which it has names.
func TestReadelfNames(t *testing.T) {
	for _, c := range []struct {
		a     *Arch
		tool  []string
		extra string // names that only readelf knows
	}{
		{X86, []string{"i686-linux-gnu-as"}, ""},
		{X86_64, []string{"x86_64-linux-gnu-as"}, ""},
		{ARM64, []string{"aarch64-linux-gnu-as"}, "elr"},
		{RISCV64, []string{"riscv64-linux-gnu-as"}, ""},
		{S390X, []string{"s390x-linux-gnu-as"}, ""},
	} {
		t.Run(c.a.Name, func(t *testing.T) {
			need(t, c.tool[0], "readelf")
			var operands []string
			for i := range 160 {
				operands = append(operands, strconv.Itoa(i))
			}
			object, _ := assemble(t, c.tool, operands)
			_, names := offsets(t, object)
			compared := 0
			for i := range 160 {
				ours, ok := c.a.RegName(uint64(i))
				theirs := names[i]
				if theirs == "" || !ok && listed(c.extra, theirs) {
					continue
				}
				compared++
				if bare(c.a, ours) != theirs {
					t.Errorf("%d is %q, readelf has %q", i, ours, theirs)
				}
			}
			if compared < 30 {
				t.Errorf("%d names compared", compared)
			}
		})
	}
}

// bare converts our name to readelf's: no dollar, and RISC-V's f registers by
// their use.
func bare(a *Arch, name string) string {
	name = strings.TrimPrefix(name, "$")
	if a != RISCV64 || name[0] != 'f' {
		return name
	}
	abi := slices.Concat(indexed("ft", 0, 8), []string{"fs0", "fs1"}, indexed("fa", 0, 8), indexed("fs", 2, 12), indexed("ft", 8, 12))
	i, _ := strconv.Atoi(name[1:])
	return abi[i]
}
