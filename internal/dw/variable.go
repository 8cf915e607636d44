package dw

// Tags of variables and types (DWARF 5, 7.5.3).
const (
	TagFormalParameter   = 0x05
	TagLexicalBlock      = 0x0b
	TagMember            = 0x0d
	TagPointerType       = 0x0f
	TagReferenceType     = 0x10
	TagStringType        = 0x12
	TagTypedef           = 0x16
	TagUnspecifiedParams = 0x18
	TagVariant           = 0x19
	TagInheritance       = 0x1c
	TagPtrToMember       = 0x1f
	TagSetType           = 0x20
	TagSubrangeType      = 0x21
	TagWithStmt          = 0x22
	TagBaseType          = 0x24
	TagCatchBlock        = 0x25
	TagConstType         = 0x26
	TagEnumerator        = 0x28
	TagPackedType        = 0x2d
	TagTryBlock          = 0x32
	TagVariantPart       = 0x33
	TagVariable          = 0x34
	TagVolatileType      = 0x35
	TagDwarfProcedure    = 0x36
	TagRestrictType      = 0x37
	TagUnspecifiedType   = 0x3b
	TagSharedType        = 0x40
	TagRValueRef         = 0x42
	TagTemplateAlias     = 0x43
	TagGenericSubrange   = 0x45
	TagDynamicType       = 0x46
	TagAtomicType        = 0x47
	TagCallSiteParameter = 0x49
	TagImmutableType     = 0x4b
)

// Attributes of variables, types and call sites.
const (
	AtLoclistsBase         = 0x8c
	AtLocation             = 0x02
	AtByteSize             = 0x0b
	AtBitOffset            = 0x0c
	AtBitSize              = 0x0d
	AtDiscr                = 0x15
	AtDiscrValue           = 0x16
	AtStringLength         = 0x19
	AtConstValue           = 0x1c
	AtContainingType       = 0x1d
	AtGoRuntimeType        = 0x2904 // Go: the offset of the type's descriptor from the symbol runtime.types
	AtLowerBound           = 0x22
	AtUpperBound           = 0x2f
	AtArtificial           = 0x34
	AtCount                = 0x37
	AtDataMemberLocation   = 0x38
	AtDeclColumn           = 0x39
	AtEntryPC              = 0x52
	AtGNULocviews          = 0x2137
	AtGNUEntryView         = 0x2138
	AtDeclFile             = 0x3a
	AtDeclLine             = 0x3b
	AtDeclaration          = 0x3c
	AtDiscrList            = 0x3d
	AtEncoding             = 0x3e
	AtExternal             = 0x3f
	AtFrameBase            = 0x40
	AtType                 = 0x49
	AtAllocated            = 0x4e
	AtAssociated           = 0x4f
	AtDataLocation         = 0x50
	AtByteStride           = 0x51
	AtEndianity            = 0x65
	AtDataBitOffset        = 0x6b
	AtRank                 = 0x71
	AtStringLengthBitSize  = 0x6f
	AtStringLengthByteSize = 0x70
	AtCallReturnPC         = 0x7d
	AtCallValue            = 0x7e
	AtCallOrigin           = 0x7f
	AtCallParameter        = 0x80
	AtCallTailCall         = 0x82
	AtCallPC               = 0x81
	AtCallTarget           = 0x83
	AtGNUCallSiteValue     = 0x2111
	AtGNUCallSiteTarget    = 0x2113
	AtGNUTailCall          = 0x2115
	AtGNUVector            = 0x2107
)

// Operations of expressions (7.7.1), and GNU's extensions.
const (
	OpRegx               = 0x90
	OpFbreg              = 0x91
	OpPiece              = 0x93
	OpPushObjectAddress  = 0x97
	OpCall2              = 0x98
	OpCall4              = 0x99
	OpCallRef            = 0x9a
	OpFormTLSAddress     = 0x9b
	OpBitPiece           = 0x9d
	OpImplicitValue      = 0x9e
	OpStackValue         = 0x9f
	OpImplicitPointer    = 0xa0
	OpAddrx              = 0xa1
	OpConstx             = 0xa2
	OpEntryValue         = 0xa3
	OpConstType          = 0xa4
	OpRegvalType         = 0xa5
	OpDerefType          = 0xa6
	OpConvert            = 0xa8
	OpReinterpret        = 0xa9
	OpGNUPushTLSAddress  = 0xe0
	OpGNUUninit          = 0xf0
	OpGNUImplicitPointer = 0xf2
	OpGNUEntryValue      = 0xf3
	OpGNUConstType       = 0xf4
	OpGNURegvalType      = 0xf5
	OpGNUDerefType       = 0xf6
	OpGNUConvert         = 0xf7
	OpGNUReinterpret     = 0xf9
	OpGNUParameterRef    = 0xfa
	OpGNUAddrIndex       = 0xfb
	OpGNUConstIndex      = 0xfc
	OpGNUVariableValue   = 0xfd
)
