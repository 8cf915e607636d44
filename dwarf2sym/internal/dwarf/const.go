package dwarf

import (
	"fmt"
)

// The constants of DWARF 2 to 5 (DWARF 5, section 7) and of the GNU and LLVM
// extensions that this package reads.

// Unit types (7.5.1).
const (
	utCompile      = 1
	utType         = 2
	utPartial      = 3
	utSkeleton     = 4
	utSplitCompile = 5
	utSplitType    = 6
)

// Tags (7.5.3).
const (
	TagArrayType          = 0x01
	TagClassType          = 0x02
	TagEnumerationType    = 0x04
	TagCompileUnit        = 0x11
	TagStructureType      = 0x13
	TagSubroutineType     = 0x15
	TagUnionType          = 0x17
	TagInlinedSubroutine  = 0x1d
	TagModule             = 0x1e
	TagSubprogram         = 0x2e
	TagInterfaceType      = 0x38
	TagNamespace          = 0x39
	TagPartialUnit        = 0x3c
	TagTypeUnit           = 0x41
	TagCallSite           = 0x48
	TagSkeletonUnit       = 0x4a
	TagMIPSLoop           = 0x4081
	TagGNUCallSite        = 0x4109
	TagGNUCallSiteParam   = 0x410a
	TagGNUFormalParamPack = 0x4108
)

// Attributes (7.5.4).
const (
	atSibling         = 0x01
	atName            = 0x03
	atStmtList        = 0x10
	atLowPC           = 0x11
	atHighPC          = 0x12
	atLanguage        = 0x13
	atCompDir         = 0x1b
	atProducer        = 0x25
	atAbstractOrigin  = 0x31
	atSpecification   = 0x47
	atSignature       = 0x69
	atExtension       = 0x54
	atRanges          = 0x55
	atCallFile        = 0x58
	atCallLine        = 0x59
	atLinkageName     = 0x6e
	atStrOffsetsBase  = 0x72
	atAddrBase        = 0x73
	atRnglistsBase    = 0x74
	atDwoName         = 0x76
	atMIPSLinkageName = 0x2007
	atGNUDwoName      = 0x2130
	atGNUDwoID        = 0x2131
	atGNURangesBase   = 0x2132
	atGNUAddrBase     = 0x2133
)

// Forms (7.5.6).
const (
	formAddr          = 0x01
	formBlock2        = 0x03
	formBlock4        = 0x04
	formData2         = 0x05
	formData4         = 0x06
	formData8         = 0x07
	formString        = 0x08
	formBlock         = 0x09
	formBlock1        = 0x0a
	formData1         = 0x0b
	formFlag          = 0x0c
	formSdata         = 0x0d
	formStrp          = 0x0e
	formUdata         = 0x0f
	formRefAddr       = 0x10
	formRef1          = 0x11
	formRef2          = 0x12
	formRef4          = 0x13
	formRef8          = 0x14
	formRefUdata      = 0x15
	formIndirect      = 0x16
	formSecOffset     = 0x17
	formExprloc       = 0x18
	formFlagPresent   = 0x19
	formStrx          = 0x1a
	formAddrx         = 0x1b
	formRefSup4       = 0x1c
	formStrpSup       = 0x1d
	formData16        = 0x1e
	formLineStrp      = 0x1f
	formRefSig8       = 0x20
	formImplicitConst = 0x21
	formLoclistx      = 0x22
	formRnglistx      = 0x23
	formRefSup8       = 0x24
	formStrx1         = 0x25
	formStrx2         = 0x26
	formStrx3         = 0x27
	formStrx4         = 0x28
	formAddrx1        = 0x29
	formAddrx2        = 0x2a
	formAddrx3        = 0x2b
	formAddrx4        = 0x2c
	formGNUAddrIndex  = 0x1f01
	formGNUStrIndex   = 0x1f02
	formGNURefAlt     = 0x1f20
	formGNUStrpAlt    = 0x1f21
	formLLVMAddrxOff  = 0x2001
)

// Range list entries (7.25).
const (
	rleEndOfList    = 0
	rleBaseAddressx = 1
	rleStartxEndx   = 2
	rleStartxLength = 3
	rleOffsetPair   = 4
	rleBaseAddress  = 5
	rleStartEnd     = 6
	rleStartLength  = 7
)

// Line number program (7.22).
const (
	lnsCopy             = 1
	lnsAdvancePC        = 2
	lnsAdvanceLine      = 3
	lnsSetFile          = 4
	lnsSetColumn        = 5
	lnsNegateStmt       = 6
	lnsSetBasicBlock    = 7
	lnsConstAddPC       = 8
	lnsFixedAdvancePC   = 9
	lnsSetPrologueEnd   = 10
	lnsSetEpilogueBegin = 11
	lnsSetISA           = 12

	lneEndSequence = 1
	lneSetAddress  = 2
	lneDefineFile  = 3

	lnctPath           = 1
	lnctDirectoryIndex = 2
	lnctMD5            = 5
)

// Languages (7.12) that decide how names are built and what can be skipped.
const (
	LangC89      = 0x01
	LangC        = 0x02
	LangAda83    = 0x03
	LangCPlus    = 0x04
	LangPascal83 = 0x09
	LangC99      = 0x0c
	LangGo       = 0x16
	LangDLang    = 0x13
	LangCPP03    = 0x19
	LangCPP11    = 0x1a
	LangRust     = 0x1c
	LangC11      = 0x1d
	LangSwift    = 0x1e
	LangCPP14    = 0x21
	LangZig      = 0x27
	LangCPP17    = 0x2a
	LangCPP20    = 0x2b
	LangC17      = 0x2c
	LangCPP23    = 0x3a
	LangC23      = 0x3e
	LangMipsAsm  = 0x8001
	LangAssembly = 0x31
	LangObjCPP   = 0x11
)

// languageNames are the languages of DWARF 5, table 7.17, and those that were
// registered later (dwarfstd.org, "Languages").
var languageNames = map[uint64]string{
	0x01: "C89", 0x02: "C", 0x03: "Ada83", 0x04: "C_plus_plus", 0x05: "Cobol74", 0x06: "Cobol85", 0x07: "Fortran77",
	0x08: "Fortran90", 0x09: "Pascal83", 0x0a: "Modula2", 0x0b: "Java", 0x0c: "C99", 0x0d: "Ada95", 0x0e: "Fortran95",
	0x0f: "PLI", 0x10: "ObjC", 0x11: "ObjC_plus_plus", 0x12: "UPC", 0x13: "D", 0x14: "Python", 0x15: "OpenCL", 0x16: "Go",
	0x17: "Modula3", 0x18: "Haskell", 0x19: "C_plus_plus_03", 0x1a: "C_plus_plus_11", 0x1b: "OCaml", 0x1c: "Rust",
	0x1d: "C11", 0x1e: "Swift", 0x1f: "Julia", 0x20: "Dylan", 0x21: "C_plus_plus_14", 0x22: "Fortran03", 0x23: "Fortran08",
	0x24: "RenderScript", 0x25: "BLISS", 0x26: "Kotlin", 0x27: "Zig", 0x28: "Crystal", 0x2a: "C_plus_plus_17",
	0x2b: "C_plus_plus_20", 0x2c: "C17", 0x2d: "Fortran18", 0x2e: "Ada2005", 0x2f: "Ada2012", 0x30: "HIP", 0x31: "Assembly",
	0x32: "C_sharp", 0x33: "Mojo", 0x3a: "C_plus_plus_23", 0x3e: "C23", 0x3f: "Fortran23", 0x8001: "Mips_Assembler",
}

// LanguageName returns the DWARF name of a DW_AT_language, without DW_LANG_.
func LanguageName(code uint64) string {
	if name := languageNames[code]; name != "" {
		return name
	}
	return fmt.Sprintf("%#x", code)
}
