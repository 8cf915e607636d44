package supplier

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/debugset"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/resolve/internal/resolvetest"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/cfi"
)

func newBinaries(t testing.TB, roots ...string) *Binaries {
	t.Helper()
	s, err := NewBinaries(roots, BinaryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// wholeText returns the symbol file of a module in its only binary.
func wholeText(t testing.TB, b *Binaries, m resolve.Module) string {
	t.Helper()
	s := search{m: m}
	f, err := b.find(t.Context(), &s)
	if err != nil {
		t.Fatal(err)
	}
	set := &debugset.Set{Binary: f}
	options, err := b.complete(t.Context(), &s, set)
	defer closeAll(set)
	if err != nil {
		t.Fatal(err)
	}
	read, err := dwarf2sym.Read(t.Context(), f, options)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := symfmt.Write(&text, read.Module, symfmt.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// The symbols equal the golden files of dump, which have the losses as comments at the
// end.
func TestBinaryIsAsDumped(t *testing.T) {
	goldens, err := filepath.Glob(filepath.Join(testenv.Root(t), "golden", "dwarf2sym", "*.sym"))
	if err != nil {
		t.Fatal(err)
	}
	same := 0
	for _, golden := range goldens {
		stem := strings.TrimSuffix(filepath.Base(golden), ".sym")
		binary := filepath.Join(testenv.Root(t), "golden", "input", stem+".elf")
		if _, err := os.Stat(binary); err != nil {
			continue // not made from a binary
		}
		name, id, err := FileModule(golden)
		if err != nil {
			t.Fatal(err)
		}
		if name != stem+".elf" {
			continue // dumped with other options
		}
		roots := []string{binary}
		if debug := strings.TrimSuffix(binary, ".elf") + ".debug"; regular(debug) == nil {
			roots = append(roots, debug)
		}
		if !hasID(id) {
			continue // neither a build-id nor code: nothing identifies it
		}
		b, m := newBinaries(t, roots...), resolve.Module{Name: name, DebugID: id}
		r, tried, err := b.Symbols(context.Background(), m)
		if r == nil || err != nil {
			t.Errorf("%s: %v, %q, %v", stem, r, tried, err)
			continue
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		got := wholeText(t, b, m)
		askAll(t, r, got)
		for _, p := range r.Damage() {
			got += "# " + strings.ReplaceAll(p.String(), filepath.Dir(binary)+"/", "") + "\n"
		}
		if got != string(want) {
			t.Errorf("%s: %d bytes of text and problems, want %d", stem, len(got), len(want))
			continue
		}
		same++
	}
	t.Logf("%d of %d", same, len(goldens))
	if same < 150 {
		t.Errorf("only %d files are as dumped", same)
	}
}

// askAll looks up the address of each record in a symbol file, as damage is found when a record is
// read.
func askAll(t *testing.T, r resolve.Symbols, file string) {
	t.Helper()
	r.Last(t.Context()) // code that no unit declares
	for _, ask := range []struct {
		record string
		ask    func(rva symfmt.RVA) error
	}{
		{"FUNC ", func(rva symfmt.RVA) error {
			_, err := resolve.Find(t.Context(), r, rva, new(resolve.Location))
			return err
		}},
		{"STACK CFI ", func(rva symfmt.RVA) error { _, err := r.Rules(t.Context(), rva, cfi.NewNames(nil)); return err }},
	} {
		for line := range strings.Lines(file) {
			words, ok := strings.CutPrefix(line, ask.record)
			if !ok {
				continue
			}
			rva, err := strconv.ParseUint(strings.Fields(strings.TrimLeft(words, "mINT "))[0], 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			if err := ask.ask(symfmt.RVA(rva)); err != nil {
				t.Error(err)
			}
		}
	}
}

// The places of binaries and their debug files.
func TestBinaryPlaces(t *testing.T) {
	elf, debug := testenv.Input(t, "pair.elf"), testenv.Input(t, "pair.debug")
	m := resolvetest.ModuleOf(t, elf)
	byID := resolve.Module{DebugID: strings.ToLower(m.DebugID)}
	byBuildID := resolve.Module{BuildID: m.BuildID}
	id := strings.ToLower(toHex(m.BuildID))
	for name, c := range map[string]struct {
		elf, debug string // below the folder
		m          resolve.Module
		functions  bool
		tried      string
	}{
		"by id":            {"a/b/c", "", byID, false, ".debug/pair.debug: no such file"},
		"by build-id":      {"a/b/c", "", byBuildID, false, ".debug/pair.debug: no such file"},
		"by both":          {"c", "", m, false, "pair.debug: no such file"},
		"beside it":        {"a/prog", "a/prog.debug", byID, true, ""},
		"linked":           {"a/prog", "a/pair.debug", byID, true, ""},
		"in .debug":        {"a/prog", "a/.debug/pair.debug", byID, true, ""},
		"in .build-id":     {"a/prog", ".build-id/" + id[:2] + "/" + id[2:] + ".debug", byID, true, ""},
		"anywhere":         {"a/prog", "z/other", byID, true, ""},
		"debug file first": {"z/prog", "a/other", byID, true, ""},
		"by path":          {"usr/bin/prog", "z/other", resolve.Module{Path: "/usr/bin/prog", BuildID: m.BuildID}, true, ""},
		"path is no way":   {"prog", "", resolve.Module{Path: "/../../../prog", BuildID: m.BuildID}, false, "pair.debug: no such file"},
		"another's path":   {"a/prog", "", resolve.Module{Path: "/etc", BuildID: m.BuildID}, false, "pair.debug: no such file"},
		"debug file alone": {"", "z/other", byID, true, ""},
		"none":             {"", "", byID, false, "no binary of module " + byID.DebugID + "; of 1 file, 0 are binaries"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := testenv.WriteFiles(t, "readme", "no ELF file")
			if c.elf != "" {
				testenv.Copy(t, elf, dir, c.elf)
			}
			if c.debug != "" {
				testenv.Copy(t, debug, dir, c.debug)
			}
			r, tried, err := newBinaries(t, dir).Symbols(context.Background(), c.m)
			if err != nil || (r != nil) != (c.elf+c.debug != "") || !strings.Contains(strings.Join(symfmt.TriedLines(tried), "\n"), c.tried) {
				t.Fatalf("%v, %q, %v", r, tried, err)
			}
			if want := filepath.Join(dir, c.elf); r != nil && c.elf != "" && r.Identity().Path != want {
				t.Errorf("symbols of %s, want %s", r.Identity().Path, want)
			}
			if r != nil && (r.Detail(t.Context()) > 0) != c.functions {
				t.Errorf("functions: %v; tried %q", r.Detail(t.Context()) > 0, tried)
			}
			if r != nil && r.HasRules(t.Context()) != (c.elf != "") {
				t.Errorf("rules: %v", r.HasRules(t.Context()))
			}
		})
	}
}

func toHex(id []byte) string {
	var b bytes.Buffer
	for _, c := range id {
		b.WriteByte("0123456789abcdef"[c>>4])
		b.WriteByte("0123456789abcdef"[c&15])
	}
	return b.String()
}

// Files that do not belong to the module are not used.
func TestBinaryRefuses(t *testing.T) {
	elf := testenv.Input(t, "pair.elf")
	m := resolvetest.ModuleOf(t, elf)
	other := bytes.Clone(m.BuildID)
	other[len(other)-1]++ // after the part that is in MODULE's id
	dir := t.TempDir()
	path := testenv.Copy(t, elf, dir, "bin", "prog")
	s := newBinaries(t, dir)
	for name, c := range map[string]struct {
		m     resolve.Module
		tried string
	}{
		"other build-id":          {resolve.Module{DebugID: m.DebugID, BuildID: other}, "no binary of module " + m.DebugID},
		"other id":                {resolve.Module{Name: "prog", DebugID: resolvetest.OtherID}, "no binary of prog " + resolvetest.OtherID},
		"other build-id, by path": {resolve.Module{Path: "/bin/prog", BuildID: other}, path + ": build-id "},
		"other id, by path":       {resolve.Module{Path: "/bin/prog", DebugID: resolvetest.OtherID}, path + ": id " + m.DebugID + ", want " + resolvetest.OtherID},
		"hostile path":            {resolve.Module{Path: "/../../../../../../../etc/passwd", DebugID: resolvetest.OtherID}, "no binary of passwd"},
		"NUL in the path":         {resolve.Module{Path: "/bin/prog\x00", DebugID: resolvetest.OtherID}, "no binary of prog\x00"},
		"another name":            {resolve.Module{Name: "other"}, "no binary of other"},
		"nothing known":           {resolve.Module{}, "the module has no name and no id"},
	} {
		r, tried, err := s.Symbols(context.Background(), c.m)
		if r != nil || err != nil || !strings.Contains(strings.Join(symfmt.TriedLines(tried), "\n"), c.tried) {
			t.Errorf("%s: %v, %q, %v", name, r, tried, err)
		}
	}
	// A file outside is not found by a path, even if it is the module's.
	inner := newBinaries(t, filepath.Dir(testenv.Copy(t, testenv.Input(t, "gcc-dwarf5.elf"), dir, "inner", "a")))
	for _, path := range []string{"../bin/prog", "/../bin/prog", path} {
		if r, tried, err := inner.Symbols(context.Background(), resolve.Module{Path: path, BuildID: m.BuildID}); r != nil || err != nil {
			t.Errorf("%s: %v, %q, %v", path, r, tried, err)
		}
	}
	if err := os.RemoveAll(filepath.Join(dir, "inner")); err != nil {
		t.Fatal(err)
	}
	if r, tried, err := s.Symbols(context.Background(), resolve.Module{Name: "prog"}); r == nil || err != nil {
		t.Errorf("by name: %q, %v", tried, err)
	}
	testenv.Copy(t, testenv.Input(t, "gcc-dwarf5.elf"), dir, "other", "prog")
	r, tried, err := newBinaries(t, dir).Symbols(context.Background(), resolve.Module{Name: "prog"})
	if r != nil || err != nil || !strings.Contains(tried[0].String(), "several builds, and the module has no id: ") {
		t.Errorf("by a name of two: %v, %q, %v", r, tried, err)
	}
	if _, err := NewBinaries([]string{dir + "/none"}, BinaryOptions{}); err == nil || err.Error() != dir+"/none: no such file or directory" {
		t.Error(err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("enough"))
	if r, _, err := newBinaries(t, dir).Symbols(ctx, m); r != nil || err == nil || err.Error() != "enough" {
		t.Errorf("%v, %v", r, err)
	}
}

// A damaged binary is reported, and costs nothing else.
func TestBinaryDamaged(t *testing.T) {
	elf, debug := testenv.Input(t, "pair.elf"), testenv.Input(t, "pair.debug")
	dir := t.TempDir()
	m := resolvetest.ModuleOf(t, testenv.Copy(t, elf, dir, "prog"))
	data, err := os.ReadFile(debug)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(data, m.BuildID)
	for name, bad := range map[string][]byte{"cut": data[:200], "other id": append(append(bytes.Clone(data[:at]), 0xff), data[at+1:]...)} {
		if err := os.WriteFile(filepath.Join(dir, "pair.debug"), bad, 0o666); err != nil {
			t.Fatal(err)
		}
		r, tried, err := newBinaries(t, dir).Symbols(context.Background(), m)
		if r == nil || r.Detail(t.Context()) > 0 || !strings.Contains(strings.Join(symfmt.TriedLines(tried), "\n"), "pair.debug: ") {
			t.Errorf("%s: %v, %q, %v", name, r, tried, err)
		}
		if name == "cut" && (err == nil || !strings.Contains(err.Error(), "pair.debug: ")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The system libraries of real crashes are found by build-id below a folder, under other
// names; libc and ld.so have debug files. At every function and line, the answers equal
// the ones in a symbol file made from the library.
func TestBinariesOfCrashes(t *testing.T) {
	root := testenv.Shared(t, "data", "crashes")
	var files []string
	for _, pattern := range []string{"system/*.so*", "*/prog", "*/libcb.so"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	c := NewChain(newBinaries(t, root))
	var wg sync.WaitGroup
	full := 0
	for _, file := range files {
		if strings.HasSuffix(file, ".debug") {
			continue
		}
		m := resolvetest.ModuleOf(t, file)
		r, tried, err := c.Symbols(context.Background(), m)
		if r == nil || err != nil {
			t.Errorf("%s: %q, %v", file, tried, err)
			continue
		}
		wg.Go(func() {
			if again, _, _ := c.Symbols(context.Background(), m); again != r {
				t.Errorf("%s: the second Resolver differs", file)
			}
		})
		if got, want := r.Identity().ID, m.DebugID; got != want {
			t.Errorf("%s: id %s, want %s", file, got, want)
		}
		switch base := filepath.Base(file); {
		case base == "prog" || base == "libc.so.6" || base == "ld-linux-x86-64.so.2" || base == "libcb.so":
			full++
			if r.Detail(t.Context()) == 0 {
				t.Errorf("%s: no functions; tried %q", file, tried)
			}
		case r.Detail(t.Context()) > 0 || len(tried) == 0:
			t.Errorf("%s: has functions, or nothing was tried: %q", file, tried)
		}
	}
	wg.Wait()
	if full < 10 {
		t.Errorf("%d files with functions", full)
	}
}

// BenchmarkBinary measures the time from a binary to its Resolver; index is the part other
// than reading.
func BenchmarkBinary(b *testing.B) {
	path := os.Getenv("SYMTOOL_BENCH_FILE")
	if path == "" {
		b.Skip("SYMTOOL_BENCH_FILE names no binary")
	}
	f, err := objfile.Open(path, object.DefaultLimits())
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	result, err := dwarf2sym.Read(context.Background(), f, dwarf2sym.Options{Demangle: true})
	if err != nil {
		b.Fatal(err)
	}
	m := result.Module
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			if _, err := dwarf2sym.Read(context.Background(), f, dwarf2sym.Options{Demangle: true}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("index", func(b *testing.B) {
		for b.Loop() {
			resolve.FromModule(m, resolve.ModuleOptions{Path: path})
		}
	})
}

// hasID reports whether an id is more than zeros.
func hasID(id string) bool { return strings.Trim(id, "0") != "" }

// A debug file alone has no id if its program has no build-id. It is found if it is the only file, and two of them
// count as two builds.
func TestDebugFileWithoutID(t *testing.T) {
	image := testenv.ReadInput(t, "no-dot-text.elf")
	sections := binary.LittleEndian.Uint64(image[0x28:])
	binary.LittleEndian.PutUint32(image[sections+64+4:], uint32(elf.SHT_NOBITS)) // the first section has the code
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one.debug"), filepath.Join(dir, "two.debug")
	for _, path := range []string{one, two} {
		if err := os.WriteFile(path, image, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	at := func(roots ...string) (text string) {
		b, err := NewBinaries(roots, BinaryOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s, tried, err := b.Symbols(t.Context(), resolve.Module{})
		if s == nil || err != nil {
			return fmt.Sprint(tried, err)
		}
		defer s.Close()
		var at resolve.Location
		if found, err := resolve.Find(t.Context(), s, 0x1110, &at); !found || err != nil {
			return fmt.Sprint(found, err)
		}
		return at.Frames[0].Function
	}
	for _, c := range []struct {
		roots []string
		want  string
	}{{[]string{one}, "plain"}, {[]string{one, two}, "no id"}} {
		if got := at(c.roots...); !strings.Contains(got, c.want) {
			t.Errorf("%q: %s, want %s", c.roots, got, c.want)
		}
	}
}
