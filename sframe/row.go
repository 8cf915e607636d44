package sframe

import "encoding/binary"

// Row is a frame row (FRE, 2.4): the rules from Start up to the next row.
type Row struct {
	Start  uint32 // in bytes from the function's start; for PCMASK, from the start of each block
	CFA    Rule
	RA     Rule
	FP     Rule
	Signed bool // AArch64: the return address has pointer authentication bits
}

// Outermost reports whether the frame has no caller.
func (r *Row) Outermost() bool { return r.RA.Kind == Undefined }

// Kind is the kind of a rule.
type Kind uint8

// The kinds of rules.
const (
	Same      Kind = iota // the register still has the caller's value
	Undefined             // there is no value; for RA, the frame is outermost
	Value                 // base + offset
	Memory                // the word in memory at base + offset
)

// Rule computes a value of the caller.
type Rule struct {
	Kind   Kind
	Reg    Reg   // base: a register of the callee, or CFA
	Offset int64 // bytes
}

// Form is the encoding of a row.
type Form struct {
	Offset   uint64 // of the row in the section
	Info     uint8
	Words    int // number of data words
	WordSize int // in bytes
	RA, FP   Presence
	Surplus  int // number of unused words
}

// Presence says how a rule is encoded.
type Presence uint8

// Possible origins of a rule.
const (
	Absent  Presence = iota // not at all: the header's or the ABI's rule applies
	Padding                 // by a word that stands for no rule
	Given
)

// Rows iterates over the rows of a function. Next must be called before each row, including the
// first.
type Rows struct {
	Row  Row
	Form Form

	s    *Section
	h    *Header
	abi  *abi
	f    *FDE
	pos  uint32 // offset of the next row in h.rows
	left uint32
	data []byte // data words of the current row
	err  error
}

// Rows returns the rows of FDE i.
func (s *Section) Rows(i int) (rows Rows) {
	rows.init(s, i)
	return rows
}

func (r *Rows) init(s *Section, i int) {
	f := &s.FDEs[i]
	r.s, r.f, r.h, r.pos, r.left = s, f, &s.Headers[f.header], f.rows, f.NumRows
	r.abi = r.h.ABI.info()
	if f.lost {
		r.err = s.fail(s.Offset(i), "the attributes of the function at %#x cannot be read", f.Start)
	}
}

// Outermost reports whether FDE i says, by having no rows, that the whole function has no caller.
// For a signal frame, the lack of rows only means that its rules cannot be represented.
func (s *Section) Outermost(i int) bool {
	f := &s.FDEs[i]
	return f.NumRows == 0 && !f.Signal && !f.lost && s.Header(i).Version >= 3
}

// Err returns the error that stopped Next before the last row, or nil.
func (r *Rows) Err() error { return r.err }

// Next reads the next row. It returns false if there is none, or after damage.
func (r *Rows) Next() bool {
	if r.left == 0 || r.err != nil {
		return false
	}
	start, info, ok := r.head()
	if !ok {
		return false
	}
	r.Row = Row{Start: start}
	r.Form = Form{Offset: r.h.fres + uint64(r.pos), Info: info, Words: int(info >> 1 & 15), WordSize: 1 << (info >> 5 & 3)}
	if !r.interpret() {
		return false
	}
	r.skip()
	return true
}

// head reads the start and info of the row at pos, and finds its data words.
func (r *Rows) head() (start uint32, info uint8, ok bool) {
	n := uint64(r.f.addrSize)
	if n == 0 {
		return 0, 0, r.fail("rows of type %d, want 0 to 2", r.f.Info&15)
	}
	b := r.h.rows
	if uint64(r.pos)+n >= uint64(len(b)) {
		return 0, 0, r.fail("row %d of %d extends past the rows' %d bytes", r.f.NumRows-r.left, r.f.NumRows, len(b))
	}
	b = b[r.pos:]
	start, info = r.word(b, int(n)), b[n]
	if info>>5&3 == 3 {
		return 0, 0, r.fail("info %#02x: data words of size code 3", info)
	}
	size := uint64(info>>1&15) << (info >> 5 & 3)
	if b = b[n+1:]; uint64(len(b)) < size {
		return 0, 0, r.fail("info %#02x: %d bytes of data words, %d left", info, size, len(b))
	}
	r.data = b[:size]
	return start, info, true
}

// skip skips the row whose head has been read.
func (r *Rows) skip() {
	r.pos += uint32(r.f.addrSize) + 1 + uint32(len(r.data))
	r.left--
}

// word reads an unsigned number of 1, 2 or 4 bytes.
func (r *Rows) word(b []byte, size int) uint32 {
	switch {
	case size == 1:
		return uint32(b[0])
	case size == 2 && r.abi.big:
		return uint32(binary.BigEndian.Uint16(b))
	case size == 2:
		return uint32(binary.LittleEndian.Uint16(b))
	case r.abi.big:
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

func (r *Rows) unsigned(i int) uint32 { return r.word(r.data[i*r.Form.WordSize:], r.Form.WordSize) }

func (r *Rows) signed(i int) int64 {
	shift := 32 - 8*r.Form.WordSize
	return int64(int32(r.unsigned(i)<<shift) >> shift)
}

// seek reads the last row that starts at or before off, assuming that rows ascend. It
// returns false if there is none or it is damaged.
func (r *Rows) seek(off uint32) bool {
	pos, left := r.pos, uint32(0)
	for r.left > 0 {
		start, _, ok := r.head()
		if !ok {
			return false
		}
		if start > off {
			break
		}
		pos, left = r.pos, r.left
		r.skip()
	}
	r.pos, r.left = pos, left
	return r.Next()
}

// fail records damage to the row at pos, and returns false.
func (r *Rows) fail(format string, args ...any) bool {
	r.err = r.s.fail(r.h.fres+uint64(r.pos), format, args...)
	return false
}

// interpret converts data words to rules. It returns false if they are damaged.
func (r *Rows) interpret() bool {
	r.Row.Signed = r.Form.Info&0x80 != 0
	r.defaults()
	switch {
	case r.Form.Words == 0:
		r.Row.RA = Rule{Kind: Undefined}
	case r.f.Flex:
		return r.flexible()
	default:
		r.fixed()
	}
	return true
}

// defaults sets the rules that the header gives.
func (r *Rows) defaults() {
	if r.h.FixedRA != 0 {
		r.Row.RA = Rule{Memory, CFA, int64(r.h.FixedRA)}
	}
	if r.h.FixedFP != 0 {
		r.Row.FP = Rule{Memory, CFA, int64(r.h.FixedFP)}
	}
}

// fixed reads the CFA, then RA and FP unless the header gives them (3).
func (r *Rows) fixed() {
	base := r.abi.sp
	if r.Form.Info&1 == 0 {
		base = r.abi.fp
	}
	r.Row.CFA = Rule{Value, base, r.signed(0)*r.abi.scale + r.abi.bias}
	next := 1
	if r.h.FixedRA == 0 && next < r.Form.Words {
		r.slot(&r.Row.RA, &r.Form.RA, next)
		next++
	}
	if r.h.FixedFP == 0 && next < r.Form.Words {
		r.slot(&r.Row.FP, &r.Form.FP, next)
		next++
	}
	r.Form.Surplus = r.Form.Words - next
}

// slot reads where RA or FP was saved. For RA, 0 means that it was not saved: the word is there
// because a word for FP follows.
func (r *Rows) slot(rule *Rule, presence *Presence, i int) {
	w := r.signed(i)
	*presence = Given
	switch {
	case w == 0 && rule == &r.Row.RA:
		*presence = Padding
	case w&1 != 0 && r.abi.slotRegs && r.h.Version == 2:
		*rule = Rule{Value, Reg(w >> 1), 0}
	default:
		*rule = Rule{Memory, CFA, w}
	}
}

// flexible reads pairs of a control word and an offset, for CFA, RA and FP. It returns
// false if they are damaged.
func (r *Rows) flexible() bool {
	rules := [...]*Rule{&r.Row.CFA, &r.Row.RA, &r.Row.FP}
	presence := [...]*Presence{new(Presence), &r.Form.RA, &r.Form.FP}
	i := 0
	for k := 0; k < len(rules) && i < r.Form.Words; k++ {
		control := r.unsigned(i)
		i++
		if control == 0 {
			*presence[k] = Padding
			continue
		}
		if i == r.Form.Words {
			return r.fail("%d data words, the last of which is a control word without an offset", i)
		}
		*rules[k] = flexRule(control, r.signed(i))
		*presence[k] = Given
		i++
	}
	r.Form.Surplus = r.Form.Words - i
	if cfa := &r.Row.CFA; cfa.Kind == Same || cfa.Reg == CFA {
		return r.fail("the rule of the CFA has no base register")
	}
	r.Row.CFA.Offset = r.Row.CFA.Offset*r.abi.scale + r.abi.bias
	return true
}

// The bits of a control word in version 3. The register's number is above them.
const (
	controlReg   = 1
	controlDeref = 2
	controlShift = 3
)

func flexRule(control uint32, offset int64) Rule {
	rule := Rule{Value, CFA, offset}
	if control&controlDeref != 0 {
		rule.Kind = Memory
	}
	if control&controlReg != 0 {
		rule.Reg = Reg(control >> controlShift)
	}
	return rule
}

// Find returns the index of the FDE that covers pc and the row in force there. The error is
// [ErrNoFDE], [ErrNoRow] or a *damage.Error that reports damage. Only the last is allocated.
func (s *Section) Find(pc uint64) (fde int, row Row, err error) {
	i := s.FindFDE(pc)
	if i < 0 {
		return -1, Row{}, ErrNoFDE
	}
	f := &s.FDEs[i]
	if f.Mask && f.Block == 0 {
		return i, Row{}, s.fail(s.Offset(i), "PCMASK with a block of size 0")
	}
	off := f.offset(pc)
	var rows Rows
	rows.init(s, i)
	if s.Outermost(i) {
		return i, Row{RA: Rule{Kind: Undefined}}, nil
	}
	if !rows.seek(off) || rows.Row.Start > off {
		if rows.err != nil {
			return i, Row{}, rows.err
		}
		return i, Row{}, ErrNoRow
	}
	return i, rows.Row, nil
}

// offset returns the offset of pc that rows' starts are compared with; pc must be in the
// function. A PCMASK function must have a block.
func (f *FDE) offset(pc uint64) uint32 {
	off := uint32(pc - f.Start)
	if f.Mask {
		off %= f.Block
	}
	return off
}
