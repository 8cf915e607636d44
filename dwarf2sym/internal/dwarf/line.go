package dwarf

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/dw"
)

// Row is a row of a line table, in force up to the next row of its sequence.
type Row struct {
	Addr uint64
	File uint32 // as the line program numbers it
	Line uint32 // 0 for none
}

// Sequence is rows[first:last], in order of increasing address; the code ends
// at hi.
type Sequence struct {
	Lo, Hi      uint64
	First, Last int
}

// LineTable is a line number program (DWARF 5, 6.2) and its rows. It is reused
// from unit to unit.
type LineTable struct {
	data    []byte // the program with its header
	off     uint64 // offset in .debug_line
	version uint16
	prog    int // offset of the instructions in data

	minInst   uint64
	maxOps    uint64
	lineBase  int64
	lineRange uint64
	opBase    uint8
	lengths   []byte
	addrSize  uint8

	most   uint64  // the highest address
	faults []Fault // what is lost, but for the header

	dirs  []Value // names; for those in the program itself (Inline) the offset in data
	files []fileEntry
	Rows  []Row
	Seqs  []Sequence

	repeats []uint64 // where rows begin that repeat the line of the row before them

	overlaps
}

// fileEntry is an entry of the program's file table. Its name is looked up
// when a record uses it, as most entries are there only for types.
type fileEntry struct {
	name Value
	dir  uint64
	md5  int    // version 5: offset of its digest in the program; 0 for none
	size uint64 // in bytes; 0 if it is unknown
}

// Read decodes the line program of u and sorts its sequences. From a damaged
// program, complete sequences are kept.
func (t *LineTable) Read(u *Unit, w *Window) []Fault {
	if err := t.ReadFiles(u, w); err != nil {
		return []Fault{{"lines", err}}
	}
	t.run(u)
	slices.SortStableFunc(t.Seqs, func(a, b Sequence) int { return cmp.Compare(a.Lo, b.Lo) })
	slices.Sort(t.repeats)
	t.findOverlaps()
	return t.faults
}

// whyNot returns the format of the message for an opcode that cannot be executed.
func (t *LineTable) whyNot(op byte) string {
	if t.lineRange == 0 && (op >= t.opBase || op == dw.LNSConstAddPC) {
		return "opcode %d with line range 0"
	}
	return "line program ends within opcode %d"
}

// stop records the error that ends the program. What was read before it is kept.
func (t *LineTable) stop(u *Unit, pos, sequences int, format string, args ...any) {
	lost := "lines"
	if sequences > 0 {
		lost = fmt.Sprintf("lines behind sequence %d", sequences)
	}
	t.faults = append(t.faults, Fault{lost, t.errorf(u, pos, format, args...)})
}

// ReadFiles decodes only the header of u's line program: the names of files.
func (t *LineTable) ReadFiles(u *Unit, w *Window) error {
	t.Clear()
	if err := t.load(u, w); err != nil {
		return err
	}
	return t.header(u)
}

// Clear makes the table empty.
func (t *LineTable) Clear() {
	t.data, t.version, t.prog, t.faults = nil, 0, 0, nil
	t.dirs, t.files = t.dirs[:0], t.files[:0]
	t.Rows, t.Seqs, t.reach, t.repeats = t.Rows[:0], t.Seqs[:0], t.reach[:0], t.repeats[:0]
}

// Size returns the size of the program in bytes.
func (t *LineTable) Size() int { return len(t.data) }

// HeaderSize returns the size of the program's header in bytes.
func (t *LineTable) HeaderSize() int { return t.prog }

// NumFiles returns the number of entries of the file table.
func (t *LineTable) NumFiles() int { return len(t.files) }

func (t *LineTable) errorf(u *Unit, pos int, format string, args ...any) error {
	return &bin.Error{File: u.sect.File, Section: ".debug_line", Offset: t.off + uint64(pos), Msg: fmt.Sprintf(format, args...)}
}

// load finds the bytes of the unit's program.
func (t *LineTable) load(u *Unit, w *Window) error {
	t.off = u.StmtList.U
	if w == nil || t.off >= uint64(w.size()) {
		return t.errorf(u, 0, "line program starts outside the section")
	}
	total := uint64(w.size())
	head, err := w.bytes(t.off, min(12, total-t.off))
	if err != nil {
		return err
	}
	if len(head) < 4 {
		return t.errorf(u, 0, "line program of %d bytes", len(head))
	}
	length, size := uint64(u.Order.u32(head)), uint64(4)
	if length == 0xffffffff {
		if len(head) < 12 {
			return t.errorf(u, 0, "line program of %d bytes", len(head))
		}
		length, size = u.Order.u64(head[4:]), 12
	}
	if length > total-t.off-size {
		return t.errorf(u, 0, "line program of %d bytes, %d left in the section", length, total-t.off-size)
	}
	t.data, err = w.bytes(t.off, length+size)
	return err
}

// header reads the program's header (DWARF 5, 6.2.4).
func (t *LineTable) header(u *Unit) error {
	c := bin.NewAt(".debug_line", t.data, t.off, u.Order.byteOrder())
	offsetSize := 4
	if c.U32() == 0xffffffff {
		c.Skip(8)
		offsetSize = 8
	}
	t.version = c.U16()
	if t.version < 2 || t.version > 5 {
		return t.errorf(u, 0, "line program version %d, want 2 to 5", t.version)
	}
	t.addrSize = u.AddrSize
	if t.version >= 5 {
		t.addrSize = c.U8()
		c.U8() // segment selector size
	}
	if t.most = u.mostAddr(); t.addrSize == 2 || t.addrSize == 4 || t.addrSize == 8 {
		t.most = ^uint64(0) >> (64 - 8*t.addrSize)
	}
	length := c.Uint(offsetSize)
	if length > uint64(c.Len()) {
		return t.errorf(u, c.Pos(), "header of %d bytes, %d left in the program", length, c.Len())
	}
	t.prog = c.Pos() + int(length)
	t.minInst, t.maxOps = uint64(c.U8()), 1
	if t.version >= 4 {
		t.maxOps = max(uint64(c.U8()), 1)
	}
	c.U8() // default_is_stmt
	t.lineBase, t.lineRange, t.opBase = int64(int8(c.U8())), uint64(c.U8()), c.U8()
	t.lengths = c.Bytes(uint64(max(t.opBase, 1) - 1))
	if t.version >= 5 {
		t.entryTables(u, &c, offsetSize)
	} else {
		t.oldTables(&c)
	}
	if err := c.Err(); err != nil {
		return err
	}
	return nil
}

// oldTables reads the directory and file tables of versions 2 to 4. Numbers
// start at 1; entry 0 is the compilation directory or, among files, unused.
func (t *LineTable) oldTables(c *bin.Cursor) {
	t.dirs = append(t.dirs, Value{})
	for c.Err() == nil {
		at := c.Pos()
		if len(c.CStr()) == 0 {
			break
		}
		t.dirs = append(t.dirs, Value{Inline, uint64(at)})
	}
	t.files = append(t.files, fileEntry{})
	for c.Err() == nil {
		at := c.Pos()
		if len(c.CStr()) == 0 {
			break
		}
		e := fileEntry{name: Value{Inline, uint64(at)}, dir: c.ULEB()}
		c.ULEB() // time
		e.size = c.ULEB()
		t.files = append(t.files, e)
	}
}

// entryTables reads the tables of version 5, which have the form of each
// field.
func (t *LineTable) entryTables(u *Unit, c *bin.Cursor, offsetSize int) {
	for _, files := range []bool{false, true} {
		var formats [255][2]uint64
		n := int(c.U8())
		for i := range n {
			formats[i] = [2]uint64{c.ULEB(), c.ULEB()}
		}
		count := c.ULEB()
		if n == 0 && count > 0 {
			c.Fail("%d entries without a format", count)
		}
		for ; count > 0 && c.Err() == nil; count-- {
			var e fileEntry
			before := c.Pos()
			for _, f := range formats[:n] {
				t.entryField(u, c, offsetSize, f, &e)
			}
			if c.Pos() == before {
				c.Fail("%d entries of no bytes", count)
			}
			if files {
				t.files = append(t.files, e)
			} else {
				t.dirs = append(t.dirs, e.name)
			}
		}
	}
}

// entryField reads a field of a form that 6.2.4.1 allows, or of any other form
// of known size.
func (t *LineTable) entryField(u *Unit, c *bin.Cursor, offsetSize int, format [2]uint64, e *fileEntry) {
	kind, form := format[0], format[1]
	at := c.Pos()
	var num uint64
	var text Value
	switch form {
	case dw.FormString:
		text = Value{Inline, uint64(c.Pos())}
		c.CStr()
	case dw.FormStrp:
		text = Value{Strp, c.Uint(offsetSize)}
	case dw.FormLineStrp:
		text = Value{LineStrp, c.Uint(offsetSize)}
	case dw.FormStrpSup:
		text = Value{StrpSup, c.Uint(offsetSize)}
	case dw.FormStrx:
		text = Value{Strx, c.ULEB()}
	case dw.FormStrx1, dw.FormStrx2, dw.FormStrx3, dw.FormStrx4:
		text = Value{Strx, c.Uint(int(form-dw.FormStrx1) + 1)}
	case dw.FormUdata:
		num = c.ULEB()
	case dw.FormData1, dw.FormData2, dw.FormData4, dw.FormData8:
		num = c.Uint(u.Sizes().fixedSize(form))
	case dw.FormData16:
		c.Skip(16)
	case dw.FormBlock:
		c.Skip(c.ULEB())
	case dw.FormBlock1:
		c.Skip(uint64(c.U8()))
	case dw.FormBlock2:
		c.Skip(uint64(c.U16()))
	case dw.FormBlock4:
		c.Skip(uint64(c.U32()))
	case dw.FormSdata:
		c.SLEB()
	default:
		c.Fail("entry with unknown form %#x", form)
	}
	switch kind {
	case dw.LNCTPath:
		if e.name = text; !u.inString(text) {
			c.Fail("name outside its string section, at %#x", text.U)
		}
	case dw.LNCTDirectoryIndex:
		e.dir = num
	case dw.LNCTSize:
		e.size = num
	case dw.LNCTMD5:
		if form == dw.FormData16 {
			e.md5 = at
		}
	}
}

// lineState is the line number state machine (6.2.2).
type lineState struct {
	addr  uint64
	op    uint64 // op_index, on VLIW machines
	file  uint64
	num   int64
	first int  // first row of the open sequence
	none  bool // addr is not an address: there are no rows until the next one is set
	past  bool // the sequence had addresses past the highest one
}

// add advances the address by n bytes.
func (s *lineState) add(n uint64) {
	if s.addr += n; s.addr < n {
		s.wrap()
	}
}

// wrap records that the address passed the highest one. That of dropped code is no address from the beginning.
func (s *lineState) wrap() { s.past, s.none = s.past || !s.none, true }

// run executes the program. Rows that only repeat the line of the row before
// are dropped, of which the address stays in repeats, and of several rows at the same address the last one is kept.
func (t *LineTable) run(u *Unit) {
	special := t.specials()
	s := lineState{file: 1, num: 1}
	data, pos := t.data, t.prog
	for pos < len(data) {
		op := data[pos]
		if op >= t.opBase && t.lineRange > 0 {
			pos++
			if t.maxOps == 1 {
				s.add(special[op].addr)
			} else {
				t.advance(&s, special[op].addr)
			}
			s.num += int64(special[op].num)
			t.emit(&s)
			continue
		}
		next := t.frequent(&s, op, pos+1)
		if next < 0 {
			next = t.standard(u, &s, op, pos+1)
		}
		if next < 0 {
			t.stop(u, pos, len(t.Seqs), t.whyNot(op), op)
			break
		}
		pos = next
	}
	if len(t.Rows) > s.first {
		t.Rows = t.Rows[:s.first]
		if pos == len(data) {
			t.stop(u, len(data), len(t.Seqs), "line program ends within a sequence")
		}
	}
}

// specialOp is what a special opcode adds: bytes (operations on VLIW machines)
// and lines.
type specialOp struct {
	addr uint64
	num  int32
}

func (t *LineTable) specials() (ops [256]specialOp) {
	if t.lineRange == 0 {
		return ops
	}
	for op := uint64(t.opBase); op < 256; op++ {
		adj := op - uint64(t.opBase)
		ops[op].addr = adj / t.lineRange
		if t.maxOps == 1 {
			ops[op].addr *= t.minInst
		}
		ops[op].num = int32(t.lineBase + int64(adj%t.lineRange))
	}
	return ops
}

// advance moves by n operations (6.2.5.1).
func (t *LineTable) advance(s *lineState, n uint64) {
	if t.maxOps == 1 {
		if hi, lo := bits.Mul64(t.minInst, n); hi == 0 {
			s.add(lo)
		} else {
			s.wrap()
		}
		return
	}
	n = min(n, math.MaxUint64-s.op) // past the highest address anyway
	if hi, lo := bits.Mul64(t.minInst, (s.op+n)/t.maxOps); hi == 0 {
		s.add(lo)
	} else {
		s.wrap()
	}
	s.op = (s.op + n) % t.maxOps
}

// emit appends the row that the state describes.
func (t *LineTable) emit(s *lineState) {
	if s.none {
		return
	}
	r := Row{Addr: s.addr, File: uint32(s.file), Line: uint32(s.num)}
	if n := len(t.Rows); n > s.first {
		last := &t.Rows[n-1]
		if last.Addr == r.Addr {
			*last = r
			return
		}
		if last.Line == r.Line && last.File == r.File && last.Addr < r.Addr {
			t.repeats = append(t.repeats, r.Addr)
			return
		}
	}
	if len(t.Rows) == cap(t.Rows) {
		t.Rows = slices.Grow(t.Rows, len(t.Rows)) // append's smaller steps would leave more garbage
	}
	t.Rows = append(t.Rows, r)
}

// endSequence closes the open sequence at the state's address.
func (t *LineTable) endSequence(u *Unit, s *lineState, pos int) {
	rows := t.Rows[s.first:]
	switch {
	case !t.ended(u, s, pos) || len(rows) == 0:
	case !slices.IsSortedFunc(rows, byAddr):
		// Not allowed (6.2.5), but seen; ordered addresses are worth more.
		slices.SortStableFunc(rows, byAddr)
		fallthrough
	default:
		if lo := rows[0].Addr; lo < s.addr {
			t.Seqs = append(t.Seqs, Sequence{Lo: lo, Hi: s.addr, First: s.first, Last: len(t.Rows)})
		}
	}
	*s = lineState{file: 1, num: 1, first: len(t.Rows)}
}

func byAddr(a, b Row) int { return cmp.Compare(a.Addr, b.Addr) }

// ended reports whether a sequence ends at an address. What left the address space is not one: the extent of its rows is
// unknown. The end of code may be just past the highest address.
func (t *LineTable) ended(u *Unit, s *lineState, pos int) bool {
	if s.past || s.addr > t.most && s.addr-1 > t.most {
		t.faults = append(t.faults, Fault{"lines of a sequence", t.errorf(u, pos, "addresses past the highest one, %#x", t.most)})
		return false
	}
	return !s.none
}

// frequent executes the opcodes that compilers write most often, with operands
// of one byte, for which it takes a quarter of the time. It returns -1 for all
// others, which standard executes.
func (t *LineTable) frequent(s *lineState, op byte, pos int) int {
	if op == dw.LNSCopy {
		t.emit(s)
		return pos
	}
	if op == dw.LNSNegateStmt {
		return pos
	}
	if pos >= len(t.data) || t.data[pos] >= 0x80 {
		return -1
	}
	switch n := t.data[pos]; op {
	case dw.LNSSetColumn:
	case dw.LNSAdvanceLine:
		s.num += int64(int8(n<<1) >> 1)
	case dw.LNSAdvancePC:
		t.advance(s, uint64(n))
	case dw.LNSSetFile:
		s.file = uint64(n)
	default:
		return -1
	}
	return pos + 1
}

// standard executes a standard or extended opcode whose operands are at pos;
// it returns -1 if the program ends within them.
func (t *LineTable) standard(u *Unit, s *lineState, op byte, pos int) int {
	var n uint64
	if t.lineRange == 0 && (op >= t.opBase || op == dw.LNSConstAddPC) {
		return -1 // how far, is not known
	}
	switch op {
	case 0:
		return t.extended(u, s, pos)
	case dw.LNSCopy:
		t.emit(s)
	case dw.LNSAdvancePC:
		if n, pos = uleb(t.data, pos); pos >= 0 {
			t.advance(s, n)
		}
	case dw.LNSAdvanceLine:
		var d int64
		d, pos = sleb(t.data, pos)
		s.num += d
	case dw.LNSSetFile:
		n, pos = uleb(t.data, pos)
		s.file = min(n, math.MaxUint32)
	case dw.LNSConstAddPC:
		t.advance(s, (255-uint64(t.opBase))/t.lineRange)
	case dw.LNSFixedAdvancePC:
		if len(t.data)-pos < 2 {
			return -1
		}
		s.add(uint64(u.Order.u16(t.data[pos:])))
		s.op = 0
		pos += 2
	case dw.LNSNegateStmt, dw.LNSSetBasicBlock, dw.LNSSetPrologueEnd, dw.LNSSetEpilogueBegin:
	case dw.LNSSetColumn, dw.LNSSetISA:
		_, pos = uleb(t.data, pos)
	default:
		for k := t.lengths[op-1]; k > 0 && pos >= 0; k-- {
			_, pos = uleb(t.data, pos)
		}
	}
	return pos
}

// extended executes an extended opcode, which begins with its length.
func (t *LineTable) extended(u *Unit, s *lineState, pos int) int {
	size, pos := uleb(t.data, pos)
	if pos < 0 || size > uint64(len(t.data)-pos) {
		return -1
	}
	if size == 0 { // not even an opcode: padding
		return pos
	}
	arg := t.data[pos+1 : pos+int(size)]
	switch t.data[pos] {
	case dw.LNEEndSequence:
		t.endSequence(u, s, pos)
	case dw.LNESetAddress:
		switch len(arg) {
		case 1, 2, 4, 8:
			s.addr, s.op = u.Order.uint(arg), 0
			s.none = s.addr >= ^uint64(0)>>(64-8*len(arg))-1 // as in Unit.dropped
		default:
			return -1
		}
	case dw.LNEDefineFile:
		c := bin.New(".debug_line", arg, nil)
		c.CStr()
		e := fileEntry{name: Value{Inline, uint64(pos + 1)}, dir: c.ULEB()}
		if c.Err() == nil {
			t.files = append(t.files, e)
		}
	}
	return pos + int(size)
}
