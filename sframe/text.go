package sframe

import (
	"bufio"
	"errors"
	"io"
	"strconv"
)

// textBuffer is the size in bytes of the writes of Print and WriteJSON.
const textBuffer = 64 << 10

// ruleWidth is the width of a column of rules. As in objdump, the first column's heading
// is narrower.
const ruleWidth = 10

const blanks = "          "

// Print writes the section in the layout of `objdump --sframe` of binutils
// 2.47: each header, its functions and their rows.
//
// A rule is a sum, such as "sp+16", "fp+16" or "r10+0", or the word in memory
// at such an address, as in "(fp-8)"; "c-16" is the word at the frame address
// minus 16. "u" means that the register still has the caller's value, "f" that
// the header gives the place; "U" is a word that stands for no rule, and "[s]"
// marks a signed return address. In functions with "[m]" in their heading, rows
// start at offsets in each block, otherwise at addresses.
//
// Where we differ: columns are separated even if one is too wide, no line ends
// in blanks, an offset has one sign, the frame pointer's fixed place is shown in
// all rows that have it, and "=c-16" is the sum instead of the word in memory.
// Headers after the first, which objdump ignores, are shown with their offset,
// and functions are numbered across headers.
//
// Rows that cannot be decoded are replaced by a line that says so. Everything
// else that could not be read is only in Problems. Print returns the writer's
// error.
func (s *Section) Print(w io.Writer) error {
	p := s.printer(w)
	p.lines("Contents of the SFrame section ", s.Name, ":\n")
	if len(s.Headers) == 0 {
		p.lines("  empty\n")
	}
	for i := range s.Headers {
		h := &s.Headers[i]
		if i > 0 {
			p.lines("\n")
		}
		p.header(h)
		for k := range h.Count {
			p.lines("\n")
			p.function(s, h.First+k)
			p.rows(s, h.First+k)
		}
	}
	return p.w.Flush()
}

// PrintAt writes the function that covers pc and the row in force there, as Print does.
// If there is none, it writes a line that says so. It returns the writer's error.
func (s *Section) PrintAt(w io.Writer, pc uint64) error {
	p := s.printer(w)
	p.lines(hexadecimal(pc), ":")
	i, _, err := s.Find(pc)
	if i < 0 {
		p.lines(" no function\n")
		return p.w.Flush()
	}
	p.lines("\n")
	p.function(s, i)
	f := &s.FDEs[i]
	switch {
	case errors.Is(err, ErrNoRow):
		p.lines("    no row\n")
	case err != nil:
		p.failure(err)
	case f.NumRows == 0:
		p.lines("    no rows: the outermost frame\n")
	default:
		rows := s.Rows(i)
		rows.seek(f.offset(pc))
		p.lines(heading(f))
		p.put(rows.append(p.w.AvailableBuffer(), f.rowBase()))
	}
	return p.w.Flush()
}

// printer appends to the free part of the writer's buffer. The writer keeps its
// first error until Flush.
type printer struct {
	w    *bufio.Writer
	left shared
}

func (s *Section) printer(w io.Writer) *printer {
	return &printer{bufio.NewWriterSize(w, textBuffer), s.shared()}
}

func (p *printer) put(b []byte) { _, _ = p.w.Write(b) }

func (p *printer) lines(text ...string) {
	for _, t := range text {
		_, _ = p.w.WriteString(t)
	}
}

func (p *printer) header(h *Header) {
	p.lines("  Header ")
	if h.Offset > 0 {
		p.lines("at ", hexadecimal(h.Offset), " ")
	}
	p.lines(":\n\n    Version: ", h.format().name, "\n    Flags: ")
	names := h.Flags.Names()
	if len(names) == 0 {
		names = []string{"NONE"}
	}
	for i, name := range names {
		if i > 0 {
			p.lines(",\n           ")
		}
		p.lines(name)
	}
	p.lines("\n")
	if h.FixedFP != 0 {
		p.lines("    CFA fixed FP offset: ", strconv.Itoa(int(h.FixedFP)), "\n")
	}
	if h.FixedRA != 0 {
		p.lines("    CFA fixed RA offset: ", strconv.Itoa(int(h.FixedRA)), "\n")
	}
	p.lines("    Num FDEs: ", decimal(h.NumFDEs), "\n    Num FREs: ", decimal(h.NumFREs), "\n\n  Function Index :\n")
}

// function writes the line for a function.
func (p *printer) function(s *Section, i int) {
	f := &s.FDEs[i]
	b := append(p.w.AvailableBuffer(), "    func idx ["...)
	b = strconv.AppendInt(b, int64(i), 10)
	b = append(b, "]: pc = 0x"...)
	b = strconv.AppendUint(b, f.Start, 16)
	b = append(b, ", size = "...)
	b = strconv.AppendUint(b, uint64(f.Size), 10)
	b = append(b, " bytes"...)
	if f.Signal || f.Flex {
		b = append(b, `, attr = "`...)
		if f.Signal {
			b = append(b, 'S')
		}
		if f.Flex {
			b = append(b, 'F')
		}
		b = append(b, '"')
	}
	if f.KeyB {
		b = append(b, ", pauth = B key"...)
	}
	p.put(append(b, '\n'))
}

func (p *printer) rows(s *Section, i int) {
	f := &s.FDEs[i]
	p.lines(heading(f))
	rows := p.left.next(s, i)
	for rows.Next() {
		p.put(rows.append(p.w.AvailableBuffer(), f.rowBase()))
	}
	p.left.took(&rows)
	if err := rows.Err(); err != nil {
		p.failure(err)
	}
}

func (p *printer) failure(err error) { p.lines("    error: ", err.Error(), "\n") }

func heading(f *FDE) string {
	if f.Mask {
		return "    STARTPC[m]      CFA       FP        RA\n"
	}
	return "    STARTPC         CFA       FP        RA\n"
}

// rowBase returns the address that the starts of rows are shown relative to.
func (f *FDE) rowBase() uint64 {
	if f.Mask {
		return 0
	}
	return f.Start
}

// append appends the line for the current row.
func (r *Rows) append(b []byte, base uint64) []byte {
	b = append(b, "    "...)
	b = appendAddr(b, base+uint64(r.Row.Start))
	b = append(b, "  "...)
	if r.Row.Outermost() {
		return append(b, "RA undefined\n"...)
	}
	at := len(b)
	b = column(r.appendRule(b, &r.Row.CFA), at)
	at = len(b)
	b = column(r.appendSlot(b, &r.Row.FP, r.Form.FP), at)
	if r.h.FixedRA != 0 && r.Form.RA == Absent {
		b = append(b, 'f')
	} else {
		b = r.appendSlot(b, &r.Row.RA, r.Form.RA)
	}
	if r.Row.Signed {
		b = append(b, "[s]"...)
	}
	return append(b, '\n')
}

// column pads the text that begins at index at to the next column.
func column(b []byte, at int) []byte {
	return append(b, blanks[:max(1, ruleWidth-(len(b)-at))]...)
}

// appendSlot appends the rule of FP or RA.
func (r *Rows) appendSlot(b []byte, rule *Rule, presence Presence) []byte {
	switch {
	case presence == Padding && rule == &r.Row.RA:
		return append(b, 'U')
	case rule.Kind == Same:
		return append(b, 'u')
	}
	return r.appendRule(b, rule)
}

func (r *Rows) appendRule(b []byte, rule *Rule) []byte {
	switch {
	case rule.Reg == CFA && rule.Kind == Memory:
		b = append(b, 'c')
	case rule.Reg == CFA:
		b = append(b, "=c"...)
	case rule.Kind == Memory:
		b = r.abi.appendReg(append(b, '('), rule.Reg)
		return append(appendOffset(b, rule.Offset), ')')
	default:
		b = r.abi.appendReg(b, rule.Reg)
		if rule.Offset == 0 && !r.f.Flex && rule != &r.Row.CFA {
			return b // the value is in a register, so there is no offset in the section
		}
	}
	return appendOffset(b, rule.Offset)
}

func (a *abi) appendReg(b []byte, reg Reg) []byte {
	switch reg {
	case a.sp:
		return append(b, "sp"...)
	case a.fp:
		return append(b, "fp"...)
	}
	return strconv.AppendUint(append(b, 'r'), uint64(reg), 10)
}

func appendOffset(b []byte, offset int64) []byte {
	if offset >= 0 {
		b = append(b, '+')
	}
	return strconv.AppendInt(b, offset, 10)
}

// appendAddr appends 16 hexadecimal digits.
func appendAddr(b []byte, addr uint64) []byte {
	const digits = "0123456789abcdef"
	for shift := 60; shift >= 0; shift -= 4 {
		b = append(b, digits[addr>>shift&15])
	}
	return b
}

func hexadecimal(v uint64) string { return "0x" + strconv.FormatUint(v, 16) }

func decimal(v uint32) string { return strconv.FormatUint(uint64(v), 10) }
