package walktest

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/damage"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/elfcore"
)

// SharedDumps returns the dumps in the shared test data.
func SharedDumps(t *testing.T) (list []string) {
	for _, pattern := range []string{"crashes/*/core", "crashes/*/dump.dmp", "arch/*/core", "minidumps/*/*.dmp"} {
		found, err := filepath.Glob(filepath.Join(testenv.Shared(t, "data"), pattern))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, found...)
	}
	if len(list) < 35 {
		t.Fatalf("%d dumps", len(list))
	}
	return list
}

func Opened(t testing.TB, path string) *dump.Dump {
	t.Helper()
	file, err := dumpfile.Open(t.Context(), path, dumpfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := file.Dump
	t.Cleanup(func() { file.Close() })
	return d
}

func Written(t *testing.T, format string, d *dump.Dump) ([]byte, []damage.Problem) {
	t.Helper()
	var b, again bytes.Buffer
	problems, err := dumpfile.Write(&b, format, d)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dumpfile.Write(&again, format, d); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Fatal("other bytes the second time", err)
	}
	return b.Bytes(), problems
}

func Parsed(t *testing.T, data []byte) *dump.Dump {
	t.Helper()
	d, err := dumpfile.Read(data, "", dumpfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// WithoutRest returns a dump in which symtool's own part cannot be found.
func WithoutRest(t *testing.T, data []byte) []byte {
	t.Helper()
	mark := []byte{0x54, 0x4d, 0x59, 0x53} // RestType
	if data[5] == 2 && elfcore.Sniff(data) || data[0] == 'P' {
		slices.Reverse(mark)
	}
	if bytes.Count(data, mark) != 1 {
		t.Fatalf("the number of symtool's part is there %d times", bytes.Count(data, mark))
	}
	return bytes.Replace(data, mark, []byte{1, 2, 3, 4}, 1)
}

// WriteFile writes a file to a folder of the test, and returns its path.
func WriteFile(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// AsMinidump converts a core.
func AsMinidump(t testing.TB, path string) string {
	t.Helper()
	file, err := dumpfile.Open(t.Context(), path, dumpfile.Options{Core: elfcore.Options{}})
	if err != nil {
		t.Fatal(err)
	}
	d := file.Dump
	defer file.Close()
	var b bytes.Buffer
	if _, err := dumpfile.Write(&b, "minidump", d); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "dump.dmp")
	if err := os.WriteFile(out, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return out
}

// CallsCPUs are the CPUs for which calls.c contains a crash.
var CallsCPUs = []string{"aarch64", "arm", "i386", "mips64", "mipsel", "ppc64le", "riscv64", "s390x", "x86_64"}

// SomeRegisters returns the registers that the tests' instructions were
// written for.
func SomeRegisters(a *arch.Arch) *dump.Context {
	c := dump.NewContext(a)
	values := map[string]uint64{
		"$rax": 0x1000, "$rcx": 3, "$rdx": 0, "$rbx": 9, "$rsp": 0x7000, "$rbp": 0x8000, "$rsi": 0x4000, "$rdi": 0x5000, "$rip": 0x400000,
		"$eax": 0x1000, "$ecx": 3, "$edx": 0, "$ebx": 9, "$esp": 0x7000, "$ebp": 0x8000, "$eip": 0x400000,
		"x0": 0x1000, "x1": 3, "x2": 0, "x3": 0x2000, "x4": 0xffffffff, "x30": 0x5555, "sp": 0x7000, "pc": 0x400000,
	}
	for name, v := range values {
		c.Set(name, v)
	}
	return c
}

// SomeMemory returns 16 bytes at the stack pointer of SomeRegisters.
func SomeMemory() dump.Memory {
	b := make([]byte, 16)
	for i := range b {
		b[i] = byte(0x11 * (1 + i/8))
	}
	return dump.NewMemory(binary.LittleEndian, []dump.Region{{Addr: 0x7000, Data: b}})
}
