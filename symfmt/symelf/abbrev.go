package symelf

import "github.com/symtool/symtool/internal/dw"

// Abbreviation codes. An inlined subroutine's is abbrevInline plus bits.
const (
	abbrevUnit      = 1
	abbrevBareUnit  = 2 // without lines
	abbrevLeaf      = 3 // a function without inlined functions
	abbrevFunc      = 4
	abbrevOrigin    = 5 // a function inlined elsewhere
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
	entry(abbrevUnit, dw.TagCompileUnit, true, dw.AtProducer, dw.FormStrp, dw.AtLanguage, dw.FormData1, dw.AtName, dw.FormLineStrp,
		dw.AtStmtList, dw.FormSecOffset, dw.AtLowPC, dw.FormAddr, dw.AtRanges, dw.FormSecOffset)
	entry(abbrevBareUnit, dw.TagCompileUnit, true, dw.AtProducer, dw.FormStrp, dw.AtLanguage, dw.FormData1, dw.AtName, dw.FormLineStrp,
		dw.AtLowPC, dw.FormAddr, dw.AtRanges, dw.FormSecOffset)
	entry(abbrevLeaf, dw.TagSubprogram, false, dw.AtName, dw.FormStrp, dw.AtLowPC, dw.FormAddr, dw.AtHighPC, dw.FormUdata)
	entry(abbrevFunc, dw.TagSubprogram, true, dw.AtName, dw.FormStrp, dw.AtLowPC, dw.FormAddr, dw.AtHighPC, dw.FormUdata)
	entry(abbrevOrigin, dw.TagSubprogram, false, dw.AtName, dw.FormStrp, dw.AtInline, dw.FormData1)
	for bits := range abbrevInlineEnd - abbrevInline {
		attributes := []byte{dw.AtAbstractOrigin, dw.FormRef4}
		if bits&inlineRanges != 0 {
			attributes = append(attributes, dw.AtRanges, dw.FormSecOffset)
		} else {
			attributes = append(attributes, dw.AtLowPC, dw.FormAddr, dw.AtHighPC, dw.FormUdata)
		}
		if bits&inlineNoFile == 0 {
			attributes = append(attributes, dw.AtCallFile, dw.FormUdata)
		}
		entry(abbrevInline+bits, dw.TagInlinedSubroutine, bits&inlineChildren != 0, append(attributes, dw.AtCallLine, dw.FormUdata)...)
	}
	w.u8(0)
	return w.b
}
