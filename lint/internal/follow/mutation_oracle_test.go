package follow

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// followed is what the follower compared in a block.
type followed struct {
	certain, anchored []fact // instructions that were compared
	next              map[symfmt.RVA]symfmt.RVA
	mixed             bool // it jumps to a block that mutationShares also damages
	located           bool // something other than the first rule locates the stack pointer
}

// fact is what is known at an instruction without the rules.
type fact struct {
	rva symfmt.RVA
	s   frameState
}

// compared follows all blocks of a file.
func compared(cpu *CPU, b *Binary, rows *Table) []followed {
	f := newFollower(cpu, rows, b.Base)
	all := make([]followed, len(rows.Blocks))
	for i := range rows.Blocks {
		block := &rows.Blocks[i]
		addr := b.Base + uint64(block.RVA)
		code := b.Code(addr)
		if len(code) == 0 {
			continue
		}
		f.check(block, code[:min(block.Size, uint64(len(code)))], addr)
		all[i].next = map[symfmt.RVA]symfmt.RVA{}
		if f.self {
			continue
		}
		for _, e := range f.exits {
			_, ok := f.entered(e.target)
			all[i].located = all[i].located || ok
			if to := rows.Block(symfmt.RVA(e.target - b.Base)); ok && e.target != 0 && to != nil && slices.Index(rows.Blocks, *to)%8 == 3 {
				all[i].mixed = true
			}
		}
		for j, at := range f.order {
			rva := block.RVA + symfmt.RVA(at)
			if j > 0 {
				all[i].next[block.RVA+symfmt.RVA(f.order[j-1])] = rva
			}
			row, reg, off := f.ruleAt(at)
			s := &f.state[f.index[at]-1]
			if reg < 0 || !s.knows(reg) || int64(s.off[reg]) != off || rows.places[row.rules[1]].Kind == PlaceUndef {
				continue
			}
			if s.anchored {
				all[i].anchored = append(all[i].anchored, fact{rva, *s})
			} else {
				all[i].certain = append(all[i].certain, fact{rva, *s})
			}
		}
	}
	b.Exported(func(addr uint64) { f.calls[addr] = false })
	for i := range all {
		if _, called := f.calls[b.Base+uint64(rows.Blocks[i].RVA)]; called {
			all[i].located = true
		}
	}
	return all
}

// mutator damages one record in each block.
type mutator struct {
	rnd   *rand.Rand
	lines []string
	rows  *Table
	seen  []followed
}

var mutations = []string{"+8", "-8", "+16", "INIT +8", "INIT +16", "drop", "shift"}

// mutate changes a record of a block. It returns false if no record is suitable.
func (m *mutator) mutate(i int, kind string) bool {
	b := &m.rows.Blocks[i]
	var at []uint32 // rows with a rule for .cfa
	for r := b.first; r < b.end; r++ {
		if rule := m.lines[m.rows.rows[r].Line-1]; strings.Contains(rule, ".cfa: ") && m.rows.cfa(&m.rows.rows[r]).Kind == PlaceSum {
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
	line := &m.lines[m.rows.rows[r].Line-1]
	switch kind {
	case "drop":
		*line = ""
	case "shift":
		next, ok := m.seen[i].next[m.rows.rows[r].RVA]
		if !ok || r+1 < b.end && next >= m.rows.rows[r+1].RVA {
			return false
		}
		*line = strings.Replace(*line, fmt.Sprintf("STACK CFI %x ", m.rows.rows[r].RVA), fmt.Sprintf("STACK CFI %x ", next), 1)
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

// mutationShares damages a symbol file and counts how much of the damage is found.
func mutationShares(t *testing.T, text []byte, path, kind string, misses *[]string) (share foundShare) {
	f, followed := opened(t, path)
	b, cpu := binaryOf(f), f.Arch
	m := &mutator{rnd: rand.New(rand.NewPCG(1, 2)), lines: strings.Split(string(text), "\n"), rows: rowsOf(t, text, cpu)}
	m.seen = compared(followed, b, m.rows)
	damaged := make([]bool, len(m.rows.Blocks))
	for i := range m.rows.Blocks {
		// Other rules report a block that is wrong as a whole.
		damaged[i] = (i%8 == 3 || !strings.HasPrefix(kind, "INIT")) && m.mutate(i, kind)
	}
	changed := []byte(strings.Join(m.lines, "\n"))
	after := rowsOf(t, changed, cpu)
	if len(after.Blocks) != len(m.rows.Blocks) {
		t.Fatalf("%d blocks, %d after the damage", len(m.rows.Blocks), len(after.Blocks))
	}
	found := map[int]bool{}
	Run(followed, after, b, func(finding Finding) {
		if finding.Kind != WrongCFA && finding.Kind != WrongCFASome {
			return
		}
		rva := symfmt.RVA(finding.Addr - b.Base)
		if i := slices.IndexFunc(after.Blocks, func(b Block) bool { return uint64(rva-b.RVA) < b.Size }); i >= 0 {
			found[i] = true
		}
	})
	number := newFollower(followed, after, b.Base).numReg
	// A rule may differ and still be right: "rsp + 16" and "rbp + 16" after a mov.
	wrongAt := func(i int, at []fact) bool {
		for j := range at {
			p := after.cfa(after.Row(&after.Blocks[i], at[j].rva))
			r, st := number[p.Base], &at[j].s
			if st.knows(r) && int64(st.off[r]) != p.Off || r == frameFP && st.caller {
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
				*misses = append(*misses, fmt.Sprintf("%s %s: block 0x%x", path, kind, uint64(m.rows.Blocks[i].RVA)))
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

// Damage that makes a rule wrong at a followed instruction is found.
func TestMutatedRules(t *testing.T) {
	testenv.Oracle(t)
	paths := []string{testenv.File(t, "/usr/bin/bash", "bash")}
	if testenv.OracleFull() {
		paths = append(paths, testenv.File(t, "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "libstdc++6"),
			testenv.File(t, "/usr/aarch64-linux-gnu/lib/libc.so.6", "libc6-arm64-cross"))
	}
	for _, path := range paths {
		text := testenv.Dump(t, path)
		for _, kind := range mutations {
			var misses []string
			s := mutationShares(t, text, path, kind, &misses)
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
