package symelf

// Line number program opcodes (DWARF 5, tables 7.25 and 7.26).
const (
	lnsCopy        = 0x01
	lnsAdvancePC   = 0x02
	lnsAdvanceLine = 0x03
	lnsSetFile     = 0x04
	lnsConstAddPC  = 0x08
	lneEnd         = 0x01
	lneSetAddress  = 0x02

	lineBase   = -5
	lineRange  = 14
	opcodeBase = 13
	constAdd   = (255 - opcodeBase) / lineRange // what DW_LNS_const_add_pc adds
)

// standardLengths are the numbers of operands of opcodes 1 to 12.
var standardLengths = [opcodeBase - 1]byte{0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1}

// Content types and forms of the file tables (DWARF 5, 7.22 and 7.5.6).
const (
	lnctPath      = 0x1
	lnctDirectory = 0x2
)

// noFileYet does not number any file: each sequence names its first one. The initial
// one has number 1, which readers do not agree on since DWARF 5 counts from 0 (binutils
// 2.40 takes the first).
const noFileYet = 1<<32 - 1

// lineProgram makes one unit's contribution to .debug_line.
type lineProgram struct {
	w    *buffer
	open bool
	addr uint64 // of the last row, or the end of the last piece
	file uint32
	line uint32

	start int
}

// begin writes the header. files are offsets in .debug_line_str; number 0 is the
// unit's own.
func (p *lineProgram) begin(files []uint32) {
	w := p.w
	*p = lineProgram{w: w, start: len(w.b)}
	w.u32(0)
	w.u16(5)
	w.u8(byte(w.ptr), 0)
	length := len(w.b)
	w.u32(0)
	w.u8(1, 1, 1) // minimum_instruction_length, maximum_operations_per_instruction, default_is_stmt
	base := int8(lineBase)
	w.u8(byte(base), lineRange, opcodeBase)
	w.bytes(standardLengths[:])
	w.u8(1, lnctPath, formLineStrp)
	w.uleb(1)
	w.u32(0) // directory 0: ""
	w.u8(2, lnctPath, formLineStrp, lnctDirectory, formUdata)
	w.uleb(uint64(len(files)))
	for _, f := range files {
		w.u32(f)
		w.u8(0)
	}
	w.put32(length, len(w.b)-length-4)
}

// row says that code from addr on comes from a line.
func (p *lineProgram) row(addr uint64, file, line uint32) {
	w := p.w
	if !p.open {
		w.u8(0, byte(1+w.ptr), lneSetAddress)
		w.addr(addr)
		p.open, p.addr, p.file, p.line = true, addr, noFileYet, 1
	}
	if file != p.file {
		w.u8(lnsSetFile)
		w.uleb(uint64(file))
		p.file = file
	}
	step := int64(line) - int64(p.line)
	if step < lineBase || step >= lineBase+lineRange {
		w.u8(lnsAdvanceLine)
		w.sleb(step)
		step = 0
	}
	ahead := addr - p.addr
	if ahead > 2*constAdd || opcode(step, ahead-min(ahead, constAdd)) > 255 {
		w.u8(lnsAdvancePC)
		w.uleb(ahead)
		ahead = 0
	} else if opcode(step, ahead) > 255 {
		w.u8(lnsConstAddPC)
		ahead -= constAdd
	}
	w.u8(byte(opcode(step, ahead)))
	p.addr, p.line = addr, line
}

// opcode returns the special opcode for a step of lines and addresses.
func opcode(step int64, ahead uint64) uint64 {
	return uint64(step-lineBase) + lineRange*ahead + opcodeBase
}

// end says that the code that the rows are about ends at addr.
func (p *lineProgram) end(addr uint64) {
	if !p.open {
		return
	}
	w := p.w
	if addr != p.addr {
		w.u8(lnsAdvancePC)
		w.uleb(addr - p.addr)
	}
	w.u8(0, 1, lneEnd)
	p.open = false
}

// finish fills in the length.
func (p *lineProgram) finish() { p.w.put32(p.start, len(p.w.b)-p.start-4) }
