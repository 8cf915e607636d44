package sframe

import (
	"fmt"
	"math"
)

// rowWords holds a row's data words and the smallest size that fits them.
type rowWords struct {
	words    []int64
	wordSize int
}

// noForm is a rule that data words cannot encode.
type noForm struct {
	what string
	rule Rule
}

func (n *noForm) String() string {
	base := "CFA"
	if n.rule.Reg != CFA {
		base = fmt.Sprintf("r%d", n.rule.Reg)
	}
	switch n.rule.Kind {
	case Same:
		return n.what + ": the same"
	case Undefined:
		return n.what + ": undefined"
	case Value:
		return fmt.Sprintf("%s: %s%+d", n.what, base, n.rule.Offset)
	}
	return fmt.Sprintf("%s: *(%s%+d)", n.what, base, n.rule.Offset)
}

// appendRows appends e.rows. If a rule cannot be represented, it returns the rule and the
// row's index.
func (e *encoder) appendRows(addrSize uint8, flex bool) (int, *noForm) {
	for i := range e.rows {
		r := &e.rows[i]
		e.words, e.wordSize = e.words[:0], 1
		info, none := uint8(0), (*noForm)(nil)
		switch {
		case r.Outermost():
		case flex:
			none = e.flexible(r)
		default:
			info, none = e.fixed(r)
		}
		if none != nil {
			return i, none
		}
		info |= uint8(len(e.words))<<1 | uint8(e.wordSize>>1)<<5
		if r.Signed {
			info |= 0x80
		}
		e.fres = e.appendInt(e.fres, uint32(r.Start), int(addrSize))
		e.fres = append(e.fres, info)
		for _, w := range e.words {
			e.fres = e.appendInt(e.fres, uint32(w), e.wordSize)
		}
	}
	return 0, nil
}

func (e *encoder) appendInt(b []byte, n uint32, size int) []byte {
	switch size {
	case 1:
		return append(b, uint8(n))
	case 2:
		return e.abi.order.AppendUint16(b, uint16(n))
	}
	return e.abi.order.AppendUint32(b, n)
}

// offset adds a signed word. It returns false if 4 bytes cannot hold it.
func (w *rowWords) offset(n int64) bool {
	switch {
	case n == int64(int8(n)):
	case n == int64(int16(n)):
		w.wordSize = max(w.wordSize, 2)
	case n == int64(int32(n)):
		w.wordSize = 4
	default:
		return false
	}
	w.words = append(w.words, n)
	return true
}

// control adds an unsigned word. It returns false if 4 bytes cannot hold it.
func (w *rowWords) control(n int64) bool {
	switch {
	case n <= math.MaxUint8:
	case n <= math.MaxUint16:
		w.wordSize = max(w.wordSize, 2)
	case n <= math.MaxUint32:
		w.wordSize = 4
	default:
		return false
	}
	w.words = append(w.words, n)
	return true
}

// cfaOffset adds the word for the CFA's offset. It returns false if there is no such
// word.
func (e *encoder) cfaOffset(n int64) bool {
	n -= e.abi.bias // wraps only if the offset does not fit anyway
	return n%e.abi.scale == 0 && e.offset(n/e.abi.scale)
}

// fixed computes the words that Rows.fixed reads, and the base register's bit.
func (e *encoder) fixed(r *Row) (info uint8, none *noForm) {
	isSP := r.CFA.Reg == e.abi.sp
	if r.CFA.Kind != Value || !isSP && r.CFA.Reg != e.abi.fp || !e.cfaOffset(r.CFA.Offset) {
		return 0, &noForm{"CFA", r.CFA}
	}
	if isSP {
		info = 1
	}
	if e.abi.fixedRA == 0 {
		if r.RA.Kind == Same && r.FP.Kind == Same {
			return info, nil
		}
		if r.RA.Kind == Same && !e.abi.padRA || !e.slotWord(r.RA) {
			return 0, &noForm{"return address", r.RA}
		}
	} else if !e.defaultRA(r.RA) {
		return 0, &noForm{"return address", r.RA}
	}
	if r.FP.Kind != Same && !e.slotWord(r.FP) {
		return 0, &noForm{"frame pointer", r.FP}
	}
	return info, nil
}

// defaultRA reports whether rule needs no word for the return address.
func (e *encoder) defaultRA(rule Rule) bool {
	if e.abi.fixedRA == 0 {
		return rule.Kind == Same
	}
	return rule == Rule{Memory, CFA, int64(e.abi.fixedRA)}
}

// slotWord adds the word that Rows.slot reads. It returns false if no word stands for
// the rule.
func (e *encoder) slotWord(rule Rule) bool {
	regs := e.abi.slotRegs && !e.flex // FLEX replaces them
	switch {
	case rule.Kind == Same:
		return e.offset(0)
	case rule.Kind == Memory && rule.Reg == CFA && rule.Offset != 0 && !(regs && rule.Offset&1 != 0):
		return e.offset(rule.Offset)
	case rule.Kind == Value && rule.Reg != CFA && rule.Offset == 0 && regs:
		return e.offset(int64(rule.Reg)<<1 | 1)
	}
	return false
}

// flexible computes the words that Rows.flexible reads.
func (e *encoder) flexible(r *Row) *noForm {
	if r.CFA.Reg == CFA || !e.controlWord(r.CFA) || !e.cfaOffset(r.CFA.Offset) {
		return &noForm{"CFA", r.CFA}
	}
	switch {
	case !e.defaultRA(r.RA):
		if !e.controlWord(r.RA) || !e.offset(r.RA.Offset) {
			return &noForm{"return address", r.RA}
		}
	case r.FP.Kind != Same:
		e.control(0)
	}
	if r.FP.Kind != Same && (!e.controlWord(r.FP) || !e.offset(r.FP.Offset)) {
		return &noForm{"frame pointer", r.FP}
	}
	return nil
}

// controlWord adds the control word of a rule. It returns false if there is none. CFA
// plus an offset cannot be written: the word would be 0, which stands for no rule.
func (e *encoder) controlWord(rule Rule) bool {
	var control int64
	switch rule.Kind {
	case Value:
	case Memory:
		control = controlDeref
	default:
		return false
	}
	if rule.Reg != CFA {
		control |= controlReg | int64(rule.Reg)<<controlShift
	}
	return control != 0 && e.control(control)
}
