package crash

import "strings"

// misaligned returns the address of an operand that does not have the alignment required by the instruction, and the
// required alignment. It applies to crashes for which the system gives no address, or which the system reports as
// misaligned accesses.
func (a *Analysis) misaligned() (addr, multiple uint64, ok bool) {
	if !a.known() {
		return 0, 0, false
	}
	checked := a.linux() && a.d.Crash.Code == sigBUS && a.d.Crash.Flags == busAlign
	if !checked && !a.isGPFault() {
		return 0, 0, false
	}
	for i := range a.Instruction.Accesses {
		access := &a.Instruction.Accesses[i]
		n := a.Instruction.aligned
		if n == 0 && checked { // the program enabled the check, or the CPU always checks some instructions
			n = access.Size
		}
		if n > 1 && access.Addr%n != 0 {
			return access.Addr, n, true
		}
	}
	return 0, 0, false
}

// alignment returns the alignment that an instruction requires of its memory operand's address, or 0 if it requires
// none (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, sections 4.1.1 and 14.9).
func (x *x86Inst) alignment() uint64 {
	name := x.Op.String()
	if n := x86Alignments[name]; n != 0 {
		return n
	}
	if x.isVEX() {
		if x86AlignedMoves[strings.TrimPrefix(name, "V")] {
			return uint64(x.MemBytes)
		}
		return 0
	}
	const xmm = 16
	if x.MemBytes == xmm && !x86Unaligned[name] {
		return xmm
	}
	return 0
}

// x86Alignments are instructions whose operand is a structure.
var x86Alignments = map[string]uint64{
	"CMPXCHG16B": 16, "FXSAVE": 16, "FXSAVE64": 16, "FXRSTOR": 16, "FXRSTOR64": 16,
	"XSAVE": 64, "XSAVE64": 64, "XSAVEC": 64, "XSAVEC64": 64, "XSAVEOPT": 64, "XSAVEOPT64": 64, "XRSTOR": 64, "XRSTOR64": 64,
}

// x86Unaligned are SSE instructions whose 16-byte operand needs no alignment.
var x86Unaligned = map[string]bool{
	"MOVUPS": true, "MOVUPD": true, "MOVDQU": true, "LDDQU": true,
	"PCMPESTRI": true, "PCMPESTRM": true, "PCMPISTRI": true, "PCMPISTRM": true,
}

// x86AlignedMoves are the instructions that also need alignment with an AVX prefix, by the size of the operand. They
// have the names of SSE; AVX-512 adds the size of elements to one of them.
var x86AlignedMoves = map[string]bool{
	"MOVAPS": true, "MOVAPD": true, "MOVDQA": true, "MOVDQA32": true, "MOVDQA64": true,
	"MOVNTPS": true, "MOVNTPD": true, "MOVNTDQ": true, "MOVNTDQA": true,
}
