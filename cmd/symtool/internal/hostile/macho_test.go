package hostile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
)

// Load commands and types in <mach-o/loader.h>, <mach-o/nlist.h> and <mach-o/fat.h>.
const (
	machoSymtab      = 0x2
	machoSegment     = 0x19
	machoUUID        = 0x1b
	machoRpath       = 0x8000001c
	machoStarts      = 0x26
	machoExportsTrie = 0x80000033

	stabFunction = 0x24
	stabSource   = 0x64
	stabObject   = 0x66
	nlistCode    = 0x0f // external, in a section

	machoText = 0x100001000

	// The memory that these may take in addition: the frames at 128 K of code are known at the same time, and
	// functions of one byte have a record of 50 bytes each. Names in a trie share their prefixes, and may be many
	// times as large as the trie.
	hostileFlow    = 192 << 20
	hostileExports = 256 << 20
)

// machoSec is a section of __TEXT, or the data of a load command.
type machoSec struct {
	name string
	data []byte
}

// machoFile makes an executable for x86-64 from its code, other sections of __TEXT, the data in __LINKEDIT by the
// numbers of the load commands that describe it, and further load commands. For LC_SYMTAB, the data is the symbols,
// followed by a zero and names.
func machoFile(code []byte, sections []machoSec, linkedit map[int][]byte, names, commands []byte) []byte {
	sections = append([]machoSec{{"__text", code}}, sections...)
	var load, body die
	n := 2 + len(linkedit)
	headers := 32 + 72 + 80*len(sections) + 24 + 24*len(linkedit) + len(commands)
	for at := headers; at%0x1000 != 0; at++ {
		body.WriteByte(0)
	}
	start := headers + body.Len()
	seg := func(name string) { load.WriteString(name + strings.Repeat("\x00", 16-len(name))) }
	total := 0
	for _, s := range sections {
		total += len(s.data)
	}
	load.u32(machoSegment).u32(72 + 80*len(sections))
	seg("__TEXT")
	load.u64(machoText - start).u64(start + total).u64(0).u64(start + total).u32(5).u32(5).u32(len(sections)).u32(0)
	for i, s := range sections {
		flags := 0
		if i == 0 {
			flags = 0x80000400 // instructions
		}
		seg(s.name)
		seg("__TEXT")
		load.u64(machoText + body.Len() - (start - headers)).u64(len(s.data)).u32(headers + body.Len()).u32(0).u32(0).u32(0).u32(flags).u32(0).u32(0).u32(0)
		body.Write(s.data)
	}
	load.u32(machoUUID).u32(24)
	load.WriteString("hostile Mach-O\x01\x02")
	for _, cmd := range []int{machoSymtab, machoStarts, machoExportsTrie} {
		data, ok := linkedit[cmd]
		if !ok {
			continue
		}
		at := headers + body.Len()
		body.Write(data)
		if cmd == machoSymtab {
			load.u32(cmd).u32(24).u32(at).u32(len(data) / 16).u32(at + len(data)).u32(len(names))
			body.Write(names)
		} else {
			load.u32(cmd).u32(16).u32(at).u32(len(data)).u64(0) // padded so that all have the same size
			binary.LittleEndian.PutUint32(load.Bytes()[load.Len()-20:], 24)
		}
	}
	load.Write(commands)
	n += bytes.Count(commands, binary.LittleEndian.AppendUint32(nil, machoRpath))
	var file die
	file.u32(0xfeedfacf).u32(0x01000007).u32(3).u32(2).u32(n).u32(load.Len()).u32(0x200085).u32(0)
	file.Write(load.Bytes())
	file.Write(body.Bytes())
	return file.Bytes()
}

// machoSymbol writes a symbol.
func (w *die) machoSymbol(name, typ, section, value int) {
	w.u32(name).u8(typ, section, 0, 0).u64(value)
}

// hostileMachO returns files with structures that readers of Mach-O must limit: tables that refer to each other,
// tries with shared nodes, and code that is followed again and again.
func hostileMachO() []hostileKind {
	var kinds []hostileKind
	more := int64(0)
	add := func(name string, n int, file func(n int) []byte) {
		kinds = append(kinds, hostileKind{more: more, name: strings.ReplaceAll(name, " ", "-"), n: n, files: hostileFiles{"m": file}, commands: []string{
			"dump -o m.sym m", "dump --store s m", "doctor m", "lint --binary m m.sym", "resolve --binaries m 1000 1001 2000",
		}})
	}
	nops := func(n int) []byte { return bytes.Repeat([]byte{0x90}, n) }

	add("load commands", 60000, func(n int) []byte {
		var w die
		w.times(n, func(int) { w.u32(machoRpath).u32(16).u32(12).str("abc") })
		return machoFile(nops(64), nil, nil, nil, w.Bytes())
	})
	more = hostileExports
	trie := func(name string, n int, data func(n int) []byte) {
		add(name, n, func(n int) []byte {
			return machoFile(nops(4096), nil, map[int][]byte{machoExportsTrie: data(n)}, nil, nil)
		})
	}
	const node = 9 // bytes of a node that leads to the next: no export, one child, "a", the child's offset in five bytes
	next := func(at int) string {
		return string([]byte{byte(at) | 0x80, byte(at>>7) | 0x80, byte(at>>14) | 0x80, byte(at>>21) | 0x80, byte(at >> 28)})
	}
	trie("exports of a name each longer", 60000, func(n int) []byte {
		var w die
		w.times(n, func(i int) { w.u8(2, 0, 1, 1).str("a").WriteString(next((node + 2) * (i + 1))) })
		w.u8(2, 0, 1, 0)
		return w.Bytes()
	})
	trie("exports of shared nodes", 40000, func(n int) []byte {
		var w die
		const size = 2 + 7 + 7
		w.times(n, func(i int) {
			w.u8(0, 2)
			w.str("a").WriteString(next(size * (i + 1)))
			w.str("b").WriteString(next(size * (i + 1)))
		})
		w.u8(2, 0, 1, 0)
		return w.Bytes()
	})
	trie("exports of long names at the root", 2000, func(n int) []byte {
		var w die
		w.u8(0, 255)
		w.times(255, func(i int) { w.str(strings.Repeat(string(rune('A'+i%50)), n/10) + fmt.Sprint(i)).WriteString(next(0)) })
		return w.Bytes()
	})

	more = 0
	unwind := func(name string, n int, info func(n int) []byte, code func(n int) []byte) {
		add(name, n, func(n int) []byte { return machoFile(code(n), []machoSec{{"__unwind_info", info(n)}}, nil, nil, nil) })
	}
	// pages makes an index of pages, all of which are at the same place, with entries of one encoding.
	pages := func(pages, entries, encoding int) []byte {
		var w die
		at := 28 + 12*(pages+1)
		w.u32(1).u32(28).u32(0).u32(28).u32(0).u32(28).u32(pages + 1)
		w.times(pages+1, func(i int) {
			if i == pages {
				at = 0
			}
			w.u32(0x1000 + i).u32(at).u32(0)
		})
		w.u32(2).u32(8 | entries<<16)
		w.times(entries, func(i int) { w.u32(0x1000 + i).u32(encoding) })
		return w.Bytes()
	}
	unwind("pages at one place", 2000, func(n int) []byte { return pages(n, n, 0x01000000) }, nops)
	unwind("pages without entries", 60000, func(n int) []byte { return pages(n, 0, 0) }, nops)
	unwind("entries of unknown modes", 12000, func(n int) []byte { return pages(1, n, 0x0f000000) }, nops)
	unwind("entries of no information", 12000, func(n int) []byte { return pages(1, n, 0) }, nops)
	more = hostileFlow
	starts := func(n int) (w die) {
		w.uleb(0x1000).Write(bytes.Repeat([]byte{1}, n))
		return w
	}
	add("functions of a byte", 200000, func(n int) []byte {
		w := starts(n)
		return machoFile(nops(n), nil, map[int][]byte{machoStarts: w.Bytes()}, nil, nil)
	})
	for name, text := range map[string]string{
		"code of calls":            "\x50\xe8\x00\x00\x00\x00",
		"code of jumps back":       "\x50\x0f\x84\x00\xff\xff\xff",
		"code of switches":         "\x48\x01\xc8\xff\xe0\x5b",
		"code of pushes and jumps": "\x50\x74\x01\x5b",
		"code that ends in errors": "\x50\xeb\x00\x90\x90\x06",
	} {
		add(name, 50000, func(n int) []byte {
			var w die
			w.uleb(0x1000).u8(0)
			return machoFile(bytes.Repeat([]byte(text), n), nil, map[int][]byte{machoStarts: w.Bytes()}, nil, nil)
		})
	}

	more = 0
	add("entries of the debug map", 15000, func(n int) []byte {
		var w die
		w.times(n, func(i int) {
			w.machoSymbol(1, stabSource, 0, 0)
			w.machoSymbol(1, stabObject, 0, 0)
			w.machoSymbol(1, stabFunction, 1, machoText+i)
			w.machoSymbol(0, stabFunction, 0, 1)
		})
		return machoFile(nops(n), nil, map[int][]byte{machoSymtab: w.Bytes()}, []byte("\x00/none/m.o\x00"), nil)
	})
	add("symbols of one long name", 20000, func(n int) []byte {
		var w die
		w.times(n, func(i int) { w.machoSymbol(1+i, nlistCode, 1, machoText+i) })
		return machoFile(nops(n), nil, map[int][]byte{machoSymtab: w.Bytes()}, []byte("\x00"+strings.Repeat("_a", n/2)+"\x00"), nil)
	})

	slices := func(name string, n int, place func(i int) int) {
		add(name, n, func(n int) []byte {
			one := machoFile(nops(4096), nil, nil, nil, nil)
			var w die
			big := func(v int) { w.Write(binary.BigEndian.AppendUint32(nil, uint32(v))) }
			big(0xcafebabe)
			big(n)
			at := (8 + 20*n + 15) &^ 15
			w.times(n, func(i int) {
				for _, v := range []int{0x01000007, i, at + place(i), len(one), 12} {
					big(v)
				}
			})
			w.Write(make([]byte, at-w.Len()))
			w.Write(one)
			return w.Bytes()
		})
	}
	slices("slices at one place", 2000, func(int) int { return 0 })
	slices("slices behind the end", 40000, func(i int) int { return i << 12 })
	return kinds
}
