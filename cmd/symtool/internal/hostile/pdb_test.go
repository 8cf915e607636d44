package hostile

import (
	"bytes"
	"encoding/binary"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/app"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/testenv"
)

// hostilePDB holds the streams of a PDB with one section of code, which begins at 0x1000.
type hostilePDB struct {
	types, ids, names     []byte
	modules               int // number of modules, which share the stream of symbols and lines
	symbols, lines        []byte
	publics, frames, omap []byte
}

// Numbers of streams.
const (
	pdbNames = 5 + iota
	pdbSections
	pdbSymbols
	pdbPublics
	pdbFrames
	pdbOMAP
)

const pdbBlock = 4096

// file assembles the PDB.
func (p hostilePDB) file() []byte {
	padded := func(b []byte) []byte { return append(b, make([]byte, -len(b)&3)...) }
	types := func(b []byte) []byte { return append(pack(uint32(20040203), uint32(56), make([]byte, 48)), b...) }
	info := pack(uint32(20000404), uint32(0), uint32(1), make([]byte, 16), uint32(7), []byte("/names\x00"),
		uint32(1), uint32(1), uint32(1), uint32(1), uint32(0), uint32(0), uint32(pdbNames), uint32(0))
	names := pack(uint32(0xeffeeffe), uint32(1), uint32(len(p.names)), p.names)
	sections := pack([]byte(".text\x00\x00\x00"), uint32(1<<24), uint32(0x1000), make([]byte, 20), uint32(0x60000020))
	symbols := append(pack(uint32(4), p.symbols), p.lines...)
	module := padded(pack(make([]byte, 34), uint16(pdbSymbols), uint32(4+len(p.symbols)), uint32(0), uint32(len(p.lines)), make([]byte, 16), []byte("m\x00o\x00")))
	modules := repeat(max(1, p.modules), func(int) []byte { return module })
	const none = 0xffff
	omap, frames := uint16(none), uint16(none)
	if p.omap != nil {
		omap = pdbOMAP
	}
	if p.frames != nil {
		frames = pdbFrames
	}
	optional := pack(uint16(none), uint16(none), uint16(none), omap, uint16(none), uint16(pdbSections), uint16(none), uint16(none), uint16(none), frames, uint16(none))
	debug := pack(int32(-1), uint32(19990903), uint32(1), uint16(none), uint16(0), uint16(none), uint16(0), uint16(pdbPublics), uint16(0),
		uint32(len(modules)), make([]byte, 16), uint32(0), uint32(len(optional)), uint32(0), uint16(0), uint16(0x14c), uint32(0), modules, optional)
	return msfOf(nil, info, types(p.types), debug, types(p.ids), names, sections, symbols, p.publics, p.frames, p.omap)
}

// msfOf assembles an MSF file from streams.
func msfOf(streams ...[]byte) []byte {
	le := binary.LittleEndian
	directory := pack(uint32(len(streams)))
	for _, s := range streams {
		directory = le.AppendUint32(directory, uint32(len(s)))
	}
	file := make([]byte, 4*pdbBlock) // the header, the free block map, the list of the directory's blocks
	add := func(b []byte, list []byte) []byte {
		for len(b) > 0 {
			list = le.AppendUint32(list, uint32(len(file)/pdbBlock))
			part := b[:min(pdbBlock, len(b))]
			file = append(append(file, part...), make([]byte, pdbBlock-len(part))...)
			b = b[len(part):]
		}
		return list
	}
	for _, s := range streams {
		directory = add(s, directory)
	}
	copy(file[3*pdbBlock:], add(directory, nil))
	copy(file, pack([]byte("Microsoft C/C++ MSF 7.00\r\n\x1aDS\x00\x00\x00"), uint32(pdbBlock), uint32(1), uint32(len(file)/pdbBlock), uint32(len(directory)), uint32(0), uint32(3)))
	return file
}

// pdbRecord returns a record of symbols or types.
func pdbRecord(kind uint16, values ...any) []byte {
	b := pack(values...)
	b = append(b, make([]byte, -(len(b)+2)&3)...)
	return append(pack(uint16(len(b)+2), kind), b...)
}

// pdbFunction returns a function with a type. inside is its contents.
func pdbFunction(off, size, typ uint32, name string, inside ...byte) []byte {
	b := pdbRecord(0x1110, make([]byte, 12), size, uint32(0), size, typ, off, uint16(1), uint8(0), []byte(name+"\x00"))
	return append(append(b, inside...), pdbRecord(0x0006)...)
}

// pdbSite returns an inlined call. inside is its contents.
func pdbSite(inlinee uint32, notes []byte, inside ...byte) []byte {
	b := pdbRecord(0x114d, make([]byte, 8), inlinee, notes)
	return append(append(b, inside...), pdbRecord(0x114e)...)
}

// pdbLines returns the lines of a function, one for each address, and its file, whose name is at offset 0.
func pdbLines(off uint32, n int) []byte {
	rows := repeat(n, func(i int) []byte { return pack(uint32(i), uint32(i+1)) })
	block := pack(off, uint16(1), uint16(0), uint32(n), uint32(0), uint32(n), uint32(12+len(rows)), rows)
	return append(pack(uint32(0xf4), uint32(8), uint64(0)), pack(uint32(0xf2), uint32(len(block)), block)...)
}

// hostilePDBs returns program databases that no linker produces.
func hostilePDBs() (kinds []hostileKind) {
	add := func(name string, n int, data func(n int) hostilePDB) {
		kinds = append(kinds, hostileKind{name: name, n: n, files: hostileFiles{"m.pdb": func(n int) []byte { return data(n).file() }}, commands: []string{
			"dump -o out.sym m.pdb", "dump --no-inlines -o out.sym m.pdb", "doctor m.pdb", "resolve --no-debuginfod --binaries m.pdb --module m.pdb 1100",
		}})
	}
	note := []byte{11, 0x11} // advance by one byte and one line
	add("annotations", 2000, func(n int) hostilePDB {
		long := []byte(strings.Repeat(string(note), 30))
		sites := repeat(n, func(int) []byte { return pdbSite(0x1000, long) })
		return hostilePDB{symbols: pdbFunction(0, 100, 0, "f", sites...), lines: pdbLines(0, 100)}
	})
	kinds[0].more = 16 << 20 // a row has two bytes in the file and 24 in memory, and the rows of one function are in memory three times
	add("nested-calls", 200, func(n int) hostilePDB {
		return hostilePDB{symbols: repeat(n, func(i int) []byte {
			var sites []byte
			for range 300 {
				sites = pdbSite(0x1000, note, sites...)
			}
			return pdbFunction(uint32(i), 1, 0, "f", sites...)
		}), lines: pdbLines(0, n)}
	})
	add("shared-lines", 4000, func(n int) hostilePDB {
		return hostilePDB{symbols: repeat(n, func(i int) []byte { return pdbFunction(uint32(i%7), 1<<23, 0, "f") }), lines: pdbLines(0, 8*n)}
	})
	add("shared-modules", 4000, func(n int) hostilePDB {
		return hostilePDB{modules: n, symbols: repeat(n/10, func(i int) []byte { return pdbFunction(uint32(4*i), 4, 0, "f") }), lines: pdbLines(0, n)}
	})
	add("types-of-types", 4000, func(n int) hostilePDB {
		types := repeat(n/2, func(i int) []byte { // an argument list of the previous procedure four times, and a procedure with this list
			before := uint32(0x1000 + 2*i - 1)
			if i == 0 {
				before = 0x74
			}
			list := pdbRecord(0x1201, uint32(4), before, before, before, before)
			return append(list, pdbRecord(0x1008, uint32(3), uint16(0), uint16(4), uint32(0x1000+2*i))...)
		})
		return hostilePDB{types: types, symbols: repeat(n, func(i int) []byte { return pdbFunction(uint32(4*i), 4, 0x1000+uint32(i|1), "f") })}
	})
	long := strings.Repeat("n", 60000)
	add("one-type-name", 2000, func(n int) hostilePDB {
		types := append(pdbRecord(0x1505, uint16(0), uint16(0x80), uint32(0), uint32(0), uint32(0), uint16(0), []byte(long+"\x00")), pdbRecord(0x1201, uint32(1), uint32(0x1000))...)
		types = append(types, pdbRecord(0x1008, uint32(3), uint16(0), uint16(1), uint32(0x1001))...)
		return hostilePDB{types: types, symbols: repeat(n, func(i int) []byte { return pdbFunction(uint32(4*i), 4, 0x1002, "f") })}
	})
	add("files-in-one-name", 8000, func(n int) hostilePDB {
		var blocks, sums []byte
		for i := range n {
			sums = append(sums, pack(uint32(i), uint32(0))...)
			blocks = append(blocks, pack(uint32(8*i), uint32(1), uint32(20), uint32(i), uint32(1))...)
		}
		lines := pack(uint32(0xf4), uint32(len(sums)), sums, uint32(0xf2), uint32(12+len(blocks)), uint32(0), uint16(1), uint16(0), uint32(n), blocks)
		return hostilePDB{names: []byte(strings.Repeat("f", 40*n)), symbols: pdbFunction(0, uint32(n), 0, "f"), lines: lines}
	})
	add("frames-with-one-program", 8000, func(n int) hostilePDB {
		return hostilePDB{names: append([]byte(strings.Repeat("$T0 ", 10*n)), 0), frames: repeat(n, func(i int) []byte {
			return pack(uint32(0x1000+8*i), uint32(8), make([]byte, 12), uint32(0), uint16(0), uint16(0), uint32(0))
		})}
	})
	add("omap-of-one-place", 4000, func(n int) hostilePDB {
		return hostilePDB{omap: repeat(n, func(i int) []byte { return pack(uint32(0x1000+i<<12), uint32(0x1000)) }),
			symbols: repeat(n, func(i int) []byte { return pdbFunction(uint32(i), 1, 0, "f") }), lines: pdbLines(0, n)}
	})
	add("omap-of-pieces", 8000, func(n int) hostilePDB {
		sites := repeat(n/10, func(int) []byte { return pdbSite(0x1000, []byte{11, 0x11, 4, 0x7f}) })
		return hostilePDB{omap: repeat(n, func(i int) []byte { return pack(uint32(0x1000+i), uint32(0x1000+n-i)) }),
			symbols: pdbFunction(0, uint32(n), 0, "f", sites...), lines: pdbLines(0, n)}
	})
	add("public-names", 4000, func(n int) hostilePDB {
		return hostilePDB{publics: repeat(n, func(i int) []byte {
			return pdbRecord(0x110e, uint32(2), uint32(4*i), uint16(1), []byte("?f@@YAX"+strings.Repeat("PAU1@", 30)+"@Z\x00"))
		})}
	})
	return append(kinds, hostileKind{name: "streams-of-the-same-blocks", n: 2000, files: hostileFiles{"m.pdb": sameBlocks}, commands: []string{"dump -o out.sym m.pdb", "doctor m.pdb"}})
}

// sameBlocks returns a file with n streams that all consist of the bytes of the stream of debug information, which
// is also in the directory's own blocks.
func sameBlocks(n int) []byte {
	file := hostilePDB{modules: n}.file()
	le := binary.LittleEndian
	directory := pack(uint32(n))
	for range n {
		directory = le.AppendUint32(directory, uint32(len(file)))
	}
	at := uint32(len(file) / pdbBlock)
	file = append(file, directory...)
	file = append(file, make([]byte, -len(file)&(pdbBlock-1))...)
	for i := uint32(0); i < uint32(len(file)/pdbBlock)-at; i++ {
		le.PutUint32(file[3*pdbBlock+4*i:], at+i)
	}
	le.PutUint32(file[44:], uint32(len(directory)))
	return file
}

// TestDoctorStrippedPDB checks that functions and lines are reported as missing for a PDB with public symbols only,
// as written by link.exe /PDBSTRIPPED for publication, and lines for a PDB without lines.
func TestDoctorStrippedPDB(t *testing.T) {
	public := pdbRecord(0x110e, uint32(2), uint32(0x40), uint16(1), []byte("_f\x00"))
	for what, p := range map[string]hostilePDB{
		"functions and lines": {publics: public},
		"lines":               {publics: public, symbols: pdbFunction(0, 16, 0, "f")},
	} {
		path := filepath.Join(t.TempDir(), "x.pdb")
		testenv.WriteFile(t, path, p.file())
		var out bytes.Buffer
		status := app.Run(t.Context(), []string{"symtool", "doctor", path}, nil, &out, io.Discard)
		stdout := out.String()
		want := "missing: " + what + "\n  reason: the PDB does not have them: link.exe /PDBSTRIPPED leaves them out\n  - the whole PDB, which the linker wrote beside that one\n"
		if status != cli.StatusFindings || !strings.Contains(stdout, want) {
			t.Errorf("status %d, want %q:\n%s", status, want, stdout)
		}
	}
}
