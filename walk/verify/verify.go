// Package verify judges symbols by a walk: whether the rules of symbol files and binaries agree, lead to
// calls, and come to the ends of stacks, and who is to blame if not.
package verify

import (
	"context"
	"path"
	"slices"

	"github.com/symtool/symtool/walk"
)

// Thresholds says when symbols hold. The zero value demands no share of CFI, but allows no scanned
// frame and no missing symbols.
type Thresholds struct {
	// MinCFI is the least share of callers that are found by call frame
	// information, in percent of those that could be: behind frames in modules.
	MinCFI float64
	// MaxScan is how many callers may be found by scanning the stack.
	MaxScan int
	// AllowMissing are patterns of path.Match for the names of modules whose symbols may be
	// missing. Frames behind theirs are not counted.
	AllowMissing []string
}

// Default demands that every caller that could be is found by call frame information.
func Default() Thresholds { return Thresholds{MinCFI: 100} }

// allows reports whether the symbols of a module of this name may be missing.
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

// Counts are callers by how they were found. Topmost frames are not callers.
type Counts struct {
	Callers      int            `json:"callers"`
	CFI          int            `json:"cfi"`           // TrustCFI
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
	switch f.Trust {
	case walk.TrustCFI:
		c.CFI++
	case walk.TrustCFIScan:
		c.CFIScan++
	case walk.TrustFramePtr:
		c.FramePointer++
	case walk.TrustScan:
		c.Scan++
	}
}

// Verdict is the judgement of a walk about the symbols.
type Verdict struct {
	Holds      bool   `json:"holds"`
	Blame      Blame  `json:"blame"`      // of the conclusion; "" if the symbols hold
	Conclusion string `json:"conclusion"` // one line

	Threads int    `json:"threads"`
	Broken  int    `json:"broken"` // stacks whose walk did not come to the end
	Counts  Counts `json:"frames"`
	// Counted is the number of callers that thresholds apply to: those behind frames in modules
	// whose symbols must be there. CountedCFI and CountedScan are the numbers of those found by CFI
	// and by scanning.
	Counted     int `json:"counted"`
	CountedCFI  int `json:"counted_cfi"`
	CountedScan int `json:"counted_scan"`

	// Compared is how many pairs of rules for one step were compared, Calls how many return
	// addresses follow a call, UnknownCalls for how many the code in front is missing.
	Compared     int `json:"compared"`
	Calls        int `json:"calls"`
	UnknownCalls int `json:"unknown_calls"`

	Modules  []Module  `json:"modules"`  // that stacks go through, by address
	Findings []Finding `json:"findings"` // errors first, then by kind, module and address; what follows from one is in it
	Omitted  int       `json:"omitted"`  // findings beyond 10,000, or 5,000 below errors
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
	Error   string   `json:"error,omitempty"` // symbols that could not be used

	Frames    int    `json:"frame_count"`
	Functions int    `json:"functions"` // frames whose function is known
	Publics   int    `json:"publics"`   // those of them that only a PUBLIC record names
	Counts    Counts `json:"frames"`    // callers of its frames
}

// Judge judges the symbols by the walk r of a Walker. The error is that of t.Check, or the context's.
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
	places  []int // of Result.Modules in Verdict.Modules, or -1
	broken  map[int]*damage
	current int                // the current frame
	after   *cause             // the cause by which the stack was lost; nil while it is not
	omitted int                // errors
	outside int                // callers by scanning after code in no module
	found   map[findingKey]int // place in Findings
	at      map[findingKey]int // the first of a kind at an address
}
