package dwarf2sym

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/publics"
)

// dwarfAsm makes the sections of a test from readable lines. It shares no constants
// and no layouts with the package: they are repeated from the DWARF standards, so that
// a mistake in the package does not go unnoticed.
//
// A line that begins with a dot starts a section. Everywhere:
//
//	name:              a label: the offset in its section
//	u8 u16 u32 u64     numbers of this size; "&name" is a label's offset
//	addr off           numbers of the size of addresses, and of offsets
//	uleb sleb          LEB128 numbers
//	"text"             a string and its NUL
//	<01 ff>            bytes
//	begin, begin64     the length of what follows up to end, of 4 or 12 bytes
//	big, addrsize N    byte order and address size, before all else
//
// .debug_info has units (dwarfasm_info_test.go), .debug_line has programs
// (dwarfasm_line_test.go). "#" begins a comment.
type dwarfAsm struct {
	t        testing.TB
	order    binary.ByteOrder
	addrSize int
	offSize  int // 4 or 8, since the last begin, unit or program
	secs     map[string][]byte
	at       string // the current section
	labels   map[string]int
	fixups   []asmFixup
	open     []asmLength
	unit     *asmUnit
	prog     *asmProgram

	code    [][2]uint64      // .code lo hi
	symbols []publics.Symbol // .symbol address size name: a function; .label address name [size]: untyped
}

// asmFixup is a place for a label's offset, minus base.
type asmFixup struct {
	section     string
	pos, size   int
	label, line string
	base        int
}

type asmLength struct{ pos, size int }

// assemble returns the sections of a text.
func assemble(t testing.TB, text string) *dwarfAsm {
	t.Helper()
	a := &dwarfAsm{t: t, order: binary.LittleEndian, addrSize: 8, offSize: 4,
		secs: make(map[string][]byte), labels: make(map[string]int)}
	for _, line := range strings.Split(text, "\n") {
		a.line(line)
	}
	a.endSection()
	for _, f := range a.fixups {
		off, ok := a.labels[f.label]
		if !ok {
			t.Fatalf("%s: no label %s", f.line, f.label)
		}
		putUint(a.order, a.secs[f.section][f.pos:f.pos+f.size], uint64(off-f.base))
	}
	return a
}

func (a *dwarfAsm) line(line string) {
	words := asmWords(line)
	if len(words) == 0 {
		return
	}
	if words[0] == "endunit" {
		a.endUnit()
		return
	}
	if a.unit != nil && words[0] != "unit" && words[0][0] != '.' {
		a.unit.lines = append(a.unit.lines, asmDIE{line: line, words: words, indent: len(line) - len(strings.TrimLeft(line, "\t"))})
		return
	}
	if words = a.label(words); len(words) == 0 {
		return
	}
	switch word := words[0]; {
	case word == "big":
		a.order = binary.BigEndian
	case word == "addrsize":
		a.addrSize = int(a.number(words[1]))
	case word == ".code":
		a.code = append(a.code, [2]uint64{a.number(words[1]), a.number(words[2])})
	case word == ".symbol":
		a.symbols = append(a.symbols, publics.Symbol{RVA: rvaOf(a.number(words[1])), Size: a.number(words[2]), Name: words[3], Func: true, Alone: true})
		if n := len(a.symbols) - 1; n > 0 && a.symbols[n-1].RVA == a.symbols[n].RVA {
			a.symbols[n-1].Alone = false // the first one counts
			a.symbols = a.symbols[:n]
		}
	case word == ".label":
		p := publics.Symbol{RVA: rvaOf(a.number(words[1])), Name: words[2]}
		if len(words) > 3 {
			p.Size = a.number(words[3])
		}
		a.symbols = append(a.symbols, p)
	case word[0] == '.':
		a.endSection()
		a.at = word
	case word == "unit":
		a.beginUnit(words[1:])
	case a.at == ".debug_line" && a.lineLine(words):
	default:
		a.data(line, words)
	}
}

// label removes a label from the words.
func (a *dwarfAsm) label(words []string) []string {
	if name, ok := strings.CutSuffix(words[0], ":"); ok {
		a.labels[name] = a.pos()
		return words[1:]
	}
	return words
}

func (a *dwarfAsm) endSection() {
	a.endUnit()
	a.endProgram()
	for len(a.open) > 0 {
		a.end()
	}
}

// data is a line of plain data.
func (a *dwarfAsm) data(line string, words []string) {
	kind := words[0]
	switch {
	case kind == "begin" || kind == "begin64":
		a.begin(kind == "begin64")
		return
	case kind == "end":
		a.end()
		return
	case kind[0] == '"' || kind[0] == '<':
		for _, w := range words {
			a.bytes(w)
		}
		return
	}
	size, ok := map[string]int{"u8": 1, "u16": 2, "u32": 4, "u64": 8, "addr": a.addrSize, "off": a.offSize, "uleb": 0, "sleb": -1}[kind]
	if !ok {
		a.t.Fatalf("%q: unknown word %q", line, kind)
	}
	for _, w := range words[1:] {
		switch {
		case w[0] == '&':
			a.ref(w[1:], size, 0, line)
		case size == 0:
			a.emit(appendULEB(nil, a.number(w))...)
		case size < 0:
			a.emit(appendSLEB(nil, int64(a.number(w)))...)
		default:
			a.uint(a.number(w), size)
		}
	}
}

func (a *dwarfAsm) emit(b ...byte) { a.secs[a.at] = append(a.secs[a.at], b...) }

func (a *dwarfAsm) pos() int { return len(a.secs[a.at]) }

func (a *dwarfAsm) uint(v uint64, size int) {
	b := make([]byte, size)
	putUint(a.order, b, v)
	a.emit(b...)
}

// ref leaves room for a label's offset, minus base.
func (a *dwarfAsm) ref(label string, size, base int, line string) {
	a.fixups = append(a.fixups, asmFixup{a.at, a.pos(), size, label, line, base})
	a.uint(0, size)
}

// bytes emits "text" or <hex>.
func (a *dwarfAsm) bytes(w string) {
	if w[0] == '"' {
		a.emit(append([]byte(a.text(w)), 0)...)
		return
	}
	b, err := hex.DecodeString(strings.ReplaceAll(strings.Trim(w, "<>"), " ", ""))
	if err != nil {
		a.t.Fatalf("%s: %v", w, err)
	}
	a.emit(b...)
}

func (a *dwarfAsm) text(w string) string {
	s, err := strconv.Unquote(w)
	if err != nil {
		a.t.Fatalf("%s: %v", w, err)
	}
	return s
}

func (a *dwarfAsm) number(w string) uint64 {
	if strings.HasPrefix(w, "-") {
		v, err := strconv.ParseInt(w, 0, 64)
		if err != nil {
			a.t.Fatal(err)
		}
		return uint64(v)
	}
	v, err := strconv.ParseUint(w, 0, 64)
	if err != nil {
		a.t.Fatal(err)
	}
	return v
}

// begin opens a length field (DWARF 5, 7.4).
func (a *dwarfAsm) begin(dwarf64 bool) {
	if a.offSize = 4; dwarf64 {
		a.offSize = 8
		a.uint(0xffffffff, 4)
	}
	a.open = append(a.open, asmLength{a.pos(), a.offSize})
	a.uint(0, a.offSize)
}

func (a *dwarfAsm) end() {
	l := a.open[len(a.open)-1]
	a.open = a.open[:len(a.open)-1]
	putUint(a.order, a.secs[a.at][l.pos:l.pos+l.size], uint64(a.pos()-l.pos-l.size))
}

// asmWords splits a line at spaces that are not inside "" or <>.
func asmWords(line string) (words []string) {
	var word strings.Builder
	quoted, hexed := false, false
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '"' && !hexed:
			quoted = !quoted
		case c == '<' && !quoted:
			hexed = true
		case c == '>' && !quoted:
			hexed = false
		case quoted || hexed:
		case c == '#':
			i = len(line)
			continue
		case c == ' ' || c == '\t':
			if word.Len() > 0 {
				words = append(words, word.String())
				word.Reset()
			}
			continue
		}
		word.WriteByte(c)
	}
	if word.Len() > 0 {
		words = append(words, word.String())
	}
	return words
}

// options parses the words after "unit 4": flags, and numbers as in "min=4".
func (a *dwarfAsm) options(words []string) func(name string, instead uint64) uint64 {
	given := make(map[string]uint64)
	for _, w := range words {
		name, v, ok := strings.Cut(w, "=")
		if !ok {
			v = "1"
		}
		given[name] = a.number(v)
	}
	return func(name string, instead uint64) uint64 {
		if v, ok := given[name]; ok {
			return v
		}
		return instead
	}
}

func putUint(order binary.ByteOrder, b []byte, v uint64) {
	for i := range b {
		shift := 8 * i
		if order == binary.ByteOrder(binary.BigEndian) {
			shift = 8 * (len(b) - 1 - i)
		}
		if shift < 64 {
			b[i] = byte(v >> shift)
		}
	}
}

func appendULEB(b []byte, v uint64) []byte {
	for ; v >= 0x80; v >>= 7 {
		b = append(b, byte(v)|0x80)
	}
	return append(b, byte(v))
}

func appendSLEB(b []byte, v int64) []byte {
	for v < -0x40 || v >= 0x40 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v)&0x7f)
}

// name returns the number that a table gives a name, or the number itself.
func (a *dwarfAsm) name(table map[string]uint64, w string) uint64 {
	if v, ok := table[w]; ok {
		return v
	}
	v, err := strconv.ParseUint(w, 0, 64)
	if err != nil {
		a.t.Fatal(fmt.Errorf("unknown word %q", w))
	}
	return v
}
