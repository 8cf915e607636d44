package symfmt

// CFITable holds the STACK CFI records. Rule sets are interned, as a large
// module has hundreds of thousands of rows but only a few thousand different
// sets.
type CFITable struct {
	Blocks []CFIBlock
	Rows   []CFIRow // rows of all blocks, each of which refers to its part
	Rules  RuleTable
}

// CFIBlock is a STACK CFI INIT record and the STACK CFI records that follow it,
// CFITable.Rows[First:First+Count].
type CFIBlock struct { // 32 bytes
	RVA   RVA
	Size  uint64 // bytes of code covered by the block
	Init  RuleID
	First uint32
	Count uint32
	Marks CFIMarks // in force from RVA
}

// CFIRow is a STACK CFI record: from RVA on, its rules replace those of the
// same registers. A row that changes only marks has no rules, and is not
// written as a record.
type CFIRow struct { // 16 bytes
	RVA   RVA
	Rules RuleID
	Marks CFIMarks // in force from RVA, in place of earlier marks
}

// CFIMarks are properties of code that DWARF and SFrame record besides its rules.
// Breakpad's text has no place for them.
type CFIMarks uint8

// TextRows returns how many of Rows are STACK CFI records: those that have rules.
func (t *CFITable) TextRows() int {
	n := len(t.Rows)
	for i := range t.Rows {
		if t.Rules.isEmpty(t.Rows[i].Rules) {
			n--
		}
	}
	return n
}

// The marks of a block or row.
const (
	MarkSignal CFIMarks = 1 << iota // signal frame: a return address into it does not follow a call
	MarkKeyB                        // AArch64: return addresses are signed with key B
	MarkSigned                      // AArch64: the return address is signed here
)

// StackWin is a STACK WIN record. Types other than 0 and 4 are kept as they are.
type StackWin struct {
	Type              uint32
	RVA               RVA
	CodeSize          uint64 // in bytes, like all sizes here
	PrologueSize      uint64
	EpilogueSize      uint64
	ParameterSize     uint64
	SavedRegisterSize uint64
	LocalSize         uint64
	MaxStackSize      uint64
	HasProgram        bool
	Program           string // if HasProgram is set
	AllocatesBasePtr  bool   // if HasProgram is not set
}
