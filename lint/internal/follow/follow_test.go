package follow

import (
	"bytes"
	"slices"
	"testing"

	"github.com/symtool/symtool/internal/execcode"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// Following any bytes terminates, without a panic.
func FuzzFollow(f *testing.F) {
	f.Add([]byte("\x55\x48\x89\xe5\x5d\xc3"), []byte("STACK CFI INIT 0 6 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI 1 .cfa: $rsp 16 +\n"), false)
	f.Add([]byte("\xfd\x7b\xbf\xa9\xfd\x7b\xc1\xa8\xc0\x03\x5f\xd6"), []byte("STACK CFI INIT 0 c .cfa: sp 0 + .ra: x30\nSTACK CFI 4 .cfa: sp 16 +\n"), true)
	f.Add([]byte("\xe8\x00\x00\x00\x00\xeb\xfe\x62\xf1\x7c\x48\x10"), []byte("STACK CFI INIT 0 ffffffffffffffff .cfa: $rbp 16 +\n"), false)
	f.Fuzz(func(t *testing.T, code, text []byte, isARM bool) {
		cpu, names := frameAMD64, arch.X86_64
		if isARM {
			cpu, names = frameARM64, arch.ARM64
		}
		rows := rowsOf(t, text, names)
		follower := newFollower(cpu, rows, 0)
		for i := range rows.Blocks {
			b := &rows.Blocks[i]
			if at := uint64(b.RVA); at < uint64(len(code)) && i < 100 {
				follower.check(b, code[at:][:min(b.Size, uint64(len(code))-at)], at)
			}
		}
	})
}

// rowsOf returns the STACK CFI rows of a text.
func rowsOf(t testing.TB, text []byte, cpu *arch.Arch) *Table {
	t.Helper()
	var table symfmt.RuleTable
	table.SetArch(cpu)
	rows := NewTable(cpu)
	rd := symfmt.NewReader(bytes.NewReader(text), symfmt.ReadOptions{Tolerant: true})
	for {
		r, err := rd.Next()
		if err != nil {
			break
		}
		if r.Kind == symfmt.KindCFIInit || r.Kind == symfmt.KindCFI {
			rules, _ := table.Rules(table.Parse(r.Name))
			rows.Add(r, rows.Changes(rules))
		}
	}
	rows.Finish()
	return rows
}

// binaryOf returns the follower's view of a file.
func binaryOf(f *object.File) *Binary {
	b := &Binary{Base: f.Base, Tables: f.OS == "windows"}
	for _, r := range f.ExecRanges() {
		b.Size += r.End - r.Start
	}
	parts := execcode.Parts(f)
	b.Code = func(addr uint64) []byte {
		i := slices.IndexFunc(parts, func(p execcode.Part) bool { return addr >= p.Start && addr < p.End })
		if i < 0 {
			return nil
		}
		data, _ := parts[i].Bytes()
		return data[min(addr-parts[i].Start, uint64(len(data))):]
	}
	b.Exported = func(fn func(addr uint64)) {
		f.Symbols(object.Dynamic, func(s *object.Symbol) {
			if s.Kind == object.Function && s.Size > 0 && !s.Undefined {
				fn(s.Addr)
			}
		})
	}
	return b
}

// opened returns an ELF file and its CPU.
func opened(t testing.TB, path string) (*object.File, *CPU) {
	t.Helper()
	f := symtest.Open(t, path)
	return f, CPUOf(f.Arch, f.AddrSize)
}

// Code after a jump that no instruction has led to yet may be a case of a switch. Once other code leads to it, with
// another stack pointer, that counts.
func TestNoCase(t *testing.T) {
	code := "\x55\x48\x89\xe5\x53\x48\x83\xec\x18" + // push %rbp; mov %rsp, %rbp; push %rbx; sub $24, %rsp
		"\x74\x0d\xff\xe0" + // je 18; jmp *%rax
		"\xeb\x09" + // a case: jmp 18
		"\x48\x83\xc4\x18\x74\x05\x5b\x5d\xc3" + // a case: add $24, %rsp; je 1a; pop %rbx; pop %rbp; ret
		"\xeb\xfe" + // 18: jmp 18
		"\x5b\x5d\xc3" // 1a: pop %rbx; pop %rbp; ret
	const rows = "STACK CFI INIT 0 1d .cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI 1 .cfa: $rsp 16 + $rbp: .cfa -16 + ^\nSTACK CFI 4 .cfa: $rbp 16 +\n" +
		"STACK CFI 5 $rbx: .cfa -24 + ^\nSTACK CFI 16 $rbx: $rbx\nSTACK CFI 17 .cfa: $rsp 8 + $rbp: $rbp\n" +
		"STACK CFI 18 .cfa: $rbp 16 + $rbx: .cfa -24 + ^ $rbp: .cfa -16 + ^\nSTACK CFI 1b $rbx: $rbx\nSTACK CFI 1c .cfa: $rsp "
	for offset, want := range map[string]bool{"8": false, "16": true} {
		table := rowsOf(t, []byte(rows+offset+" + $rbp: $rbp\n"), arch.X86_64)
		f := newFollower(frameAMD64, table, 0)
		if m, _ := f.check(&table.Blocks[0], []byte(code), 0); (m != nil) != want || f.save != nil {
			t.Errorf("a rule of $rsp + %s: %v, %v", offset, m, f.save)
		}
	}
}
