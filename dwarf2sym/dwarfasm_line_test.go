package dwarf2sym

// In .debug_line:
//
//	program 4 64 min=4 ops=3 base=-5 range=14 opbase=13 addr=8
//		dir "src"                  # versions 2 to 4
//		file "a.c" 1               # its directory
//		dirs path/line_strp        # version 5: how entries look
//		dir "/src"
//		files path/string directory_index/udata MD5/data16
//		file "a.c" 0 <00 ... ff>
//		set_address 0x1000
//		copy
//		special 0x4b
//
// "lengths=0" leaves out the lengths of the standard opcodes, but not opbase;
// opcodes are words with their operands: see asmOpcodes and line.
type asmProgram struct {
	version uint64
	addr    int
	header  asmLength
	opBase  uint64
	state   int // tables that are done: 0 none, 1 directories, 2 files
	counts  [2]int
	entries [2][]byte
	formats [2][]asmAttr
}

var asmContents = map[string]uint64{"path": 1, "directory_index": 2, "timestamp": 3, "size": 4, "MD5": 5, "LLVM_source": 0x2001}

// asmStandard are the standard opcodes without operands; asmULEB those with
// ULEB128 operands.
var (
	asmStandard = map[string]byte{"copy": 1, "negate_stmt": 6, "set_basic_block": 7, "const_add_pc": 8,
		"set_prologue_end": 10, "set_epilogue_begin": 11}
	asmULEB = map[string]byte{"advance_pc": 2, "set_file": 4, "set_column": 5, "set_isa": 12}
)

// lineLine handles the lines of .debug_line that are not plain data.
func (a *dwarfAsm) lineLine(words []string) bool {
	word := words[0]
	if word == "program" {
		a.beginProgram(words[1:])
		return true
	}
	p := a.prog
	if p == nil {
		return false
	}
	switch word {
	case "dirs", "files":
		i := map[string]int{"dirs": 0, "files": 1}[word]
		for _, w := range words[1:] {
			p.formats[i] = append(p.formats[i], a.content(w))
		}
		return true
	case "dir":
		a.entry(0, words[1:])
		return true
	case "file":
		a.entry(1, words[1:])
		return true
	}
	a.endHeader()
	return a.opcode(word, words[1:])
}

// opcode writes a standard or extended opcode (6.2.5.2, 6.2.5.3).
func (a *dwarfAsm) opcode(word string, args []string) bool {
	if op, ok := asmStandard[word]; ok {
		a.emit(op)
		return true
	}
	if op, ok := asmULEB[word]; ok {
		a.emit(appendULEB([]byte{op}, a.number(args[0]))...)
		return true
	}
	switch word {
	case "special":
		a.emit(byte(a.number(args[0])))
	case "advance_line":
		a.emit(appendSLEB([]byte{3}, int64(a.number(args[0])))...)
	case "fixed_advance_pc":
		a.emit(9)
		a.uint(a.number(args[0]), 2)
	case "end_sequence":
		a.emit(0, 1, 1)
	case "set_address":
		a.emit(0, byte(1+a.prog.addr), 2)
		a.uint(a.number(args[0]), a.prog.addr)
	case "define_file":
		name := a.text(args[0])
		a.emit(0, byte(len(name)+5), 3)
		a.emit(append([]byte(name), 0, byte(a.number(args[1])), 0, 0)...)
	case "discriminator":
		a.emit(0, 2, 4, byte(a.number(args[0])))
	default:
		return false
	}
	return true
}

func (a *dwarfAsm) content(w string) asmAttr {
	for i := range w {
		if w[i] == '/' {
			return asmAttr{attr: a.name(asmContents, w[:i]), form: a.name(asmForms, w[i+1:])}
		}
	}
	a.t.Fatalf("what is %q?", w)
	return asmAttr{}
}

// beginProgram writes a header up to the tables (DWARF 5, 6.2.4).
func (a *dwarfAsm) beginProgram(words []string) {
	a.endProgram()
	opt := a.options(words[1:])
	p := &asmProgram{version: a.number(words[0]), addr: int(opt("addr", uint64(a.addrSize))), opBase: opt("opbase", 13)}
	a.begin(opt("64", 0) == 1)
	a.uint(p.version, 2)
	if p.version >= 5 {
		a.emit(byte(p.addr), 0)
	}
	p.header = asmLength{a.pos(), a.offSize}
	a.uint(0, a.offSize)
	a.emit(byte(opt("min", 1)))
	if p.version >= 4 {
		a.emit(byte(opt("ops", 1)))
	}
	a.emit(1, byte(opt("base", ^uint64(4))), byte(opt("range", 14)), byte(p.opBase))
	standard := []byte{0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1}
	for i := 0; i+1 < int(p.opBase); i++ {
		if i < len(standard) {
			a.emit(standard[i])
		} else {
			a.emit(byte(opt("extra", 0)))
		}
	}
	a.prog = p
}

// entry adds an entry to a table.
func (a *dwarfAsm) entry(table int, values []string) {
	p := a.prog
	p.counts[table]++
	at := a.pos()
	switch {
	case p.version >= 5:
		u := &asmUnit{addr: p.addr}
		for i, f := range p.formats[table] {
			a.value(u, f.form, values[i], "file table")
		}
	case table == 0:
		a.bytes(values[0])
	default:
		a.bytes(values[0])
		a.emit(appendULEB(nil, a.number(values[1]))...)
		a.emit(0, 0)
	}
	p.entries[table] = append(p.entries[table], a.secs[a.at][at:]...)
	a.secs[a.at] = a.secs[a.at][:at]
}

// endHeader writes the tables.
func (a *dwarfAsm) endHeader() {
	p := a.prog
	if p.state == 2 {
		return
	}
	for i := range 2 {
		if p.version >= 5 {
			a.emit(byte(len(p.formats[i])))
			for _, f := range p.formats[i] {
				a.emit(appendULEB(appendULEB(nil, f.attr), f.form)...)
			}
			a.emit(appendULEB(nil, uint64(p.counts[i]))...)
		}
		a.emit(p.entries[i]...)
		if p.version < 5 {
			a.emit(0)
		}
	}
	p.state = 2
	h := p.header
	putUint(a.order, a.secs[a.at][h.pos:h.pos+h.size], uint64(a.pos()-h.pos-h.size))
}

func (a *dwarfAsm) endProgram() {
	if a.prog == nil {
		return
	}
	a.endHeader()
	a.end()
	a.prog = nil
}
