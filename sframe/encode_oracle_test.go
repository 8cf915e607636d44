package sframe

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// TestOracleEncode compares objdump's output for sections that Encode wrote
// with the functions that were encoded, row by row.
func TestOracleEncode(t *testing.T) {
	testenv.Oracle(t)
	for _, o := range []struct {
		suite   string
		version uint8
		abis    []ABI
	}{
		{"trixie", 2, []ABI{AArch64BE, AArch64LE, AMD64}}, // s390x was added in 2.45
		{"sid", 2, []ABI{AArch64BE, AArch64LE, AMD64, S390X}},
		{"sid", 3, []ABI{AArch64BE, AArch64LE, AMD64, S390X}},
	} {
		for _, abi := range o.abis {
			t.Run(fmt.Sprintf("%s V%d %s", o.suite, o.version, abi), func(t *testing.T) {
				objdump := testenv.SuiteTool(t, o.suite, machines[abi].objdump)
				compare := func(t *testing.T, all [][]Func) {
					rows := 0
					for _, funcs := range all {
						rows += compareObjdump(t, objdump, o.suite, funcs, Target{Version: o.version, ABI: abi, Addr: 0x2000})
					}
					t.Logf("%d rows", rows)
				}
				t.Run("made up", func(t *testing.T) { compare(t, madeUp(abi, o.version)) })
				t.Run("files", func(t *testing.T) { compare(t, corpus(t, abi)) })
			})
		}
	}
}

var machines = map[ABI]struct {
	objdump string
	machine elf.Machine
	order   binary.ByteOrder
}{
	AArch64BE: {"aarch64-linux-gnu-objdump", elf.EM_AARCH64, binary.BigEndian},
	AArch64LE: {"aarch64-linux-gnu-objdump", elf.EM_AARCH64, binary.LittleEndian},
	AMD64:     {"x86_64-linux-gnu-objdump", elf.EM_X86_64, binary.LittleEndian},
	S390X:     {"s390x-linux-gnu-objdump", elf.EM_S390, binary.BigEndian},
}

// corpus returns the functions of each shared file of an ABI. In objects their
// addresses are arbitrary: relocations are not applied.
func corpus(t *testing.T, abi ABI) (all [][]Func) {
	paths, err := filepath.Glob(filepath.Join(testenv.Shared(t, "data", "sframe", "elf"), "*"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no files", err)
	}
	for _, path := range paths {
		f, err := elf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if s := f.Section(".sframe"); s != nil && s.Size > 0 {
			data, err := s.Data()
			if err != nil {
				t.Fatal(err)
			}
			section, err := Decode(data, Options{Addr: 0x10000, Relocated: f.Type == elf.ET_REL})
			if err != nil {
				t.Fatal(path, err)
			}
			if section.Headers[0].ABI == abi {
				funcs, _ := section.Funcs()
				all = append(all, distinct(funcs))
			}
		}
		f.Close()
	}
	return all
}

// distinct keeps one function at each address: the one that Encode keeps.
func distinct(funcs []Func) (out []Func) {
	for _, i := range byAddress(funcs) {
		if n := len(out); funcs[i].Size > 0 && (n == 0 || out[n-1].Start != funcs[i].Start) {
			out = append(out, funcs[i])
		}
	}
	return out
}

// madeUp returns random functions.
func madeUp(abi ABI, version uint8) (all [][]Func) {
	r := rand.New(rand.NewPCG(uint64(abi), 7))
	for range 20 {
		all = append(all, randomFuncs(r, abi, version, false))
	}
	return all
}

// compareObjdump returns the number of rows compared.
func compareObjdump(t *testing.T, objdump []string, suite string, funcs []Func, target Target) (rows int) {
	data, problems := mustEncode(t, funcs, target)
	lost := map[string]bool{}
	for _, p := range problems {
		lost[p.Lost] = true
	}
	var want []string
	for _, i := range byAddress(funcs) {
		f := funcs[i]
		if lost[fmt.Sprintf("function at %#x", f.Start)] {
			continue
		}
		flex := target.Version == 3 && slices.ContainsFunc(spans(f), func(r Row) bool { return needsFlex(target.ABI, r) })
		want = append(want, objdumpFunc(&f, target.Version, flex))
		for _, r := range spans(f) {
			line := objdumpRow(target.ABI, target.Version, &f, r, flex)
			if suite == "trixie" {
				line = beforeErrata2(target.ABI, line)
			}
			want = append(want, line)
			rows++
		}
	}
	if suite == "trixie" {
		withoutPCRelative(data)
	}
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, miniELF(target.ABI, suite, data, target.Addr), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(objdump[0], append(objdump[1:], "--sframe", path)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	compareLines(t, objdumpLines(string(out)), want)
	return rows
}

func compareLines(t *testing.T, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Fatalf("line %d: nothing, want %q", i, want[i])
		case i >= len(want):
			t.Fatalf("line %d: %q, want nothing", i, got[i])
		case got[i] != want[i]:
			t.Fatalf("line %d: %q, want %q", i, got[i], want[i])
		}
	}
}

// objdumpLines extracts functions and rows from objdump's output.
func objdumpLines(text string) (lines []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "func idx"):
			_, line, _ = strings.Cut(line, ": ")
			lines = append(lines, line)
		case len(line) > 18 && strings.Trim(line[:16], "0123456789abcdef") == "" && line[16:18] == "  ":
			lines = append(lines, line)
		}
	}
	return lines
}

// objdumpFunc prints the head of a function as objdump does, without its number.
func objdumpFunc(f *Func, version uint8, flex bool) string {
	line := fmt.Sprintf("pc = %#x, size = %d bytes", f.Start, f.Size)
	attr := ""
	if f.Signal && version == 3 {
		attr += "S"
	}
	if flex {
		attr += "F"
	}
	if attr != "" {
		line += fmt.Sprintf(", attr = %q", attr)
	}
	if f.KeyB {
		line += ", pauth = B key"
	}
	return line
}

// needsFlex reports whether a row can only be a FLEX row in version 3.
func needsFlex(abi ABI, r Row) bool {
	a := abi.info()
	if r.RA.Kind == Undefined {
		return false
	}
	slot := func(rule Rule) bool {
		return rule == Rule{} || rule.Kind == Memory && rule.Reg == CFA && rule.Offset != 0
	}
	plainRA := slot(r.RA)
	if abi == AMD64 {
		plainRA = r.RA == amd64RA
	}
	plainCFA := r.CFA.Kind == Value && (r.CFA.Reg == a.sp || r.CFA.Reg == a.fp)
	alone := abi != S390X && abi != AMD64 && r.RA.Kind == Same && r.FP.Kind != Same
	return !plainCFA || !plainRA || !slot(r.FP) || alone
}

// objdumpRow prints a row as objdump does.
func objdumpRow(abi ABI, version uint8, f *Func, r Row, flex bool) string {
	at := uint64(r.Start)
	if f.Block == 0 {
		at += f.Start
	}
	if r.Outermost() {
		return fmt.Sprintf("%016x  RA undefined", at)
	}
	ra := objdumpRule(abi, version, r.RA)
	switch {
	case (flex || abi == S390X) && (r.RA == Rule{} || abi == AMD64 && r.RA == amd64RA) && r.FP.Kind != Same:
		ra = "U"
	case abi == AMD64 && r.RA == amd64RA:
		ra = "f"
	}
	if r.Signed {
		ra += "[s]"
	}
	cfa := objdumpRule(abi, 3, r.CFA)
	if !flex {
		cfa = strings.Replace(cfa, "-", "+-", 1) // unlike in slots
	}
	return fmt.Sprintf("%016x  %-10s%-10s%s", at, cfa, objdumpRule(abi, version, r.FP), ra)
}

// beforeErrata2 returns how objdump 2.44 prints a row without data words.
func beforeErrata2(abi ABI, line string) string {
	ra := "u"
	if abi == AMD64 {
		ra = "f"
	}
	return strings.Replace(line, "RA undefined", "fp+-1     u         "+ra, 1)
}

func objdumpRule(abi ABI, version uint8, rule Rule) string {
	base := fmt.Sprintf("r%d", rule.Reg)
	switch rule.Reg {
	case CFA:
		base = "c"
	case abi.SP():
		base = "sp"
	case abi.FP():
		base = "fp"
	}
	base = fmt.Sprintf("%s%+d", base, rule.Offset)
	switch {
	case rule.Kind == Same:
		return "u"
	case rule.Kind == Value && version == 2 && rule.Offset == 0:
		return fmt.Sprintf("r%d", rule.Reg)
	case rule.Kind == Memory && rule.Reg != CFA:
		return "(" + base + ")"
	}
	return base
}

// withoutPCRelative converts starts to the form of version 2 before its
// errata, relative to the section, as objdump 2.44 rejects the flag.
func withoutPCRelative(data []byte) {
	order := Magic(data)
	data[3] &^= uint8(PCRelative)
	for i := range order.Uint32(data[8:]) {
		at := headerSize + 20*i
		order.PutUint32(data[at:], order.Uint32(data[at:])+at)
	}
}

// miniELF returns a shared library that has only the section.
func miniELF(abi ABI, suite string, data []byte, addr uint64) []byte {
	m := machines[abi]
	kind, names := uint32(0x6ffffff4), "\x00.sframe\x00.shstrtab\x00"
	if suite == "trixie" {
		kind = uint32(elf.SHT_PROGBITS)
	}
	end := 64 + uint64(len(data)+len(names))
	h := elf.Header64{
		Type: uint16(elf.ET_DYN), Machine: uint16(m.machine), Version: 1, Shoff: end, Ehsize: 64, Shentsize: 64, Shnum: 3, Shstrndx: 2,
	}
	copy(h.Ident[:], elf.ELFMAG)
	h.Ident[elf.EI_CLASS], h.Ident[elf.EI_VERSION] = byte(elf.ELFCLASS64), 1
	h.Ident[elf.EI_DATA] = byte(elf.ELFDATA2LSB)
	if m.order == binary.ByteOrder(binary.BigEndian) {
		h.Ident[elf.EI_DATA] = byte(elf.ELFDATA2MSB)
	}
	sections := [3]elf.Section64{
		1: {Name: 1, Type: kind, Flags: uint64(elf.SHF_ALLOC), Addr: addr, Off: 64, Size: uint64(len(data)), Addralign: 1},
		2: {Name: 9, Type: uint32(elf.SHT_STRTAB), Off: 64 + uint64(len(data)), Size: uint64(len(names)), Addralign: 1},
	}
	b := new(bytes.Buffer)
	for _, part := range []any{h, data, []byte(names), sections} {
		if err := binary.Write(b, m.order, part); err != nil {
			panic(err)
		}
	}
	return b.Bytes()
}
