package hostile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
)

// hostileDIECommands are commands that read m.elf, including all of its variables.
var hostileDIECommands = append([]string{"dump --vars all -o vars.sym m.elf"}, hostileELFCommands...)

// table5 returns a DWARF 5 line table: how directories and files are described, how many there are, and their
// bytes.
func table5(directories, files []byte, numbers [2]uint64, data [2][]byte, program []byte) []byte {
	var h, body, w die
	h.Write([]byte{1, 1, 1, 0xfb, 14, 13})
	h.Write(standardOperands)
	for i, format := range [][]byte{directories, files} {
		h.u8(len(format) / 2)
		h.Write(format)
		h.Write(binary.AppendUvarint(nil, numbers[i]))
		h.Write(data[i])
	}
	body.u8(5, 0, 8, 0).u32(h.Len())
	body.Write(h.Bytes())
	body.Write(program)
	w.u32(body.Len())
	return append(w.Bytes(), body.Bytes()...)
}

// importing returns n partial units that each import the next one twice, by DIEs with the given tag. The last unit
// imports the first.
func importing(n, tag int) []byte {
	abbrevs := unitAbbrev + funcAbbrev + "\x03\x3c\x01\x10\x17\x00\x00" + "\x04" + string(byte(tag)) + "\x00\x18\x10\x00\x00"
	var info die
	const size = 11 + 1 + 4 + 2*5 + 1
	info.times(n, func(i int) {
		next := (i + 1) % n * size
		info.u32(size-4).u8(4, 0).u32(0).u8(8).u8(3).u32(0).u8(4).u32(next + 11).u8(4).u32(next + 11).u8(0)
	})
	var dies die
	dies.u8(2).str("f").u64(hostileText).u64(hostileCode).u8(4).u32(11)
	info.Write(unitOf(0, dies.Bytes()))
	return dwarfOf(abbrevs, info.Bytes(), nil, nil)
}

// hostileDIEs returns trees of DIEs that are deep, refer to each other in circles or list much in few bytes, and
// DWARF 5 tables with wrong counts.
func hostileDIEs() (kinds []hostileKind) {
	add := func(name string, n int, file func(n int) []byte) {
		kinds = append(kinds, hostileKind{name: name, n: n, more: hostileTypes, files: hostileFiles{"m.elf": file}, commands: hostileDIECommands})
	}
	function := func(w *die, name string, at, size int) *die { return w.u8(2).str(name).u64(hostileText + at).u64(size) }
	var rows die
	rowsOf(&rows, 0).u8(1, 2).uleb(16)
	program := sequenceEnd(&rows).Bytes()
	one := func(table []byte, more ...elfSec) []byte {
		var w die
		return dwarfOf(unitAbbrev+funcAbbrev, nil, function(&w, "f", 0, hostileCode).Bytes(), table, more...)
	}
	counts := func(format []byte, number uint64) func(n int) []byte {
		return func(n int) []byte {
			var units, lines die
			units.times(n, func(i int) {
				var w die
				unit := unitOf(0, function(&w, "f", i, 1).Bytes())
				binary.LittleEndian.PutUint32(unit[11+1+2+16:], uint32(lines.Len()))
				units.Write(unit)
				lines.Write(table5(format, format, [2]uint64{number, number}, [2][]byte{}, program))
			})
			return dwarfOf(unitAbbrev+funcAbbrev, units.Bytes(), nil, lines.Bytes())
		}
	}
	add("files-without-columns", 2000, counts(nil, 1<<32))
	add("files-without-bytes", 2000, counts([]byte{1, 0x19}, 1<<40))
	add("files-of-many-columns", 20000, func(n int) []byte {
		format := append([]byte{1, 0x0b}, bytes.Repeat([]byte{0x7f, 0x19}, 126)...)
		return one(table5(nil, format, [2]uint64{0, uint64(n)}, [2][]byte{nil, bytes.Repeat([]byte("a"), n)}, program))
	})
	add("files-of-one-string", 4000, func(n int) []byte {
		names := repeat(n, func(i int) []byte { return pack(uint32(i)) })
		var w die
		rowsOf(&w, 0).times(n, func(i int) { w.u8(4).uleb(i).u8(1, 2, 1) })
		table := table5([]byte{1, 8}, []byte{1, 0x1f}, [2]uint64{1, uint64(n)}, [2][]byte{[]byte("/d\x00"), names}, sequenceEnd(&w).Bytes())
		return one(table, elfSec{name: ".debug_line_str", typ: 1, data: append(bytes.Repeat([]byte("x"), n), 0)})
	})
	add("units-of-one-line-table", 2000, func(n int) []byte {
		var units, w die
		units.times(n, func(i int) {
			var dies die
			units.Write(unitOf(0, function(&dies, fmt.Sprint("f", i), i, 1).Bytes()))
		})
		files := make([]string, n)
		for i := range files {
			files[i] = fmt.Sprint(i, ".c")
		}
		rowsOf(&w, 0).Write(bytes.Repeat([]byte{0x3c}, n))
		return dwarfOf(unitAbbrev+funcAbbrev, units.Bytes(), nil, linesOf("/", files, sequenceEnd(&w).Bytes()))
	})
	add("imported-units", 5000, func(n int) []byte { return importing(n, 0x3d) })
	add("imported-declarations", 5000, func(n int) []byte { return importing(n, 0x08) })
	add("functions-in-each-other", 20000, func(n int) []byte {
		var w die
		w.times(n, func(i int) { function(&w, fmt.Sprint("f", i), 0, hostileCode) })
		w.Write(make([]byte, n))
		return dwarfOf(unitAbbrev+outerAbbrev, nil, w.Bytes(), nil)
	})
	add("functions-in-blocks", 8000, func(n int) []byte {
		var w die
		w.times(n, func(i int) { function(&w, fmt.Sprint("f", i), i, hostileCode-i).u8(3) })
		w.Write(make([]byte, 2*n))
		return dwarfOf(unitAbbrev+outerAbbrev+"\x03\x0b\x01\x00\x00", nil, w.Bytes(), nil)
	})
	add("functions-in-inlined-calls", 4000, func(n int) []byte {
		var w die
		w.u8(4).str("g")
		w.times(n, func(i int) {
			function(&w, fmt.Sprint("f", i), 0, hostileCode).u8(3).u32(firstDIE).u64(hostileText).u64(hostileCode).u8(1, 1)
		})
		w.Write(make([]byte, 2*n))
		return dwarfOf(unitAbbrev+outerAbbrev+nameAbbrev+"\x03\x1d\x01"+inlineAttrs, nil, w.Bytes(), nil)
	})
	add("type-units-in-a-circle", 5000, func(n int) []byte {
		var types, w die
		types.times(n, func(i int) {
			var u die
			u.u8(4, 0).u32(0).u8(8).u64(i).u32(24).u8(5).u8(4).u64((i + 1) % n).u8(0)
			types.u32(u.Len())
			types.Write(u.Bytes())
		})
		w.times(n, func(i int) { w.u8(2).u64(i).u64(hostileText + i).u64(1) })
		return dwarfOf(unitAbbrev+"\x02\x2e\x00\x47\x20\x11\x01\x12\x07\x00\x00\x05\x41\x01\x00\x00\x04\x2e\x00\x47\x20\x3c\x19\x00\x00", nil, w.Bytes(), nil,
			elfSec{name: ".debug_types", typ: 1, data: types.Bytes()})
	})
	ranged := func(name string, n int, at func(i int) int, list func(w *die, i int)) {
		add(name, n, func(n int) []byte {
			var w, ranges die
			w.times(n, func(i int) { w.u8(2).str(fmt.Sprint("f", i)).u32(at(i)) })
			ranges.times(n, func(i int) { list(&ranges, i) }).u64(0).u64(0)
			return dwarfOf(unitAbbrev+"\x02\x2e\x00\x03\x08\x55\x17\x00\x00", nil, w.Bytes(), nil, elfSec{name: ".debug_ranges", typ: 1, data: ranges.Bytes()})
		})
	}
	ranged("ranges-that-are-empty", 4000, func(int) int { return 0 }, func(w *die, _ int) { w.u64(5).u64(5) })
	ranged("ranges-within-each-other", 3000, func(i int) int { return 16 * i }, func(w *die, i int) { w.u64(3 * i % hostileCode).u64(3*i%hostileCode + 1) })
	ranged("bases-of-ranges", 4000, func(i int) int { return 0 }, func(w *die, i int) { w.u64(-1).u64(hostileText + i) })
	add("a-CIE-each", 10000, func(n int) []byte {
		var w die
		w.times(n, func(i int) {
			at := w.Len()
			w.u32(20).u32(-1).u8(4, 0, 8, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1, 0, 0, 0, 0)
			w.u32(24).u32(at).u64(hostileText+8*i).u64(8).u8(0x41, 0x0e, 0x10, 0)
		})
		return elfOf(elfSec{name: ".debug_frame", typ: 1, data: w.Bytes()})
	})
	add("expressions-of-copies", 100000, func(n int) []byte {
		return elfOf(framesOf(".debug_frame", nil, 8, func(i int) (int, int, []byte) {
			return 16 * i, 16, []byte("\x0f" + string(binary.AppendUvarint(nil, uint64(n/4))) + strings.Repeat("\x12", n/4))
		}))
	})
	return kinds
}
