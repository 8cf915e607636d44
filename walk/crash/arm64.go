package crash

import (
	"encoding/binary"
	"strconv"
	"strings"

	"golang.org/x/arch/arm64/arm64asm"
)

// a64 decodes an arm64 instruction. The encodings are from the Arm Architecture Reference Manual,
// C4.1 ("Loads and Stores"). Accesses are decoded here because the disassembler knows fewer
// instructions.
type a64 struct {
	*state
	w  uint32 // the instruction
	in *Instruction
}

// decodeARM64 decodes an instruction. Unknown instructions outside the group
// of loads and stores access no memory.
func decodeARM64(s *state, code []byte) *Instruction {
	if len(code) < 4 {
		return nil
	}
	a := a64{state: s, w: binary.LittleEndian.Uint32(code), in: &Instruction{Code: code[:4], Known: true}}
	if a.w>>16 == 0 {
		return nil // permanently undefined
	}
	a.in.Text = arm64Text(code[:4])
	a.accesses()
	a.target()
	return a.in
}

// arm64Text returns the instruction in GNU syntax, or "" if the disassembler does not know it.
// Third-party disassemblers may panic on arbitrary bytes.
func arm64Text(code []byte) (text string) {
	defer func() {
		if recover() != nil {
			text = ""
		}
	}()
	inst, err := arm64asm.Decode(code)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(arm64asm.GNUSyntax(inst))
}

// bits returns bits hi to lo of the instruction.
func (a *a64) bits(hi, lo uint) uint32 { return a.w >> lo & (1<<(hi-lo+1) - 1) }

func (a *a64) bit(n uint) bool { return a.w>>n&1 != 0 }

// signed returns bits hi to lo as a signed number.
func (a *a64) signed(hi, lo uint) int64 {
	shift := 63 - (hi - lo)
	return int64(uint64(a.bits(hi, lo))<<shift) >> shift
}

// general returns a general register's value; number 31 is the stack pointer or zero.
func (a *a64) general(n uint32, sp bool) (uint64, bool) {
	switch {
	case n < 31:
		return a.reg("x" + strconv.Itoa(int(n)))
	case sp:
		return a.reg("sp")
	}
	return 0, true
}

// add adds an access at an offset of the base register.
func (a *a64) add(offset int64, size uint64, kind AccessKind) {
	base, ok := a.general(a.bits(9, 5), true)
	if !ok {
		a.in.Known = false
		return
	}
	a.in.Accesses = append(a.in.Accesses, Access{Addr: base + uint64(offset), Size: size, Kind: kind, NullBase: base == 0})
}

// accesses sets the memory that the instruction accesses.
func (a *a64) accesses() {
	switch op := a.bits(28, 25); {
	case op&5 == 4: // x1x0
		a.loadStore()
	case op == 2 && a.bit(31), op == 0:
		a.in.Known = false // SVE and SME loads and stores
	case a.w&^0x1f == 0xd50b7420: // DC ZVA: a block, 64 bytes on most CPUs
		if addr, ok := a.general(a.bits(4, 0), false); ok {
			a.in.Accesses = []Access{{Addr: addr, Kind: WriteAccess, NullBase: addr == 0}}
		} else {
			a.in.Known = false
		}
	}
}

// accessKind returns ReadAccess if is is set, otherwise WriteAccess.
func accessKind(is bool) AccessKind {
	if is {
		return ReadAccess
	}
	return WriteAccess
}

func (a *a64) loadStore() {
	switch group := a.bits(29, 24); {
	case group == 0b001100 || group == 0b001101:
		a.structures()
	case group == 0b001000:
		a.exclusive()
	case group == 0b011001 && !a.bit(21) && a.bits(11, 10) == 0: // LDAPUR, STLUR
		a.add(a.signed(20, 12), 1<<a.bits(31, 30), accessKind(a.bits(23, 22) != 0))
	case group&0b111011 == 0b011000:
		a.literal()
	case group&0b111010 == 0b101000:
		a.pair()
	case group&0b111010 == 0b111000:
		a.single()
	default:
		a.in.Known = false // tags, copies, and later extensions
	}
}

// literal decodes a load from an address relative to the instruction.
func (a *a64) literal() {
	size, vector := uint64(4)<<a.bits(31, 30), a.bit(26)
	switch {
	case a.bits(31, 30) == 3:
		if vector {
			a.in.Known = false
		}
		return // a prefetch
	case a.bits(31, 30) == 2 && !vector:
		size = 4 // LDRSW
	}
	a.in.Accesses = []Access{{Addr: a.pc + uint64(a.signed(23, 5)*4), Size: size, Kind: ReadAccess}}
}

// pair decodes a load or store of two registers.
func (a *a64) pair() {
	opc, scale := a.bits(31, 30), uint64(4)
	switch {
	case opc == 3:
		a.in.Known = false
		return
	case a.bit(26):
		scale = 4 << opc
	case opc == 2:
		scale = 8
	case opc == 1 && !a.bit(22): // STGP: two 8-byte registers, in units of a tag
		a.pairAt(16, 16)
		return
	}
	a.pairAt(int64(scale), 2*scale)
}

func (a *a64) pairAt(scale int64, size uint64) {
	offset := a.signed(21, 15) * scale
	if a.bits(24, 23) == 1 { // post-indexed
		offset = 0
	}
	a.add(offset, size, accessKind(a.bit(22)))
}

// single decodes a load or store of one register.
func (a *a64) single() {
	log, opc, vector := a.bits(31, 30), a.bits(23, 22), a.bit(26)
	kind := accessKind(opc != 0)
	if vector {
		log, kind = log|opc>>1<<2, accessKind(opc&1 != 0)
	}
	if log > 4 {
		a.in.Known = false
		return
	}
	size := uint64(1) << log
	if a.bit(24) {
		if !a.isPrefetch() {
			a.add(int64(a.bits(21, 10))*int64(size), size, kind)
		}
		return
	}
	switch mode := a.bits(11, 10); {
	case !a.bit(21) && a.isPrefetch() && mode == 0, a.bit(21) && mode == 2 && a.isPrefetch():
	case !a.bit(21) && mode == 1: // post-indexed
		a.add(0, size, kind)
	case !a.bit(21):
		a.add(a.signed(20, 12), size, kind)
	case mode == 2:
		a.indexed(log, size, kind)
	case mode == 0 && !vector:
		a.atomic(size)
	default:
		a.in.Known = false // LDRAA, LDRAB: the address is authenticated
	}
}

// isPrefetch reports whether a load of a register is a prefetch.
func (a *a64) isPrefetch() bool {
	return a.bits(31, 30) == 3 && a.bits(23, 22) == 2 && !a.bit(26)
}

// indexed decodes a load or store whose offset is in a register.
func (a *a64) indexed(log uint32, size uint64, kind AccessKind) {
	index, ok := a.general(a.bits(20, 16), false)
	if !ok {
		a.in.Known = false
		return
	}
	switch a.bits(15, 13) {
	case 2: // UXTW
		index = uint64(uint32(index))
	case 6: // SXTW
		index = uint64(int32(index))
	}
	if a.bit(12) {
		index <<= log
	}
	a.add(int64(index), size, kind)
}

// atomic decodes an atomic memory operation, or a load with acquire semantics.
func (a *a64) atomic(size uint64) {
	switch o3, opc := a.bit(15), a.bits(14, 12); {
	case !o3, opc == 0:
		a.add(0, size, UpdateAccess)
	case opc == 4:
		a.add(0, size, ReadAccess) // LDAPR
	default:
		a.in.Known = false // 64 bytes at once
	}
}

// exclusive decodes a load or store that is exclusive or ordered, or a compare-and-swap.
func (a *a64) exclusive() {
	size := uint64(1) << a.bits(31, 30)
	switch o2, o1, loads := a.bit(23), a.bit(21), a.bit(22); {
	case o2 && o1: // CAS
		a.add(0, size, UpdateAccess)
	case !o1:
		a.add(0, size, accessKind(loads))
	case a.bit(31): // pairs
		a.add(0, 2*size, accessKind(loads))
	default: // CASP, whose size is bit 30
		a.add(0, 8<<a.bits(30, 30), UpdateAccess)
	}
}

// structures decodes a load or store of elements of several vectors.
func (a *a64) structures() {
	size := uint64(0)
	if a.bits(29, 24) == 0b001100 {
		registers := map[uint32]uint64{0: 4, 2: 4, 4: 3, 6: 3, 7: 1, 8: 2, 10: 2}[a.bits(15, 12)]
		size = registers * 8 << a.bits(30, 30)
	} else {
		elements := uint64(a.bits(13, 13)<<1|a.bits(21, 21)) + 1
		switch scale := a.bits(15, 14); scale {
		case 3: // one element for all lanes
			size = elements << a.bits(11, 10)
		case 2:
			size = elements * 4 << (a.bits(10, 10))
		default:
			size = elements << scale
		}
	}
	if size == 0 {
		a.in.Known = false
		return
	}
	a.add(0, size, accessKind(a.bit(22)))
}

// target sets the target of an indirect branch, unless the branch authenticates the address.
func (a *a64) target() {
	if a.w&0xff9ffc1f == 0xd61f0000 && a.bits(22, 21) != 3 { // BR, BLR, RET
		a.in.Target, a.in.HasTarget = a.general(a.bits(9, 5), false)
	}
}
