package walktest

import (
	"encoding/binary"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// SomeRegisters are those with which the instructions of tests were made.
func SomeRegisters(a *arch.Arch) *dump.Context {
	c := dump.NewContext(a)
	values := map[string]uint64{
		"$rax": 0x1000, "$rcx": 3, "$rdx": 0, "$rbx": 9, "$rsp": 0x7000, "$rbp": 0x8000, "$rsi": 0x4000, "$rdi": 0x5000, "$rip": 0x400000,
		"$eax": 0x1000, "$ecx": 3, "$edx": 0, "$ebx": 9, "$esp": 0x7000, "$ebp": 0x8000, "$eip": 0x400000,
		"x0": 0x1000, "x1": 3, "x2": 0, "x3": 0x2000, "x4": 0xffffffff, "x30": 0x5555, "sp": 0x7000, "pc": 0x400000,
	}
	for name, v := range values {
		c.Set(name, v)
	}
	return c
}

// SomeMemory is 16 bytes at the stack pointer of someRegisters.
func SomeMemory() dump.Memory {
	b := make([]byte, 16)
	for i := range b {
		b[i] = byte(0x11 * (1 + i/8))
	}
	return dump.NewMemory(binary.LittleEndian, []dump.Region{{Addr: 0x7000, Data: b}})
}
