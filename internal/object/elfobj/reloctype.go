package elfobj

import "debug/elf"

// relocOp is what a relocation does with the field at its place P, the symbol's
// value S and the addend A, all numbers being as wide as the field.
type relocOp uint8

const (
	relocUnknown relocOp = iota
	relocIgnored         // an instruction to the linker, or the place of something that is not read here
	relocAbs             // S + A
	relocPC              // S + A - P
	relocPC31            // S + A - P in bits 0 to 30; bit 31 stays
	relocAdd             // field + S + A
	relocSub             // field - (S + A)
	relocSet6            // S + A in bits 0 to 5
	relocSub6            // field - (S + A) in bits 0 to 5
	relocSetULEB         // S + A as ULEB128, as long as the one that is there
	relocSubULEB         // field - (S + A), likewise
)

// relocKind is a type of relocations.
type relocKind struct {
	op   relocOp
	size uint8 // of the field in bytes; 0 for ULEB128 and where nothing is written
}

// Types of relocations that LLVM and binutils write and debug/elf does not name.
const (
	r_AARCH64_PLT32      = 314
	r_AARCH64_GOTPCREL32 = 315
	r_RISCV_PLT32        = 59
	r_RISCV_SETULEB128   = 60
	r_RISCV_SUBULEB128   = 61
)

// relocKinds holds, by machine, the types that assemblers use for data: debug
// information, call frame information, tables of addresses. Those of
// instructions are not here, since no code is read. Offsets in thread-local
// storage are not addresses, and entries of the GOT and the PLT are the linker's:
// what refers to them (personality routines) stays as it is. Numbers are those of
// each processor's ELF supplement.
var relocKinds = map[elf.Machine]map[uint32]relocKind{
	elf.EM_X86_64: {
		uint32(elf.R_X86_64_NONE):     {relocIgnored, 0},
		uint32(elf.R_X86_64_8):        {relocAbs, 1},
		uint32(elf.R_X86_64_16):       {relocAbs, 2},
		uint32(elf.R_X86_64_32):       {relocAbs, 4},
		uint32(elf.R_X86_64_32S):      {relocAbs, 4},
		uint32(elf.R_X86_64_64):       {relocAbs, 8},
		uint32(elf.R_X86_64_PC8):      {relocPC, 1},
		uint32(elf.R_X86_64_PC16):     {relocPC, 2},
		uint32(elf.R_X86_64_PC32):     {relocPC, 4},
		uint32(elf.R_X86_64_PLT32):    {relocPC, 4},
		uint32(elf.R_X86_64_PC64):     {relocPC, 8},
		uint32(elf.R_X86_64_GOTPCREL): {relocIgnored, 0},
		uint32(elf.R_X86_64_GOTPC32):  {relocIgnored, 0},
		uint32(elf.R_X86_64_GOTOFF64): {relocIgnored, 0},
		uint32(elf.R_X86_64_DTPOFF32): {relocIgnored, 0},
		uint32(elf.R_X86_64_DTPOFF64): {relocIgnored, 0},
		uint32(elf.R_X86_64_TPOFF32):  {relocIgnored, 0},
		uint32(elf.R_X86_64_TPOFF64):  {relocIgnored, 0},
		uint32(elf.R_X86_64_SIZE32):   {relocIgnored, 0},
		uint32(elf.R_X86_64_SIZE64):   {relocIgnored, 0},
	},
	elf.EM_386: {
		uint32(elf.R_386_NONE):       {relocIgnored, 0},
		uint32(elf.R_386_8):          {relocAbs, 1},
		uint32(elf.R_386_16):         {relocAbs, 2},
		uint32(elf.R_386_32):         {relocAbs, 4},
		uint32(elf.R_386_PC8):        {relocPC, 1},
		uint32(elf.R_386_PC16):       {relocPC, 2},
		uint32(elf.R_386_PC32):       {relocPC, 4},
		uint32(elf.R_386_PLT32):      {relocPC, 4},
		uint32(elf.R_386_GOTOFF):     {relocIgnored, 0},
		uint32(elf.R_386_GOTPC):      {relocIgnored, 0},
		uint32(elf.R_386_TLS_LE):     {relocIgnored, 0},
		uint32(elf.R_386_TLS_LDO_32): {relocIgnored, 0},
		uint32(elf.R_386_SIZE32):     {relocIgnored, 0},
	},
	elf.EM_ARM: {
		uint32(elf.R_ARM_NONE):      {relocIgnored, 0},
		uint32(elf.R_ARM_ABS8):      {relocAbs, 1},
		uint32(elf.R_ARM_ABS16):     {relocAbs, 2},
		uint32(elf.R_ARM_ABS32):     {relocAbs, 4},
		uint32(elf.R_ARM_TARGET1):   {relocAbs, 4},
		uint32(elf.R_ARM_REL32):     {relocPC, 4},
		uint32(elf.R_ARM_PREL31):    {relocPC31, 4},
		uint32(elf.R_ARM_TARGET2):   {relocIgnored, 0},
		uint32(elf.R_ARM_GOT_PREL):  {relocIgnored, 0},
		uint32(elf.R_ARM_TLS_LDO32): {relocIgnored, 0},
		uint32(elf.R_ARM_TLS_LE32):  {relocIgnored, 0},
		uint32(elf.R_ARM_V4BX):      {relocIgnored, 0},
	},
	elf.EM_AARCH64: {
		uint32(elf.R_AARCH64_P32_ABS32):    {relocAbs, 4}, // of ILP32
		uint32(elf.R_AARCH64_P32_ABS16):    {relocAbs, 2},
		uint32(elf.R_AARCH64_P32_PREL32):   {relocPC, 4},
		uint32(elf.R_AARCH64_P32_PREL16):   {relocPC, 2},
		uint32(elf.R_AARCH64_NONE):         {relocIgnored, 0},
		uint32(elf.R_AARCH64_NULL):         {relocIgnored, 0},
		uint32(elf.R_AARCH64_ABS16):        {relocAbs, 2},
		uint32(elf.R_AARCH64_ABS32):        {relocAbs, 4},
		uint32(elf.R_AARCH64_ABS64):        {relocAbs, 8},
		uint32(elf.R_AARCH64_PREL16):       {relocPC, 2},
		uint32(elf.R_AARCH64_PREL32):       {relocPC, 4},
		uint32(elf.R_AARCH64_PREL64):       {relocPC, 8},
		r_AARCH64_PLT32:                    {relocPC, 4},
		r_AARCH64_GOTPCREL32:               {relocIgnored, 0},
		uint32(elf.R_AARCH64_TLS_DTPREL64): {relocIgnored, 0},
	},
	elf.EM_RISCV: {
		uint32(elf.R_RISCV_NONE):         {relocIgnored, 0},
		uint32(elf.R_RISCV_32):           {relocAbs, 4},
		uint32(elf.R_RISCV_64):           {relocAbs, 8},
		uint32(elf.R_RISCV_SET8):         {relocAbs, 1},
		uint32(elf.R_RISCV_SET16):        {relocAbs, 2},
		uint32(elf.R_RISCV_SET32):        {relocAbs, 4},
		uint32(elf.R_RISCV_32_PCREL):     {relocPC, 4},
		r_RISCV_PLT32:                    {relocPC, 4},
		uint32(elf.R_RISCV_ADD8):         {relocAdd, 1},
		uint32(elf.R_RISCV_ADD16):        {relocAdd, 2},
		uint32(elf.R_RISCV_ADD32):        {relocAdd, 4},
		uint32(elf.R_RISCV_ADD64):        {relocAdd, 8},
		uint32(elf.R_RISCV_SUB8):         {relocSub, 1},
		uint32(elf.R_RISCV_SUB16):        {relocSub, 2},
		uint32(elf.R_RISCV_SUB32):        {relocSub, 4},
		uint32(elf.R_RISCV_SUB64):        {relocSub, 8},
		uint32(elf.R_RISCV_SET6):         {relocSet6, 1},
		uint32(elf.R_RISCV_SUB6):         {relocSub6, 1},
		r_RISCV_SETULEB128:               {relocSetULEB, 0},
		r_RISCV_SUBULEB128:               {relocSubULEB, 0},
		uint32(elf.R_RISCV_RELAX):        {relocIgnored, 0},
		uint32(elf.R_RISCV_ALIGN):        {relocIgnored, 0},
		uint32(elf.R_RISCV_TLS_DTPREL32): {relocIgnored, 0},
		uint32(elf.R_RISCV_TLS_DTPREL64): {relocIgnored, 0},
	},
	elf.EM_MIPS: {
		uint32(elf.R_MIPS_NONE):         {relocIgnored, 0},
		uint32(elf.R_MIPS_16):           {relocAbs, 2},
		uint32(elf.R_MIPS_32):           {relocAbs, 4},
		uint32(elf.R_MIPS_64):           {relocAbs, 8},
		uint32(elf.R_MIPS_PC32):         {relocPC, 4},
		uint32(elf.R_MIPS_TLS_DTPREL32): {relocIgnored, 0},
		uint32(elf.R_MIPS_TLS_DTPREL64): {relocIgnored, 0},
	},
	elf.EM_PPC: {
		uint32(elf.R_PPC_NONE):     {relocIgnored, 0},
		uint32(elf.R_PPC_ADDR16):   {relocAbs, 2},
		uint32(elf.R_PPC_UADDR16):  {relocAbs, 2},
		uint32(elf.R_PPC_ADDR32):   {relocAbs, 4},
		uint32(elf.R_PPC_UADDR32):  {relocAbs, 4},
		uint32(elf.R_PPC_REL32):    {relocPC, 4},
		uint32(elf.R_PPC_DTPREL32): {relocIgnored, 0},
	},
	elf.EM_PPC64: {
		uint32(elf.R_PPC64_NONE):     {relocIgnored, 0},
		uint32(elf.R_PPC64_ADDR16):   {relocAbs, 2},
		uint32(elf.R_PPC64_UADDR16):  {relocAbs, 2},
		uint32(elf.R_PPC64_ADDR32):   {relocAbs, 4},
		uint32(elf.R_PPC64_UADDR32):  {relocAbs, 4},
		uint32(elf.R_PPC64_ADDR64):   {relocAbs, 8},
		uint32(elf.R_PPC64_UADDR64):  {relocAbs, 8},
		uint32(elf.R_PPC64_REL32):    {relocPC, 4},
		uint32(elf.R_PPC64_REL64):    {relocPC, 8},
		uint32(elf.R_PPC64_TOC):      {relocIgnored, 0},
		uint32(elf.R_PPC64_DTPREL64): {relocIgnored, 0},
	},
	elf.EM_S390: {
		uint32(elf.R_390_NONE):      {relocIgnored, 0},
		uint32(elf.R_390_8):         {relocAbs, 1},
		uint32(elf.R_390_16):        {relocAbs, 2},
		uint32(elf.R_390_32):        {relocAbs, 4},
		uint32(elf.R_390_64):        {relocAbs, 8},
		uint32(elf.R_390_PC16):      {relocPC, 2},
		uint32(elf.R_390_PC32):      {relocPC, 4},
		uint32(elf.R_390_PC64):      {relocPC, 8},
		uint32(elf.R_390_PLT32):     {relocPC, 4},
		uint32(elf.R_390_PLT64):     {relocPC, 8},
		uint32(elf.R_390_TLS_LDO32): {relocIgnored, 0},
		uint32(elf.R_390_TLS_LDO64): {relocIgnored, 0},
	},
}

// relocTypes looks up the types of one file.
type relocTypes struct {
	kinds  []relocKind // by number
	mips64 bool        // r_info holds three types
}

// newRelocTypes returns nil for a machine whose types are not known.
func newRelocTypes(f *File) *relocTypes {
	known := relocKinds[f.Machine]
	if known == nil {
		return nil
	}
	t := &relocTypes{mips64: f.Machine == elf.EM_MIPS && f.Class == elf.ELFCLASS64}
	for n, k := range known {
		for uint32(len(t.kinds)) <= n {
			t.kinds = append(t.kinds, relocKind{})
		}
		t.kinds[n] = k
	}
	return t
}

// kind returns what relocations of a type do.
func (t *relocTypes) kind(typ uint32) relocKind {
	if typ < uint32(len(t.kinds)) {
		return t.kinds[typ]
	}
	if t.mips64 {
		return t.three(typ)
	}
	return relocKind{}
}

// three is like kind, for the three types of a relocation on 64-bit MIPS (64-bit ELF
// Object File Specification 2.5, 2.9): what the first calculates is the addend of the
// second, whose symbol is 0, and the last says how wide the field is.
func (t *relocTypes) three(typ uint32) relocKind {
	if typ>>24 != 0 || typ&0xff >= uint32(len(t.kinds)) {
		return relocKind{}
	}
	k := t.kinds[typ&0xff]
	for _, next := range []uint32{typ >> 8 & 0xff, typ >> 16 & 0xff} {
		switch elf.R_MIPS(next) {
		case elf.R_MIPS_NONE:
			return k
		case elf.R_MIPS_32, elf.R_MIPS_64:
			k.size = t.kinds[next].size
		default:
			return relocKind{}
		}
	}
	return k
}
