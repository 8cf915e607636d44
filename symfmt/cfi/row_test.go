package cfi

import (
	"bytes"
	"errors"
	"maps"
	"strconv"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
)

// row returns the row of records.
func row(t testing.TB, n *Names, records ...string) *Row {
	t.Helper()
	r := &Row{}
	for _, text := range records {
		rules, err := n.ParseRules(text)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		r.Apply(rules)
	}
	return r
}

// known returns the known registers by name.
func known(r *Regs) map[string]uint64 {
	m := map[string]uint64{}
	for i := range r.Names().Len() {
		if v, ok := r.Get(Reg(i)); ok && r.Names().Home(Reg(i)) == Reg(i) {
			m[r.Names().Name(Reg(i))] = v
		}
	}
	return m
}

// TestSpecification is the function of the specification's section on STACK CFI
// records, whose CPU has $sp, $r0 and a program counter.
func TestSpecification(t *testing.T) {
	cpu := *arch.X86
	cpu.SP, cpu.PC, cpu.CalleeSaved = "$esp", "$eip", []string{"$eax"} // $r0 is callee-saved
	n := NewNames(&cpu)
	records := []struct {
		rva   RVA
		rules string
	}{
		{0x1000, ".cfa: $esp .ra: .cfa ^"},
		{0x1001, ".cfa: $esp 16 +"},
		{0x1002, "$eax: .cfa 4 - ^"},
		{0x100b, ".cfa: $esp 20 +"},
		{0x1015, "$eax: $eax"},
		{0x1016, ".cfa: $esp"},
	}
	// The return address 0xabc is at 1000, the saved $r0 77 at 996; $r0 is 5
	// within the function, and 77 again from func+21 on.
	mem := words{1000: 0xabc, 996: 77}
	for _, c := range []struct {
		records  int
		sp, r0   uint64
		callerR0 uint64
	}{
		{1, 1000, 77, 77},
		{2, 984, 77, 77},
		{3, 984, 5, 77},
		{4, 980, 5, 77},
		{5, 980, 77, 77},
		{6, 1000, 77, 77},
	} {
		r := &Row{}
		for _, rec := range records[:c.records] {
			rules, err := n.ParseRules(rec.rules)
			if err != nil {
				t.Fatal(err)
			}
			r.Apply(rules)
			r.RVA = rec.rva
		}
		callee := set(t, n.NewRegs(), map[string]uint64{"$esp": c.sp, "$eax": c.r0})
		caller := n.NewRegs()
		if err := r.Caller(callee, mem, caller); err != nil {
			t.Fatal(err)
		}
		want := map[string]uint64{"$esp": 1000, "$eip": 0xabc, "$eax": c.callerR0}
		if got := known(caller); !maps.Equal(got, want) {
			t.Errorf("row at %#x: %v, want %v", r.RVA, got, want)
		}
	}
}

func TestCaller(t *testing.T) {
	mem := words{0x1000: 0x400123, 0xff8: 0x2000, 0xff0: 0x77, 0x5000: 0x600000, 0x5008: 0x7000}
	for _, c := range []struct {
		name    string
		arch    *arch.Arch
		records []string
		callee  map[string]uint64
		want    map[string]uint64
		err     Kind
		rule    string
	}{
		{
			name: "entry", arch: arch.X86_64,
			records: []string{".cfa: $rsp 8 + .ra: .cfa -8 + ^"},
			callee:  map[string]uint64{"$rsp": 0x1000, "$rbp": 9, "$rbx": 3, "$rax": 5, "$rip": 1},
			want:    map[string]uint64{"$rsp": 0x1008, "$rip": 0x400123, "$rbp": 9, "$rbx": 3},
		}, {
			name: "frame pointer", arch: arch.X86_64,
			records: []string{".cfa: $rsp 8 + .ra: .cfa -8 + ^", "$rbp: .cfa -16 + ^ .cfa: $rsp 16 +", ".cfa: $rbp 16 +"},
			callee:  map[string]uint64{"$rsp": 0x900, "$rbp": 0xff8, "$r12": 12},
			want:    map[string]uint64{"$rsp": 0x1008, "$rip": 0x400123, "$rbp": 0x2000, "$r12": 12},
		}, {
			name: "registers are the callee's", arch: arch.X86_64,
			records: []string{".cfa: $rsp 8 + .ra: .cfa -8 + ^ $rbx: $rbp $rbp: $rbx"},
			callee:  map[string]uint64{"$rsp": 0x1000, "$rbp": 1, "$rbx": 2},
			want:    map[string]uint64{"$rsp": 0x1008, "$rip": 0x400123, "$rbp": 2, "$rbx": 1},
		}, {
			name: "signal frame", arch: arch.X86_64,
			records: []string{".cfa: $rsp 8 + ^ .ra: $rsp ^ $rax: .cfa 1 +"},
			callee:  map[string]uint64{"$rsp": 0x5000},
			want:    map[string]uint64{"$rsp": 0x7000, "$rip": 0x600000, "$rax": 0x7001},
		}, {
			name: "rules for PC and SP", arch: arch.X86_64,
			records: []string{".cfa: $rsp 8 + .ra: .cfa -8 + ^ $rip: 17 $rsp: 18"},
			callee:  map[string]uint64{"$rsp": 0x1000},
			want:    map[string]uint64{"$rsp": 18, "$rip": 17},
		}, {
			name: "failing rules for PC and SP", arch: arch.X86_64,
			records: []string{".cfa: $rsp 8 + .ra: .cfa -8 + ^ $rip: 1 ^ $rsp: .undef"},
			callee:  map[string]uint64{"$rsp": 0x1000},
			want:    map[string]uint64{"$rsp": 0x1008, "$rip": 0x400123},
		}, {
			name: "leaf with a link register", arch: arch.ARM64,
			records: []string{".cfa: sp 0 + .ra: x30"},
			callee:  map[string]uint64{"sp": 0x1000, "x30": 0x4444, "x19": 19, "x29": 29, "x0": 1},
			want:    map[string]uint64{"sp": 0x1000, "pc": 0x4444, "x19": 19, "x29": 29},
		}, {
			name: "32 bits wrap", arch: arch.ARM,
			records: []string{".cfa: sp 8192 + .ra: .cfa ^ r4: sp -1 *"},
			callee:  map[string]uint64{"sp": 0xffff_f000, "r4": 1, "r5": 5},
			want:    map[string]uint64{"sp": 0x1000, "pc": 0x400123, "r4": 0x1000, "r5": 5},
		}, {
			name: "32 bits divide", arch: arch.ARM,
			records: []string{".cfa: sp .ra: 0 r5 - 16 / r4: 1 r5 -"},
			callee:  map[string]uint64{"sp": 0x1000, "r5": 16},
			want:    map[string]uint64{"sp": 0x1000, "pc": 0x0fff_ffff, "r4": 0xffff_fff1, "r5": 16},
		}, {
			name: "another name of a register", arch: arch.ARM64,
			records: []string{".cfa: sp 16 + .ra: x30 d8: .cfa -24 + ^ v9: .cfa", "v8: .cfa -32 + ^ d9: .cfa 1 +", "x19: d10"},
			callee:  map[string]uint64{"sp": 0x1000, "x30": 0x4444, "v10": 10},
			want:    map[string]uint64{"sp": 0x1010, "pc": 0x4444, "v9": 0x1011, "x19": 10, "v8": 0x77},
		}, {
			name: "MIPS", arch: arch.MIPS,
			records: []string{".cfa: $sp 16 + .ra: $ra $sp: .cfa 8 +"},
			callee:  map[string]uint64{"$sp": 0x1000, "$ra": 0x4444, "$gp": 1, "$s0": 2},
			want:    map[string]uint64{"$sp": 0x1018, "$pc": 0x4444, "$s0": 2},
		}, {
			name: "names of nobody", arch: arch.X86_64,
			records: []string{".cfa: $rsp 8 + .ra: .cfa -8 + ^ unnamed_register77: 5"},
			callee:  map[string]uint64{"$rsp": 0x1000},
			want:    map[string]uint64{"$rsp": 0x1008, "$rip": 0x400123, "unnamed_register77": 5},
		},
		{name: "no .ra", arch: arch.X86_64, records: []string{".cfa: 1"}, err: NoRARule},
		{name: "no .cfa", arch: arch.X86_64, records: []string{".ra: 1"}, err: NoCFARule},
		{name: "outermost frame", arch: arch.X86_64, records: []string{".cfa: 1 .ra: .undef"}, err: Undefined, rule: ".ra"},
		{name: "unknown register", arch: arch.X86_64, records: []string{".cfa: $rbx .ra: 1"}, err: Unknown, rule: ".cfa"},
		{name: "CFA of itself", arch: arch.X86_64, records: []string{".cfa: .cfa .ra: 1"}, err: Unknown, rule: ".cfa"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := NewNames(c.arch)
			r := row(t, n, c.records...)
			caller := n.NewRegs()
			caller.Set(0, 99) // must not survive
			err := r.Caller(set(t, n.NewRegs(), c.callee), mem, caller)
			if c.err != 0 {
				var e *Error
				if !errors.As(err, &e) || e.Kind != c.err || e.Rule != c.rule {
					t.Errorf("%v, want %q: %v", err, c.rule, c.err)
				}
				return
			}
			if got := known(caller); err != nil || !maps.Equal(got, c.want) {
				t.Errorf("%v, %v, want %v", got, err, c.want)
			}
		})
	}
}

func TestCallerLosesFailedRegisters(t *testing.T) {
	n := NewNames(arch.X86_64)
	r := row(t, n, ".cfa: $rsp 8 + .ra: 1 $rbx: .undef $rbp: 5 ^ $r12: + $r13: $rax")
	callee := set(t, n.NewRegs(), map[string]uint64{"$rsp": 8, "$rbx": 1, "$rbp": 2, "$r12": 3, "$r13": 4, "$r14": 5})
	caller := n.NewRegs()
	if err := r.Caller(callee, words{}, caller); err != nil {
		t.Fatal(err)
	}
	want := map[string]uint64{"$rsp": 16, "$rip": 1, "$r14": 5}
	if got := known(caller); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestApply(t *testing.T) {
	n := NewNames(arch.X86_64)
	r := row(t, n, ".cfa: $rsp 8 + .ra: .cfa -8 + ^", "$rbp: .cfa -16 + ^ .cfa: $rsp 16 +", "$rbx: 1 $rbx: 2", "$rax: 3")
	if got, want := r.String(), ".cfa: $rsp 16 + .ra: .cfa -8 + ^ $rax: 3 $rbx: 2 $rbp: .cfa -16 + ^"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := r.Rule(n.Lookup("$rbx")).String(); got != "2" {
		t.Errorf("$rbx: %s, want 2", got)
	}
	if !r.Rule(n.Lookup("$r15")).IsZero() || r.Rule(CFA).String() != "$rsp 16 +" || r.Rule(RA).String() != ".cfa -8 + ^" {
		t.Error("Rule finds other rules than Apply put in")
	}
	again := row(t, n, r.String())
	if !again.Equal(r) || again.String() != r.String() {
		t.Errorf("%s parses as %s", r, again)
	}
	r.Reset()
	if r.String() != "" || len(r.Regs) != 0 {
		t.Errorf("after Reset: %s", r)
	}
}

func TestExprEqual(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"$rsp 8 +", "8 $rsp +", true},
		{"$rsp 8 +", "$rsp -8 -", true},
		{"$rsp 8 +", "$rsp 4 + 4 +", true},
		{"$rsp 8 +", "$rsp 2 4 * +", true},
		{"$rsp 8 +", "$rsp 18446744073709551624 +", false}, // does not fit the word
		{"$rsp 8 +", "$rsp -18446744073709551608 +", true},
		{"$rsp", "$rsp 0 +", true},
		{"$rsp", "$rsp 0 -", true},
		{"$rsp", "$rsp 8 +", false},
		{"$rsp 8 +", "$rbp 8 +", false},
		{"$rsp 8 +", "$rsp 8 + ^", false},
		{".cfa 8 - ^", ".cfa -8 + ^", true},
		{".cfa 8 - ^", "-8 .cfa + ^", true},
		{".cfa ^ 8 +", "8 .cfa ^ +", true},
		{".cfa 8 + ^", ".cfa ^ 8 +", false},
		{"$rax $rbx + $rcx +", "$rcx $rbx $rax + +", true},
		{"$rax $rbx + 5 -", "$rbx 5 - $rax +", true},
		{"$rax $rbx -", "$rbx $rax -", false},
		{"$rax $rbx -", "0 $rbx - $rax +", true},
		{"5 $rax -", "0 $rax - 5 +", true},
		{"$rax $rbx $rcx - -", "$rax $rcx + $rbx -", true},
		{"$rax 4 *", "4 $rax *", true},
		{"$rax 4 *", "$rax 5 *", false},
		{"$rax 2 + 4 *", "4 2 $rax + *", true},
		{"$rax 16 @", "16 $rax @", false},
		{"$rax 15 + 16 @", "15 $rax + 16 @", true},
		{"64 16 @", "64", true},
		{"65 16 @", "64", true},
		{"7 2 /", "3", true},
		{"-1 2 /", "9223372036854775807", true},
		{"7 0 /", "7 0 /", true},
		{"7 0 /", "0", false},
		{"$rax 0 *", "0", false}, // unknown when $rax is
		{"$rax $rax -", "0", false},
		{"$rax .undef +", ".undef", true},
		{"+", "+", true},
		{"+", "-", false},
		{"$rax $rip 15 % 11 + 8 / 8 * + 8 +", "$rax 8 + 8 $rip 15 % 11 + 8 / * +", true},
	} {
		n := NewNames(arch.X86_64)
		a, errA := n.ParseExpr(c.a)
		b, errB := n.ParseExpr(c.b)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if a.Equal(b) != c.want || b.Equal(a) != c.want {
			t.Errorf("%s, %s: equal %v, want %v", c.a, c.b, a.Equal(b), c.want)
		}
		if !a.Equal(a) {
			t.Errorf("%s is not equal to itself", c.a)
		}
	}
	// 32 bits: the sum wraps earlier.
	n := NewNames(arch.X86)
	a, _ := n.ParseExpr("$esp 4294967288 +")
	b, _ := n.ParseExpr("$esp 8 -")
	if !a.Equal(b) || a.String() != "$esp -8 +" {
		t.Errorf("%s is not %s", a, b)
	}
}

// Numbers of the first page end a stack, for all readers.
func TestEndsStack(t *testing.T) {
	for text, want := range map[string]bool{
		"0": true, strconv.Itoa(EndOfStack): true, "4095": true, "4096": false, "-1": false, "18446744073709551615": false, "1 0 +": false,
		".undef": false, "$rip": false, ".cfa": false, "foo": false, "0 ^": false,
	} {
		e, err := NewNames(arch.X86_64).ParseExpr(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.EndsStack(); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	if (Expr{}).EndsStack() {
		t.Error("no expression ends a stack")
	}
}

func TestRowEqual(t *testing.T) {
	const base = ".cfa: $rsp 8 + .ra: .cfa -8 + ^"
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{base, ".ra: .cfa 8 - ^ .cfa: 8 $rsp +", true},
		{base, ".cfa: $rsp 16 + .ra: .cfa -8 + ^", false},
		{base, ".cfa: $rsp 8 + .ra: .cfa -16 + ^", false},
		{base, base + " $rbx: $rbx", true},
		{base, base + " $rbx: .undef", false},
		{base, base + " $rax: .undef", true},
		{base, base + " $rax: $rax", false},
		{base, base + " $rsp: .cfa", true},
		{base, base + " $rsp: .undef", true},
		{base, base + " $rsp: .cfa 8 +", false},
		{base, base + " $rip: .cfa 8 - ^", true},
		{base, base + " $rip: 5", false},
		{base + " $rbx: 1 $rbp: 2", base + " $rbp: 2 $rbx: 1", true},
		{base + " $rbx: 1 $rbp: 2", base + " $rbp: 2", false},
		{base + " $rbx: 1", base + " $rbp: 1", false},
		{base + " foo: 1", base + " foo: 1", true},
		{base + " foo: 1", base, false},
		{"$rbx: 1", "$rbx: 1", true},
		{"$rbx: 1", "$rbp: 1", false},
		{".cfa: $rsp .ra: 0", ".cfa: $rsp .ra: 1", true},
		{".cfa: $rsp .ra: 4095", ".cfa: $rsp .ra: 1", true},
		{".cfa: $rsp .ra: 4096", ".cfa: $rsp .ra: 1", false},
		{".cfa: $rsp .ra: .undef", ".cfa: $rsp .ra: 1", false},
		{".cfa: $rsp .ra: $rbx", ".cfa: $rsp .ra: 1", false},
		{base + " $rbx: 0", base + " $rbx: 1", false},
	} {
		n := NewNames(arch.X86_64)
		a, b := row(t, n, c.a), row(t, n, c.b)
		if a.Equal(b) != c.want || b.Equal(a) != c.want {
			t.Errorf("%s, %s: equal %v %v, want %v", c.a, c.b, a.Equal(b), b.Equal(a), c.want)
		}
		if same := bytes.Equal(a.AppendKey(nil), b.AppendKey(nil)); same != c.want {
			t.Errorf("%s, %s: keys equal %v, want %v", c.a, c.b, same, c.want)
		}
	}
}
