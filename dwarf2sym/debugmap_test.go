package dwarf2sym_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
)

// A program without a dSYM has the functions that its objects describe, where the linker put them: the same as in the
// dSYM that dsymutil makes from them. One worker and several give the same result.
func TestDebugMap(t *testing.T) {
	path := testenv.Input(t, "macho-map")
	want := dumpText(t, fixture{name: "macho-map", file: path, debug: path + ".dSYM"}, 1)
	testenv.Golden(t).Assert(t, "macho/macho-map.sym", want)
	for _, jobs := range []int{1, 4} {
		if got := dumpText(t, fixture{name: "macho-map", file: path}, jobs); !bytes.Equal(got, want) {
			t.Errorf("%d workers: from the objects\n%s\nwant, from the dSYM\n%s", jobs, got, want)
		}
	}
}

// mapFolder is a folder with the program macho-map and its objects.
type mapFolder string

func newMapFolder(t *testing.T) mapFolder {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"macho-map", "macho-map-main.o", "macho-map-library.a"} {
		writeFile(t, filepath.Join(dir, name), testenv.ReadInput(t, name))
	}
	return mapFolder(dir)
}

func writeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func (d mapFolder) path(name string) string { return filepath.Join(string(d), name) }

// read reads the program. It returns the names of its functions that have lines, and the problems.
func (d mapFolder) read(t *testing.T, o dwarf2sym.Options) (names, problems string, report *dwarf2sym.Result) {
	t.Helper()
	o.Demangle = true
	report, err := dwarf2sym.Read(t.Context(), symtest.Open(t, d.path("macho-map")), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Module.Funcs {
		if _, lines := f.Body.Counts(); lines > 0 {
			names += f.Name + " "
		}
	}
	for _, p := range report.Problems {
		problems += strings.ReplaceAll(p.String(), string(d)+"/", "") + "\n"
	}
	return names, problems, report
}

const (
	mapMain    = "main local "
	mapLibrary = "library_sum local(int) shared(int) twin_one(int) library_more(int) "
)

// A missing object costs the lines of its functions, and is reported with the places where it was looked for. Without
// any object there is no debug information.
func TestDebugMapMissing(t *testing.T) {
	d := newMapFolder(t)
	if err := os.Rename(d.path("macho-map-main.o"), d.path("away")); err != nil {
		t.Fatal(err)
	}
	names, problems, report := d.read(t, dwarf2sym.Options{})
	const want = "the object macho-map-main.o is not found: looked for macho-map-main.o, "
	if names != mapLibrary || !strings.Contains(problems, want) || report.NoDebugInfo {
		t.Errorf("functions %q, want %q\n%s, want %q", names, mapLibrary, problems, want)
	}
	if others := report.Others; len(others) != 2 || !strings.HasSuffix(others[0], "macho-map-library.a(macho-map-macho_map_sum.o)") {
		t.Errorf("files that were read: %q", others)
	}
	if err := os.Remove(d.path("macho-map-library.a")); err != nil {
		t.Fatal(err)
	}
	names, problems, report = d.read(t, dwarf2sym.Options{})
	if want := "macho-map: 3 of the 3 objects that it was linked from are not there: the object macho-map-main.o is not found: looked for "; !strings.HasPrefix(problems, want) || strings.Count(problems, "\n") != 1 {
		t.Errorf("without objects: %s, want %s alone", problems, want)
	}
	if n := len(report.Module.Funcs); names != "" || n != 7 || !report.NoDebugInfo {
		t.Errorf("without objects: functions with lines %q, %d in all, NoDebugInfo %t; want none, 7, true", names, n, report.NoDebugInfo)
	}
	if report.LostObjects != 3 {
		t.Errorf("without objects: %d objects are lost, want 3", report.LostObjects)
	}
	if f := report.Module.Funcs[3]; f.Name != "local(int)" || f.RVA != 0x36c || f.Size != 0xc {
		t.Errorf("without objects: %+v, want local(int) at 36c, of c bytes", f)
	}
}

// Objects are found in the given folders, by their path there or by their name. A hermetic search looks nowhere else.
func TestDebugMapFolders(t *testing.T) {
	d := newMapFolder(t)
	objects := t.TempDir()
	for _, name := range []string{"macho-map-main.o", "macho-map-library.a"} {
		if err := os.Rename(d.path(name), filepath.Join(objects, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, hermetic := range []bool{false, true} {
		names, problems, _ := d.read(t, dwarf2sym.Options{DwoDirs: []string{objects}, Hermetic: hermetic})
		if names != mapMain+mapLibrary || problems != "" {
			t.Errorf("hermetic %t: functions %q, %s", hermetic, names, problems)
		}
	}
	names, problems, _ := newMapFolder(t).read(t, dwarf2sym.Options{Hermetic: true})
	if want := "macho-map-main.o is not looked for: no folder with objects is named"; names != "" || !strings.Contains(problems, want) {
		t.Errorf("functions %q, %s, want %q", names, problems, want)
	}
}

// The members of a thin archive are files below its folder or, unless the search is hermetic, elsewhere.
func TestDebugMapThin(t *testing.T) {
	d := newMapFolder(t)
	thin := thinArchive(t, d.path("macho-map-library.a"))
	writeFile(t, d.path("macho-map-library.a"), thin)
	for _, hermetic := range []bool{false, true} {
		names, problems, _ := d.read(t, dwarf2sym.Options{DwoDirs: []string{string(d)}, Hermetic: hermetic})
		if names != mapMain+mapLibrary || problems != "" {
			t.Errorf("hermetic %t: functions %q, %s", hermetic, names, problems)
		}
	}
	if err := os.Remove(d.path("macho-map-macho_map_sum.o")); err != nil {
		t.Fatal(err)
	}
	_, problems, _ := d.read(t, dwarf2sym.Options{})
	if want := "the object macho-map-library.a(macho-map-macho_map_sum.o) is not found: looked for "; !strings.Contains(problems, want) {
		t.Errorf("without a member: %s, want %q", problems, want)
	}
}

// thinArchive writes the members of an archive of macOS into its folder, and returns the thin archive of these files.
func thinArchive(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var names, heads strings.Builder
	for at := 8; at < len(data); {
		head := string(data[at:][:60])
		field := func(from, to int) int {
			n, err := strconv.Atoi(strings.TrimSpace(head[from:to]))
			if err != nil {
				t.Fatalf("header %q: %v", head, err)
			}
			return n
		}
		n, size := field(3, 16), field(48, 58) // "#1/20", the name is before the contents
		name, contents := strings.TrimRight(string(data[at+60:][:n]), "\x00"), data[at+60:][n:size]
		if at += 60 + size + size&1; strings.HasPrefix(name, "__.SYMDEF") {
			continue
		}
		writeFile(t, filepath.Join(filepath.Dir(path), name), contents)
		fmt.Fprintf(&heads, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", fmt.Sprintf("/%d", names.Len()), 0, 0, 0, "644", len(contents))
		names.WriteString(name + "/\n")
	}
	if names.Len()%2 != 0 {
		names.WriteString("\n")
	}
	return fmt.Appendf(nil, "!<thin>\n%-48s%-10d`\n%s%s", "//", names.Len(), names.String(), heads.String())
}

// stampObjects sets the times of the objects in the debug map of a file.
func stampObjects(data []byte, stamp time.Time) {
	u32 := func(at int) int { return int(binary.LittleEndian.Uint32(data[at:])) }
	for at, n := 32, u32(16); n > 0; at, n = at+u32(at+4), n-1 {
		if u32(at) != 2 { // LC_SYMTAB
			continue
		}
		for s, k := u32(at+8), u32(at+12); k > 0; s, k = s+16, k-1 {
			if data[s+4] == 0x66 { // N_OSO
				binary.LittleEndian.PutUint64(data[s+8:], uint64(stamp.Unix()))
			}
		}
	}
}

// An object that was changed after the program was linked is reported and not used, unless the options ask for it. If
// the linker wrote no time, the sizes of functions show the change.
func TestDebugMapChanged(t *testing.T) {
	stamp := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	d := newMapFolder(t)
	program := testenv.ReadInput(t, "macho-map")
	stampObjects(program, stamp)
	writeFile(t, d.path("macho-map"), program)
	if err := os.Chtimes(d.path("macho-map-main.o"), stamp, stamp); err != nil {
		t.Fatal(err)
	}
	names, problems, _ := d.read(t, dwarf2sym.Options{}) // the members of the archive have the time 0
	want := "macho-map-library.a(macho-map-macho_map_sum.o): changed at 1970-01-01 00:00:00 UTC, want 2024-05-06 07:08:09 as when it was linked"
	if names != mapMain || !strings.Contains(problems, want) {
		t.Errorf("functions %q, want %q\n%s, want %q", names, mapMain, problems, want)
	}
	if names, problems, _ := d.read(t, dwarf2sym.Options{AnyObjectTime: true}); names != mapMain+mapLibrary || problems != "" {
		t.Errorf("with any time: functions %q, %s", names, problems)
	}

	// If an object lacks a function of the map, whatever its time, its lines are lost, which is reported.
	writeFile(t, d.path("macho-map-main.o"), bytes.ReplaceAll(testenv.ReadInput(t, "macho-map-main.o"), []byte("_local\x00"), []byte("_lokal\x00")))
	names, problems, _ = d.read(t, dwarf2sym.Options{AnyObjectTime: true})
	want = "macho-map-main.o: no symbols of 1 of the 2 functions that were linked (lost: lines of 1 function)"
	if names != "main "+mapLibrary || !strings.Contains(problems, want) {
		t.Errorf("functions %q\n%s, want %q", names, problems, want)
	}

	d = newMapFolder(t)
	writeFile(t, d.path("macho-map-main.o"), testenv.ReadInput(t, "macho-object.o"))
	names, problems, _ = d.read(t, dwarf2sym.Options{})
	want = "macho-map-main.o: another build: it has 0 of the 2 functions that were linked"
	if names != mapLibrary || !strings.Contains(problems, want) {
		t.Errorf("functions %q, want %q\n%s, want %q", names, mapLibrary, problems, want)
	}
}

// mapCases are programs whose objects are read, and for which dsymutil makes a dSYM.
var mapCases = []struct {
	name, compile, link, archive string
}{
	{name: "O0", compile: "-O0 -g"},
	{name: "O2", compile: "-O2 -g", link: "-dead_strip"},
	{name: "DWARF 2", compile: "-O1 -g -gdwarf-2"},
	{name: "DWARF 5", compile: "-O2 -g -gdwarf-5", link: "-dead_strip"},
	{name: "lines", compile: "-O2 -g1"},
	{name: "folded", compile: "-O1 -g", link: "-dead_strip --icf=all"},
	{name: "library", compile: "-O2 -g", link: "-dead_strip -dylib", archive: "--format=darwin"},
	{name: "GNU's archive", compile: "-O1 -g", archive: "--format=gnu"},
	{name: "order", compile: "-O2 -g", link: "-order_file order"},
}

// A program and its objects give the same symbol file as the program and the dSYM that dsymutil makes from them.
func TestOracleDebugMap(t *testing.T) {
	testenv.Oracle(t)
	for _, cpu := range []string{"x86_64", "arm64"} {
		for i, c := range mapCases {
			if !testenv.OracleFull() && i%2 == 0 {
				continue
			}
			t.Run(cpu+"/"+c.name, func(t *testing.T) {
				dir := t.TempDir()
				writeFile(t, filepath.Join(dir, "order"), []byte("__Z6sharedi\n_library_sum\n__Z8twin_twoi\n_main\n"))
				var objects []string
				for _, source := range []string{"macho_map.c", "macho_map_sum.cpp", "macho_map_more.cpp", "macho_names.mm", "macho_frames.c"} {
					stem, _, _ := strings.Cut(source, ".")
					object := stem + ".o"
					args := append(strings.Fields(c.compile), "--target="+cpu+"-apple-macos13", "-w", "-ffreestanding", "-fno-builtin", "-fno-stack-protector",
						"-funwind-tables", "-c", testenv.Input(t, "src", source), "-o", filepath.Join(dir, object))
					if source != "macho_map.c" {
						args = append(args, "-Dmain=begin_"+stem, "-Dinput=input_"+stem)
					}
					run(t, testenv.Tool(t, "clang-22"), args...)
					objects = append(objects, filepath.Join(dir, object))
				}
				if c.archive != "" {
					library := filepath.Join(dir, "library.a")
					run(t, testenv.Tool(t, "llvm-ar-22"), append([]string{c.archive, "rcs", library}, objects[1:]...)...)
					objects = []string{objects[0], library}
				}
				program := filepath.Join(dir, "program")
				link := strings.Fields(strings.ReplaceAll(c.link, " order", " "+filepath.Join(dir, "order")))
				run(t, testenv.Tool(t, "ld64.lld-22"), append(append(link, "-arch", cpu, "-platform_version", "macos", "13", "13", "-undefined", "dynamic_lookup",
					"-o", program), objects...)...)
				run(t, testenv.Tool(t, "dsymutil-22"), "--flat", "-o", program+".debug", program)
				want := dumpText(t, fixture{file: program, debug: program + ".debug"}, 1)
				got := dumpText(t, fixture{file: program}, 2)
				if !bytes.Equal(got, want) {
					t.Errorf("from the objects\n%s\nwant, from the dSYM\n%s", got, want)
				}
				if n := bytes.Count(got, []byte("\nFUNC ")); n < 5 {
					t.Errorf("%d functions", n)
				}
			})
		}
	}
}
