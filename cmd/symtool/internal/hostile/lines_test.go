package hostile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
)

// sleb encodes a signed number as in DWARF (SLEB128).
func sleb(v int64) (out []byte) {
	for {
		b := byte(v & 0x7f)
		if v >>= 7; v == 0 && b&0x40 == 0 || v == -1 && b&0x40 != 0 {
			return append(out, b)
		}
		out = append(out, b|0x80)
	}
}

// tableOf returns a line table with its own header: the length of instructions,
// the number of operations in one, and the numbers of operands of the opcodes.
func tableOf(length, most byte, operands []byte, program []byte) []byte {
	var h, body, w die
	h.Write([]byte{length, most, 1, 0xfb, 14, byte(len(operands) + 1)})
	h.Write(operands)
	h.WriteString("\x00a.c\x00\x00\x00\x00\x00")
	body.u8(4, 0).u32(h.Len())
	body.Write(h.Bytes())
	body.Write(program)
	w.u32(body.Len())
	return append(w.Bytes(), body.Bytes()...)
}

var standardOperands = []byte{0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1}

// linePrograms are line programs, without their beginning and end.
var linePrograms = map[string]struct {
	n    int
	rows func(w *die, i, n int)
}{
	"addresses":           {20000, func(w *die, i, _ int) { rowsOf(w, i*7919%hostileCode).u8(3, 1, 1) }},
	"addresses-backwards": {20000, func(w *die, i, n int) { rowsOf(w, n-i).u8(1) }},
	"sequences": {8000, func(w *die, i, _ int) {
		rowsOf(w, i%0x800).u8(1, 2).uleb(0x800)
		sequenceEnd(w)
	}},
	"files": {20000, func(w *die, i, _ int) {
		w.u8(0).uleb(8).u8(3).str("b.c").u8(0, 0, 0).u8(4).uleb(i+2).u8(1, 2, 1)
	}},
	"far-lines":     {20000, func(w *die, _, _ int) { w.u8(3).Write(sleb(1 << 62)); w.u8(1) }},
	"far-addresses": {20000, func(w *die, _, _ int) { w.u8(2).Write(binary.AppendUvarint(nil, 1<<63+1)); w.u8(1) }},
	"empty-opcodes": {80000, func(w *die, _, _ int) { w.u8(0, 0, 1) }},
}

// hostileLines returns line tables and abbreviation tables.
func hostileLines() (kinds []hostileKind) {
	add := func(name string, n int, file func(n int) []byte) {
		kinds = append(kinds, hostileKind{name: name, n: n, files: hostileFiles{"m.elf": file}, commands: hostileELFCommands})
	}
	function := func(w *die) []byte { return w.u8(2).str("f").u64(hostileText).u64(hostileCode).Bytes() }
	file := func(table []byte) []byte { return dwarfOf(unitAbbrev+funcAbbrev, nil, function(&die{}), table) }
	for name, p := range linePrograms {
		add(name, p.n, func(n int) []byte {
			var w die
			rowsOf(&w, 0).times(n, func(i int) { p.rows(&w, i, n) })
			return file(tableOf(1, 1, standardOperands, sequenceEnd(&w).Bytes()))
		})
	}
	add("long-instructions", 80000, func(n int) []byte {
		var w die
		rowsOf(&w, 0).Write(bytes.Repeat([]byte{0xff, 8}, n))
		return file(tableOf(255, 255, standardOperands, sequenceEnd(&w).Bytes()))
	})
	add("opcodes-of-255-operands", 2000, func(n int) []byte {
		operands := append(bytes.Clone(standardOperands), bytes.Repeat([]byte{255}, 242)...)
		var w die
		rowsOf(&w, 0).Write(bytes.Repeat(append([]byte{13}, bytes.Repeat([]byte{1}, 255)...), n))
		return file(tableOf(1, 1, operands, sequenceEnd(&w).Bytes()))
	})
	add("tables-of-each-other", 2000, func(n int) []byte {
		abbrevs := unitAbbrev + funcAbbrev
		var units die
		units.times(n, func(i int) {
			unit := unitOf(0, (&die{}).u8(2).str(fmt.Sprint("f", i)).u64(hostileText+i).u64(1).Bytes())
			binary.LittleEndian.PutUint32(unit[11+1+2+16:], uint32(4*i)) // stmt_list
			units.Write(unit)
		})
		return dwarfOf(abbrevs, units.Bytes(), nil, append(bytes.Repeat([]byte{0xff, 0x7f, 0, 0}, n), make([]byte, 40000)...))
	})

	codes := func(code func(i int) uint64) func(n int) []byte {
		return func(n int) []byte {
			var w die
			abbrevs := []byte(unitAbbrev)
			w.times(n, func(i int) {
				uleb := binary.AppendUvarint(nil, code(i))
				abbrevs = append(append(abbrevs, uleb...), funcAbbrev[1:]...)
				w.Write(uleb)
				w.str("f").u64(hostileText + i%hostileCode).u64(1)
			})
			return dwarfOf(string(abbrevs), nil, w.Bytes(), nil)
		}
	}
	add("codes", 20000, codes(func(i int) uint64 { return uint64(i + 2) }))
	add("sparse-codes", 16000, codes(func(i int) uint64 { return 1<<40 + uint64(i)*12345 }))
	add("falling-codes", 16000, codes(func(i int) uint64 { return uint64(1)<<60 - uint64(i) }))
	add("same-code", 20000, codes(func(int) uint64 { return 2 }))
	add("sparse-tables", 2000, func(n int) []byte { // each has one code that is far from the others
		var units, abbrevs die
		units.times(n, func(int) {
			at := abbrevs.Len()
			abbrevs.WriteString(unitAbbrev + "\xff\x7f" + funcAbbrev[1:] + "\x00")
			var w die
			w.u8(0xff, 0x7f).str("f").u64(hostileText).u64(1)
			units.Write(unitOf(at, w.Bytes()))
		})
		return dwarfOf(strings.TrimSuffix(abbrevs.String(), "\x00"), units.Bytes(), nil, nil)
	})
	return kinds
}
