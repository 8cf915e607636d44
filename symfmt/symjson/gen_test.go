package symjson

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt"
)

// generator makes modules: numbers at both ends and around 2^53, names that JSON
// or a terminal has trouble with, records out of order, duplicate numbers.
type generator struct{ *rand.Rand }

func generate(seed uint64) *symfmt.Module {
	g := &generator{rand.New(rand.NewPCG(seed, 7))}
	return g.module()
}

func (g *generator) number(bits int) uint64 {
	switch g.IntN(8) {
	case 0:
		return 1<<bits - 1 - g.Uint64N(3)
	case 1:
		return g.Uint64() >> (64 - bits)
	case 2:
		return (1<<53 - 2 + g.Uint64N(4)) >> max(0, 54-bits)
	}
	return g.Uint64N(300)
}

func (g *generator) rva() symfmt.RVA { return symfmt.RVA(g.number(64)) }

var nastyNames = []string{
	"", " ", "\n", "main", "0", "-1", "a\nb", "a\r\nb", "\tx\t", "a\x00b", "\x1b[31mred", `quote " and \ and \u0041`,
	"operator()(nsID const&, void**) const", "日本", "\x80\xff raw", "c1\u0085next", "ls\u2028ps\u2029", "a\u00a0b", "é\u00c2",
	"\u202eltr", "\U0001f600", "\U000e0001tag", "\ufffd", "\ufffd\xff", "\xed\xa0\x80 surrogate", "\xf4\x90\x80\x80",
	"</script>", strings.Repeat("long ", 300), "\xe2\x80", "\xc2", "\x7f",
}

func (g *generator) name() string {
	switch g.IntN(6) {
	case 0, 1:
		return nastyNames[g.IntN(len(nastyNames))]
	case 2:
		b := make([]byte, g.IntN(9))
		for i := range b {
			b[i] = byte(g.Uint32())
		}
		return string(b)
	}
	return fmt.Sprintf("name_%d", g.IntN(12))
}

func (g *generator) module() *symfmt.Module {
	m := &symfmt.Module{OS: g.name(), Arch: g.name(), ID: g.name(), Name: g.name()}
	for range g.IntN(4) {
		m.Infos = append(m.Infos, symfmt.Info{Key: g.name(), Value: g.name()})
	}
	for range g.IntN(9) {
		m.Files = append(m.Files, symfmt.File{ID: symfmt.FileID(g.number(32)), Name: g.name()})
	}
	for range g.IntN(9) {
		o := symfmt.InlineOrigin{ID: symfmt.OriginID(g.number(32)), Name: g.name()}
		if o.HasFile = g.IntN(2) == 0; o.HasFile {
			o.File = int64(g.number(33)) - 1
		}
		m.Origins = append(m.Origins, o)
	}
	var b symfmt.BodyBuilder
	var a symfmt.Arena
	for range g.IntN(12) {
		m.Funcs = append(m.Funcs, g.function(&b, &a))
	}
	for range g.IntN(6) {
		m.Publics = append(m.Publics, symfmt.Public{RVA: g.rva(), ParamSize: g.number(64), Name: g.name(), Multiple: g.IntN(3) == 0})
	}
	for range g.IntN(6) {
		m.Wins = append(m.Wins, g.win())
	}
	g.cfi(&m.CFI)
	return m
}

func (g *generator) function(b *symfmt.BodyBuilder, a *symfmt.Arena) symfmt.Func {
	f := symfmt.Func{RVA: g.rva(), Size: g.number(64), ParamSize: g.number(64), Name: g.name(), Multiple: g.IntN(5) == 0}
	b.Reset(f.RVA)
	for range g.IntN(40) {
		if g.IntN(4) > 0 {
			b.AddLine(symfmt.Line{RVA: g.rva(), Size: g.number(64), Num: uint32(g.number(32)), File: symfmt.FileID(g.number(32))})
			continue
		}
		in := &symfmt.Inline{Depth: uint32(g.number(32)), CallLine: uint32(g.number(32)), Origin: symfmt.OriginID(g.number(32))}
		if in.NoFile = g.IntN(2) == 0; !in.NoFile {
			in.CallFile = symfmt.FileID(g.number(32))
		}
		for range 1 + g.IntN(3) {
			in.Ranges = append(in.Ranges, symfmt.Range{RVA: g.rva(), Size: g.number(64)})
		}
		b.AddInline(in)
	}
	f.Body = b.Finish(a)
	return f
}

func (g *generator) win() symfmt.StackWin {
	w := symfmt.StackWin{
		Type: uint32(g.number(32)), RVA: g.rva(), CodeSize: g.number(64), PrologueSize: g.number(64), EpilogueSize: g.number(64),
		ParameterSize: g.number(64), SavedRegisterSize: g.number(64), LocalSize: g.number(64), MaxStackSize: g.number(64),
		AllocatesBasePtr: g.IntN(2) == 0,
	}
	if w.HasProgram = g.IntN(2) == 0; w.HasProgram {
		w.Program = g.name()
	}
	return w
}

func (g *generator) cfi(t *symfmt.CFITable) {
	rules := func() symfmt.RuleID { return t.Rules.Parse([]byte(g.name())) }
	for range g.IntN(6) {
		b := symfmt.CFIBlock{RVA: g.rva(), Size: g.number(64), Init: rules(), First: uint32(len(t.Rows))}
		for range g.IntN(6) {
			t.Rows = append(t.Rows, symfmt.CFIRow{RVA: g.rva(), Rules: rules()})
			b.Count++
		}
		t.Blocks = append(t.Blocks, b)
	}
}

// forms are the outputs that Options can select.
var forms = []struct {
	name string
	o    Options
}{
	{"jsonl", Options{Lines: true}},
	{"names.jsonl", Options{Lines: true, Names: true}},
	{"json", Options{}},
	{"indented.json", Options{Indent: true}},
	{"names.json", Options{Indent: true, Names: true}},
}

func write(t testing.TB, m *symfmt.Module, o Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, m, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// mustRead reads a module, and fails the test if there is a problem.
func mustRead(t testing.TB, data []byte) *symfmt.Module {
	t.Helper()
	m, problems, err := read(bytes.NewReader(data), int64(len(data)), ReadOptions{File: "x.json"})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Error(p)
	}
	return m
}

// breakpad returns a module as a symbol file.
func breakpad(t testing.TB, m *symfmt.Module) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := symfmt.Write(&b, m, symfmt.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
