package cfi

import (
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
)

var seeds = []string{
	".cfa: $rsp 8 + .ra: .cfa -8 + ^",
	".cfa: $rbp 16 + .ra: .cfa 8 - ^ $rbp: .cfa -16 + ^ $rbx: .undef",
	".cfa: $rsp 160 + ^ .ra: $rsp 168 + ^ $r8: $rsp 40 + ^",
	".cfa: $rsp 8 + $rip 15 % 11 + 8 / 8 * + .ra: .cfa -8 + ^",
	".cfa: $esp 16 @ .ra: 4294967295 2 * 0 /",
	"x29: x29 -18446744073709551615 - -1 %",
	"a: 1 2 = =b 0x5 --3 .ra .cfa : ::",
	"$T0 $ebp = $eip $T0 4 + ^ = =$ebp $T0 ^ = $esp $T0 8 + =",
}

// FuzzParseRules checks that rules that parse print as text that parses to the same
// rules, also as a row, and that equal rules compare equal.
func FuzzParseRules(f *testing.F) {
	for _, s := range seeds {
		f.Add(s, uint8(len(s)))
	}
	f.Fuzz(func(t *testing.T, text string, cpu uint8) {
		n := NewNames(arch.All[int(cpu)%len(arch.All)])
		rules, err := n.ParseRules(text)
		var fault *Error
		if err != nil {
			if !errors.As(err, &fault) || err.Error() == "" || rules != nil {
				t.Fatalf("error %#v", err)
			}
			return
		}
		printed := rules.String()
		again, err := n.ParseRules(printed)
		if err != nil || again.String() != printed || len(again) != len(rules) {
			t.Fatalf("%q is printed as %q, then as %q, %v", text, printed, again, err)
		}
		for i := range rules {
			if !rules[i].Expr.Equal(again[i].Expr) || rules[i].Reg != again[i].Reg {
				t.Fatalf("rule %d of %q is not equal to itself", i, printed)
			}
			alone, err := n.ParseExpr(rules[i].Expr.String())
			if err != nil || !alone.Equal(rules[i].Expr) {
				t.Fatalf("%q alone: %q, %v", rules[i].Expr, alone, err)
			}
		}
		var a, b Row
		a.Apply(rules)
		b.Apply(again)
		if !a.Equal(&b) || !b.Equal(&a) {
			t.Fatalf("rows of %q differ", printed)
		}
	})
}

// FuzzEval checks that evaluation never panics, and agrees with a slow evaluator of the
// text and with the normal form.
func FuzzEval(f *testing.F) {
	for _, s := range seeds {
		f.Add(s, uint64(0x7fff_ffff_e000), uint64(3), uint8(9))
	}
	f.Fuzz(func(t *testing.T, text string, a, b uint64, cpu uint8) {
		n := NewNames(arch.All[int(cpu)%len(arch.All)])
		p, perr := n.ParseProgram(text)
		e, err := n.ParseExpr(text)
		rules, rerr := n.ParseRules(text)
		regs := n.NewRegs()
		for i := 0; i < n.known; i += 2 {
			regs.Set(Reg(i), a+uint64(i)*b)
		}
		mem := sparse(b)
		if perr == nil {
			vars := regs.clone()
			if err := p.Run(vars, mem); err != nil && err.Error() == "" {
				t.Fatal("error without text")
			}
		}
		if rerr == nil {
			var row Row
			row.Apply(rules)
			caller := n.NewRegs()
			if row.Caller(regs, mem, caller) == nil {
				if _, ok := caller.Get(n.pc); !ok {
					t.Fatalf("%q: no program counter", text)
				}
			}
		}
		if err != nil {
			return
		}
		got, err := e.EvalCFA(regs, mem, a^b)
		want, ok := slow(e.String(), regs, mem, a^b)
		if ok != (err == nil) || got != want {
			t.Fatalf("%q: %#x, %v; the slow way %#x, %v", text, got, err, want, ok)
		}
		if fault := e.Check(); fault != nil && err == nil {
			t.Fatalf("%q: %#x, but Check says %v", text, got, fault)
		}
		normal := Expr{e.normal(), n}
		if v, nerr := normal.EvalCFA(regs, mem, a^b); err == nil && (nerr != nil || v != got) {
			t.Fatalf("%q is %#x, its normal form %q %#x, %v", text, got, normal, v, nerr)
		}
		if !normal.Equal(e) || !e.Equal(normal) {
			t.Fatalf("%q and its normal form %q are not equal", text, normal)
		}
	})
}

// sparse is a memory without every fifth word.
type sparse uint64

func (s sparse) ReadWord(addr uint64) (uint64, bool) {
	return addr*0x9e3779b97f4a7c15 + uint64(s), addr%5 != 0
}

// slow evaluates the text of an expression token by token with big integers,
// as specified.
func slow(text string, regs *Regs, mem Memory, cfa uint64) (uint64, bool) {
	n := regs.Names()
	word := new(big.Int).Lsh(big.NewInt(1), 64)
	if a := n.Arch(); a.PtrSize == 4 {
		word.Rsh(word, 32)
	}
	cut := func(v *big.Int) *big.Int { return new(big.Int).Mod(v, word) }
	var stack []*big.Int
	push := func(v *big.Int) bool {
		stack = append(stack, cut(v))
		return len(stack) <= MaxDepth
	}
	pop := func() *big.Int {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		return v
	}
	ok := true
	for _, tok := range strings.Fields(text) {
		switch {
		case !ok:
		case tok == ".cfa":
			ok = push(new(big.Int).SetUint64(cfa))
		case tok == ".undef", tok == "=":
			ok = false
		case tok == "^":
			if ok = len(stack) > 0; ok {
				var v uint64
				v, ok = mem.ReadWord(pop().Uint64())
				ok = ok && push(new(big.Int).SetUint64(v))
			}
		case len(tok) == 1 && strings.Contains("+-*/%@", tok):
			if ok = len(stack) > 1; ok {
				b := pop()
				var v *big.Int
				v, ok = arithmetic(tok, pop(), b)
				ok = ok && push(v)
			}
		default:
			if v, isNumber := new(big.Int).SetString(tok, 10); isNumber && tok[0] != '_' && !strings.Contains(tok, "_") {
				ok = v.CmpAbs(word) < 0 && push(v)
			} else {
				var v uint64
				reg := n.Lookup(tok)
				if reg == RA {
					reg = NoReg
				}
				v, ok = regs.Get(reg)
				ok = ok && push(new(big.Int).SetUint64(v))
			}
		}
	}
	if !ok || len(stack) != 1 {
		return 0, false
	}
	return stack[0].Uint64(), true
}

func arithmetic(op string, a, b *big.Int) (*big.Int, bool) {
	v := new(big.Int)
	switch op {
	case "+":
		return v.Add(a, b), true
	case "-":
		return v.Sub(a, b), true
	case "*":
		return v.Mul(a, b), true
	case "@":
		if b.Sign() == 0 || new(big.Int).And(b, new(big.Int).Sub(b, big.NewInt(1))).Sign() != 0 {
			return nil, false
		}
		return v.Sub(a, new(big.Int).Mod(a, b)), true
	}
	if b.Sign() == 0 {
		return nil, false
	}
	if op == "/" {
		return v.Div(a, b), true
	}
	return v.Mod(a, b), true
}

// clone returns a copy of r.
func (r *Regs) clone() *Regs {
	return &Regs{r.names, slices.Clone(r.values), slices.Clone(r.known), slices.Clone(r.assigned)}
}
