package unwind

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/cfi"
)

// TestCFIExpressionText has DWARF expressions and what they become.
func TestCFIExpressionText(t *testing.T) {
	const needs = "needs the pc"
	for _, c := range []struct{ in, cfa, is string }{
		{"breg7:8", "$rsp 8 +", "$rsp 8 +"},
		{"bregx:7:-8", "$rsp -8 +", "$rsp -8 +"},
		{"breg6:-8 deref", "$rbp -8 + ^", "$rbp -8 + ^"},
		{"breg6:0 deref plus_uconst:16", "$rbp ^ 16 +", "$rbp ^ 16 +"},
		{"breg6:0 deref const1s:-16 and", "$rbp ^ 16 @", "$rbp ^ 16 @"},
		{"breg6:0 lit15 and", "$rbp 16 %", "$rbp 16 %"},
		{"breg6:0 const2u:0xff0 and", "$rbp 4096 % 16 @", "$rbp 4096 % 16 @"},
		{"breg6:0 lit5 and", "error: cannot write DW_OP_and: (DW_OP_breg6 ($rbp): 0; DW_OP_lit5; DW_OP_and)", ""},
		{"breg6:0 lit3 shl", "$rbp 8 *", "$rbp 8 *"},
		{"breg6:0 lit3 shr", "$rbp 8 /", "$rbp 8 /"},
		{"breg6:0 lit3 shra", "error: cannot write DW_OP_shra: (DW_OP_breg6 ($rbp): 0; DW_OP_lit3; DW_OP_shra)", ""},
		{"breg6:0 lit4 shr lit3 shra", "$rbp 16 / 8 /", "$rbp 16 / 8 /"},
		{"breg6:0 lit4 div", "error: cannot write DW_OP_div: (DW_OP_breg6 ($rbp): 0; DW_OP_lit4; DW_OP_div)", ""},
		{"breg6:0 lit8 mod lit4 div", "$rbp 8 % 4 /", "$rbp 8 % 4 /"},
		{"const1s:-9 lit4 div", "-2", "-2"},
		{"const1s:-9 lit4 mod", "3", "3"},
		{"breg6:0 breg3:0 mod", "$rbp $rbx %", "$rbp $rbx %"},
		{"breg6:0 breg3:0 minus neg not", "-1 0 $rbp $rbx - - -", ""},
		{"breg6:0 lit16 minus lit8 minus", "$rbp -24 +", "$rbp -24 +"},
		{"breg6:0 breg3:1 mul", "$rbp $rbx 1 + *", ""},
		{"breg6:0 const1u:16 mod abs", "$rbp 16 %", ""},
		{"breg6:0 const1s:-1 xor", "-1 $rbp -", ""},
		{"breg6:0 const1s:-8 and lit3 or", "$rbp 8 @ 3 +", ""},
		{"breg6:0 lit3 or", "error: cannot write DW_OP_or: (DW_OP_breg6 ($rbp): 0; DW_OP_lit3; DW_OP_or)", ""},
		{"lit1 lit2 lit3 rot drop swap pick:0 plus", "6", ""},
		{"lit1 lit2 over minus", "1", ""},
		{"lit1 bra:1 lit5 breg6:8", "$rbp 8 +", ""},
		{"breg6:0 skip:2 lit1 plus", "$rbp 0 +", ""},
		{"lit0 skip:-3", "error: takes too many steps: (DW_OP_lit0; DW_OP_skip -3)", ""},
		{"breg6:0 bra:0 lit1", "error: cannot write DW_OP_bra: (DW_OP_breg6 ($rbp): 0; DW_OP_bra 0; DW_OP_lit1)", ""},
		{"breg6:0 deref_size:4", "$rbp ^ 4294967296 %", ""},
		{"breg6:0 deref_size:9", "error: cannot load 9 bytes: (DW_OP_breg6 ($rbp): 0; DW_OP_deref_size 9)", ""},
		{"call_frame_cfa", "error: the CFA depends on itself: (DW_OP_call_frame_cfa)", ".cfa 0 +"},
		{"drop", "error: DW_OP_drop with 0 of 1 operands: (DW_OP_drop)", ""},
		{"nop", "error: leaves nothing on the stack: (DW_OP_nop)", ".cfa 0 +"},
		{"reg7", "error: cannot write DW_OP_reg7: (DW_OP_reg7)", ""},
		{"push_object_address", "error: cannot write DW_OP_push_object_address: (DW_OP_push_object_address)", ""},
		{"addr:0x1000", "error: an address that moves when the module is loaded: (DW_OP_addr 0x1000)", ""},
		{"0xed", "error: cannot write unknown operation 0xed: (unknown operation 0xed)", ""},
		{"0x08", "error: ends within an operation: (DW_OP_const1u 0 (cut short))", ""},
		{"bregx:4000:0", "error: uses DWARF register 4000, which has no name: (DW_OP_bregx DWARF register 4000 0)", ""},
		{"breg7:8 breg16:0 lit15 and lit11 ge lit3 shl plus", needs, needs},
		{"breg16:4 deref", "$rip 4 + ^", "$rip 4 + ^"},
		{strings.Repeat("breg6:0 breg3:0 mul ", 1) + strings.Repeat("dup mul ", 8),
			"error: more than 128 terms or 32 deep: (DW_OP_breg6 ($rbp): 0; DW_OP_breg3 ($rbx): 0; DW_OP_mul" + strings.Repeat("; DW_OP_dup; DW_OP_mul", 8) + ")", ""},
	} {
		for form, want := range map[exprForm]string{formCFA: c.cfa, formIs: c.is} {
			if want == "" {
				continue
			}
			x := newExprTest(t, arch.X86_64, binary.LittleEndian)
			rule, err := x.r.eval.rule(x.r.regs[0], x.asm(c.in), form)
			got := ""
			switch {
			case err != nil:
				got = "error: " + err.Error()
			case rule.kind == rulePC:
				got = needs
			default:
				got = strings.TrimPrefix(x.text(rule, 0xff), ".cfa: ")
			}
			if got != want {
				t.Errorf("%s, form %d\ngot  %s\nwant %s", c.in, form, got, want)
			}
		}
	}
}

// TestCFIExpressionPC evaluates the PLT's expression at each address, both for
// a file that may be loaded anywhere and for one that may not.
func TestCFIExpressionPC(t *testing.T) {
	for _, fixed := range []bool{false, true} {
		x := asmCase{arch: arch.X86_64, order: binary.LittleEndian}
		in := &Input{Arch: x.arch, Order: x.order, PtrSize: 8, Fixed: fixed, Sections: []Section{{Name: ".debug_frame", Data: x.assemble(t, `
			cie
			 def_cfa 7 8
			 offset 16 1
			fde 0x1020 0x30
			 def_cfa_offset 16
			 advance_loc 6
			 def_cfa_offset 24
			 advance_loc 10
			 def_cfa_expression breg7:8 breg16:0 lit15 and lit11 ge lit3 shl plus
			fde 0x2000 0x4
			 def_cfa_expression breg16:0 const2u:0x2002 ge
			 val_expression 3 breg16:0 const2u:0x2002 ge lit3 shl
			fde 0x3000 0x4
			 val_expression 3 breg16:0 const2u:0x3002 ge lit3 shl`)}}}
		table, stats, problems := readTable(in)
		got := symtest.CFI(&table)
		for _, p := range problems {
			got += fmt.Sprintln("problem:", p)
		}
		want := `
			STACK CFI INIT 1020 30 .cfa: $rsp 16 + .ra: .cfa -8 + ^
			STACK CFI 1026 .cfa: $rsp 24 +
			STACK CFI 1030 .cfa: $rsp 8 +
			STACK CFI 103b .cfa: $rsp 16 +
			STACK CFI 1040 .cfa: $rsp 8 +
			STACK CFI 104b .cfa: $rsp 16 +`
		ge := "(DW_OP_breg16 ($rip): 0; DW_OP_const2u 8194; DW_OP_ge"
		if fixed {
			want += `
			STACK CFI INIT 2000 4 .cfa: 0 .ra: .cfa -8 + ^ $rbx: 0
			STACK CFI 2002 .cfa: 1 $rbx: 8
			STACK CFI INIT 3000 4 .cfa: $rsp 8 + .ra: .cfa -8 + ^ $rbx: 0
			STACK CFI 3002 $rbx: 8`
		} else {
			want += `
			STACK CFI INIT 3000 4 .cfa: $rsp 8 + .ra: .cfa -8 + ^ $rbx: .undef
			problem: .debug_frame+0x6c: no postfix: cannot write DW_OP_ge: ` + ge + `) (lost: CFA from 0x2000 on in FDE at 0x40 for 0x2000)
			problem: .debug_frame+0x90: no postfix: cannot write DW_OP_ge: ` + strings.Replace(ge, "8194", "12290", 1) + `; DW_OP_lit3; DW_OP_shl) (lost: rule from 0x3000 on in FDE at 0x6c for 0x3000)`
		}
		if want = trimLines(want); got != want {
			t.Errorf("fixed %v: got\n%swant\n%s", fixed, got, want)
		}
		if stats.PerPC != 0x20+4+4 {
			t.Errorf("evaluated at %d addresses", stats.PerPC)
		}
	}
}

// exprTest translates expressions outside a section.
type exprTest struct {
	t   testing.TB
	r   *reader
	a   *arch.Arch
	opt asmCase
}

func newExprTest(t testing.TB, a *arch.Arch, order binary.ByteOrder) *exprTest {
	in := &Input{Arch: a, Order: order, PtrSize: a.PtrSize}
	x := &exprTest{t: t, a: a, r: newReader(t.Context(), in), opt: asmCase{arch: a, order: order}}
	x.r.vm.cie = &cieInfo{regs: x.r.regs[0], ra: a.ReturnAddress}
	return x
}

func (x *exprTest) asm(ops string) []byte {
	a := &asmEntries{asmCase: x.opt, t: x.t}
	return a.expression(strings.Fields(ops))
}

// text prints a rule; slot 0xff is the CFA.
func (x *exprTest) text(rule regRule, slot int) string {
	return cfi.Rules{x.r.w.rule(slot, rule)}.String()
}

// TestCFIExpressionValues translates random expressions and evaluates both
// forms with random registers and memory.
func TestCFIExpressionValues(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, in one goroutine only")
	}
	for _, c := range []struct {
		a     *arch.Arch
		order binary.ByteOrder
	}{
		{arch.X86_64, binary.LittleEndian}, {arch.X86, binary.LittleEndian},
		{arch.PPC64, binary.BigEndian}, {arch.MIPS, binary.BigEndian}, {arch.ARM, binary.LittleEndian},
	} {
		t.Run(c.a.Name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			x := newExprTest(t, c.a, c.order)
			names := cfi.NewNames(c.a)
			pcReg, ok := c.a.RegNumber(c.a.PC)
			if !ok || pcReg > 31 {
				pcReg = 2
			}
			done, perPC := 0, 0
			for range 8000 {
				ops := randomOps(rng, pcReg)
				form := exprForm(rng.IntN(3))
				rule, err := x.r.eval.rule(x.r.regs[0], x.asm(strings.Join(ops, " ")), form)
				if err != nil {
					continue
				}
				for range 4 {
					m := &exprMachine{a: c.a, order: c.order, seed: rng.Uint64(), regs: map[uint64]uint64{}}
					regs := names.NewRegs()
					for n := range uint64(32) {
						if name, ok := c.a.RegName(n); ok {
							m.regs[n] = rng.Uint64() >> (rng.IntN(2) * 40) & m.mask()
							regs.Set(names.Lookup(name), m.regs[n])
						}
					}
					cfa := rng.Uint64() & m.mask()
					if form != formCFA {
						m.stack = []uint64{cfa}
					}
					want, ok := m.run(ops)
					if !ok {
						continue
					}
					if form == formAt {
						want = m.load(want, c.a.PtrSize)
					}
					r := rule
					if r.kind == rulePC {
						if r = x.r.eval.at(r.ref, m.regs[pcReg]); r.kind == ruleLost {
							continue
						}
						perPC++
					}
					text := x.text(r, 0xff)
					e, err := names.ParseExpr(strings.TrimPrefix(text, ".cfa: "))
					if err != nil {
						t.Fatal(err)
					}
					got, err := e.EvalCFA(regs, m, cfa)
					if err != nil || got != want {
						t.Fatalf("%v, form %d\n%s = %#x, %v, want %#x", ops, form, text, got, err, want)
					}
					done++
				}
			}
			t.Logf("%d values equal, %d of them for one pc", done, perPC)
			if done < 5000 {
				t.Errorf("only %d expressions were translated", done)
			}
		})
	}
}

// TestCFIExpressionsOfFiles does the same with expressions of real files:
// PLT, signal frames, realigned stacks.
func TestCFIExpressionsOfFiles(t *testing.T) {
	for path, n := range map[string]int{
		libcPath(t):                        19,
		loaderPath(t):                      1,
		realigned(t, "gcc"):                1,
		realigned(t, "i686-linux-gnu-gcc"): 1,
	} {
		in := openInput(t, path)
		r := newReader(t.Context(), in)
		for i := range in.Sections {
			r.walk(i)
		}
		r.merge()
		x := &exprTest{t: t, r: r, a: in.Arch}
		r.vm.cie = &cieInfo{regs: r.regs[0]}
		names := cfi.NewNames(in.Arch)
		rng := rand.New(rand.NewPCG(3, 4))
		for key, rule := range r.eval.byKey {
			form, data := exprForm(key[0]), []byte(key[2:])
			ops := disassemble(t, data)
			for range 50 {
				m := &exprMachine{a: in.Arch, order: in.Order, seed: rng.Uint64(), regs: map[uint64]uint64{}}
				regs := names.NewRegs()
				for c := range uint64(17) {
					if name, ok := in.Arch.RegName(c); ok {
						m.regs[c] = rng.Uint64() & m.mask()
						regs.Set(names.Lookup(name), m.regs[c])
					}
				}
				cfa := rng.Uint64() & m.mask()
				if form != formCFA {
					m.stack = []uint64{cfa}
				}
				want, ok := m.run(ops)
				if form == formAt {
					want = m.load(want, in.PtrSize)
				}
				one := rule
				if one.kind == rulePC {
					pc, _ := in.Arch.RegNumber(in.Arch.PC)
					one = r.eval.at(rule.ref, m.regs[pc])
				}
				e, err := names.ParseExpr(strings.TrimPrefix(x.text(one, 0xff), ".cfa: "))
				if err != nil || !ok {
					t.Fatalf("%s: %v: %v, %v", path, ops, err, ok)
				}
				if got, err := e.EvalCFA(regs, m, cfa); err != nil || got != want {
					t.Errorf("%s: %v = %#x, %v, want %#x", path, ops, got, err, want)
				}
			}
		}
		t.Logf("%s: %d expressions", path, len(r.eval.byKey))
		if len(r.eval.byKey) < n {
			t.Errorf("%s: %d expressions, want %d or more", path, len(r.eval.byKey), n)
		}
	}
}

// realigned builds a function whose frame has more alignment than the stack: its CFA is
// an expression.
func realigned(t *testing.T, compiler string) string {
	const text = `typedef int vector __attribute__((vector_size(64)));
void use(vector *);
int f(int n) { vector v; use(&v); return v[0] + n; }`
	dir := t.TempDir()
	src, out := filepath.Join(dir, "f.c"), filepath.Join(dir, "f.so")
	if err := os.WriteFile(src, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(testenv.Tool(t, compiler), "-O2", "-mavx512f", "-ffreestanding", "-fPIC", "-shared", "-nostdlib", "-o", out, src)
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compiler, err, msg)
	}
	return out
}

// disassemble supports the operations in the files above.
func disassemble(t *testing.T, data []byte) (ops []string) {
	for i := 0; i < len(data); {
		op := data[i]
		i++
		switch {
		case op >= 0x70 && op < 0x90:
			v, n := slebOf(data[i:])
			i += n
			ops = append(ops, fmt.Sprintf("breg%d:%d", op-0x70, v))
		case op >= 0x30 && op < 0x50:
			ops = append(ops, fmt.Sprintf("lit%d", op-0x30))
		case op == 0x23:
			v, n := binary.Uvarint(data[i:])
			i += n
			ops = append(ops, fmt.Sprintf("plus_uconst:%d", v))
		default:
			name := map[byte]string{0x06: "deref", 0x1a: "and", 0x2a: "ge", 0x24: "shl", 0x22: "plus", 0x1c: "minus"}[op]
			if name == "" {
				t.Fatalf("operation %#x", op)
			}
			ops = append(ops, name)
		}
	}
	return ops
}

func slebOf(b []byte) (v int64, n int) {
	for shift := 0; ; shift += 7 {
		x := b[n]
		n++
		v |= int64(x&0x7f) << shift
		if x < 0x80 {
			if x&0x40 != 0 {
				v |= -1 << (shift + 7)
			}
			return v, n
		}
	}
}
