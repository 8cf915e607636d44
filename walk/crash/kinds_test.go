package crash

import (
	"bytes"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

var (
	mcaLine  = regexp.MustCompile(`^ +\d+ +\d+ .{11}(.{7})(.{7})(.{7})(\S+)\s`)
	mcaError = regexp.MustCompile(`(?m)^[^:\n]*:(\d+):\d+: error`)
	number   = regexp.MustCompile(`0x[0-9a-f]+`)
)

// mca asks llvm-mca whether instructions load and store. known has the indices of the instructions
// that it knows; the others are left out.
func mca(t *testing.T, lines []string) (known []int, load, store []bool) {
	t.Helper()
	skip := map[int]bool{}
	for range 20 {
		var in bytes.Buffer
		for i, line := range lines {
			if skip[i] {
				line = ""
			}
			fmt.Fprintln(&in, line)
		}
		cmd := exec.Command(testenv.Tool(t, "llvm-mca-22"), "-mtriple=x86_64", "-mcpu=znver4", "-x86-asm-syntax=intel", "--instruction-info",
			"--resource-pressure=false", "--summary-view=false", "--iterations=1")
		cmd.Stdin = &in
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		bad := mcaError.FindAllStringSubmatch(errs.String(), -1)
		for _, m := range bad {
			n, _ := strconv.Atoi(m[1])
			skip[n-1] = true
		}
		if len(bad) > 0 {
			continue
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, errs.String())
		}
		for i := range lines {
			if !skip[i] {
				known = append(known, i)
			}
		}
		for line := range strings.SplitSeq(string(out), "\n") {
			if m := mcaLine.FindStringSubmatch(line); m != nil {
				load, store = append(load, strings.Contains(m[1], "*")), append(store, strings.Contains(m[2], "*"))
			}
		}
		if len(load) != len(known) {
			t.Fatalf("llvm-mca knows %d instructions, want %d", len(load), len(known))
		}
		return known, load, store
	}
	t.Fatal("llvm-mca finds errors without an end")
	return nil, nil, nil
}

// For each mnemonic and kinds of operands in the libraries, the access to memory is the
// one that llvm's scheduler models.
func TestOracleX86Kinds(t *testing.T) {
	testenv.Oracle(t)
	context := anyContext(arch.X86_64)
	seen := map[string]bool{}
	var lines []string
	var kinds []AccessKind
	for _, path := range []string{"/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libm.so.6", "/usr/lib/x86_64-linux-gnu/libcrypto.so.3"} {
		disassemble(t, testenv.File(t, path, "libssl3"), func(d disassembled) {
			if !strings.Contains(d.values, "[") || notInMCA.MatchString(d.name) {
				return
			}
			form := d.name + " " + intelMemory.ReplaceAllString(d.values, "[]")
			if form = number.ReplaceAllString(form, "1"); seen[form] {
				return
			}
			s := state{context: context, memory: &dump.Memory{}, pc: d.addr}
			in := decodeX86(&s, d.code, 64)
			operands := intelMemory.FindAllString(d.values, -1)
			if in == nil || !in.Known || len(in.Accesses) < len(operands) {
				return
			}
			seen[form] = true
			lines = append(lines, d.name+" "+d.values)
			kinds = append(kinds, 0)
			for _, a := range in.Accesses[:len(operands)] {
				kinds[len(kinds)-1] |= a.Kind
			}
		}, testenv.Tool(t, "objdump"), "-M", "intel", "--insn-width=16")
	}
	known, load, store := mca(t, lines)
	ruled := 0
	for k, i := range known {
		want := UnknownAccess
		if load[k] {
			want |= ReadAccess
		}
		if store[k] {
			want |= WriteAccess
		}
		switch {
		case want == kinds[i]:
		case kindRules.MatchString(lines[i]):
			ruled++
		default:
			t.Errorf("%s: want %q, got %q", lines[i], want, kinds[i])
		}
	}
	if ruled > 24 {
		t.Errorf("%d forms by the rule", ruled)
	}
	t.Logf("%d kinds of instructions, of which llvm-mca knows %d, %d by the rule", len(lines), len(known), ruled)
}

// notInMCA matches prefixes that objdump shows as instructions, and instructions about
// which llvm-mca knows only that they have side effects.
var notInMCA = regexp.MustCompile(`^([c-gs]s|addr32|(stos|movs|outs|lods|scas|ins|cmps))$`)

// kindRules match instructions that llvm-mca treats differently. It counts the word of the stack as
// well, and knows less about system instructions and instructions that save or load states. At most
// 24 forms occur in the libraries.
var kindRules = regexp.MustCompile(`^(push|pop|fnstenv|fldenv|v?ldmxcsr|fnstsw|sgdt|sidt|sldt|str|fnsave|frstor|fbld|fbstp|lsl|lar|clflush) `)
