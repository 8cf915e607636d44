package dwarf2sym_test

import (
	"bufio"
	"bytes"
	"debug/elf"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/oracle"
	"github.com/symtool/symtool/internal/testenv"
)

// lineRows returns the address of each row of the line tables, as
// llvm-dwarfdump prints them.
func lineRows(t *testing.T, obj string) []uint64 {
	t.Helper()
	cmd := exec.Command(testenv.Tool(t, "llvm-dwarfdump-22"), "--debug-line", obj)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var rows []uint64
	for in := bufio.NewScanner(out); in.Scan(); {
		field, _, _ := bytes.Cut(in.Bytes(), []byte(" "))
		if hex, ok := bytes.CutPrefix(field, []byte("0x")); ok {
			addr, err := strconv.ParseUint(string(hex), 16, 64)
			if err != nil {
				t.Fatalf("llvm-dwarfdump: %q: %v", in.Text(), err)
			}
			rows = append(rows, addr)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("llvm-dwarfdump %s: %v", obj, err)
	}
	return rows
}

// loadBase returns the page of the first PT_LOAD, from which Breakpad's dump_syms counts.
func loadBase(t *testing.T, path string) uint64 {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			return p.Vaddr &^ 0xfff
		}
	}
	t.Fatalf("%s: nothing is loaded", path)
	return 0
}

func machineOf(t *testing.T, path string) elf.Machine {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return f.Machine
}

// codeOf returns the executable sections of obj as [start, end).
func codeOf(t *testing.T, obj string) (code [][2]uint64) {
	t.Helper()
	f, err := elf.Open(obj)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_ALLOC != 0 && s.Flags&elf.SHF_EXECINSTR != 0 {
			code = append(code, [2]uint64{s.Addr, s.Addr + s.Size})
		}
	}
	return code
}

// withoutSymbols returns a copy of obj whose symbol tables are sections of another type. llvm-symbolizer lets symbols
// override the names of functions in the debug information, and has no option to prevent that.
func withoutSymbols(t *testing.T, obj string) string {
	t.Helper()
	data, err := os.ReadFile(obj)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	// e_shoff and e_shentsize; sh_type follows sh_name in both classes.
	table, size := uint64(f.ByteOrder.Uint32(data[0x20:])), f.ByteOrder.Uint16(data[0x2e:])
	if f.Class == elf.ELFCLASS64 {
		table, size = f.ByteOrder.Uint64(data[0x28:]), f.ByteOrder.Uint16(data[0x3a:])
	}
	for i, s := range f.Sections {
		if s.Type == elf.SHT_SYMTAB || s.Type == elf.SHT_DYNSYM {
			f.ByteOrder.PutUint32(data[table+uint64(i)*uint64(size)+4:], uint32(elf.SHT_PROGBITS))
		}
	}
	out := filepath.Join(t.TempDir(), "no-symbols")
	for _, path := range packagesOf(obj) {
		if data, err := os.ReadFile(path); err == nil {
			if err := os.WriteFile(out+".dwp", data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(out, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return out
}

// packagesOf lists the paths that llvm-symbolizer would use as the package of the .dwo files
// of obj, or of the binary whose debug file obj is.
func packagesOf(obj string) []string {
	return []string{strings.TrimSuffix(obj, ".debug") + ".elf.dwp", obj + ".dwp"}
}

func run(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	return runStatus(t, 0, name, args...)
}

// runStatus is like run, for a program that must exit with the given status.
func runStatus(t *testing.T, status int, name string, args ...string) []byte {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if cmd.ProcessState.ExitCode() != status {
		t.Fatalf("%s: %v, want status %d\n%s", strings.Join(append([]string{filepath.Base(name)}, args...), " "), err, status, stderr.Bytes())
	}
	return out
}

// llvmFrames returns llvm-symbolizer's frames at each of addrs. Names are linkage names or, if there is none, plain
// names, all as they are in the file.
func llvmFrames(t *testing.T, obj string, addrs []uint64) [][]frame {
	t.Helper()
	out := make([][]frame, len(addrs))
	for i, frames := range oracle.LLVM(t, obj, addrs, oracle.Linkage...) {
		for _, f := range frames {
			out[i] = append(out[i], frame{f.Function, f.File, f.Line})
		}
	}
	return out
}

// demangled returns the names of all frames as other tools read them.
func demangled(t *testing.T, all [][]frame) map[string]*mangled {
	t.Helper()
	seen := map[string]bool{}
	for _, frames := range all {
		for _, f := range frames {
			seen[f.name] = true
		}
	}
	return readNames(t, slices.Collect(maps.Keys(seen)))
}

// filter sets the values of names to c++filt's output for the keys.
func filter(t *testing.T, names map[string]string) {
	t.Helper()
	var mangled []string
	for name := range names {
		if strings.HasPrefix(name, "_Z") || strings.HasPrefix(name, "_R") || strings.HasPrefix(name, "_GLOBAL_") {
			mangled = append(mangled, name)
		}
	}
	slices.Sort(mangled)
	lines := pipe(t, "c++filt", mangled)
	for i, name := range mangled {
		names[name] = lines[i]
		if strings.HasPrefix(name, "_R") || rustHash.MatchString(lines[i]) {
			names[name] = withoutHashes(lines[i])
		}
	}
}

// Parts of Rust's names that c++filt prints and symtool does not: the hash of the function or of the crate, and the
// types of constants.
var (
	rustHash      = regexp.MustCompile(`::h[0-9a-f]{16}$`)
	rustCrate     = regexp.MustCompile(`\[[0-9a-f]{6,16}\]`)
	rustConstType = regexp.MustCompile(`: ([iu](8|16|32|64|128|size)|bool|char)\b`)
)

func withoutHashes(name string) string {
	name = rustHash.ReplaceAllString(name, "")
	return rustConstType.ReplaceAllString(rustCrate.ReplaceAllString(name, ""), "")
}

// elfNames returns the symbols of a file by address, as other tools read them.
func elfNames(t *testing.T, path string) map[uint64][]*mangled {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []elf.Symbol
	for _, read := range []func() ([]elf.Symbol, error){f.Symbols, f.DynamicSymbols} {
		syms, err := read()
		if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
			t.Fatal(err)
		}
		all = append(all, syms...)
	}
	raw := make([]string, len(all))
	for i, s := range all {
		raw[i] = s.Name
	}
	names := readNames(t, raw)
	opd := f.Section(".opd") // function descriptors: 64-bit PowerPC, ELFv1
	out := map[uint64][]*mangled{}
	for _, s := range all {
		if s.Section == elf.SHN_UNDEF {
			continue
		}
		addr := s.Value
		if f.Machine == elf.EM_ARM && elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			addr &^= 1 // Thumb
		}
		if in := int(s.Section); opd != nil && in < len(f.Sections) && f.Sections[in].Name == ".opd" {
			var at [8]byte
			if _, err := opd.ReadAt(at[:], int64(addr-opd.Addr)); err != nil {
				t.Fatalf("%s: descriptor of %s: %v", path, s.Name, err)
			}
			addr = f.ByteOrder.Uint64(at[:])
		}
		out[addr] = append(out[addr], names[s.Name])
	}
	return out
}
