package dw

// Call frame instructions (DWARF 5, 6.4.2 and 7.24).
const (
	CFAAdvanceLoc = 0x40 // delta in the low six bits
	CFAOffset     = 0x80 // register in the low six bits
	CFARestore    = 0xc0 // register in the low six bits

	CFANop              = 0x00
	CFASetLoc           = 0x01
	CFAAdvanceLoc1      = 0x02
	CFAAdvanceLoc2      = 0x03
	CFAAdvanceLoc4      = 0x04
	CFAOffsetExtended   = 0x05
	CFARestoreExtended  = 0x06
	CFAUndefined        = 0x07
	CFASameValue        = 0x08
	CFARegister         = 0x09
	CFARememberState    = 0x0a
	CFARestoreState     = 0x0b
	CFADefCFA           = 0x0c
	CFADefCFARegister   = 0x0d
	CFADefCFAOffset     = 0x0e
	CFADefCFAExpression = 0x0f
	CFAExpression       = 0x10
	CFAOffsetExtendedSF = 0x11
	CFADefCFASF         = 0x12
	CFADefCFAOffsetSF   = 0x13
	CFAValOffset        = 0x14
	CFAValOffsetSF      = 0x15
	CFAValExpression    = 0x16

	// Extensions: GNU as, gcc/libgcc; AADWARF64 2025Q4, "Call frame instructions".
	CFAMIPSAdvanceLoc8            = 0x1d
	CFAAArch64SetRAState          = 0x2b
	CFAAArch64NegateRAStateWithPC = 0x2c
	CFAAArch64NegateRAState       = 0x2d // on SPARC it is GNU_window_save, which is not accepted
	CFAGNUArgsSize                = 0x2e
	CFAGNUNegativeOffsetExtended  = 0x2f
)

// Pointer encodings (LSB 5.0 core, 10.5.1).
const (
	EHAbsPtr  = 0x00
	EHULEB    = 0x01
	EHUData2  = 0x02
	EHUData4  = 0x03
	EHUData8  = 0x04
	EHSLEB    = 0x09
	EHSData2  = 0x0a
	EHSData4  = 0x0b
	EHSData8  = 0x0c
	EHFormat  = 0x0f
	EHPCRel   = 0x10
	EHTextRel = 0x20
	EHDataRel = 0x30
	EHFuncRel = 0x40
	EHAligned = 0x50
	EHBase    = 0x70
	EHInd     = 0x80
	EHOmit    = 0xff
)

// Operations of DWARF expressions (DWARF 5, 2.5.1 and 7.7.1).
const (
	OpAddr         = 0x03
	OpDeref        = 0x06
	OpConst1u      = 0x08
	OpConst1s      = 0x09
	OpConst2u      = 0x0a
	OpConst2s      = 0x0b
	OpConst4u      = 0x0c
	OpConst4s      = 0x0d
	OpConst8u      = 0x0e
	OpConst8s      = 0x0f
	OpConstu       = 0x10
	OpConsts       = 0x11
	OpDup          = 0x12
	OpDrop         = 0x13
	OpOver         = 0x14
	OpPick         = 0x15
	OpSwap         = 0x16
	OpRot          = 0x17
	OpAbs          = 0x19
	OpAnd          = 0x1a
	OpDiv          = 0x1b
	OpMinus        = 0x1c
	OpMod          = 0x1d
	OpMul          = 0x1e
	OpNeg          = 0x1f
	OpNot          = 0x20
	OpOr           = 0x21
	OpPlus         = 0x22
	OpPlusUconst   = 0x23
	OpShl          = 0x24
	OpShr          = 0x25
	OpShra         = 0x26
	OpXor          = 0x27
	OpBra          = 0x28
	OpEq           = 0x29
	OpGe           = 0x2a
	OpGt           = 0x2b
	OpLe           = 0x2c
	OpLt           = 0x2d
	OpNe           = 0x2e
	OpSkip         = 0x2f
	OpLit0         = 0x30
	OpReg0         = 0x50
	OpBreg0        = 0x70
	OpBregx        = 0x92
	OpDerefSize    = 0x94
	OpNop          = 0x96
	OpCallFrameCFA = 0x9c
)
