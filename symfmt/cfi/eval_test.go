package cfi

import (
	"errors"
	"math"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
)

// words is a memory of words at exact addresses.
type words map[uint64]uint64

func (w words) ReadWord(addr uint64) (uint64, bool) {
	v, ok := w[addr]
	return v, ok
}

// set gives registers values by name.
func set(t testing.TB, r *Regs, values map[string]uint64) *Regs {
	t.Helper()
	for name, v := range values {
		reg := r.Names().Lookup(name)
		if reg < 0 {
			t.Fatalf("no register %s", name)
		}
		r.Set(reg, v)
	}
	return r
}

func TestEval(t *testing.T) {
	// Each expression on a CPU with 32-bit words and one with 64-bit words, where
	// bp=100, sp=200, bx is all ones, cx is unknown and .cfa is 1000.
	for _, c := range []struct {
		expr   string
		v32    uint64
		v64    uint64
		k32    Kind // both, if k64 is 0 and v64 too
		k64    Kind
		text   string // what is printed, if not expr
		check  bool   // Check finds it too
		number int    // Error.Token
	}{
		{expr: "42", v32: 42, v64: 42},
		{expr: "  42\t", v32: 42, v64: 42, text: "42"},
		{expr: "-1", v32: math.MaxUint32, v64: math.MaxUint64},
		{expr: "+7", v32: 7, v64: 7, text: "7"},
		{expr: "-0", text: "0"},
		{expr: "007", v32: 7, v64: 7, text: "7"},
		{expr: "8388607", v32: 8388607, v64: 8388607},
		{expr: "8388608", v32: 8388608, v64: 8388608},
		{expr: "-8388608", v32: 1<<32 - 8388608, v64: -8388608 & math.MaxUint64},
		{expr: "-8388609", v32: 1<<32 - 8388609, v64: -8388609 & math.MaxUint64},
		{expr: "2147483648 0 +", v32: 1 << 31, v64: 1 << 31, text: "?"},
		{expr: "4294967295", v32: math.MaxUint32, v64: math.MaxUint32, text: "?"},
		{expr: "-4294967295", v32: 1, v64: 1<<64 - math.MaxUint32, text: "?"},
		{expr: "4294967296", k32: BadConstant, v64: 1 << 32, check: true, number: 1},
		{expr: "18446744073709551615", k32: BadConstant, v64: math.MaxUint64, text: "?", check: true, number: 1},
		{expr: "18446744073709551616", k32: BadConstant, check: true, number: 1},
		{expr: "0x10", k32: BadConstant, check: true, number: 1},
		{expr: "1 8-", k32: BadConstant, check: true, number: 2},
		{expr: "1e3", k32: BadConstant, check: true, number: 1},
		{expr: "--8", k32: Unknown, number: 1},

		{expr: "$bp", v32: 100, v64: 100},
		{expr: "$cx", k32: Unknown, number: 1},
		{expr: "$nosuch 1 +", k32: Unknown, number: 1},
		{expr: ".ra", k32: Unknown, number: 1},
		{expr: ".cfa", v32: 1000, v64: 1000},
		{expr: ".undef", k32: Undefined, number: 1},
		{expr: "$bp .undef +", k32: Undefined, number: 2},

		{expr: "$sp 8 +", v32: 208, v64: 208},
		{expr: "$bx 1 +", v32: 0, v64: 0},
		{expr: "$sp $bp -", v32: 100, v64: 100},
		{expr: "$bp $sp -", v32: 1<<32 - 100, v64: 1<<64 - 100},
		{expr: "$bp -3 *", v32: 1<<32 - 300, v64: 1<<64 - 300},
		{expr: "65536 65536 *", v32: 0, v64: 1 << 32},
		{expr: "$sp 7 /", v32: 28, v64: 28},
		{expr: "$sp 7 %", v32: 4, v64: 4},
		{expr: "-1 2 /", v32: math.MaxInt32, v64: math.MaxInt64},
		{expr: "-1 10 %", v32: 5, v64: 5},
		{expr: "7 -1 /", v32: 0, v64: 0},
		{expr: "$sp 0 /", k32: DivisionByZero, number: 3},
		{expr: "$sp $bp $bp - %", k32: DivisionByZero, number: 5},
		{expr: "$sp 1 + 16 @", v32: 192, v64: 192},
		{expr: "$sp 1 @", v32: 200, v64: 200},
		{expr: "$bx 2147483648 @", v32: 1 << 31, v64: 1<<64 - 1<<31, text: "?"},
		{expr: "$sp 12 @", k32: BadAlignment, number: 3},
		{expr: "$sp 0 @", k32: BadAlignment, number: 3},
		{expr: "$sp -16 @", k32: BadAlignment, number: 3},
		{expr: "$sp 8 + ^", v32: 0x1234, v64: 0x1234},
		{expr: ".cfa -8 + ^", v32: 0xcafe, v64: 0xcafe},
		{expr: "$bx ^", v32: math.MaxUint32, v64: math.MaxUint64}, // the memory's value is cut to the word
		{expr: "$sp ^ ^", v32: 0x1234, v64: 0x1234},
		{expr: "$sp 9 + ^", k32: Unreadable, number: 4},

		{expr: "+", k32: Underflow, check: true, number: 1},
		{expr: "1 +", k32: Underflow, check: true, number: 2},
		{expr: "^", k32: Underflow, check: true, number: 1},
		{expr: "1 2 + -", k32: Underflow, check: true, number: 4},
		{expr: "1 2", k32: Leftover, check: true},
		{expr: "$sp 8 + $bp", k32: Leftover, check: true},
		{expr: "$T0 5 =", k32: Unknown, check: true, number: 1},
		{expr: "1 5 =", k32: Assignment, check: true, number: 3},
		{expr: "1 5 =$sp", k32: Assignment, text: "1 5 = $sp", check: true, number: 3},
	} {
		t.Run(c.expr, func(t *testing.T) {
			if c.k32 != 0 && c.k64 == 0 && c.v64 == 0 {
				c.k64 = c.k32
			}
			checkEval(t, arch.X86, "$e", c.expr, c.text, c.v32, c.k32, c.number, c.check)
			checkEval(t, arch.X86_64, "$r", c.expr, c.text, c.v64, c.k64, c.number, c.check)
		})
	}
}

// expand replaces "$sp" by "$esp" or "$rsp".
func expand(text, prefix string) string {
	out := ""
	for i := 0; i < len(text); i++ {
		if text[i] == '$' && i+2 < len(text) && (text[i+2] == 'p' || text[i+2] == 'x') {
			out += prefix
		} else {
			out += text[i : i+1]
		}
	}
	return out
}

func checkEval(t *testing.T, a *arch.Arch, prefix, expr, text string, want uint64, kind Kind, token int, check bool) {
	t.Helper()
	n := NewNames(a)
	expr = expand(expr, prefix)
	e, err := n.ParseExpr(expr)
	if err != nil {
		t.Fatalf("%s: %v", a.Name, err)
	}
	if text = expand(text, prefix); text == "" {
		text = expr
	}
	if got := e.String(); got != text && text != "?" {
		t.Errorf("%s: prints %q, want %q", a.Name, got, text)
	}
	again, err := n.ParseExpr(e.String())
	if err != nil || !again.Equal(e) || again.String() != e.String() {
		t.Errorf("%s: %q parses as %q, %v", a.Name, e, again, err)
	}
	regs := set(t, n.NewRegs(), map[string]uint64{prefix + "bp": 100, prefix + "sp": 200, prefix + "bx": math.MaxUint64})
	mem := words{208: 0x1234, 992: 0xcafe, 200: 208, math.MaxUint32: math.MaxUint64, math.MaxUint64: math.MaxUint64}
	got, err := e.EvalCFA(regs, mem, 1000)
	if kind == 0 {
		if err != nil || got != want {
			t.Errorf("%s: %#x, %v, want %#x", a.Name, got, err, want)
		}
		if err := e.Check(); err != nil {
			t.Errorf("%s: Check: %v", a.Name, err)
		}
		return
	}
	var fault *Error
	if !errors.As(err, &fault) || !errors.Is(err, kind) || fault.Token != token || got != 0 {
		t.Errorf("%s: %#x, %v, want %v at token %d", a.Name, got, err, kind, token)
	}
	if err := e.Check(); (err != nil) != check {
		t.Errorf("%s: Check: %v, want an error: %v", a.Name, err, check)
	}
}

func TestCFAIsUnknownToItself(t *testing.T) {
	n := NewNames(arch.X86_64)
	e, _ := n.ParseExpr(".cfa 8 +")
	if _, err := e.Eval(n.NewRegs(), nil); !errors.Is(err, Unknown) {
		t.Errorf("%v, want %v", err, Unknown)
	}
	e, _ = n.ParseExpr("1 ^")
	if _, err := e.Eval(n.NewRegs(), nil); !errors.Is(err, Unreadable) {
		t.Errorf("no memory: %v, want %v", err, Unreadable)
	}
	if _, err := (Expr{}).Eval(n.NewRegs(), nil); !errors.Is(err, Empty) {
		t.Errorf("zero Expr: %v, want %v", err, Empty)
	}
}

func TestProgram(t *testing.T) {
	mem := words{16: 1600, 20: 0xcafe, 1600: 77, 1608: 0xbeef}
	for _, c := range []struct {
		program string
		want    map[string]uint64
	}{
		{ // the specification's example
			"$eip 4 + ^ = $esp $ebp 8 + = $ebp $ebp ^ =", nil,
		},
		{"$T0 $ebp = $eip $T0 4 + ^ = $ebp $T0 ^ = $esp $T0 8 + =", map[string]uint64{"$eip": 0xcafe, "$ebp": 1600, "$esp": 24, "$T0": 16}},
		{"$T0 $ebp = =$eip $T0 =", nil},
		{"$T0 $ebp 4 + =$eip $T0 ^ =$ebp $T0 4 - ^ =", map[string]uint64{"$eip": 0xcafe, "$ebp": 1600, "$T0": 20}},
		{"$T0 .raSearchStart = $eip $T0 ^ = $esp $T0 4 + =", map[string]uint64{"$eip": 0xbeef, "$esp": 1612, "$T0": 1608}},
		{"$T2 $esp .cbLocals + .cbSavedRegs + =", map[string]uint64{"$T2": 1608}},
		// CodeView's numbers of $ebx, $ebp, $esi and $edi
		{"$T0 $22 = $eip $T0 4 + ^ = $22 $T0 ^ = $esp $T0 8 + = $23 5 = $24 $esi 1 + =",
			map[string]uint64{"$eip": 0xcafe, "$ebp": 1600, "$22": 1600, "$esp": 24, "$21": 24, "$esi": 5, "$edi": 6}},
		// A variable on the stack has the value that it has when it is used.
		{"$T0 3 = $T1 $T0 $T0 5 = 10 + =", map[string]uint64{"$T0": 5, "$T1": 15}},
	} {
		n := NewNames(arch.X86)
		p, err := n.ParseProgram(c.program)
		if err != nil {
			t.Fatal(err)
		}
		vars := n.NewRegs()
		for name, v := range map[string]uint64{"$ebp": 16, "$esp": 1600, ".cbLocals": 4, ".cbSavedRegs": 4, ".raSearchStart": 1608} {
			vars.Set(n.intern(name), v)
		}
		err = p.Run(vars, mem)
		if c.want == nil {
			if err == nil {
				t.Errorf("%s: no error", c.program)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.program, err)
		}
		for name, want := range c.want {
			reg := n.Lookup(name)
			if got, ok := vars.Get(reg); !ok || got != want || !vars.Assigned(reg) {
				t.Errorf("%s: %s = %#x, known %v, assigned %v, want %#x", c.program, name, got, ok, vars.Assigned(reg), want)
			}
		}
		if reg := n.Lookup("$ebx"); vars.Assigned(reg) {
			t.Errorf("%s: $ebx is assigned", c.program)
		}
	}
}

func TestProgramErrors(t *testing.T) {
	for program, want := range map[string]Kind{
		"$eip $T0 =":            Unknown,
		"$eip 1 = 2":            Leftover,
		"$eip":                  Leftover,
		".cbLocals 1 =":         Assignment,
		"5 1 =":                 Assignment,
		"eip 1 =":               Assignment,
		"=":                     Underflow,
		"1 =":                   Underflow,
		"$eip .undef =":         Undefined,
		"$eip .cfa =":           Unknown,
		"$eip 1 0 / =":          DivisionByZero,
		"$eip 4 ^ =":            Unreadable,
		"$eip 99999999999999 =": BadConstant,
		"$eip $esp -= =":        Unknown, // "-=" is a name
		"$eip: 1 =":             Colon,
		" \r\n":                 Empty,
	} {
		n := NewNames(arch.X86)
		p, err := n.ParseProgram(program)
		if err == nil {
			err = p.Run(set(t, n.NewRegs(), map[string]uint64{"$esp": 5}), words{})
		}
		if !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", program, err, want)
		}
	}
}

func TestProgramKeepsEarlierAssignments(t *testing.T) {
	n := NewNames(arch.X86)
	p, _ := n.ParseProgram("$eip 7 = $esp $T9 =")
	vars := n.NewRegs()
	if err := p.Run(vars, nil); !errors.Is(err, Unknown) {
		t.Errorf("%v, want %v", err, Unknown)
	}
	if v, ok := vars.Get(n.Lookup("$eip")); !ok || v != 7 {
		t.Errorf("$eip is %d, %v", v, ok)
	}
	if vars.Assigned(n.Lookup("$esp")) {
		t.Error("$esp is assigned")
	}
	vars.Reset()
	if vars.Assigned(n.Lookup("$eip")) {
		t.Error("$eip is assigned after Reset")
	}
}
