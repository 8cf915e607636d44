package lint

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	elfobj "github.com/symtool/symtool/internal/object/elf"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// rowsOf are the STACK CFI rows of a text.
func rowsOf(t testing.TB, text []byte, cpu *arch.Arch) *stackRows {
	t.Helper()
	rows, facts := &stackRows{}, cfiFacts{}
	rd := symfmt.NewReader(bytes.NewReader(text), symfmt.ReadOptions{Tolerant: true})
	for {
		r, err := rd.Next()
		if err != nil {
			break
		}
		if r.Kind == symfmt.KindCFIInit || r.Kind == symfmt.KindCFI {
			facts.sets.fresh(cpu)
			facts.set = facts.sets.of(r.Name)
		}
		rows.see(r, &facts, cpu)
	}
	rows.finish()
	return rows
}

// followed is what the follower compared of a block.
type followed struct {
	certain, anchored []fact // instructions that were compared
	next              map[symfmt.RVA]symfmt.RVA
	mixed             bool // it jumps to one that mutationShares damages, too
	located           bool // something other than the first rule locates the stack pointer
}

// fact is what is known of an instruction without the rules.
type fact struct {
	rva symfmt.RVA
	s   frameState
}

// compared follows all blocks of a file.
func compared(b *elfBinary, rows *stackRows) []followed {
	f := newFollower(followCPU(b), rows, b.base)
	all := make([]followed, len(rows.blocks))
	for i := range rows.blocks {
		block := &rows.blocks[i]
		addr := b.addr(block.rva)
		code := b.code(addr)
		if len(code) == 0 {
			continue
		}
		f.check(block, code[:min(block.size, uint64(len(code)))], addr)
		all[i].next = map[symfmt.RVA]symfmt.RVA{}
		if f.self {
			continue
		}
		for _, e := range f.exits {
			_, ok := f.entered(e.target)
			all[i].located = all[i].located || ok
			if to := rows.block(b.rva(e.target)); ok && e.target != 0 && to != nil && slices.Index(rows.blocks, *to)%8 == 3 {
				all[i].mixed = true
			}
		}
		for j, at := range f.order {
			rva := block.rva + symfmt.RVA(at)
			if j > 0 {
				all[i].next[block.rva+symfmt.RVA(f.order[j-1])] = rva
			}
			row, reg, off := f.ruleAt(at)
			s := &f.state[f.index[at]-1]
			if reg < 0 || !s.knows(reg) || int64(s.off[reg]) != off || rows.places[row.rules[1]].kind == placeUndef {
				continue
			}
			if s.anchored {
				all[i].anchored = append(all[i].anchored, fact{rva, *s})
			} else {
				all[i].certain = append(all[i].certain, fact{rva, *s})
			}
		}
	}
	b.exported(func(addr uint64) { f.calls[addr] = struct{}{} })
	for i := range all {
		if _, called := f.calls[b.addr(rows.blocks[i].rva)]; called {
			all[i].located = true
		}
	}
	return all
}

// mutator damages one record in each block.
type mutator struct {
	rnd   *rand.Rand
	lines []string
	rows  *stackRows
	seen  []followed
}

var mutations = []string{"+8", "-8", "+16", "INIT +8", "INIT +16", "drop", "shift"}

// mutate changes a record of a block; false if no record is suitable.
func (m *mutator) mutate(i int, kind string) bool {
	b := &m.rows.blocks[i]
	var at []uint32 // rows with a rule for .cfa
	for r := b.first; r < b.end; r++ {
		if rule := m.lines[m.rows.rows[r].line-1]; strings.Contains(rule, ".cfa: ") && m.rows.cfa(&m.rows.rows[r]).kind == placeSum {
			if r > b.first && m.rows.rows[r].rules[0] == m.rows.rows[r-1].rules[0] {
				continue
			}
			at = append(at, r)
		}
	}
	initOnly := strings.HasPrefix(kind, "INIT ")
	if initOnly {
		if len(at) == 0 || at[0] != b.first {
			return false
		}
		at, kind = at[:1], kind[5:]
	} else if len(at) > 0 && at[0] == b.first {
		at = at[1:]
	}
	if len(at) == 0 {
		return false
	}
	r := at[m.rnd.IntN(len(at))]
	line := &m.lines[m.rows.rows[r].line-1]
	switch kind {
	case "drop":
		*line = ""
	case "shift":
		next, ok := m.seen[i].next[m.rows.rows[r].rva]
		if !ok || r+1 < b.end && next >= m.rows.rows[r+1].rva {
			return false
		}
		*line = strings.Replace(*line, fmt.Sprintf("STACK CFI %x ", m.rows.rows[r].rva), fmt.Sprintf("STACK CFI %x ", next), 1)
	default:
		by, _ := strconv.Atoi(kind)
		head, rest, _ := strings.Cut(*line, ".cfa: ")
		fields := strings.SplitN(rest, " ", 3)
		off, err := strconv.Atoi(fields[1])
		if err != nil {
			return false
		}
		fields[1] = strconv.Itoa(off + by)
		*line = head + ".cfa: " + strings.Join(fields, " ")
	}
	return true
}

type foundShare struct{ certain, certainOf, anchored, anchoredOf, harmless int }

// mutationShares damages a symbol file and counts what is found.
func mutationShares(t *testing.T, text []byte, f *elfobj.File, kind string, misses *[]string) (share foundShare) {
	b := openBinary(f)
	cpu := arch.ByELF(f.Machine, f.Class)
	m := &mutator{rnd: rand.New(rand.NewPCG(1, 2)), lines: strings.Split(string(text), "\n"), rows: rowsOf(t, text, cpu)}
	m.seen = compared(b, m.rows)
	damaged := make([]bool, len(m.rows.blocks))
	for i := range m.rows.blocks {
		// Other rules report a block that is wrong as a whole.
		damaged[i] = (i%8 == 3 || !strings.HasPrefix(kind, "INIT")) && m.mutate(i, kind)
	}
	changed := []byte(strings.Join(m.lines, "\n"))
	after := rowsOf(t, changed, cpu)
	if len(after.blocks) != len(m.rows.blocks) {
		t.Fatalf("%d blocks, %d after the damage", len(m.rows.blocks), len(after.blocks))
	}
	found := map[int]bool{}
	for _, finding := range lintBinary(t, changed, f, Options{Rules: binaryRules, MaxPerRule: 1 << 30}).Findings {
		if finding.Rule.ID != "SYM551" && finding.Rule.ID != "SYM553" {
			continue
		}
		if i := slices.IndexFunc(after.blocks, func(b rowBlock) bool { return uint64(finding.RVA-b.rva) < b.size }); i >= 0 {
			found[i] = true
		}
	}
	number := newFollower(followCPU(b), after, b.base).numReg
	// A rule may be another one and right: "rsp + 16" and "rbp + 16" behind a mov.
	wrongAt := func(i int, at []fact) bool {
		for j := range at {
			p := after.cfa(after.row(&after.blocks[i], at[j].rva))
			r, st := number[p.base], &at[j].s
			if st.knows(r) && int64(st.off[r]) != p.off || r == frameFP && st.caller {
				return true
			}
		}
		return false
	}
	for i := range damaged {
		switch {
		case !damaged[i]:
		case wrongAt(i, m.seen[i].certain) && !(strings.HasPrefix(kind, "INIT") && (!m.seen[i].located || m.seen[i].mixed)):
			share.certainOf++
			if found[i] {
				share.certain++
			} else {
				*misses = append(*misses, fmt.Sprintf("%s %s: block 0x%x", f.Path, kind, uint64(m.rows.blocks[i].rva)))
			}
		case wrongAt(i, m.seen[i].anchored), wrongAt(i, m.seen[i].certain):
			share.anchoredOf++
			if found[i] {
				share.anchored++
			}
		default:
			share.harmless++
		}
	}
	return share
}

// Damage to a rule that is wrong at an instruction which was followed is found.
func TestMutatedRules(t *testing.T) {
	testenv.Oracle(t)
	paths := []string{testenv.File(t, "/usr/bin/bash", "bash")}
	if testenv.OracleFull() {
		paths = append(paths, testenv.File(t, "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "libstdc++6"),
			testenv.File(t, "/usr/aarch64-linux-gnu/lib/libc.so.6", "libc6-arm64-cross"))
	}
	for _, path := range paths {
		text, f := dumped(t, path), openELF(t, path)
		for _, kind := range mutations {
			var misses []string
			s := mutationShares(t, text, f, kind, &misses)
			t.Logf("%s: %s: found %d of %d that are wrong where the code was followed, %d of %d where it is known by a rule alone; %d are wrong at no instruction that was followed",
				filepath.Base(path), kind, s.certain, s.certainOf, s.anchored, s.anchoredOf, s.harmless)
			for i, miss := range misses {
				if i < 12 {
					t.Error(miss)
				}
			}
			if s.certainOf == 0 {
				t.Errorf("%s: %s: nothing was damaged", path, kind)
			}
		}
	}
}
