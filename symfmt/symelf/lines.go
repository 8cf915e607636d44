package symelf

import "github.com/symtool/symtool/internal/dw"

// The parameters of special opcodes (DWARF 5, 6.2.5.1).
const (
	lineBase   = -5
	lineRange  = 14
	opcodeBase = 13
	constAdd   = (255 - opcodeBase) / lineRange // what DW_LNS_const_add_pc adds
)

// standardLengths are the numbers of operands of opcodes 1 to 12.
var standardLengths = [opcodeBase - 1]byte{0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1}

// noFileYet is not the number of any file, so that each sequence sets its first file.
// The file register starts at 1, but readers disagree on what that means because DWARF
// 5 counts from 0 (binutils 2.40 takes the first file).
const noFileYet = 1<<32 - 1

// lineProgram makes one unit's contribution to .debug_line.
type lineProgram struct {
	w    *buffer
	open bool
	addr uint64 // address of the last row, or end of the last piece
	file uint32
	line uint32

	start int
}

// begin writes the header. files are offsets in .debug_line_str; file 0 is the
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
	w.u8(1, dw.LNCTPath, dw.FormLineStrp)
	w.uleb(1)
	w.u32(0) // directory 0: ""
	w.u8(2, dw.LNCTPath, dw.FormLineStrp, dw.LNCTDirectoryIndex, dw.FormUdata)
	w.uleb(uint64(len(files)))
	for _, f := range files {
		w.u32(f)
		w.u8(0)
	}
	w.put32(length, len(w.b)-length-4)
}

// row records that code from addr on comes from a line.
func (p *lineProgram) row(addr uint64, file, line uint32) {
	w := p.w
	if !p.open {
		w.u8(0, byte(1+w.ptr), dw.LNESetAddress)
		w.addr(addr)
		p.open, p.addr, p.file, p.line = true, addr, noFileYet, 1
	}
	if file != p.file {
		w.u8(dw.LNSSetFile)
		w.uleb(uint64(file))
		p.file = file
	}
	step := int64(line) - int64(p.line)
	if step < lineBase || step >= lineBase+lineRange {
		w.u8(dw.LNSAdvanceLine)
		w.sleb(step)
		step = 0
	}
	ahead := addr - p.addr
	if ahead > 2*constAdd || opcode(step, ahead-min(ahead, constAdd)) > 255 {
		w.u8(dw.LNSAdvancePC)
		w.uleb(ahead)
		ahead = 0
	} else if opcode(step, ahead) > 255 {
		w.u8(dw.LNSConstAddPC)
		ahead -= constAdd
	}
	w.u8(byte(opcode(step, ahead)))
	p.addr, p.line = addr, line
}

// opcode returns the special opcode for a line and address step.
func opcode(step int64, ahead uint64) uint64 {
	return uint64(step-lineBase) + lineRange*ahead + opcodeBase
}

// end records that the code of the preceding rows ends at addr.
func (p *lineProgram) end(addr uint64) {
	if !p.open {
		return
	}
	w := p.w
	if addr != p.addr {
		w.u8(dw.LNSAdvancePC)
		w.uleb(addr - p.addr)
	}
	w.u8(0, 1, dw.LNEEndSequence)
	p.open = false
}

// finish fills in the length.
func (p *lineProgram) finish() { p.w.put32(p.start, len(p.w.b)-p.start-4) }
