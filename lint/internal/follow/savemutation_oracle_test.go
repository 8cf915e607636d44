package follow

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// saveMutations are the changes made to a rule of a saved register or of .ra.
var saveMutations = []string{"-8", "+8", "-16", "swap", "drop", ".ra"}

// saveMutator damages a rule in a line of the symbol file.
type saveMutator struct {
	rnd   *rand.Rand
	names []string // names of registers, .ra first
}

// saveRulesOf returns the fields of a line and the indices of the names of registers whose rules put
// them on the stack.
func saveRulesOf(line string, names []string) (fields []string, at []int) {
	fields = strings.Split(line, " ")
	for i := range fields {
		if name, ok := strings.CutSuffix(fields[i], ":"); ok && slices.Contains(names, name) &&
			i+4 < len(fields) && fields[i+1] == ".cfa" && fields[i+3] == "+" && fields[i+4] == "^" {
			at = append(at, i)
		}
	}
	return fields, at
}

// mutate returns the damaged line. It returns false if the damage does not fit.
func (m *saveMutator) mutate(line, kind string) (changed string, ok bool) {
	names := m.names[1:]
	if kind == ".ra" {
		names = m.names[:1]
	}
	fields, at := saveRulesOf(line, names)
	if len(at) == 0 {
		return "", false
	}
	i := at[m.rnd.IntN(len(at))]
	name := strings.TrimSuffix(fields[i], ":")
	off := 0
	fmt.Sscan(fields[i+2], &off)
	switch kind {
	case "drop":
		fields = slices.Delete(fields, i, i+5)
		if len(fields) == 3 {
			return "", true // STACK CFI and an address
		}
	case "swap":
		other := m.names[1+m.rnd.IntN(len(m.names)-1)]
		if other == name || strings.Contains(line, " "+other+":") {
			return "", false
		}
		fields[i] = other + ":"
	case ".ra":
		fields[i+2] = fmt.Sprint(off - 8)
	default:
		by := 0
		fmt.Sscan(kind, &by)
		fields[i+2] = fmt.Sprint(off + by)
	}
	return strings.Join(fields, " "), true
}

// detectable follows a block with its rules before the damage, and reports whether the damaged rules
// contradict, at any instruction, what the code is known to do. What is known about a part of a
// function comes from its first rules, which are damaged.
func detectable(cpu *CPU, b *Binary, before, after *Table, i int) bool {
	f := newFollower(cpu, before, b.Base)
	block := &before.Blocks[i]
	addr := b.Base + uint64(block.RVA)
	code := b.Code(addr)
	if len(code) == 0 {
		return false
	}
	f.check(block, code[:min(block.Size, uint64(len(code)))], addr)
	if _, reg, off := f.ruleAt(0); f.self || reg != frameSP || off != f.cpu.entry {
		return false
	}
	g := newFollower(cpu, after, b.Base)
	g.ruled = g.ruledSaves(&after.Blocks[i])
	for _, at := range f.order {
		s := &f.state[f.index[at]-1]
		_, reg, off := f.ruleAt(at)
		if s.anchored || reg < 0 || !s.knows(reg) || int64(s.off[reg]) != off {
			continue
		}
		if row := after.Row(&after.Blocks[i], block.RVA+cfiRVA(at)); row != nil && g.wrongSaves(row.saves, s) != 0 {
			return true
		}
	}
	return false
}

// saveShare counts the damaged blocks.
type saveShare struct{ damaged, detectable, found, other int }

func saveMutationShare(t *testing.T, text []byte, path, kind string) (share saveShare, misses []string) {
	f, followed := opened(t, path)
	b, cpu := binaryOf(f), f.Arch
	lines := strings.Split(string(text), "\n")
	before := rowsOf(t, text, cpu)
	m := &saveMutator{rand.New(rand.NewPCG(1, 2)), followed.saves}
	damaged := make([]bool, len(before.Blocks))
	for i := range before.Blocks {
		block := &before.Blocks[i]
		for _, r := range m.rnd.Perm(int(block.end - block.first)) {
			line := &lines[before.rows[int(block.first)+r].Line-1]
			if changed, ok := m.mutate(*line, kind); ok {
				*line, damaged[i] = changed, true
				break
			}
		}
	}
	changed := []byte(strings.Join(lines, "\n"))
	after := rowsOf(t, changed, cpu)
	if len(after.Blocks) != len(before.Blocks) {
		t.Fatalf("%d blocks, %d after the damage", len(before.Blocks), len(after.Blocks))
	}
	found := map[int]bool{}
	Run(followed, after, b, func(finding Finding) {
		if finding.Kind == WrongCFA || finding.Kind == WrongCFASome {
			return
		}
		if block := after.Block(symfmt.RVA(finding.Addr - b.Base)); block != nil {
			found[int(slices.IndexFunc(after.Blocks, func(b Block) bool { return b == *block }))] = true
		}
	})
	for i := range damaged {
		if !damaged[i] {
			continue
		}
		share.damaged++
		switch can := detectable(followed, b, before, after, i); {
		case can && found[i]:
			share.detectable++
			share.found++
		case can:
			share.detectable++
			misses = append(misses, fmt.Sprintf("%s %s: block 0x%x", path, kind, uint64(before.Blocks[i].RVA)))
		case found[i]:
			share.other++
		}
	}
	return share, misses
}

// Damage to a register's rule is found if the code shows what happens to the register.
func TestMutatedSaves(t *testing.T) {
	testenv.Oracle(t)
	paths := []string{testenv.File(t, "/usr/bin/bash", "bash")}
	if testenv.OracleFull() {
		paths = append(paths, testenv.File(t, "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "libstdc++6"),
			testenv.File(t, "/usr/aarch64-linux-gnu/lib/libc.so.6", "libc6-arm64-cross"))
	}
	for _, path := range paths {
		text := testenv.Dump(t, path)
		for _, kind := range saveMutations {
			s, misses := saveMutationShare(t, text, path, kind)
			t.Logf("%s: %s: damaged %d STACK CFI INITs, the code contradicts %d for certain, found %d of them (%.2f %%) and %d others",
				filepath.Base(path), kind, s.damaged, s.detectable, s.found, 100*float64(s.found)/float64(s.detectable), s.other)
			// The code contradicts between half and four fifths of the dropped rules.
			if s.found < s.detectable || s.detectable*3 < s.damaged {
				t.Errorf("%s: %s: too few are found: %q", path, kind, misses[:min(len(misses), 12)])
			}
		}
	}
}
