package dwarf2sym

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/codemap"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

func TestModuleName(t *testing.T) {
	for path, want := range map[string]string{
		"libc.so.6": "libc.so.6", "/usr/lib/debug/libc.so.6.debug": "libc.so.6", "a b": "a b", "x/.debug": "", "/x.debug/y": "y",
	} {
		if got := moduleName(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// A library's module has the name in DT_SONAME, which is not in its debug file. There,
// and if a debug file is named by its build-id, the name is a guess.
func TestModuleSOName(t *testing.T) {
	const library, debug = "soname.elf", "soname.debug"
	byID := filepath.Join(t.TempDir(), "5832c8b9c99947a34f6c0b0bc004317b8c8316.debug")
	data, err := os.ReadFile(testenv.Input(t, debug))
	if err == nil {
		err = os.WriteFile(byID, data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file, debug string
		o           Options
		name, other string
		guessed     bool
	}{
		{testenv.Input(t, library), "", Options{}, "libnest.so.1", "soname.elf", false},
		{testenv.Input(t, library), testenv.Input(t, debug), Options{}, "libnest.so.1", "soname.elf", false},
		{testenv.Input(t, library), "", Options{Name: "x"}, "x", "", false},
		{testenv.Input(t, library), "", Options{FileName: "x"}, "libnest.so.1", "x", false},
		{testenv.Input(t, library), "", Options{FileName: "libnest.so.1"}, "libnest.so.1", "", false},
		{testenv.Input(t, debug), "", Options{}, "soname", "", true},
		{testenv.Input(t, debug), "", Options{Name: "x"}, "x", "", false},
		{byID, "", Options{}, "5832c8b9c99947a34f6c0b0bc004317b8c8316", "", true},
		{testenv.Input(t, "gcc-dwarf5.elf"), "", Options{}, "gcc-dwarf5.elf", "", false},
		{testenv.Input(t, "moved-exec.debug"), "", Options{}, "moved-exec", "", false},
	} {
		if c.debug != "" {
			c.o.Debug = symtest.Open(t, c.debug)
		}
		rep, err := Read(context.Background(), symtest.Open(t, c.file), c.o)
		if err != nil {
			t.Fatal(err)
		}
		m := rep.Module
		if m.Name != c.name || rep.FileName != c.other || rep.NameGuessed != c.guessed {
			t.Errorf("%s %s %+v: %q, file %q, guessed %v", c.file, c.debug, c.o, m.Name, rep.FileName, rep.NameGuessed)
		}
	}
}

// readFixture reads a small binary.
func readFixture(t *testing.T, name string, o Options) (*symfmt.Module, *Result) {
	t.Helper()
	rep, err := Read(context.Background(), symtest.Open(t, testenv.Input(t, name)), o)
	if err != nil {
		t.Fatal(err)
	}
	m := rep.Module
	return m, rep
}

// The ids match readelf -n; those of files without a build-id are hashes of the
// code.
func TestIdentify(t *testing.T) {
	for _, c := range []struct {
		file string
		o    Options
		head string
	}{
		{"gcc-dwarf5.elf", Options{}, "MODULE Linux x86_64 * gcc-dwarf5.elf\nINFO CODE_ID *\n"},
		{"cpu-s390x.elf", Options{Generator: "tool 1"}, "MODULE Linux s390x * cpu-s390x.elf\nINFO CODE_ID *\nINFO GENERATOR tool 1\n"},
		{"no-build-id.elf", Options{}, "MODULE Linux x86_64 * no-build-id.elf\n"},
		{"gcc-dwarf5.elf", Options{Name: "other name", ID: "ABC0", OS: "solaris"}, "MODULE solaris x86_64 ABC0 other name\nINFO CODE_ID *\n"},
		{"cpu-thumb.elf", Options{}, "MODULE Linux arm * cpu-thumb.elf\nINFO CODE_ID *\n"},
	} {
		c.o.NoCFI = true
		f := symtest.Open(t, testenv.Input(t, c.file))
		m, _ := readFixture(t, c.file, c.o)
		m.Funcs, m.Publics, m.Files, m.Origins = nil, nil, nil, nil
		var b bytes.Buffer
		if err := symfmt.Write(&b, m, symfmt.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		id := f.BuildID()
		code := strings.ToUpper(hexOf(id))
		if id == nil {
			id = f.ContentID()
		}
		want := strings.Replace(c.head, "*", object.ModuleID(id, f.Order), 1)
		if want = strings.Replace(want, "*", code, 1); c.o.ID != "" {
			want = strings.Replace(c.head, "*", code, 1)
		}
		if b.String() != want {
			t.Errorf("%s: got\n%swant\n%s", c.file, b.String(), want)
		}
	}
}

func hexOf(b []byte) string {
	const digits = "0123456789abcdef"
	var s strings.Builder
	for _, c := range b {
		s.WriteByte(digits[c>>4])
		s.WriteByte(digits[c&15])
	}
	return s.String()
}

func TestReadOptions(t *testing.T) {
	all, rep := readFixture(t, "gcc-dwarf5.elf", Options{})
	if len(all.Funcs) == 0 || len(all.CFI.Blocks) == 0 || len(all.Origins) == 0 || len(all.Files) == 0 || rep.NoDebugInfo {
		t.Fatalf("%+v", rep)
	}
	if m, _ := readFixture(t, "gcc-dwarf5.elf", Options{NoInlines: true}); len(m.Origins) != 0 || len(m.Funcs) != len(all.Funcs) {
		t.Errorf("NoInlines: %d origins, %d functions", len(m.Origins), len(m.Funcs))
	}
	if m, _ := readFixture(t, "gcc-dwarf5.elf", Options{NoCFI: true}); len(m.CFI.Blocks) != 0 || len(m.Funcs) != len(all.Funcs) {
		t.Errorf("NoCFI: %d blocks", len(m.CFI.Blocks))
	}
	m, _ := readFixture(t, "gcc-dwarf5.elf", Options{CFIOnly: true})
	if len(m.Funcs)+len(m.Publics)+len(m.Files)+len(m.Origins) != 0 || len(m.CFI.Blocks) != len(all.CFI.Blocks) {
		t.Errorf("CFIOnly: %d functions, %d publics, %d blocks", len(m.Funcs), len(m.Publics), len(m.CFI.Blocks))
	}
	m, rep = readFixture(t, "nodebug.elf", Options{})
	if !rep.NoDebugInfo || len(m.Funcs) != 0 || len(m.Publics) == 0 || len(m.CFI.Blocks) == 0 {
		t.Errorf("nodebug: %+v, %d functions, %d publics", rep, len(m.Funcs), len(m.Publics))
	}
}

func TestProgress(t *testing.T) {
	var mu sync.Mutex
	var most, total int64
	f := symtest.Open(t, testenv.Input(t, "lto-gcc.elf"))
	_, err := Read(context.Background(), f, Options{Progress: func(done, of int64) {
		mu.Lock()
		defer mu.Unlock()
		most, total = max(most, done), of
	}})
	if err != nil || most != total || total != f.Section(".debug_info").Size() {
		t.Errorf("%v: %d of %d", err, most, total)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Read(ctx, symtest.Open(t, testenv.Input(t, "gcc-dwarf5.elf")), Options{})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// The binary and its debug file together give the same symbols as the whole file.
func TestSeparateDebugFile(t *testing.T) {
	bin, debug := symtest.Open(t, testenv.Input(t, "pair.elf")), symtest.Open(t, testenv.Input(t, "pair.debug"))
	if alone, err := Read(context.Background(), bin, Options{}); err != nil || len(alone.Module.Funcs) != 0 || !alone.NoDebugInfo {
		t.Errorf("alone: %v, %+v", err, alone)
	}
	rep, err := Read(context.Background(), bin, Options{Debug: debug, Demangle: true})
	if err != nil || len(rep.Problems) > 0 || rep.NoDebugInfo {
		t.Fatal(err, rep)
	}
	m := rep.Module
	if len(m.Funcs) < 10 || len(m.CFI.Blocks) < 10 || m.Name != "pair.elf" {
		t.Errorf("%d functions, %d blocks, %s", len(m.Funcs), len(m.CFI.Blocks), m.Name)
	}
	if err := checkModule(m); err != nil {
		t.Error(err)
	}
}

// panicSource is a section that makes the reader panic from an offset on.
type panicSource struct {
	object.Source
	from int64
}

func (s panicSource) Bytes(off, n int64, buf []byte) ([]byte, error) {
	if off >= s.from {
		panic("injected")
	}
	return s.Source.Bytes(off, n, buf)
}

// A panic in a unit costs that unit, and is reported.
func TestPanicCostsTheUnit(t *testing.T) {
	c := coreOf(t, `
	.debug_info
		unit 4
			compile_unit language/data1=2 stmt_list/sec_offset=0
				subprogram name/string="f" low_pc/addr=0x1000 high_pc/data1=16
		unit 4
			compile_unit language/data1=2 stmt_list/sec_offset=300000
				subprogram name/string="lost" low_pc/addr=0x2000 high_pc/data1=16
					inlined_subroutine low_pc/addr=0x2000 high_pc/data1=16
		unit 4
			compile_unit language/data1=2 stmt_list/sec_offset=0
				subprogram name/string="g" low_pc/addr=0x3000 high_pc/data1=16
	.debug_line
		program 4
			file "x.c" 0
			set_address 0x1000
			copy
			advance_pc 16
			end_sequence`)
	c.sections[".debug_line"] = append(c.sections[".debug_line"], make([]byte, 300000)...)
	for _, batch := range []uint64{0, 1} {
		for _, jobs := range []int{1, 2} {
			r := &reader{opts: &Options{}, jobs: jobs, code: &codemap.Map{Exec: c.code}, file: &object.File{Path: "test"}}
			d := c.debugData(false)
			d.Batch = batch
			d.Line = panicSource{d.Line, 300000}
			if err := r.readUnits(context.Background(), d); err != nil {
				t.Fatal(err)
			}
			if err := r.join(context.Background()); err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, f := range r.module.Funcs {
				names = append(names, f.Name)
			}
			if got := strings.Join(names, " "); got != "f g" {
				t.Errorf("functions %q", got)
			}
			problems := r.sortedProblems()
			if len(problems) != 1 || problems[0].String() != "test: .debug_info+0x1e: internal error: injected (lost: unit at 0x1e)" {
				t.Errorf("%v", problems)
			}
		}
	}
}

// failSource is a section that cannot be read from an offset on.
type failSource struct {
	object.Source
	from int64
}

func (s failSource) Bytes(off, n int64, buf []byte) ([]byte, error) {
	if off+n > s.from {
		return nil, &bin.Error{File: "test", Section: "section", Offset: uint64(off), Msg: "disk error"}
	}
	return s.Source.Bytes(off, n, buf)
}

// An unreadable part costs only itself, and is reported.
func TestReadErrors(t *testing.T) {
	c := coreOf(t, `
	.debug_info
		unit 4
			compile_unit language/data1=2 stmt_list/sec_offset=0
				subprogram name/string="f" low_pc/addr=0x1000 high_pc/data1=16
		unit 4
			compile_unit language/data1=2 stmt_list/sec_offset=0
				subprogram specification/ref_addr=&far low_pc/addr=0x2000 high_pc/data1=16
		unit 4
			compile_unit language/data1=2 stmt_list/sec_offset=0
				far: subprogram name/string="g" low_pc/addr=0x3000 high_pc/data1=16
	.debug_line
		program 4
			file "x.c" 0
			set_address 0x1000
			copy
			advance_pc 16
			end_sequence`)
	size := int64(len(c.sections[".debug_info"]))
	for _, x := range []struct {
		name       string
		info, line int64 // offsets where reading fails
		want       string
	}{
		{"headers", 0x2a, size, "! test: section+0x1e: disk error (lost: units from 0x1e on)\nf 10"},
		{"third unit", size - 2, 1000, "! test: .debug_info+0x2f: reference to 0x4f, where no DIE of a function can be read (lost: name of the function at 0x2f)\n! test: section+0x3e: disk error (lost: units from 0x3e on)\nf 10 <name omitted> 0"},
		{"lines", size, 10, "! test: section+0x0: disk error (lost: lines of unit at 0x0)\n! test: section+0x0: disk error (lost: lines of unit at 0x1e)\n! test: section+0x0: disk error (lost: lines of unit at 0x3e)\nf 0 g 0 g 0"},
	} {
		t.Run(x.name, func(t *testing.T) {
			r := &reader{opts: &Options{}, jobs: 2, code: &codemap.Map{Exec: c.code}, file: &object.File{Path: "test"}}
			d := c.debugData(true)
			d.Batch = 1
			d.Info, d.Line = failSource{d.Info, x.info}, failSource{d.Line, x.line}
			if err := r.readUnits(context.Background(), d); err != nil {
				t.Fatal(err)
			}
			if err := r.join(context.Background()); err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, p := range r.sortedProblems() {
				got.WriteString("! " + p.String() + "\n")
			}
			for i := range r.module.Funcs {
				f := &r.module.Funcs[i]
				covered := uint64(0)
				for l := range f.Lines() {
					covered += l.Size
				}
				fmt.Fprintf(&got, "%s %x ", f.Name, covered)
			}
			if strings.TrimSpace(got.String()) != x.want {
				t.Errorf("got:\n%s\nwant:\n%s", got.String(), x.want)
			}
		})
	}
}
