package minidump

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// full returns a dump that uses every part that a minidump can represent.
func full(a *arch.Arch, order binary.ByteOrder) *dump.Dump {
	d := &dump.Dump{Arch: a, Order: order, Main: 1, Time: time.Unix(1_700_000_000, 0).UTC()}
	d.System = dump.System{OS: dump.Linux, Version: "6.1.2", Build: "Linux 6.1.2 x", CPUs: 8}
	d.Process = dump.Process{ID: 70, HasID: true, Parent: 7, UID: 1000, GID: 1001, Name: "prog", Args: []string{"prog", "a b", ""},
		Env: []string{"A=1"}, Started: time.Unix(1_600_000_000, 0).UTC(), User: 3 * time.Second, Kernel: time.Second}
	l := (&writer{d: d}).layoutFor(a)
	for id := uint32(70); id < 72; id++ {
		c := dump.NewContext(a)
		for i, f := range l.fields {
			v := uint64(0x8070605040302010) + uint64(i)<<8 + uint64(id)
			if f.size < 8 {
				v &= 1<<(8*f.size) - 1
			}
			c.SetAt(f.reg, v)
		}
		switch l.form {
		case fxsave:
			c.Vector = bytes.Repeat([]byte{byte(id)}, fxsaveSize)
			for name, at := range map[string]int{"$fcw": 0, "$fsw": 2, "$mxcsr": 24} {
				size := 2
				if at == 24 {
					size = 4
				}
				c.Set(name, word(c.Vector[at:], size, binary.LittleEndian))
			}
		case neonMS:
			c.Vector = bytes.Repeat([]byte{byte(id), 1, 2, 3, 4, 5, 6, 7}, neonSize/8)
		}
		d.Threads = append(d.Threads, dump.Thread{ID: id, Name: fmt.Sprint("thread ", id), Context: c,
			Stack: dump.Range{Addr: 0x20010, Size: 0x100}, TEB: 0x7000, Suspend: 1, Prio: 2, Class: 3})
	}
	d.Crash = &dump.Crash{Thread: 71, Context: d.Threads[1].Context, Code: 11, Flags: 1, Address: 0x1234, HasAddress: true, Params: []uint64{1, 2}}
	id := []byte("0123456789abcdefghij")
	d.Modules = []dump.Module{
		{Range: dump.Range{Addr: 0x8000, Size: 0x1000}, Path: "/lib/lib\u00fc\U0001f600.so", DebugFile: "lib\u00fc\U0001f600.so", BuildID: id,
			CodeID: fmt.Sprintf("%x", id), DebugID: guidText(id[:16], order) + "0"},
		{Range: dump.Range{Addr: 0x10000, Size: 0x2000}, Path: "/bin/prog", DebugFile: "prog.pdb", DebugPath: "prog.pdb",
			DebugID: "0123456789ABCDEF0123456789ABCDEF1a", Version: "1.2.3.4", Product: "1.0.0.0", Time: 5, Checksum: 6},
	}
	d.Unloaded = []dump.Module{{Range: dump.Range{Addr: 0x50000, Size: 0x1000}, Path: "/lib/gone.so", DebugFile: "gone.so", Time: 1, CodeID: "000000011000"}}
	d.Memory = dump.NewMemory(order, []dump.Region{{Addr: 0x20000, Data: bytes.Repeat([]byte("stack..."), 0x80)}, {Addr: 0x30011, Data: []byte("memory")}})
	d.Maps = []dump.Mapping{
		{Range: dump.Range{Addr: 0x10000, Size: 0x2000}, Read: true, Exec: true, Offset: 0x1000, Device: "fd:01", Inode: 12, Path: "/bin/pr og"},
		{Range: dump.Range{Addr: 0x20000, Size: 0x1000}, Read: true, Write: true, Shared: true, Device: "00:00"},
	}
	d.Auxv = []dump.Aux{{Key: 6, Value: 4096}, {Key: 9, Value: 0x10010}}
	d.Linker = &dump.Linker{Version: 1, Break: 0x8100, Base: 0x8000, Dynamic: 0x11000, Section: []byte("dynamic section "),
		Maps: []dump.LinkMap{{Dynamic: 0x11000}, {Addr: 0x8000, Name: "/lib/x.so", Dynamic: 0x8800}}}
	d.Files = []dump.File{ // in the order in which streams are read
		{Name: statusFile, Data: []byte("Name:\tprog\nPid:\t70\nPPid:\t7\nUid:\t1000\t1\nGid:\t1001\t1\n")},
		{Name: "/proc/cpuinfo", Data: []byte("cpu\n")},
	}
	d.Annotations = []dump.Annotation{{Key: "k", Value: "v"}, {Module: "/bin/prog", Value: "alone"}, {Module: "/bin/prog", Key: "\u00fc", Value: "2"}}
	d.ReportID, d.ClientID = "01234567-89ab-cdef-0123-456789abcdef", "11234567-89ab-cdef-0123-456789abcdef"
	d.Assertion = &dump.Assertion{Expression: "a == b", Function: "f", File: "x.c", Line: 5, Type: 1}
	d.Comment = "a comment"
	d.Requester, d.Writer, d.HasRequester, d.HasWriter = 71, 70, true, true
	return d
}

// withoutRest changes the type of symtool's own stream, so that it is not read.
func withoutRest(t *testing.T, data []byte, order binary.ByteOrder) []byte {
	t.Helper()
	mark := make([]byte, 4)
	order.PutUint32(mark, dump.RestType)
	if bytes.Count(data, mark) != 1 {
		t.Fatal("symtool's stream is missing, or there twice")
	}
	return bytes.Replace(data, mark, []byte{9, 9, 9, 9}, 1)
}

// A dump is read back as it was written, for every CPU that minidumps support, in both byte orders,
// with either list of memory, without symtool's own stream.
func TestWrite(t *testing.T) {
	for _, a := range arch.All {
		if (&writer{d: &dump.Dump{Arch: a}}).layoutFor(a) == nil {
			continue // TestEveryCPUHasALayout
		}
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			for _, wide := range []bool{false, true} {
				d := full(a, order)
				if _, isX86 := map[*arch.Arch]bool{arch.X86: true, arch.X86_64: true}[a]; isX86 {
					if order == binary.ByteOrder(binary.BigEndian) {
						continue // FXSAVE is little-endian
					}
					d.System.Model = "GenuineIntel family 6 model 13 stepping 8"
				}
				if a == arch.ARM || a == arch.ARM64 {
					d.System.Model = "ARMv8 cpuid 0x410fd070 hwcaps 0x000000ff"
				}
				w := newWriter(d)
				w.wide = wide
				var b bytes.Buffer
				problems, err := w.write(&b)
				if err != nil || len(problems) > 0 {
					t.Fatal(a.Name, problems, err)
				}
				got, err := Read(withoutRest(t, b.Bytes(), order), "x")
				if err != nil || len(got.Problems) > 0 {
					t.Fatal(a.Name, err, got.Problems)
				}
				d.System.CPU = got.System.CPU
				same(t, fmt.Sprintf("%s, %v, wide %v", a.Name, order, wide), got, d)
			}
		}
	}
}

// same compares the fields of two dumps, except those about the file.
func same(t *testing.T, name string, got, want *dump.Dump) {
	t.Helper()
	g, w := reflect.ValueOf(*got), reflect.ValueOf(*want)
	for i := range g.NumField() {
		switch field := g.Type().Field(i).Name; field {
		case "Format", "Parts", "Problems":
		case "Arch":
			if got.Arch != want.Arch {
				t.Errorf("%s: %s", name, got.Arch.Name)
			}
		case "Threads":
			for k := range want.Threads {
				g, w := got.Threads[k], want.Threads[k]
				if !dump.Same(g.Context, w.Context) {
					t.Errorf("%s: registers of thread %d", name, w.ID)
				}
				if g.Context, w.Context = nil, nil; !reflect.DeepEqual(g, w) {
					t.Errorf("%s: thread %+v, want %+v", name, g, w)
				}
			}
		case "Crash":
			g, w := *got.Crash, *want.Crash
			if !dump.Same(g.Context, w.Context) {
				t.Errorf("%s: registers of the crash", name)
			}
			if g.Context, w.Context = nil, nil; !reflect.DeepEqual(g, w) {
				t.Errorf("%s: crash %+v, want %+v", name, g, w)
			}
		default:
			if !reflect.DeepEqual(g.Field(i).Interface(), w.Field(i).Interface()) {
				t.Errorf("%s: %s is\n%+v, want\n%+v", name, field, g.Field(i).Interface(), w.Field(i).Interface())
			}
		}
	}
}

// What a minidump cannot represent is reported, and kept in symtool's own stream.
func TestWriteProblems(t *testing.T) {
	d := full(arch.X86_64, binary.LittleEndian)
	d.System.OS, d.System.Version, d.System.Detail = dump.FreeBSD, "a", "b"
	d.Files = append(d.Files, dump.File{Name: "/proc/self/maps"})
	d.Handles = 3
	d.Threads[0].Context.Set("$fs.base", 0x55)
	d.Threads[0].Signal = 5
	d.Modules[0].Size = 1 << 33
	d.Modules[0].Addr = 0x100000
	d.Modules[0], d.Modules[1] = d.Modules[1], d.Modules[0]
	d.Main = 0
	d.Modules[0].Version, d.Modules[0].DebugID = "x", "y"
	d.Crash.Params = make([]uint64, 16)
	var b bytes.Buffer
	problems, err := Write(&b, d)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, p := range problems {
		fmt.Fprintln(&text, p)
	}
	for _, want := range []string{"FreeBSD", `"a" is not three numbers`, "detail of the system", "/proc/self/maps", "handles", "$fs.base, of 1 threads",
		"signals of threads", "less than 4 GB", "want four numbers", "want a GUID", "want at most 15", "neither Linux's"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not reported:\n%s", want, text.String())
		}
	}
	got, err := Read(b.Bytes(), "x")
	if err != nil {
		t.Fatal(err)
	}
	d.Crash.Params = d.Crash.Params[:16]
	same(t, "with the rest", got, d)
}

// For a CPU without a layout of its registers, everything else is written.
func TestWriteWithoutContext(t *testing.T) {
	d := &dump.Dump{Arch: arch.S390X, Order: binary.BigEndian, Main: -1, System: dump.System{OS: dump.Linux}}
	c := dump.NewContext(arch.S390X)
	c.Set("pswa", 5)
	d.Threads = []dump.Thread{{ID: 1, Context: c}}
	var b bytes.Buffer
	problems, err := Write(&b, d)
	if err != nil || len(problems) != 2 {
		t.Fatal(problems, err)
	}
	got, err := Read(b.Bytes(), "x")
	if err != nil || len(got.Threads) != 1 {
		t.Fatal(got, err)
	}
}

// On Linux a module's path ends with the name under which its symbols are looked up, as
// Breakpad's client writes it.
func TestModulePath(t *testing.T) {
	at := dump.Range{Addr: 0x10000, Size: 0x1000}
	apk := []dump.Mapping{{Range: at, Offset: 0x5000, Path: "/data/app/base.apk"}}
	lib := []dump.Mapping{{Range: at, Path: "/lib/liba.so.1.2"}}
	for _, c := range []struct {
		os   dump.OS
		m    dump.Module
		maps []dump.Mapping
		want string
	}{
		{dump.Linux, dump.Module{Path: "/lib/liba.so.1.2", DebugFile: "liba.so.1"}, nil, "/lib/liba.so.1"},
		{dump.Linux, dump.Module{Path: "/lib/liba.so.1.2", DebugFile: "liba.so.1"}, lib, "/lib/liba.so.1"},
		{dump.Linux, dump.Module{Path: "/lib/liba.so.1.2", DebugFile: "liba.so.1.2"}, lib, "/lib/liba.so.1.2"},
		{dump.Linux, dump.Module{Path: "liba.so.1.2", DebugFile: "liba.so.1"}, nil, "liba.so.1"},
		{dump.Linux, dump.Module{Path: "/lib/liba.so.1.2 (deleted)", DebugFile: "liba.so.1"}, nil, "/lib/liba.so.1"},
		{dump.Linux, dump.Module{Path: "/bin/prog"}, nil, "/bin/prog"},
		{dump.Linux, dump.Module{Path: "", DebugFile: "liba.so.1"}, nil, "liba.so.1"},
		{dump.Android, dump.Module{Path: "/data/app/base.apk", DebugFile: "liba.so"}, apk, "/data/app/base.apk/liba.so"},
		{dump.Linux, dump.Module{Path: "/bin/a", DebugFile: "a.pdb", DebugPath: "/b/a.pdb"}, nil, "/bin/a"},
		{dump.Windows, dump.Module{Path: `c:\a.exe`, DebugFile: "a.pdb"}, nil, `c:\a.exe`},
		{dump.MacOS, dump.Module{Path: "/bin/a", DebugFile: "b"}, nil, "/bin/a"},
	} {
		d := full(arch.X86_64, binary.LittleEndian)
		d.System.OS, d.Maps = c.os, c.maps
		c.m.Range = at
		d.Modules, d.Main = []dump.Module{c.m}, -1
		var b bytes.Buffer
		if _, err := Write(&b, d); err != nil {
			t.Fatal(err)
		}
		got, err := Read(withoutRest(t, b.Bytes(), binary.LittleEndian), "x")
		if err != nil || len(got.Modules) != 1 || got.Modules[0].Path != c.want {
			t.Errorf("%v %+v: %v %+v, want %q", c.os, c.m, err, got.Modules, c.want)
		}
	}
}

// A module without a name gets one in the file, as Breakpad's walker otherwise fails an
// assertion. The reader returns no name.
func TestUnnamedModule(t *testing.T) {
	d := full(arch.X86_64, binary.LittleEndian)
	d.Modules, d.Main = []dump.Module{{Range: dump.Range{Addr: 0x10000, Size: 0x1000}}}, 0
	var b bytes.Buffer
	if _, err := Write(&b, d); err != nil {
		t.Fatal(err)
	}
	var name []byte
	for _, r := range "<anonymous:10000>" {
		name = append(name, byte(r), 0)
	}
	data := withoutRest(t, b.Bytes(), binary.LittleEndian)
	got, err := Read(data, "x")
	if err != nil || len(got.Modules) != 1 || got.Modules[0].Path != "" || got.Modules[0].DebugFile != "" || !bytes.Contains(data, name) {
		t.Errorf("%v %+v", err, got.Modules)
	}
}

// An unknown version of a system is an empty string, not offset 0, where Breakpad would
// read the header as a string.
func TestEmptyVersion(t *testing.T) {
	d := full(arch.X86_64, binary.LittleEndian)
	d.System.Build = ""
	var b bytes.Buffer
	if _, err := Write(&b, d); err != nil {
		t.Fatal(err)
	}
	data := b.Bytes()
	u32 := func(at uint32) uint32 { return binary.LittleEndian.Uint32(data[at:]) }
	for i := range u32(8) {
		entry := u32(12) + 12*i
		if u32(entry) != 7 {
			continue
		}
		if csd := u32(u32(entry+8) + 24); csd == 0 || u32(csd) != 0 || data[csd+4] != 0 || data[csd+5] != 0 {
			t.Errorf("CSDVersionRva is %#x", csd)
		}
		return
	}
	t.Error("no SystemInfo")
}
