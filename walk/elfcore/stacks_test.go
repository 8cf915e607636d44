package elfcore

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	elfobj "github.com/symtool/symtool/internal/object/elfobj"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk/dump"
)

// stacksFile returns a file that the process of stacksCore had mapped.
func stacksFile(t testing.TB, path ...string) (name string, data []byte) {
	t.Helper()
	name = testenv.Input(t, append([]string{"crashes"}, path...)...)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return name, data
}

// firstPage returns the header of a program with a build-id.
func firstPage(t testing.TB) []byte {
	_, data := stacksFile(t, "stacks")
	return data[:4096]
}

func readStacks(t testing.TB, o Options) *dump.Dump {
	t.Helper()
	d, err := Read(coreData(t, stacksCore), stacksCore, o)
	if err != nil || len(d.Problems) > 0 {
		t.Fatal(err, d.Problems)
	}
	return d
}

// Modules have the ids and the bias of their files; the arguments are those on the stack.
func TestStacksModules(t *testing.T) {
	d := readStacks(t, Options{})
	if len(d.Threads) != 3 || d.Main < 0 || d.ModuleAt(d.Crash.Context.PC()) != d.Main {
		t.Errorf("%d threads, program %d, %+v", len(d.Threads), d.Main, d.Crash)
	}
	var names []string
	for i, m := range d.Modules {
		names = append(names, filepath.Base(m.Path))
		if i != d.Main && filepath.Base(m.Path) != "libnet.so.1" {
			continue
		}
		path, _ := stacksFile(t, filepath.Base(m.Path))
		f, err := elfobj.Open(path, object.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if !bytes.Equal(m.BuildID, f.BuildID()) || m.Addr != m.Bias+f.LoadBase() {
			t.Errorf("%s: build-id %x, want %x; %#x with bias %#x, want %#x", m.Path, m.BuildID, f.BuildID(), m.Addr, m.Bias, f.LoadBase())
		}
	}
	if want := []string{"stacks", "libnet.so.1", vdsoName, "ld-linux-x86-64.so.2"}; !slices.Equal(names, want) {
		t.Errorf("modules are %q, want %q", names, want)
	}
	if !slices.Equal(d.Process.Args, []string{"./stacks"}) {
		t.Errorf("arguments are %q", d.Process.Args)
	}
}

// Code that the core lacks is read from the binaries, except from those with another id.
func TestStacksBinaries(t *testing.T) {
	bare := readStacks(t, Options{})
	folder := filepath.Dir(testenv.Input(t, "crashes", "stacks"))
	whole := readStacks(t, Options{Binaries: []string{filepath.Join(folder, "stacks"), filepath.Join(folder, "libnet.so.1")}})
	for _, name := range []string{"stacks", "libnet.so.1"} {
		path, data := stacksFile(t, name)
		f, err := elfobj.Open(path, object.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		m := bare.Modules[slices.IndexFunc(bare.Modules, func(m dump.Module) bool { return filepath.Base(m.Path) == name })]
		entry := slices.IndexFunc(f.Segments, func(p elfobj.Segment) bool { return p.Type == 1 && p.Flags&1 != 0 })
		p := f.Segments[entry]
		if got := whole.Memory.Bytes(m.Bias+p.Addr, int(p.FileSize)); !bytes.Equal(got, data[p.Offset:][:p.FileSize]) {
			t.Errorf("%s: its code is not in memory", name)
		}
		if n := len(bare.Memory.Bytes(m.Bias+p.Addr, int(p.FileSize))); n == int(p.FileSize) {
			t.Errorf("%s: the core has its code", name)
		}
	}
	for _, r := range bare.Memory.Regions {
		if !bytes.Equal(whole.Memory.Bytes(r.Addr, len(r.Data)), r.Data) {
			t.Errorf("memory of the core at %#x differs with binaries", r.Addr)
		}
	}
}

// Another build of the library is rejected, with its id in the message.
func TestStacksOtherBuild(t *testing.T) {
	old, _ := stacksFile(t, "old", "libnet.so.1")
	bare := readStacks(t, Options{})
	var said strings.Builder
	d, err := Read(coreData(t, stacksCore), stacksCore, Options{Binaries: []string{old}, Tried: func(path, why string) { said.WriteString(path + ": " + why + "\n") }})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range d.Problems {
		said.WriteString(p.String() + "\n")
	}
	if len(d.Memory.Regions) != len(bare.Memory.Regions) {
		t.Errorf("%d regions, %d without the binary", len(d.Memory.Regions), len(bare.Memory.Regions))
	}
	f, err := elfobj.Open(old, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if id := hex.EncodeToString(f.BuildID()); !strings.Contains(said.String(), id) {
		t.Errorf("said %q, want the file's id %s", said.String(), id)
	}
}

// A truncated core has the threads in its notes, and the losses are reported.
func TestStacksCutShort(t *testing.T) {
	data := coreData(t, stacksCore)
	whole := readStacks(t, Options{})
	for _, n := range []int{len(data) - 5000, len(data) / 2, 32 << 10} {
		d, err := Read(data[:n], "core", Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Threads) != 3 || len(d.Problems) != 1 || len(d.Maps) != len(whole.Maps) {
			t.Errorf("%d bytes: %d threads, %d mappings, %v", n, len(d.Threads), len(d.Maps), d.Problems)
		}
	}
}
