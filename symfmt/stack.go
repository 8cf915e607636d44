package symfmt

// CFITable holds the STACK CFI records. Rule texts are interned: a large module
// has hundreds of thousands of rows and a few thousand different rule sets.
type CFITable struct {
	Blocks []CFIBlock
	Rows   []CFIRow // the rows of all blocks; a block names its part
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
}

// CFIRow is a STACK CFI record: from RVA on, these rules replace those of the
// same registers.
type CFIRow struct { // 16 bytes
	RVA   RVA
	Rules RuleID
}

// RuleID is an index into a RuleTable.
type RuleID uint32

// RuleTable interns rule sets in Breakpad's text form, such as
// ".cfa: $rsp 8 + .ra: .cfa -8 + ^".
type RuleTable struct {
	texts []string
	ids   map[string]RuleID
}

// Intern returns the number of text, which it copies when it is new.
func (t *RuleTable) Intern(text []byte) RuleID {
	if id, ok := t.ids[string(text)]; ok {
		return id
	}
	if t.ids == nil {
		t.ids = make(map[string]RuleID)
	}
	id := RuleID(len(t.texts))
	s := string(text)
	t.texts = append(t.texts, s)
	t.ids[s] = id
	return id
}

// Text returns the rule set with number id.
func (t *RuleTable) Text(id RuleID) string { return t.texts[id] }

// Len is the number of different rule sets.
func (t *RuleTable) Len() int { return len(t.texts) }

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
	Program           string // when HasProgram
	AllocatesBasePtr  bool   // when !HasProgram
}
