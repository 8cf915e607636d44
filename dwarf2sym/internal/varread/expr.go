package varread

import (
	"bytes"
	"slices"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/dw"
	"github.com/symtool/symtool/internal/intern"
	"github.com/symtool/symtool/symfmt/vars"
)

// maxReferences bounds the length of chains of expressions that refer to each other, and of types and
// their elements.
const maxReferences = 64

// exprDecoder converts a DWARF expression to operations of the model.
type exprDecoder struct {
	v       *Reader
	u       *units.Unit
	c       bin.Cursor
	ops     []vars.Op
	starts  []int32 // by operation: its offset in the expression
	jumps   []jump
	shared  bool // has the same meaning in every unit, as it does not refer to debug information
	unknown bool // the model cannot represent an operation
	dropped bool // refers to code or data that the linker dropped, and has no value
}

// jump is an operation whose target is still an offset in the expression.
type jump struct{ op, to int }

// expr returns the number of an expression.
func (v *Reader) expr(u *units.Unit, code []byte) vars.ExprID {
	if id, ok := v.raw.get(code); ok {
		return id
	}
	if v.depth++; v.depth > maxReferences {
		v.depth--
		return v.addExpr(unsupported)
	}
	ops, shared := v.decode(u, code)
	v.depth--
	id := v.addExpr(ops)
	if shared {
		v.raw.put(code, id)
	}
	return id
}

var unsupported = []vars.Op{{Code: vars.OpUnsupported}}

// addExpr interns operations. An expression without operations means that there is no value.
func (v *Reader) addExpr(ops []vars.Op) vars.ExprID {
	id, isNew := v.AddExpr(ops)
	if isNew {
		v.Meter.Spend(exprCost)
	}
	return id
}

const exprCost = 64

// rawExprs maps the bytes of expressions to their numbers. Most expressions have few bytes, which serve as the key.
type rawExprs struct {
	short intern.Offsets
	long  intern.Table
	ids   []vars.ExprID // by number in long
}

// shortExpr returns an expression of at most 7 bytes as a number, a different one for each. The upper half is mixed
// into the lower one, which Offsets uses to spread its keys.
func shortExpr(code []byte) (key uint64, ok bool) {
	if len(code) > 7 {
		return 0, false
	}
	for i := len(code) - 1; i >= 0; i-- {
		key = key<<8 | uint64(code[i])
	}
	key = key<<8 | uint64(len(code))
	return key ^ key>>32, true
}

func (r *rawExprs) get(code []byte) (vars.ExprID, bool) {
	if key, ok := shortExpr(code); ok {
		id, ok := r.short.Get(key)
		return vars.ExprID(id), ok
	}
	n, ok := r.long.Find(code)
	if !ok {
		return 0, false
	}
	return r.ids[n], true
}

func (r *rawExprs) put(code []byte, id vars.ExprID) {
	if key, ok := shortExpr(code); ok {
		r.short.Put(key, uint32(id))
		return
	}
	if n := r.long.Intern(code); int(n) == len(r.ids) { // not added while decoding it
		r.ids = append(r.ids, id)
	}
}

func (r *rawExprs) clear() {
	r.short.Clear()
	r.long, r.ids = intern.Table{}, nil
}

// opBuffers is reusable storage of a decoder.
type opBuffers struct {
	ops    []vars.Op
	starts []int32
}

// decode returns the operations of an expression. shared reports whether they have the same meaning in every unit. They
// are valid until the next expression at this depth is decoded.
func (v *Reader) decode(u *units.Unit, code []byte) (ops []vars.Op, shared bool) {
	v.Meter.Spend(uint64(len(code)))
	if v.decoding == len(v.decoded) {
		v.decoded = append(v.decoded, opBuffers{})
	}
	buf := v.decoded[v.decoding]
	d := exprDecoder{v: v, u: u, c: u.Cursor(code), shared: true, ops: buf.ops[:0], starts: buf.starts[:0]}
	v.decoding++
	defer func() {
		v.decoding--
		v.decoded[v.decoding] = opBuffers{d.ops, d.starts}
	}()
	for d.c.Len() > 0 && d.c.Err() == nil && !d.unknown && len(d.ops) <= vars.MaxOps {
		d.starts = append(d.starts, int32(d.c.Pos()))
		n := len(d.ops)
		d.op(d.c.U8())
		if len(d.ops) == n { // nothing to do
			d.starts = d.starts[:n]
		}
	}
	if d.unknown || d.c.Err() != nil || len(d.ops) > vars.MaxOps || !d.land() {
		return unsupported, d.shared
	}
	if d.dropped {
		return nil, d.shared
	}
	return d.ops, d.shared
}

// land resolves the targets of jumps. It reports false if one is not at an operation.
func (d *exprDecoder) land() bool {
	for _, j := range d.jumps {
		to := -1
		if j.to == d.c.Pos() {
			to = len(d.ops)
		}
		if i, ok := slices.BinarySearch(d.starts, int32(j.to)); ok {
			to = i
		}
		if to < 0 {
			return false
		}
		d.ops[j.op].To = to
	}
	return true
}

func (d *exprDecoder) add(op vars.Op) { d.ops = append(d.ops, op) }

// plainOps are operations without operands.
var plainOps = [256]vars.OpCode{
	dw.OpDup: vars.OpDup, dw.OpDrop: vars.OpDrop, dw.OpSwap: vars.OpSwap, dw.OpRot: vars.OpRot, dw.OpOver: vars.OpOver,
	dw.OpAbs: vars.OpAbs, dw.OpAnd: vars.OpAnd, dw.OpDiv: vars.OpDiv, dw.OpMinus: vars.OpMinus, dw.OpMod: vars.OpMod,
	dw.OpMul: vars.OpMul, dw.OpNeg: vars.OpNeg, dw.OpNot: vars.OpNot, dw.OpOr: vars.OpOr, dw.OpPlus: vars.OpPlus,
	dw.OpShl: vars.OpShl, dw.OpShr: vars.OpShr, dw.OpShra: vars.OpShra, dw.OpXor: vars.OpXor, dw.OpEq: vars.OpEq,
	dw.OpGe: vars.OpGe, dw.OpGt: vars.OpGt, dw.OpLe: vars.OpLe, dw.OpLt: vars.OpLt, dw.OpNe: vars.OpNe,
	dw.OpPushObjectAddress: vars.OpObjectAt, dw.OpCallFrameCFA: vars.OpCFA, dw.OpStackValue: vars.OpStackValue,
}

func (d *exprDecoder) op(code byte) {
	c := &d.c
	if plain := plainOps[code]; plain != 0 {
		d.add(vars.Op{Code: plain})
		return
	}
	switch {
	case code >= dw.OpLit0 && code < dw.OpReg0:
		d.constant(uint64(code - dw.OpLit0))
		return
	case code >= dw.OpReg0 && code < dw.OpBreg0:
		d.add(vars.Op{Code: vars.OpReg, Reg: uint32(code - dw.OpReg0)})
		return
	case code >= dw.OpBreg0 && code < dw.OpRegx:
		d.add(vars.Op{Code: vars.OpBreg, Reg: uint32(code - dw.OpBreg0), S: c.SLEB()})
		return
	}
	switch code {
	case dw.OpNop, dw.OpGNUUninit:
	case dw.OpAddr:
		d.address(c.Uint(int(d.u.AddrSize)))
	case dw.OpAddrx, dw.OpGNUAddrIndex, dw.OpConstx, dw.OpGNUConstIndex:
		d.shared = false
		addr, ok := d.u.Addrx(c.ULEB())
		d.unknown = d.unknown || !ok
		if code == dw.OpAddrx || code == dw.OpGNUAddrIndex {
			d.address(addr)
		} else {
			d.constant(addr)
		}
	case dw.OpConst1u:
		d.constant(uint64(c.U8()))
	case dw.OpConst1s:
		d.constant(uint64(int8(c.U8())))
	case dw.OpConst2u:
		d.constant(uint64(c.U16()))
	case dw.OpConst2s:
		d.constant(uint64(int16(c.U16())))
	case dw.OpConst4u:
		d.constant(uint64(c.U32()))
	case dw.OpConst4s:
		d.constant(uint64(int32(c.U32())))
	case dw.OpConst8u, dw.OpConst8s:
		d.constant(c.U64())
	case dw.OpConstu:
		d.constant(c.ULEB())
	case dw.OpConsts:
		d.constant(uint64(c.SLEB()))
	case dw.OpPick:
		d.add(vars.Op{Code: vars.OpPick, U: uint64(c.U8())})
	case dw.OpPlusUconst:
		d.add(vars.Op{Code: vars.OpPlusConst, U: c.ULEB()})
	case dw.OpDeref:
		d.add(vars.Op{Code: vars.OpDeref, U: uint64(d.u.AddrSize)})
	case dw.OpDerefSize:
		d.add(vars.Op{Code: vars.OpDeref, U: uint64(c.U8())})
	case dw.OpSkip, dw.OpBra:
		by := int(int16(c.U16()))
		op := vars.OpSkip
		if code == dw.OpBra {
			op = vars.OpBranch
		}
		d.jumps = append(d.jumps, jump{len(d.ops), c.Pos() + by})
		d.add(vars.Op{Code: op})
	case dw.OpRegx:
		d.add(vars.Op{Code: vars.OpReg, Reg: uint32(c.ULEB())})
	case dw.OpBregx:
		d.add(vars.Op{Code: vars.OpBreg, Reg: uint32(c.ULEB()), S: c.SLEB()})
	case dw.OpFbreg:
		d.add(vars.Op{Code: vars.OpFbreg, S: c.SLEB()})
	case dw.OpPiece:
		d.add(vars.Op{Code: vars.OpPiece, U: c.ULEB()})
	case dw.OpBitPiece:
		d.add(vars.Op{Code: vars.OpBitPiece, U: c.ULEB(), S: int64(c.ULEB())})
	case dw.OpFormTLSAddress, dw.OpGNUPushTLSAddress:
		d.threadLocal()
	case dw.OpImplicitValue:
		d.add(vars.Op{Code: vars.OpImplicitValue, Data: bytes.Clone(c.Bytes(c.ULEB()))})
	case dw.OpEntryValue, dw.OpGNUEntryValue:
		sub, shared := d.v.decode(d.u, c.Bytes(c.ULEB()))
		d.shared = d.shared && shared
		d.add(vars.Op{Code: vars.OpEntryValue, Sub: slices.Clone(sub)})
	default:
		d.refersTo(code)
	}
}

// refersTo reads an operation that refers to debug information.
func (d *exprDecoder) refersTo(code byte) {
	c := &d.c
	d.shared = false
	switch code {
	case dw.OpCall2:
		d.call(d.u.Off + uint64(c.U16()))
	case dw.OpCall4:
		d.call(d.u.Off + uint64(c.U32()))
	case dw.OpCallRef:
		d.call(d.u.RefOffset(c))
	case dw.OpImplicitPointer, dw.OpGNUImplicitPointer:
		at := d.u.RefOffset(c)
		op := vars.Op{Code: vars.OpImplicitPointer, S: c.SLEB()}
		op.Label, op.Expr = d.v.reference(d.u, at)
		d.add(op)
	case dw.OpGNUParameterRef:
		if param, ok := d.v.parameter(d.u, dwarf.Value{Kind: dwarf.Ref, U: d.u.Off + uint64(c.U32())}); ok {
			d.add(vars.Op{Code: vars.OpEntryValue, Sub: []vars.Op{param}})
		} else {
			d.unknown = true
		}
	case dw.OpGNUVariableValue:
		label, expr := d.v.reference(d.u, d.u.RefOffset(c))
		d.unknown = d.unknown || expr != 0
		d.add(vars.Op{Code: vars.OpVariableValue, Label: label})
	case dw.OpConstType, dw.OpGNUConstType:
		t := d.baseType()
		d.add(vars.Op{Code: vars.OpConstType, Type: t, Data: bytes.Clone(c.Bytes(uint64(c.U8())))})
	case dw.OpRegvalType, dw.OpGNURegvalType:
		reg := uint32(c.ULEB())
		d.add(vars.Op{Code: vars.OpRegType, Reg: reg, Type: d.baseType()})
	case dw.OpDerefType, dw.OpGNUDerefType:
		size := uint64(c.U8())
		d.add(vars.Op{Code: vars.OpDerefType, U: size, Type: d.baseType()})
	case dw.OpConvert, dw.OpGNUConvert:
		d.add(vars.Op{Code: vars.OpConvert, Type: d.baseType()})
	case dw.OpReinterpret, dw.OpGNUReinterpret:
		d.add(vars.Op{Code: vars.OpReinterpret, Type: d.baseType()})
	default:
		d.unknown = true
	}
}

func (d *exprDecoder) constant(n uint64) { d.add(vars.Op{Code: vars.OpConst, U: n}) }

// threadLocal adds the operation that turns an offset into the address of a thread-local variable. Before DWARF 5
// introduced const8u for this, an address stood for the offset. In Mach-O it is the address of the variable's
// descriptor.
func (d *exprDecoder) threadLocal() {
	if n := len(d.ops); n > 0 {
		switch op := &d.ops[n-1]; {
		case op.Code == vars.OpAddr:
			*op = vars.Op{Code: vars.OpConst, U: d.v.module.Addr(vars.RVA(op.U))}
		case op.Code == vars.OpConst && d.v.linked != nil:
			var ok bool
			op.U, ok = d.v.linked.To(op.U)
			d.dropped = d.dropped || !ok
		}
	}
	d.add(vars.Op{Code: vars.OpTLS})
}

func (d *exprDecoder) address(addr uint64) {
	rva, ok := d.v.rva(addr)
	d.dropped = d.dropped || !ok
	d.add(vars.Op{Code: vars.OpAddr, U: uint64(rva)})
}

// baseType reads a reference to a base type; 0 means the generic type.
func (d *exprDecoder) baseType() vars.TypeID {
	off := d.c.ULEB()
	if off == 0 {
		return 0
	}
	id := d.v.typeAt(d.u, dwarf.Value{Kind: dwarf.Ref, U: d.u.Off + off})
	d.unknown = d.unknown || d.v.Type(id).Kind != vars.Base
	return id
}

// call adds the operations of a DIE's location if that does not vary; otherwise it adds a call.
func (d *exprDecoder) call(off uint64) {
	label, expr := d.v.reference(d.u, off)
	if expr == 0 {
		d.add(vars.Op{Code: vars.OpCall, Label: label})
		return
	}
	at := len(d.ops)
	for _, op := range d.v.Expr(expr).Ops() {
		if op.Code == vars.OpSkip || op.Code == vars.OpBranch {
			op.To += at
		}
		d.starts = append(d.starts, d.starts[at])
		d.add(op)
	}
	if n := len(d.ops) - at; n > 0 { // decode removes the start of an operation that adds nothing
		d.starts = append(d.starts[:at+1], d.starts[at+2:]...)
	}
}

// reference returns how operations refer to the variable or procedure at off: by its label or, if its location does not
// vary, by that.
func (v *Reader) reference(u *units.Unit, off uint64) (label uint32, expr vars.ExprID) {
	defer v.release(v.top)
	du, die, ok := v.dieAt(u, dwarf.Value{Kind: dwarf.Ref, U: off})
	if !ok {
		return 0, v.addExpr(unsupported)
	}
	if a := die.Attr(dw.AtConstValue); a != nil {
		return 0, v.constValue(du, a)
	}
	if a := die.Attr(dw.AtLocation); a != nil && a.IsBlock() {
		code, _ := du.Block(a)
		if die.Tag == dw.TagDwarfProcedure || len(code) > 0 && (code[0] == dw.OpAddr || code[0] == dw.OpAddrx || code[0] == dw.OpGNUAddrIndex) {
			return 0, v.expr(du, code)
		}
	}
	key, _ := v.originOf(du, die)
	return v.label(key), 0
}

// label returns the label of the variable declared at key.
func (v *Reader) label(key dieKey) uint32 {
	if v.labels[key] == 0 {
		v.labels[key] = uint32(len(v.labels) + 1)
	}
	return v.labels[key]
}

// constValue returns the expression of a DW_AT_const_value.
func (v *Reader) constValue(u *units.Unit, a *dwarf.Attr) vars.ExprID {
	if b, ok := u.Block(a); ok {
		return v.addExpr([]vars.Op{{Code: vars.OpConstValue, Data: bytes.Clone(b)}})
	}
	switch {
	case a.IsString():
		text, _ := u.Text(a.Value)
		return v.addExpr([]vars.Op{{Code: vars.OpConstValue, Data: append(bytes.Clone(text), 0)}})
	case a.Kind == dwarf.Const && a.Signed() && int64(a.U) < 0:
		return v.addExpr([]vars.Op{{Code: vars.OpConstSigned, S: int64(a.U)}})
	case a.Kind == dwarf.Const:
		return v.addExpr([]vars.Op{{Code: vars.OpConstNumber, U: a.U}})
	}
	if addr, ok := u.Address(a.Value); ok {
		if rva, ok := v.rva(addr); ok {
			return v.addExpr([]vars.Op{{Code: vars.OpAddr, U: uint64(rva)}, {Code: vars.OpStackValue}})
		}
	}
	return v.addExpr(unsupported)
}
