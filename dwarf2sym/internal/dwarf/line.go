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
	lostDir   bool // the name of a directory was reported
	lostFile  bool // and the name of a file

	most   uint64  // the highest address
	faults []Fault // what is lost, unless everything is

	dirs  []Value // names; for those in the program itself (Inline) the offset in data
	files []fileEntry
	Rows  []Row
	Seqs  []Sequence

	repeats []uint64 // addresses of rows that repeat the line of the row before them

	overlaps
}

// fileEntry is an entry of the program's file table. Its name is looked up only when a record uses it, as most
// entries are there only for types.
type fileEntry struct {
	name Value
	dir  uint64
	md5  int    // version 5: offset of its digest in the program; 0 for none
	size uint64 // in bytes; 0 if it is unknown
}

// Read decodes the line program of u and sorts its sequences. In a damaged sequence, the rows before the damage are
// kept.
func (t *LineTable) Read(u *Unit, w *Window) []Fault {
	if err := t.open(u, w); err != nil {
		return []Fault{{"lines", err}}
	}
	t.run(u)
	slices.SortStableFunc(t.Seqs, func(a, b Sequence) int { return cmp.Compare(a.Lo, b.Lo) })
	slices.Sort(t.repeats)
	t.findOverlaps()
	return t.faults
}

// ReadFiles decodes only the header of u's line program, for the names of files.
func (t *LineTable) ReadFiles(u *Unit, w *Window) []Fault {
	if err := t.open(u, w); err != nil {
		return []Fault{{"lines", err}}
	}
	return t.faults
}

// open finds the program of u and decodes its header. It returns an error if the whole program is lost.
func (t *LineTable) open(u *Unit, w *Window) error {
	t.Clear()
	if err := t.load(u, w); err != nil {
		return err
	}
	return t.header(u)
}

// Clear makes the table empty.
func (t *LineTable) Clear() {
	t.data, t.version, t.prog = nil, 0, 0
	t.faults, t.lostDir, t.lostFile = nil, false, false
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

// lineState is the line number state machine (6.2.2).
type lineState struct {
	addr  uint64
	op    uint64 // op_index, on VLIW machines
	file  uint64
	num   int64
	first int  // first row of the open sequence
	none  bool // addr is not an address: there are no rows until the next one is set
	past  bool // the sequence had addresses past the highest one

	cut bool   // what follows in the sequence is lost
	hi  uint64 // where it was cut; 0 if not at an address

	program
}

// next begins a sequence whose first row has index first.
func (s *lineState) next(first int) {
	*s = lineState{file: 1, num: 1, first: first, program: s.program}
}

// add advances the address by n bytes.
func (s *lineState) add(n uint64) {
	if s.addr += n; s.addr < n {
		s.wrap()
	}
}

// wrap records that the address passed the highest one. An address of dropped code was never valid.
func (s *lineState) wrap() { s.past, s.none = s.past || !s.none, true }

// run executes the program. A row that only repeats the line of the row before it is dropped, and its address
// recorded in repeats. Of several rows at the same address, the last one is kept.
func (t *LineTable) run(u *Unit) {
	special := t.specials()
	var s lineState
	s.next(0)
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
			break
		}
		pos = next
	}
	t.finish(u, &s, pos, len(t.Rows) > s.first)
	t.close(&s, s.hi)
}

// specialOp is what a special opcode adds: bytes (operations on VLIW machines) and lines.
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

// endSequence executes the opcode before pos, which ends a sequence.
func (t *LineTable) endSequence(u *Unit, s *lineState, pos int) {
	if hi, ok := t.end(u, s, pos); ok {
		t.close(s, hi)
	}
	s.next(len(t.Rows))
}

// close makes a sequence that ends at hi from the open rows.
func (t *LineTable) close(s *lineState, hi uint64) {
	rows := t.Rows[s.first:]
	if !slices.IsSortedFunc(rows, byAddr) {
		// Not allowed (6.2.5), but it occurs; sorting is better than losing the rows.
		slices.SortStableFunc(rows, byAddr)
	}
	if len(rows) > 0 && rows[0].Addr < hi {
		t.Seqs = append(t.Seqs, Sequence{Lo: rows[0].Addr, Hi: hi, First: s.first, Last: len(t.Rows)})
	}
}

func byAddr(a, b Row) int { return cmp.Compare(a.Addr, b.Addr) }

// frequent executes the opcodes that compilers write most often, with operands of one byte, in a quarter of the
// time that standard takes. It returns -1 for all others, which are left to standard.
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

// standard executes a standard or extended opcode whose operands are at pos. It returns -1 if the program ends
// within them.
func (t *LineTable) standard(u *Unit, s *lineState, op byte, pos int) int {
	var n uint64
	if t.lineRange == 0 && (op >= t.opBase || op == dw.LNSConstAddPC) {
		t.cut(u, s, pos-1, "opcode %d with line range 0", op)
		return pos
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
			s.none = s.cut || s.addr >= ^uint64(0)>>(64-8*len(arg))-1 // as in Unit.dropped
		default:
			t.cut(u, s, pos, "address of %d bytes", len(arg))
		}
	case dw.LNEDefineFile:
		c := bin.New(".debug_line", arg, nil)
		c.CStr()
		e := fileEntry{name: Value{Inline, uint64(pos + 1)}, dir: c.ULEB()}
		if c.Err() != nil {
			e = fileEntry{} // it still takes up a number
			t.faults = append(t.faults, Fault{fmt.Sprintf("file %d", len(t.files)), t.errorf(u, pos, "definition of a file ends within it")})
		}
		t.files = append(t.files, e)
	}
	return pos + int(size)
}
