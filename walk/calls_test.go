package walk

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/arch"
)

func TestCallBefore(t *testing.T) {
	le, be := binary.ByteOrder(binary.LittleEndian), binary.ByteOrder(binary.BigEndian)
	nowhere := func(uint64) bool { return false }
	for _, c := range []struct {
		name   string
		a      *arch.Arch
		order  binary.ByteOrder
		code   string
		inCode func(uint64) bool
		want   CallAnswer
	}{
		{"call rel32", arch.X86_64, le, "90 e8 01 02 03 04", nil, CallYes},
		{"call rel32 to nowhere", arch.X86_64, le, "90 e8 01 02 03 04", nowhere, CallNo},
		{"call rel32 with addr32", arch.X86_64, le, "67 e8 01 02 03 04", nil, CallYes},
		{"call of __tls_get_addr", arch.X86_64, le, "66 48 e8 01 02 03 04", nil, CallYes},
		{"call *%rax", arch.X86_64, le, "90 ff d0", nil, CallYes},
		{"call *%r11", arch.X86_64, le, "41 ff d3", nil, CallYes},
		{"notrack call *%rax", arch.X86_64, le, "3e ff d0", nil, CallYes},
		{"call *(%rax)", arch.X86_64, le, "90 ff 10", nil, CallYes},
		{"call *8(%rax)", arch.X86_64, le, "90 ff 50 08", nil, CallYes},
		{"call *0x100(%rax)", arch.X86_64, le, "90 ff 90 00 01 00 00", nil, CallYes},
		{"call *(%rsp)", arch.X86_64, le, "90 ff 14 24", nil, CallYes},
		{"call *(%r12,%rbx,8)", arch.X86_64, le, "41 ff 14 dc", nil, CallYes},
		{"call *8(%rsp,%rbx,8)", arch.X86_64, le, "ff 54 dc 08", nil, CallYes},
		{"call *0x100(%rsp)", arch.X86_64, le, "ff 94 24 00 01 00 00", nil, CallYes},
		{"call *table(,%rbx,8)", arch.X86_64, le, "ff 14 dd 00 01 00 00", nil, CallYes},
		{"call *x(%rip)", arch.X86_64, le, "ff 15 00 01 00 00", nil, CallYes},
		{"call *%gs:16", arch.X86, le, "65 ff 15 10 00 00 00", nil, CallYes},
		{"jmp *%rax", arch.X86_64, le, "90 ff e0", nil, CallNo},
		{"push (%rax)", arch.X86_64, le, "90 ff 30", nil, CallNo},
		{"jmp rel32", arch.X86_64, le, "90 e9 01 02 03 04", nil, CallNo},
		{"nop", arch.X86_64, le, "90 90 90 90", nil, CallNo},
		{"lcall *(%rax)", arch.X86_64, le, "90 ff 18", nil, CallUnknown},
		{"lcall 16:x", arch.X86, le, "9a 00 01 00 00 10 00", nil, CallUnknown},
		{"too little", arch.X86_64, le, "e8", nil, CallUnknown},
		{"unknown CPU", nil, le, "e8 00 00 00 00", nil, CallUnknown},
		{"arm64 bl", arch.ARM64, be, "01 00 00 97", nil, CallYes},
		{"arm64 blr x8", arch.ARM64, le, "00 01 3f d6", nil, CallYes},
		{"arm64 blraaz x8", arch.ARM64, le, "1f 09 3f d6", nil, CallYes},
		{"arm64 blrabz x8", arch.ARM64, le, "1f 0d 3f d6", nil, CallYes},
		{"arm64 blraa x8, x9", arch.ARM64, le, "09 09 3f d7", nil, CallYes},
		{"arm64 b", arch.ARM64, le, "01 00 00 17", nil, CallNo},
		{"arm64 br x8", arch.ARM64, le, "00 01 1f d6", nil, CallNo},
		{"arm bl", arch.ARM, le, "01 00 00 eb", nil, CallYes},
		{"arm blx", arch.ARM, le, "01 00 00 fa", nil, CallYes},
		{"arm blx r3", arch.ARM, le, "33 ff 2f e1", nil, CallYes},
		{"arm mov lr, pc; bx r3", arch.ARM, le, "0f e0 a0 e1 13 ff 2f e1", nil, CallYes},
		{"thumb bl", arch.ARM, le, "00 f0 01 f8", nil, CallYes},
		{"thumb blx r3", arch.ARM, le, "00 bf 98 47", nil, CallYes},
		{"arm b", arch.ARM, le, "01 00 00 ea", nil, CallNo},
		{"riscv jal", arch.RISCV64, le, "ef 00 40 00", nil, CallYes},
		{"riscv jalr", arch.RISCV64, le, "e7 80 07 00", nil, CallYes},
		{"riscv c.jalr", arch.RISCV64, le, "82 97", nil, CallYes},
		{"riscv c.jal", arch.RISCV, le, "01 20", nil, CallYes},
		{"riscv64 c.addiw", arch.RISCV64, le, "01 20", nil, CallUnknown},
		{"riscv j", arch.RISCV64, le, "6f 00 40 00", nil, CallNo},
		{"mips jal", arch.MIPS, be, "0c 10 00 00 00 00 00 00", nil, CallYes},
		{"mips jalr", arch.MIPS64, le, "09 f8 20 03 00 00 00 00", nil, CallYes},
		{"mips bal", arch.MIPS, be, "04 11 00 10 00 00 00 00", nil, CallYes},
		{"mips j", arch.MIPS, be, "08 10 00 00 00 00 00 00", nil, CallNo},
		{"mips r6 balc", arch.MIPS64, be, "00 00 00 00 e8 00 00 04", nil, CallYes},
		{"ppc bl", arch.PPC, be, "48 00 00 05", nil, CallYes},
		{"ppc64le bctrl", arch.PPC64, le, "21 04 80 4e", nil, CallYes},
		{"ppc b", arch.PPC, be, "48 00 00 04", nil, CallNo},
		{"s390x brasl", arch.S390X, be, "c0 e5 00 00 00 10", nil, CallYes},
		{"s390x basr", arch.S390X, be, "0d e1", nil, CallYes},
		{"s390x br", arch.S390X, be, "07 fe", nil, CallNo},
	} {
		code, err := hex.DecodeString(strings.ReplaceAll(c.code, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if got := callBefore(c.a, c.order, code, 0x401000, c.inCode); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// callOracle is a binary, what its calls are for objdump, and how many other instructions look like
// a call when read backwards: at most so many in 100,000.
type callOracle struct {
	path, pkg string
	a         *arch.Arch
	calls     string // expression for the mnemonic, with a blank behind it
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

// By objdump, every return address of these binaries is one, and no other place where an
// instruction begins is, but for a counted few. Those follow an instruction whose last bytes look
// like a call, which cannot be seen without knowing where the instruction begins.
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
		code := fileCode(f, addrs[i]-maxCall, maxCall)
		if code == nil {
			continue
		}
		got := callBefore(o.a, f.Order, code, addrs[i], f.Executable) == CallYes
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
				t.Logf("%#x looks as if it followed a call: %x", addrs[i], code)
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

// disassemble lists instructions: where they are, whether they are calls, and
// whether they are the first of a section. behind has the addresses behind the
// delay slots of calls.
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
