package hostile

import "encoding/binary"

// linuxNote returns a note of Linux's own, such as a set of registers.
func linuxNote(kind uint32, data []byte) []byte {
	b := append(pack(uint32(6), uint32(len(data)), kind), "LINUX\x00\x00\x00"...)
	b = append(b, data...)
	return append(b, make([]byte, -len(b)&3)...)
}

// hostileRegsets returns cores with sets of registers whose layouts depend on the machine.
func hostileRegsets() (kinds []hostileKind) {
	memory := framePointers(1 << 12)
	add := func(name string, n int, machine uint16, notes func(n int) []byte) {
		kinds = append(kinds, hostileKind{name: name, n: n, commands: hostileCoreCommands, files: hostileFiles{"m.core": func(n int) []byte {
			data := coreOf(append(coreThread(0), notes(n)...), []elfSegment{{1, 6, 0, mdStack, uint64(len(memory)), uint64(len(memory))}}, memory)
			binary.LittleEndian.PutUint16(data[18:], machine)
			return data
		}}})
	}
	const amd64, arm64, riscv = 62, 183, 243
	area := func(mask uint64) []byte {
		b := make([]byte, 2688)
		binary.LittleEndian.PutUint64(b[512:], mask)
		return b
	}
	add("xsave-layout-components", 20000, amd64, func(n int) []byte {
		layout := repeat(n, func(i int) []byte { return pack(uint32(i%70), uint32(0), uint32(64), uint32(576+i%2000)) })
		return append(linuxNote(0x202, area(0xff)), linuxNote(0x205, layout)...)
	})
	add("xsave-layouts", 5000, amd64, func(n int) []byte {
		return append(linuxNote(0x202, area(0xff)), repeat(n, func(i int) []byte { return linuxNote(0x205, pack(uint32(2), uint32(0), uint32(256), uint32(576+i))) })...)
	})
	add("xsave-notes", 500, amd64, func(n int) []byte {
		return repeat(n, func(i int) []byte { return linuxNote(0x202, area(uint64(i))) })
	})
	sve := func(vl int, flags uint16, rest int) []byte {
		return linuxNote(0x405, append(pack(uint32(16+rest), uint32(16+rest), uint16(vl), uint16(vl), flags, uint16(0)), make([]byte, rest)...))
	}
	add("sve-notes", 5000, arm64, func(n int) []byte { return repeat(n, func(i int) []byte { return sve(i, uint16(i), 64) }) })
	add("sve-long", 4, arm64, func(n int) []byte { return repeat(n, func(int) []byte { return sve(8192, 1, 34*8192) }) })
	add("rvv-notes", 5000, riscv, func(n int) []byte {
		return repeat(n, func(i int) []byte {
			return linuxNote(0x901, pack(uint64(0), uint64(0), uint64(0), uint64(0), uint64(1)<<(i%64), uint64(i)))
		})
	})
	return kinds
}
