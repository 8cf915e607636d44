package lint

import (
	"fmt"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/coderange"
	"github.com/symtool/symtool/lint/finding"
)

// family lists the findings of one family as "line:col ID: message".
func family(r *finding.Report, name string) (list []string) {
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Rule.Family().Name == name {
			list = append(list, fmt.Sprintf("%d:%d %s: %s", f.Line, f.Col, f.Rule.ID, f.Message))
		}
	}
	return list
}

func headFor(cpu string) string {
	return "MODULE Linux " + cpu + " 0123456789ABCDEF0123456789ABCDEF0 a\nFUNC 1000 100 0 f\n"
}

func TestCFIMessages(t *testing.T) {
	const init = "STACK CFI INIT 1000 40 "
	for _, c := range []struct{ name, cpu, text, want string }{
		{"empty expression", "x86_64", init + ".cfa: $rsp 8 + .ra:", `3:39 SYM411: .ra: no expression`},
		{"empty expression in the middle", "x86_64", init + ".cfa: $rsp 8 + $rbx: .ra: .cfa -8 + ^", `3:39 SYM411: $rbx: no expression`},
		{"colon alone", "x86_64", init + ".cfa: $rsp 8 + : .ra: .cfa -8 + ^", `3:39 SYM411: :: colon without a register`},
		{"underflow", "x86_64", init + ".cfa: $rsp 8 + + .ra: .cfa -8 + ^", `3:39 SYM412: .cfa: +: too few operands`},
		{"leftover", "x86_64", init + ".cfa: $rsp 8 .ra: .cfa -8 + ^", `3:24 SYM412: .cfa: values left on the stack`},
		{"hexadecimal constant", "x86_64", init + ".cfa: $rsp 0x8 + .ra: .cfa -8 + ^", `3:35 SYM412: .cfa: 0x8: not a decimal constant of the CPU's word`},
		{"constant over 32 bits", "x86", init + ".cfa: $esp 4294967296 + .ra: .cfa -4 + ^", `3:35 SYM412: .cfa: 4294967296: not a decimal constant of the CPU's word`},
		{"assignment", "x86_64", init + ".cfa: $rsp 8 + .ra: $rsp 8 =", `3:51 SYM412: .ra: =: cannot be assigned`},
		{"division by zero", "x86_64", init + ".cfa: $rsp 0 / .ra: .cfa -8 + ^", `3:37 SYM412: .cfa: division by zero`},
		{"alignment", "x86_64", init + ".cfa: $rsp 24 @ .ra: .cfa -8 + ^", `3:38 SYM412: .cfa: alignment 24 is not a power of two`},
		{"good alignment", "x86_64", init + ".cfa: $rsp 16 @ .ra: .cfa -8 + ^", ""},
		{".undef within", "x86_64", init + ".cfa: $rsp 8 + .ra: .undef ^", `3:44 SYM412: .ra: .undef within an expression`},
		{".cfa by itself", "x86_64", init + ".cfa: .cfa 8 + .ra: .cfa -8 + ^", `3:24 SYM412: .cfa: .cfa has no value in its own rule`},
		{".cfa undefined", "x86_64", init + ".cfa: .undef .ra: $rsp ^", `3:24 SYM412: .cfa: .undef: without a frame address there is no caller`},
		{"too deep", "x86_64", init + ".cfa: " + strings.Repeat("1 ", 33) + strings.Repeat("+ ", 32) + ".ra: .cfa ^", `3:94 SYM412: .cfa: 1: more than 32 values on the stack`},
		{"too long", "x86_64", init + ".cfa: 1 " + strings.Repeat("1 + ", 2200) + ".ra: .cfa ^", `3:8220 SYM411: 1: more than 4096 tokens`},
		{"ARM with dollar signs", "arm", init + ".cfa: $sp 0 + .ra: lr $r4: .cfa -4 + ^",
			`3:24 SYM413: .cfa: arm has no register $sp, want sp
3:46 SYM414: arm has no register $r4, want r4`},
		{"x86 without", "x86_64", init + ".cfa: $rsp 8 + .ra: rsp ^", `3:39 SYM413: .ra: x86_64 has no register rsp, want $rsp`},
		{"of another CPU", "x86_64", init + ".cfa: $esp 8 + .ra: .cfa -8 + ^", `3:24 SYM413: .cfa: x86_64 has no register $esp`},
		{".ra as an operand", "mips", init + ".cfa: $sp 0 + .ra: .ra", `3:38 SYM413: .ra: mips has no register .ra`},
		{"MIPS as it should be", "mips", init + ".cfa: $sp 0 + .ra: $ra\nSTACK CFI 1004 .cfa: $sp 16 + .ra: .cfa -4 + ^", ""},
		{"unknown CPU", "vax", init + ".cfa: sp 8 + .ra: whatever", ""},
		{"escape sequences", "x86_64", init + ".cfa: \u009b31m 8 + .ra: .cfa -8 + ^", ""},
		{"long name", "x86_64", init + ".cfa: $rsp 8 + .ra: .cfa -8 + ^ " + strings.Repeat("é", 50) + ": 1",
			`3:56 SYM414: x86_64 has no register "` + strings.Repeat("é", 20) + `"...`},
		{"no .cfa, one later", "x86_64", init + ".ra: $rsp ^\nSTACK CFI 1004 $rbx: $rsp ^\nSTACK CFI 1008 .cfa: $rsp 8 +", `3:0 SYM410: no rule for .cfa at 1000, only from 1008 on`},
		{"no .ra at all", "x86_64", init + ".cfa: $rsp 8 +\nSTACK CFI 1008 .cfa: $rsp 16 +", `3:0 SYM410: no rule for .ra at 1000, nor in a row`},
		{"neither", "x86_64", init + "$rbx: $rsp ^", `3:0 SYM410: no rule for .cfa at 1000, nor in a row`},
		{"second rule", "x86_64", init + ".cfa: $rsp 8 + .ra: .cfa -8 + ^ .cfa: $rsp 16 +", `3:56 SYM415: .cfa has a second rule in this record: the first is lost`},
		{"row in front", "x86_64", "STACK CFI 1000 .cfa: $rsp 8 +", `3:11 SYM401: no STACK CFI INIT before this record`},
		{"row of a bad INIT", "x86_64", init + ".cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI INIT zz 40 .cfa: $rsp 8 +\nSTACK CFI 2001 .cfa: $rsp 8 +", ""},
		{"row below", "x86_64", init + ".cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI fff .cfa: $rsp 16 +", `4:11 SYM409: fff is outside 1000 to 1040, the range of STACK CFI INIT at line 3`},
		{"row at INIT", "x86_64", init + ".cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI 1000 .cfa: $rsp 16 +", `4:11 SYM407: 1000 is not above the address of the record before`},
		{"the same in another form", "x86_64", init + ".cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI 1001 .cfa: 8 $rsp +", `4:11 SYM416: the rules at 1001 are in force already`},
		{"back and forth", "x86_64", init + ".cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI 1001 .cfa: $rsp 16 +\nSTACK CFI 1002 .cfa: $rsp 8 +", ""},
		{"not restored, once", "x86_64", init + ".cfa: $rbp 16 + .ra: .cfa -8 + ^\nSTACK CFI 1001 .cfa: $rbp 24 +", `3:24 SYM417: .cfa is computed from $rbp, which no rule restores`},
		{"restored", "x86_64", init + ".cfa: $rbp 16 + .ra: .cfa -8 + ^ $rbp: .cfa -16 + ^", ""},
		{"on ARM by r7", "arm", init + ".cfa: sp 8 + .ra: .cfa -4 + ^ r7: .cfa -8 + ^\nSTACK CFI 1004 .cfa: r7 8 +", ""},
		{"scratch", "x86_64", init + ".cfa: $r10 0 + .ra: .cfa -8 + ^", `3:24 SYM418: .cfa is computed from $r10, which calls do not preserve`},
		{"overlap at the end of the address space", "x86_64", "STACK CFI INIT fffffffffffffff0 f .cfa: $rsp 8 + .ra: .cfa ^\nSTACK CFI INIT fffffffffffffff8 7 .cfa: $rsp 8 + .ra: .cfa ^\nPUBLIC fffffffffffffff0 0 g",
			`4:0 SYM402: [fffffffffffffff8, ffffffffffffffff) overlaps [fffffffffffffff0, ffffffffffffffff) of line 3`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := strings.Join(family(lintText(t, headFor(c.cpu)+c.text+"\n"), "cfi"), "\n")
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestWinMessages(t *testing.T) {
	for _, c := range []struct{ name, record, want string }{
		{"example of the specification", "STACK WIN 4 1000 100 1 0 0 0 0 0 1 $eip 4 + ^ = $esp $ebp 8 + = $ebp $ebp ^ =", `3:43 SYM436: +: value is not known`},
		{"underflow", "STACK WIN 4 1000 100 0 0 0 0 0 0 1 $eip $esp = =", `3:48 SYM436: =: too few operands`},
		{"leftover", "STACK WIN 4 1000 100 0 0 0 0 0 0 1 $eip $esp ^ = $esp 4", `3:36 SYM436: values left on the stack`},
		{"unknown variable", "STACK WIN 4 1000 100 0 0 0 0 0 0 1 $eip $T0 ^ = $esp 4 =", `3:45 SYM436: ^: value is not known`},
		{"assignment to a size", "STACK WIN 4 1000 100 0 0 0 0 0 0 1 .cbLocals 4 =", `3:48 SYM436: =: cannot be assigned`},
		{"alignment", "STACK WIN 4 1000 100 0 0 0 0 0 0 1 $T0 $esp 12 @ =", `3:48 SYM436: @: alignment is not a power of two: 12`},
		{"colon", "STACK WIN 4 1000 100 0 0 0 0 0 0 1 $eip: 4", `3:36 SYM436: $eip:: colon within an expression`},
		{"neither", "STACK WIN 4 1000 100 0 0 0 0 0 0 1 $ebp 4 =", `3:34 SYM437: the program does not assign $eip and $esp`},
		{"no $esp", "STACK WIN 4 1000 100 0 0 0 0 0 0 1 $eip $esp ^ =", `3:34 SYM437: the program does not assign $esp`},
		{"tokens that stick together", "STACK WIN 4 1000 100 0 0 0 0 0 0 1 $eip $esp ^ =$esp $esp 4 + =", ""},
		{"all variables", "STACK WIN 4 1000 100 0 0 0 0 0 0 1 $eip .cbParams .cbCalleeParams + .cbSavedRegs .cbLocals + .raSearch .raSearchStart + + + = $esp $ebp $ebx + =", ""},
		{"flag", "STACK WIN 0 1000 100 0 0 0 0 0 0 0 1", ""},
		{"type 4 without a program", "STACK WIN 4 1000 100 0 0 0 0 0 0 0 0", `3:34 SYM435: type 4 without a program`},
		{"type", "STACK WIN 1a0 1000 100 0 0 0 0 0 0 0 0", `3:11 SYM431: type 1a0, want 0 or 4`},
		{"sizes", "STACK WIN 0 1000 100 f0 11 0 0 0 0 0 0", `3:22 SYM439: prologue of 0xf0 and epilogue of 0x11 bytes in 0x100 bytes of code`},
		{"sizes that fit", "STACK WIN 0 1000 100 f0 10 0 0 0 0 0 0", ""},
		{"parameters, of which FUNC says nothing", "STACK WIN 0 1000 100 0 0 c 0 0 0 0 0", ""},
		{"parameters of code within", "STACK WIN 0 1004 fc 0 0 c 0 0 0 0 0", ""},
		{"over 32 bits", "STACK WIN 0 ffffffff 2 0 0 0 0 0 0 0 0", `3:13 SYM406: 0x2 bytes at ffffffff end beyond 32 bits, the address size of x86`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := strings.Join(family(lintText(t, headFor("x86")+c.record+"\n"), "cfi"), "\n")
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	r := lintText(t, "MODULE windows x86 0 a\nFUNC 1000 10 c 0 f\nSTACK WIN 0 1000 10 0 0 c 0 0 0 0 0\nSTACK WIN 0 1010 10 0 0 c 0 0 0 0 0\n")
	if got := family(r, "cfi"); got != nil {
		t.Errorf("equal parameter sizes: %q", got)
	}
}

// The cache of rule texts is cleared when it gets too large, which changes nothing else.
func TestManyRuleTexts(t *testing.T) {
	var b strings.Builder
	b.WriteString(headFor("x86_64"))
	const blocks, rows = 30, 3000
	for i := range blocks {
		fmt.Fprintf(&b, "STACK CFI INIT %x %x .cfa: $rsp %d + .ra: .cfa -8 + ^\n", 0x10000*i, rows+2, i)
		for j := range rows {
			fmt.Fprintf(&b, "STACK CFI %x .cfa: $rsp %d +\n", 0x10000*i+j+1, 1000+i*rows+j)
		}
		// The rule is in force, whether or not the tables were cleared.
		fmt.Fprintf(&b, "STACK CFI %x .cfa: $rsp %d +\n", 0x10000*i+rows+1, 1000+i*rows+rows-1)
	}
	b.WriteString("STACK CFI INIT ffff000 10 .cfa: $rsp + .ra: .cfa -8 + ^ " + strings.Repeat("$rbx: 1 ", 800) + "\n")
	r := lintText(t, b.String())
	if n := r.Counts["SYM416"]; n != blocks {
		t.Errorf("%d rows that change nothing, want %d", n, blocks)
	}
	if n := r.Counts["SYM412"]; n != 1 {
		t.Errorf("%d failing expressions, want 1", n)
	}
}

// Each rule has the same findings alone as with the others.
func TestRulesAlone(t *testing.T) {
	rules, err := SelectRules([]string{"cfi", "coverage"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range rules {
		r := lintWith(t, rule.Bad, func(o *Options) {
			limitsOf(rule)(o)
			o.Rules = []*finding.Rule{rule}
		})
		if len(r.Findings) != 1 || r.Findings[0].Line != rule.At {
			t.Errorf("%s: %v", rule.ID, r.Findings)
		}
	}
}

// Rules for very many registers cost no more than others.
func TestManyRegisters(t *testing.T) {
	for _, cpu := range []string{"x86_64", "vax"} {
		var b strings.Builder
		b.WriteString(headFor(cpu) + "STACK CFI INIT 0 ffffffff $r: 1\n")
		for i := range 20 {
			fmt.Fprintf(&b, "STACK CFI %x", i+1)
			for j := range 2000 {
				fmt.Fprintf(&b, " x%d: 1", i*1000+j)
			}
			b.WriteByte('\n')
		}
		b.WriteString("STACK CFI 1000 .cfa: 1 .ra: 2\n")
		r := passOfText(t, b.String())
		if n := len(r.CFI.Row); n > 514 {
			t.Errorf("%d rules in force", n)
		}
		if known := r.Result.Coverage.Known; coderange.In(known, 0x1000, 1) != 1 || coderange.In(known, 0xfff, 1) != 0 {
			t.Error(".cfa and .ra are not seen")
		}
	}
}
