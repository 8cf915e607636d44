package dwarf2sym_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/cfi"
	"github.com/symtool/symtool/symfmt/symelf"
)

// A symbol file that is converted to an ELF file is the same when read back, except for
// what tripRules remove.
func TestSymelfRoundTrip(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(testenv.Root(t), "golden", "dwarf2sym", "*.sym"))
	if err != nil || len(paths) < 100 {
		t.Fatalf("%d symbol files: %v", len(paths), err)
	}
	var done tripCount
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".sym"), func(t *testing.T) {
			m := readSymbols(t, path)
			if arch.ByName(m.Arch) == nil {
				t.Skip("an ELF file has a machine")
			}
			done.add(roundTrip(t, m, symelf.Options{}))
		})
	}
	t.Logf("%d files: %+v", len(paths), done)
	if done.funcs < 1000 || done.lines < 6000 || done.inlines < 300 || done.spans < 2000 {
		t.Errorf("too few records: %+v", done)
	}
}

// So is a symbol file whose addresses begin elsewhere.
func TestSymelfRoundTripBase(t *testing.T) {
	for _, name := range []string{"cpu-arm", "gcc-dwarf5", "cpu-s390x"} {
		roundTrip(t, readSymbols(t, filepath.Join(testenv.Root(t), "golden", "dwarf2sym", name+".sym")), symelf.Options{Base: 0x400000})
	}
}

// Rules that need expressions have the same effect when they are read back. Those with a
// ! are lost, which Losses reports.
func TestSymelfExpressions(t *testing.T) {
	for _, c := range []struct {
		cpu   string
		rules []string
	}{
		{"x86_64", []string{
			".cfa: $rsp -1 +", ".cfa: $rsp 8 + ^ 16 +", ".cfa: $rbp 16 @ 8 +", "!.cfa: $rsp 8 + $rip 15 % 11 @ 3 * +", "$rbx: .cfa .cfa ^ -",
			"$rbx: $rax 300 * 70000 -", "$rbx: .cfa 4294967296 + ^", "$rbx: 5 .cfa - ^ 3 +", "$rbx: $rax 8 / $rcx 4096 % +",
			"$rbx: $r15 $xmm3 * -9223372036854775808 +", "$rbx: .cfa -4 + ^", ".ra: $rbp 8 + ^ 1 +", "$rsp: .cfa 16 +",
		}},
		{"arm", []string{".cfa: r7 -2 +", "r4: .cfa -2 + ^", "!r5: sp 8 + ^ -4096 @", "lr: .cfa -8 + ^", ".ra: lr", "!pc: lr"}},
		{"s390x", []string{".cfa: r11 2 +", "r15: .cfa 160 -", "f8: .cfa -7 + ^", ".ra: .cfa 112 + ^"}},
	} {
		a := arch.ByName(c.cpu)
		for _, rule := range c.rules {
			rule, mustLose := strings.CutPrefix(rule, "!")
			text := fmt.Sprintf("MODULE Linux %s 0102030405060708090A0B0C0D0E0F100 x\nSTACK CFI INIT 1000 20 .cfa: %s 0 + .ra: .cfa -8 + ^\nSTACK CFI 1008 %s\n",
				c.cpu, a.SP, rule)
			result, err := symfmt.Read(context.Background(), strings.NewReader(text), symfmt.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			m := result.Module
			back := throughELF(t, m, symelf.Options{})
			names := cfi.NewNames(a)
			got, want := effectSpans(t, names, back), effectSpans(t, names, m)
			lost := symelf.Losses(m, symelf.Options{})
			if mustLose != (len(lost) > 0) {
				t.Errorf("%s: %s: losses %v", c.cpu, rule, lost)
			}
			if !slices.Equal(got, want) && len(lost) == 0 {
				var b bytes.Buffer
				if err := symfmt.Write(&b, back, symfmt.WriteOptions{}); err != nil {
					t.Fatal(err)
				}
				t.Errorf("%s: %s: became\n%s", c.cpu, rule, b.Bytes())
			}
		}
	}
}

// tripCount counts what was compared, and what the rules removed.
type tripCount struct {
	funcs, lines, inlines, publics, spans int

	marks, hidden, ids int
}

func (c *tripCount) add(o tripCount) {
	c.funcs += o.funcs
	c.lines += o.lines
	c.inlines += o.inlines
	c.publics += o.publics
	c.spans += o.spans
	c.marks += o.marks
	c.hidden += o.hidden
	c.ids += o.ids
}

// readSymbols reads a golden file, without the problems after it.
func readSymbols(t testing.TB, path string) *symfmt.Module {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if i := bytes.Index(text, []byte("\n# ")); i >= 0 {
		text = text[:i+1]
	}
	result, err := symfmt.Read(context.Background(), bytes.NewReader(text), symfmt.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m := result.Module
	return m
}

// throughELF writes m as an ELF file and reads the file.
func throughELF(t testing.TB, m *symfmt.Module, o symelf.Options) *symfmt.Module {
	t.Helper()
	var out bytes.Buffer
	if err := symelf.Write(&out, m, o); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.elf")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	file := symtest.Open(t, path)
	report, err := dwarf2sym.Read(context.Background(), file, dwarf2sym.Options{Name: m.Name, OS: m.OS})
	if err != nil {
		t.Fatal(err)
	}
	back := report.Module
	for _, p := range report.Problems {
		t.Errorf("problem: %v", p)
	}
	return back
}

func roundTrip(t *testing.T, m *symfmt.Module, o symelf.Options) (n tripCount) {
	t.Helper()
	back := throughELF(t, m, o)
	want := tripRules(t, m, &n)
	got := tripText(back)
	wantText := tripText(want)
	if got != wantText {
		t.Errorf("other records:\n%s", firstDifferences(got, wantText))
	}
	names := cfi.NewNames(arch.ByName(m.Arch))
	a, b := effectSpans(t, names, want), effectSpans(t, names, back)
	n.spans += len(a)
	if !slices.Equal(a, b) {
		t.Errorf("other STACK CFI:\n%s", firstDifferences(strings.Join(b, "\n"), strings.Join(a, "\n")))
	}
	return n
}

// tripRules returns what must remain of m.
func tripRules(t testing.TB, m *symfmt.Module, n *tripCount) *symfmt.Module {
	out := &symfmt.Module{OS: m.OS, Arch: m.Arch, ID: m.ID, Name: m.Name, Files: m.Files, Origins: m.Origins, CFI: m.CFI}
	for _, in := range m.Infos {
		if in.Key == "CODE_ID" { // ELF has no place for others
			out.Infos = append(out.Infos, in)
		}
	}
	if out.Infos == nil && strings.Trim(m.ID, "0") != "" { // the build id is then the GUID
		out.Infos = []symfmt.Info{{Key: "CODE_ID", Value: swappedGUID(t, m)}}
		n.ids++
	}
	starts := map[symfmt.RVA]bool{}
	for _, f := range m.Funcs {
		if f.Multiple || f.ParamSize != 0 { // ELF symbols do not have these
			n.marks++
		}
		f.Multiple, f.ParamSize = false, 0
		lines, inlines := f.Body.Counts()
		n.lines, n.inlines = n.lines+inlines, n.inlines+lines
		out.Funcs = append(out.Funcs, f)
		starts[f.RVA] = true
	}
	for _, p := range m.Publics {
		if starts[p.RVA] { // dwarf2sym leaves these out
			n.hidden++
			continue
		}
		p.Multiple, p.ParamSize = false, 0
		out.Publics = append(out.Publics, p)
	}
	n.funcs, n.publics = n.funcs+len(out.Funcs), n.publics+len(out.Publics)
	return out
}

// swappedGUID returns the bytes of MODULE's GUID in the CPU's usual byte order.
func swappedGUID(t testing.TB, m *symfmt.Module) string {
	t.Helper()
	id := m.ID[:32]
	if slices.Contains([]string{"s390x", "ppc"}, m.Arch) {
		return id
	}
	return id[6:8] + id[4:6] + id[2:4] + id[0:2] + id[10:12] + id[8:10] + id[14:16] + id[12:14] + id[16:]
}

// tripText returns everything in a module except its STACK CFI, with names instead of
// numbers: lines for FUNCs, their INLINEs sorted, with their line records. Adjacent
// records of one line are one line.
func tripText(m *symfmt.Module) string {
	var b strings.Builder
	fmt.Fprintln(&b, m.OS, m.Arch, m.ID, m.Name, m.Infos)
	files, origins := m.FileNames(), m.OriginNames()
	for i := range m.Funcs {
		f := &m.Funcs[i]
		fmt.Fprintf(&b, "FUNC %x %x %s\n", uint64(f.RVA), f.Size, f.Name)
		var inlines []string
		for in := range f.Inlines() {
			name, _ := origins.Name(in.Origin)
			file := "-"
			if !in.NoFile {
				file, _ = files.Name(in.CallFile)
			}
			ranges := slices.Clone(in.Ranges)
			slices.SortFunc(ranges, func(a, b symfmt.Range) int { return cmp.Compare(a.RVA, b.RVA) })
			inlines = append(inlines, fmt.Sprintf("INLINE %d %x %s %d %s", in.Depth, ranges, file, in.CallLine, name))
		}
		slices.Sort(inlines)
		fmt.Fprintln(&b, strings.Join(inlines, "\n"))
		var last symfmt.Line
		put := func() {
			if last.Size > 0 {
				name, _ := files.Name(last.File)
				fmt.Fprintf(&b, "%x %x %d %s\n", uint64(last.RVA), last.Size, last.Num, name)
			}
		}
		for l := range f.Lines() {
			if last.RVA+symfmt.RVA(last.Size) == l.RVA && last.Num == l.Num && last.File == l.File {
				last.Size += l.Size
				continue
			}
			put()
			last = l
		}
		put()
	}
	for _, p := range m.Publics {
		fmt.Fprintf(&b, "PUBLIC %x %s\n", uint64(p.RVA), p.Name)
	}
	return b.String()
}

// effectSpans returns the pieces of code whose STACK CFI has the same effect.
func effectSpans(t testing.TB, names *cfi.Names, m *symfmt.Module) (spans []string) {
	t.Helper()
	var row cfi.Row
	apply := func(id symfmt.RuleID) {
		rules, err := m.CFI.Rules.Rules(id)
		if err != nil {
			t.Fatal(err)
		}
		row.Apply(names.Translate(rules))
	}
	var start, end symfmt.RVA
	var last string
	put := func() {
		if end > start {
			spans = append(spans, fmt.Sprintf("%x-%x %s", uint64(start), uint64(end), last))
		}
	}
	span := func(from, to symfmt.RVA) {
		text := fmt.Sprintf("%q", row.AppendKey(nil))
		if from != end || text != last {
			put()
			start = from
		}
		end, last = to, text
	}
	for _, b := range m.CFI.Blocks {
		row.Reset()
		apply(b.Init)
		from := b.RVA
		for _, r := range m.CFI.Rows[b.First : b.First+b.Count] {
			if r.RVA > from {
				span(from, r.RVA)
			}
			apply(r.Rules)
			from = r.RVA
		}
		span(from, b.RVA+symfmt.RVA(b.Size))
	}
	put()
	return spans
}

// firstDifferences shows the first lines that only one of the texts has.
func firstDifferences(got, want string) string {
	count := map[string]int{}
	for _, l := range strings.Split(want, "\n") {
		count[l]++
	}
	var out []string
	for _, l := range strings.Split(got, "\n") {
		if count[l]--; count[l] < 0 {
			out = append(out, "+"+l)
		}
	}
	more := len(out)
	for _, l := range strings.Split(want, "\n") {
		if count[l] > 0 {
			count[l]--
			out = append(out, "-"+l)
		}
	}
	if len(out) == 0 {
		return "the same lines in another order"
	}
	total := len(out)
	return fmt.Sprintf("%d more, %d less\n", more, total-more) + strings.Join(append(out[:min(more, 6):min(more, 6)], out[more:min(total, more+6)]...), "\n")
}
