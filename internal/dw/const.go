// Package dw defines the constants of DWARF 2 to 5 (DWARF 5, section 7), and of its GNU and LLVM
// extensions, that readers and writers share.
package dw

import "fmt"

// Unit types (7.5.1).
const (
	UTCompile      = 1
	UTType         = 2
	UTPartial      = 3
	UTSkeleton     = 4
	UTSplitCompile = 5
	UTSplitType    = 6
)

// Tags (7.5.3).
const (
	TagArrayType          = 0x01
	TagClassType          = 0x02
	TagEntryPoint         = 0x03
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
	AtSibling          = 0x01
	AtName             = 0x03
	AtStmtList         = 0x10
	AtLowPC            = 0x11
	AtHighPC           = 0x12
	AtInline           = 0x20
	AtLanguage         = 0x13
	AtCompDir          = 0x1b
	AtProducer         = 0x25
	AtAbstractOrigin   = 0x31
	AtSpecification    = 0x47
	AtSignature        = 0x69
	AtExtension        = 0x54
	AtRanges           = 0x55
	AtCallColumn       = 0x57
	AtCallFile         = 0x58
	AtCallLine         = 0x59
	AtLinkageName      = 0x6e
	AtStrOffsetsBase   = 0x72
	AtAddrBase         = 0x73
	AtRnglistsBase     = 0x74
	AtDwoName          = 0x76
	AtMIPSLinkageName  = 0x2007
	AtGNUDwoName       = 0x2130
	AtGNUDwoID         = 0x2131
	AtGNUDiscriminator = 0x2136
	AtGNURangesBase    = 0x2132
	AtGNUAddrBase      = 0x2133
)

// Forms (7.5.6).
const (
	FormAddr          = 0x01
	FormBlock2        = 0x03
	FormBlock4        = 0x04
	FormData2         = 0x05
	FormData4         = 0x06
	FormData8         = 0x07
	FormString        = 0x08
	FormBlock         = 0x09
	FormBlock1        = 0x0a
	FormData1         = 0x0b
	FormFlag          = 0x0c
	FormSdata         = 0x0d
	FormStrp          = 0x0e
	FormUdata         = 0x0f
	FormRefAddr       = 0x10
	FormRef1          = 0x11
	FormRef2          = 0x12
	FormRef4          = 0x13
	FormRef8          = 0x14
	FormRefUdata      = 0x15
	FormIndirect      = 0x16
	FormSecOffset     = 0x17
	FormExprloc       = 0x18
	FormFlagPresent   = 0x19
	FormStrx          = 0x1a
	FormAddrx         = 0x1b
	FormRefSup4       = 0x1c
	FormStrpSup       = 0x1d
	FormData16        = 0x1e
	FormLineStrp      = 0x1f
	FormRefSig8       = 0x20
	FormImplicitConst = 0x21
	FormLoclistx      = 0x22
	FormRnglistx      = 0x23
	FormRefSup8       = 0x24
	FormStrx1         = 0x25
	FormStrx2         = 0x26
	FormStrx3         = 0x27
	FormStrx4         = 0x28
	FormAddrx1        = 0x29
	FormAddrx2        = 0x2a
	FormAddrx3        = 0x2b
	FormAddrx4        = 0x2c
	FormGNUAddrIndex  = 0x1f01
	FormGNUStrIndex   = 0x1f02
	FormGNURefAlt     = 0x1f20
	FormGNUStrpAlt    = 0x1f21
	FormLLVMAddrxOff  = 0x2001
)

// Range list entries (7.25).
const (
	RLEEndOfList    = 0
	RLEBaseAddressx = 1
	RLEStartxEndx   = 2
	RLEStartxLength = 3
	RLEOffsetPair   = 4
	RLEBaseAddress  = 5
	RLEStartEnd     = 6
	RLEStartLength  = 7
)

// Line number program (7.22).
const (
	LNSCopy             = 1
	LNSAdvancePC        = 2
	LNSAdvanceLine      = 3
	LNSSetFile          = 4
	LNSSetColumn        = 5
	LNSNegateStmt       = 6
	LNSSetBasicBlock    = 7
	LNSConstAddPC       = 8
	LNSFixedAdvancePC   = 9
	LNSSetPrologueEnd   = 10
	LNSSetEpilogueBegin = 11
	LNSSetISA           = 12

	LNEEndSequence      = 1
	LNESetAddress       = 2
	LNEDefineFile       = 3
	LNESetDiscriminator = 4

	LNCTPath           = 1
	LNCTDirectoryIndex = 2
	LNCTSize           = 4
	LNCTMD5            = 5
)

// InlInlined means that a function is inlined but was not declared inline (7.20).
const InlInlined = 1

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
	LangHaskell  = 0x18
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

// languageNames holds the names of the languages in DWARF 5, table 7.17, and
// of those registered later (dwarfstd.org, "Languages").
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
