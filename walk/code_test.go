package walk

import (
	elfobj "github.com/symtool/symtool/internal/object/elfobj"

	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// processWith returns an unwinder for a process with one module and no memory.
func processWith(t *testing.T, s *SymbolSet, m dump.Module, a *arch.Arch) *unwinder {
	w := NewWalker(s, Config{})
	d := &dump.Dump{Order: binary.LittleEndian, System: dump.System{OS: dump.Linux}, Modules: []dump.Module{m}}
	d.Memory.Order = d.Order
	return &unwinder{Walker: w, machine: w.machine(a), ctx: context.Background(), d: d, result: &Result{Dump: d, Modules: make([]Symbols, 1)}, stack: &Stack{}}
}

// Code that the dump lacks is read from the binary, wherever the module is, with or without section
// headers. A debug file has no code.
func TestCode(t *testing.T) {
	path := testenv.Shared(t, "data", "arch", "x86", "prog")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := objfile.Open(path, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text := elfobj.Of(f).Header(".text")

	bare := filepath.Join(t.TempDir(), "prog") // without section headers
	copyFile(t, path, bare, func(data []byte) {
		clear(data[0x20:0x24]) // e_shoff
		clear(data[0x30:0x34]) // e_shnum, e_shstrndx
	})
	const moved = 0x1234000
	module := dump.Module{Range: dump.Range{Addr: elfobj.Of(f).HeaderAddr() + moved, Size: 0xa5000}, Path: "prog", BuildID: f.BuildID()}
	for _, file := range []string{path, bare} {
		u := processWith(t, binarySources(t, file), module, arch.X86)
		for off := uint64(0); off+16 <= text.FileSize; off += 4001 {
			want := data[text.Offset+off:][:16]
			if got := u.code(text.Addr+moved+off, 16); !bytes.Equal(got, want) {
				t.Fatalf("%s: %x at %#x, want %x", file, got, text.Addr+off, want)
			}
		}
		for what, addr := range map[string]uint64{
			"data":              f.Section(".data").Addr + moved,
			"no module":         module.Addr - 16,
			"behind the module": module.Addr + module.Size,
		} {
			if got := u.code(addr, 4); got != nil {
				t.Errorf("%s: %s: %x", file, what, got)
			}
		}
		if got := u.code(module.Addr+module.Size-1, 16); got != nil {
			t.Errorf("%s: code that reaches beyond the end: %x", file, got)
		}
	}

	// The functions to which glibc's handlers return are recognised by their code, too.
	u := processWith(t, binarySources(t, bare), module, arch.X86)
	found := 0
	err = f.Symbols(object.Symtab, func(s *object.Symbol) {
		if kind := map[string]string{"__restore": "old", "__restore_rt": "rt"}[string(s.Name)]; kind != "" {
			found++
			if l, pushed := u.signalFrameByCode(s.Addr + moved); l == nil || l.Name != kind || pushed != 0 {
				t.Errorf("%s: %v", s.Name, l)
			}
		}
	})
	if err != nil || found != 2 {
		t.Errorf("%d functions, %v", found, err)
	}
	if u := processWith(t, &SymbolSet{}, module, arch.X86); u.code(text.Addr+moved, 4) != nil {
		t.Error("code without a binary")
	}
}

// A separate debug file has the headers of sections with code, and other bytes at their offsets.
func TestNoCode(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testenv.Shared(t, "data", "crashes", "system"), "libc*.debug"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	f, err := objfile.Open(files[0], object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for _, s := range f.Sections {
		if s.Exec {
			n++
			if got := codeSection(f, s.Addr); got != nil {
				t.Errorf("%s has code", s.Name)
			}
		}
	}
	if n == 0 {
		t.Error("no sections of code")
	}
}
