package machobj

import (
	"bytes"
	"debug/macho"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/testenv"
)

func openWith(t testing.TB, data []byte, path string, lim object.Limits) (*File, error) {
	t.Helper()
	f, err := NewFile(bytes.NewReader(data), int64(len(data)), path, lim)
	if err == nil {
		t.Cleanup(func() { f.Close() })
	}
	return f, err
}

func openInput(t testing.TB, name, cpu string) *File {
	t.Helper()
	lim := object.DefaultLimits()
	lim.CPU = cpu
	f, err := openWith(t, testenv.ReadInput(t, name), testenv.Input(t, name), lim)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// images returns the Mach-O files in the repository and in the shared data.
func images(t testing.TB) (paths []string) {
	own, err := filepath.Glob(filepath.Join(testenv.Input(t), "macho-*"))
	if err != nil || len(own) == 0 {
		t.Fatal(own, err)
	}
	for _, pattern := range []string{"*", "*/*", "*/*/*", "*/*/*/*/*/*"} {
		own = append(own, testenv.SharedGlob(t, "data", "macho", "generated", pattern)...)
		own = append(own, testenv.SharedGlob(t, "data", "macho", "real", pattern)...)
	}
	for _, path := range own {
		if isFile(path) && beginsMachO(path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// Headers, sections and symbols match debug/macho's.
func TestDebugMacho(t *testing.T) {
	compared := 0
	for _, path := range images(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for cpu, want := range readMacho(t, path, data) {
			lim := object.DefaultLimits()
			lim.CPU = cpu
			f, err := openWith(t, data, path, lim)
			if err != nil {
				t.Errorf("%s (%s): %v", path, cpu, err)
				continue
			}
			compared++
			compare(t, path+" "+cpu, f, want)
		}
	}
	if compared < 8 {
		t.Errorf("only %d binaries were compared", compared)
	}
}

// readMacho returns the binaries that debug/macho reads from a file, by the names of their CPUs.
func readMacho(t *testing.T, path string, data []byte) map[string]*macho.File {
	t.Helper()
	all := map[string]*macho.File{}
	if fat, err := macho.NewFatFile(bytes.NewReader(data)); err == nil {
		for _, a := range fat.Arches {
			all[cpuOf(uint32(a.Cpu), uint32(a.SubCpu)).name] = a.File
		}
		return all
	}
	f, err := macho.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Logf("%s: debug/macho: %v", path, err)
		return nil
	}
	all[cpuOf(uint32(f.Cpu), f.SubCpu).name] = f
	return all
}

func compare(t *testing.T, path string, f *File, want *macho.File) {
	t.Helper()
	if f.fileType != uint32(want.Type) || f.flags != want.Flags || len(f.sections) != len(want.Sections) {
		t.Errorf("%s: type %d, flags %#x, %d sections; want %d, %#x, %d", path, f.fileType, f.flags, len(f.sections), want.Type, want.Flags, len(want.Sections))
		return
	}
	for i, s := range want.Sections {
		got := f.sections[i]
		if got.Name != s.Name || got.segment.name != s.Seg && f.fileType != typeObject || got.Addr != s.Addr || got.MemSize != s.Size && (s.Size != 0 || f.fileType != typeDSYM) || got.flags != s.Flags {
			t.Errorf("%s: section %s at %#x, want %s at %#x", path, got.Name, got.Addr, s.Name, s.Addr)
		}
		if !got.HasData() || got.fixer != nil || got.Compression() != "" {
			continue
		}
		mine, err := got.Data()
		theirs, bad := s.Data()
		if err != nil || bad != nil || !bytes.Equal(mine, theirs) {
			t.Errorf("%s: contents of %s: %v, %v", path, s.Name, err, bad)
		}
	}
	var names, wanted []string
	if err := f.Symbols(object.Symtab, func(s *object.Symbol) { names = append(names, fmt.Sprintf("%s %x", s.Name, s.Addr&^1)) }); err != nil {
		t.Errorf("%s: %v", path, err)
	}
	if want.Symtab != nil {
		for _, s := range want.Symtab.Syms {
			if s.Type&stabMask == 0 {
				name := s.Name
				if !strings.Contains(name, ".") { // debug/macho has removed the underscore from these
					name = strings.TrimPrefix(name, "_")
				}
				wanted = append(wanted, fmt.Sprintf("%s %x", name, s.Value&^1))
			}
		}
	}
	if !slices.Equal(names, wanted) {
		t.Errorf("%s: %d symbols, want %d", path, len(names), len(wanted))
	}
}

// The id is the UUID in the order of the file; RVAs are relative to __TEXT.
func TestIdentity(t *testing.T) {
	for _, c := range []struct{ name, cpu, kind, system, arch string }{
		{"macho-x86_64", "", "executable", "mac", "x86_64"},
		{"macho-arm64-nofp", "", "executable", "ios", "arm64"},
		{"macho-names.dSYM", "", "dSYM", "mac", "arm64"},
		{"macho-fat", "x86_64", "executable", "mac", "x86_64"},
		{"macho-fat64", "arm64", "executable", "mac", "arm64"},
		{"macho-object.o", "", "object", "mac", "arm64"},
	} {
		f := openInput(t, c.name, c.cpu)
		o := f.Object()
		if o.Title != c.kind || o.OS != c.system || o.ModuleCPU != c.arch {
			t.Errorf("%s: %s of %s for %s", c.name, o.Title, o.OS, o.ModuleCPU)
		}
		base := uint64(0x100000000)
		if c.kind == "object" {
			base = 0
		} else if id := o.ID(); id != fmt.Sprintf("%X0", f.uuid) || len(id) != 33 {
			t.Errorf("%s: id %s", c.name, id)
		}
		if o.Base != base {
			t.Errorf("%s: base %#x, want %#x", c.name, o.Base, base)
		}
	}
}

// A fat file needs a selection: by CPU or by UUID.
func TestFat(t *testing.T) {
	data := testenv.ReadInput(t, "macho-fat")
	_, err := openWith(t, data, "fat", object.DefaultLimits())
	var several *Several
	if !errors.As(err, &several) || !slices.Equal(several.CPUs, []string{"x86_64", "arm64"}) {
		t.Errorf("no choice: %v", err)
	}
	lim := object.DefaultLimits()
	lim.CPU = "ppc"
	if _, err := openWith(t, data, "fat", lim); !errors.As(err, &several) || err.Error() != "fat: no binary of ppc: a universal file of x86_64, arm64" {
		t.Errorf("no such CPU: %v", err)
	}
	for _, cpu := range []string{"x86_64", "arm64"} {
		for _, name := range []string{"macho-fat64", "macho-fat.dSYM"} {
			want := openInput(t, "macho-fat", cpu)
			lim := object.DefaultLimits()
			lim.ID = want.uuid
			got, err := openWith(t, testenv.ReadInput(t, name), name, lim)
			if err != nil || got.cpu.name != cpu || !bytes.Equal(got.uuid, want.uuid) {
				t.Errorf("%s by UUID %X: %v, %v", name, want.uuid, got, err)
			}
		}
	}
}

// Inconsistent tables of fat files are errors.
func TestFatDamage(t *testing.T) {
	whole := testenv.ReadInput(t, "macho-fat")
	for _, c := range []struct {
		name string
		at   int
		to   string
		want string
	}{
		{"count", 4, "\x00\x00\x00\x2d", "not a Mach-O file: a Java class, or a universal file of 45 binaries"},
		{"none", 4, "\x00\x00\x00\x00", "a universal file of no binaries"},
		{"offset", 16, "\xff\x00\x00\x00", "offset 0x8: the binary of x86_64, 17200 bytes at 0xff000000, does not fit"},
		{"overlap", 36, "\x00\x00\x40\x00", "overlaps that of x86_64"},
		{"header", 16, "\x00\x00\x00\x04", "the binary of x86_64 overlaps the header"},
	} {
		data := bytes.Clone(whole)
		copy(data[c.at:], c.to)
		if _, err := openWith(t, data, "fat", object.DefaultLimits()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	java := "\xca\xfe\xba\xbe\x00\x00\x00\x41" + strings.Repeat("\x00", 32)
	if _, err := openWith(t, []byte(java), "A.class", object.DefaultLimits()); !errors.Is(err, ErrNotMachO) {
		t.Errorf("a Java class: %v", err)
	}
}

// Function starts match the symbols' addresses if linkers write both.
func TestFunctionStarts(t *testing.T) {
	for _, name := range []string{"macho-x86_64", "macho-arm64", "macho-names"} {
		f := openInput(t, name, "")
		starts, err := f.FunctionStarts()
		if err != nil {
			t.Fatal(err)
		}
		var symbols []uint64
		f.Symbols(object.Symtab, func(s *object.Symbol) {
			if s.Kind == object.Function && s.Section.Holds(s.Addr) {
				symbols = append(symbols, s.Addr)
			}
		})
		slices.Sort(symbols)
		if symbols = slices.Compact(symbols); !slices.Equal(starts, symbols) {
			t.Errorf("%s: starts %x, symbols at %x", name, starts, symbols)
		}
	}
}

// The exports in the trie are the global symbols.
func TestExports(t *testing.T) {
	for _, name := range []string{"macho-x86_64", "macho-names"} {
		f := openInput(t, name, "")
		want := map[string]uint64{}
		f.Symbols(object.Symtab, func(s *object.Symbol) {
			if !s.Undefined && s.Bind == object.Global {
				want[string(s.Name)] = s.Addr
			}
		})
		n := 0
		err := f.Symbols(object.Dynamic, func(s *object.Symbol) {
			n++
			if want[string(s.Name)] != s.Addr {
				t.Errorf("%s: %s at %#x, want %#x", name, s.Name, s.Addr, want[string(s.Name)])
			}
		})
		if err != nil || n == 0 || n != len(want) {
			t.Errorf("%s: %d exports, want %d: %v", name, n, len(want), err)
		}
	}
}

// Tries that loop, share nodes or extend past the end are errors, and cost little.
func TestExportsDamage(t *testing.T) {
	for _, c := range []struct{ name, trie, want string }{
		{"loop", "\x00\x01a\x00\x00", "another one leads to"},
		{"shared", "\x00\x02a\x00\x08b\x00\x08\x00\x00", "another one leads to"},
		{"far", "\x00\x01a\x00\x7f", "leads beyond the end"},
		{"long", "\x7f\x01", "a node extends past the end"},
		{"edge", "\x00\x01abc", "an edge has no end"},
		{"offset", "\x00\x01a\x00\xff", "the offset of a node extends past the end"},
		{"address", "\x02\x00\x80\x00", "the address of an export extends past its node"},
		{"number", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "a node extends past the end"},
	} {
		w := trieWalk{data: []byte(c.trie), seen: make([]bool, len(c.trie)), room: 1 << 10}
		if w.walk(); !strings.Contains(w.bad, c.want) {
			t.Errorf("%s: %q, want %q", c.name, w.bad, c.want)
		}
	}
}

// Symbols that are being read stay valid when others release them.
func TestReleaseWhileReading(t *testing.T) {
	f := openInput(t, "macho-x86_64", "")
	for _, table := range []object.Table{object.Symtab, object.Dynamic} {
		var want, got int
		if err := f.Symbols(table, func(*object.Symbol) { want++ }); err != nil {
			t.Fatal(err)
		}
		err := f.Symbols(table, func(*object.Symbol) { got++; f.ReleaseSymbols() })
		if err != nil || got != want || want == 0 {
			t.Errorf("%d symbols of %d, %v", got, want, err)
		}
	}
}

// In dSYMs by old linkers, sections have no sizes: each ends where the next one begins.
func TestNoSizes(t *testing.T) {
	data := testenv.ReadInput(t, "macho-x86_64.dSYM")
	want := openInput(t, "macho-x86_64.dSYM", "").Section(".text")
	at := bytes.Index(data, []byte("__text\x00"))
	copy(data[at+40:], make([]byte, 8))
	f, err := openWith(t, data, "old", object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Section(".text"); got.MemSize < want.MemSize || got.MemSize > want.MemSize+16 || got.HasData() {
		t.Errorf("%d bytes, want %d", got.MemSize, want.MemSize)
	}
}

// Inconsistent load commands cost only what they describe.
func TestLoadCommands(t *testing.T) {
	whole := testenv.ReadInput(t, "macho-x86_64")
	reportDamages(t, whole, []damage{
		{"size 0", 36, "\x00\x00\x00\x00", "load command 0 has a size of 0 bytes"},
		{"size too large", 36, "\xf0\xff\xff\x7f", "load command 0 has a size of 2147483632 bytes"},
		{"count", 16, "\xff\xff\xff\xff", "load commands, want 4294967295"},
		{"size of all", 20, "\xff\xff\xff\xff", "load commands of 4294967295 bytes"},
		{"kind", 104 + 3, "\x01", "offset 0x68: unknown kind (lost: load command 1 (0x1000019))"},
		{"sections", 104 + 64, "\xff\xff\xff\xff", "segment __TEXT has 4294967295 sections"},
	})
}

// damage is a change to a file, and a part of the expected report.
type damage struct {
	name string
	at   int
	to   string
	want string
}

// reportDamages opens the file with each damage.
func reportDamages(t *testing.T, whole []byte, all []damage) {
	t.Helper()
	for _, c := range all {
		data := bytes.Clone(whole)
		copy(data[c.at:], c.to)
		f, err := openWith(t, data, "damaged", object.DefaultLimits())
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if text := fmt.Sprint(f.Problems()); !strings.Contains(text, c.want) {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}

// What load commands state several times must agree. firstSection is the offset of the first section header in
// macho-x86_64, secondSection that of the next.
func TestPlaces(t *testing.T) {
	const text, firstSection, secondSection = 104, 104 + 72, 104 + 72 + 80
	whole := testenv.ReadInput(t, "macho-x86_64")
	reportDamages(t, whole, []damage{
		{"no __TEXT", text + 3, "\x01", "no segment __TEXT (lost: code, and addresses)"},
		{"address of the segment", text + 24, "\x02", "3 of 5 sections are outside of their segments, or over others: the first is __text, 0x3e2 bytes at 0x100000450 (0x450 of the file), of the segment __TEXT, 0x2000 bytes at 0x100000002 (0x2000 bytes at 0x0 of the file)"},
		{"address of a section", secondSection + 32, "\x35", "1 of 5 sections are outside of their segments, or over others: the first is __stubs, 0x6 bytes at 0x100000835"},
		{"size of a section", firstSection + 40, "\xff\xff", "the first is __text, 0xffff bytes"},
		{"over the next section", firstSection + 41, "\x05", "the first is __stubs"},
		{"offset of a section", firstSection + 48, "\x51", "the first is __text, 0x3e2 bytes at 0x100000450 (0x451 of the file)"},
	})
	for _, path := range images(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if f, err := openWith(t, data, path, object.DefaultLimits()); err == nil && len(f.Problems()) > 0 {
			t.Errorf("%s: %v", path, f.Problems())
		}
	}
}

// Function starts and symbols of code that are not in code are reported; the valid ones are kept.
func TestNotCode(t *testing.T) {
	data := testenv.ReadInput(t, "macho-map")
	f, err := openWith(t, data, "map", object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	entry := func(i int) []byte { return data[int(f.symtab.off)+i*f.entrySize():] }
	var function, stab int
	for i := range int(f.symtab.count) {
		switch s := f.symbolAt(data[f.symtab.off:], i); {
		case s.kind&stabMask == 0 && s.kind&typeMask == inSection && s.value != f.base:
			function = i
		case s.kind == stabFunction && s.section != 0 && stab == 0:
			stab = i
		}
	}
	read := func() (n [3]int, starts, symbols, objects error) {
		f, err := openWith(t, data, "map", object.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		all, starts := f.FunctionStarts()
		symbols = f.Symbols(object.Symtab, func(*object.Symbol) { n[1]++ })
		mapped, objects := f.DebugMap()
		n[0], n[2] = len(all), len(mapped)
		return n, starts, symbols, objects
	}
	want, starts, symbols, objects := read()
	if starts != nil || symbols != nil || objects != nil {
		t.Fatal(starts, symbols, objects)
	}
	check := func(name string, err error, text string, n [3]int) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), text) || n != want {
			t.Errorf("%s: %v, want %s; %d, want %d", name, err, text, n, want)
		}
	}
	entry(stab)[8+4] ^= 0x10
	n, _, _, err := read()
	check("debug map", err, "debug map: function at 0x11000", n)
	entry(function)[8+4] ^= 0x10
	n, _, err, _ = read()
	check("symbol", err, "is outside of its section __text", n)
	entry(function)[5] = 0x70
	n, _, err, _ = read()
	check("number", err, "is in section 112 of ", n)
	list := data[f.starts.off:]
	for i := range list[:f.starts.size] {
		if list[i] < 0x80 { // the end of the first number
			list[i] |= 0x40
			break
		}
	}
	n, err, _, _ = read()
	check("starts", err, "function starts: no instruction at 0x10000", n)
	first := bytes.Clone(list[:f.starts.size])
	for i := range first {
		list[i] = 0x80 | first[i]&3
		if first[i] < 0x80 {
			list[i] = 0x12
			break
		}
	}
	_, err, _, _ = read()
	if want := "no instruction at 0x"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a start that is no multiple of 4: %v, want %s", err, want)
	}
	copy(list, first)
	list[2] = 0
	_, err, _, _ = read()
	if want := "bytes behind the end of the list"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("an early end: %v, want %s", err, want)
	}
}

// The contents of a universal file that are not a binary, and those of a kernel cache, are named.
func TestOtherKinds(t *testing.T) {
	fat := testenv.ReadInput(t, "macho-fat")
	at := binary.BigEndian.Uint32(fat[16:])
	copy(fat[at:], archiveMagic)
	lim := object.DefaultLimits()
	lim.CPU = "x86_64"
	if _, err := openWith(t, fat, "fat.a", lim); err == nil || err.Error() != "fat.a: not a Mach-O file: a static library: take its members out (lipo -thin, ar x) and name those" {
		t.Errorf("a universal static library: %v", err)
	}
	cache := testenv.ReadInput(t, "macho-arm64")
	binary.LittleEndian.PutUint32(cache[12:], typeFileSet)
	f, err := openWith(t, cache, "kc", object.DefaultLimits())
	if err != nil || len(f.Problems()) > 0 {
		t.Fatal(err, f.Problems())
	}
	for at := 32; ; at += int(binary.LittleEndian.Uint32(cache[at+4:])) {
		if binary.LittleEndian.Uint32(cache[at:]) == cmdMain {
			binary.LittleEndian.PutUint32(cache[at:], cmdFileSetEntry)
			break
		}
	}
	f, err = openWith(t, cache, "kc", object.DefaultLimits())
	if err != nil || len(f.Problems()) != 1 || f.Problems()[0].Err.Error() != "kc: a kernel cache of 1 files, which are not read" {
		t.Errorf("a kernel cache: %v, %v", err, f.Problems())
	}
}

// Encrypted contents cannot be read, and the error says so.
func TestEncrypted(t *testing.T) {
	data := testenv.ReadInput(t, "macho-x86_64")
	at := bytes.Index(data, []byte("\x1b\x00\x00\x00\x18\x00\x00\x00")) // LC_UUID, of 24 bytes
	copy(data[at:], "\x2c\x00\x00\x00\x18\x00\x00\x00\x00\x00\x00\x00\x00\x10\x00\x00\x01\x00\x00\x00")
	f, err := openWith(t, data, "encrypted", object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Section(".text").Data(); err == nil || !strings.Contains(err.Error(), "__text+0x0: is encrypted") {
		t.Errorf("code: %v", err)
	}
	if !f.Object().HasCode() {
		t.Error("a program without code")
	}
}

// Relocations put the addresses of functions into an object's debug information.
func TestRelocate(t *testing.T) {
	f := openInput(t, "macho-object.o", "")
	s := f.Section(".debug_info")
	whole, err := s.Data()
	if err != nil || len(whole) == 0 {
		t.Fatal(err)
	}
	src, err := s.Open()
	if err != nil {
		t.Fatal(err)
	}
	for n := int64(1); n <= 7; n++ { // the ends of pieces cut numbers
		var joined []byte
		for off := int64(0); off < src.Size(); off += n {
			b, err := src.Bytes(off, min(n, src.Size()-off), nil)
			if err != nil {
				t.Fatal(err)
			}
			joined = append(joined, b...)
		}
		if !bytes.Equal(joined, whole) {
			t.Errorf("in pieces of %d bytes: %x, want %x", n, joined, whole)
		}
	}
}

func FuzzFile(f *testing.F) {
	for _, name := range []string{"macho-x86_64", "macho-fat.dSYM", "macho-object.o", "macho-map"} {
		data := testenv.ReadInput(f, name)
		f.Add(data[:min(len(data), 16<<10)])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		lim := object.DefaultLimits()
		lim.CPU = "x86_64"
		file, err := NewFile(bytes.NewReader(data), int64(len(data)), "fuzz", lim)
		if err != nil {
			return
		}
		defer file.Close()
		file.Object().ExecRanges()
		file.FunctionStarts()
		file.DataInCode()
		for _, table := range []object.Table{object.Symtab, object.Dynamic} {
			file.Symbols(table, func(s *object.Symbol) {
				if names, err := file.SymbolNames(table); err == nil && !bytes.HasPrefix(names[s.NameOff:], s.Name) {
					t.Errorf("name %q is not at %#x", s.Name, s.NameOff)
				}
			})
		}
		for _, s := range file.sections {
			s.Data()
		}
		file.DebugMap()
		file.Problems()
	})
}
