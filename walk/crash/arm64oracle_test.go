package crash

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

var (
	armMemory  = regexp.MustCompile(`\[(\w+)(?:, (#-?\w+|\w+)(?:, (\w+)(?: #(\w+))?)?)?\](!|, .*)?$`)
	armLiteral = regexp.MustCompile(`, (0x[0-9a-f]+)$`)
	armAtomic  = regexp.MustCompile(`^(cas|swp|(ld|st)(add|clr|eor|set|smax|smin|umax|umin))`)
	armMemOp   = regexp.MustCompile(`^(ld|st|cas|swp)`)
	armSVE     = regexp.MustCompile(`^(\{ )?[zp]\d`)
	armTags    = regexp.MustCompile(`^(ldg|stz?2?g)$`)
	armVector  = regexp.MustCompile(`v\d+\.(\d+)?([bhsd])`)
)

// armNumber returns a register or a constant in llvm's syntax.
func armNumber(t *testing.T, c *dump.Context, text string) uint64 {
	t.Helper()
	if n, ok := strings.CutPrefix(text, "#"); ok {
		v, err := strconv.ParseInt(n, 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		return uint64(v)
	}
	if text == "xzr" || text == "wzr" {
		return 0
	}
	name := text
	if text[0] == 'w' {
		name = "x" + text[1:]
	}
	v, ok := c.Get(name)
	if !ok {
		t.Fatalf("no register %s", text)
	}
	if text[0] == 'w' {
		v = uint64(uint32(v))
	}
	return v
}

// armAccess returns the operand in memory of an instruction; ok is false for
// one without.
func armAccess(t *testing.T, c *dump.Context, d disassembled) (a Access, ok bool) {
	t.Helper()
	if !armMemOp.MatchString(d.name) {
		return a, false
	}
	a.Kind = ReadAccess
	switch {
	case armAtomic.MatchString(d.name):
		a.Kind = UpdateAccess
	case strings.HasPrefix(d.name, "st"):
		a.Kind = WriteAccess
	}
	a.Size = armSize(d)
	m := armMemory.FindStringSubmatch(d.values)
	if m == nil {
		literal := armLiteral.FindStringSubmatch(d.values)
		if literal == nil {
			t.Fatalf("no memory in %s %s", d.name, d.values)
		}
		a.Addr, _ = strconv.ParseUint(literal[1], 0, 64)
		return a, true
	}
	a.Addr = armNumber(t, c, m[1])
	if m[2] != "" {
		offset := armNumber(t, c, m[2])
		if m[3] == "sxtw" {
			offset = uint64(int32(offset))
		}
		if m[4] != "" {
			shift, _ := strconv.ParseUint(m[4], 0, 8)
			offset <<= shift
		}
		a.Addr += offset
	}
	return a, true
}

// armSize returns the number of bytes that an instruction names, by its
// mnemonic and registers.
func armSize(d disassembled) uint64 {
	registers, _, _ := strings.Cut(d.values, "[")
	if list := armVector.FindAllStringSubmatch(registers, -1); list != nil {
		element := map[string]uint64{"b": 1, "h": 2, "s": 4, "d": 8}[list[0][2]]
		lanes, _ := strconv.ParseUint(list[0][1], 10, 64)
		if lanes == 0 || strings.HasSuffix(d.name, "r") {
			lanes = 1 // one lane, or one element for all
		}
		return uint64(len(list)) * lanes * element
	}
	names := strings.Split(strings.Trim(registers, " ,"), ", ")
	n := uint64(1)
	exclusive := strings.HasPrefix(d.name, "stx") || strings.HasPrefix(d.name, "stlx")
	if exclusive {
		names = names[1:] // the first is the result
	}
	if strings.HasSuffix(d.name, "p") && d.name != "swp" || strings.HasPrefix(d.name, "ldpsw") || strings.HasSuffix(d.name, "xp") {
		n = 2
	}
	switch {
	case strings.HasSuffix(d.name, "sw"):
		return 4 * n
	case strings.HasSuffix(d.name, "b") && d.name != "stlb":
		return 1
	case strings.HasSuffix(d.name, "h"):
		return 2
	}
	return n * map[byte]uint64{'b': 1, 'h': 2, 's': 4, 'w': 4, 'd': 8, 'x': 8, 'q': 16}[names[0][0]]
}

// Every instruction of the C and the mathematical library and the loader for arm64 accesses what
// llvm's operands say. SVE and tag instructions are left out.
func TestOracleARM64Operands(t *testing.T) {
	testenv.Oracle(t)
	context := anyContext(arch.ARM64)
	for _, name := range []string{"libc.so.6", "libm.so.6", "ld-linux-aarch64.so.1"} {
		total, accesses, lacking := 0, 0, 0
		var o tally
		disassemble(t, testenv.File(t, "/usr/aarch64-linux-gnu/lib/"+name, "libc6-arm64-cross"), func(d disassembled) {
			total++
			for i := range 2 { // the word is printed as a number
				d.code[i], d.code[3-i] = d.code[3-i], d.code[i]
			}
			s := state{context: context, memory: &dump.Memory{}, pc: d.addr}
			in := decodeARM64(&s, d.code)
			if d.name == "udf" || d.name == "<unknown>" || d.name == ".word" {
				return
			}
			if in == nil {
				o.add("not decoded: "+d.name, d)
				return
			}
			if in.Text == "" {
				lacking++
			}
			if armTags.MatchString(d.name) || armMemOp.MatchString(d.name) && armSVE.MatchString(d.values) {
				if in.Known {
					o.add(d.name+" is known", d)
				}
				return
			}
			want, ok := armAccess(t, context, d)
			switch {
			case ok:
				accesses++
				if !in.Known || len(in.Accesses) != 1 || in.Accesses[0] != want {
					o.add(d.name+" differs, as "+addrs(in.Accesses)+" from "+addrs([]Access{want}), d)
				}
			case d.name == "dc" && in.Known && len(in.Accesses) == 1:
				accesses++
			case !in.Known || len(in.Accesses) != 0:
				o.add(d.name+" accesses memory", d)
			}
		}, testenv.Tool(t, "llvm-objdump-22"), "--mattr=+all")
		o.report(t)
		t.Logf("%s: %d instructions, %d in memory, %d without a text", name, total, accesses, lacking)
	}
}

func addrs(list []Access) string {
	var b strings.Builder
	for _, a := range list {
		b.WriteString(" " + strconv.FormatUint(a.Addr, 16) + "+" + strconv.FormatUint(a.Size, 10) + " " + a.Kind.String())
	}
	return b.String()
}
