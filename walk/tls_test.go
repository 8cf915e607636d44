package walk

import (
	"encoding/binary"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// tlsDump returns a dump of a program whose headers, at 0x10040, have a PT_TLS of 0x14 bytes at
// 0x3000, aligned to 8, and whose thread has some registers.
func tlsDump(a *arch.Arch, order binary.AppendByteOrder, registers map[string]uint64) *dump.Dump {
	word := func(b []byte, v uint64) []byte {
		if a.PtrSize == 4 {
			return order.AppendUint32(b, uint32(v))
		}
		return order.AppendUint64(b, v)
	}
	header := func(kind uint32, addr, size, align uint64) (b []byte) {
		b = order.AppendUint32(b, kind)
		if a.PtrSize == 8 {
			b = order.AppendUint32(b, 4) // p_flags
		}
		for _, v := range []uint64{0, addr, addr, 4, size} {
			b = word(b, v)
		}
		if a.PtrSize == 4 {
			b = order.AppendUint32(b, 4)
		}
		return word(b, align)
	}
	headers := append(header(1, 0, 0x5000, 0x1000), header(ptTLS, 0x3000, 0x14, 8)...)
	c := dump.NewContext(a)
	for name, v := range registers {
		c.Set(name, v)
	}
	return &dump.Dump{
		Threads: []dump.Thread{{Context: c}},
		Auxv: []dump.Aux{
			{Key: auxPHDR, Value: 0x10040}, {Key: auxPHENT, Value: uint64(len(headers) / 2)}, {Key: auxPHNUM, Value: 2},
		},
		Memory: dump.NewMemory(order.(binary.ByteOrder), []dump.Region{{Addr: 0x10040, Data: headers}}),
	}
}

// A variable of the program is found relative to the thread pointer. If the dump lacks that register,
// the message names it.
func TestTLSAddress(t *testing.T) {
	little, big := binary.LittleEndian, binary.BigEndian
	absent := "the dump does not have the thread's pointer, "
	for _, c := range []struct {
		arch      *arch.Arch
		order     binary.AppendByteOrder
		registers map[string]uint64
		addr      uint64
		why       string
	}{
		{arch.X86_64, little, map[string]uint64{"$fs.base": 0x7f0000001000}, 0x7f0000000fec, ""},
		{arch.X86_64, little, map[string]uint64{"$fs.base": 0}, 0, absent + "$fs.base"},
		{arch.S390X, big, map[string]uint64{"a0": 0x3ff, "a1": 0xf0001000}, 0x3fff0000fec, ""},
		{arch.S390X, big, map[string]uint64{"a0": 0x3ff}, 0, absent + "a0"},
		{arch.RISCV64, little, map[string]uint64{"tp": 0x4000001000}, 0x4000001004, ""},
		{arch.RISCV, little, map[string]uint64{"tp": 0x40001000}, 0x40001004, ""},
		{arch.PPC64, big, map[string]uint64{"r13": 0x4000008000}, 0x4000001004, ""},
		{arch.PPC, big, map[string]uint64{"r2": 0x40008000}, 0x40001004, ""},
		{arch.ARM64, little, map[string]uint64{"sp": 0x4000001000}, 0, absent + "tpidr_el0"},
		{arch.ARM, little, nil, 0, absent + "tpidruro"},
		{arch.MIPS, big, nil, 0, absent + "UserLocal"},
		{arch.X86, little, map[string]uint64{"$gs": 0x33}, 0, absent + "$gs.base"},
	} {
		d := tlsDump(c.arch, c.order, c.registers)
		if addr, why := tlsAddress(d, 0, 0, 4); addr != c.addr || why != c.why {
			t.Errorf("%s: %#x, %q, want %#x, %q", c.arch.Name, addr, why, c.addr, c.why)
		}
	}
	d := tlsDump(arch.RISCV64, little, map[string]uint64{"tp": 0x4000001000})
	if addr, why := tlsAddress(d, 0, 0, 0x14); why != "the program's block of thread-local storage is not known" {
		t.Errorf("after the block: %#x, %q", addr, why)
	}
	if addr, why := tlsAddress(d, 0, 1, 4); why != "the module's thread-local storage of the thread is not known" {
		t.Errorf("of a library: %#x, %q", addr, why)
	}
}

// The pointer may be outside the registers: in a note of a core, or where Crashpad writes it into minidumps.
// Windows has something else there.
func TestTLSAddressBesideRegisters(t *testing.T) {
	for _, c := range []struct {
		arch *arch.Arch
		os   dump.OS
		teb  uint64
		addr uint64
		why  string
	}{
		{arch.X86_64, dump.Linux, 0x7f0000001000, 0x7f0000000fec, ""},
		{arch.ARM64, dump.Android, 0x7f0000001000, 0x7f0000001014, ""},
		{arch.X86, dump.Linux, 0xf7001000, 0xf7000fec, ""},
		{arch.ARM64, dump.Linux, 0, 0, "the dump does not have the thread's pointer, tpidr_el0"},
		{arch.X86_64, dump.Windows, 0x7f0000001000, 0, "the dump does not have the thread's pointer, $fs.base"},
	} {
		d := tlsDump(c.arch, binary.LittleEndian, nil)
		d.System.OS, d.Threads[0].TEB = c.os, c.teb
		if addr, why := tlsAddress(d, 0, 0, 4); addr != c.addr || why != c.why {
			t.Errorf("%s, %v, %#x: %#x, %q, want %#x, %q", c.arch.Name, c.os, c.teb, addr, why, c.addr, c.why)
		}
	}
}
