package lint

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/lint/internal/facts"
	"github.com/symtool/symtool/symfmt"
)

// space is the number of addresses in the random files.
const space = 96

// naive is the oracle's model of a file, byte by byte.
type naive struct {
	text      strings.Builder
	funcs     []naiveFunc
	publics   []int
	block     *naiveBlock
	covered   [space]bool
	x86       bool
	blocks    int
	wins      int
	hasModule bool
}

type naiveFunc struct {
	rva, size, lines int
	lined            [space]bool
}

// naiveBlock is a STACK CFI block.
type naiveBlock struct {
	rva, size int
	rows      []naiveRow
}

type naiveRow struct {
	at   int
	rule naiveRule
}

// naiveRule is a text of rules, and the state of .cfa and .ra: '+' for a rule that can be computed,
// '-' for one that cannot, ' ' for no rule. Everything after a text that does not parse is lost.
type naiveRule struct {
	text    string
	cfa, ra byte
	broken  bool
}

var naiveRules = []naiveRule{
	{".cfa: $esp 4 + .ra: .cfa -4 + ^", '+', '+', false},
	{".cfa: $esp 4 + .ra: .cfa -4 + ^", '+', '+', false},
	{".cfa: $esp 8 +", '+', ' ', false},
	{".ra: 0", ' ', '+', false},
	{".ra: 1", ' ', '+', false},
	{".ra: .undef", ' ', '+', false},
	{".cfa: .undef", '-', ' ', false},
	{".cfa: .cfa 8 +", '-', ' ', false},
	{".cfa: $esp +", '-', ' ', false},
	{".ra: $rip", ' ', '-', false},
	{".ra: 1 2", ' ', '-', false},
	{"$ebx: .cfa -8 + ^", ' ', ' ', false},
	{"$ebx: + .ra: $esp ^", ' ', '+', false},
	{".cfa: .ra: $esp ^", ' ', ' ', true},
}

// end computes what a block covers, address by address.
func (n *naive) end() {
	b := n.block
	n.block = nil
	if b == nil {
		return
	}
	for at := b.rva; at < b.rva+b.size; at++ {
		cfa, ra, broken := byte(' '), byte(' '), false
		highest := 0
		for _, row := range b.rows {
			if row.at < b.rva || row.at >= b.rva+b.size {
				continue
			}
			if highest = max(highest, row.at); highest > at {
				break
			}
			broken = broken || row.rule.broken
			if row.rule.cfa != ' ' {
				cfa = row.rule.cfa
			}
			if row.rule.ra != ' ' {
				ra = row.rule.ra
			}
		}
		if cfa == '+' && ra == '+' && !broken {
			n.covered[at] = true
		}
	}
}

// random writes a file with few records at few addresses, and records their meaning.
func random(r *rand.Rand) *naive {
	n := &naive{x86: true, hasModule: true}
	cpu := "x86"
	if r.IntN(4) == 0 {
		cpu, n.x86 = "mips", false
	}
	fmt.Fprintf(&n.text, "MODULE windows %s 0123456789ABCDEF0123456789ABCDEF1 a\nFILE 0 a.c\n", cpu)
	for range r.IntN(40) {
		rva := r.IntN(space - 1)
		size := r.IntN(min(24, space-rva))
		switch kind := r.IntN(12); {
		case kind < 2:
			n.funcs = append(n.funcs, naiveFunc{rva: rva, size: size})
			fmt.Fprintf(&n.text, "FUNC %x %x 0 f\n", rva, size)
			n.lines(r, &n.funcs[len(n.funcs)-1])
		case kind == 2:
			n.publics = append(n.publics, rva)
			fmt.Fprintf(&n.text, "PUBLIC %x 0 p\n", rva)
		case kind < 6:
			n.end()
			rule := n.rule(r, naiveRules[:max(1, r.IntN(len(naiveRules)-1))])
			n.block = &naiveBlock{rva, size, []naiveRow{{rva, rule}}}
			n.blocks++
			fmt.Fprintf(&n.text, "STACK CFI INIT %x %x %s\n", rva, size, rule.text)
			if size == 0 {
				n.block.rows = nil
			}
		case kind < 11:
			if n.block == nil {
				continue
			}
			at := n.block.rva + r.IntN(n.block.size+2) // sometimes after it
			rule := n.rule(r, naiveRules)
			n.block.rows = append(n.block.rows, naiveRow{at, rule})
			fmt.Fprintf(&n.text, "STACK CFI %x %s\n", at, rule.text)
		default:
			n.win(r, rva, size)
		}
	}
	n.end()
	return n
}

// rule picks a rule that has the same meaning for the CPU.
func (n *naive) rule(r *rand.Rand, from []naiveRule) naiveRule {
	rule := from[r.IntN(len(from))]
	if !n.x86 {
		rule.text = strings.ReplaceAll(strings.ReplaceAll(rule.text, "$esp", "$sp"), "$ebx", "$s0")
	}
	return rule
}

func (n *naive) lines(r *rand.Rand, f *naiveFunc) {
	at := f.rva
	for range r.IntN(6) {
		if r.IntN(3) == 0 {
			at = r.IntN(space - 8) // out of order, or at the function
		}
		size := r.IntN(8)
		fmt.Fprintf(&n.text, "%x %x 1 0\n", at, size)
		f.lines++
		for i := at; i < at+size && i < space; i++ {
			f.lined[i] = true
		}
		at += size
	}
}

func (n *naive) win(r *rand.Rand, rva, size int) {
	n.wins++
	kind, flag, last, usable := r.IntN(6), 1, "$T0 .raSearchStart = $eip $T0 ^ = $esp $T0 4 + =", true
	switch r.IntN(4) {
	case 0:
		flag, last = 0, "0"
	case 1:
		last, usable = "$eip 1 =", false
	case 2:
		last, usable = "$eip $esp ^", false
	}
	fmt.Fprintf(&n.text, "STACK WIN %x %x %x 0 0 0 0 0 0 %d %s\n", kind, rva, size, flag, last)
	if usable && n.x86 && (kind == facts.WinFPO || kind == facts.WinFrameData) {
		for i := rva; i < rva+size; i++ {
			n.covered[i] = true
		}
	}
}

// coverage counts bytes.
func (n *naive) coverage() *coverage.Coverage {
	c := &coverage.Coverage{Functions: len(n.funcs), Publics: len(n.publics), Blocks: n.blocks, WinBlocks: n.wins}
	share := func(s *coverage.Share, covered bool) {
		s.Total++
		if covered {
			s.Covered++
		}
	}
	for i := range n.funcs {
		f := &n.funcs[i]
		share(&c.Entries, n.covered[f.rva])
		share(&c.WithLines, f.lines > 0)
		some, all := false, true
		for at := f.rva; at < f.rva+f.size; at++ {
			share(&c.Code, n.covered[at])
			share(&c.Lines, f.lined[at])
			some, all = some || n.covered[at], all && n.covered[at]
		}
		c.LineEnds.Total += uint64(f.lines)
		switch {
		case all:
			c.LineEnds.Covered += uint64(f.lines)
		case some:
			c.LineEnds.Unsure += uint64(f.lines)
		}
	}
	for _, rva := range n.publics {
		share(&c.Public, n.covered[rva])
	}
	c.All = n.code()
	return c
}

// code counts the bytes of functions and public symbols. A public symbol extends to the end of its
// rules or, without rules, to the next symbol; the last one extends to the end of its page.
func (n *naive) code() coverage.CodeShare {
	const page = 4096
	var begins, named [page]bool
	for i := range n.funcs {
		f := &n.funcs[i]
		begins[f.rva] = true
		for at := f.rva; at < f.rva+f.size; at++ {
			named[at] = true
		}
	}
	for _, rva := range n.publics {
		begins[rva] = true
	}
	covered := func(at int) bool { return at < space && n.covered[at] }
	for _, rva := range n.publics {
		for at := rva; at < page && (at == rva || !begins[at]) && covered(at) == covered(rva); at++ {
			named[at] = true
		}
	}
	s := coverage.CodeShare{Of: coverage.CodeOfRecords}
	for at, is := range named {
		if is {
			s.Total++
			if covered(at) {
				s.Covered++
			}
		}
	}
	return s
}

func TestCoverageAgainstBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long with the race detector")
	}
	partial, unsure, gaps := 0, 0, 0
	for seed := range uint64(2000) {
		n := random(rand.New(rand.NewPCG(seed, 8)))
		got, want := lintText(t, n.text.String()).Coverage, n.coverage()
		figures := *got
		figures.Worst, figures.WorstLines, figures.Verdict, figures.Reasons, figures.Known, figures.Unnamed = nil, nil, "", nil, nil, 0
		if !reflect.DeepEqual(figures, *want) {
			t.Fatalf("seed %d: got %#v\nwant %#v\n%s", seed, figures, *want, n.text.String())
		}
		var missing, without uint64
		for _, g := range got.Worst {
			missing += g.Missing
		}
		for _, g := range got.WorstLines {
			without += g.Missing
		}
		if missing != want.All.Total-want.All.Covered || without != want.Lines.Total-want.Lines.Covered {
			t.Fatalf("seed %d: the worst functions miss %d of %d and %d bytes\n%s", seed, missing, want.All.Total-want.All.Covered, without, n.text.String())
		}
		gaps += len(got.Worst)
		if got.Code.Covered > 0 && got.Code.Covered < got.Code.Total {
			partial++
		}
		unsure += int(got.LineEnds.Unsure)
	}
	if partial < 250 || unsure < 250 || gaps < 1000 {
		t.Errorf("%d files covered in part, %d lines unsure, %d gaps: the files are too simple", partial, unsure, gaps)
	}
}

// The figures of "dump --check-cfi", computed from the model byte by byte.
func TestCoverageOfGoldens(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testenv.Root(t), "golden", "dwarf2sym", "*.sym"))
	if err != nil || len(files) < 50 {
		t.Fatal(len(files), err)
	}
	functions, without := 0, 0
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		result, err := symfmt.Read(context.Background(), strings.NewReader(string(text)), symfmt.ReadOptions{Tolerant: true})
		if err != nil {
			t.Fatal(err)
		}
		m := result.Module
		covered := map[symfmt.RVA]bool{}
		for i := range m.CFI.Blocks {
			b := &m.CFI.Blocks[i]
			for at := b.RVA; at < b.RVA+symfmt.RVA(b.Size); at++ {
				covered[at] = true
			}
		}
		var want coverage.Share
		for i := range m.Funcs {
			f := &m.Funcs[i]
			functions++
			for at := f.RVA; at < f.RVA+symfmt.RVA(f.Size); at++ {
				want.Total++
				if covered[at] {
					want.Covered++
				}
			}
		}
		without += int(want.Total - want.Covered)
		if got := lintText(t, string(text)).Coverage.Code; got != want {
			t.Errorf("%s: got %+v, want %+v", filepath.Base(path), got, want)
		}
	}
	t.Logf("%d files, %d functions, %d bytes without STACK CFI", len(files), functions, without)
	if functions < 1000 || without == 0 {
		t.Error("the files are too simple")
	}
}

// Damaged files have functions that end with the address space, and bytes that
// 64 bits cannot count.
func TestCoverageAtTheEnd(t *testing.T) {
	c := lintText(t, "MODULE Linux x86_64 0 a\n"+
		"FUNC fffffffffffffff0 f 0 f\nfffffffffffffff0 8 1 0\nfffffffffffffff8 7 1 0\n"+
		"FUNC 0 ffffffffffffffff 0 g\nFUNC 1 fffffffffffffffe 0 h\n"+
		"STACK CFI INIT fffffffffffffff8 7 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n").Coverage
	if c.Code.Total != 1<<64-1 || c.Code.Covered != 21 || c.Lines.Covered != 15 || c.Entries.Covered != 0 {
		t.Errorf("%+v", *c)
	}
	if s := c.Code.String(); s != "0.00 %" {
		t.Errorf("share %s", s)
	}
}

func TestWorstFunctions(t *testing.T) {
	var b strings.Builder
	b.WriteString(check.HeadFunc + check.Init)
	for i := range 1000 {
		fmt.Fprintf(&b, "FUNC %x %x 0 f%d\n", 0x2000+i*0x1000, 1+i*7%1000, i)
	}
	c := lintText(t, b.String()).Coverage
	if len(c.Worst) != 20 {
		t.Fatalf("%d functions", len(c.Worst))
	}
	if err := c.ReadNames(strings.NewReader(b.String())); err != nil {
		t.Fatal(err)
	}
	for i, g := range c.Worst {
		n := -1
		for j := range 1000 {
			if 1+j*7%1000 == 1000-i {
				n = j
			}
		}
		want := coverage.Gap{
			RVA: symfmt.RVA(0x2000 + n*0x1000), Address: fmt.Sprintf("%x", 0x2000+n*0x1000), Kind: coverage.GapFunc,
			Line: n + 5, Name: fmt.Sprintf("f%d", n), Size: uint64(1000 - i), Missing: uint64(1000 - i),
		}
		if g != want {
			t.Errorf("function %d: %+v, want %+v", i, g, want)
		}
	}
}
