package walk

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/symtool/symtool/symfmt/cfi"
)

// Thresholds says what symbols must do to hold. The zero value asks for no
// share of CFI, but allows no scanned frame and no missing symbols.
type Thresholds struct {
	// MinCFI is the least share of callers that are found by call frame
	// information, in percent of those that could be: behind frames in modules.
	MinCFI float64
	// MaxScan is how many callers may be found by scanning the stack.
	MaxScan int
	// AllowMissing are patterns, as of path.Match, for the names of modules whose
	// symbols may be missing. What happens behind their frames does not count.
	AllowMissing []string
}

// DefaultThresholds asks that every caller that could be is found by call frame
// information.
func DefaultThresholds() Thresholds { return Thresholds{MinCFI: 100} }

// Allows tells whether the symbols of a module of this name may be missing.
func (t *Thresholds) Allows(name string) bool {
	return slices.ContainsFunc(t.AllowMissing, func(p string) bool {
		ok, _ := path.Match(p, name)
		return ok
	})
}

// Check tells which of the patterns is none.
func (t *Thresholds) Check() error {
	for _, p := range t.AllowMissing {
		if _, err := path.Match(p, ""); err != nil {
			return &patternError{p, err}
		}
	}
	return nil
}

type patternError struct {
	pattern string
	err     error
}

func (e *patternError) Error() string { return "bad pattern " + e.pattern + ": " + e.err.Error() }
func (e *patternError) Unwrap() error { return e.err }

// Counts are callers by how they were found. Topmost frames are none.
type Counts struct {
	Callers      int            `json:"callers"`
	CFI          int            `json:"cfi"`           // TrustCFI
	CFIScan      int            `json:"cfi_scan"`      // TrustCFIScan
	FramePointer int            `json:"frame_pointer"` // TrustFramePtr
	Scan         int            `json:"scan"`          // TrustScan
	By           map[string]int `json:"by"`            // by the names of Technique
}

func (c *Counts) add(f *Frame) {
	if c.By == nil {
		c.By = map[string]int{}
	}
	c.Callers++
	c.By[f.By.String()]++
	switch f.Trust {
	case TrustCFI:
		c.CFI++
	case TrustCFIScan:
		c.CFIScan++
	case TrustFramePtr:
		c.FramePointer++
	case TrustScan:
		c.Scan++
	}
}

// Verdict is what a walk says of the symbols.
type Verdict struct {
	Holds      bool   `json:"holds"`
	Blame      Blame  `json:"blame"`      // of the conclusion; "" if the symbols hold
	Conclusion string `json:"conclusion"` // one line

	Threads int    `json:"threads"`
	Broken  int    `json:"broken"` // stacks whose walk did not come to the end
	Counts  Counts `json:"frames"`
	// Counted are the callers that thresholds are about: those behind frames in
	// modules whose symbols may not be missing. CountedCFI and CountedScan are
	// those of them by CFI and by scanning.
	Counted     int `json:"counted"`
	CountedCFI  int `json:"counted_cfi"`
	CountedScan int `json:"counted_scan"`

	// Compared is how many pairs of rules for one step were compared, Calls how
	// many return addresses follow a call, UnknownCalls of how many the code in
	// front is not to be had.
	Compared     int `json:"compared"`
	Calls        int `json:"calls"`
	UnknownCalls int `json:"unknown_calls"`

	Modules  []ModuleVerdict `json:"modules"`  // that stacks go through, by address
	Findings []Finding       `json:"findings"` // errors first, then by kind, module and address
	Omitted  int             `json:"omitted"`  // findings beyond 10,000, or 5,000 that are no errors
}

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
	KindRulesDiffer  = "rules-differ"  // two sources give different callers
	KindFramePointer = "frame-pointer" // rules and the function's frame pointer do
	KindOtherID      = "other-id"      // the symbols that are there are another module's
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
	KindRulesDiffer, KindFramePointer, KindOtherID, KindMissing, KindNoRules, KindRulesFail, KindNoCall, KindNoContext, KindMemory,
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

	weight int // the heavier one of a kind goes first
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

// ModuleVerdict is what a module's symbols did.
type ModuleVerdict struct {
	Name    string  `json:"name"`
	Addr    Address `json:"base_addr"`
	DebugID string  `json:"debug_id,omitempty"`
	CodeID  string  `json:"code_id,omitempty"`
	Allowed bool    `json:"allowed,omitempty"` // its symbols may be missing

	Symbols string   `json:"symbols"`         // "symbol-file", "binary", "missing", "other-id"
	Path    string   `json:"path,omitempty"`  // of the symbols
	Tried   []string `json:"tried,omitempty"` // where symbols were looked for in vain
	Error   string   `json:"error,omitempty"` // symbols that could not be used

	Frames    int    `json:"frame_count"`
	Functions int    `json:"functions"` // frames whose function is known
	Publics   int    `json:"publics"`   // those of them that only a PUBLIC record names
	Counts    Counts `json:"frames"`    // callers of its frames
}

// Verify judges the symbols by a walk of this Walker.
func (w *Walker) Verify(ctx context.Context, r *Result, t Thresholds) (*Verdict, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	v := &verifier{w: w, ctx: ctx, result: r, limits: t, found: map[findingKey]int{}, at: map[findingKey]bool{},
		known: map[*moduleState][]table{}, regs: map[*machine]*[ByScan + 1]*cfi.Regs{}}
	v.verdict = &Verdict{Modules: []ModuleVerdict{}, Findings: []Finding{}, Counts: Counts{By: map[string]int{}}}
	v.modules()
	for i := range r.Stacks {
		if err := v.stack(&r.Stacks[i]); err != nil {
			return nil, err
		}
	}
	v.judgeModules()
	v.judgeCounts()
	v.conclude()
	return v.verdict, nil
}

// verifier makes a Verdict.
type verifier struct {
	w       *Walker
	ctx     context.Context
	result  *Result
	limits  Thresholds
	verdict *Verdict
	places  []int // of Result.Modules in Verdict.Modules, or -1
	broken  map[int]*damage
	current int // the frame of a stack that is judged
	omitted int // errors
	known   map[*moduleState][]table
	regs    map[*machine]*[ByScan + 1]*cfi.Regs
	found   map[findingKey]int // place in Findings
	at      map[findingKey]bool
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

// sortFindings puts errors first, then kinds by weight, then by place.
func sortFindings(list []Finding) {
	rank := func(s Severity) int { return slices.Index([]Severity{SeverityError, SeverityWarning, SeverityNote}, s) }
	slices.SortStableFunc(list, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(rank(a.Severity), rank(b.Severity)),
			cmp.Compare(slices.Index(kindOrder, a.Kind), slices.Index(kindOrder, b.Kind)), cmp.Compare(b.weight, a.weight),
			strings.Compare(a.Module, b.Module), cmp.Compare(a.RVA, b.RVA), cmp.Compare(a.PC, b.PC))
	})
}
