package hostile

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"strings"
)

// hostileELFCommands are commands that read m.elf, and files made from it.
var hostileELFCommands = []string{
	"dump -o m.sym m.elf",
	"dump --store s m.elf",
	"doctor m.elf",
	"lint --binary m.elf m.sym",
	"resolve --binaries m.elf 1000 1001 2000 101000",
	"convert --to json -o m.json m.elf",
	"diff --raw m.elf m.sym",
}

// elfSec is a section of a file made by hostileFile.
type elfSec struct {
	name              string
	typ, link         uint32
	flags, addr, size uint64 // size of a NOBITS section
	entsize           uint64
	data              []byte
}

// The code of the files, NOPs, and its address, which leaves room for a header.
const (
	hostileText = 0x401000
	hostileCode = 1 << 20
)

// elfSegment is a program header.
type elfSegment struct {
	typ, flags              uint32
	off, addr, size, memory uint64
}

// hostileFile makes an executable for x86-64 from its code and sections. segments are the
// program headers; nil stands for one that covers the code.
func hostileFile(code []byte, sections []elfSec, segments []elfSegment) []byte {
	le := binary.LittleEndian
	sections = append([]elfSec{{}, {name: ".text", typ: 1, flags: 6, addr: hostileText, data: code}}, sections...)
	names, offsets := []byte{0}, make([]uint32, len(sections)+1)
	place := func(name string) uint32 {
		at := len(names)
		names = append(append(names, name...), 0)
		return uint32(at)
	}
	known := map[string]uint32{"": 0}
	for i, s := range append(sections, elfSec{name: ".shstrtab"}) {
		at, ok := known[s.name]
		if !ok {
			at = place(s.name)
			known[s.name] = at
		}
		offsets[i] = at
	}
	sections = append(sections, elfSec{name: ".shstrtab", typ: 3, data: names})
	const textAt = 0x1000
	if segments == nil {
		segments = []elfSegment{{1, 5, textAt, hostileText, uint64(len(code)), uint64(len(code))}}
	}
	// The program headers follow all sections.
	file := make([]byte, textAt)
	var headers []byte
	for i, s := range sections {
		for len(file)%16 != 0 {
			file = append(file, 0)
		}
		size, at := uint64(len(s.data)), uint64(len(file))
		if s.typ == 8 {
			size = s.size
		}
		if i == 0 {
			at = 0
			if n := len(sections); n >= 0xff00 {
				size = uint64(n)
				s.link = uint32(n - 1)
			}
		}
		headers = le.AppendUint32(le.AppendUint32(headers, offsets[i]), s.typ)
		for _, v := range []uint64{s.flags, s.addr, at, size} {
			headers = le.AppendUint64(headers, v)
		}
		headers = le.AppendUint32(le.AppendUint32(headers, s.link), 0)
		headers = le.AppendUint64(le.AppendUint64(headers, 1), s.entsize)
		file = append(file, s.data...)
	}
	phoff := len(file)
	for _, p := range segments {
		file = le.AppendUint32(le.AppendUint32(file, p.typ), p.flags)
		for _, v := range []uint64{p.off, p.addr, p.addr, p.size, p.memory, 1} {
			file = le.AppendUint64(file, v)
		}
	}
	shoff := len(file)
	file = append(file, headers...)
	copy(file, "\x7fELF\x02\x01\x01")
	le.PutUint16(file[16:], 2)
	le.PutUint16(file[18:], 62)
	le.PutUint32(file[20:], 1)
	le.PutUint64(file[24:], hostileText)
	le.PutUint64(file[32:], uint64(phoff))
	le.PutUint64(file[40:], uint64(shoff))
	shnum, shstrndx := len(sections), len(sections)-1
	if shnum >= 0xff00 {
		shnum, shstrndx = 0, 0xffff
	}
	for i, v := range []int{64, 56, len(segments), 64, shnum, shstrndx} {
		le.PutUint16(file[52+2*i:], uint16(v))
	}
	return file
}

// elfOf returns a file with the given sections and 1 MB of NOPs.
func elfOf(sections ...elfSec) []byte {
	return hostileFile(bytes.Repeat([]byte{0x90}, hostileCode), sections, nil)
}

// die writes DIEs and tables.
type die struct{ bytes.Buffer }

func (w *die) u8(v ...int) *die {
	for _, b := range v {
		w.WriteByte(byte(b))
	}
	return w
}
func (w *die) u32(v int) *die {
	w.Write(binary.LittleEndian.AppendUint32(nil, uint32(v)))
	return w
}
func (w *die) u64(v int) *die {
	w.Write(binary.LittleEndian.AppendUint64(nil, uint64(v)))
	return w
}
func (w *die) str(s string) *die { w.WriteString(s); w.WriteByte(0); return w }
func (w *die) uleb(v int) *die   { w.Write(binary.AppendUvarint(nil, uint64(v))); return w }

// times calls f for each i below n.
func (w *die) times(n int, f func(i int)) *die {
	for i := range n {
		f(i)
	}
	return w
}

// Attributes and forms of the abbreviations below.
const (
	unitAbbrev  = "\x01\x11\x01\x03\x08\x11\x01\x12\x07\x10\x17\x13\x0b\x00\x00" // name, low_pc, high_pc, stmt_list, language
	funcAbbrev  = "\x02\x2e\x00\x03\x08\x11\x01\x12\x07\x00\x00"                 // name, low_pc, high_pc
	outerAbbrev = "\x02\x2e\x01\x03\x08\x11\x01\x12\x07\x00\x00"                 // the same with children
	nameAbbrev  = "\x04\x2e\x00\x03\x08\x00\x00"
	inlineAttrs = "\x31\x13\x11\x01\x12\x07\x58\x0b\x59\x0b\x00\x00" // origin, low_pc, high_pc, call file and line
	firstDIE    = 11 + 1 + 2 + 8 + 8 + 4 + 1                         // offset of what follows a unit's own DIE
)

// unitOf returns a unit of DWARF 4 in C++ that covers the code.
func unitOf(abbrev int, dies []byte) []byte {
	var w, head die
	w.u8(4, 0).u32(abbrev).u8(8).u8(1).str("m").u64(hostileText).u64(hostileCode).u32(0).u8(4)
	w.Write(dies)
	w.u8(0)
	head.u32(w.Len())
	return append(head.Bytes(), w.Bytes()...)
}

// linesOf returns a line table with one directory and some files.
func linesOf(dir string, files []string, program []byte) []byte {
	var h, body, w die
	h.u8(1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1)
	h.str(dir).u8(0)
	for _, f := range files {
		h.str(f).u8(1, 0, 0)
	}
	h.u8(0)
	body.u8(4, 0).u32(h.Len())
	body.Write(h.Bytes())
	body.Write(program)
	w.u32(body.Len())
	return append(w.Bytes(), body.Bytes()...)
}

// rowsOf begins a sequence of a line program at an address in the code.
func rowsOf(w *die, at int) *die { return w.u8(0, 9, 2).u64(hostileText + at) }

func sequenceEnd(w *die) *die { return w.u8(0, 1, 1) }

// dwarfOf returns a file with debug information. If info is nil, it has one unit.
func dwarfOf(abbrevs string, info, dies, lines []byte, more ...elfSec) []byte {
	if info == nil {
		info = unitOf(0, dies)
	}
	if lines == nil {
		var w die
		rowsOf(&w, 0).u8(1, 2).uleb(hostileCode)
		lines = linesOf("/src", []string{"a.c"}, sequenceEnd(&w).Bytes())
	}
	return elfOf(append([]elfSec{{name: ".debug_info", typ: 1, data: info}, {name: ".debug_abbrev", typ: 1, data: []byte(abbrevs + "\x00")},
		{name: ".debug_line", typ: 1, data: lines}}, more...)...)
}

// rangesOf returns a list of n ranges of one byte each.
func rangesOf(n int) elfSec {
	var w die
	w.times(n, func(i int) { w.u64(3 * i % hostileCode).u64(3*i%hostileCode + 1) }).u64(0).u64(0)
	return elfSec{name: ".debug_ranges", typ: 1, data: w.Bytes()}
}

// framesOf returns call frame information: a CIE with initial after its rules, and n
// FDEs.
func framesOf(name string, initial []byte, n int, fde func(i int) (at, size int, code []byte)) elfSec {
	var w die
	debug := name == ".debug_frame"
	entry := func(id int, b []byte) {
		for (len(b)+4)%8 != 4 {
			b = append(b, 0)
		}
		w.u32(len(b) + 4).u32(id)
		w.Write(b)
	}
	id := 0
	if debug {
		id = -1
	}
	entry(id, append([]byte("\x01\x00\x01\x78\x10\x0c\x07\x08\x90\x01"), initial...))
	for i := range n {
		at, size, code := fde(i)
		var b die
		b.u64(hostileText + at).u64(size)
		b.Write(code)
		id := w.Len() + 4
		if debug {
			id = 0
		}
		entry(id, b.Bytes())
	}
	flags, addr := uint64(2), uint64(0x900000)
	if debug {
		flags, addr = 0, 0
	} else {
		w.u32(0)
	}
	return elfSec{name: name, typ: 1, flags: flags, addr: addr, data: w.Bytes()}
}

// symbolsOf returns a symbol table with n symbols, and its string table.
func symbolsOf(names []byte, n int, symbol func(i int) (name, at, size int)) []elfSec {
	var w die
	w.u64(0).u64(0).u64(0).times(n, func(i int) {
		name, at, size := symbol(i)
		w.u32(name).u8(0x12, 0, 1, 0).u64(hostileText + at).u64(size)
	})
	return []elfSec{{name: ".symtab", typ: 2, link: 3, entsize: 24, data: w.Bytes()}, {name: ".strtab", typ: 3, data: names}}
}

// namedSymbols returns a file with n symbols.
func namedSymbols(n int, name func(i int) string) []byte {
	names := []byte{0}
	places := make([]int, n)
	for i := range places {
		places[i] = len(names)
		names = append(append(names, name(i)...), 0)
	}
	return elfOf(symbolsOf(names, n, func(i int) (int, int, int) { return places[i], 16 * i % hostileCode, 16 })...)
}

// zlibSection returns a section that inflates to zeros.
func zlibSection(name string, size int) elfSec {
	var w die
	w.u32(1).u32(0).u64(size).u64(1)
	z := zlib.NewWriter(&w)
	z.Write(make([]byte, size))
	z.Close()
	return elfSec{name: name, typ: 1, flags: 0x800, data: w.Bytes()}
}

// hostileELF returns programs whose headers, debug information, call frames or symbols
// contain far more references to each other than their size suggests.
func hostileELF() []hostileKind {
	var kinds []hostileKind
	add := func(name string, n int, file func(n int) []byte, more ...hostileFiles) {
		files := hostileFiles{"m.elf": file}
		for _, m := range more {
			for name, f := range m {
				files[name] = f
			}
		}
		kinds = append(kinds, hostileKind{name: strings.ReplaceAll(name, " ", "-"), n: n, files: files, commands: hostileELFCommands})
	}
	attrs := func(attr string, n int) string { return strings.Repeat(attr, n) + "\x00\x00" }
	function := func(w *die, name string, at, size int) { w.u8(2).str(name).u64(hostileText + at).u64(size) }

	for _, c := range []struct{ name, abbrev, die string }{
		{"functions of many attributes without bytes", "\x02\x2e\x00", "\x02"},
		{"inlined calls of many attributes without bytes", "\x02\x1d\x00", "\x02"},
		{"scopes of many attributes without bytes", "\x02\x13\x01", "\x02\x00"},
		{"variables of many attributes without bytes", "\x02\x34\x00", "\x02"},
	} {
		add(c.name, 16000, func(n int) []byte {
			return dwarfOf(unitAbbrev+c.abbrev+attrs("\x58\x21\x01", n), nil, bytes.Repeat([]byte(c.die), n), nil)
		})
	}
	add("units of many attributes without bytes", 8000, func(n int) []byte {
		unit := []byte("\x08\x00\x00\x00\x04\x00\x00\x00\x00\x00\x08\x01")
		return dwarfOf("\x01\x11\x00"+attrs("\x13\x21\x01", n), bytes.Repeat(unit, n), nil, nil)
	})
	add("functions of one range list", 2000, func(n int) []byte {
		var w die
		w.times(n, func(i int) { w.u8(2).str(fmt.Sprint("f", i)).u32(0) })
		return dwarfOf(unitAbbrev+"\x02\x2e\x00\x03\x08\x55\x17\x00\x00", nil, w.Bytes(), nil, rangesOf(n))
	})
	add("inlined calls of one range list", 2000, func(n int) []byte {
		var w die
		w.u8(4).str("g").u8(2).str("f").u64(hostileText).u64(hostileCode)
		w.times(n, func(int) { w.u8(3).u32(firstDIE).u32(0).u8(1, 1) }).u8(0)
		return dwarfOf(unitAbbrev+outerAbbrev+nameAbbrev+"\x03\x1d\x00\x31\x13\x55\x17\x58\x0b\x59\x0b\x00\x00", nil, w.Bytes(), nil, rangesOf(n))
	})
	add("functions over all code", 4000, func(n int) []byte {
		var w die
		w.times(n, func(i int) { function(&w, fmt.Sprint("f", i), i, hostileCode-2*i) })
		return dwarfOf(unitAbbrev+funcAbbrev, nil, w.Bytes(), nil)
	})
	add("functions over all lines", 4000, func(n int) []byte {
		var w, rows die
		w.times(n, func(i int) { function(&w, fmt.Sprint("f", i), i, 4*n-i) })
		rowsOf(&rows, 0).times(n, func(int) { rows.u8(0x21) })
		return dwarfOf(unitAbbrev+funcAbbrev, nil, w.Bytes(), linesOf("/", []string{"a.c"}, sequenceEnd(&rows).Bytes()))
	})
	add("nested inlined calls", 1000, func(n int) []byte {
		var w die
		w.u8(4).str("g").u8(2).str("f").u64(hostileText).u64(hostileCode)
		w.times(n, func(i int) { w.u8(3).u32(firstDIE).u64(hostileText+i).u64(hostileCode-2*i).u8(1, 1) })
		w.Write(make([]byte, n+1))
		return dwarfOf(unitAbbrev+outerAbbrev+nameAbbrev+"\x03\x1d\x01"+inlineAttrs, nil, w.Bytes(), nil)
	})
	add("overlapping inlined calls", 4000, func(n int) []byte {
		var w die
		w.u8(4).str("g").u8(2).str("f").u64(hostileText).u64(hostileCode)
		w.times(n, func(i int) { w.u8(3).u32(firstDIE).u64(hostileText+i).u64(hostileCode/2).u8(1, 1) }).u8(0)
		return dwarfOf(unitAbbrev+outerAbbrev+nameAbbrev+"\x03\x1d\x00"+inlineAttrs, nil, w.Bytes(), nil)
	})
	for _, c := range []struct {
		name string
		to   func(i, n int) int
	}{{"chain of origins", func(i, n int) int { return i + 1 }}, {"cycle of origins", func(i, n int) int { return (i + 1) % n }}} {
		add(c.name, 4000, func(n int) []byte {
			var w die
			w.times(n, func(i int) { w.u8(2).u32(firstDIE + 21*c.to(i, n)).u64(hostileText + i).u64(1) })
			w.u8(4).str("g")
			return dwarfOf(unitAbbrev+nameAbbrev+"\x02\x2e\x00\x31\x13\x11\x01\x12\x07\x00\x00", nil, w.Bytes(), nil)
		})
	}
	add("names within one string", 4000, func(n int) []byte {
		var w die
		w.times(n, func(i int) { w.u8(2).u32(i).u64(hostileText + i).u64(1) })
		return dwarfOf(unitAbbrev+"\x02\x2e\x00\x03\x0e\x11\x01\x12\x07\x00\x00", nil, w.Bytes(), nil,
			elfSec{name: ".debug_str", typ: 1, data: append(bytes.Repeat([]byte("s"), 20*n), 0)})
	})
	add("functions in one long namespace", 4000, func(n int) []byte {
		var w die
		w.u8(3).str(strings.Repeat("n", 10*n))
		w.times(n, func(i int) { function(&w, "f", i, 1) }).u8(0)
		return dwarfOf(unitAbbrev+funcAbbrev+"\x03\x39\x01\x03\x08\x00\x00", nil, w.Bytes(), nil)
	})
	add("functions in deep namespaces", 800, func(n int) []byte {
		var w die
		w.times(n, func(i int) { w.u8(3).str("n"); function(&w, "f", i, 1) })
		w.Write(make([]byte, n))
		return dwarfOf(unitAbbrev+funcAbbrev+"\x03\x39\x01\x03\x08\x00\x00", nil, w.Bytes(), nil)
	})
	add("overlapping sequences", 8000, func(n int) []byte {
		var w, rows die
		function(&w, "f", 0, hostileCode)
		rows.times(n, func(i int) { sequenceEnd(rowsOf(&rows, i).u8(1, 2).uleb(hostileCode / 2)) })
		return dwarfOf(unitAbbrev+funcAbbrev, nil, w.Bytes(), linesOf("/", []string{"a.c"}, rows.Bytes()))
	})
	add("files in one long folder", 4000, func(n int) []byte {
		var w, rows die
		files := make([]string, n)
		for i := range files {
			files[i] = fmt.Sprint("f", i)
		}
		function(&w, "f", 0, hostileCode)
		rowsOf(&rows, 0).times(n, func(i int) { rows.u8(4).uleb(1 + i).u8(0x21) })
		return dwarfOf(unitAbbrev+funcAbbrev, nil, w.Bytes(), linesOf("/"+strings.Repeat("d", 10*n), files, sequenceEnd(&rows).Bytes()))
	})
	add("units of one large abbreviation table", 4000, func(n int) []byte {
		var w, dies die
		function(&dies, "f", 0, 1)
		w.times(n, func(int) { w.Write(unitOf(0, dies.Bytes())) })
		return dwarfOf(unitAbbrev+funcAbbrev+strings.Repeat("\x03\x2e\x00\x03\x08\x00\x00", n), w.Bytes(), nil, nil)
	})
	add("units that each begin another table within one", 2000, func(n int) []byte {
		var w die
		w.times(n, func(i int) { w.Write(unitOf(len(unitAbbrev)*i, nil)) })
		return dwarfOf(strings.Repeat(unitAbbrev, n), w.Bytes(), nil, nil)
	})
	split := "\x01\x11\x00\xb0\x42\x08\xb1\x42\x07\x1b\x08\x00\x00" // GNU_dwo_name, GNU_dwo_id, comp_dir
	for _, c := range []struct {
		name string
		id   func(i int) int
	}{{"skeletons of one file with one id", func(int) int { return 7 }}, {"skeletons of one file", func(i int) int { return i }}} {
		half := func(n int) []byte {
			var w die
			w.times(n, func(i int) { w.Write(unitOf(0, nil)) })
			return elfOf(elfSec{name: ".debug_info.dwo", typ: 1, data: w.Bytes()}, elfSec{name: ".debug_abbrev.dwo", typ: 1, data: []byte(unitAbbrev + "\x00")})
		}
		add(c.name, 1000, func(n int) []byte {
			var w die
			w.times(n, func(i int) {
				var u die
				u.u8(4, 0).u32(0).u8(8).u8(1).str("a.dwo").u64(c.id(i)).str(".")
				w.u32(u.Len())
				w.Write(u.Bytes())
			})
			return dwarfOf(split, w.Bytes(), nil, nil)
		}, hostileFiles{"a.dwo": half})
	}
	add("type units with one signature", 8000, func(n int) []byte {
		var types, w die
		types.times(n, func(i int) {
			var u die
			u.u8(4, 0).u32(0).u8(8).u64(5).u32(23).u8(5).str("t").u8(0)
			types.u32(u.Len())
			types.Write(u.Bytes())
		})
		w.times(n, func(i int) { w.u8(2).u64(5).u64(hostileText + i).u64(1) })
		return dwarfOf(unitAbbrev+"\x02\x2e\x00\x47\x20\x11\x01\x12\x07\x00\x00\x05\x41\x00\x03\x08\x00\x00", nil, w.Bytes(), nil,
			elfSec{name: ".debug_types", typ: 1, data: types.Bytes()})
	})

	row := []byte("\x41\x0e\x10\x41\x0e\x08")
	pieces := func(i int) (int, int, []byte) { return 16 * i % hostileCode, 16, row[:3] }
	all := func(code []byte) func(int) (int, int, []byte) {
		return func(int) (int, int, []byte) { return 0, hostileCode, code }
	}
	expression := func(n int) []byte {
		var w die
		w.u8(0x16, 3).uleb(2+2*n).u8(0x77, 8)
		w.Write(bytes.Repeat([]byte{0x23, 1}, n))
		return w.Bytes()
	}
	for _, section := range []string{".eh_frame", ".debug_frame"} {
		frames := func(name string, n int, s func(n int) elfSec) {
			add(section+" "+name, n, func(n int) []byte { return elfOf(s(n)) })
		}
		frames("of one long CIE", 4000, func(n int) elfSec { return framesOf(section, bytes.Repeat([]byte{0x86, 2}, n), n, pieces) })
		frames("of one long expression", 4000, func(n int) elfSec { return framesOf(section, expression(5*n), n, pieces) })
		frames("with nested states", 8000, func(n int) elfSec {
			code := append(bytes.Repeat([]byte{0x0a}, n), bytes.Repeat([]byte{0x0b, 0x41}, n)...)
			return framesOf(section, nil, 1, all(code))
		})
		frames("of many rows", 8000, func(n int) elfSec { return framesOf(section, nil, 1, all(bytes.Repeat(row, n))) })
		frames("of rows with one long expression", 8000, func(n int) elfSec {
			return framesOf(section, expression(min(n, 20000)), 1, all(bytes.Repeat([]byte("\x08\x03\x41\xc3\x41"), n)))
		})
		frames("over each other", 8000, func(n int) elfSec {
			return framesOf(section, nil, n, func(i int) (int, int, []byte) { return i, hostileCode / 2, row })
		})
	}

	add("symbols of one name", 4000, func(n int) []byte {
		return elfOf(symbolsOf([]byte("\x00"+strings.Repeat("_", 60*n)+"\x00"), n, func(i int) (int, int, int) { return 1, 0, i })...)
	})
	add("symbols within one name", 4000, func(n int) []byte {
		return elfOf(symbolsOf([]byte("\x00"+strings.Repeat("a", 60*n)+"\x00"), n, func(i int) (int, int, int) { return 1 + i, i, 1 })...)
	})
	add("symbols at one address", 8000, func(n int) []byte {
		return elfOf(symbolsOf([]byte("\x00"+strings.Repeat("a\x00", n)), n, func(i int) (int, int, int) { return 1 + 2*i, 0, i })...)
	})
	for name, shape := range map[string]func(i int) string{
		"symbols of nested types":  func(i int) string { return fmt.Sprintf("_Z5f%04d%si", i%10000, strings.Repeat("A5_", 3000)) },
		"symbols of nested scopes": func(i int) string { return fmt.Sprintf("_ZN4%04d%sEv", i%10000, strings.Repeat("1a", 4000)) },
		"symbols of references": func(i int) string {
			return fmt.Sprintf("_Z5f%04d1AI%sE%s", i%10000, strings.Repeat("1b", 2000), strings.Repeat("S0_", 2000))
		},
		"symbols of tags":          func(i int) string { return fmt.Sprintf("_Z5f%04d%sv", i%10000, strings.Repeat("B1a", 1000)) },
		"symbols of doubled types": func(i int) string { return doubledName(i, 14) },
		"symbols of doubled tuples": func(i int) string {
			return fmt.Sprintf("_RINvC1a5f%04dTuuE%sE", i%10000, strings.Repeat("TBd_Bd_E", 1000))
		},
	} {
		n := 60
		if strings.Contains(name, "doubled types") {
			n = 3000
		}
		add(name, n, func(n int) []byte { return namedSymbols(n, shape) })
	}

	add("sections of one name", 4000, func(n int) []byte {
		sections := make([]elfSec, n)
		for i := range sections {
			sections[i] = elfSec{name: strings.Repeat("n", 4000), typ: 1}
		}
		return elfOf(sections...)
	})
	add("sections of code over each other", 16400, func(n int) []byte {
		sections := make([]elfSec, n)
		for i := range sections {
			sections[i] = elfSec{name: fmt.Sprint(".text", i), typ: 8, flags: 6, addr: hostileText + uint64(i), size: hostileCode}
		}
		return elfOf(sections...)
	})
	add("segments over each other", 15000, func(n int) []byte {
		segments := make([]elfSegment, n)
		for i := range segments {
			segments[i] = elfSegment{1, 5, 0x1000, hostileText + uint64(i)%4096, 1 << 16, 1 << 16}
		}
		return hostileFile(bytes.Repeat([]byte{0x90}, hostileCode), nil, segments)
	})
	add("notes", 40000, func(n int) []byte {
		return elfOf(elfSec{name: ".note", typ: 7, flags: 2, addr: 0x800000, data: bytes.Repeat([]byte("\x04\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00GNU\x00"), n)})
	})
	add("compressed zeros", 2000000, func(n int) []byte { return elfOf(zlibSection(".debug_info", n)) })
	add("compressed sections", 100, func(n int) []byte {
		sections := make([]elfSec, n)
		for i := range sections {
			sections[i] = zlibSection(".debug_str", 1<<20)
		}
		return elfOf(sections...)
	})

	code := func(name string, n int, code func(n int) []byte) {
		add(name, n, func(n int) []byte {
			text := code(n)
			return hostileFile(text, []elfSec{framesOf(".eh_frame", nil, 1, func(int) (int, int, []byte) { return 0, len(text), nil })}, nil)
		})
	}
	code("function of NOPs", 250000, func(n int) []byte { return bytes.Repeat([]byte{0x90}, n) })
	code("function of jumps back", 30000, func(n int) []byte {
		var w die
		w.times(n, func(i int) { w.u8(0x50, 0x0f, 0x84).u32(-(7*i + 7)) }) // push; je to the first
		return w.Bytes()
	})
	code("function of jumps to the next", 100000, func(n int) []byte { return bytes.Repeat([]byte("\x50\x74\x00"), n) })
	code("function of calls", 40000, func(n int) []byte { return bytes.Repeat([]byte("\xe8\x10\x20\x30\x00"), n) })
	code("function of indirect jumps", 100000, func(n int) []byte { return bytes.Repeat([]byte("\xff\xe0"), n) })
	return kinds
}

// doubledName returns a mangled name in which each type refers to the previous one twice.
func doubledName(i, levels int) string {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	name := fmt.Sprintf("_Z5f%04d1AIiiE", i%10000)
	for k := range levels {
		name += fmt.Sprintf("S_IS%c_S%[1]c_E", digits[k])
	}
	return name
}
