package cfi

import (
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/arch"
)

const typical = ".cfa: $rbp 16 + .ra: .cfa -8 + ^ $rbp: .cfa -16 + ^ $rbx: .cfa -40 + ^ $r12: .cfa -32 + ^"

const program = "$T0 $ebp = $eip $T0 4 + ^ = $ebp $T0 ^ = $esp $T0 8 + = $L $T0 .cbSavedRegs - = $P $T0 8 + .cbParams + ="

// running returns functions that evaluate the rules of the hot path.
func running(t testing.TB) (caller, expr, run, fail, compare func()) {
	n := NewNames(arch.X86_64)
	r := row(t, n, typical)
	other := row(t, n, typical)
	callee := set(t, n.NewRegs(), map[string]uint64{"$rsp": 0x1000, "$rbp": 0x2001, "$r13": 5})
	out := n.NewRegs()
	caller = func() {
		if err := r.Caller(callee, flat{}, out); err != nil {
			t.Fatal(err)
		}
	}
	expr = func() {
		if v, err := r.CFA.Eval(callee, flat{}); err != nil || v != 0x2011 {
			t.Fatal(v, err)
		}
	}
	lost := row(t, n, typical+" $r14: 0 ^ $r15: .undef")
	fail = func() {
		if err := lost.Caller(callee, sparse(0), out); err != nil {
			t.Fatal(err)
		}
	}
	compare = func() {
		if !r.Equal(other) {
			t.Fatal("not equal")
		}
	}
	x86 := NewNames(arch.X86)
	p, err := x86.ParseProgram(program)
	if err != nil {
		t.Fatal(err)
	}
	vars := set(t, x86.NewRegs(), map[string]uint64{"$esp": 0x1000, "$ebp": 0x2000, ".cbSavedRegs": 4, ".cbParams": 8})
	run = func() {
		if err := p.Run(vars, flat{}); err != nil {
			t.Fatal(err)
		}
	}
	return caller, expr, run, fail, compare
}

func TestEvaluationAllocatesNothing(t *testing.T) {
	caller, expr, run, fail, compare := running(t)
	for name, f := range map[string]func(){"Caller": caller, "Eval": expr, "Run": run, "lost registers": fail, "Equal": compare} {
		if n := testenv.Allocations(100, f); n != 0 {
			t.Errorf("%s: %v allocations, want 0", name, n)
		}
	}
}

func BenchmarkCaller(b *testing.B) {
	caller, _, _, _, _ := running(b)
	b.ReportAllocs()
	for b.Loop() {
		caller()
	}
}

func BenchmarkEval(b *testing.B) {
	_, expr, _, _, _ := running(b)
	b.ReportAllocs()
	for b.Loop() {
		expr()
	}
}

func BenchmarkProgram(b *testing.B) {
	_, _, run, _, _ := running(b)
	b.ReportAllocs()
	for b.Loop() {
		run()
	}
}

func BenchmarkRowEqual(b *testing.B) {
	_, _, _, _, compare := running(b)
	for b.Loop() {
		compare()
	}
}

func BenchmarkParseRules(b *testing.B) {
	n := NewNames(arch.X86_64)
	b.ReportAllocs()
	b.SetBytes(int64(len(typical)))
	for b.Loop() {
		if _, err := n.ParseRules(typical); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPrint(b *testing.B) {
	n := NewNames(arch.X86_64)
	rules, _ := n.ParseRules(typical)
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = rules.appendTo(buf[:0])
	}
}
