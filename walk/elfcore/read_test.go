package elfcore

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk/dump"
)

// realCores are the cores among the shared test data: the kernel's, QEMU's (arm,
// arm64) and gdb's of a process elsewhere (mips64, riscv64).
var realCores = []string{
	"crashes/coldsplit", "crashes/cxxtmpl", "crashes/deeprec", "crashes/inlines", "crashes/nullcall", "crashes/omitfp",
	"crashes/sharedlib", "crashes/sighandler", "crashes/threads",
	"arch/arm", "arch/arm64", "arch/mips64", "arch/riscv64", "arch/x86",
}

// fixtureCores are the cores in golden/input, which QEMU wrote for programs with two threads.
var fixtureCores = []string{"qemu-mips", "qemu-mips64", "qemu-ppc", "qemu-ppc64", "qemu-ppc64le", "qemu-s390x"}

// stacksCore is a core that the kernel wrote for a program with a library and three threads.
const stacksCore = "crashes/stacks"

// n32Core has MIPS's n32 ABI. gdb 13 ends with an internal error on it, and elfutils 0.188 prints
// none of its registers.
const n32Core = "qemu-mipsn32"

// anyCore reads one of realCores or fixtureCores. core is a path where a tool
// may open it; program is its program, or "" for fixtureCores.
func anyCore(t testing.TB, name string) (d *dump.Dump, core, program string) {
	t.Helper()
	if !strings.HasPrefix(name, "qemu-") {
		return readShared(t, name, Options{}), testenv.Shared(t, "data", name, "core"), testenv.Shared(t, "data", name, "prog")
	}
	data := testenv.Gunzip(t, testenv.Input(t, name+".core.gz"))
	core = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(core, data, 0o644); err != nil {
		t.Fatal(err)
	}
	d, err := Read(data, name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d, core, ""
}

func coreData(t testing.TB, name string) []byte {
	t.Helper()
	if strings.HasPrefix(name, "qemu-") || name == stacksCore {
		return testenv.Gunzip(t, testenv.Input(t, name+".core.gz"))
	}
	return sharedCore(t, name)
}

// The contents of the cores in golden/input, register by register.
func TestFixtures(t *testing.T) {
	for _, name := range append([]string{n32Core}, fixtureCores...) {
		d, _, _ := anyCore(t, name)
		testenv.Golden(t).Assert(t, name+".golden", []byte(describe(d)))
		if len(d.Threads) != 2 && name != n32Core || d.Crash == nil || d.Crash.Code != 11 || len(d.Problems) > 0 || d.Main < 0 {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// describe returns what the reader found, like inspect but in fewer words.
func describe(d *dump.Dump) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("%s %v process %d %q %q, %s in thread %d", d.Arch.Name, d.Order, d.Process.ID, d.Process.Args, d.Process.Env, d.Reason(), d.Crash.Thread)
	for i := range d.Threads {
		t := &d.Threads[i]
		line("thread %d signal %d stack %x+%x", t.ID, t.Signal, t.Stack.Addr, t.Stack.Size)
		for k, r := range d.Arch.Regs {
			if v, ok := t.Context.At(k); ok {
				line("\t%s %#x", r.Name, v)
			}
		}
	}
	for _, m := range d.Modules {
		line("module %x+%x %s %q", m.Addr, m.Size, m.DebugID, m.Path)
	}
	for _, m := range d.Maps {
		line("mapping %x+%x %v %v %v", m.Addr, m.Size, m.Read, m.Write, m.Exec)
	}
	for _, r := range d.Memory.Regions {
		line("memory %x+%x", r.Addr, len(r.Data))
	}
	for _, a := range d.Auxv {
		line("auxv %d %#x", a.Key, a.Value)
	}
	return b.String()
}

func sharedCore(t testing.TB, folder string) []byte {
	t.Helper()
	data, err := os.ReadFile(testenv.Shared(t, "data", folder, "core"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func readShared(t testing.TB, folder string, o Options) *dump.Dump {
	t.Helper()
	d, err := Read(sharedCore(t, folder), folder, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Problems with cores of ABIs with narrow addresses name the CPU and the class.
func TestNarrowCores(t *testing.T) {
	for machine, want := range map[elf.Machine]string{
		elf.EM_X86_64:  "the layout of the registers of EM_X86_64 (ELFCLASS32) is not known",
		elf.EM_AARCH64: "the layout of the registers of EM_AARCH64 (ELFCLASS32) is not known",
	} {
		h := elf.Header32{Type: uint16(elf.ET_CORE), Machine: uint16(machine), Version: 1, Ehsize: 52, Phentsize: 32, Shentsize: 40}
		copy(h.Ident[:], elf.ELFMAG)
		h.Ident[elf.EI_CLASS], h.Ident[elf.EI_DATA], h.Ident[elf.EI_VERSION] = byte(elf.ELFCLASS32), byte(elf.ELFDATA2LSB), 1
		var b bytes.Buffer
		if err := binary.Write(&b, binary.LittleEndian, &h); err != nil {
			t.Fatal(err)
		}
		d, err := Read(b.Bytes(), "core", Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d.Arch != nil || len(d.Problems) == 0 || !strings.Contains(d.Problems[0].String(), want) {
			t.Errorf("%v: CPU %v, problems %v, want %q", machine, d.Arch, d.Problems, want)
		}
	}
}
