package dropin_test

import (
	"bytes"
	"debug/elf"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/app"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/elfcore"
)

// TestStackKnowsWhatResolveKnows checks that symtool as eu-stack knows as much about the code that a core's threads
// are in as resolve knows about its addresses, wherever the debug information is.
func TestStackKnowsWhatResolveKnows(t *testing.T) {
	compared := 0
	for _, c := range parityCases {
		if !strings.HasSuffix(c.files[0], ".elf") || c.name == "an object" || c.name == "a kernel module" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			p := c.place(t)
			want := p.resolved(t)
			checkLines(t, want, c.lines)
			got := p.stacks(t)
			for i := range want {
				asPrinted(want[i], got[i])
			}
			p.compare(t, "eu-stack", want, "resolve", got)
		})
		compared++
	}
	if compared < 25 {
		t.Errorf("only %d cases", compared)
	}
}

// TestStackFindsSupplementBelowFolder checks that dwz's file is also found below a folder of --debuginfo-path, by an
// absolute link into another folder.
func TestStackFindsSupplementBelowFolder(t *testing.T) {
	c := parityCases[slices.IndexFunc(parityCases, func(c parityCase) bool { return c.name == "dwz 4" })]
	p := c.place(t)
	want := p.resolved(t)
	dir := filepath.Dir(p.path)
	if err := os.MkdirAll(filepath.Join(dir, "D", ".dwz"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "dwz4-common.debug"), filepath.Join(dir, "D", ".dwz", "common.debug")); err != nil {
		t.Fatal(err)
	}
	linkTo(t, p.path, "/usr/lib/debug/.dwz/common.debug")
	p.flags = map[string][]string{"eu-addr2line": {"--debuginfo-path", filepath.Join(dir, "D")}}
	got := p.stacks(t)
	for i := range want {
		asPrinted(want[i], got[i])
	}
	p.compare(t, "eu-stack", want, "resolve", got)
}

// linkTo changes the name in the .gnu_debugaltlink section of a 64-bit file. The section moves to the end of the file.
func linkTo(t *testing.T, path, name string) {
	t.Helper()
	file, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(file.Sections, func(s *elf.Section) bool { return s.Name == ".gnu_debugaltlink" })
	if i < 0 || file.Class != elf.ELFCLASS64 {
		t.Fatal("no .gnu_debugaltlink in a 64-bit file")
	}
	old, err := file.Sections[i].Data()
	if err != nil {
		t.Fatal(err)
	}
	link := slices.Concat([]byte(name), old[bytes.IndexByte(old, 0):]) // including the build-id
	header := data[file.ByteOrder.Uint64(data[40:])+64*uint64(i):]
	file.ByteOrder.PutUint64(header[24:], uint64(len(data)))
	file.ByteOrder.PutUint64(header[32:], uint64(len(link)))
	if err := os.WriteFile(path, append(data, link...), 0o777); err != nil {
		t.Fatal(err)
	}
}

// asPrinted removes from the frames that resolve finds what eu-stack does not print: files without a line, and the
// folder of a file whose name in the line table is relative to another folder.
func asPrinted(want, got []known) {
	for k := range want {
		if want[k].line == 0 {
			want[k].file = ""
		}
		if k < len(got) && got[k].file != "" && !filepath.IsAbs(got[k].file) && strings.HasSuffix(want[k].file, "/"+got[k].file) {
			want[k].file = got[k].file
		}
	}
}

// stacks returns the frames that eu-stack prints for threads at the addresses.
func (p *parity) stacks(t *testing.T) [][]known {
	t.Helper()
	core := filepath.Join(t.TempDir(), "core")
	base := p.writeCore(t, core)
	args := []string{"-i", "-s", "-n", "0", "-e", p.path, "--core", core}
	if p.flags != nil {
		args = append(args, "--debuginfo-path", p.flags["eu-addr2line"][1])
	}
	all, at := make([][]known, len(p.rvas)), -1
	var out, messages bytes.Buffer // messages are about callers, which these threads do not have
	app.Run(t.Context(), append([]string{"symtool", "as", "eu-stack"}, args...), strings.NewReader(""), &out, &messages)
	for line := range strings.Lines(out.String()) {
		line = strings.TrimSuffix(line, "\n")
		if id, ok := strings.CutPrefix(line, "TID "); ok {
			at, _ = strconv.Atoi(strings.TrimSuffix(id, ":"))
			at--
			continue
		}
		if at < 0 {
			continue
		}
		frames := &all[at]
		if place, ok := strings.CutPrefix(line, "    "); ok {
			if parts := strings.Split(place, ":"); len(*frames) > 0 && len(parts) > 1 && (*frames)[len(*frames)-1].line == 0 {
				last := &(*frames)[len(*frames)-1]
				last.file = parts[0]
				last.line, _ = strconv.Atoi(parts[1])
			}
			continue
		}
		words := strings.SplitN(strings.TrimLeft(line[strings.IndexByte(line, ' ')+1:], " "), " ", 2)
		if pc, err := strconv.ParseUint(words[0], 0, 64); err == nil && pc == base+uint64(p.rvas[at]) && len(words) == 2 {
			*frames = append(*frames, known{name: words[1]})
		} else {
			at = -1 // a caller
		}
	}
	return all
}

// writeCore writes a core whose threads are at the addresses, and returns the load address of the binary in it.
func (p *parity) writeCore(t *testing.T, path string) uint64 {
	t.Helper()
	f, err := objfile.Open(p.path, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	file, err := elf.Open(p.path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	base, moved := f.Base, uint64(0)
	if f.Kind == object.Shared {
		moved = 0x10000000
		base += moved
	}
	const stack = 0x70000000
	d := &dump.Dump{Arch: f.Arch, Order: f.Order, System: dump.System{OS: dump.Linux}, Process: dump.Process{ID: 1, HasID: true}}
	regions := []dump.Region{{Addr: stack, Data: make([]byte, 0x1000)}}
	for _, s := range file.Progs {
		if s.Type != elf.PT_LOAD || s.Memsz == 0 {
			continue
		}
		data, err := io.ReadAll(s.Open())
		if err != nil {
			t.Fatal(err)
		}
		regions = append(regions, dump.Region{Addr: s.Vaddr + moved, Data: data})
		lo, hi := (s.Vaddr+moved)&^0xfff, (s.Vaddr+moved+s.Filesz+0xfff)&^0xfff
		d.Maps = append(d.Maps, dump.Mapping{Range: dump.Range{Addr: lo, Size: hi - lo}, Read: true, Write: s.Flags&elf.PF_W != 0,
			Exec: s.Flags&elf.PF_X != 0, Offset: s.Off &^ 0xfff, Path: p.path})
	}
	last := d.Maps[len(d.Maps)-1]
	d.Modules = []dump.Module{{Range: dump.Range{Addr: base, Size: last.Addr + last.Size - base}, Path: p.path, DebugFile: filepath.Base(p.path),
		DebugID: f.ID(), BuildID: f.BuildID()}}
	d.Memory = dump.NewMemory(f.Order, regions)
	for i, rva := range p.rvas {
		c := dump.NewContext(f.Arch)
		for k := range f.Arch.Regs {
			c.SetAt(k, 0)
		}
		c.Set(f.Arch.PC, base+uint64(rva))
		c.Set(f.Arch.SP, stack)
		d.Threads = append(d.Threads, dump.Thread{ID: uint32(i + 1), Context: c, Stack: dump.Range{Addr: stack, Size: 0x1000}})
	}
	var out bytes.Buffer
	if _, err := elfcore.Write(&out, d); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, out.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return base
}
