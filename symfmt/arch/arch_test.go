package arch

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-delve/delve/pkg/dwarf/regnum"

	"github.com/symtool/symtool/internal/testenv"
)

// TestComplete reports what a CPU lacks.
func TestComplete(t *testing.T) {
	if !slices.IsSortedFunc(All, func(a, b *Arch) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("All is not ordered by name")
	}
	names := map[string]bool{}
	headers := map[string]string{}
	for _, a := range All {
		t.Run(a.Name, func(t *testing.T) {
			for _, n := range append([]string{a.Name}, a.Aliases...) {
				if names[n] || n == "" {
					t.Errorf("MODULE name %q is empty or used twice", n)
				}
				names[n] = true
			}
			h := fmt.Sprint(a.Machine, a.Class)
			if other := headers[h]; other != "" {
				t.Errorf("%s is also %s", h, other)
			}
			headers[h] = a.Name
			checkValue(t, a)
			checkRegs(t, a)
		})
	}
}

func checkValue(t *testing.T, a *Arch) {
	if want := map[elf.Class]int{elf.ELFCLASS32: 4, elf.ELFCLASS64: 8}[a.Class]; a.PtrSize != want {
		t.Errorf("PtrSize %d, want %d for %v", a.PtrSize, want, a.Class)
	}
	if a.Order == nil {
		t.Error("no Order")
	}
	for what, name := range map[string]string{"PC": a.PC, "SP": a.SP, "FP": a.FP} {
		if _, ok := a.RegIndex(name); !ok {
			t.Errorf("%s %q is not in Regs", what, name)
		}
	}
	home := a.RA
	if home == "" {
		home = a.PC
	}
	if n, ok := a.RegNumber(home); !ok || n != a.ReturnAddress {
		t.Errorf("return address column %d, want that of %s, %d", a.ReturnAddress, home, n)
	}
	if len(a.CalleeSaved) == 0 {
		t.Error("no CalleeSaved")
	}
	if len(a.Shown.Regs) == 0 {
		t.Error("no Shown: reports would have no registers")
	}
	for _, r := range append(slices.Clone(a.Shown.Regs), a.Shown.Whole...) {
		if _, ok := a.RegIndex(r.Reg); !ok {
			t.Errorf("Shown %q is not in Regs", r.Reg)
		}
	}
	for i, name := range a.CalleeSaved {
		if _, ok := a.RegIndex(name); !ok {
			t.Errorf("CalleeSaved %q is not in Regs", name)
		}
		if name == a.SP || name == a.PC || name == a.RA || slices.Contains(a.CalleeSaved[:i], name) {
			t.Errorf("CalleeSaved has %q, or twice", name)
		}
	}
	for _, name := range a.Constant {
		if _, ok := a.RegNumber(name); !ok || slices.Contains(a.CalleeSaved, name) {
			t.Errorf("Constant %q has no number, or is callee-saved", name)
		}
	}
	for i, name := range a.CalleeSavedFloat {
		if _, ok := a.RegIndex(name); !ok {
			t.Errorf("CalleeSavedFloat %q is not in Regs", name)
		}
		if slices.Contains(a.CalleeSaved, name) || slices.Contains(a.CalleeSavedFloat[:i], name) {
			t.Errorf("%q is callee-saved twice", name)
		}
	}
	for i, other := range a.OtherNames {
		if _, ok := a.RegIndex(other.Name); ok {
			t.Errorf("OtherNames has %q, which is in Regs", other.Name)
		}
		if _, ok := a.RegIndex(other.Reg); !ok {
			t.Errorf("%s is another name of %q, which is not in Regs", other.Name, other.Reg)
		}
		if j, ok := a.OtherIndex(other.Name); !ok || j != i {
			t.Errorf("OtherIndex(%q) = %d, %v, want %d", other.Name, j, ok, i)
		}
	}
	if _, ok := a.OtherIndex(a.SP); ok {
		t.Errorf("OtherIndex has %q", a.SP)
	}
	if !slices.Contains(a.CalleeSaved, a.FP) {
		t.Errorf("frame pointer %s is not callee-saved", a.FP)
	}
}

func checkRegs(t *testing.T, a *Arch) {
	seen := map[string]bool{}
	for i, r := range a.Regs {
		if seen[r.Name] || r.Name == "" || strings.ContainsAny(r.Name, ": \t") {
			t.Errorf("register name %q is bad or used twice", r.Name)
		}
		seen[r.Name] = true
		if i > 0 && a.Regs[i-1].DWARF >= r.DWARF && r.DWARF != NoDWARF {
			t.Errorf("%s: number %d after %d", r.Name, r.DWARF, a.Regs[i-1].DWARF)
		}
		if j, ok := a.RegIndex(r.Name); !ok || i != j {
			t.Errorf("RegIndex(%q) = %d, %v, want %d", r.Name, j, ok, i)
		}
		n, ok := a.RegNumber(r.Name)
		if r.DWARF == NoDWARF {
			if ok {
				t.Errorf("%s has number %d, want none", r.Name, n)
			}
			continue
		}
		if name, ok2 := a.RegName(n); !ok || !ok2 || name != r.Name || n != r.DWARF {
			t.Errorf("%s: number %d, %v; its name %q, %v", r.Name, n, ok, name, ok2)
		}
		if name, ok := a.CIERegName(a.ReturnAddress, n); !ok || name != r.Name {
			t.Errorf("CIERegName(%d) = %q, %v, want %s", n, name, ok, r.Name)
		}
	}
	for _, n := range []uint64{1 << 20, NoDWARF, NoDWARF - 1} {
		if name, ok := a.RegName(n); ok || name != "" {
			t.Errorf("RegName(%#x) = %q, want none", n, name)
		}
	}
	if _, ok := a.RegNumber("no such register"); ok {
		t.Error("a register that does not exist has a number")
	}
	if a.Alt == nil {
		return
	}
	for n, name := range a.Alt.names {
		if name == "" {
			continue
		}
		if got, ok := a.CIERegName(a.Alt.ReturnAddress, uint64(n)); !ok || got != name {
			t.Errorf("other numbering: %d is %q, want %q", n, got, name)
		}
	}
	if name, _ := a.CIERegName(a.Alt.ReturnAddress, a.Alt.ReturnAddress); name != a.RA {
		t.Errorf("other numbering: return address column is %q, want %q", name, a.RA)
	}
}

func TestByName(t *testing.T) {
	for name, want := range map[string]*Arch{
		"x86": X86, "x86_64": X86_64, "x86_64h": X86_64, "arm": ARM, "arm64": ARM64, "arm64e": ARM64,
		"mips": MIPS, "mips64": MIPS64, "ppc": PPC, "ppc64": PPC64, "riscv": RISCV, "riscv64": RISCV64,
		"s390x": S390X, "s390": S390X, "": nil, "unknown": nil, "X86": nil,
	} {
		if got := ByName(name); got != want {
			t.Errorf("ByName(%q) = %v, want %v", name, got, want)
		}
	}
}

func TestByELF(t *testing.T) {
	for _, a := range All {
		if got := ByELF(a.Machine, a.Class); got != a {
			t.Errorf("%s: ByELF gives %v", a.Name, got)
		}
		narrow := a == X86_64 || a == ARM64 // x32, ILP32
		if got := ByELF(a.Machine, elf.ELFCLASS32); a.Narrow != narrow || narrow && got != a {
			t.Errorf("%s: narrow is %v, and ByELF of ELFCLASS32 gives %v", a.Name, a.Narrow, got)
		}
	}
	for _, c := range []struct {
		m elf.Machine
		c elf.Class
	}{{elf.EM_S390, elf.ELFCLASS32}, {elf.EM_PPC64, elf.ELFCLASS32}, {elf.EM_386, elf.ELFCLASS64}, {elf.EM_SPARC, elf.ELFCLASS32}, {elf.EM_386, elf.ELFCLASSNONE}} {
		if got := ByELF(c.m, c.c); got != nil {
			t.Errorf("ByELF(%v, %v) = %s, want none", c.m, c.c, got.Name)
		}
	}
}

// TestKnownNumbers pins one number of each group, from the supplements' tables.
func TestKnownNumbers(t *testing.T) {
	for _, c := range []struct {
		a      *Arch
		number uint64
		name   string
	}{
		{X86, 4, "$esp"}, {X86, 5, "$ebp"}, {X86, 8, "$eip"}, {X86, 21, "$xmm0"}, {X86, 49, "$ldtr"},
		{X86_64, 1, "$rdx"}, {X86_64, 7, "$rsp"}, {X86_64, 16, "$rip"}, {X86_64, 32, "$xmm15"}, {X86_64, 66, "$fsw"},
		{X86_64, 82, "$xmm31"}, {X86_64, 145, "$r31"},
		{ARM, 13, "sp"}, {ARM, 80, "s16"}, {ARM, 264, "d8"},
		{ARM64, 29, "x29"}, {ARM64, 31, "sp"}, {ARM64, 46, "vg"}, {ARM64, 47, "ffr"}, {ARM64, 63, "p15"}, {ARM64, 72, "v8"}, {ARM64, 127, "z31"},
		{MIPS, 30, "$fp"}, {MIPS, 33, "$f1"}, {MIPS64, 65, "$lo"},
		{PPC, 65, "lr"}, {PPC64, 108, "v31"}, {PPC64, 70, "cr2"},
		{RISCV, 8, "s0"}, {RISCV64, 0, "zero"}, {RISCV64, 27, "s11"}, {RISCV64, 63, "f31"}, {RISCV64, 7202, "vlenb"},
		{S390X, 15, "r15"}, {S390X, 17, "f2"}, {S390X, 65, "pswa"}, {S390X, 83, "v31"},
	} {
		if name, ok := c.a.RegName(c.number); !ok || name != c.name {
			t.Errorf("%s: %d is %q, want %q", c.a.Name, c.number, name, c.name)
		}
	}
	for n, want := range map[uint64]string{108: "lr", 109: "ctr", 64: "cr", 1124: "v0", 1155: "v31", 31: "r31", 65: "fpscr"} {
		if name, _ := PPC64.CIERegName(108, n); name != want {
			t.Errorf("ppc64 with return address column 108: %d is %q, want %q", n, name, want)
		}
	}
}

// TestDelve compares with the numbers in delve. Where delve has no name, or
// another CPU's, there is nothing to compare.
func TestDelve(t *testing.T) {
	number := func(prefix string, skip map[string]bool, of func(uint64) string) func(Reg) (string, bool) {
		return func(r Reg) (string, bool) {
			name := strings.ToLower(of(r.DWARF))
			return prefix + strings.NewReplacer("(", "", ")", "", "_", ".").Replace(name),
				!strings.HasPrefix(name, "unknown") && !skip[r.Name]
		}
	}
	riscv := func(n uint64) string { // delve has x0 to x31, and prints the number of an f register, not its index
		if n < 32 {
			name, _ := RISCV64.RegName(n)
			if got, ok := regnum.RISCV64NameToDwarf[fmt.Sprintf("x%d", n)]; !ok || uint64(got) != n {
				return "x?"
			}
			return name
		}
		if n < 64 {
			for i := range 32 {
				if regnum.RISCV64NameToDwarf[fmt.Sprintf("f%d", i)] == int(n) {
					return fmt.Sprintf("f%d", i)
				}
			}
		}
		return "unknown"
	}
	// delve calls $fcw and $fsw CW and SW; ppc64's r1 SP, and r12 PC, which is wrong.
	for _, c := range []struct {
		a    *Arch
		min  int
		name func(Reg) (string, bool)
	}{
		{X86, 32, number("$", nil, regnum.I386ToName)},
		{X86_64, 75, number("$", map[string]bool{"$fcw": true, "$fsw": true}, regnum.AMD64ToName)},
		{ARM64, 65, number("", nil, regnum.ARM64ToName)},
		{RISCV64, 64, number("", nil, riscv)},
		{PPC64, 94, number("", map[string]bool{"r1": true, "r12": true, "r31": true}, regnum.PPC64LEToName)},
	} {
		compared := 0
		for _, r := range c.a.Regs {
			want, ok := c.name(r)
			if r.DWARF == NoDWARF || !ok {
				continue
			}
			compared++
			if r.Name != want {
				t.Errorf("%s: %d is %s, delve has %s", c.a.Name, r.DWARF, r.Name, want)
			}
		}
		if compared < c.min {
			t.Errorf("%s: %d registers compared, want at least %d", c.a.Name, compared, c.min)
		}
	}
}

func TestLookupAllocatesNothing(t *testing.T) {
	n := testenv.Allocations(100, func() {
		for _, a := range All {
			a.RegName(3)
			a.CIERegName(108, 108)
			a.RegNumber("$rbp")
			a.RegIndex("x29")
		}
		ByName("x86_64")
		ByELF(elf.EM_AARCH64, elf.ELFCLASS64)
	})
	if n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

// TestRelocationsComplete names the CPUs whose relocations are missing.
func TestRelocationsComplete(t *testing.T) {
	for _, a := range All {
		has := map[RelocOp]bool{}
		for _, r := range a.Relocs {
			has[r.Op] = true
		}
		if !has[RelocAbs] || !has[RelocPC] {
			t.Errorf("%s: add its relocations for data: absolute %v, relative %v", a.Name, has[RelocAbs], has[RelocPC])
		}
	}
}

// Relocations of machines in All are those of the CPU, and no machine is listed
// twice.
func TestRelocsOf(t *testing.T) {
	for m := range otherRelocs {
		if slices.ContainsFunc(All, func(a *Arch) bool { return a.Machine == m }) {
			t.Errorf("All has %v: remove it from otherRelocs", m)
		}
		if !maps.Equal(RelocsOf(m), otherRelocs[m]) {
			t.Errorf("RelocsOf(%v) = %v, want %v", m, RelocsOf(m), otherRelocs[m])
		}
	}
	if RelocsOf(elf.EM_X86_64) == nil || RelocsOf(elf.EM_BPF) == nil || RelocsOf(elf.EM_SPARCV9) != nil {
		t.Error("RelocsOf knows relocations of SPARC, or none of x86-64 or BPF")
	}
}

// The other CPUs are not in All.
func TestOthers(t *testing.T) {
	for name := range others {
		if ByName(name) != nil {
			t.Errorf("All has %s: remove it from others", name)
		}
		if !Known(name) {
			t.Errorf("Known(%q) = false, want true", name)
		}
	}
	for name, want := range map[string]binary.ByteOrder{
		"s390": binary.BigEndian, "ppc": binary.BigEndian, "sparc": binary.BigEndian, "x86_64": binary.LittleEndian, "m68k": binary.LittleEndian,
	} {
		if got := OrderByName(name); got != want {
			t.Errorf("OrderByName(%q) = %v, want %v", name, got, want)
		}
	}
	if Known("m68k") {
		t.Error("Known(\"m68k\") = true, want false")
	}
}
