package verify

import (
	"cmp"
	"slices"
	"strings"

	"github.com/symtool/symtool/walk"
)

// maxFindings is the number of findings that a verdict lists: more than anybody reads, but few
// enough for memory if every frame of a garbage stack has one.
const maxFindings = 10_000

// Blame says whose fault a finding is.
type Blame string

// The culprits.
const (
	NoBlame      Blame = ""
	BlameSymbols Blame = "symbols"
	BlameDump    Blame = "dump"
	BlameBinary  Blame = "binary" // its tables contradict each other, are wrong, or do not cover some code
)

// Severity says how bad a finding is.
type Severity string

// The severities. Symbols hold if there are no errors.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
	SeverityNote    Severity = "note"
)

// The kinds of findings, in the order of precedence for a conclusion.
const (
	KindOtherID      = "other-id"      // the symbols that were found are another module's
	KindRulesDiffer  = "rules-differ"  // two sources compute different callers
	KindFramePointer = "frame-pointer" // rules and the function's frame pointer give different callers
	KindMissing      = "missing-symbols"
	KindNoRules      = "no-rules"      // the symbol file lacks rules that the binary has
	KindRulesFail    = "rules-fail"    // rules gave no caller
	KindNoCall       = "no-call"       // a return address does not follow a call
	KindNoContext    = "no-context"    // the dump has no registers of a thread
	KindMemory       = "stack-memory"  // the dump lacks part of the stack
	KindBroken       = "broken-stack"  // no technique finds a caller
	KindScan         = "scan"          // more callers by scanning than allowed
	KindShare        = "cfi-share"     // fewer callers by CFI than required
	KindUnused       = "binary-used"   // a symbol file is missing, and the binary was used
	KindExtraRules   = "extra-rules"   // the symbol file has rules that the binary lacks
	KindSameEffect   = "rules-unequal" // rules differ, with no effect in this dump
	KindNoFunction   = "no-function"   // symbols have no function at a frame's address
)

var kindOrder = []string{
	KindOtherID, KindRulesDiffer, KindFramePointer, KindMissing, KindNoRules, KindRulesFail, KindNoCall, KindNoContext, KindMemory,
	KindBroken, KindScan, KindShare, KindUnused, KindExtraRules, KindSameEffect, KindNoFunction,
}

// Finding is one thing that is wrong or odd. Findings at the same address of a module are merged,
// with the values of the first stack that passes there.
type Finding struct {
	Severity Severity `json:"severity"`
	Kind     string   `json:"kind"`
	Blame    Blame    `json:"blame,omitempty"`
	Text     string   `json:"text"` // without the location
	Count    int      `json:"count"`

	Thread   uint32       `json:"thread_id,omitempty"` // 0 if no thread is concerned
	Frame    int          `json:"frame,omitempty"`     // index in the stack
	PC       walk.Address `json:"pc,omitempty"`        // Frame.Inst: the instruction whose rules are concerned
	Module   string       `json:"module,omitempty"`
	RVA      walk.Address `json:"module_offset,omitempty"` // of PC, from the module's start
	Function string       `json:"function,omitempty"`

	Sides []Side `json:"sides,omitempty"` // the sources that differ

	// Follows are the findings that this one causes. They cause none themselves and do not count as
	// errors.
	Follows []Finding `json:"follows,omitempty"`

	brief    string // Text in its form for the conclusion; "" if Text is short
	weight   int    // within a kind, the heaviest finding comes first
	late     bool   // no stack is lost there first, so other findings explain more
	after    *cause // what the finding follows from, or nil
	ofModule int    // 1 + the index in Dump.Modules of the module whose symbols are concerned, or 0
}

// Side is one source's result for a step.
type Side struct {
	Source   string       `json:"source"` // "symbols", "eh_frame", "sframe", "frame-pointer"
	Register string       `json:"register,omitempty"`
	Rule     string       `json:"rule,omitempty"`  // for the register that differs, and for .cfa
	Value    walk.Address `json:"value,omitempty"` // of the register in the caller
	Error    string       `json:"error,omitempty"` // why the value is missing
	CFA      walk.Address `json:"cfa,omitempty"`
	PC       walk.Address `json:"caller,omitempty"` // the caller's
}

type findingKey struct {
	kind   string
	module int
	addr   uint64
	text   string // what a side without an address has; the other source, if rules differ
}

// add adds a finding about a frame of a stack; f is nil for one about the stack as a whole.
func (v *verifier) add(s *walk.Stack, f *walk.Frame, x Finding) {
	key := findingKey{kind: x.Kind, module: -1}
	if s != nil {
		x.Thread = v.result.Dump.Threads[s.Thread].ID
	}
	if f != nil {
		v.place(s, f, &x)
		key.addr, key.module = f.Inst, f.Module
	} else {
		key.text = x.Module + x.Text
	}
	at := key
	if len(x.Sides) > 0 {
		key.text = x.Sides[len(x.Sides)-1].Source
	}
	if f != nil && x.after == nil {
		x.after = v.causeAt(f, &x)
	}
	i, ok := v.found[key]
	switch {
	case ok:
		v.verdict.Findings[i].merge(&x)
		return
	case v.isFull(x.Severity):
		if v.verdict.Omitted++; x.Severity == SeverityError {
			v.omitted++
		}
		return
	}
	x.Count = 1
	i = len(v.verdict.Findings)
	v.found[key] = i
	if _, ok := v.at[at]; f != nil && !ok {
		v.at[at] = i
	}
	v.verdict.Findings = append(v.verdict.Findings, x)
}

// place sets the location of a finding about a frame.
func (v *verifier) place(s *walk.Stack, f *walk.Frame, x *Finding) {
	x.PC, x.Function, x.Frame = walk.Address(f.Inst), f.Function(), v.number(s, f)
	if f.Module < 0 {
		return
	}
	d := v.result.Dump
	m := &d.Modules[f.Module]
	x.Module, x.RVA = d.System.OS.Base(m.Path), walk.Address(f.Inst-m.Addr)
}

// merge counts another finding of the same kind and address. It keeps the more severe of the two,
// and the one without a cause.
func (x *Finding) merge(y *Finding) {
	n, after := x.Count+1, x.after
	if y.after == nil {
		after = nil
	}
	if y.Severity == SeverityError && x.Severity != SeverityError {
		*x = *y
	}
	x.Count, x.after = n, after
}

// isFull reports whether the verdict has room for no more findings of the severity.
func (v *verifier) isFull(s Severity) bool {
	limit := maxFindings
	if s != SeverityError {
		limit /= 2 // leave room for errors
	}
	return len(v.verdict.Findings) >= limit
}

// number returns the index in the current stack of f, which is the current frame or the one
// before it.
func (v *verifier) number(s *walk.Stack, f *walk.Frame) int {
	if v.current > 0 && f == &s.Frames[v.current-1] {
		return v.current - 1
	}
	return v.current
}

// sortFindings sorts by severity; within a severity, findings at which a stack was lost come
// first, and then kind, weight and location decide.
func sortFindings(list []Finding) {
	slices.SortStableFunc(list, func(a, b Finding) int { return compareFindings(&a, &b) })
}

func compareFindings(a, b *Finding) int {
	return cmp.Or(cmp.Compare(a.rank(), b.rank()),
		cmp.Compare(slices.Index(kindOrder, a.Kind), slices.Index(kindOrder, b.Kind)), cmp.Compare(b.weight, a.weight),
		strings.Compare(a.Module, b.Module), cmp.Compare(a.RVA, b.RVA), cmp.Compare(a.PC, b.PC))
}

func (x *Finding) rank() int {
	n := 2 * slices.Index([]Severity{SeverityError, SeverityWarning, SeverityNote}, x.Severity)
	if x.late {
		n++
	}
	return n
}
