package hostile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// zstdSection returns a section that inflates to zeros.
func zstdSection(name string, size int) elfSec {
	var w die
	w.u32(int(elf.COMPRESS_ZSTD)).u32(0).u64(size).u64(1)
	z, err := zstd.NewWriter(&w, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	if _, err := z.Write(make([]byte, size)); err != nil {
		panic(err)
	}
	z.Close()
	return elfSec{name: name, typ: 1, flags: uint64(elf.SHF_COMPRESSED), data: w.Bytes()}
}

// xzSection returns a section of compressed data.
func xzSection(name string, data []byte) elfSec {
	var w bytes.Buffer
	z, err := xz.NewWriter(&w)
	if err != nil {
		panic(err)
	}
	if _, err := z.Write(data); err != nil {
		panic(err)
	}
	z.Close()
	return elfSec{name: name, typ: 1, data: w.Bytes()}
}

// armFile returns an executable for 32-bit ARM: code at 0x8000, an index of the unwind rules at 0x100000,
// and their table at 0x200000.
func armFile(index, table []byte) []byte {
	const names = "\x00.text\x00.ARM.exidx\x00.ARM.extab\x00.shstrtab\x00"
	code := bytes.Repeat([]byte{0, 0, 0xa0, 0xe1}, hostileCode/4)
	file := make([]byte, 0x1000)
	var sections []byte
	add := func(name string, typ, flags, addr uint32, data []byte) {
		file = append(file, make([]byte, -len(file)&3)...)
		sections = append(sections, pack(uint32(strings.Index(names, name)), typ, flags, addr, uint32(len(file)), uint32(len(data)), uint32(1), uint32(0), uint32(4), uint32(0))...)
		file = append(file, data...)
	}
	sections = make([]byte, 40)
	add(".text", 1, 6, 0x8000, code)
	at := []uint32{uint32(len(file)), 0}
	add(".ARM.exidx", 0x70000001, 2, 0x800000, index)
	at[1] = uint32(len(file))
	add(".ARM.extab", 1, 2, 0xa00000, table)
	add(".shstrtab", 3, 0, 0, []byte(names))
	file = append(file, make([]byte, -len(file)&3)...)
	phoff := len(file)
	segment := func(typ, off, addr, size uint32) {
		file = append(file, pack(typ, off, addr, addr, size, size, uint32(5), uint32(4))...)
	}
	segment(1, 0x1000, 0x8000, uint32(len(code)))
	segment(1, at[0], 0x800000, uint32(len(index)))
	segment(1, at[1], 0xa00000, uint32(len(table)))
	segment(0x70000001, at[0], 0x800000, uint32(len(index)))
	shoff := len(file)
	file = append(file, sections...)
	copy(file, "\x7fELF\x01\x01\x01")
	copy(file[16:], pack(uint16(2), uint16(40), uint32(1), uint32(0x8000), uint32(phoff), uint32(shoff), uint32(0x5000000), uint16(52), uint16(32), uint16(4), uint16(40), uint16(5), uint16(4)))
	return file
}

// prel31 returns a reference from one place to another.
func prel31(from, to int) uint32 { return uint32(to-from) & 0x7fffffff }

// relocatable makes an executable an object file, with n 64-bit relocations for .debug_info, whose
// section number is 2.
func relocatable(n int, target elfSec, place func(i int) int) []byte {
	var relocations die
	relocations.times(n, func(i int) { relocations.u64(place(i)).u64(1<<32 | 1).u64(i) })
	symbols := append(make([]byte, 24), pack(uint32(0), uint8(3), uint8(0), uint16(1), uint64(0), uint64(0))...)
	file := elfOf(target, elfSec{name: ".symtab", typ: 2, link: 4, entsize: 24, data: symbols}, elfSec{name: ".strtab", typ: 3, data: []byte{0}},
		elfSec{name: ".debug_abbrev", typ: 1, data: []byte(unitAbbrev + funcAbbrev + "\x00")},
		elfSec{name: ".rela.debug_info", typ: 4, link: 3, entsize: 24, data: relocations.Bytes()})
	binary.LittleEndian.PutUint16(file[16:], 1)
	// sh_info of the section before .shstrtab, the last one.
	shoff := binary.LittleEndian.Uint64(file[40:])
	binary.LittleEndian.PutUint32(file[shoff+6*64+44:], 2)
	return file
}

// skeletonsOf returns a program of n skeleton units whose split full units are in a.dwo. id returns the
// DWO ID of each.
func skeletonsOf(n int, id func(i int) int) []byte {
	const split = "\x01\x11\x00\xb0\x42\x08\xb1\x42\x07\x1b\x08\x00\x00" // GNU_dwo_name, GNU_dwo_id, comp_dir
	var w die
	w.times(n, func(i int) {
		var u die
		u.u8(4, 0).u32(0).u8(8).u8(1).str("a.dwo").u64(id(i)).str(".")
		w.u32(u.Len())
		w.Write(u.Bytes())
	})
	return dwarfOf(split, w.Bytes(), nil, nil)
}

// packageOf returns a package of n units with identical contributions, each with the given number of
// functions. A third of the slots of its table are free (DWARF 5, 7.3.5.3).
func packageOf(n, functions int) []byte {
	k := 1
	for k <= n+n/2 {
		k *= 2
	}
	table, hash := make([]int, k), make([]int, k)
	for i := range n {
		at := (i + 1) & (k - 1)
		for table[at] != 0 {
			at = (at + 1) & (k - 1)
		}
		table[at], hash[at] = i+1, i+1
	}
	return packageWith(n, table, hash, functions)
}

// fullPackage returns a package whose table has no free slot, with n units whose search begins at the
// same slot.
func fullPackage(n int) []byte {
	table, hash := make([]int, n), make([]int, n)
	for i := range n {
		table[i], hash[i] = i+1, i<<32+7
	}
	return packageWith(n, table, hash, 1)
}

func packageWith(n int, table, hash []int, functions int) []byte {
	var index, dies die
	dies.times(functions, func(i int) { dies.u8(2).str(fmt.Sprint("f", i)).u64(hostileText + i).u64(1) })
	unit := unitOf(0, dies.Bytes())
	abbrev := []byte(unitAbbrev + funcAbbrev + "\x00")
	index.u32(2).u32(2).u32(n).u32(len(table))
	for _, id := range hash {
		index.u64(id)
	}
	for _, row := range table {
		index.u32(row)
	}
	index.u32(1).u32(3) // DW_SECT_INFO, DW_SECT_ABBREV
	index.times(n, func(int) { index.u32(0).u32(0) })
	index.times(n, func(int) { index.u32(len(unit)).u32(len(abbrev)) })
	return elfOf(elfSec{name: ".debug_info.dwo", typ: 1, data: unit}, elfSec{name: ".debug_abbrev.dwo", typ: 1, data: abbrev},
		elfSec{name: ".debug_cu_index", typ: 1, data: index.Bytes()})
}

// hostileHolders returns files that contain other files, or refer to them.
func hostileHolders() (kinds []hostileKind) {
	add := func(name string, n int, file func(n int) []byte, commands []string, more ...hostileFiles) {
		files := hostileFiles{"m.elf": file}
		for _, m := range more {
			for name, f := range m {
				files[name] = f
			}
		}
		kinds = append(kinds, hostileKind{name: name, n: n, files: files, commands: commands})
	}
	add("zstd-zeros", 5000000, func(n int) []byte { return elfOf(zstdSection(".debug_info", n)) }, hostileELFCommands)
	add("zstd-sections", 100, func(n int) []byte {
		sections := make([]elfSec, n)
		for i := range sections {
			sections[i] = zstdSection(".debug_str", 1<<20)
		}
		return elfOf(sections...)
	}, hostileELFCommands)
	add("debugdata-zeros", 4, func(n int) []byte {
		return elfOf(xzSection(".gnu_debugdata", elfOf(elfSec{name: ".symtab", typ: 2, entsize: 24, data: make([]byte, n<<20)})))
	}, hostileELFCommands)
	add("debugdata-symbols", 20000, func(n int) []byte {
		inner := elfOf(symbolsOf([]byte("\x00"+strings.Repeat("a\x00", n)), n, func(i int) (int, int, int) { return 1 + 2*i, 16 * i % hostileCode, 16 })...)
		return elfOf(xzSection(".gnu_debugdata", inner))
	}, hostileELFCommands)
	add("debugdata-nested", 4, func(n int) []byte {
		file := elfOf()
		for range n {
			file = elfOf(xzSection(".gnu_debugdata", file))
		}
		return append(file, make([]byte, 1<<16*n)...)
	}, hostileELFCommands)

	add("exidx-one-table", 20000, func(n int) []byte {
		index := repeat(n, func(i int) []byte { return pack(prel31(0x800000+8*i, 0x8000+4*i), prel31(0x800004+8*i, 0xa00000)) })
		table := append(pack(uint32(0x81ff0000)), bytes.Repeat([]byte{0x04, 0x04, 0x04, 0x04}, 255)...) // the maximum number of words
		return armFile(index, append(table, make([]byte, 16*n)...))
	}, hostileELFCommands)
	add("exidx-same", 20000, func(n int) []byte {
		index := repeat(n, func(i int) []byte { return pack(prel31(0x800000+8*i, 0x8000), uint32(0x80a8b0b0)) })
		return armFile(index, nil)
	}, hostileELFCommands)
	add("exidx-reversed", 20000, func(n int) []byte {
		index := repeat(n, func(i int) []byte { return pack(prel31(0x800000+8*i, 0x8000+4*(n-i)), uint32(0x80a8b0b0)) })
		return armFile(index, nil)
	}, hostileELFCommands)

	add("relocations", 20000, func(n int) []byte {
		return relocatable(n, elfSec{name: ".debug_info", typ: 1, data: unitOf(0, make([]byte, 8*n))}, func(i int) int { return 32 + 8*i })
	}, hostileELFCommands)
	add("relocations-of-one-place", 20000, func(n int) []byte {
		return relocatable(n, elfSec{name: ".debug_info", typ: 1, data: unitOf(0, make([]byte, 64))}, func(int) int { return 32 })
	}, hostileELFCommands)

	member := func(i int) []byte {
		return fmt.Appendf(nil, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", fmt.Sprint("m", i, "/"), 0, 0, 0, "644", 0)
	}
	add("archive", 60000, func(n int) []byte { return append([]byte("!<arch>\n"), repeat(n, member)...) }, []string{
		"dump -o m.sym m.elf", "doctor m.elf", "resolve --binaries m.elf 1000", "convert --to json -o m.json m.elf", "lint --binary m.elf m.elf", "diff m.elf m.elf",
	})

	dwpCommands := append([]string{"dump --dwp m.dwp -o m.sym m.elf"}, hostileELFCommands[2:]...)
	ids := func(first int) func(n int) []byte {
		return func(n int) []byte { return skeletonsOf(n, func(i int) int { return first + i }) }
	}
	add("package", 4000, ids(1), dwpCommands, hostileFiles{"m.dwp": func(n int) []byte { return packageOf(n, 1) }})
	add("package-of-one-large-unit", 1000, ids(1), dwpCommands, hostileFiles{"m.dwp": func(n int) []byte { return packageOf(n, n) }})
	add("package-without-free-slots", 4096, func(n int) []byte { return skeletonsOf(n, func(i int) int { return i<<32 + 7 }) }, dwpCommands,
		hostileFiles{"m.dwp": fullPackage})
	add("package-of-other-units", 4096, func(n int) []byte { return skeletonsOf(n, func(i int) int { return (i+1_000_000)<<32 + 7 }) }, dwpCommands,
		hostileFiles{"m.dwp": fullPackage})

	// A file whose functions take their names from a supplementary file.
	link := elfSec{name: ".gnu_debugaltlink", typ: 1, data: []byte("m.alt\x00\x01\x02\x03\x04")}
	alt := func(n int) []byte {
		return elfOf(elfSec{name: ".debug_str", typ: 1, data: append(bytes.Repeat([]byte("s"), 20*n), 0)},
			elfSec{name: ".debug_info", typ: 1, data: unitOf(0, nil)}, elfSec{name: ".debug_abbrev", typ: 1, data: []byte(unitAbbrev + "\x00")},
			elfSec{name: ".note.gnu.build-id", typ: 7, flags: 2, addr: 0x800000, data: []byte("\x04\x00\x00\x00\x04\x00\x00\x00\x03\x00\x00\x00GNU\x00\x01\x02\x03\x04")})
	}
	add("alternate-names", 4000, func(n int) []byte {
		var w die
		w.times(n, func(i int) { w.u8(2).u32(i).u64(hostileText + i).u64(1) })
		return dwarfOf(unitAbbrev+"\x02\x2e\x00\x03\xa1\x3e\x11\x01\x12\x07\x00\x00", nil, w.Bytes(), nil, link)
	}, hostileELFCommands, hostileFiles{"m.alt": alt})

	// DWARF 5: lists and strings that are found by index.
	unit5 := func(dies []byte) []byte {
		var w, head die
		w.u8(5, 0, 1, 8).u32(0).u8(1).str("m").u64(hostileText).u64(hostileCode).u32(8).u32(12)
		w.Write(dies)
		w.u8(0)
		head.u32(w.Len())
		return append(head.Bytes(), w.Bytes()...)
	}
	const abbrev5 = "\x01\x11\x01\x03\x08\x11\x01\x12\x07\x72\x17\x74\x17\x00\x00" // name, low_pc, high_pc, str_offsets_base, rnglists_base
	table := func(name string, head func(w *die), data []byte) elfSec {
		var w, all die
		w.u8(5, 0)
		head(&w)
		w.Write(data)
		all.u32(w.Len())
		all.Write(w.Bytes())
		return elfSec{name: name, typ: 1, data: all.Bytes()}
	}
	offsets := func(n int, at func(i int) int) elfSec {
		return table(".debug_str_offsets", func(w *die) { w.u8(0, 0) }, repeat(n, func(i int) []byte { return pack(uint32(at(i))) }))
	}
	ranges := func(n, lists int, list func(w *die)) elfSec {
		var w die
		list(&w)
		return table(".debug_rnglists", func(w *die) { w.u8(8, 0).u32(lists) },
			append(repeat(lists, func(int) []byte { return pack(uint32(4 * lists)) }), w.Bytes()...))
	}
	add("rnglists", 2000, func(n int) []byte {
		var w die
		w.times(n, func(i int) { w.u8(2).str(fmt.Sprint("f", i)).uleb(i) })
		return dwarfOf(abbrev5+"\x02\x2e\x00\x03\x08\x55\x23\x00\x00", unit5(w.Bytes()), nil, nil, offsets(1, func(int) int { return 0 }), ranges(n, n, func(w *die) {
			w.times(n, func(i int) { w.u8(7).u64(hostileText + 3*i).uleb(1) }).u8(0)
		}))
	}, hostileELFCommands)
	add("str-offsets", 4000, func(n int) []byte {
		var w die
		w.times(n, func(i int) { w.u8(2).uleb(i).u64(hostileText + i).u64(1) })
		return dwarfOf(abbrev5+"\x02\x2e\x00\x03\x1a\x11\x01\x12\x07\x00\x00", unit5(w.Bytes()), nil, nil, offsets(n, func(i int) int { return i }),
			ranges(1, 1, func(w *die) { w.u8(0) }), elfSec{name: ".debug_str", typ: 1, data: append(bytes.Repeat([]byte("s"), 20*n), 0)})
	}, hostileELFCommands)
	add("loclists", 4000, func(n int) []byte {
		var w, list die
		w.times(n, func(i int) { w.u8(2).str(fmt.Sprint("f", i)).u64(hostileText + i).u64(1).u32(12) })
		list.times(n, func(i int) { list.u8(4).uleb(i).uleb(i+1).u8(1, 0x9c) }).u8(0)
		return dwarfOf(abbrev5+"\x02\x2e\x00\x03\x08\x11\x01\x12\x07\x40\x17\x00\x00", unit5(w.Bytes()), nil, nil, offsets(1, func(int) int { return 0 }),
			ranges(1, 1, func(w *die) { w.u8(0) }), table(".debug_loclists", func(w *die) { w.u8(8, 0).u32(0) }, list.Bytes()))
	}, hostileELFCommands)
	return kinds
}
