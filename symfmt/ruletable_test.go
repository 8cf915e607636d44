package symfmt

import (
	"errors"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/cfi"
)

// Text and values of one rule set have one number; text that is written in another
// form keeps it.
func TestRuleTable(t *testing.T) {
	const usual = ".cfa: $rsp 8 + .ra: .cfa -8 + ^"
	var table RuleTable
	table.SetArch(arch.X86_64)
	parse := func(text string) RuleID { return table.Parse([]byte(text)) }
	id := parse(usual)
	odd, bad, none := parse(".cfa: $rsp +08 + .ra: .cfa -8 + ^"), parse("8 .cfa: $rsp"), parse("")
	rules, err := table.Rules(id)
	if err != nil || rules.String() != usual || table.Text(id) != usual {
		t.Errorf("%s, %v, %s", rules, err, table.Text(id))
	}
	same, _ := table.Rules(odd)
	if odd == id || same.String() != usual || table.Text(odd) != ".cfa: $rsp +08 + .ra: .cfa -8 + ^" {
		t.Errorf("%s in another form: %s, text %s", usual, same, table.Text(odd))
	}
	if _, err := table.Rules(bad); !errors.Is(err, cfi.NoRegister) || table.Text(bad) != "8 .cfa: $rsp" {
		t.Errorf("rules that do not parse: %v, text %s", err, table.Text(bad))
	}
	b := table.Names().Builder()
	b.Sum(table.Names().Lookup("$rsp"), 16)
	more := table.Add(cfi.Rules{{Reg: cfi.CFA, Expr: b.Expr()}})
	if got := table.Add(rules); got != id {
		t.Errorf("values of set %d got number %d", id, got)
	}
	if got := table.Add(nil); got != none {
		t.Errorf("no rules got number %d, want %d", got, none)
	}
	if again := parse(usual); again != id || table.Text(more) != ".cfa: $rsp 16 +" || table.Len() != 5 {
		t.Errorf("set %d read again is %d; a value prints %s; %d sets", id, again, table.Text(more), table.Len())
	}
}

// Rules that were parsed before the CPU was known are parsed again.
func TestRuleTableArch(t *testing.T) {
	var table RuleTable
	id := table.Parse([]byte("$esp: 4294967292"))
	table.SetArch(arch.X86)
	rules, _ := table.Rules(id)
	if got := rules.String(); got != "$esp: -4" || rules[0].Reg != table.Names().Lookup("$esp") {
		t.Errorf("in words of 32 bits: %s", got)
	}
}

// Merging renumbers the sets of another table.
func TestRuleTableAdopt(t *testing.T) {
	var a, b RuleTable
	a.SetArch(arch.ARM64)
	b.SetArch(arch.ARM64)
	b.Parse([]byte("other: x1"))
	want := a.Parse([]byte(".cfa: sp 16 +"))
	build := b.Names().Builder()
	build.Sum(b.Names().Lookup("sp"), 16)
	value := b.Add(cfi.Rules{{Reg: cfi.CFA, Expr: build.Expr()}})
	if got := a.adopt(&b, value); got != want {
		t.Errorf("adopted as %d, want %d: %s", got, want, a.Text(got))
	}
	if got := a.adopt(&b, 0); a.Text(got) != "other: x1" {
		t.Errorf("adopted %s", a.Text(got))
	}
}
