package dwarf2sym

import (
	elfobj "github.com/symtool/symtool/internal/object/elfobj"

	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/codemap"
	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/funcs"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
)

// copyFixture copies a fixture and the files beside it into a folder. It returns the path
// of its split unit.
func copyFixture(t testing.TB, dir, name, other string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(testenv.Input(t), name+".elf*"))
	if err != nil || len(files) < 2 {
		t.Fatalf("%s: %d files: %v", name, len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, name+".elf"+other)
}

// Whatever is wrong with a package or a .dwo file, the other units are read and the loss
// is reported, without a panic or a unit without functions.
func TestSplitHostile(t *testing.T) {
	for _, c := range []struct{ name, other string }{
		{"split-dwp-clang4", ".dwp"}, {"split-dwp-clang5", ".dwp"}, {"split-dwp-gcc4", ".dwp"},
		{"split-types-dwp-clang4", ".dwp"}, {"split-types-dwp-clang5", ".dwp"},
		{"split-gcc4", "-nest.dwo"}, {"split-gcc5", "-nest.dwo"}, {"split-clang5", "-nest.dwo"}, {"split-types-gcc5", "-scopes.dwo"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := copyFixture(t, dir, c.name, c.other)
			good, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			main, err := objfile.Open(filepath.Join(dir, c.name+".elf"), object.DefaultLimits())
			if err != nil {
				t.Fatal(err)
			}
			defer main.Close()
			read := func(data []byte) (funcs, split, problems int) {
				t.Helper()
				if err := os.WriteFile(path, data, 0o644); err != nil {
					t.Fatal(err)
				}
				report, err := Read(context.Background(), main, Options{Jobs: 1, NoCFI: true})
				if err != nil {
					t.Fatal(err)
				}
				m := report.Module
				for _, p := range report.Problems {
					if strings.Contains(p.Err.Error(), "internal error") {
						t.Fatalf("%v", p)
					}
				}
				return len(m.Funcs), report.Stats.SplitUnits, len(report.Problems)
			}
			_, split, problems := read(good)
			if split == 0 || problems > 0 {
				t.Fatalf("%d split units, %d problems", split, problems)
			}
			alone, _, _ := read(nil) // from symbols, which some fixtures lack
			lost := 0
			check := func(what string, data []byte) {
				t.Helper()
				f, s, p := read(data)
				lost += oneIf(s < split)
				if s < split && p == 0 {
					t.Errorf("%s: %d of %d split units, and no problem", what, s, split)
				}
				if f == 0 && alone > 0 {
					t.Errorf("%s: no functions", what)
				}
			}
			for n := 0; n < len(good); n += max(1, len(good)/20) {
				check(fmt.Sprintf("%d of %d bytes", n, len(good)), good[:n])
			}
			for at := 0; at < len(good); at += 19 {
				for _, with := range []byte{0xff, good[at] ^ 1} {
					bad := append([]byte(nil), good...)
					bad[at] = with
					check(fmt.Sprintf("byte %#x is %#x", at, with), bad)
				}
			}
			if lost < 20 {
				t.Errorf("only %d of the changes cost a unit", lost)
			}
		})
	}
}

// Damage to a type unit, or to the index of type units, costs names of scopes, and is
// reported; the functions are kept.
func TestPackedTypesDamage(t *testing.T) {
	for _, c := range []struct {
		name, section string
		at            uint64 // offset in the section
		with          byte
		want          string
	}{
		{"version", dwarf.TUIndex, 0, 9, "p.elf.dwp: .debug_tu_index+0x0: index version 9, want 2 or 5 (lost: names of types)"},
		// The header is followed by 2 slots of 12 bytes and 5 columns: offsets and
		// sizes.
		{"offset", dwarf.TUIndex, 16 + 24 + 20 + 1, 0x70, "p.elf.dwp: .debug_tu_index+0x0: 117 bytes at 0x7000 do not fit into the 1949 bytes of .debug_info.dwo (lost: names in the type 0x1ce94d143e96d5a1)"},
		{"size of abbreviations", dwarf.TUIndex, 16 + 24 + 20 + 20 + 5, 0x70, "p.elf.dwp: .debug_tu_index+0x0: 28731 bytes at 0x0 do not fit into the 827 bytes of .debug_abbrev.dwo (lost: names in the type 0x1ce94d143e96d5a1)"},
		{"signature", ".debug_info.dwo", 12, 0xa2, "p.elf.dwp: .debug_info.dwo+0x0: no type unit has the signature 0x1ce94d143e96d5a1, as .debug_tu_index says (lost: names in the type 0x1ce94d143e96d5a1)"},
		{"version of the unit", ".debug_info.dwo", 4, 7, "p.elf.dwp: .debug_info.dwo+0x0: DWARF version 7, want 2 to 5 (lost: names in the type 0x1ce94d143e96d5a1)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			binary, pack := filepath.Join(dir, "p.elf"), filepath.Join(dir, "p.elf.dwp")
			from := copyFixture(t, dir, "split-types-dwp-clang5", "")
			os.Rename(from, binary)
			os.Rename(from+".dwp", pack)
			want, problems := readSplit(t, binary)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			patch(t, pack, c.section, c.at, c.with)
			got, problems := readSplit(t, binary)
			if len(problems) != 1 || strings.ReplaceAll(problems[0].String(), dir+"/", "") != c.want {
				t.Errorf("problems %v, want %s", problems, c.want)
			}
			other := 0
			for i := range want {
				other += oneIf(i >= len(got) || want[i] != got[i])
			}
			if len(got) != len(want) || other != 2 {
				t.Errorf("%d functions, want %d; %d others, want 2", len(got), len(want), other)
			}
		})
	}
}

// readSplit returns the names of a binary's functions.
func readSplit(t *testing.T, path string) (names []string, problems []bin.Problem) {
	t.Helper()
	f, err := objfile.Open(path, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	report, err := Read(context.Background(), f, Options{NoCFI: true})
	if err != nil {
		t.Fatal(err)
	}
	m := report.Module
	for i := range m.Funcs {
		names = append(names, m.Funcs[i].Name)
	}
	return names, report.Problems
}

// patch changes a byte of a section.
func patch(t *testing.T, path, section string, at uint64, with byte) {
	t.Helper()
	f, err := objfile.Open(path, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[elfobj.Of(f).Header(section).Offset+at] = with
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// If several skeletons name the same unit, it is read once for each. That counts as work,
// and exceeds the limit if there are very many.
func TestSplitEffort(t *testing.T) {
	dir := t.TempDir()
	copyFixture(t, dir, "split-clang5", "-nest.dwo")
	f, err := objfile.Open(filepath.Join(dir, "split-clang5.elf"), object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := &reader{opts: &Options{Jobs: 1}, file: f, jobs: 1, code: codemap.Of(f), files: filesOf(f)}
	d := r.openDebugData()
	d.ReadUnitHeaders()
	d.Allow(0)
	before := d.Effort.Limit
	s := r.findSplit(d)
	if len(s.Jobs) != 3 || d.Effort.Limit <= before {
		t.Fatalf("%d jobs, limit %d, before %d", len(s.Jobs), d.Effort.Limit, before)
	}
	w := funcs.New(d, r.code, r.opts.funcs())
	w.Split = s
	job := s.Jobs[0]
	w.ReadSplit(&job)
	once := d.Effort.Spent.Load()
	if w.Exhausted || once == 0 {
		t.Fatalf("exhausted %v after %d of %d", w.Exhausted, once, d.Effort.Limit)
	}
	times := 0
	for ; !w.Exhausted && times < 10_000; times++ {
		w.ReadSplit(&job)
	}
	if !w.Exhausted {
		t.Errorf("read %d times, %d of %d", times, d.Effort.Spent.Load(), d.Effort.Limit)
	}
	t.Logf("once %d, %d times until %d", once, times, d.Effort.Limit)
}
