package unwind

import (
	"bytes"
	"context"
	"debug/elf"
	"io"
	"testing"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// openInput returns the call frame information of an ELF file whose load base is 0.
func openInput(t testing.TB, path string) *Input {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	a := arch.ByELF(f.Machine, f.Class)
	in := &Input{Arch: a, Order: f.ByteOrder, PtrSize: a.PtrSize}
	in.Exec = func(addr uint64) bool { s := loaded(f, addr); return s != nil && s.Flags&elf.SHF_EXECINSTR != 0 }
	in.CodeEnd = func(addr uint64) (uint64, bool) {
		if s := loaded(f, addr); s != nil {
			return s.Addr + s.Size, true
		}
		return 0, false
	}
	in.Tables = func(addr uint64) (Section, bool) {
		s := loaded(f, addr)
		return contents(t, s), s != nil
	}
	for _, s := range f.Sections {
		switch s.Name {
		case ".eh_frame", ".debug_frame":
			in.Sections = append(in.Sections, contents(t, s))
		case ".ARM.exidx":
			in.Index = append(in.Index, contents(t, s))
		}
	}
	return in
}

func loaded(f *elf.File, addr uint64) *elf.Section {
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_ALLOC != 0 && s.Type != elf.SHT_NOBITS && s.Addr <= addr && addr-s.Addr < s.Size {
			return s
		}
	}
	return nil
}

func contents(t testing.TB, s *elf.Section) (out Section) {
	if s == nil {
		return out
	}
	var data bytes.Buffer
	if _, err := io.Copy(&data, s.Open()); err != nil {
		t.Fatal(err)
	}
	return Section{Name: s.Name, Addr: s.Addr, Data: data.Bytes(), EH: s.Name == ".eh_frame"}
}

func libcPath(t testing.TB) string {
	return testenv.File(t, "/lib/x86_64-linux-gnu/libc.so.6", "libc6")
}

func loaderPath(t testing.TB) string { return testenv.File(t, "/lib64/ld-linux-x86-64.so.2", "libc6") }

func readTable(in *Input) (symfmt.CFITable, Stats, []bin.Problem) {
	r, err := Read(context.Background(), in)
	if err != nil {
		panic(err)
	}
	return r.CFI, r.Stats, r.Problems
}
