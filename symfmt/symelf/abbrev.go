package symelf

// Tags, attributes and forms (DWARF 5, tables 7.3, 7.5 and 7.6).
const (
	tagCompileUnit       = 0x11
	tagInlinedSubroutine = 0x1d
	tagSubprogram        = 0x2e

	atName           = 0x03
	atStmtList       = 0x10
	atLowPC          = 0x11
	atHighPC         = 0x12
	atLanguage       = 0x13
	atInline         = 0x20
	atProducer       = 0x25
	atAbstractOrigin = 0x31
	atRanges         = 0x55
	atCallFile       = 0x58
	atCallLine       = 0x59

	formAddr      = 0x01
	formData1     = 0x0b
	formData2     = 0x05
	formStrp      = 0x0e
	formUdata     = 0x0f
	formRef4      = 0x13
	formSecOffset = 0x17
	formLineStrp  = 0x1f

	unitCompile = 0x01 // DW_UT_compile
	inlInlined  = 0x01 // DW_INL_inlined
	langC11     = 0x1d
)

// Numbers of abbreviations. An inlined subroutine's is abbrevInline plus bits.
const (
	abbrevUnit      = 1
	abbrevBareUnit  = 2 // without lines
	abbrevLeaf      = 3 // a function without inlined ones
	abbrevFunc      = 4
	abbrevOrigin    = 5 // a function that is inlined
	abbrevInline    = 8
	inlineChildren  = 1
	inlineRanges    = 2
	inlineNoFile    = 4
	abbrevInlineEnd = abbrevInline + 8
)

// abbreviations makes .debug_abbrev, which all units share.
func abbreviations() []byte {
	var w buffer
	entry := func(number, tag int, children bool, attributes ...byte) {
		w.uleb(uint64(number))
		w.uleb(uint64(tag))
		if children {
			w.u8(1)
		} else {
			w.u8(0)
		}
		w.bytes(attributes)
		w.u8(0, 0)
	}
	entry(abbrevUnit, tagCompileUnit, true, atProducer, formStrp, atLanguage, formData1, atName, formLineStrp,
		atStmtList, formSecOffset, atLowPC, formAddr, atRanges, formSecOffset)
	entry(abbrevBareUnit, tagCompileUnit, true, atProducer, formStrp, atLanguage, formData1, atName, formLineStrp,
		atLowPC, formAddr, atRanges, formSecOffset)
	entry(abbrevLeaf, tagSubprogram, false, atName, formStrp, atLowPC, formAddr, atHighPC, formUdata)
	entry(abbrevFunc, tagSubprogram, true, atName, formStrp, atLowPC, formAddr, atHighPC, formUdata)
	entry(abbrevOrigin, tagSubprogram, false, atName, formStrp, atInline, formData1)
	for bits := range abbrevInlineEnd - abbrevInline {
		attributes := []byte{atAbstractOrigin, formRef4}
		if bits&inlineRanges != 0 {
			attributes = append(attributes, atRanges, formSecOffset)
		} else {
			attributes = append(attributes, atLowPC, formAddr, atHighPC, formUdata)
		}
		if bits&inlineNoFile == 0 {
			attributes = append(attributes, atCallFile, formUdata)
		}
		entry(abbrevInline+bits, tagInlinedSubroutine, bits&inlineChildren != 0, append(attributes, atCallLine, formUdata)...)
	}
	w.u8(0)
	return w.b
}
