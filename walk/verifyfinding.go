package walk

import (
	"cmp"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/sorting"
)

// maxFindings is how many findings a verdict tells: more than anybody reads, and
// few enough for the memory, where every frame of a stack of garbage has one.
const maxFindings = 10_000

// Blame is whose fault a finding is.
type Blame string

// The culprits.
const (
	NoBlame      Blame = ""
	BlameSymbols Blame = "symbols"
	BlameDump    Blame = "dump"
	BlameBinary  Blame = "binary" // its tables contradict each other
)

// Severity is how bad a finding is.
type Severity string

// The severities. Symbols hold without errors.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
	SeverityNote    Severity = "note"
)

// The kinds of findings, in the order in which a conclusion is looked for.
const (
	KindOtherID      = "other-id"      // the symbols that are there are another module's
	KindRulesDiffer  = "rules-differ"  // two sources give different callers
	KindFramePointer = "frame-pointer" // rules and the function's frame pointer do
	KindMissing      = "missing-symbols"
	KindNoRules      = "no-rules"      // the symbol file has none where the binary has
	KindRulesFail    = "rules-fail"    // rules that gave no caller
	KindNoCall       = "no-call"       // a return address does not follow a call
	KindNoContext    = "no-context"    // the dump has no registers of a thread
	KindMemory       = "stack-memory"  // the dump does not hold the stack
	KindBroken       = "broken-stack"  // no technique finds a caller
	KindScan         = "scan"          // more callers by scanning than allowed
	KindShare        = "cfi-share"     // fewer callers by CFI than demanded
	KindUnused       = "binary-used"   // a symbol file is missing, the binary serves
	KindExtraRules   = "extra-rules"   // the symbol file has rules where the binary has none
	KindSameEffect   = "rules-unequal" // rules differ, without an effect in this dump
	KindNoFunction   = "no-function"   // symbols have no function at a frame's address
)

var kindOrder = []string{
	KindOtherID, KindRulesDiffer, KindFramePointer, KindMissing, KindNoRules, KindRulesFail, KindNoCall, KindNoContext, KindMemory,
	KindBroken, KindScan, KindShare, KindUnused, KindExtraRules, KindSameEffect, KindNoFunction,
}

// Finding is one thing that is wrong or odd. Those at one address of a module are
// one, told with the values of the first stack that goes through it.
type Finding struct {
	Severity Severity `json:"severity"`
	Kind     string   `json:"kind"`
	Blame    Blame    `json:"blame,omitempty"`
	Text     string   `json:"text"` // without the place
	Count    int      `json:"count"`

	Thread   uint32  `json:"thread_id,omitempty"` // 0 if it is about no thread
	Frame    int     `json:"frame,omitempty"`     // number in the stack
	PC       Address `json:"pc,omitempty"`        // Frame.Inst: of the instruction whose rules are meant
	Module   string  `json:"module,omitempty"`
	RVA      Address `json:"module_offset,omitempty"` // of PC, from the module's start
	Function string  `json:"function,omitempty"`

	Sides []Side `json:"sides,omitempty"` // that differ

	weight int  // the heavier one of a kind goes first
	late   bool // no stack is lost there first: others say more
}

// Side is what one source makes of a step.
type Side struct {
	Source   string  `json:"source"` // "symbols", "eh_frame", "sframe", "frame-pointer"
	Register string  `json:"register,omitempty"`
	Rule     string  `json:"rule,omitempty"`  // of the register that differs, and .cfa's
	Value    Address `json:"value,omitempty"` // of the register in the caller
	Error    string  `json:"error,omitempty"` // why there is no value
	CFA      Address `json:"cfa,omitempty"`
	PC       Address `json:"caller,omitempty"` // the caller's
}

type findingKey struct {
	kind   string
	module int
	addr   uint64
	text   string // for those without an address; the other source of rules that differ
}

// add adds a finding about a frame of a stack; f is nil for one about the whole.
func (v *verifier) add(s *Stack, f *Frame, x Finding) {
	key := findingKey{kind: x.Kind, module: -1}
	if s != nil {
		x.Thread = v.result.Dump.Threads[s.Thread].ID
	}
	if f != nil {
		x.PC, x.Function, x.Frame = Address(f.Inst), f.Function(), v.number(s, f)
		key.addr, key.module = f.Inst, f.Module
		v.at[key] = true
		if len(x.Sides) > 0 {
			key.text = x.Sides[len(x.Sides)-1].Source
		}
		if f.Module >= 0 {
			d := v.result.Dump
			m := &d.Modules[f.Module]
			x.Module, x.RVA = d.System.OS.Base(m.Path), Address(f.Inst-m.Addr)
		}
	} else {
		key.text = x.Module + x.Text
	}
	if i, ok := v.found[key]; ok {
		v.verdict.Findings[i].Count++
		return
	}
	limit := maxFindings
	if x.Severity != SeverityError {
		limit /= 2 // so that there is room for an error
	}
	if len(v.verdict.Findings) >= limit {
		if v.verdict.Omitted++; x.Severity == SeverityError {
			v.omitted++
		}
		return
	}
	x.Count = 1
	v.found[key] = len(v.verdict.Findings)
	v.verdict.Findings = append(v.verdict.Findings, x)
}

// has tells whether there is a finding of a kind at a frame's address.
func (v *verifier) has(f *Frame, kinds ...string) bool {
	return slices.ContainsFunc(kinds, func(kind string) bool {
		return v.at[findingKey{kind: kind, module: f.Module, addr: f.Inst}]
	})
}

// number is the place of a frame in the stack that is judged: the frame of the
// moment, or the one before.
func (v *verifier) number(s *Stack, f *Frame) int {
	if v.current > 0 && f == &s.Frames[v.current-1] {
		return v.current - 1
	}
	return v.current
}

// sortFindings puts errors first, of these what lost a stack, then kinds by
// weight, then by place.
func sortFindings(list []Finding) {
	rank := func(x *Finding) int {
		n := 2 * slices.Index([]Severity{SeverityError, SeverityWarning, SeverityNote}, x.Severity)
		if x.late {
			n++
		}
		return n
	}
	sorting.StableFunc(list, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)),
			cmp.Compare(slices.Index(kindOrder, a.Kind), slices.Index(kindOrder, b.Kind)), cmp.Compare(b.weight, a.weight),
			strings.Compare(a.Module, b.Module), cmp.Compare(a.RVA, b.RVA), cmp.Compare(a.PC, b.PC))
	})
}
