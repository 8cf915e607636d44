package crash

import (
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// instructions lists instructions with what they access; the registers are
// walktest.SomeRegisters.
var instructions = []struct {
	arch   *arch.Arch
	asm    string
	code   string // in hexadecimal, as llvm-mc assembles asm
	text   string
	want   string // accesses, "unknown" if they are unknown
	target string
}{
	{arch.X86_64, "mov eax, dword ptr [rdx + 0x18]", "8b4218", "mov eax, dword [rdx+0x18]", "read 18+4 null", ""},
	{arch.X86_64, "mov qword ptr [rax + 8*rcx - 8], rbx", "48895cc8f8", "mov qword [rax+8*rcx-0x8], rbx", "write 1010+8", ""},
	{arch.X86_64, "mov byte ptr [-0x7fffffbe], 1", "c604254200008001", "mov byte [0xffffffff80000042], 0x1", "write ffffffff80000042+1", ""},
	{arch.X86_64, "mov eax, dword ptr [8*rcx - 0x10]", "8b04cdf0ffffff", "mov eax, dword [8*rcx-0x10]", "read 8+4", ""},
	{arch.X86_64, "mov eax, dword ptr [edi - 8]", "678b47f8", "mov eax, dword [edi-0x8]", "read 4ff8+4", ""},
	{arch.X86_64, "add dword ptr [rip + 0x10], eax", "010510000000", "add dword [rip+0x10], eax", "read_write 400016+4", ""},
	{arch.X86_64, "movaps xmmword ptr [rsp + 0x10], xmm0", "0f29442410", "movaps xmmword [rsp+0x10], xmm0", "write 7010+16", ""},
	{arch.X86_64, "mov rax, qword ptr fs:[0x28]", "64488b042528000000", "mov rax, qword fs:[0x28]", "unknown", ""},
	{arch.X86_64, "push rbx", "53", "push rbx", "write 6ff8+8", ""},
	{arch.X86_64, "push bx", "6653", "push bx", "write 6ffe+2", ""},
	{arch.X86_64, "pop qword ptr [rax]", "8f00", "pop qword [rax]", "write 1000+8 read 7000+8", ""},
	{arch.X86_64, "call rax", "ffd0", "call rax", "write 6ff8+8", "1000"},
	{arch.X86_64, "call qword ptr [rsp + 8]", "ff542408", "call qword [rsp+0x8]", "read 7008+8 write 6ff8+8", "2222222222222222"},
	{arch.X86_64, "jmp rdx", "ffe2", "jmp rdx", "", "0"},
	{arch.X86_64, "ret", "c3", "ret", "read 7000+8", "1111111111111111"},
	{arch.X86_64, "leave", "c9", "leave", "read 8000+8", ""},
	{arch.X86_64, "rep movsq", "f348a5", "rep movsq qword [rdi], qword [rsi]", "write 5000+8 read 4000+8", ""},
	{arch.X86_64, "lea rax, [rdx + 0x18]", "488d4218", "lea rax, [rdx+0x18]", "", ""},
	{arch.X86_64, "nop dword ptr [rax]", "0f1f00", "nop dword [rax], eax", "", ""},
	{arch.X86_64, "vpcmpeqb ymm0, ymm0, ymmword ptr [rdi]", "c5fd7407", "vpcmpeqb ymm0, ymm0, ymmword [rdi]", "read 5000+32", ""},
	{arch.X86_64, "vmovdqa ymm10, ymmword ptr [rip + 0x20]", "c57d6f1520000000", "vmovdqa ymm10, ymmword [rip+0x20]", "read 400028+32", ""},
	{arch.X86_64, "vmovdqu64 zmmword ptr [rdi + 64], zmm1", "62f1fe487f4f01", "vmovdqu64 zmmword [rdi+0x40], zmm1", "write 5040+64", ""},
	{arch.X86_64, "vgatherdps ymm0, [rax + 4*ymm1], ymm2", "c4e26d920488", "", "unknown", ""},
	{arch.X86_64, "lock cmpxchg qword ptr [rdi], rcx", "f0480fb10f", "lock cmpxchg qword [rdi], rcx", "read_write 5000+8", ""},
	{arch.X86_64, "idiv dword ptr [rdi]", "f73f", "idiv dword [rdi]", "read 5000+4", ""},
	{arch.X86_64, "endbr64", "f30f1efa", "endbr64", "", ""},
	{arch.X86, "mov eax, dword ptr [edx + 0x18]", "8b4218", "mov eax, dword [edx+0x18]", "read 18+4 null", ""},
	{arch.X86, "mov dword ptr [eax - 0x2000], ecx", "898800e0ffff", "mov dword [eax-0x2000], ecx", "write fffff000+4", ""},
	{arch.X86, "push ebx", "53", "push ebx", "write 6ffc+4", ""},
	{arch.X86, "mov eax, dword ptr [0x44]", "a144000000", "mov eax, dword [0x44]", "read 44+4", ""},
	{arch.ARM64, "ldr w0, [x2, #24]", "401840b9", "ldr w0, [x2,#24]", "read 18+4 null", ""},
	{arch.ARM64, "str q0, [x0, x1, lsl #4]", "0078a13c", "str q0, [x0,x1,lsl #4]", "write 1030+16", ""},
	{arch.ARM64, "ldrsb x0, [x3, w4, sxtw]", "60c8a438", "ldrsb x0, [x3,w4,sxtw]", "read 1fff+1", ""},
	{arch.ARM64, "ldp x29, x30, [sp], #16", "fd7bc1a8", "ldp x29, x30, [sp],#16", "read 7000+16", ""},
	{arch.ARM64, "stp q0, q1, [sp, #-32]!", "e007bfad", "stp q0, q1, [sp,#-32]!", "write 6fe0+32", ""},
	{arch.ARM64, "ldpsw x5, x6, [x0, #8]", "05184169", "ldpsw x5, x6, [x0,#8]", "read 1008+8", ""},
	{arch.ARM64, "ldr d0, 0x400100", "0008005c", "ldr d0, .+0x100", "read 400100+8", ""},
	{arch.ARM64, "ldur h7, [x0, #-1]", "07f05f7c", "ldur h7, [x0,#-1]", "read fff+2", ""},
	{arch.ARM64, "prfm pldl1keep, [x2]", "400080f9", "prfm pldl1keep, [x2]", "", ""},
	{arch.ARM64, "ldadd w1, w5, [x0]", "050021b8", "", "read_write 1000+4", ""},
	{arch.ARM64, "swpalb w1, w5, [x0]", "0580e138", "", "read_write 1000+1", ""},
	{arch.ARM64, "cas x1, x5, [x0]", "057ca1c8", "", "read_write 1000+8", ""},
	{arch.ARM64, "casp x4, x5, x6, x7, [x0]", "067c2448", "", "read_write 1000+16", ""},
	{arch.ARM64, "ldxp x1, x5, [x0]", "01147fc8", "ldxp x1, x5, [x0]", "read 1000+16", ""},
	{arch.ARM64, "stlxr w1, w5, [x0]", "05fc0188", "stlxr w1, w5, [x0]", "write 1000+4", ""},
	{arch.ARM64, "stlrh w5, [x0]", "05fc9f48", "stlrh w5, [x0]", "write 1000+2", ""},
	{arch.ARM64, "ldaprb w5, [x0]", "05c0bf38", "", "read 1000+1", ""},
	{arch.ARM64, "stlurh w5, [x0, #-2]", "05e01f59", "", "write ffe+2", ""},
	{arch.ARM64, "ld4 {v0.16b, v1.16b, v2.16b, v3.16b}, [x0]", "0000404c", "ld4 {v0.16b-v3.16b}, [x0]", "read 1000+64", ""},
	{arch.ARM64, "ld1 {v0.8b, v1.8b}, [x0], #16", "00a0df0c", "ld1 {v0.8b, v1.8b}, [x0],#16", "read 1000+16", ""},
	{arch.ARM64, "st1 {v0.s}[1], [x0]", "0090000d", "st1 {v0.s}[1], [x0]", "write 1000+4", ""},
	{arch.ARM64, "ld3r {v0.4h, v1.4h, v2.4h}, [x0]", "00e4400d", "ld3r {v0.4h-v2.4h}, [x0]", "read 1000+6", ""},
	{arch.ARM64, "st2 {v0.d, v1.d}[1], [x0]", "0084204d", "st2 {v0.d, v1.d}[1], [x0]", "write 1000+16", ""},
	{arch.ARM64, "dc zva, x0", "20740bd5", "", "write 1000+0", ""},
	{arch.ARM64, "ld1b {z0.b}, p0/z, [x0]", "00a000a4", "", "unknown", ""},
	{arch.ARM64, "ldg x0, [x0]", "000060d9", "", "unknown", ""},
	{arch.ARM64, "ldraa x1, [x0]", "010420f8", "", "unknown", ""},
	{arch.ARM64, "blr x3", "60003fd6", "blr x3", "", "2000"},
	{arch.ARM64, "ret", "c0035fd6", "ret", "", "5555"},
	{arch.ARM64, "retaa", "ff0b5fd6", "", "", ""},
	{arch.ARM64, "add x0, x1, x2", "2000028b", "add x0, x1, x2", "", ""},
}

func accessText(in *Instruction) string {
	if !in.Known {
		return "unknown"
	}
	var list []string
	for _, a := range in.Accesses {
		text := fmt.Sprintf("%v %x+%d", a.Kind, a.Addr, a.Size)
		if a.NullBase {
			text += " null"
		}
		list = append(list, text)
	}
	return strings.Join(list, " ")
}

func TestInstructions(t *testing.T) {
	memory := walktest.SomeMemory()
	for _, c := range instructions {
		code, err := hex.DecodeString(c.code)
		if err != nil {
			t.Fatal(err)
		}
		s := state{context: walktest.SomeRegisters(c.arch), memory: &memory, pc: 0x400000}
		in := decoders[c.arch](&s, append(code, make([]byte, 4)...))
		if in == nil {
			t.Errorf("%s: not decoded", c.asm)
			continue
		}
		if len(in.Code) != len(code) {
			t.Errorf("%s: %d bytes, want %d", c.asm, len(in.Code), len(code))
		}
		if c.text != "" && in.Text != c.text {
			t.Errorf("%s: text %q, want %q", c.asm, in.Text, c.text)
		}
		if got := accessText(in); got != c.want {
			t.Errorf("%s: accesses %q, want %q", c.asm, got, c.want)
		}
		target := ""
		if in.HasTarget {
			target = fmt.Sprintf("%x", in.Target)
		}
		if target != c.target {
			t.Errorf("%s: target %q, want %q", c.asm, target, c.target)
		}
	}
}

// llvm-mc assembles the table's text to the table's bytes.
func TestOracleInstructionBytes(t *testing.T) {
	testenv.Oracle(t)
	triples := map[*arch.Arch]string{arch.X86_64: "x86_64", arch.X86: "i386", arch.ARM64: "aarch64"}
	for a, triple := range triples {
		var text strings.Builder
		want := map[int]string{}
		for _, c := range instructions {
			if c.arch == a {
				fmt.Fprintf(&text, "%s\n", strings.ReplaceAll(c.asm, "0x400100", "#0x100"))
				want[len(want)] = c.code
			}
		}
		path := filepath.Join(t.TempDir(), "a.s")
		if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		args := []string{"-triple=" + triple, "--show-encoding", "-x86-asm-syntax=intel", path}
		if a == arch.ARM64 {
			args = append(args, "-mattr=+all")
		}
		out, err := exec.Command(testenv.Tool(t, "llvm-mc-22"), args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		n := 0
		for line := range strings.SplitSeq(string(out), "\n") {
			_, encoding, ok := strings.Cut(line, "encoding: [")
			if !ok {
				continue
			}
			encoding = strings.NewReplacer("0x", "", ",", "", "]", "").Replace(encoding)
			if encoding != want[n] {
				t.Errorf("%s: %s, want %s", triple, strings.TrimSpace(line), want[n])
			}
			n++
		}
		if n != len(want) {
			t.Errorf("%s: %d instructions, want %d", triple, n, len(want))
		}
	}
}

// Any bytes are decoded or rejected, on any CPU. An instruction is not longer than the bytes, and
// its addresses are valid for the CPU.
func FuzzInstruction(f *testing.F) {
	for _, c := range instructions {
		code, _ := hex.DecodeString(c.code)
		f.Add(code)
	}
	memory := walktest.SomeMemory()
	contexts := map[*arch.Arch]*dump.Context{}
	for a := range decoders {
		contexts[a] = walktest.SomeRegisters(a)
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		for a, decode := range decoders {
			s := state{context: contexts[a], memory: &memory, pc: 0x400000}
			in := decode(&s, code)
			if in == nil {
				continue
			}
			if len(in.Code) > len(code) || !in.Known && len(in.Accesses) > 0 && a != arch.ARM64 {
				t.Fatalf("%s: % x: %+v", a.Name, code, in)
			}
			for _, access := range in.Accesses {
				if a.PtrSize == 4 && access.Addr>>32 != 0 || access.Size > 1<<16 {
					t.Fatalf("%s: % x: %+v", a.Name, code, access)
				}
			}
		}
	})
}
