package cfi

import (
	"errors"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
)

func TestRules(t *testing.T) {
	for _, c := range []struct {
		arch *arch.Arch
		text string
		want string // printed, if it is not text
		n    int
	}{
		{arch.X86, ".cfa: $esp 4 + .ra: .cfa 4 - ^", "", 2},
		{arch.X86, ".cfa: $esp 4 + $eip: .cfa 4 - ^", "", 2},
		{arch.X86_64, "$rbp: .cfa -16 + ^ .cfa: $rsp 16 +", "", 2},
		{arch.X86_64, " .cfa:\t$rsp  16 + \r\n", ".cfa: $rsp 16 +", 1},
		{arch.ARM, ".cfa: sp 8 + .ra: .cfa -4 + ^ r4: .cfa -8 + ^ d8: .cfa -16 + ^", "", 4},
		{arch.ARM64, ".cfa: x29 32 + .ra: .cfa -24 + ^ x29: .cfa -32 + ^", "", 3},
		{arch.RISCV64, ".cfa: sp 0 + .ra: ra", "", 2},
		{arch.MIPS, ".cfa: $sp 32 + .ra: .cfa -4 + ^ $s0: .undef", "", 3},
		{nil, ".cfa: anything 8 + .ra: .cfa ^", "", 2},
		{nil, "a:b: c:d :: 5", "a:b: c:d :: 5", 2},
		{arch.X86_64, ".ra: .ra", "", 1},
	} {
		n := NewNames(c.arch)
		rules, err := n.ParseRules(c.text)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if c.want == "" {
			c.want = c.text
		}
		if got := rules.String(); got != c.want || len(rules) != c.n {
			t.Errorf("%q: %d rules %q, want %d, %q", c.text, len(rules), got, c.n, c.want)
		}
	}
}

func TestRulesErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "no expression",
		" \t ":                 "no expression",
		"$rsp 8 +":             `token 1 "$rsp": no register before the expression`,
		".cfa:":                ".cfa: no expression",
		".cfa: .ra: 1":         ".cfa: no expression",
		".cfa: 1 $rbx:":        "$rbx: no expression",
		": 5":                  `token 1 ":": colon without a register`,
		".cfa: 5 : 6":          `token 3 ":": colon without a register`,
		".cfa: 1 $rbx: : 1 2 ": "$rbx: no expression",
	} {
		rules, err := NewNames(arch.X86_64).ParseRules(text)
		if err == nil || err.Error() != want || rules != nil {
			t.Errorf("%q: %v, %v, want %q", text, rules, err, want)
		}
	}
	for text, want := range map[string]Kind{"": Empty, "  ": Empty, "5 a: 6": Colon, "a:": Colon} {
		if _, err := NewNames(nil).ParseExpr(text); !errors.Is(err, want) {
			t.Errorf("expression %q: %v, want %v", text, err, want)
		}
	}
}

func TestEvaluationErrorText(t *testing.T) {
	n := NewNames(arch.X86_64)
	regs := set(t, n.NewRegs(), map[string]uint64{"$rsp": 0x7000})
	for text, want := range map[string]string{
		"$rsp 8 + ^":       `token 4 "^": no memory at 0x7008`,
		"$rsp 3 @":         `token 3 "@": alignment is not a power of two: 3`,
		"$rbp 1000000000":  `token 1 "$rbp": value is not known`,
		"1000000000 $rbx":  `token 2 "$rbx": value is not known`,
		"5 0 /":            `token 3 "/": division by zero`,
		"1 99999999999x +": `token 2 "99999999999x": not a decimal constant of the CPU's word`,
		"1 2":              "values left on the stack",
		".undef":           `token 1 ".undef": not recoverable`,
	} {
		e, err := n.ParseExpr(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Eval(regs, words{}); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	r := row(t, n, ".cfa: $rsp .ra: .cfa ^")
	if err := r.Caller(regs, words{}, n.NewRegs()); err == nil || err.Error() != `.ra: token 2 "^": no memory at 0x7000` {
		t.Error(err)
	}
	for k := Empty; k <= Assignment; k++ {
		if strings.HasPrefix(k.Error(), "fault ") {
			t.Errorf("kind %d has no text", k)
		}
	}
}

func TestLimits(t *testing.T) {
	n := NewNames(arch.X86_64)
	long := "a:" + strings.Repeat(" 1", maxTokens-1)
	if _, err := n.ParseRules(long); err != nil {
		t.Errorf("%d tokens: %v", maxTokens, err)
	}
	if _, err := n.ParseRules(long + " 1"); !errors.Is(err, TooLong) {
		t.Errorf("%d tokens: %v, want %v", maxTokens+1, err, TooLong)
	}
	if _, err := n.ParseProgram(strings.Repeat("$a 1 = ", maxTokens)); !errors.Is(err, TooLong) {
		t.Errorf("program: %v, want %v", err, TooLong)
	}
	if _, err := n.ParseProgram(strings.Repeat("=", maxTokens+1)); !errors.Is(err, TooLong) {
		t.Errorf("program of one word: %v, want %v", err, TooLong)
	}
	deep := strings.Repeat("1 ", MaxDepth) + strings.Repeat("+ ", MaxDepth-1)
	for extra, want := range map[string]Kind{"": 0, "1 ": Overflow} {
		e, err := n.ParseExpr(extra + deep + strings.Repeat("+", len(extra)/2))
		if err != nil {
			t.Fatal(err)
		}
		v, err := e.Eval(n.NewRegs(), nil)
		if want == 0 && (err != nil || v != MaxDepth) || want != 0 && !errors.Is(err, want) {
			t.Errorf("%d values: %d, %v, want fault %d", MaxDepth+len(extra)/2, v, err, want)
		}
		if err := e.Check(); (err != nil) != (want != 0) {
			t.Errorf("Check: %v", err)
		}
	}
}

func TestNames(t *testing.T) {
	n := NewNames(arch.X86_64)
	base := n.Len()
	for range 3 {
		if _, err := n.ParseRules(".cfa: foo bar + .ra: .ra $rbx: 1 baz: 0x5"); err != nil {
			t.Fatal(err)
		}
	}
	if got := n.Len() - base; got != 5 { // foo bar .ra baz 0x5
		t.Errorf("%d names added, want 5", got)
	}
	for name, want := range map[string]bool{"$rbx": true, ".cfa": true, ".ra": true, "foo": false, "nothing": false} {
		reg := n.Lookup(name)
		if n.Known(reg) != want {
			t.Errorf("Known(%s) = %v, want %v", name, n.Known(reg), want)
		}
		if reg != NoReg && n.Name(reg) != name {
			t.Errorf("Name(Lookup(%s)) = %s", name, n.Name(reg))
		}
	}
	if n.Lookup("nothing") != NoReg || n.Name(NoReg) != "?" || n.Name(Reg(n.Len())) != "?" {
		t.Error("a register that does not exist has a name")
	}
	regs := n.NewRegs()
	regs.Set(Reg(n.Len()), 1)
	regs.Set(NoReg, 1)
	regs.forget(NoReg)
	for _, r := range []Reg{NoReg, CFA, Reg(n.Len()), 1 << 30} {
		if _, ok := regs.Get(r); ok || regs.Assigned(r) {
			t.Errorf("register %d has a value", r)
		}
	}
}

func TestNamesAreExact(t *testing.T) {
	n := NewNames(arch.X86_64)
	rules, err := n.ParseRules("rax: rbx")
	if err != nil || n.Known(rules[0].Reg) {
		t.Errorf("%v: rax is a register of x86-64", err)
	}
	regs := set(t, n.NewRegs(), map[string]uint64{"$rbx": 1})
	if _, err := rules[0].Expr.Eval(regs, nil); !errors.Is(err, Unknown) {
		t.Errorf("rbx: %v, want %v", err, Unknown)
	}
}

func TestForms(t *testing.T) {
	for _, c := range []struct {
		text string
		base string
		off  int64
		load bool
		ok   bool
	}{
		{"$rsp 8 +", "$rsp", 8, false, true},
		{"8 $rsp +", "$rsp", 8, false, true},
		{"$rsp", "$rsp", 0, false, true},
		{"$rsp 8 -", "$rsp", -8, false, true},
		{".cfa -8 + ^", ".cfa", -8, true, true},
		{".cfa 8 - ^", ".cfa", -8, true, true},
		{"$rsp 1000000000000 + ^", "$rsp", 1000000000000, true, true},
		{"$rsp 2 *", "", 0, false, false},
		{"8", "", 0, false, false},
		{"8 ^", "", 0, true, false},
		{"^", "", 0, true, false},
		{".undef", "", 0, false, false},
		{"$rsp ^ 8 +", "", 0, false, false},
	} {
		n := NewNames(arch.X86_64)
		e, err := n.ParseExpr(c.text)
		if err != nil {
			t.Fatal(err)
		}
		base, off, ok := e.AsOffset()
		_, _, other := e.AsLoad()
		if c.load {
			other = ok
			base, off, ok = e.AsLoad()
		}
		if ok != c.ok || other || ok && (n.Name(base) != c.base || off != c.off) {
			t.Errorf("%s: %s %d %v, other form %v", c.text, n.Name(base), off, ok, other)
		}
		if !c.ok {
			continue
		}
		made := n.Offset(base, off)
		if c.load {
			made = n.Load(base, off)
		}
		if !made.Equal(e) {
			t.Errorf("%s: made again as %s", c.text, made)
		}
	}
	n := NewNames(arch.X86_64)
	for e, want := range map[string]string{
		n.Offset(n.Lookup("$rsp"), 16).String(): "$rsp 16 +",
		n.Load(CFA, -8).String():                ".cfa -8 + ^",
		n.Undef().String():                      ".undef",
	} {
		if e != want {
			t.Errorf("%s, want %s", e, want)
		}
	}
	var used []string
	e, _ := n.ParseExpr("$rsp 8 + .cfa * foo $rsp - +")
	e.Uses(func(r Reg) { used = append(used, n.Name(r)) })
	if got := strings.Join(used, " "); got != "$rsp .cfa foo $rsp" {
		t.Errorf("uses %s", got)
	}
}
