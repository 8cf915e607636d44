package unwind

import (
	"bytes"
	"context"
	"debug/elf"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// cfiOpen returns the call frame information of an ELF file whose load base is 0.
func cfiOpen(t testing.TB, path string) *Input {
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

func cfiLibc(t testing.TB) string {
	return testenv.File(t, "/lib/x86_64-linux-gnu/libc.so.6", "libc6")
}

func cfiLoader(t testing.TB) string { return testenv.File(t, "/lib64/ld-linux-x86-64.so.2", "libc6") }

func cfiRead(in *Input) (symfmt.CFITable, Stats, []bin.Problem) {
	r, err := Read(context.Background(), in)
	if err != nil {
		panic(err)
	}
	return r.CFI, r.Stats, r.Problems
}

// cfiTableText returns the text of a table.
func cfiTableText(t *symfmt.CFITable) string {
	var b strings.Builder
	for _, k := range t.Blocks {
		fmt.Fprintf(&b, "STACK CFI INIT %x %x %s\n", uint64(k.RVA), k.Size, t.Rules.Text(k.Init))
		for _, row := range t.Rows[k.First : k.First+k.Count] {
			if text := t.Rules.Text(row.Rules); text != "" {
				fmt.Fprintf(&b, "STACK CFI %x %s\n", uint64(row.RVA), text)
			}
		}
	}
	return b.String()
}

// cfiMarkRanges returns the code that each mark is on.
func cfiMarkRanges(t *symfmt.CFITable) map[symfmt.CFIMarks][]symfmt.Range {
	out := map[symfmt.CFIMarks][]symfmt.Range{}
	add := func(marks symfmt.CFIMarks, from, to symfmt.RVA) {
		for _, mark := range []symfmt.CFIMarks{symfmt.MarkSignal, symfmt.MarkKeyB, symfmt.MarkSigned} {
			list := out[mark]
			switch n := len(list); {
			case marks&mark == 0 || from == to:
			case n > 0 && list[n-1].RVA+symfmt.RVA(list[n-1].Size) == from:
				list[n-1].Size += uint64(to - from)
			default:
				out[mark] = append(list, symfmt.Range{RVA: from, Size: uint64(to - from)})
			}
		}
	}
	for _, b := range t.Blocks {
		at, marks := b.RVA, b.Marks
		for _, row := range t.Rows[b.First : b.First+b.Count] {
			add(marks, at, row.RVA)
			at, marks = row.RVA, row.Marks
		}
		add(marks, at, b.RVA+symfmt.RVA(b.Size))
	}
	return out
}
