package pdb

import (
	"bytes"
	"debug/pe"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// replaced returns a copy of data in which the only occurrence of old is replaced.
func replaced(t *testing.T, data, old, by []byte) []byte {
	t.Helper()
	if n := bytes.Count(data, old); n != 1 || len(old) != len(by) {
		t.Fatalf("%x: %d times", old, n)
	}
	return bytes.Replace(data, old, by, 1)
}

// fastLinked returns a PDB that says that it was linked with /DEBUG:FASTLINK.
func fastLinked(t *testing.T) []byte {
	t.Helper()
	vc140 := binary.LittleEndian.AppendUint32(nil, 20140508)
	return replaced(t, testenv.Gunzip(t, testenv.Input(t, "pdb-x64.pdb.gz")), vc140, []byte("MINI"))
}

// A PDB of /DEBUG:FASTLINK yields what it holds, and the problem that this is incomplete.
func TestFastLink(t *testing.T) {
	r := read(t, fastLinked(t), "x.pdb", 1)
	want := "x.pdb: " + partialText + " (lost: functions and lines of object files)"
	if len(r.Problems) != 1 || !errors.Is(r.Problems[0].Err, ErrPartial) || r.Problems[0].String() != want {
		t.Errorf("%v, want %s", r.Problems, want)
	}
	if len(r.Module.Funcs) == 0 {
		t.Error("what the PDB has was not read")
	}
}

// LLVM calls the feature minimal debug information, number 2.
func TestOracleFastLink(t *testing.T) {
	testenv.Oracle(t)
	path := filepath.Join(t.TempDir(), "x.pdb")
	if err := os.WriteFile(path, fastLinked(t), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(testenv.Tool(t, "llvm-pdbutil-22"), "dump", "--summary", path).Output()
	if err != nil || !strings.Contains(string(out), "Features: 0x2\n") {
		t.Errorf("%v:\n%s", err, out)
	}
}

// trampoline returns an S_TRAMPOLINE record.
func trampoline(kind, size uint16, from, to uint32, section uint16) []byte {
	b := binary.LittleEndian.AppendUint16(nil, 18)
	for _, v := range []uint16{symTrampoline, kind, size} {
		b = binary.LittleEndian.AppendUint16(b, v)
	}
	b = binary.LittleEndian.AppendUint32(b, from)
	b = binary.LittleEndian.AppendUint32(b, to)
	b = binary.LittleEndian.AppendUint16(b, section)
	return binary.LittleEndian.AppendUint16(b, section)
}

// Jumps of incremental linking are functions, named as debuggers name them. Branch islands, damaged records,
// jumps to places other than functions, and jumps to or from data are not.
func TestJumps(t *testing.T) {
	d := &database{container: &container{size: 1000}, parts: []section{{rva: 0x1000, size: 0x1000, exec: true}, {rva: 0x2000, size: 0x1000}}}
	data := []byte{4, 0, 0, 0}
	for _, b := range [][]byte{
		trampoline(0, 5, 0x15, 0x100, 1), trampoline(0, 5, 0x10, 0x200, 1), trampoline(1, 5, 0x20, 0x100, 1), trampoline(0, 5, 0x25, 0x101, 1),
		trampoline(0, 0, 0x30, 0x100, 1), trampoline(0, 5, 0x35, 0x2100, 1), trampoline(0, 5, 0x10, 0x100, 2), {6, 0, 0x2c, 0x11, 0, 0, 5, 0},
	} {
		data = append(data, b...)
	}
	var s moduleSymbols
	s.read(d, data)
	m := &merger{d: d, jumps: s.jumps}
	m.out.Funcs = []symfmt.Func{{RVA: 0x1100, Size: 8, Name: "f(int)"}, {RVA: 0x1200, Size: 8, Name: "main"}}
	m.nameJumps()
	var text bytes.Buffer
	if err := symfmt.Write(&text, &m.out, symfmt.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	want := "FUNC 1010 5 0 @ILT+0(main)\nFUNC 1015 5 0 @ILT+5(f(int))\nFUNC 1100 8 0 f(int)\nFUNC 1200 8 0 main\n"
	if _, got, _ := strings.Cut(text.String(), "\n"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// The total size of the names of jumps is bounded, even if many lead to a function with a long name.
func TestJumpsAreBounded(t *testing.T) {
	m := &merger{d: &database{container: &container{size: 1000}}}
	m.out.Funcs = []symfmt.Func{{RVA: 0x1100, Size: 8, Name: strings.Repeat("f", 60<<10)}}
	for i := range symfmt.RVA(1 << 12) {
		m.jumps = append(m.jumps, jump{rva: 0x2000 + 5*i, to: 0x1100, size: 5})
	}
	m.nameJumps()
	if n := len(m.out.Funcs); n > (minNames+1000)/(60<<10)+1 || len(m.problems) != 1 {
		t.Errorf("%d functions, problems %v", n, m.problems)
	}
}

// The jumps of a program built with Visual Studio lead, by their instructions, to the functions that they are
// named after.
func TestJumpsOfProgram(t *testing.T) {
	dir := testenv.Shared(t, "data", "pe", "real", "mozilla-dump_syms")
	program, err := pe.Open(filepath.Join(dir, "basic32.dll"))
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	funcs := read(t, sharedPDB(t, filepath.Join(dir, "basic32.pdb")), "basic32.pdb", 0).Module.Funcs
	jumps := 0
	for _, f := range funcs {
		if !strings.HasPrefix(f.Name, "@ILT+") {
			continue
		}
		jumps++
		code := codeAt(program, f.RVA, 5)
		if f.Size != 5 || code[0] != 0xe9 { // JMP rel32
			t.Errorf("%x %x %s: % x", f.RVA, f.Size, f.Name, code)
			continue
		}
		i, found := functionAt(funcs, f.RVA+5+symfmt.RVA(int32(u32(code[1:]))))
		if !found || !strings.HasSuffix(f.Name, "("+funcs[i].Name+")") {
			t.Errorf("%x %s: to %s", f.RVA, f.Name, funcs[i].Name)
		}
	}
	if jumps < 2000 {
		t.Errorf("%d jumps", jumps)
	}
}

// codeAt returns n bytes at an address.
func codeAt(f *pe.File, rva symfmt.RVA, n uint32) []byte {
	b := make([]byte, n)
	for _, s := range f.Sections {
		if off := uint32(rva) - s.VirtualAddress; uint32(rva) >= s.VirtualAddress && off+n <= s.Size {
			_, _ = s.ReadAt(b, int64(off)) // zeros are not a jump
		}
	}
	return b
}
