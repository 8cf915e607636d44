package dwarf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/dw"
)

// Kind says how to interpret a value's number.
type Kind uint8

const (
	None      Kind = iota
	Const          // a constant, or a flag
	Addr           // an address
	Addrx          // an index into .debug_addr
	AddrxOff       // an index into .debug_addr in the upper 32 bits, and an offset to add in the lower ones
	SecOff         // an offset into another section
	Rnglistx       // an index into the unit's range list offsets
	Ref            // a DIE, by its offset in .debug_info
	RefSup         // a DIE of the supplementary file, by its offset in .debug_info
	RefSig         // a DIE of a type unit, by the type's signature
	Strp           // an offset into .debug_str
	StrpSup        // an offset into the supplementary file's .debug_str
	LineStrp       // an offset into .debug_line_str
	Strx           // an index into .debug_str_offsets
	Inline         // a string in the unit itself, by its offset there
	Expr           // an expression, by the offset of its length in the unit
	Elsewhere      // a block, or a reference that only debuggers follow
	Unfit          // has a form that the attribute cannot have: see Misfit

	refInUnit // used only in steps: a Ref by its offset in the unit
)

// Value is an attribute's value as encoded in the DIE. What it refers to in other sections is looked up only when
// needed.
type Value struct {
	Kind Kind
	U    uint64
}

// Order reads fixed-size numbers. A bool costs less in the hot loops than
// calls through binary.ByteOrder.
type Order bool // true: big-endian

func (o Order) u16(b []byte) uint16 {
	if o {
		return binary.BigEndian.Uint16(b)
	}
	return binary.LittleEndian.Uint16(b)
}

func (o Order) u32(b []byte) uint32 {
	if o {
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

func (o Order) u64(b []byte) uint64 {
	if o {
		return binary.BigEndian.Uint64(b)
	}
	return binary.LittleEndian.Uint64(b)
}

// uint reads a number that has as many bytes as b: 1, 2, 3, 4 or 8.
func (o Order) uint(b []byte) uint64 {
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(o.u16(b))
	case 4:
		return uint64(o.u32(b))
	case 8:
		return o.u64(b)
	}
	var v uint64
	for i := range b {
		if o {
			v = v<<8 | uint64(b[i])
		} else {
			v |= uint64(b[i]) << (8 * i)
		}
	}
	return v
}

func (o Order) byteOrder() binary.ByteOrder {
	if o {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// uleb decodes an unsigned LEB128 at pos; next is -1 if data ends within it.
func uleb(data []byte, pos int) (v uint64, next int) {
	for shift := uint(0); pos < len(data); shift += 7 {
		b := data[pos]
		pos++
		if shift < 64 {
			v |= uint64(b&0x7f) << shift
		}
		if b < 0x80 {
			return v, pos
		}
	}
	return 0, -1
}

// sleb decodes a signed LEB128 at pos; next is -1 if data ends within it.
func sleb(data []byte, pos int) (v int64, next int) {
	for shift := uint(0); pos < len(data); shift += 7 {
		b := data[pos]
		pos++
		if shift < 64 {
			v |= int64(b&0x7f) << shift
		}
		if b < 0x80 {
			if shift < 57 && b&0x40 != 0 {
				v |= -1 << (shift + 7)
			}
			return v, pos
		}
	}
	return 0, -1
}

// skip skips, from pos, the bytes that a step of a skip program stands for. It returns the new position, or -1 if the
// unit ends within them.
func (u *Unit) skip(s *step, pos int) int {
	n := uint64(s.n)
	data := u.data
	switch s.op {
	case opFixed:
	case opLEB:
		for pos < len(data) {
			pos++
			if data[pos-1] < 0x80 {
				return pos
			}
		}
		return -1
	case opString:
		i := bytes.IndexByte(data[pos:], 0)
		if i < 0 {
			return -1
		}
		return pos + i + 1
	case opLEB4:
		_, next := u.addrxOffset(pos)
		return next
	case opBlock1, opBlock2, opBlock4:
		size := 1 << (s.op - opBlock1)
		if len(data)-pos < size {
			return -1
		}
		n = u.Order.uint(data[pos : pos+size])
		pos += size
	case opBlock:
		if n, pos = uleb(data, pos); pos < 0 {
			return -1
		}
	case opTake:
		_, next := u.taken(s, pos)
		return next
	case opIndirect:
		_, next := u.value(dw.FormIndirect, 0, pos)
		return next
	}
	if n > uint64(len(data)-pos) {
		return -1
	}
	return pos + int(n)
}

// value reads a value of the given form at pos; next is -1 if the unit ends
// within it or the form is unknown.
func (u *Unit) value(form uint64, constant int64, pos int) (v Value, next int) {
	n := u.Sizes().fixedSize(form)
	var num uint64
	if n >= 0 && n <= 8 {
		if len(u.data)-pos < n {
			return v, -1
		}
		num, next = u.Order.uint(u.data[pos:pos+n]), pos+n
	}
	switch kind := kindOf(form); {
	case form == dw.FormFlagPresent:
		return Value{Const, 1}, next
	case form == dw.FormImplicitConst:
		return Value{Const, uint64(constant)}, next
	case kind == refInUnit:
		return Value{Ref, u.Off + num}, next
	case kind != None:
		return Value{kind, num}, next
	case form == dw.FormData16:
		if len(u.data)-pos < n {
			return v, -1
		}
		return Value{Elsewhere, num}, pos + n
	}
	return u.variableValue(form, pos)
}

// kindOf returns the kind of values of fixed size, up to 8 bytes, or None for other forms.
func kindOf(form uint64) Kind {
	switch form {
	case dw.FormData1, dw.FormData2, dw.FormData4, dw.FormData8, dw.FormFlag, dw.FormFlagPresent, dw.FormImplicitConst:
		// DWARF 2 and 3 have no sec_offset, but use data4 and data8 (DWARF 3, 7.5.4).
		return Const
	case dw.FormAddr:
		return Addr
	case dw.FormSecOffset:
		return SecOff
	case dw.FormRef1, dw.FormRef2, dw.FormRef4, dw.FormRef8:
		return refInUnit
	case dw.FormRefAddr:
		return Ref
	case dw.FormStrp:
		return Strp
	case dw.FormLineStrp:
		return LineStrp
	case dw.FormStrx1, dw.FormStrx2, dw.FormStrx3, dw.FormStrx4:
		return Strx
	case dw.FormAddrx1, dw.FormAddrx2, dw.FormAddrx3, dw.FormAddrx4:
		return Addrx
	case dw.FormRefSup4, dw.FormRefSup8, dw.FormGNURefAlt:
		return RefSup
	case dw.FormStrpSup, dw.FormGNUStrpAlt:
		return StrpSup
	case dw.FormRefSig8:
		return RefSig
	}
	return None
}

// taken reads the value that a step takes, as value does. It is Unfit if the attribute cannot have its form.
func (u *Unit) taken(s *step, pos int) (v Value, next int) {
	if s.kind == None {
		return u.takenSlowly(s, pos)
	}
	data := u.data
	if next = pos + int(s.size); next > len(data) {
		return v, -1
	}
	switch v.Kind = s.kind; s.size {
	case 0:
		v.U = uint64(s.n)
	case 1:
		v.U = uint64(data[pos])
	case 4:
		v.U = uint64(u.Order.u32(data[pos:]))
	default:
		v.U = u.Order.uint(data[pos:next])
	}
	if s.kind == refInUnit {
		v = Value{Ref, u.Off + v.U}
	}
	return v, next
}

// takenSlowly is like taken, for steps whose form must be examined.
func (u *Unit) takenSlowly(s *step, pos int) (v Value, next int) {
	form := uint64(s.form)
	if form == dw.FormIndirect {
		if form, pos = u.indirect(pos); pos < 0 {
			return v, -1
		}
	}
	if v, next = u.value(form, s.n, pos); next >= 0 && !fits(uint64(s.at), v.Kind) {
		v = Value{Unfit, uint64(s.at)<<16 | form}
	}
	return v, next
}

// indirect reads the form that precedes a value. It returns the form and where the value begins, or -1 if the form is
// invalid.
func (u *Unit) indirect(pos int) (form uint64, next int) {
	form = dw.FormIndirect
	for steps := 0; form == dw.FormIndirect; steps++ {
		if form, pos = uleb(u.data, pos); pos < 0 || steps == maxIndirect {
			return form, -1
		}
	}
	if form == dw.FormImplicitConst {
		return form, -1 // its constant would be in the abbreviation
	}
	return form, pos
}

// maxIndirect bounds forms that name DW_FORM_indirect again.
const maxIndirect = 8

// variableValue is like value, for the forms whose size depends on the value.
func (u *Unit) variableValue(form uint64, pos int) (v Value, next int) {
	switch form {
	case dw.FormSdata:
		s, next := sleb(u.data, pos)
		return Value{Const, uint64(s)}, next
	case dw.FormString:
		i := bytes.IndexByte(u.data[pos:], 0)
		if i < 0 {
			return v, -1
		}
		return Value{Inline, uint64(pos)}, pos + i + 1
	case dw.FormIndirect:
		real, pos := u.indirect(pos)
		if pos < 0 {
			return v, -1
		}
		return u.value(real, 0, pos)
	case dw.FormExprloc:
		return Value{Expr, uint64(pos)}, u.skip(&step{op: opBlock}, pos)
	case dw.FormLLVMAddrxOff:
		return u.addrxOffset(pos)
	}
	op, ok := skipOp(form)
	if !ok {
		return v, -1
	}
	if op != opLEB {
		return Value{Elsewhere, 0}, u.skip(&step{op: op}, pos)
	}
	num, next := uleb(u.data, pos)
	switch form {
	case dw.FormUdata:
		v = Value{Const, num}
	case dw.FormRefUdata:
		v = Value{Ref, u.Off + num}
	case dw.FormStrx, dw.FormGNUStrIndex:
		v = Value{Strx, num}
	case dw.FormAddrx, dw.FormGNUAddrIndex:
		v = Value{Addrx, num}
	case dw.FormRnglistx:
		v = Value{Rnglistx, num}
	default:
		v = Value{Elsewhere, num}
	}
	return v, next
}

// addrxOffset reads a DW_FORM_LLVM_addrx_offset (LLVM,
// "-minimize-addr-in-v5"): an index into .debug_addr and an offset to add, so
// that a unit needs few entries.
func (u *Unit) addrxOffset(pos int) (v Value, next int) {
	index, pos := uleb(u.data, pos)
	if pos < 0 || len(u.data)-pos < 4 {
		return v, -1
	}
	off := u.Order.u32(u.data[pos:])
	if index > math.MaxUint32 {
		return Value{Addrx, index}, pos + 4 // outside any table
	}
	return Value{AddrxOff, index<<32 | uint64(off)}, pos + 4
}

// address resolves a value of class address.
func (u *Unit) address(v Value) (uint64, bool) {
	switch v.Kind {
	case AddrxOff:
		a, ok := u.addrx(v.U >> 32)
		return u.plus(a, v.U&math.MaxUint32), ok
	case Addr:
		return v.U, true
	case Addrx:
		return u.addrx(v.U)
	case Expr:
		code, ok := u.exprAt(v.U)
		if !ok {
			return 0, false
		}
		return u.Constant(code)
	}
	return 0, false
}

// addrx reads entry i of the unit's part of .debug_addr (DWARF 5, 7.27).
func (u *Unit) addrx(i uint64) (uint64, bool) {
	size := uint64(u.AddrSize)
	off, ok := tableEntry(u.addrBase, i, size, uint64(len(u.sect.Addr)))
	if !ok {
		return 0, false
	}
	return u.Order.uint(u.sect.Addr[off : off+size]), true
}

// tableEntry returns the offset of entry i of a table at base whose entries all have the same size. It reports false
// unless all of the entry is below limit.
func tableEntry(base, i, size, limit uint64) (uint64, bool) {
	if base > limit || i >= (limit-base)/size {
		return 0, false
	}
	return base + i*size, true
}

// Text returns the bytes of a value of class string.
func (u *Unit) Text(v Value) ([]byte, bool) {
	switch v.Kind {
	case Strp:
		return CString(u.sect.Str, v.U)
	case StrpSup:
		return CString(u.sect.SupStr, v.U)
	case LineStrp:
		return CString(u.sect.LineStr, v.U)
	case Inline:
		return CString(u.data, v.U)
	case Strx:
		if off, ok := u.StrOffset(v.U); ok {
			return CString(u.sect.Str, off)
		}
	}
	return nil, false
}

// TextError returns the reason why v, a value of class string of the DIE at pos, cannot be read.
func (u *Unit) TextError(pos int, v Value) error {
	section := ".debug_str"
	switch v.Kind {
	case LineStrp:
		section = ".debug_line_str"
	case StrpSup:
		section = ".debug_str of the supplementary file"
	case Strx:
		off, ok := u.StrOffset(v.U)
		if !ok {
			return u.Errorf(pos, "string index %d outside .debug_str_offsets", v.U)
		}
		v.U = off
	}
	return u.Errorf(pos, "string at %#x outside %s", v.U, section)
}

// inString reports whether a value of class string lies in the section that it refers to, without following indices.
func (u *Unit) inString(v Value) bool {
	switch v.Kind {
	case Strp:
		return v.U < uint64(len(u.sect.Str))
	case LineStrp:
		return v.U < uint64(len(u.sect.LineStr))
	}
	return true
}

// StrOffset returns the offset in .debug_str at entry i of the unit's part of .debug_str_offsets (DWARF 5, 7.26).
func (u *Unit) StrOffset(i uint64) (uint64, bool) {
	size := u.offsetSize()
	off, ok := tableEntry(u.strOffsetsBase, i, size, uint64(len(u.sect.StrOffsets)))
	if !ok {
		return 0, false
	}
	return u.Order.uint(u.sect.StrOffsets[off : off+size]), true
}

// CString returns the string at off without its NUL. It reports false if there is none.
func CString(section []byte, off uint64) ([]byte, bool) {
	if off >= uint64(len(section)) {
		return nil, false
	}
	n := bytes.IndexByte(section[off:], 0)
	if n < 0 {
		return nil, false
	}
	return section[off : off+uint64(n)], true
}

// Errorf returns an error located at pos of the unit.
func (u *Unit) Errorf(pos int, format string, args ...any) *bin.Error {
	return &bin.Error{File: u.sect.File, Section: ".debug_info", Offset: u.Off + uint64(pos), Msg: fmt.Sprintf(format, args...)}
}
