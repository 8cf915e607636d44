package walk

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// openShared opens a core of the shared data.
func openShared(t *testing.T, path ...string) *dump.Dump {
	t.Helper()
	file, err := dumpfile.Open(t.Context(), testenv.Shared(t, append([]string{"data"}, path...)...), dumpfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := file.Dump
	t.Cleanup(func() { file.Close() })
	return d
}

// vdsoOf returns the index of the vdso among a dump's modules.
func vdsoOf(t *testing.T, d *dump.Dump) int {
	t.Helper()
	i := slices.IndexFunc(d.Modules, func(m dump.Module) bool { return m.Path == "linux-gate.so" })
	if i < 0 {
		t.Fatal("no vdso")
	}
	return i
}

// The vdso in every core is a complete file, with names and rules. No other module is, because
// their section headers are not loaded.
func TestImages(t *testing.T) {
	cores := [][]string{{"arch", "x86", "core"}}
	for _, name := range walktest.CrashCases {
		cores = append(cores, []string{"crashes", name, "core"})
	}
	for _, path := range cores {
		d := openShared(t, path...)
		vdso := vdsoOf(t, d)
		for i := range d.Modules {
			image := imageOf(d, &d.Modules[i])
			if (image != nil) != (i == vdso) {
				t.Errorf("%s: %s: %d bytes", path, d.Modules[i].Path, len(image))
			}
		}
		st := (&SymbolSet{}).module(d, vdso)
		r := st.resolver(context.Background())
		if r == nil || r.Identity().ID != d.Modules[vdso].DebugID {
			t.Fatalf("%s: %v", path, st.symbols.Peek().err)
		}
		names := 0
		f := st.file(context.Background())
		err := f.Symbols(object.Dynamic, func(s *object.Symbol) {
			if strings.HasPrefix(string(s.Name), "__vdso_") || strings.HasPrefix(string(s.Name), "__kernel_") {
				names++
			}
		})
		if err != nil || names < 4 || st.rules(context.Background(), tableEHFrame) == nil {
			t.Errorf("%s: %d names, %v", path, names, err)
		}
	}
}

// An image that lacks a byte, or has another build-id, is not used.
func TestNoImage(t *testing.T) {
	d := openShared(t, "arch", "x86", "core")
	m := d.Modules[vdsoOf(t, d)]
	image := imageOf(d, &m)
	with := func(data []byte, m dump.Module) []byte {
		other := dump.Dump{Memory: dump.NewMemory(d.Order, []dump.Region{{Addr: m.Addr, Data: data}})}
		return imageOf(&other, &m)
	}
	if got := with(image, m); !bytes.Equal(got, image) || &got[0] == &image[0] {
		t.Error("the whole image is not used, or shares memory with the dump")
	}
	if with(image[:len(image)-1], m) != nil {
		t.Error("a truncated image is used")
	}
	for _, n := range []int{0, 3, 51, 52, 100} {
		if with(image[:n], m) != nil {
			t.Errorf("%d bytes are taken", n)
		}
	}
	moved := slices.Clone(image)
	moved[0x34+4] ^= 0x10 // p_offset of the first segment
	if with(moved, m) != nil {
		t.Error("a file at another address is used")
	}
	m.BuildID = []byte{1, 2, 3}
	if with(image, m) != nil {
		t.Error("another module's image is used")
	}
}

// The image of a module in one dump is not used for a module with the same id in another dump.
func TestImageOfOneDump(t *testing.T) {
	d := openShared(t, "arch", "x86", "core")
	vdso := vdsoOf(t, d)
	without := *d
	without.Memory = dump.Memory{Order: d.Order}
	for _, order := range [][2]*dump.Dump{{d, &without}, {&without, d}} {
		s := &SymbolSet{}
		for _, x := range order {
			if st := s.module(x, vdso); (st.resolver(context.Background()) != nil) != (x == d) {
				t.Errorf("image in memory: %v; symbols: %v", x == d, st.symbols.Peek().resolver != nil)
			} else if s.module(x, vdso) != st {
				t.Error("asked twice for the same")
			}
		}
	}
}

// Binaries are closed, including those of modules without an id, which are not kept for other
// dumps.
func TestSourcesClose(t *testing.T) {
	path := testenv.Shared(t, "data", "arch", "x86", "prog")
	s := binarySources(t, path)
	d := &dump.Dump{System: dump.System{OS: dump.Linux}, Modules: []dump.Module{{Range: dump.Range{Addr: 0x8048000, Size: 0x1000}, Path: filepath.Base(path)}}}
	f := s.module(d, 0).file(context.Background())
	if f == nil || len(s.open) != 1 || len(s.modules) != 0 {
		t.Fatalf("%v: %d open, %d kept", f, len(s.open), len(s.modules))
	}
	if err := s.Close(); err != nil || len(s.open) != 0 {
		t.Error(err)
	}
	if _, err := codeSection(f, f.Entry).Data(); err == nil {
		t.Error("the file is still open")
	}
}
