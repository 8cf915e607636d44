package walk

import (
	"bufio"
	"bytes"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/internal/cpu"
)

// callOracle is a binary, how objdump prints its calls, and how many in 100,000 other instructions
// may look like a call when read backwards.
type callOracle struct {
	path, pkg string
	a         *arch.Arch
	calls     string // expression for the mnemonic and a blank
	wrong     int
	longest   uint64 // bytes of an instruction; more is a gap of zeros
	args      []string
}

var callOracles = []callOracle{
	{"crashes/system/libc.so.6", "", arch.X86_64, x86Calls, 100, 15, nil},
	{"/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "libstdc++6", arch.X86_64, x86Calls, 100, 15, nil},
	{"/usr/i686-linux-gnu/lib/libc.so.6", "libc6-i386-cross", arch.X86, x86Calls, 200, 15, nil},
	{"/usr/aarch64-linux-gnu/lib/libc.so.6", "libc6-arm64-cross", arch.ARM64, `^(bl|blr|blra.*) `, 0, 4, nil},
	{"/usr/arm-linux-gnueabihf/lib/libc.so.6", "libc6-armhf-cross", arch.ARM, `^(bl|blx)(eq|ne|cs|hs|cc|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|al)? `, 2500, 4,
		[]string{"--triple=thumbv7-linux-gnueabihf", "-j", ".text"}}, // it has no mapping symbols
	{"arch/arm/prog", "", arch.ARM, `^(bl|blx)(eq|ne|cs|hs|cc|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|al)? `, 2500, 4, nil},
	{"/usr/riscv64-linux-gnu/lib/libc.so.6", "libc6-riscv64-cross", arch.RISCV64, `^(jal (-?0x|t0,)|jalr [a-z]\d+ |jalr (-?\d+\()|jalr t0,|jalr ra,)`, 2000, 4, nil},
	{"/usr/mips-linux-gnu/lib/libc.so.6", "libc6-mips-cross", arch.MIPS, `^(jalr?|bal|bgezal|bltzal) `, 0, 4, nil},
	{"/usr/powerpc64le-linux-gnu/lib/libc.so.6", "libc6-ppc64el-cross", arch.PPC64, `^(bl|bla|bctrl|bcl|bclrl|blrl|b[a-z]+lrl|b[a-z]+ctrl)[+-]? `, 0, 4, nil},
	{"/usr/s390x-linux-gnu/lib/libc.so.6", "libc6-s390x-cross", arch.S390X, `^(brasl|bras|bas|jasl?|basr %r\d+, ?%r([1-9]\d?)) `, 2000, 6, nil},
}

const x86Calls = `^((data16|rex64|rex\.W|addr32|notrack|bnd|[cdefgs]s) )*call[lq]? `

// Every address that follows a call according to objdump is recognised as a return address, and so
// are only a few other addresses of instructions. Those follow an instruction whose last bytes look
// like a call, which cannot be excluded without knowing where the instruction begins.
func TestCallsOracle(t *testing.T) {
	testenv.Oracle(t)
	for _, o := range callOracles {
		objdump := testenv.Tool(t, "llvm-objdump-22")
		if o.a == arch.X86_64 {
			objdump = testenv.Tool(t, "objdump") // llvm's prints nothing of Debian's libc
		}
		t.Run(o.a.Name, func(t *testing.T) { o.check(t, objdump) })
	}
}

func (o *callOracle) check(t *testing.T, objdump string) {
	path := o.path
	if o.pkg == "" {
		path = testenv.Shared(t, "data", path)
	} else {
		path = testenv.File(t, path, o.pkg)
	}
	f, err := objfile.Open(path, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	addrs, calls, starts, behind := o.disassemble(t, objdump, path)
	var right, missed, wrong, other int
	for i := 1; i < len(addrs); i++ {
		call := calls[i-1]
		if o.a == arch.MIPS {
			call = behind[addrs[i]]
		} else if starts[i] || addrs[i]-addrs[i-1] > o.longest {
			continue
		}
		code := fileCode(f, addrs[i]-cpu.MaxCall, cpu.MaxCall)
		if code == nil {
			continue
		}
		got := cpu.CallBefore(o.a, f.Order, code, addrs[i], f.Executable) == cpu.CallYes
		switch {
		case call && got:
			right++
		case call:
			if missed++; missed < 10 {
				t.Errorf("%#x follows a call, %x", addrs[i], code)
			}
		case got:
			wrong++
			if testing.Verbose() && wrong < 6 {
				t.Logf("%#x seems to follow a call: %x", addrs[i], code)
			}
		default:
			other++
		}
	}
	t.Logf("%s: %d calls, %d missed; of %d other instructions %d look like one", path, right, missed, other+wrong, wrong)
	if right < 1000 || missed > 0 {
		t.Errorf("%d calls, %d missed", right, missed)
	}
	if wrong*100_000 > o.wrong*(other+wrong) {
		t.Errorf("%d of %d other instructions look like a call, want at most %d in 100,000", wrong, other+wrong, o.wrong)
	}
}

// disassemble lists instructions: their addresses, whether they are calls, and whether they are the
// first of a section. behind holds the addresses after the delay slots of calls.
func (o *callOracle) disassemble(t *testing.T, objdump, path string) (addrs []uint64, calls, starts []bool, behind map[uint64]bool) {
	t.Helper()
	out, err := exec.Command(objdump, append(o.args, "-d", "--no-show-raw-insn", path)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	is := regexp.MustCompile(o.calls)
	behind = map[uint64]bool{}
	fresh := true
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		line := s.Text()
		if strings.HasPrefix(line, "Disassembly of section") {
			fresh = true
			continue
		}
		at, text, ok := strings.Cut(strings.TrimSpace(line), ":")
		addr, err := strconv.ParseUint(at, 16, 64)
		if !ok || err != nil || !strings.ContainsAny(line, "\t") {
			continue
		}
		call := is.MatchString(strings.Join(strings.Fields(text), " ") + " ")
		behind[addr+8] = call
		addrs, calls = append(addrs, addr), append(calls, call)
		starts = append(starts, fresh)
		fresh = false
	}
	return addrs, calls, starts, behind
}
