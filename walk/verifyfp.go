package walk

import (
	"bytes"
	"encoding/binary"

	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt/arch"
)

// frameChain is the step by the frame pointer, if the function keeps one for
// certain at the frame's address. In code without frame pointers the register
// holds anything, so that this must be sure:
//
//   - the function's first instructions, by the address of its FUNC record, save
//     the old frame pointer and set the new one, and the frame's address is
//     behind them. Where compilers set it later, or not at all, nothing is told;
//   - the frame made a call: in front of a call the frame stands, whereas a
//     function that was interrupted may just be taking it down;
//   - the register points to a frame: aligned, not below the stack pointer, in
//     the dump's memory, with an address behind a call in it.
func (v *verifier) frameChain(u *unwinder, f *Frame) (step, bool) {
	if f.Interrupted || f.Handler || f.Source != resolve.Func || !v.setsFrame(u, f) {
		return step{}, false
	}
	reg, word := u.cpu.reg(u.cpu.arch.FP), uint64(u.cpu.arch.PtrSize)
	fp, ok := u.in.Get(reg)
	if !ok || fp%word != 0 || fp < f.SP {
		return step{}, false
	}
	pc, ok1 := u.ReadWord(fp + word)
	saved, ok2 := u.ReadWord(fp)
	if pc = u.cpu.clean(u, pc); !ok1 || !ok2 || v.call(u, pc) != callYes {
		return step{}, false
	}
	s := step{by: ByFramePointer, pc: pc, sp: fp + 2*word, regs: u.names.NewRegs(), fpOnly: true}
	s.cfa, s.hasCFA = s.sp, true
	s.noSP = u.cpu.arch == arch.ARM64 // whose record may be anywhere in the frame
	s.regs.Set(reg, saved)
	return s, true
}

// prologue is how many bytes of a function are looked at.
const prologue = 32

// setsFrame tells whether the function begins by making a frame, and the frame's
// address is behind that.
func (v *verifier) setsFrame(u *unwinder, f *Frame) bool {
	code := codeOf(v.ctx, u.d, f.Module, u.module, f.Start, prologue)
	n := 0
	switch u.cpu.arch {
	case arch.X86, arch.X86_64:
		n = x86Frame(code)
	case arch.ARM64:
		n = arm64Frame(code)
	}
	return n > 0 && f.Inst >= f.Start+uint64(n)
}

// x86Frame is the length of "push %rbp; mov %rsp, %rbp" at the start of code,
// with what may be in front; 0 if it is not there.
func x86Frame(code []byte) int {
	rest := code
	for _, mark := range []string{"\xf3\x0f\x1e\xfa", "\xf3\x0f\x1e\xfb", "\x8b\xff"} { // endbr64, endbr32, mov %edi, %edi
		rest = bytes.TrimPrefix(rest, []byte(mark))
	}
	if len(rest) == 0 || rest[0] != 0x55 {
		return 0
	}
	rest = bytes.TrimPrefix(rest[1:], []byte{0x48})
	if !bytes.HasPrefix(rest, []byte{0x89, 0xe5}) && !bytes.HasPrefix(rest, []byte{0x8b, 0xec}) {
		return 0
	}
	return len(code) - len(rest) + 2
}

// arm64Frame is the length of the instructions up to the one that sets x29 to
// where x29 and x30 were stored; 0 if they are not there.
func arm64Frame(code []byte) int {
	stored := -1
	for i := 0; i+4 <= len(code); i += 4 {
		w := binary.LittleEndian.Uint32(code[i:])
		switch {
		case w&0xffc0_7fff == 0xa980_7bfd: // stp x29, x30, [sp, #n]!
			stored = 0
		case w&0xffc0_7fff == 0xa900_7bfd: // stp x29, x30, [sp, #n]
			stored = int(int32(w<<10)>>25) * 8
		case w&0xffc0_03ff == 0x9100_03fd: // add x29, sp, #n
			if stored >= 0 && int(w>>10&0xfff) == stored {
				return i + 4
			}
			return 0
		}
	}
	return 0
}

// call tells whether an address of the process follows a call.
func (v *verifier) call(u *unwinder, pc uint64) callAnswer {
	i := u.d.ModuleAt(pc - 1)
	if pc < firstPage || i < 0 {
		return callNo
	}
	var code []byte
	for n := maxCall; n > 1 && code == nil; n-- { // less where code begins nearby
		code = codeOf(v.ctx, u.d, i, u.stateOf(i), pc-uint64(n), n)
	}
	return callBefore(u.cpu.arch, u.d.Memory.Order, code, pc, u.isCode)
}
