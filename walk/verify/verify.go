// Package verify judges symbols by a walk: whether the rules of symbol files and binaries agree,
// lead to calls, and reach the ends of stacks, and who is to blame if not.
package verify

import (
	"context"
	"path"
	"slices"

	"github.com/symtool/symtool/walk"
)

// Thresholds say when symbols hold. The zero value requires no share of CFI, but allows neither
// scanned frames nor missing symbols.
type Thresholds struct {
	// MinCFI is the required share, in percent, of callers found by call frame information among
	// those that could be: the callers of frames in modules.
	MinCFI float64
	// MaxScan is the number of callers that may be found by scanning the stack.
	MaxScan int
	// AllowMissing are patterns of path.Match for the names of modules whose symbols may be missing.
	// Callers of frames in these modules are not counted.
	AllowMissing []string
}

// Default requires call frame information for every caller that it could find.
func Default() Thresholds { return Thresholds{MinCFI: 100} }

// allows reports whether the symbols of a module with this name may be missing.
func (t *Thresholds) allows(name string) bool {
	return slices.ContainsFunc(t.AllowMissing, func(p string) bool {
		ok, _ := path.Match(p, name)
		return ok
	})
}

// Check reports the first malformed pattern.
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

// Counts counts callers by how they were found. Topmost frames are not callers.
type Counts struct {
	Callers      int            `json:"callers"`
	CFI          int            `json:"cfi"`           // TrustCFI, but for Code
	Code         int            `json:"code"`          // by rules derived from instructions
	CFIScan      int            `json:"cfi_scan"`      // TrustCFIScan
	FramePointer int            `json:"frame_pointer"` // TrustFramePtr
	Scan         int            `json:"scan"`          // TrustScan
	By           map[string]int `json:"by"`            // by the names of Technique
}

func (c *Counts) add(f *walk.Frame) {
	if c.By == nil {
		c.By = map[string]int{}
	}
	c.Callers++
	c.By[f.By.String()]++
	switch {
	case f.By == walk.ByCode:
		c.Code++
	case f.Trust == walk.TrustCFI:
		c.CFI++
	case f.Trust == walk.TrustCFIScan:
		c.CFIScan++
	case f.Trust == walk.TrustFramePtr:
		c.FramePointer++
	case f.Trust == walk.TrustScan:
		c.Scan++
	}
}

// Verdict is the judgement of symbols by a walk.
type Verdict struct {
	Holds      bool   `json:"holds"`
	Blame      Blame  `json:"blame"`      // of the conclusion; "" if the symbols hold
	Conclusion string `json:"conclusion"` // one line

	Threads int    `json:"threads"`
	Broken  int    `json:"broken"` // stacks whose walk did not reach the end
	Counts  Counts `json:"frames"`
	// Counted is the number of callers to which the thresholds apply: the callers of frames in
	// modules that must have symbols. CountedCFI and CountedScan are the numbers of those found by
	// CFI and by scanning.
	Counted     int `json:"counted"`
	CountedCFI  int `json:"counted_cfi"`
	CountedScan int `json:"counted_scan"`

	// Compared is the number of pairs of rules for the same step that were compared, Calls the
	// number of return addresses that follow a call, and UnknownCalls the number of return addresses
	// preceded by unknown code.
	Compared     int `json:"compared"`
	Calls        int `json:"calls"`
	UnknownCalls int `json:"unknown_calls"`

	Modules  []Module  `json:"modules"`  // on stacks, by address
	Findings []Finding `json:"findings"` // errors first, then by kind, weight and location; each contains its consequences
	Omitted  int       `json:"omitted"`  // findings beyond 10,000, or 5,000 for those that are not errors
}

// Module is the part of a Verdict about one module.
type Module struct {
	Name    string       `json:"name"`
	Addr    walk.Address `json:"base_addr"`
	DebugID string       `json:"debug_id,omitempty"`
	CodeID  string       `json:"code_id,omitempty"`
	Allowed bool         `json:"allowed,omitempty"` // its symbols may be missing

	Symbols string   `json:"symbols"`         // "symbol-file", "binary", "missing", "other-id"
	Path    string   `json:"path,omitempty"`  // of the symbols
	Tried   []string `json:"tried,omitempty"` // where symbols were not found
	Error   string   `json:"error,omitempty"` // why symbols could not be used

	Frames    int    `json:"frame_count"`
	Functions int    `json:"functions"` // frames whose function is known
	Publics   int    `json:"publics"`   // of Functions, those that only a PUBLIC record names
	Counts    Counts `json:"frames"`    // callers of its frames
}

// Judge judges the symbols by r, a walk by w. The error is t.Check's or ctx's.
func Judge(ctx context.Context, w *walk.Walker, r *walk.Result, t Thresholds) (*Verdict, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	v := &verifier{w: w, ctx: ctx, result: r, limits: t, found: map[findingKey]int{}, at: map[findingKey]int{}}
	v.verdict = &Verdict{Modules: []Module{}, Findings: []Finding{}, Counts: Counts{By: map[string]int{}}}
	v.modules()
	for i := range r.Stacks {
		if err := v.stack(&r.Stacks[i]); err != nil {
			return nil, err
		}
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	v.judgeModules()
	v.judgeCounts()
	v.conclude()
	return v.verdict, nil
}

// verifier makes a Verdict.
type verifier struct {
	w       *walk.Walker
	ctx     context.Context
	result  *walk.Result
	limits  Thresholds
	verdict *Verdict
	places  []int // indices in Verdict.Modules, by index in Result.Modules, or -1
	broken  map[int]*damage
	current int                // index of the current frame
	after   *cause             // why the stack was lost; nil if it was not
	omitted int                // number of omitted errors
	outside int                // callers by scanning after code in no module
	found   map[findingKey]int // index in Findings
	at      map[findingKey]int // index of the first finding of a kind at an address
}
