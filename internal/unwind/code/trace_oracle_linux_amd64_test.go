package code

import (
	"fmt"
	"os"
	"slices"
	"syscall"
	"testing"

	"github.com/symtool/symtool/internal/insn"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/oracle"
	"github.com/symtool/symtool/internal/testenv"
)

// traced is a call of a program that runs.
type traced struct {
	cfa   uint64
	back  uint64     // where it returns to
	saved [16]uint64 // the registers when it began
}

// tracer compares the derived rules of a static program with what its processor does.
type tracer struct {
	rows    map[uint64]row
	code    func(addr uint64) []byte
	calls   []traced
	steps   int
	known   int
	without map[uint64]int
	wrong   map[string]int
	called  bool // the last instruction was a call
}

// TestOracleTrace runs a program of musl, which has next to no call frame information, instruction by instruction. The rules
// that are derived for each must give the CFA, the return address and the registers of its caller, as the calls left them.
func TestOracleTrace(t *testing.T) {
	testenv.Oracle(t)
	source, err := os.ReadFile("testdata/busy.c")
	if err != nil {
		t.Fatal(err)
	}
	limit := 200_000
	if testenv.OracleFull() {
		limit = 10_000_000
	}
	for _, c := range []struct{ tool, flags string }{{"musl-gcc", "-O2"}, {"gcc", "-O2"}, {"gcc", "-O0"}} {
		program := testenv.Compile(t, c.tool, string(source), ".c", c.flags, "-w", "-static", "-no-pie", "-fno-asynchronous-unwind-tables")
		x := newTracer(t, program)
		oracle.Trace(t, func(p *oracle.Processor, r *syscall.PtraceRegs) bool {
			x.step(p, r)
			return x.steps < limit
		}, program)
		t.Logf("%s %s: %d instructions, of %d rules are known, %d addresses without", c.tool, c.flags, x.steps, x.known, len(x.without))
		for what, n := range x.wrong {
			t.Errorf("%s, %d times", what, n)
		}
		if x.known < x.steps*9/10 {
			t.Errorf("of %d instructions, %d have rules: %x", x.steps, x.known, x.most())
		}
	}
}

// newTracer derives the rules of a program.
func newTracer(t *testing.T, program string) *tracer {
	t.Helper()
	f, err := objfile.Open(program, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	d := &deriver{file: f, in: input{cpu: cpus[f.Arch], data: bytesOf(f), pointer: f.Pointer}}
	d.starts([]object.Companion{{File: f}})
	d.imports()
	x := &tracer{rows: map[uint64]row{}, code: d.in.data, without: map[uint64]int{}, wrong: map[string]int{}}
	followAll(&d.in).each(func(lo, hi uint64, s *state) {
		var r row
		if d.in.cpu.row(s, &r) {
			x.rows[lo] = r
		}
	})
	return x
}

// step takes the registers before an instruction.
func (x *tracer) step(p *oracle.Processor, r *syscall.PtraceRegs) {
	regs := oracle.Registers(r)
	if x.called {
		c := traced{cfa: r.Rsp + 8, back: p.Word(r.Rsp)}
		for i, reg := range regs {
			c.saved[i] = *reg
		}
		x.calls = append(x.calls, c)
	}
	for len(x.calls) > 0 && r.Rsp >= x.calls[len(x.calls)-1].cfa {
		x.calls = x.calls[:len(x.calls)-1]
	}
	code := x.code(r.Rip)
	if len(code) == 0 {
		x.called = false
		return // not of the program: the vDSO
	}
	_, kind, _ := insn.AMD64(code[:min(16, len(code))], r.Rip)
	x.called = kind != insn.None
	if len(x.calls) > 0 {
		x.steps++
		x.compare(p, r.Rip, &regs)
	}
}

// compare compares the rules at an instruction with the last call.
func (x *tracer) compare(p *oracle.Processor, ip uint64, regs *[16]*uint64) {
	row, ok := x.rows[ip]
	if !ok {
		x.without[ip]++
		return
	}
	x.known++
	c := &x.calls[len(x.calls)-1]
	eval := func(r rule, own uint8) uint64 {
		from := c.cfa
		if r.reg != byCFA {
			from = *regs[r.reg]
		}
		switch r.kind {
		case same:
			return *regs[own]
		case sum:
			return from + uint64(r.off)
		}
		return p.Word(from+uint64(r.off)) + uint64(r.plus)
	}
	if got := eval(row.cfa, 0); got != c.cfa {
		x.wrong[fmt.Sprintf("%#x: the CFA is %d off", ip, int64(got-c.cfa))]++
		return
	}
	if got := eval(row.ra, 0); got != c.back {
		x.wrong[fmt.Sprintf("%#x: the return address is %#x, not %#x", ip, got, c.back)]++
	}
	for i, reg := range cpuAMD64.saved {
		if r := row.saved[i]; r.kind != undef && eval(r, reg) != c.saved[reg] {
			x.wrong[fmt.Sprintf("%#x: register %d is %#x, not %#x", ip, reg, eval(r, reg), c.saved[reg])]++
		}
	}
}

// most returns the addresses without rules that ran most often.
func (x *tracer) most() (all []uint64) {
	for ip := range x.without {
		all = append(all, ip)
	}
	slices.SortFunc(all, func(a, b uint64) int { return x.without[b] - x.without[a] })
	return all[:min(10, len(all))]
}
