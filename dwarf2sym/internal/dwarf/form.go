package dwarf

import "github.com/symtool/symtool/internal/dw"

// FormSizes are the sizes that determine the lengths of attribute values.
type FormSizes struct {
	addr    uint8 // DW_FORM_addr
	offset  uint8 // DW_FORM_sec_offset, strp, ...: 4 or 8 (32- or 64-bit DWARF)
	refAddr uint8 // DW_FORM_ref_addr: like addr in DWARF 2, otherwise like offset
}

// fixedSize returns the size of a form's value, or -1 if it depends on the value.
func (s FormSizes) fixedSize(form uint64) int {
	switch form {
	case dw.FormFlagPresent, dw.FormImplicitConst:
		return 0
	case dw.FormData1, dw.FormRef1, dw.FormFlag, dw.FormStrx1, dw.FormAddrx1:
		return 1
	case dw.FormData2, dw.FormRef2, dw.FormStrx2, dw.FormAddrx2:
		return 2
	case dw.FormStrx3, dw.FormAddrx3:
		return 3
	case dw.FormData4, dw.FormRef4, dw.FormStrx4, dw.FormAddrx4, dw.FormRefSup4:
		return 4
	case dw.FormData8, dw.FormRef8, dw.FormRefSig8, dw.FormRefSup8:
		return 8
	case dw.FormData16:
		return 16
	case dw.FormAddr:
		return int(s.addr)
	case dw.FormRefAddr:
		return int(s.refAddr)
	case dw.FormSecOffset, dw.FormStrp, dw.FormLineStrp, dw.FormStrpSup, dw.FormGNURefAlt, dw.FormGNUStrpAlt:
		return int(s.offset)
	}
	return -1
}

// skipOp returns the operation that skips a form of variable size.
func skipOp(form uint64) (op uint8, ok bool) {
	switch form {
	case dw.FormUdata, dw.FormSdata, dw.FormRefUdata, dw.FormStrx, dw.FormAddrx, dw.FormLoclistx, dw.FormRnglistx,
		dw.FormGNUAddrIndex, dw.FormGNUStrIndex:
		return opLEB, true
	case dw.FormString:
		return opString, true
	case dw.FormBlock1:
		return opBlock1, true
	case dw.FormBlock2:
		return opBlock2, true
	case dw.FormBlock4:
		return opBlock4, true
	case dw.FormBlock, dw.FormExprloc:
		return opBlock, true
	case dw.FormIndirect:
		return opIndirect, true
	case dw.FormLLVMAddrxOff:
		return opLEB4, true
	}
	return 0, false
}

// fixedForm is a form whose values are numbers of fixed size: they can be read without checking
// the form.
type fixedForm struct {
	kind Kind // refInUnit: a Ref relative to the unit; None: any other form
	size uint8
}

// formStep describes how to skip a form.
type formStep struct {
	op    uint8
	n     int8 // bytes, or -1
	known bool
	fixedForm
}

// formTable holds the forms of DWARF 5 for the sizes of a unit.
type formTable struct {
	sizes FormSizes
	forms [dw.FormAddrx4 + 1]formStep
	other formStep
}

// fill prepares the table for sizes.
func (t *formTable) fill(sizes FormSizes) {
	if t.sizes == sizes {
		return
	}
	t.sizes = sizes
	for form := range t.forms {
		t.forms[form] = sizes.step(uint64(form))
	}
}

func (t *formTable) of(form uint64) *formStep {
	if form < uint64(len(t.forms)) {
		return &t.forms[form]
	}
	t.other = t.sizes.step(form)
	return &t.other
}

func (s FormSizes) step(form uint64) (f formStep) {
	n := s.fixedSize(form)
	if f.n = int8(n); n < 0 {
		f.op, f.known = skipOp(form)
		return f
	}
	f.op, f.known = opFixed, true
	if f.kind = kindOf(form); f.kind != None {
		f.size = uint8(n)
	}
	return f
}
