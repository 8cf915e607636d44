package vars

import (
	"encoding/binary"
	"strings"
)

// Expr is an expression in packed form. Equal expressions compare equal. The zero Expr has no
// operations.
type Expr struct{ code string }

// The fields of an Op in packed form.
const (
	hasReg = 1 << iota
	hasU
	hasS
	hasTo
	hasType
	hasLabel
	hasExpr
	hasData
	hasSub = hasData // no operation has both
)

// parts has the fields of each operation.
var parts = [...]uint8{
	OpConst: hasU, OpAddr: hasU, OpBreg: hasReg | hasS, OpFbreg: hasS, OpDeref: hasU, OpPick: hasU, OpPlusConst: hasU,
	OpSkip: hasTo, OpBranch: hasTo, OpReg: hasReg, OpImplicitValue: hasData, OpConstValue: hasData, OpConstNumber: hasU, OpConstSigned: hasS,
	OpPiece: hasU, OpBitPiece: hasU | hasS, OpImplicitPointer: hasS | hasLabel | hasExpr, OpEntryValue: hasSub,
	OpCall: hasLabel, OpVariableValue: hasLabel, OpParam: hasData, OpConstType: hasType | hasData, OpRegType: hasType | hasReg,
	OpDerefType: hasType | hasU, OpConvert: hasType, OpReinterpret: hasType,
}

// NewExpr packs operations. Fields that an operation does not use are dropped.
func NewExpr(ops []Op) Expr { return Expr{string(appendOps(nil, ops))} }

func appendOps(p []byte, ops []Op) []byte {
	for i := range ops {
		op := &ops[i]
		p = append(p, byte(op.Code))
		has := parts[op.Code]
		if has&hasReg != 0 {
			p = binary.AppendUvarint(p, uint64(op.Reg))
		}
		if has&hasU != 0 {
			p = binary.AppendUvarint(p, op.U)
		}
		if has&hasS != 0 {
			p = binary.AppendVarint(p, op.S)
		}
		if has&hasTo != 0 {
			p = binary.AppendUvarint(p, uint64(op.To))
		}
		if has&hasType != 0 {
			p = binary.AppendUvarint(p, uint64(op.Type))
		}
		if has&hasLabel != 0 {
			p = binary.AppendUvarint(p, uint64(op.Label))
		}
		if has&hasExpr != 0 {
			p = binary.AppendUvarint(p, uint64(op.Expr))
		}
		if has&hasData != 0 {
			data := op.Data
			if op.Code == OpEntryValue {
				data = appendOps(nil, op.Sub)
			}
			p = binary.AppendUvarint(p, uint64(len(data)))
			p = append(p, data...)
		}
	}
	return p
}

// Ops returns the operations.
func (e Expr) Ops() []Op { return e.appendTo(nil) }

// appendTo appends the operations to ops.
func (e Expr) appendTo(ops []Op) []Op {
	u := unpacker{data: e.code}
	for u.data != "" {
		op := Op{Code: OpCode(u.byte())}
		has := parts[op.Code]
		if has&hasReg != 0 {
			op.Reg = uint32(u.uvarint())
		}
		if has&hasU != 0 {
			op.U = u.uvarint()
		}
		if has&hasS != 0 {
			op.S = u.varint()
		}
		if has&hasTo != 0 {
			op.To = int(u.uvarint())
		}
		if has&hasType != 0 {
			op.Type = TypeID(u.uvarint())
		}
		if has&hasLabel != 0 {
			op.Label = uint32(u.uvarint())
		}
		if has&hasExpr != 0 {
			op.Expr = ExprID(u.uvarint())
		}
		if has&hasData != 0 {
			n := u.uvarint()
			data := u.data[:n]
			u.data = u.data[n:]
			if op.Code == OpEntryValue {
				op.Sub = Expr{data}.Ops()
			} else {
				op.Data = []byte(data)
			}
		}
		ops = append(ops, op)
	}
	return ops
}

// Len returns the size in packed form, in bytes.
func (e Expr) Len() int { return len(e.code) }

// Compare orders expressions by their operations.
func (e Expr) Compare(o Expr) int { return strings.Compare(e.code, o.code) }
