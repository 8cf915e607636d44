package symfmt

import (
	"iter"
	"slices"
	"strings"
)

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
	Marks CFIMarks // in force from RVA, replacing earlier marks
}

// CFIMarks are properties of code that DWARF and SFrame record besides its rules, and where rules come from.
// Breakpad's text has no place for them.
type CFIMarks uint8

// TextRows returns how many of Rows have rules, and so are STACK CFI records.
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
	MarkCode                        // the rules were derived from instructions
)

// StackWin is a STACK WIN record. Records of types other than 0 and 4 are kept
// unchanged.
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

// canonicalize sorts blocks and rows, and makes each block's rows follow those
// of the previous block. A row at the same address as the record before it is
// joined with that record, because the specification requires ascending
// addresses.
func (t *CFITable) canonicalize() {
	t.cleanRules()
	if t.inOrder() {
		return
	}
	blocks := slices.Clone(sorted(t.Blocks, compareBlocks))
	rows := make([]CFIRow, 0, len(t.Rows))
	for i := range blocks {
		b := &blocks[i]
		own := sorted(t.Rows[b.First:b.First+b.Count], compareRows)
		b.First = uint32(len(rows))
		marks := b.Marks
		for len(own) > 0 {
			row := own[0]
			here := 1
			for here < len(own) && own[here].RVA == row.RVA {
				here++
			}
			row.Marks = own[here-1].Marks
			if row.RVA == b.RVA && len(rows) == int(b.First) {
				b.Init, b.Marks = t.join(b.Init, own[:here]), row.Marks
			} else if row.Rules = t.join(row.Rules, own[1:here]); row.Marks != marks || !t.Rules.isEmpty(row.Rules) {
				rows = append(rows, row)
			}
			marks = row.Marks
			own = own[here:]
		}
		b.Count = uint32(len(rows)) - b.First
	}
	t.Blocks, t.Rows = blocks, rows
}

// join interns the rules in force after those of first and then of rows: later rules replace earlier ones for
// the same registers. A rule extends to the next word that ends in a colon.
func (t *CFITable) join(first RuleID, rows []CFIRow) RuleID {
	if len(rows) == 0 {
		return first
	}
	var rules []string // each with its name
	index := make(map[string]int)
	add := func(id RuleID) {
		for name, rule := range rulesIn(t.Rules.Text(id)) {
			i, ok := index[name]
			if !ok {
				i = len(rules)
				index[name] = i
				rules = append(rules, "")
			}
			rules[i] = rule
		}
	}
	add(first)
	for i := range rows {
		add(rows[i].Rules)
	}
	return t.Rules.Parse([]byte(strings.Join(rules, " ")))
}

// rulesIn yields the register names in rules, whose words have one space between
// them, each with the rules from that name on.
func rulesIn(rules string) iter.Seq2[string, string] {
	return func(yield func(name, rule string) bool) {
		name, start, at := "", 0, 0
		for word := range strings.SplitSeq(rules, " ") {
			if strings.HasSuffix(word, ":") {
				if name != "" && !yield(name, rules[start:at-1]) {
					return
				}
				name, start = word, at
			}
			at += len(word) + 1
		}
		if name != "" {
			yield(name, rules[start:])
		}
	}
}

// cleanRules brings the texts that were read into the form in which they are
// written. A block without rules gets noRules; rows may have none.
func (t *CFITable) cleanRules() {
	for id := range RuleID(t.Rules.Len()) {
		if text := t.Rules.sets[id].text; text != "" {
			if c := cleanRules(text); c != text {
				t.Rules.replaceText(id, c)
			}
		}
	}
	for i := range t.Blocks {
		if b := &t.Blocks[i]; t.Rules.isEmpty(b.Init) {
			b.Init = t.Rules.Parse([]byte(noRules))
		}
	}
}

// inOrder reports whether canonicalize has nothing to move, join or drop.
func (t *CFITable) inOrder() bool {
	var next uint32
	for i := range t.Blocks {
		b := &t.Blocks[i]
		if b.First != next || i > 0 && compareBlocks(&t.Blocks[i-1], b) > 0 {
			return false
		}
		next += b.Count
		last, marks := b.RVA, b.Marks
		for _, row := range t.Rows[b.First:next] {
			if row.RVA <= last || row.Marks == marks && t.Rules.isEmpty(row.Rules) {
				return false
			}
			last, marks = row.RVA, row.Marks
		}
	}
	return int(next) == len(t.Rows)
}
