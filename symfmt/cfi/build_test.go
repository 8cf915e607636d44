package cfi

import (
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
)

// A built expression prints as its text, and equals the parsed text.
func TestBuilder(t *testing.T) {
	n := NewNames(arch.X86_64)
	rsp, rbp := n.Lookup("$rsp"), n.Lookup("$rbp")
	b := n.Builder()
	for _, c := range []struct {
		build func()
		want  string
	}{
		{func() { b.Sum(rsp, 8) }, "$rsp 8 +"},
		{func() { b.Sum(CFA, 0) }, ".cfa 0 +"},
		{func() { b.Sum(CFA, -16); b.Apply('^') }, ".cfa -16 + ^"},
		{func() { b.Value(rbp) }, "$rbp"},
		{func() { b.Const(EndOfStack) }, "1"},
		{func() { b.Const(1 << 40); b.Value(rsp); b.Const(^uint64(0)); b.Apply('*'); b.Apply('@') }, "1099511627776 $rsp -1 * @"},
	} {
		c.build()
		got := b.Expr()
		parsed, err := n.ParseExpr(c.want)
		if err != nil {
			t.Fatal(err)
		}
		if got.String() != c.want || string(got.AppendCode(nil)) != string(parsed.AppendCode(nil)) {
			t.Errorf("built %s, want %s", got, c.want)
		}
		b.Value(rbp) // the expression is unchanged
		if b.Expr(); got.String() != c.want {
			t.Errorf("%s became %s", c.want, got)
		}
	}
}

func TestOps(t *testing.T) {
	n := NewNames(arch.X86_64)
	e, err := n.ParseExpr(".cfa -16 + $rax 08x ^ .undef")
	if err != nil {
		t.Fatal(err)
	}
	want := []Op{
		{Kind: OpValue, Reg: CFA}, {Kind: OpConst, Const: ^uint64(15)}, {Kind: OpApply, Apply: '+'},
		{Kind: OpValue, Reg: n.Lookup("$rax")}, {Kind: OpBad}, {Kind: OpApply, Apply: '^'}, {Kind: OpUndef},
	}
	i := 0
	for op := range e.Ops() {
		if op != want[i] {
			t.Errorf("operation %d is %+v, want %+v", i, op, want[i])
		}
		i++
	}
	if i != len(want) {
		t.Errorf("%d operations, want %d", i, len(want))
	}
	for text, want := range map[string]string{"$rax 8 + ^": "$rax 8 +", "$rax ^ ^": "$rax ^", "^": "", "$rax 14": "", "4294967295 5497558138880": ""} {
		e, err := n.ParseExpr(text)
		if err != nil {
			t.Fatal(err)
		}
		if address, ok := e.CutLoad(); ok && address.String() != want || ok != (text[len(text)-1] == '^') {
			t.Errorf("CutLoad of %s: %s, %v", text, address, ok)
		}
	}
}

// Rules of one table have the same meaning in another, even if that has other
// names first, or another CPU.
func TestTranslate(t *testing.T) {
	const text = ".cfa: $rsp 8 + .ra: .cfa -8 + ^ $foo: $bar .ra + 7000000000 + $foo: 08x"
	from := NewNames(arch.X86_64)
	rules, err := from.ParseRules(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []*arch.Arch{arch.X86_64, arch.ARM64, nil} {
		to := NewNames(a)
		if _, err := to.ParseRules("$bar: $other"); err != nil {
			t.Fatal(err)
		}
		parsed, err := to.ParseRules(text)
		if err != nil {
			t.Fatal(err)
		}
		got := to.Translate(rules)
		if got.String() != text || string(got.AppendCode(nil)) != string(parsed.AppendCode(nil)) {
			t.Errorf("%v: %s", a, got)
		}
		var row Row
		row.Apply(rules)
		if moved := to.TranslateRow(&row); moved.String() != row.String() {
			t.Errorf("%v: row %s, want %s", a, &moved, &row)
		}
	}
	narrow := NewNames(arch.X86).Translate(rules[2:3]).String()
	if want := "$foo: $bar .ra + -1589934592 +"; narrow != want {
		t.Errorf("in words of 32 bits %s, want %s", narrow, want)
	}
}
