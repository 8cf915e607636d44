package verify

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/symfmt/cfi"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/walktest"
	"github.com/symtool/symtool/walk/internal/walktest/walks"
)

// cfiBlock holds a STACK CFI INIT record and the records that belong to it.
type cfiBlock struct {
	start, size uint64
	records     []cfiRecord // the first is INIT
}

type cfiRecord struct {
	at    uint64
	rules []string // "$rbx:", ".cfa", "-16", ...
}

// readBlock finds the block around an address in a symbol file, and the lines
// that it takes.
func readBlock(lines []string, rva uint64) (b cfiBlock, from, to int) {
	for i, line := range lines {
		f := strings.Fields(line)
		if len(f) < 5 || f[0] != "STACK" || f[1] != "CFI" || f[2] != "INIT" {
			continue
		}
		start, size := hexOf(f[3]), hexOf(f[4])
		if rva-start >= size {
			continue
		}
		b = cfiBlock{start, size, []cfiRecord{{start, f[5:]}}}
		for from, to = i, i+1; to < len(lines); to++ {
			f := strings.Fields(lines[to])
			if len(f) < 3 || f[1] != "CFI" || f[2] == "INIT" {
				break
			}
			b.records = append(b.records, cfiRecord{hexOf(f[2]), f[3:]})
		}
		return b, from, to
	}
	return b, 0, 0
}

func hexOf(s string) uint64 {
	v, _ := strconv.ParseUint(s, 16, 64)
	return v
}

func (b *cfiBlock) clone() cfiBlock {
	c := *b
	c.records = nil
	for _, r := range b.records {
		c.records = append(c.records, cfiRecord{r.at, slices.Clone(r.rules)})
	}
	return c
}

func (b *cfiBlock) lines() (out []string) {
	if b.size == 0 {
		return nil
	}
	for i, r := range b.records {
		head := fmt.Sprintf("STACK CFI %x", r.at)
		if i == 0 {
			head = fmt.Sprintf("STACK CFI INIT %x %x", b.start, b.size)
		}
		out = append(out, head+" "+strings.Join(r.rules, " "))
	}
	return out
}

// row returns the rules in force at an address, or nil if there are none.
func (b *cfiBlock) row(t *testing.T, n *cfi.Names, rva uint64) *cfi.Row {
	t.Helper()
	if rva-b.start >= b.size {
		return nil
	}
	var row cfi.Row
	for i, r := range b.records {
		if i > 0 && (r.at > rva || r.at < b.start) {
			continue
		}
		rules, err := n.ParseRules(strings.Join(r.rules, " "))
		if err != nil {
			t.Fatal(err)
		}
		row.Apply(rules)
	}
	return &row
}

// rule finds the rule of a register in force at an address: its record, and
// where its tokens are.
func (b *cfiBlock) rule(name string, rva uint64) (r *cfiRecord, from, to int) {
	for i := range b.records {
		if b.records[i].at > rva {
			continue
		}
		rules := b.records[i].rules
		for k, token := range rules {
			if token != name+":" {
				continue
			}
			r, from = &b.records[i], k+1
			for to = from; to < len(rules) && !strings.HasSuffix(rules[to], ":"); to++ {
			}
		}
	}
	return r, from, to
}

// change gives a register in force at an address another expression.
func change(name string, f func(tokens []string) []string) func(*cfiBlock, uint64) bool {
	return func(b *cfiBlock, rva uint64) bool {
		r, from, to := b.rule(name, rva)
		if r == nil {
			return false
		}
		tokens := f(slices.Clone(r.rules[from:to]))
		if tokens == nil {
			return false
		}
		r.rules = slices.Replace(r.rules, from, to, tokens...)
		return true
	}
}

// plus adds to the first constant.
func plus(n int) func([]string) []string {
	return func(tokens []string) []string {
		for i, s := range tokens {
			if v, err := strconv.Atoi(s); err == nil {
				tokens[i] = strconv.Itoa(v + n)
				return tokens
			}
		}
		return nil
	}
}

func instead(tokens ...string) func([]string) []string {
	return func([]string) []string { return slices.Clone(tokens) }
}

// otherBase uses another register.
func otherBase(tokens []string) []string {
	other := map[string]string{"$rsp": "$rbp", "$rbp": "$rsp"}
	if other[tokens[0]] == "" {
		return nil
	}
	tokens[0] = other[tokens[0]]
	return tokens
}

// withoutLoad takes the address instead of the value stored there.
func withoutLoad(tokens []string) []string {
	if tokens[len(tokens)-1] != "^" {
		return nil
	}
	return tokens[:len(tokens)-1]
}

// inForce returns the number of the last record at or below an address.
func (b *cfiBlock) inForce(rva uint64) (last int) {
	for i, r := range b.records {
		if r.at <= rva {
			last = i
		}
	}
	return last
}

type mutation struct {
	name  string
	apply func(b *cfiBlock, rva uint64) bool // false: it cannot be made there
}

// mutations are faults that can occur when rules are made.
func mutations() []mutation {
	list := []mutation{
		{"cfa + 8", change(".cfa", plus(8))},
		{"cfa - 8", change(".cfa", plus(-8))},
		{"cfa + 64", change(".cfa", plus(64))},
		{"cfa by another register", change(".cfa", otherBase)},
		{"cfa without a load", change(".cfa", withoutLoad)},
		{"cfa undefined", change(".cfa", instead(".undef"))},
		{"cfa of a register that is unknown", change(".cfa", instead("$xmm9", "8", "+"))},
		{"ra one slot below", change(".ra", plus(-8))},
		{"ra one slot above", change(".ra", plus(8))},
		{"ra without a load", change(".ra", withoutLoad)},
		{"ra undefined", change(".ra", instead(".undef"))},
		{"ra of the wrong sign", change(".ra", func(s []string) []string {
			if len(s) < 4 {
				return nil
			}
			s[len(s)-2] = "-"
			return s
		})},
		{"a lost row", func(b *cfiBlock, rva uint64) bool {
			i := b.inForce(rva)
			b.records = slices.Delete(b.records, i, min(i+1, len(b.records)))
			return i > 0
		}},
		{"a row that comes too late", func(b *cfiBlock, rva uint64) bool {
			i := b.inForce(rva)
			b.records[i].at = rva + 1
			return i > 0
		}},
		{"the next row comes too early", func(b *cfiBlock, rva uint64) bool {
			i := b.inForce(rva) + 1
			if i < len(b.records) {
				b.records[i].at = rva
			}
			return i < len(b.records)
		}},
		{"all rows moved up", func(b *cfiBlock, _ uint64) bool {
			for i := range b.records[1:] {
				b.records[i+1].at += 16
			}
			return len(b.records) > 1
		}},
		{"all rows moved down", func(b *cfiBlock, _ uint64) bool {
			for i := range b.records[1:] {
				b.records[i+1].at -= min(16, b.records[i+1].at-b.start)
			}
			return len(b.records) > 1
		}},
		{"all rows lost", func(b *cfiBlock, _ uint64) bool {
			b.records = b.records[:1]
			return true
		}},
		{"a block that ends too early", func(b *cfiBlock, rva uint64) bool {
			b.size = rva - b.start
			return b.size > 0
		}},
		{"a lost block", func(b *cfiBlock, _ uint64) bool { b.size = 0; return true }},
	}
	for _, reg := range []string{"$rbx", "$rbp", "$r12", "$r13", "$r14", "$r15", "$rip", "$rsp"} {
		list = append(list,
			mutation{reg + " one slot below", change(reg, plus(-8))},
			mutation{reg + " one slot above", change(reg, plus(8))},
			mutation{reg + " without a load", change(reg, withoutLoad)},
			mutation{reg + " undefined", change(reg, instead(".undef"))},
			mutation{reg + " not restored", change(reg, instead(reg))},
			mutation{reg + " taken for another's", change(reg, instead("$rbx", "$rbp", "+"))})
	}
	return list
}

// effect reports whether rules give another caller from the registers of a frame, according to
// package cfi alone.
func effect(r *walk.Result, f *walk.Frame, n *cfi.Names, a, b *cfi.Row) bool {
	return callerText(r, f, n, a) != callerText(r, f, n, b)
}

func callerText(r *walk.Result, f *walk.Frame, n *cfi.Names, row *cfi.Row) string {
	if row == nil {
		return "no rules"
	}
	in, out := n.NewRegs(), n.NewRegs()
	for _, reg := range f.Registers {
		in.Set(cfi.Reg(reg.Index), reg.Value)
	}
	if err := row.Caller(in, wordsOf{r}, out); err != nil {
		return err.Error()
	}
	text := ""
	for _, name := range append([]string{"$rip", "$rsp"}, r.Dump.Arch.CalleeSaved...) {
		v, ok := out.Get(n.Lookup(name))
		text += fmt.Sprintf(" %s %#x %v", name, v, ok)
	}
	return text
}

type wordsOf struct{ *walk.Result }

func (w wordsOf) ReadWord(addr uint64) (uint64, bool) { return w.Dump.Memory.Word(addr, 8) }

// Each change of a rule on the path of a walk that has an effect there is
// reported with its address, and the verdict is that the symbols are to blame.
func TestVerifyMutations(t *testing.T) {
	crashes := testenv.Shared(t, "data", "crashes")
	total, kinds := 0, map[string]int{}
	cases := []string{"inlines", "nullcall", "omitfp", "sharedlib", "sighandler"}
	if testenv.OracleFull() {
		cases = walktest.CrashCases
	}
	for _, name := range cases {
		t.Run(name, func(t *testing.T) {
			m := mutationTest{t: t, dump: filepath.Join(crashes, name, "dump.dmp"), store: walktest.CrashStore(t), binaries: crashes, kinds: kinds}
			total += m.run()
		})
	}
	t.Logf("%d changes of %d kinds", total, len(kinds))
	if total < 100*len(cases) || len(kinds) < 30 {
		t.Errorf("%d changes of %d kinds: %v", total, len(kinds), kinds)
	}
}

type mutationTest struct {
	t               *testing.T
	dump            string
	store, binaries string
	kinds           map[string]int
	d               *dump.Dump
	above           int // changes that are reported for a frame above
	silent          int // changes without an effect, which are not checked
}

func (m *mutationTest) run() (n int) {
	r, v := verified(m.t, m.dump, walks.BothSources(m.t, m.store, m.binaries), Default())
	m.d = r.Dump
	if !v.Holds {
		m.t.Fatal(v.Conclusion)
	}
	seen := map[uint64]bool{}
	for i := range r.Stacks {
		for k := range r.Stacks[i].Frames {
			f := &r.Stacks[i].Frames[k]
			if r.Stacks[i].End == walk.EndStart && k == len(r.Stacks[i].Frames)-1 {
				continue // no rule is used there
			}
			if f.Module < 0 || seen[f.Inst] || !m.small(r, f) {
				continue
			}
			seen[f.Inst] = true
			n += m.frame(r, f)
		}
	}
	m.t.Logf("%d changes reported, %d of them of a frame above; %d without an effect", n, m.above, m.silent)
	return n
}

// small excludes libraries, whose symbol files take long to write, except where signal
// handlers return.
func (m *mutationTest) small(r *walk.Result, f *walk.Frame) bool {
	name := filepath.Base(r.Dump.Modules[f.Module].Path)
	return name == "prog" || name == "libcb.so" || f.Handler
}

// frame changes the rules at a frame in every way.
func (m *mutationTest) frame(r *walk.Result, f *walk.Frame) (n int) {
	path := r.Modules[f.Module].Resolver.Identity().Path
	text, err := os.ReadFile(path)
	if err != nil {
		m.t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	at := f.Inst - r.Dump.Modules[f.Module].Addr
	block, from, to := readBlock(lines, at)
	if to == 0 {
		m.t.Fatalf("%s: no rules at %#x", path, at)
	}
	names := cfi.NewNames(r.Dump.Arch)
	was := block.row(m.t, names, at)
	for _, change := range mutations() {
		b := block.clone()
		if !change.apply(&b, at) {
			continue
		}
		if !effect(r, f, names, was, b.row(m.t, names, at)) {
			m.silent++
			continue
		}
		changed := slices.Concat(lines[:from:from], b.lines(), lines[to:])
		m.check(path, changed, &block, f, change.name)
		m.kinds[change.name]++
		n++
	}
	return n
}

// check judges a symbol file with a changed block. If the walk no longer reaches the frame,
// because a frame above it is in the same block, that frame is reported.
func (m *mutationTest) check(path string, lines []string, block *cfiBlock, f *walk.Frame, title string) {
	rel, err := filepath.Rel(m.store, path)
	if err != nil {
		m.t.Fatal(err)
	}
	dir := m.t.TempDir()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, rel)), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, rel), []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		m.t.Fatal(err)
	}
	// Other modules' binaries are left out, as their rules take long to read.
	own, err := filepath.Glob(filepath.Join(m.binaries, "*", strings.Split(filepath.ToSlash(rel), "/")[0]))
	if err != nil || len(own) == 0 {
		m.t.Fatal(rel, err)
	}
	s := walks.BothSources(m.t, dir, own...)
	s.Symbols = supplier.NewChain(s.Symbols, walks.SymbolSources(m.t, m.store).Symbols)
	w := walk.NewWalker(s, walk.Config{})
	r, err := w.Walk(context.Background(), m.d)
	if err != nil {
		m.t.Fatal(err)
	}
	v, err := Judge(context.Background(), w, r, Default())
	if err != nil {
		m.t.Fatal(err)
	}
	there := false
	for i := range r.Stacks {
		there = there || slices.ContainsFunc(r.Stacks[i].Frames, func(g walk.Frame) bool { return g.Inst == f.Inst })
	}
	if !there {
		m.above++
	}
	reported := slices.ContainsFunc(v.Findings, func(x Finding) bool {
		return (uint64(x.PC) == f.Inst || !there && uint64(x.RVA)-block.start < block.size) && x.Severity == SeverityError && (x.Kind == KindRulesDiffer || x.Kind == KindNoRules)
	})
	if !reported || v.Holds || v.Blame != BlameSymbols {
		m.t.Errorf("%s at %#x in %s is not reported:\n%s", title, f.Inst, f.Function(), verdictText(m.t, v))
	}
}
