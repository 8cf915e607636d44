package elfcore

import (
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/oracle"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

var (
	gdbControl = regexp.MustCompile(`^(mxcsr|fctrl|fstat) +(0x[0-9a-f]+)`)
	gdbXMM     = regexp.MustCompile(`^xmm(\d+) .* uint128 = (0x[0-9a-f]+)\}`)
	gdbFloat   = regexp.MustCompile(`^(f\d+): +(0x[0-9a-f]{16}) `)
)

// TestOracleFloat compares floating-point registers with gdb's: FXSAVE's on x86-64, and MIPS's.
// In the cores of other CPUs, which QEMU wrote, gdb finds none.
func TestOracleFloat(t *testing.T) {
	testenv.Oracle(t)
	compared, notZero := 0, 0
	for _, c := range realCores {
		if !strings.HasPrefix(c, "crashes/") && c != "arch/mips64" {
			continue
		}
		d, core, program := anyCore(t, c)
		command := "thread apply all info registers mxcsr fctrl fstat"
		if d.Arch == arch.MIPS64 {
			command = "thread apply all info registers"
		}
		for i := range 32 {
			if d.Arch == arch.MIPS64 {
				command += " f" + strconv.Itoa(i)
			} else if i < 16 {
				command += " xmm" + strconv.Itoa(i)
			}
		}
		var thread *dump.Thread
		for line := range strings.Lines(oracle.GDBCore(t, core, program, command)) {
			if m := gdbThread.FindStringSubmatch(line); m != nil {
				i := slices.IndexFunc(d.Threads, func(th dump.Thread) bool { return strconv.FormatUint(uint64(th.ID), 10) == m[1] })
				thread = &d.Threads[i]
			}
			what, got, want := floatOf(thread, line)
			if what == "" {
				continue
			}
			if compared++; want != "0x0" && strings.Trim(want, "0x") != "" {
				notZero++
			}
			if got != want {
				t.Errorf("%s: thread %d: %s is %s, gdb has %s", c, thread.ID, what, got, want)
			}
		}
	}
	t.Logf("%d registers, %d of them not 0", compared, notZero)
	if compared < 290 || notZero < 35 {
		t.Error("too few")
	}
}

// floatOf returns the values that gdb shows in a line, and ours.
func floatOf(thread *dump.Thread, line string) (what, got, want string) {
	number := func(name string) string {
		v, _ := thread.Context.Get(name)
		return "0x" + strconv.FormatUint(v, 16)
	}
	if m := gdbControl.FindStringSubmatch(line); m != nil {
		return m[1], number(map[string]string{"mxcsr": "$mxcsr", "fctrl": "$fcw", "fstat": "$fsw"}[m[1]]), m[2]
	}
	if m := gdbXMM.FindStringSubmatch(line); m != nil {
		i, _ := strconv.Atoi(m[1])
		const xmm0 = 160 // in FXSAVE's area
		b := slices.Clone(thread.Context.Vector[xmm0+16*i:][:16])
		slices.Reverse(b)
		return "xmm" + m[1], "0x" + new(big.Int).SetBytes(b).Text(16), m[2]
	}
	if m := gdbFloat.FindStringSubmatch(line); m != nil {
		v, _ := strconv.ParseUint(m[2], 0, 64)
		return m[1], number("$" + m[1]), "0x" + strconv.FormatUint(v, 16)
	}
	return "", "", ""
}
