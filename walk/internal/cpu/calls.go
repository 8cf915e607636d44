package cpu

import (
	"encoding/binary"

	"github.com/symtool/symtool/symfmt/arch"
)

// MaxCall is the length in bytes of the longest call that is recognised, including the delay slot
// of MIPS: on x86 an indirect call with a 4-byte displacement. Prefixes make it longer, but
// without them it is still a call.
const MaxCall = 8

// CallAnswer says whether the instruction before an address is a call.
type CallAnswer uint8

const (
	CallUnknown CallAnswer = iota // the code is missing, or its CPU or encoding is not supported
	CallNo
	CallYes
)

// CallBefore reports whether code, whose last byte is the one before the address ret, ends with a
// call.
//
// It reads backwards. On CPUs whose instructions differ in length, the bytes of other instructions
// may look like a call, on x86 about once in 1,000 instructions (TestCallsOracle). It never misses
// a call. inCode reports whether a direct call may lead to an address; nil allows all addresses.
func CallBefore(a *arch.Arch, order binary.ByteOrder, code []byte, ret uint64, inCode func(uint64) bool) CallAnswer {
	if a == nil || len(code) < 2 {
		return CallUnknown
	}
	return All[a].calls(callCode{code, order, ret, inCode})
}

// callCode is the code before a return address.
type callCode struct {
	code   []byte
	order  binary.ByteOrder
	ret    uint64
	inCode func(uint64) bool
}

// word returns the 4-byte word whose distance to the address is before, in bytes.
func (c callCode) word(order binary.ByteOrder, before int) (uint32, bool) {
	if before > len(c.code) {
		return 0, false
	}
	return order.Uint32(c.code[len(c.code)-before:]), true
}

// half is like word for 2 bytes.
func (c callCode) half(order binary.ByteOrder, before int) (uint16, bool) {
	if before > len(c.code) {
		return 0, false
	}
	return order.Uint16(c.code[len(c.code)-before:]), true
}

func callIf(call bool) CallAnswer {
	if call {
		return CallYes
	}
	return CallNo
}

func (c callCode) goesToCode(target uint64, mode int) bool {
	if mode == 32 {
		target &= 1<<32 - 1
	}
	return c.inCode == nil || c.inCode(target)
}
