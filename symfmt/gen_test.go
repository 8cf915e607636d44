package symfmt

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// generator makes modules for round trips: unsorted, with gaps in their
// numbers, names that a line format cannot hold, addresses at both ends.
type generator struct {
	*rand.Rand
	old bool // INLINEs without call files
}

func newGenerator(seed uint64) *generator {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 99))}
	g.old = g.IntN(4) == 0
	return g
}

// number favours small numbers but reaches 2^bits-1.
func (g *generator) number(bits int) uint64 {
	switch g.IntN(8) {
	case 0:
		return 1<<bits - 1 - g.Uint64N(3)
	case 1:
		return g.Uint64() >> (64 - bits)
	}
	return g.Uint64N(300)
}

// extent returns a range that ends below 2^64.
func (g *generator) extent() (RVA, uint64) {
	rva := g.number(64)
	size := g.number(1 + g.IntN(64))
	if size > -rva && rva != 0 {
		size = -rva
	}
	return RVA(rva), size
}

var nastyNames = []string{
	"", " ", "\n", "main", "m", "0", "-1", "12 of 30", " a ", "a\nb", "a\r\nb", "\tx\t", "a\x00b", "\x1b[31mred\x1b[m",
	"operator()(nsID const&, void**) const", "日本", "\x80\xff raw", "c1\u0085next", "ls\u2028ps\u2029", "a\u00a0b", "é\u00c2", "a  b",
	"<name omitted>", "<unknown>", "m 10 10 0 x", "FUNC 1 1 1 x", "INIT", "x:", strings.Repeat("long ", 300), "\xe2\x80", "\xc2",
}

func (g *generator) name() string {
	if g.IntN(3) == 0 {
		return nastyNames[g.IntN(len(nastyNames))]
	}
	return fmt.Sprintf("name_%d", g.IntN(12))
}

func (g *generator) module() *Module {
	m := &Module{OS: g.name(), Arch: g.name(), ID: strings.Repeat("A0", g.IntN(4)), Name: g.name()}
	for range g.IntN(4) {
		m.Infos = append(m.Infos, Info{g.name(), g.name()})
	}
	for range g.IntN(9) {
		m.Files = append(m.Files, File{FileID(g.number(32)), g.name()})
	}
	for range g.IntN(9) {
		o := InlineOrigin{ID: OriginID(g.number(32)), Name: g.name()}
		if g.old && g.IntN(5) > 0 {
			o.HasFile, o.File = true, int64(g.fileID(m))
		}
		m.Origins = append(m.Origins, o)
	}
	var b BodyBuilder
	var a Arena
	for range g.IntN(12) {
		m.Funcs = append(m.Funcs, g.function(m, &b, &a))
	}
	for range g.IntN(6) {
		rva, _ := g.extent()
		m.Publics = append(m.Publics, Public{rva, g.number(64), g.name(), g.IntN(3) == 0})
	}
	for range g.IntN(6) {
		m.Wins = append(m.Wins, g.win())
	}
	g.cfi(&m.CFI)
	return m
}

// fileID returns mostly the number of a file.
func (g *generator) fileID(m *Module) FileID {
	if len(m.Files) > 0 && g.IntN(20) > 0 {
		return m.Files[g.IntN(len(m.Files))].ID
	}
	return FileID(g.number(32))
}

func (g *generator) originID(m *Module) OriginID {
	if len(m.Origins) > 0 && g.IntN(20) > 0 {
		return m.Origins[g.IntN(len(m.Origins))].ID
	}
	return OriginID(g.number(32))
}

func (g *generator) function(m *Module, b *BodyBuilder, a *Arena) Func {
	rva, size := g.extent()
	f := Func{RVA: rva, Size: size, ParamSize: g.number(64), Name: g.name(), Multiple: g.IntN(5) == 0}
	b.Reset(rva)
	for range g.IntN(40) {
		if g.IntN(4) > 0 {
			b.AddLine(g.line(m))
		} else {
			b.AddInline(g.inline(m))
		}
	}
	f.Body = b.Finish(a)
	return f
}

func (g *generator) line(m *Module) Line {
	rva, size := g.extent()
	return Line{rva, size, uint32(g.number(32)), g.fileID(m)}
}

func (g *generator) inline(m *Module) *Inline {
	in := &Inline{Depth: uint32(g.number(32)), CallLine: uint32(g.number(32)), Origin: g.originID(m)}
	if in.NoFile = g.old || g.IntN(30) == 0; !in.NoFile {
		in.CallFile = g.fileID(m)
	}
	for range 1 + g.IntN(3) {
		rva, size := g.extent()
		in.Ranges = append(in.Ranges, Range{rva, size})
	}
	return in
}

func (g *generator) win() StackWin {
	rva, size := g.extent()
	w := StackWin{
		Type: uint32(g.IntN(6)), RVA: rva, CodeSize: size, PrologueSize: g.number(64), EpilogueSize: g.number(64),
		ParameterSize: g.number(64), SavedRegisterSize: g.number(64), LocalSize: g.number(64), MaxStackSize: g.number(64),
	}
	if w.HasProgram = g.IntN(2) == 0; w.HasProgram {
		w.Program = g.name()
	} else {
		w.AllocatesBasePtr = g.IntN(2) == 0
	}
	return w
}

// cfi makes blocks with rows inside them, in any order, some at the same
// address.
func (g *generator) cfi(t *CFITable) {
	rules := []string{".cfa: $rsp 8 + .ra: .cfa -8 + ^", ".cfa: $rsp 16 +", "$rbx: .cfa -16 + ^", ".cfa:  $rbp 16 + \n $rbx: .undef ", "", " \t"}
	for range g.IntN(6) {
		rva, size := g.extent()
		b := CFIBlock{RVA: rva, Size: size, Init: t.Rules.Parse([]byte(rules[g.IntN(len(rules))])), First: uint32(len(t.Rows))}
		for range g.IntN(6) {
			if size > 0 {
				t.Rows = append(t.Rows, CFIRow{rva + RVA(g.Uint64N(min(size, 9))), t.Rules.Parse([]byte(rules[g.IntN(len(rules))])), 0})
				b.Count++
			}
		}
		t.Blocks = append(t.Blocks, b)
	}
}
