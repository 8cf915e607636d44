package arch

// RelocOp is what a relocation does with the field at its place P, the symbol's
// value S and the addend A, all numbers being as wide as the field.
type RelocOp uint8

// The operations.
const (
	RelocUnknown RelocOp = iota
	RelocIgnored         // an instruction to the linker, or the place of something that is not read here
	RelocAbs             // S + A
	RelocPC              // S + A - P
	RelocPC31            // S + A - P in bits 0 to 30; bit 31 stays
	RelocAdd             // field + S + A
	RelocSub             // field - (S + A)
	RelocSet6            // S + A in bits 0 to 5
	RelocSub6            // field - (S + A) in bits 0 to 5
	RelocSetULEB         // S + A as ULEB128, as long as the one that is there
	RelocSubULEB         // field - (S + A), likewise
)

// Reloc is a type of relocations.
type Reloc struct {
	Op   RelocOp
	Size uint8 // of the field in bytes; 0 for ULEB128 and where nothing is written
}
