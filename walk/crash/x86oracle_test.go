package crash

import (
	"bufio"
	"encoding/hex"
	"fmt"
	stdmaps "maps"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// disassembled is an instruction as objdump prints it.
type disassembled struct {
	addr         uint64
	code         []byte
	name, values string // mnemonic and operands
}

var instructionLine = regexp.MustCompile(`^ *([0-9a-f]+):\s+((?:[0-9a-f]{2} )+|[0-9a-f]{8} )\s*(\S.*)$`)

var prefixes = map[string]bool{"rep": true, "repz": true, "repnz": true, "lock": true, "bnd": true, "notrack": true, "data16": true,
	"cs": true, "ds": true, "es": true, "ss": true, "rex.W": true, "rex": true, "addr32": true, "xacquire": true, "xrelease": true}

// disassemble calls fn for each instruction of a binary.
func disassemble(t *testing.T, path string, fn func(disassembled), tool string, args ...string) {
	t.Helper()
	cmd := exec.Command(tool, append(args, "-d", "-z", path)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	sc := bufio.NewScanner(out)
	for sc.Scan() {
		m := instructionLine.FindStringSubmatch(sc.Text())
		if m == nil {
			continue
		}
		var d disassembled
		d.addr, _ = strconv.ParseUint(m[1], 16, 64)
		if d.code, err = hex.DecodeString(strings.ReplaceAll(m[2], " ", "")); err != nil {
			t.Fatalf("%q: %v", sc.Text(), err)
		}
		d.name, d.values, _ = strings.Cut(strings.ReplaceAll(m[3], "\t", " "), " ")
		for prefixes[d.name] {
			d.name, d.values, _ = strings.Cut(strings.TrimSpace(d.values), " ")
		}
		d.values, _, _ = strings.Cut(strings.TrimSpace(d.values), "# ")
		d.values, _, _ = strings.Cut(d.values, " <")
		fn(d)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}

// anyContext returns a context in which each register has a different value.
func anyContext(a *arch.Arch) *dump.Context {
	c := dump.NewContext(a)
	for i, r := range a.Regs {
		v := 0x9e3779b97f4a7c15 * uint64(i+1)
		if a.PtrSize == 4 {
			v >>= 32
		}
		c.SetAt(i, v)
		_ = r
	}
	return c
}

var (
	intelMemory = regexp.MustCompile(`(?:(\w+) (?:PTR|BCST) )?(?:(\w\w):)?\[([^\]]*)\]`)
	intelBare   = regexp.MustCompile(`(?:(\w+) PTR )?(\w\w):(0x[0-9a-f]+)`)
	intelSizes  = map[string]uint64{"byte": 1, "word": 2, "dword": 4, "qword": 8, "fword": 6, "tbyte": 10, "xword": 10,
		"xmmword": 16, "ymmword": 32, "zmmword": 64}
)

// intelValue computes an address of Intel's syntax. ok is false for one with a
// vector of indices.
func intelValue(t *testing.T, c *dump.Context, d disassembled, expr string) (v uint64, ok bool) {
	t.Helper()
	bits := c.Arch.PtrSize * 8
	expr = strings.ReplaceAll(expr, "-", "+-")
	for term := range strings.SplitSeq(expr, "+") {
		scale := uint64(1)
		if reg, n, ok := strings.Cut(term, "*"); ok {
			scale, _ = strconv.ParseUint(n, 0, 64)
			term = reg
		}
		if n, err := strconv.ParseInt(term, 0, 64); err == nil {
			v += uint64(n)
			continue
		}
		if n, err := strconv.ParseUint(term, 0, 64); err == nil {
			v += n
			continue
		}
		switch {
		case term == "rip" || term == "eip":
			v += d.addr + uint64(len(d.code))
		case term == "riz" || term == "eiz":
		case strings.HasSuffix(term, "mm") || len(term) > 3 && term[1:3] == "mm":
			return 0, false
		default:
			full := term
			if _, known := c.Get("$" + full); !known {
				bits = 32
				if full = "r" + term[1:]; term[0] == 'r' {
					full = strings.TrimSuffix(term, "d")
				}
			}
			r, known := c.Get("$" + full)
			if !known {
				t.Fatalf("no register %s in %s %s", term, d.name, d.values)
			}
			if bits == 32 {
				r = uint64(uint32(r))
			}
			v += r * scale
		}
	}
	if bits == 32 {
		v = uint64(uint32(v))
	}
	return v, true
}

// intelAccesses returns the operands in memory of an instruction.
func intelAccesses(t *testing.T, c *dump.Context, d disassembled) (all []Access, ok bool) {
	t.Helper()
	if strings.HasPrefix(d.name, "lea") && d.name != "leave" || strings.HasSuffix(d.name, "nop") || strings.HasPrefix(d.name, "prefetch") {
		return nil, true
	}
	matches := intelMemory.FindAllStringSubmatch(d.values, -1)
	if matches == nil {
		matches = intelBare.FindAllStringSubmatch(d.values, -1)
	}
	for _, m := range matches {
		addr, ok := intelValue(t, c, d, m[3])
		if !ok {
			return nil, false
		}
		if m[2] == "fs" || m[2] == "gs" {
			base, known := c.Get("$" + m[2] + ".base")
			if !known {
				return nil, false
			}
			addr += base
		}
		all = append(all, Access{Addr: addr, Size: intelSizes[strings.ToLower(m[1])]})
	}
	return append(all, intelStack(c, d)...), true
}

// intelStack returns the word of the stack that an instruction accesses, according to its name.
func intelStack(c *dump.Context, d disassembled) []Access {
	word, sp, bp := uint64(8), "$rsp", "$rbp"
	if c.Arch == arch.X86 {
		word, sp, bp = 4, "$esp", "$ebp"
	}
	reg := sp
	switch strings.TrimRight(d.name, "dqfw") {
	case "call", "push":
		top, _ := c.Get(sp)
		return []Access{{Addr: top - word, Size: word}}
	case "leave":
		reg = bp
	case "pop", "ret":
	default:
		return nil
	}
	top, _ := c.Get(reg)
	return []Access{{Addr: top, Size: word}}
}

// decoderLacks matches mnemonics that the library's decoder does not know.
// Their documents have neither a text nor accesses.
var decoderLacks = regexp.MustCompile(`^(rdpkru|wrpkru|vzeroall|vzeroupper|vfn?m(add|sub)(sd|ss|pd|ps))$`)

// Every instruction of the C and the mathematical library is decoded to the length that objdump
// prints, and accesses the address and the bytes of objdump's operands.
func TestOracleX86Operands(t *testing.T) {
	testenv.Oracle(t)
	for _, c := range []struct {
		arch      *arch.Arch
		path, pkg string
		mode      int
	}{
		{arch.X86_64, "/usr/lib/x86_64-linux-gnu/libc.so.6", "libc6", 64},
		{arch.X86_64, "/usr/lib/x86_64-linux-gnu/libm.so.6", "libc6", 64},
		{arch.X86, "/usr/i686-linux-gnu/lib/libc.so.6", "libc6-i386-cross", 32},
	} {
		context := anyContext(c.arch)
		total, accesses, lacking, waits := 0, 0, 0, 0
		var o tally
		disassemble(t, testenv.File(t, c.path, c.pkg), func(d disassembled) {
			total++
			s := state{context: context, memory: &dump.Memory{}, pc: d.addr}
			in := decodeX86(&s, append(slices.Clone(d.code), 0x90, 0x90), c.mode)
			switch {
			case in == nil && decoderLacks.MatchString(d.name):
				lacking++
				return
			case d.code[0] == 0x9b && in != nil && in.Text == "fwait":
				waits++ // objdump shows it together with the next instruction
				return
			case in == nil:
				o.add("not decoded: "+d.name, d)
				return
			}
			if len(in.Code) != len(d.code) {
				o.add(fmt.Sprintf("length %d: %s", len(in.Code), d.name), d)
				return
			}
			want, known := intelAccesses(t, context, d)
			got := in.Accesses
			accesses += len(want)
			switch {
			case !in.Known && known:
				o.add("accesses are not known: "+d.name, d)
			case in.Known && !known:
				o.add("accesses are known: "+d.name, d)
			case in.Known && !sameAccesses(want, got):
				o.add(fmt.Sprintf("%s differs, as %v from %v", d.name, got, want), d)
			}
		}, testenv.Tool(t, "objdump"), "-M", "intel", "--insn-width=16")
		o.report(t)
		if lacking*100 > total || waits*1000 > total {
			t.Errorf("%s: %d instructions are not decoded, %d waits", c.path, lacking, waits)
		}
		t.Logf("%s: %d instructions, %d operands in memory; %d not decoded, %d waits", c.path, total, accesses, lacking, waits)
	}
}

func sameAccesses(want, got []Access) bool {
	return slices.EqualFunc(want, got, func(w, g Access) bool { return w.Addr == g.Addr && (w.Size == g.Size || w.Size == 0) })
}

// tally counts differences by a text, with an example of each.
type tally map[string]*tallied

type tallied struct {
	count   int
	more    string
	example disassembled
}

func (o *tally) add(what string, d disassembled) {
	what, more, _ := strings.Cut(what, ", as ")
	if *o == nil {
		*o = tally{}
	}
	if (*o)[what] == nil {
		(*o)[what] = &tallied{example: d, more: more}
	}
	(*o)[what].count++
}

func (o tally) report(t *testing.T) {
	t.Helper()
	for i, what := range slices.Sorted(stdmaps.Keys(o)) {
		if d := o[what]; i < 25 {
			t.Errorf("%d times %s %s: at %#x: % x %s %s", d.count, what, d.more, d.example.addr, d.example.code, d.example.name, d.example.values)
		}
	}
}
