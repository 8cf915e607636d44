package symfmt

import (
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/cfi"
)

// RuleID is an index into a RuleTable.
type RuleID uint32

// RuleTable interns the rule sets of STACK CFI records as values. It keeps the
// text of sets that were read from text. The zero RuleTable is empty, for an
// unknown CPU.
type RuleTable struct {
	names *cfi.Names
	sets  []ruleSet
	texts map[string]RuleID // sets read from text
	codes map[string]RuleID // sets without errors by cfi.Rules.AppendCode; nil before the first Add
	errs  map[RuleID]error  // sets that do not parse
	key   []byte
}

// ruleSet is one set.
type ruleSet struct {
	packed []uint32 // from cfi.Rules.Pack
	text   string   // as read; "" for values, which are printed instead
}

// SetArch sets the CPU of the rules; nil means an unknown one. Rules that are
// already interned are parsed again.
func (t *RuleTable) SetArch(a *arch.Arch) {
	if t.names != nil && t.names.Arch() == a {
		return
	}
	before := t.names
	t.names, t.codes, t.errs = cfi.NewNames(a), nil, nil
	for i := range t.sets {
		if s := &t.sets[i]; s.text != "" {
			t.read(RuleID(i))
		} else {
			s.packed = t.names.Translate(before.Unpack(s.packed)).Pack()
		}
	}
}

// Names returns the registers that the rules of the table refer to.
func (t *RuleTable) Names() *cfi.Names {
	if t.names == nil {
		t.names = cfi.NewNames(nil)
	}
	return t.names
}

// Parse returns the number of the rules in text, such as ".cfa: $rsp 8 + .ra:
// .cfa -8 + ^". It copies the text if it is new.
func (t *RuleTable) Parse(text []byte) RuleID {
	if id, ok := t.texts[string(text)]; ok {
		return id
	}
	if t.texts == nil {
		t.texts = make(map[string]RuleID)
	}
	s := string(text)
	id := RuleID(len(t.sets))
	t.sets = append(t.sets, ruleSet{text: s})
	t.texts[s] = id
	t.read(id)
	if t.codes != nil {
		t.code(id)
	}
	return id
}

// read parses the text of a set.
func (t *RuleTable) read(id RuleID) {
	s := &t.sets[id]
	delete(t.errs, id)
	if s.packed = nil; s.text == "" {
		return
	}
	rules, err := t.Names().ParseRules(s.text)
	if err != nil {
		if t.errs == nil {
			t.errs = make(map[RuleID]error)
		}
		t.errs[id] = err
		return
	}
	s.packed = rules.Pack()
}

// Add returns the number of rules, which must use the table's Names.
func (t *RuleTable) Add(rules cfi.Rules) RuleID {
	if t.codes == nil {
		t.codes = make(map[string]RuleID)
		for id := range t.sets {
			t.code(RuleID(id))
		}
	}
	t.key = rules.AppendCode(t.key[:0])
	if id, ok := t.codes[string(t.key)]; ok {
		return id
	}
	id := RuleID(len(t.sets))
	t.sets = append(t.sets, ruleSet{packed: rules.Pack()})
	t.codes[string(t.key)] = id
	return id
}

// code makes a set available to Add. A set whose text has another form remains
// separate.
// separate.
func (t *RuleTable) code(id RuleID) {
	rules, err := t.Rules(id)
	if text := t.sets[id].text; err != nil || text != "" && text != rules.String() {
		return
	}
	t.key = rules.AppendCode(t.key[:0])
	if _, ok := t.codes[string(t.key)]; !ok {
		t.codes[string(t.key)] = id
	}
}

// adopt returns the number in t of set id of o.
func (t *RuleTable) adopt(o *RuleTable, id RuleID) RuleID {
	if s := &o.sets[id]; s.text != "" {
		return t.Parse([]byte(s.text))
	}
	rules, _ := o.Rules(id)
	return t.Add(t.Names().Translate(rules))
}

// Rules returns the rule set with number id. If its text is malformed, the error is a
// *cfi.Error.
func (t *RuleTable) Rules(id RuleID) (cfi.Rules, error) {
	return t.names.Unpack(t.sets[id].packed), t.errs[id]
}

// Text returns the rule set with number id as it was read or, if it was added as a value, printed.
func (t *RuleTable) Text(id RuleID) string {
	if s := &t.sets[id]; s.text != "" {
		return s.text
	}
	return t.names.Unpack(t.sets[id].packed).String()
}

// Len returns the number of different rule sets.
func (t *RuleTable) Len() int { return len(t.sets) }

// isEmpty reports whether set id has no rules.
func (t *RuleTable) isEmpty(id RuleID) bool {
	s := &t.sets[id]
	return s.text == "" && len(s.packed) == 0
}

// replaceText changes the text of a set.
func (t *RuleTable) replaceText(id RuleID, text string) {
	s := &t.sets[id]
	delete(t.texts, s.text)
	s.text = text
	t.read(id)
	if _, ok := t.texts[text]; !ok {
		t.texts[text] = id
	}
	t.codes = nil
}
