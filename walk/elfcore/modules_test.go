package elfcore

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	elfobj "github.com/symtool/symtool/internal/object/elfobj"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// Modules have the ids of their files, with their bias; the vdso is one of them.
func TestModules(t *testing.T) {
	for _, c := range []struct {
		folder, program string
		modules         int
		vdso            bool
	}{
		{"crashes/threads", "/opt/crash/threads/prog", 8, true},
		{"crashes/sharedlib", "/opt/crash/sharedlib/prog", 9, true},
		{"arch/x86", "/opt/xcrash/x86/prog", 2, true},
		{"arch/arm64", "./prog", 1, false},
		{"arch/mips64", "", 1, false},
	} {
		d := readShared(t, c.folder, Options{})
		if len(d.Modules) != c.modules || d.Main < 0 || d.Modules[d.Main].Path != c.program {
			t.Fatalf("%s: %d modules, program %d of %+v", c.folder, len(d.Modules), d.Main, d.Modules)
		}
		if vdso := slices.ContainsFunc(d.Modules, func(m dump.Module) bool { return m.Path == vdsoName && m.DebugID != "" }); vdso != c.vdso {
			t.Errorf("%s: a vdso: %v", c.folder, vdso)
		}
		f, err := elfobj.Open(testenv.Shared(t, "data", c.folder, "prog"), object.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		m := d.Modules[d.Main]
		if !bytes.Equal(m.BuildID, f.BuildID()) && len(m.BuildID) > 0 || m.Addr != m.Bias+f.LoadBase() {
			t.Errorf("%s: build-id %x, want %x; %#x with bias %#x, want %#x", c.folder, m.BuildID, f.BuildID(), m.Addr, m.Bias, f.LoadBase())
		}
		for _, at := range []uint64{d.Crash.Context.PC()} {
			if d.ModuleAt(at) != d.Main {
				t.Errorf("%s: the crash at %#x is in module %d", c.folder, at, d.ModuleAt(at))
			}
		}
	}
}

// A build-id whose note follows PT_NOTE, where Go's linker puts it, is found.
func TestBuildIDBehindNotes(t *testing.T) {
	data := slices.Clone(coreData(t, stacksCore))
	want, err := Read(data, "core", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range want.Memory.Regions {
		if r.Addr != want.Modules[want.Main].Addr || !bytes.HasPrefix(r.Data, []byte(elf.ELFMAG)) {
			continue
		}
		order := binary.LittleEndian
		first, count := order.Uint64(r.Data[32:]), order.Uint16(r.Data[56:])
		head := data[bytes.Index(data, r.Data):]
		for i := range uint64(count) {
			if entry := head[first+56*i:]; elf.ProgType(order.Uint32(entry)) == elf.PT_NOTE {
				order.PutUint64(entry[32:], 0)
				order.PutUint64(entry[40:], 0)
			}
		}
	}
	got, err := Read(data, "core", Options{})
	if err != nil {
		t.Fatal(err)
	}
	id := want.Modules[want.Main].BuildID
	if have := got.Modules[got.Main].BuildID; len(id) == 0 || !bytes.Equal(have, id) {
		t.Errorf("build-id %x, want %x", have, id)
	}
}

// Without NT_FILE the dynamic linker's list gives the same modules.
func TestModulesWithoutFiles(t *testing.T) {
	t.Run("ours", func(t *testing.T) { modulesWithoutFiles(t, coreData(t, stacksCore)) })
	t.Run("shared", func(t *testing.T) { modulesWithoutFiles(t, sharedCore(t, "crashes/threads")) })
}

func modulesWithoutFiles(t *testing.T, data []byte) {
	data = bytes.Clone(data)
	want, err := Read(data, "core", Options{})
	if err != nil {
		t.Fatal(err)
	}
	i := bytes.Index(data, []byte("ELIF\x43\x4f\x52\x45")) // NT_FILE, CORE
	if i < 0 {
		t.Fatal("no NT_FILE")
	}
	data[i]++
	got, err := Read(data, "core", Options{})
	if err != nil {
		t.Fatal(err)
	}
	byAddr := func(d *dump.Dump) map[uint64]string {
		m := map[uint64]string{}
		for _, module := range d.Modules {
			m[module.Addr] = module.DebugID + " " + strings.TrimSuffix(filepath.Base(module.Path), ".0.30")
		}
		return m
	}
	w, g := byAddr(want), byAddr(got)
	if len(w) != len(g) || got.Main < 0 {
		t.Errorf("%v, want %v", g, w)
	}
	for addr, name := range w {
		if g[addr] != name {
			t.Errorf("%#x: %s, want %s", addr, g[addr], name)
		}
	}
}

// Without NT_FILE and without their headers, which a bit of coredump_filter omits, libraries are where the dynamic
// linker has them: up to the end of the mapping with their dynamic section. Their files say where they end.
func TestLinkedModules(t *testing.T) {
	data := bytes.Clone(sharedCore(t, "crashes/threads"))
	data[bytes.Index(data, []byte("ELIF\x43\x4f\x52\x45"))]++ // NT_FILE, CORE
	want, err := Read(data, "core", Options{})
	if err != nil || len(want.Modules) < 5 {
		t.Fatal(err, want.Modules)
	}
	system := testenv.Shared(t, "data", "crashes", "system")
	behind := map[uint64]bool{} // libraries whose headers are not in the core
	files := 0
	for i := range want.Modules {
		if m := &want.Modules[i]; i != want.Main && m.Path != vdsoName {
			behind[m.Addr] = true
			if _, err := os.Stat(filepath.Join(system, filepath.Base(m.Path))); err == nil {
				files++
			}
		}
	}
	for p := data[64:]; binary.LittleEndian.Uint32(p) <= uint32(elf.PT_NOTE); p = p[56:] { // entries of program headers
		if behind[binary.LittleEndian.Uint64(p[16:])] {
			binary.LittleEndian.PutUint64(p[32:], 0)
		}
	}
	got, err := Read(data, "core", Options{})
	if err != nil || len(got.Modules) != len(want.Modules) || len(got.Problems) > 0 {
		t.Fatalf("%v, %d modules, want %d, problems %v", err, len(got.Modules), len(want.Modules), got.Problems)
	}
	for i := range got.Modules {
		g, w := &got.Modules[i], &want.Modules[i]
		const mappings = 0x10000 // of .data and .bss
		if g.Addr != w.Addr || g.Path != w.Path || g.Bias != w.Bias || g.Size > (w.Size+0xfff)&^0xfff || g.Size+mappings < w.Size {
			t.Errorf("%#x+%#x %s, want %#x+%#x %s", g.Addr, g.Size, g.Path, w.Addr, w.Size, w.Path)
		}
	}
	got, err = Read(data, "core", Options{Binaries: []string{system}})
	if err != nil {
		t.Fatal(err)
	}
	exact := 0
	for i := range got.Modules {
		if g, w := &got.Modules[i], &want.Modules[i]; behind[g.Addr] && g.DebugID == w.DebugID && g.Size == w.Size {
			exact++
		}
	}
	if exact != files || files < 5 {
		t.Errorf("%d of %d libraries end where their files say: %+v", exact, files, got.Modules)
	}
}

// The arguments and the environment come from the stack, not from the 80 bytes of NT_PRPSINFO.
func TestArguments(t *testing.T) {
	d := readShared(t, "crashes/threads", Options{})
	if !slices.Equal(d.Process.Args, []string{"./prog"}) || len(d.Process.Env) != 1 || !strings.Contains(d.Process.Env[0], "=") {
		t.Errorf("%q, %q", d.Process.Args, d.Process.Env)
	}
}

// Code that the core lacks is read from the binaries.
func TestBinaries(t *testing.T) {
	system, folder := testenv.Shared(t, "data", "crashes", "system"), testenv.Shared(t, "data", "crashes", "threads")
	d := readShared(t, "crashes/threads", Options{Binaries: []string{folder, system}})
	bare := readShared(t, "crashes/threads", Options{})
	checked := 0
	for _, m := range d.Modules {
		path := filepath.Join(system, strings.TrimSuffix(filepath.Base(m.Path), ".0.30"))
		if m.Path == d.Modules[d.Main].Path {
			path = filepath.Join(folder, "prog")
		}
		f, err := elfobj.Open(path, object.DefaultLimits())
		if err != nil {
			continue // the vdso, Breakpad's client
		}
		defer f.Close()
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range f.Segments {
			if p.Type != 1 || p.Flags&2 != 0 {
				continue
			}
			want := data[p.Offset:][:p.FileSize]
			if got := d.Memory.Bytes(m.Bias+p.Addr, len(want)); !bytes.Equal(got, want) {
				t.Errorf("%s: %d of %d bytes at %#x", m.Path, len(got), len(want), p.Addr)
			}
			if p.Flags&1 != 0 && len(bare.Memory.Bytes(m.Bias+p.Addr, len(want))) > 0 {
				t.Errorf("%s: the core has its code", m.Path)
			}
			checked++
		}
	}
	if checked < 15 {
		t.Errorf("%d segments", checked)
	}
	for _, r := range bare.Memory.Regions {
		if !bytes.Equal(d.Memory.Bytes(r.Addr, len(r.Data)), r.Data) {
			t.Errorf("memory of the core at %#x differs with binaries", r.Addr)
		}
	}
}

// A file with another build-id is reported and not used, wherever it is; the right file is found by
// its build-id, whatever its name.
func TestBinaryIDs(t *testing.T) {
	dir := t.TempDir()
	d := readShared(t, "crashes/threads", Options{})
	id := hex.EncodeToString(d.Modules[d.Main].BuildID)
	right, err := os.ReadFile(testenv.Shared(t, "data", "crashes", "threads", "prog"))
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := os.ReadFile(testenv.Shared(t, "data", "crashes", "inlines", "prog"))
	if err != nil {
		t.Fatal(err)
	}
	put := func(name string, data []byte) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	pc := d.Crash.Context.PC()
	for _, c := range []struct {
		name  string
		data  []byte
		found bool
		tried string
	}{
		{"prog", wrong, false, "want " + id},
		{"opt/crash/threads/prog", []byte("text"), false, "not a binary"},
		{".build-id/" + id[:2] + "/" + id[2:], right, true, ""},
	} {
		put(c.name, c.data)
		tried := ""
		o := Options{Binaries: []string{dir}, Tried: func(path, why string) { tried += path + ": " + why + "\n" }}
		got := readShared(t, "crashes/threads", o)
		if found := len(got.Memory.Bytes(pc, 2)) == 2; found != c.found || !strings.Contains(tried, c.tried) {
			t.Errorf("%s: %v, %s", c.name, found, tried)
		}
	}
}

// Paths in a core do not lead out of the folder.
func TestPlaces(t *testing.T) {
	r := &reader{}
	for path, want := range map[string][]string{
		"/usr/lib/libx.so": {"d/usr/lib/libx.so", "d/libx.so"},
		"../../etc/passwd": {"d/etc/passwd", "d/passwd", "d/libx.so"},
		"/a/../../b":       {"d/b", "d/libx.so"},
		"/a\x00b":          {"d/libx.so"},
		"/":                {"d/libx.so"},
		"":                 {"d/libx.so"},
	} {
		if got := r.placesIn("d", &dump.Module{Range: dump.Range{Addr: 1}, Path: path, DebugFile: "../../libx.so"}); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}

// A mapping is cut where files begin and end.
func TestNameMaps(t *testing.T) {
	mapping := func(addr, size uint64) dump.Mapping {
		return dump.Mapping{Range: dump.Range{Addr: addr, Size: size}, Exec: true}
	}
	file := func(addr, size, offset uint64) fileMap {
		return fileMap{dump.Range{Addr: addr, Size: size}, offset, "f"}
	}
	type piece struct {
		addr, size, offset uint64
		path               string
		exec               bool
	}
	for name, c := range map[string]struct {
		maps  []dump.Mapping
		files []fileMap
		want  []piece
	}{
		"the same":     {[]dump.Mapping{mapping(10, 10)}, []fileMap{file(10, 10, 5)}, []piece{{10, 10, 5, "f", true}}},
		"within":       {[]dump.Mapping{mapping(10, 30)}, []fileMap{file(20, 10, 5)}, []piece{{10, 10, 0, "", true}, {20, 10, 5, "f", true}, {30, 10, 0, "", true}}},
		"around":       {[]dump.Mapping{mapping(20, 10)}, []fileMap{file(10, 30, 5)}, []piece{{10, 10, 5, "f", false}, {20, 10, 15, "f", true}, {30, 10, 25, "f", false}}},
		"without both": {[]dump.Mapping{mapping(10, 10)}, []fileMap{file(30, 10, 5)}, []piece{{10, 10, 0, "", true}, {30, 10, 5, "f", false}}},
		"the end":      {[]dump.Mapping{mapping(^uint64(0)-9, 10)}, []fileMap{file(1, 1, 0)}, []piece{{1, 1, 0, "f", false}, {^uint64(0) - 9, 10, 0, "", true}}},
	} {
		var got []piece
		for _, m := range nameMaps(c.maps, c.files) {
			got = append(got, piece{m.Addr, m.Size, m.Offset, m.Path, m.Exec})
			if m.Unknown == m.Exec { // all segments are executable
				t.Errorf("%s: at %d, permissions unknown: %v", name, m.Addr, m.Unknown)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A small program has its data on the page of its header, which is mapped twice:
// it is one module. So is one whose own header was left out.
func TestHeaderTwice(t *testing.T) {
	d, _, _ := anyCore(t, n32Core)
	m := d.Modules[0]
	if len(d.Modules) != 1 || m.Addr != 0x10000000 || !m.Contains(0x10010000) || len(m.BuildID) != 20 || m.Bias != 0 || d.Main != 0 || len(d.Problems) > 0 {
		t.Errorf("%+v, %v", d.Modules, d.Problems)
	}
	v, _ := d.Crash.Context.Get("$s0") // as the program set it; 32 of its bits are an address
	if int32(v) != -0x76543211 || v>>32 != 0 {
		t.Errorf("s0 is %#x", v)
	}

	head := firstPage(t)
	const base, far = 1 << 30, 1 << 32
	for _, path := range []string{"/bin/prog", ""} { // with and without NT_FILE
		d := process(arch.X86_64, binary.LittleEndian)
		d.Maps, d.Auxv = nil, nil
		var regions []dump.Region
		for _, at := range []uint64{base, base + 0x3000, far} {
			d.Maps = append(d.Maps, dump.Mapping{Range: dump.Range{Addr: at, Size: 0x2000}, Read: true, Exec: at != base+0x3000, Path: path})
			regions = append(regions, dump.Region{Addr: at, Data: head})
		}
		d.Memory = dump.NewMemory(d.Order, regions)
		var b bytes.Buffer
		if _, err := Write(&b, d); err != nil {
			t.Fatal(err)
		}
		got, err := Read(hideRest(t, b.Bytes(), d.Order), "core", Options{})
		if err != nil || len(got.Problems) > 0 || len(got.Modules) != 2 {
			t.Fatalf("%q: %+v, %v, %v", path, got.Modules, got.Problems, err)
		}
		if !got.Modules[0].Contains(base+0x3fff) || got.Modules[1].Addr != far {
			t.Errorf("%q: %+v", path, got.Modules)
		}
	}
}

// A separate debug file has the build-id and the program headers of its binary, but no code; eu-strip's debug files
// have the sizes of the missing contents.
func TestDebugFileIsNoBinary(t *testing.T) {
	testenv.Oracle(t)
	folder := testenv.Shared(t, "data", "crashes", "threads")
	prog := filepath.Join(folder, "prog")
	bare := readShared(t, "crashes/threads", Options{})
	for tool, args := range map[string][]string{"objcopy": {"--only-keep-debug", prog}, "eu-strip": {"-o", filepath.Join(t.TempDir(), "stripped"), "-f"}} {
		debug := filepath.Join(t.TempDir(), "prog")
		args := append(args, debug)
		if tool == "eu-strip" {
			args = append(args, prog)
		}
		if out, err := exec.Command(testenv.Tool(t, tool), args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", tool, err, out)
		}
		for _, place := range []string{debug, filepath.Dir(debug)} {
			var tried []string
			d := readShared(t, "crashes/threads", Options{Binaries: []string{place}, Tried: func(path, why string) { tried = append(tried, path+": "+why) }})
			const why = ": a separate debug file, which has no code: want the binary itself"
			if len(d.Memory.Regions) != len(bare.Memory.Regions) || len(d.Problems) != 1 {
				t.Errorf("%s: %d regions, want %d; %v", place, len(d.Memory.Regions), len(bare.Memory.Regions), d.Problems)
			}
			if place == debug && !strings.Contains(d.Problems[0].String(), debug+why) || place != debug && !slices.Contains(tried, debug+why) {
				t.Errorf("%s: %v, %q", place, d.Problems, tried)
			}
		}
	}
}
