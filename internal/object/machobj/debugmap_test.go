package machobj

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/testenv"
)

// The debug map lists the objects with their functions, without those that the linker dropped or
// folded.
func TestDebugMap(t *testing.T) {
	objects, err := openInput(t, "macho-map", "").DebugMap()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range objects {
		got = append(got, o.String())
		for _, f := range o.Funcs {
			got = append(got, fmt.Sprintf("%s %#x %#x", f.Name, f.Addr, f.Size))
		}
	}
	want := []string{
		"macho-map-main.o", "local 0x1000002f8 0x24", "main 0x1000002e0 0x18",
		"macho-map-library.a(macho-map-macho_map_sum.o)", "_ZL5locali 0x10000036c 0xc", "_Z6sharedi 0x100000378 0x44", "library_sum 0x10000031c 0x50",
		"macho-map-library.a(macho-map-macho_map_more.o)", "_Z12library_morei 0x1000003cc 0x54", "_Z8twin_onei 0x1000003bc 0x10",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for _, name := range []string{"macho-object.o", "macho-arm64", "macho-arm64.dSYM"} {
		if objects, err := openInput(t, name, "").DebugMap(); len(objects) > 0 || err != nil {
			t.Errorf("%s: %d objects, %v; want none", name, len(objects), err)
		}
	}
}

// It also lists variables. The addresses of external ones come from the program's symbols.
func TestDebugMapData(t *testing.T) {
	objects, err := openInput(t, "macho-vars", "").DebugMap()
	if err != nil || len(objects) != 2 {
		t.Fatalf("%d objects, %v", len(objects), err)
	}
	var got []string
	for _, o := range objects {
		for _, d := range o.Data {
			got = append(got, fmt.Sprintf("%s %#x", d.Name, d.Addr))
		}
	}
	want := []string{
		"_ZL4hits 0x100008000", "_ZL4hits 0x1000080d8", "_ZL5names 0x100004018", "_ZN12_GLOBAL__N_13ownE 0x100008058", "_ZTV4Base 0x100004028",
		"_ZZ3useP6Opaque3BoxIlEE4last 0x1000080e0", "_ZZ7countediE4each 0x100008018", "_ZZ7countediE4each$tlv$init 0x100008054", "_ZZ7countediE5calls 0x100008004",
		"_ZZN4Base2goEiE5table 0x100008078", "hidden_global 0x100008010", "shared_global 0x100008008", "tls_global 0x100008030", "tls_global$tlv$init 0x100008050",
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// testMember returns a member of an archive with the given name field and contents.
func testMember(name, contents string) string {
	return fmt.Sprintf("%-16s%-12d%-6d%-6d%-8o%-10d`\n", name, 7, 0, 0, 0o644, len(contents)) + contents + strings.Repeat("\n", len(contents)&1)
}

func openTestArchive(t *testing.T, data string) (*Archive, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lib.a")
	if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
	a, err := OpenArchive(path, object.DefaultLimits())
	if err == nil {
		t.Cleanup(func() { a.Close() })
	}
	return a, err
}

// Members are found by the names in BSD and GNU archives, and are objects.
func TestArchive(t *testing.T) {
	contents := string(testenv.ReadInput(t, "macho-object.o"))
	const long = "a-member-with-a-long-name.o"
	for name, data := range map[string]string{
		"short":       testMember("short.o", contents),
		"GNU":         testMember("/", "symbols") + testMember("short.o/", contents),
		"BSD":         testMember("#1/20", "__.SYMDEF SORTED\x00\x00\x00\x00x") + testMember("#1/28", long+"\x00"+contents),
		"GNU, long":   testMember("//", "other.o/\n"+long+"/\n") + testMember("/9", contents),
		"GNU, 64 bit": testMember("/SYM64/", "symbols") + testMember("short.o/", contents),
	} {
		a, err := openTestArchive(t, archiveMagic+data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		member := "short.o"
		if a.members[member] == nil {
			member = long
		}
		if got := a.Times(member); !slices.Equal(got, []int64{7}) {
			t.Errorf("%s: times of %s: %v, want 7", name, member, got)
			continue
		}
		f, err := a.Open(member, 0)
		if err != nil || f.Kind != object.Relocatable || !strings.HasSuffix(f.Path, "lib.a("+member+")") {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
	own, err := OpenArchive(testenv.Input(t, "macho-map-library.a"), object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	if len(own.Times("macho-map-macho_map_sum.o")) != 1 {
		t.Errorf("members %v", own.members)
	}
}

// Members of a thin archive are files, named by paths relative to its folder.
func TestThinArchive(t *testing.T) {
	head := func(name string) string { return testMember(name, strings.Repeat("x", 100))[:memberHeader] }
	a, err := openTestArchive(t, thinMagic+testMember("/", "symbols")+testMember("//", "sub/one.o/\n")+head("/0")+head("two.o/"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sub/one.o", "two.o"} {
		if path := a.Elsewhere(name); len(a.Times(name)) != 1 || path != filepath.Join(filepath.Dir(a.in.Path), filepath.FromSlash(name)) {
			t.Errorf("%s: %q, members %v", name, path, a.members)
		}
		if _, err := a.Open(name, 0); err == nil || !strings.Contains(err.Error(), "is in a file of its own") {
			t.Errorf("%s: opened in the archive: %v", name, err)
		}
	}
	if a, err = openTestArchive(t, archiveMagic+testMember("one.o", "x")); err != nil || a.Elsewhere("one.o") != "" {
		t.Errorf("a member of an ordinary archive: %q, %v", a.Elsewhere("one.o"), err)
	}
}

// A universal library has an archive for each CPU.
func TestFatArchive(t *testing.T) {
	archive := archiveMagic + testMember("arm.o", string(testenv.ReadInput(t, "macho-object.o")))
	head := []byte(fatMagic)
	for _, field := range []uint32{1, arm64, 0, 0x40, uint32(len(archive)), 3} { // count; cputype, cpusubtype, offset, size, align
		head = binary.BigEndian.AppendUint32(head, field)
	}
	a, err := openTestArchive(t, string(head)+strings.Repeat("\x00", 0x40-len(head))+archive)
	if err != nil {
		t.Fatal(err)
	}
	if f, err := a.Open("arm.o", 0); err != nil || f.CPU != "arm64" {
		t.Errorf("%v, %v", f, err)
	}
}

// Damaged archives are rejected, with the offset of the damage.
func TestArchiveDamage(t *testing.T) {
	for want, data := range map[string]string{
		`not an archive of ar`:                                                            "!<thick>",
		`offset 0x8: no header of a member of at most 3 bytes`:                            archiveMagic + strings.TrimSuffix(testMember("a.o", "1234"), "4"),
		`offset 0x8: 60 bytes wanted, the file has 11`:                                    archiveMagic + "123",
		`offset 0x8: name "#1/99" of a member of 4 bytes: want #1/ and the name's length`: archiveMagic + testMember("#1/99", "1234"),
		`offset 0x8: name "/5": want an offset in the table of 0 bytes of names`:          archiveMagic + testMember("/5", "1234"),
		`members from here on are left out: names of those before are too long`: archiveMagic + testMember("//", strings.Repeat("x", 4096)) +
			strings.Repeat(testMember("/0", ""), 4),
	} {
		if _, err := openTestArchive(t, data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := OpenArchive(filepath.Join(t.TempDir(), "none.a"), object.DefaultLimits()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing archive: %v", err)
	}
}

func FuzzArchive(f *testing.F) {
	f.Add(testenv.ReadInput(f, "macho-map-library.a"))
	f.Add([]byte(thinMagic + testMember("//", "a.o/\nb.o/\n") + testMember("/0", "")))
	f.Add([]byte(archiveMagic + testMember("//", "a.o/\nb.o/\n") + testMember("/0", "x") + testMember("/5", "y") + testMember("#1/2", "c\x00z")))
	path := filepath.Join(f.TempDir(), "lib.a")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		lim := object.DefaultLimits()
		lim.CPU = "arm64"
		a, err := OpenArchive(path, lim)
		if err != nil {
			return
		}
		defer a.Close()
		for name := range a.members {
			for i := range a.Times(name) {
				if f, err := a.Open(name, i); err == nil {
					f.Close()
				}
			}
		}
	})
}
