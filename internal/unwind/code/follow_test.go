package code

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// codeAddr is where the code of tests is.
const codeAddr = 0x1000

// rulesFor returns the rules derived for code, in which functions begin at some offsets.
func rulesFor(code []byte, begins ...uint64) string {
	return rulesIn(codeIn(arch.X86_64, code, begins...))
}

// codeIn returns code of a CPU, in which functions begin at some offsets.
func codeIn(a *arch.Arch, code []byte, begins ...uint64) *input {
	in := &input{
		cpu:      cpus[a],
		parts:    []codePart{{lo: codeAddr, bytes: code}},
		data:     func(addr uint64) []byte { return code[min(addr-codeAddr, uint64(len(code))):] },
		pointer:  func(uint64) uint64 { return 0 },
		words:    func() []uint64 { return nil },
		imported: func(uint64) (uint64, bool) { return 0, false },
		never:    func(uint64) bool { return false },
	}
	for _, off := range begins {
		in.begins = append(in.begins, codeAddr+off)
	}
	return in
}

func rulesIn(in *input) string {
	m := &symfmt.Module{OS: "Linux", Arch: "x86_64", ID: "0", Name: "x"}
	for a, c := range cpus {
		if c == in.cpu {
			m.CFI.Rules.SetArch(a)
		}
	}
	appendRules(&m.CFI, in, codeAddr)
	var b strings.Builder
	if err := symfmt.Write(&b, m, symfmt.WriteOptions{}); err != nil {
		return err.Error()
	}
	_, text, _ := strings.Cut(b.String(), "\n")
	return strings.ReplaceAll(text, "STACK CFI ", "")
}

func TestDerivedRules(t *testing.T) {
	for _, c := range []struct{ name, code, want string }{
		{"frame pointer", "55 4889e5 4883ec10 c9 c3", // push %rbp; mov %rsp, %rbp; sub $16, %rsp; leave; ret
			"INIT 0 a .cfa: $rsp 8 + .ra: .cfa -8 + ^\n1 .cfa: $rsp 16 +\n4 $rbp: .cfa -16 + ^\n8 .cfa: $rsp 32 +\n9 .cfa: $rsp 8 + $rbp: $rbp\n"},
		{"alloca", "55 4889e5 4829c4 c9 c3", // sub %rax, %rsp
			"INIT 0 9 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n1 .cfa: $rsp 16 +\n4 $rbp: .cfa -16 + ^\n7 .cfa: $rbp 16 +\n8 .cfa: $rsp 8 + $rbp: $rbp\n"},
		{"frame lost", "55 4889e5 4829c4 31ed c9 c3", ""}, // xor %ebp, %ebp,
		{"saved", "53 31db 5b c3", // push %rbx; xor %ebx, %ebx; pop %rbx; ret
			"INIT 0 5 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n1 .cfa: $rsp 16 +\n3 $rbx: .cfa -16 + ^\n4 .cfa: $rsp 8 + $rbx: $rbx\n"},
		{"realigned", "4c8d542408 4883e4e0 41ff72f8 55 4889e5 4152 4531d2 415a 5d 498d62f8 c3",
			"INIT 0 1e .cfa: $rsp 8 + .ra: .cfa -8 + ^\n9 .cfa: $r10 0 +\n11 $rbp: $rsp 0 + ^\n13 $rbp: $rsp 8 + ^\n" +
				"16 .cfa: $rsp 0 + ^\n18 .cfa: $r10 0 + $rbp: $rsp 0 + ^\n19 $rbp: $rbp\n1d .cfa: $rsp 8 +\n"},
		{"returns elsewhere", "50 c3", ""},                                                // push %rax; ret
		{"loses a register", "31db c3", ""},                                               // xor %ebx, %ebx; ret
		{"clone", "b838000000 0f05 c3", "INIT 0 7 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"},     // the child has another stack
		{"jumps into itself", "ebff c0 c3", "INIT 0 4 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"}, // jmp .+1; inc %eax; ret
		{"undecodable", "53 06", ""},                                                      // push %rbx; an invalid opcode
		{"calls what does not return", "53 e802000000 5b c3 ebfe", "INIT 0 6 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n1 .cfa: $rsp 16 +\nINIT 8 2 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"},
		{"calls what returns", "53 e802000000 5b c3 c3", "INIT 0 9 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n1 .cfa: $rsp 16 +\n7 .cfa: $rsp 8 +\n"},
		// push %rbx; movzbl (%rdi), %ebx; cmp $3, %ebx; ja 9f; cmp $1, %ebx; ja 9f; lea table(%rip), %rdx;
		// movslq (%rdx, %rbx, 4), %rax; add %rdx, %rax; push %rbx; jmp *%rax; pop %rbx; 9: pop %rbx; ret; the table, and
		// another that leads to 9
		{"second limit", "53 0fb61f 83fb037717 83fb017712 488d150d000000 4863049a 4801d0 53 ffe0 5b 5b c3 fdfffffffdffffff fefffffffeffffff",
			"INIT 0 22 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n1 .cfa: $rsp 16 +\n4 $rbx: .cfa -16 + ^\n1d .cfa: $rsp 24 +\n20 .cfa: $rsp 16 +\n21 .cfa: $rsp 8 + $rbx: $rbx\n"},
		// and $3, %edi; lea other(%rip), %rax; lea table(%rip), %rdx; movslq (%rdx, %rdi, 4), %rax; add %rdx, %rax;
		// push %rbx; jmp *%rax; pop %rbx; ret; the table; the other
		{"table up to a label", "83e703 488d051b000000 488d150c000000 486304ba 4801d0 53 ffe0 5b c3 fefffffffeffffff ffffffffffffffff",
			"INIT 0 1d .cfa: $rsp 8 + .ra: .cfa -8 + ^\n19 .cfa: $rsp 16 +\n1c .cfa: $rsp 8 +\n"},
		// push %rbx; lea table(%rip), %rdx; movzbl (%rsi), %eax; movslq (%rdx, %rax, 4), %rax; lea 1f(%rip), %rdx; add %rdx, %rax;
		// jmp *%rax; 1: nop; pop %rbx; ret; the table
		{"table of distances", "53 488d1516000000 0fb606 48630482 488d1505000000 4801d0 ffe0 90 5b c3 0000000001000000",
			"INIT 0 1e .cfa: $rsp 8 + .ra: .cfa -8 + ^\n1 .cfa: $rsp 16 +\n1d .cfa: $rsp 8 +\n"},
		// lea -0x2000(%rsp), %r11; 1: sub $0x1000, %rsp; orq $0, (%rsp); cmp %r11, %rsp; jne 1b; add $0x2000, %rsp; ret
		{"probes the pages of a frame", "4c8d9c2400e0ffff 4881ec00100000 48830c2400 4c39dc 75ef 4881c400200000 c3",
			"INIT 0 21 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n8 .cfa: $r11 8200 +\n19 .cfa: $rsp 8200 +\n20 .cfa: $rsp 8 +\n"},
		{"flags", "53 fc 5b c3", "INIT 0 4 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n1 .cfa: $rsp 16 +\n3 .cfa: $rsp 8 +\n"}, // push %rbx; cld; pop %rbx; ret
		{"fork", "53 31f6 b838000000 0f05 5b c3", // with a null stack, the child goes on with the parent's
			"INIT 0 c .cfa: $rsp 8 + .ra: .cfa -8 + ^\n1 .cfa: $rsp 16 +\nb .cfa: $rsp 8 +\n"},
		// jmp *word(%rip); push $0; jmp *(%rip) of a null word; the word, which leads to the push
		{"lazy linkage", "ff2508000000 6a00 ff2508000000 0610000000000000 0000000000000000",
			"INIT 0 e .cfa: $rsp 8 + .ra: .cfa -8 + ^\n8 .cfa: $rsp 16 +\n"},
		{"barrier", "53 31db f083042400 5b c3", // push %rbx; xor %ebx, %ebx; lock addl $0, (%rsp); pop %rbx; ret
			"INIT 0 a .cfa: $rsp 8 + .ra: .cfa -8 + ^\n1 .cfa: $rsp 16 +\n3 $rbx: .cfa -16 + ^\n9 .cfa: $rsp 8 + $rbx: $rbx\n"},
		{"upper halves", "86e0 0fc0e0 0fb0e0 f6dc c3", // xchg, xadd, cmpxchg of %ah; neg %ah
			"INIT 0 b .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"},
		{"endless", "ebfe", "INIT 0 2 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"},
	} {
		code, err := hex.DecodeString(strings.ReplaceAll(c.code, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if got := rulesFor(code, 0); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.name, got, c.want)
		}
	}
}

// A function jumps to its cold part with the frame that it made; the function before it does not fall into it.
func TestColdPart(t *testing.T) {
	in := codeIn(arch.X86_64, []byte("\x85\xff\x53\x74\x03\x5b\xc3\x90\x5b\xc3"), 0, 7) // test %edi, %edi; push %rbx; je to 8; pop %rbx; ret; nop; pop %rbx; ret
	in.colds = []uint64{codeAddr + 8}
	const want = "INIT 0 7 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n3 .cfa: $rsp 16 +\n6 .cfa: $rsp 8 +\n" +
		"INIT 7 3 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n8 .cfa: $rsp 16 +\n9 .cfa: $rsp 8 +\n"
	if got := rulesIn(in); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	// What comes behind a call is not the cold part: push %rbx; a call of other code; pop %rbx; ret.
	in = codeIn(arch.X86_64, []byte("\x53\xe8\x00\x10\x00\x00\x5b\xc3"), 0)
	in.colds = []uint64{codeAddr + 6}
	const called = "INIT 0 6 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n1 .cfa: $rsp 16 +\n"
	if got := rulesIn(in); got != called {
		t.Errorf("got\n%swant\n%s", got, called)
	}
	for name, want := range map[string]bool{"f": false, "f.cold": true, "f.cold.12": true, "f.part.0": false, "f.__part.1": true, "cold": false} {
		if isCold([]byte(name)) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

// In a file without symbols, functions begin where data lead, if they return as functions do: not at the cases of a
// computed goto, nor where others go on.
func TestGuessedFunctions(t *testing.T) {
	code := bytes.Repeat([]byte{0xcc}, 64)
	for at, of := range map[int]string{
		0:  "\xc3",                 // ret
		16: "\x53\x31\xdb\x5b\xc3", // push %rbx; xor %ebx, %ebx; pop %rbx; ret
		32: "\xff\xe0",             // jmp *%rax
		48: "\xeb\xdf",             // jmp to 17
	} {
		copy(code[at:], of)
	}
	in := codeIn(arch.X86_64, code, 0)
	in.unnamed = true
	in.words = func() []uint64 { return []uint64{codeAddr + 16, codeAddr + 32, codeAddr + 48} }
	const want = "INIT 0 15 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n11 .cfa: $rsp 16 +\n13 $rbx: .cfa -16 + ^\n14 .cfa: $rsp 8 + $rbx: $rbx\n"
	if got := rulesIn(in); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// A guess that turns out to be in the middle of a function does no harm to it.
func TestWrongGuess(t *testing.T) {
	code := bytes.Repeat([]byte{0xcc}, 64)
	copy(code, "\xc3")
	copy(code[8:], "\x53\x90\x90\x90\x90\x90\x90\x90\x31\xdb\x5b\xc3") // push %rbx; nops; at 16: xor %ebx, %ebx; pop %rbx; ret
	copy(code[32:], "\xe8\xe3\xff\xff\xff\xc3")                        // call of 8; ret
	in := codeIn(arch.X86_64, code, 0)
	in.unnamed = true
	in.words = func() []uint64 { return []uint64{codeAddr + 16, codeAddr + 32} }
	const want = "INIT 0 26 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n9 .cfa: $rsp 16 +\n12 $rbx: .cfa -16 + ^\n13 .cfa: $rsp 8 + $rbx: $rbx\n"
	if got := rulesIn(in); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// Without symbols, what is behind a call of unknown code may be another function, unless it goes on as the caller does.
func TestCallsInDoubt(t *testing.T) {
	for _, c := range []struct{ name, code, want string }{
		{"returns", "53 ffd0 5b c3", // push %rbx; call *%rax; pop %rbx; ret
			"INIT 0 5 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n1 .cfa: $rsp 16 +\n4 .cfa: $rsp 8 +\n"},
		{"nobody knows", "53 ffd0 55 ffd0 0f0b", // push %rbx; call *%rax; push %rbp; call *%rax; ud2
			"INIT 0 3 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n1 .cfa: $rsp 16 +\n"},
		{"does not return", "53 ffd0 55 5d c3", // push %rbx; call *%rax; push %rbp; pop %rbp; ret
			"INIT 0 3 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n1 .cfa: $rsp 16 +\n"},
		// push %rbx; test %edi, %edi; je 1f; call *%rax; jmp 2f; 1: call *%rcx; 2: pop %rbx; ret
		{"both join", "53 85ff 7404 ffd0 eb02 ffd1 5b c3",
			"INIT 0 d .cfa: $rsp 8 + .ra: .cfa -8 + ^\n1 .cfa: $rsp 16 +\nc .cfa: $rsp 8 +\n"},
		{"joins", "53 85ff 7404 ffd0 6690 5b c3", // push %rbx; test %edi, %edi; je to the pop; call *%rax; nop; pop %rbx; ret
			"INIT 0 b .cfa: $rsp 8 + .ra: .cfa -8 + ^\n1 .cfa: $rsp 16 +\na .cfa: $rsp 8 +\n"},
	} {
		code, err := hex.DecodeString(strings.ReplaceAll(c.code, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		in := codeIn(arch.X86_64, code, 0)
		in.unnamed = true
		if got := rulesIn(in); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.name, got, c.want)
		}
	}
}

func TestLabelsAMD64(t *testing.T) {
	for code, want := range map[string]uint64{
		"488d0510000000":       codeAddr + 0x17, // lea 16(%rip), %rax
		"be00204000":           0x402000,        // mov $0x402000, %esi
		"48c7c700204000":       0x402000,        // mov $0x402000, %rdi
		"ff24c500204000":       0x402000,        // jmp *0x402000(, %rax, 8)
		"3eff24c500204000":     0x402000,        // notrack jmp *0x402000(, %rax, 8)
		"660f6f0510000000":     codeAddr + 0x18, // movdqa 16(%rip), %xmm0
		"660f38000510000000":   codeAddr + 0x19, // pshufb 16(%rip), %xmm0
		"c5fd6f0510000000":     codeAddr + 0x18, // vmovdqa 16(%rip), %ymm0
		"c4e27d000510000000":   codeAddr + 0x19, // vpshufb 16(%rip), %ymm0, %ymm0
		"62f1fd486f0510000000": codeAddr + 0x1a, // vmovdqa64 16(%rip), %zmm0
		"e810000000":           0,               // call
		"0f8410000000":         0,               // je
		"488b4424104889c3":     0,               // mov 16(%rsp), %rax
	} {
		b, err := hex.DecodeString(code)
		if err != nil {
			t.Fatal(err)
		}
		if _, got, _ := labelAMD64(b, codeAddr); got != want {
			t.Errorf("%s: %#x, want %#x", code, got, want)
		}
	}
}

// Code that is made to be followed again and again ends, too.
func TestHostileCode(t *testing.T) {
	const size = 1 << 20
	random := make([]byte, size)
	for i, x := 0, uint32(1); i < size; i++ {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		random[i] = byte(x)
	}
	words := func(words ...uint32) (code []byte) {
		for _, w := range words {
			code = binary.LittleEndian.AppendUint32(code, w)
		}
		return bytes.Repeat(code, size/4/len(words))
	}
	for name, code := range map[string][]byte{
		"branches":        words(0x54000021),                                     // b.ne .+4
		"branches apart":  words(0x54000081, 0x54ffff80),                         // forth and back
		"pushes":          words(0xf81f0ff3),                                     // str x19, [sp, #-16]!
		"pushes in loops": words(0xf81f0ff3, 0x54ffffe1, 0xf84107f3),             // str x19, [sp, #-16]!; b.ne to it; ldr x19, [sp], #16
		"calls":           words(0x94000001),                                     // bl .+4
		"calls of calls":  words(0x94000002, 0xd65f03c0),                         // bl .+8; ret
		"frames":          words(0xa9bf7bfd, 0x910003fd, 0x94000003, 0xd65f03c0), // stp x29, x30, [sp, #-16]!; mov x29, sp; bl .+12; ret
		"switches":        words(0x10000001, 0x38604822, 0x8b228820, 0xd61f0000), // adr x1, .; ldrb w2, [x1, w0, uxtw]; add x0, x1, w2, sxtb #2; br x0
		"random":          random,
	} {
		if text := rulesIn(codeIn(arch.ARM64, code, 0)); len(text) > 32*size {
			t.Errorf("arm64: %s: %d bytes of rules for %d of code", name, len(text), size)
		}
	}
	for name, code := range map[string][]byte{
		"branches":        words(0x00050263),                                                 // beqz a0, .+4
		"branches apart":  words(0x00050863, 0xfe050ee3),                                     // forth and back
		"pushes in loops": words(0xe4221141, 0xfe051ee3, 0x01416422),                         // c.addi sp, -16; c.sdsp s0, 8(sp); bnez a0 to it; c.ldsp s0, 8(sp); c.addi sp, 16
		"calls of calls":  words(0x008000ef, 0x00008067),                                     // jal .+8; ret
		"switches":        words(0x00000597, 0x00a58533, 0x00052503, 0x00b50533, 0x00050067), // auipc a1, 0; add a0, a1, a0; lw a0, (a0); add a0, a0, a1; jr a0
		"random":          random,
	} {
		if text := rulesIn(codeIn(arch.RISCV64, code, 0)); len(text) > 32*size {
			t.Errorf("riscv64: %s: %d bytes of rules for %d of code", name, len(text), size)
		}
	}
	for name, code := range map[string][]byte{
		"branches":        bytes.Repeat([]byte{0x75, 0}, size/2),
		"branches apart":  bytes.Repeat([]byte{0x75, 0x10, 0x74, 0xee}, size/4), // forth and back
		"pushes":          bytes.Repeat([]byte{0x50}, size),
		"pushes in loops": bytes.Repeat([]byte{0x53, 0x75, 0xfd, 0x5b}, size/4), // push %rbx; jne to it; pop %rbx
		"calls":           bytes.Repeat([]byte{0xe8, 0, 0, 0, 0}, size/5),
		"calls of calls":  bytes.Repeat([]byte{0xe8, 5, 0, 0, 0, 0xc3}, size/6),
		"into itself":     bytes.Repeat([]byte{0xeb, 0xff, 0xc0}, size/3),                   // jmp to its second byte: inc %eax
		"into itself, or": bytes.Repeat([]byte{0x75, 0xff, 0xf0, 0x58}, size/4),             // jne to its second byte: push %rax; pop %rax
		"stores":          bytes.Repeat([]byte{0x53, 0x48, 0x89, 0x5c, 0x24, 0x80}, size/6), // push %rbx; mov %rbx, -128(%rsp)
		"random":          random,
	} {
		// A prologue that never ends may have a row for each instruction.
		if text := rulesFor(code, 0); len(text) > 32*size {
			t.Errorf("%s: %d bytes of rules for %d of code", name, len(text), size)
		}
	}
}

// Damaged code has rules or none, and no more than its bytes allow.
func TestDamagedCode(t *testing.T) {
	// push %rbp; mov %rsp, %rbp; push %rbx; sub $24, %rsp; test %edi, %edi; jne to the add; call behind the ret;
	// add $24, %rsp; pop %rbx; pop %rbp; ret; ret
	good := []byte{0x55, 0x48, 0x89, 0xe5, 0x53, 0x48, 0x83, 0xec, 0x18, 0x85, 0xff, 0x75, 0x05, 0xe8, 0x07, 0, 0, 0, 0x48, 0x83, 0xc4, 0x18, 0x5b, 0x5d, 0xc3, 0xc3}
	want := rulesFor(good, 0)
	if len(want) < 100 {
		t.Fatalf("rules of the whole code:\n%s", want)
	}
	without := 0
	for i := range good {
		for v := range 256 {
			code := bytes.Clone(good)
			code[i] = byte(v)
			text := rulesFor(code, 0)
			if len(text) > 64*len(good) {
				t.Errorf("byte %d is %#x: %d bytes of rules", i, v, len(text))
			}
			if text == "" {
				without++
			}
		}
	}
	if without == 0 {
		t.Error("all damaged code has rules")
	}
}

// A file with too much code without rules gets none from its instructions.
func TestFollowLimit(t *testing.T) {
	const every = 1 << 12
	code := bytes.Repeat([]byte{0xc3}, maxSize+every) // ret
	for n, want := range map[uint64]Derived{maxSize / every: {Size: maxSize / every}, maxSize/every + 1: {Limit: maxSize}} {
		in := codeIn(arch.X86_64, code)
		for i := range n {
			in.begins = append(in.begins, codeAddr+i*every)
		}
		var table symfmt.CFITable
		table.Rules.SetArch(arch.X86_64)
		if got := appendRules(&table, in, codeAddr); got != want {
			t.Errorf("%d functions: %+v, want %+v", n, got, want)
		}
	}
}

// Any code ends soon, and rows are in order within it.
func FuzzDerivedRules(f *testing.F) {
	for _, code := range []string{"\x55\x48\x89\xe5\xc9\xc3", "\xeb\xff\xc0\xc3", "\x83\xff\x05\x77\x10\x48\x8d\x15\x00\x00\x00\x00\x48\x63\x04\xba\x48\x01\xd0\xff\xe0"} {
		f.Add([]byte(code), uint8(0))
	}
	for _, code := range []string{"\xfd\x7b\xbf\xa9\xfd\x03\x00\x91\xfd\x7b\xc1\xa8\xc0\x03\x5f\xd6", "\x01\x00\x00\x10\x22\x48\x60\x38\x20\x88\x22\x8b\x00\x00\x1f\xd6"} {
		f.Add([]byte(code), uint8(1))
	}
	for _, code := range []string{"\x41\x11\x06\xe4\xa2\x60\x41\x01\x82\x80", "\x97\x05\x00\x00\x33\x85\xa5\x00\x03\x25\x05\x00\x33\x05\xb5\x00\x67\x00\x05\x00"} {
		f.Add([]byte(code), uint8(2))
	}
	for _, code := range []string{"\x10\x40\x2d\xe9\x08\xd0\x4d\xe2\x08\xd0\x8d\xe2\x10\x80\xbd\xe8", "\x05\x00\x50\xe3\x00\xf1\x8f\x90\x1e\xff\x2f\xe1\x1e\xff\x2f\xe1"} {
		f.Add([]byte(code), uint8(3))
	}
	for _, code := range []string{"\x10\xb5\x08\xbf\x10\xbd\x10\xbd", "\x05\x28\xdf\xe8\x00\xf0\x02\x03\x70\x47\x70\x47"} {
		f.Add([]byte(code), uint8(7))
	}
	all := [...]*arch.Arch{arch.X86_64, arch.ARM64, arch.RISCV64, arch.ARM}
	f.Fuzz(func(t *testing.T, code []byte, cpu uint8) {
		if len(code) == 0 {
			return
		}
		a, isa := all[int(cpu)%len(all)], uint64(cpu)/4&cpus[all[int(cpu)%len(all)]].isa
		in := &input{
			cpu:   cpus[a],
			parts: []codePart{{lo: codeAddr, bytes: code}}, begins: []uint64{codeAddr | isa}, unnamed: true,
			data:     func(addr uint64) []byte { return code[min(addr-codeAddr, uint64(len(code))):] },
			pointer:  func(addr uint64) uint64 { return addr },
			words:    func() []uint64 { return []uint64{codeAddr + 16, codeAddr + 32} },
			imported: func(slot uint64) (uint64, bool) { return slot, false },
			never:    func(addr uint64) bool { return addr%64 == 1 },
		}
		var table symfmt.CFITable
		table.Rules.SetArch(a)
		appendRules(&table, in, codeAddr)
		end := symfmt.RVA(0)
		for _, b := range table.Blocks {
			if b.RVA < end || b.Size == 0 || uint64(b.RVA)+b.Size > uint64(len(code)) {
				t.Fatalf("block %+v after %#x in %d bytes", b, end, len(code))
			}
			end = b.RVA + symfmt.RVA(b.Size)
		}
	})
}
