package fleet

import (
	"cmp"
	"slices"
)

// ModuleRow is a module in tables.
type ModuleRow struct {
	Module  string `json:"module"` // "" for frames outside of modules
	DebugID string `json:"debug_id"`
	Dumps   int64  `json:"dumps"`
	Missing int64  `json:"missing_symbols"`
	OtherID int64  `json:"other_id"`
	Corrupt int64  `json:"corrupt_symbols"`

	Frames       int64 `json:"frames"`
	Context      int64 `json:"context"`
	CFI          int64 `json:"cfi"`
	Code         int64 `json:"code"` // by rules derived from instructions
	CFIScan      int64 `json:"cfi_scan"`
	FramePointer int64 `json:"frame_pointer"`
	Scan         int64 `json:"scan"`

	Callers             int64   `json:"callers"`
	CallersFramePointer int64   `json:"callers_frame_pointer"`
	CallersScan         int64   `json:"callers_scan"`
	Ends                int64   `json:"ends"`
	LacksCFI            float64 `json:"lacks_cfi"` // share of callers by frame pointer or scan, 0 to 1
	Example             string  `json:"example"`   // name of a dump with a guessed caller; "" if there is none

	Symbols SymbolState `json:"symbols"`
	Unnamed int64       `json:"unnamed"`  // frames without a function
	CutEnds int64       `json:"cut_ends"` // of Ends, those because of what the dump lacks
	Cost    int64       `json:"cost"`     // guessed callers, frames without a function, and ends that the dump does not explain
}

// SymbolState describes the symbols of a module.
type SymbolState string

// The states; the first that applies is used.
const (
	StateNone    SymbolState = ""         // outside of modules
	StateCorrupt SymbolState = "corrupt"  // in some dump: they cannot be used
	StateOtherID SymbolState = "other-id" // in some dump: there are only symbols of other builds
	StateMissing SymbolState = "missing"  // in some dump: there are none
	StateNoCFI   SymbolState = "no-cfi"   // no caller was found by call frame information
	StateFound   SymbolState = "found"
)

// NewModuleRow returns the row of a module.
func NewModuleRow(m Module, c Counts) ModuleRow {
	r := ModuleRow{
		Module: m.Name, DebugID: m.DebugID, Dumps: c.Dumps, Missing: c.Missing, OtherID: c.OtherID, Corrupt: c.Corrupt,
		Frames: c.Frames.all(), Context: c.Frames.Context, CFI: c.Frames.CFI, Code: c.Frames.Code, CFIScan: c.Frames.CFIScan, FramePointer: c.Frames.FramePointer, Scan: c.Frames.Scan,
		Callers: c.Callers.all(), CallersFramePointer: c.Callers.FramePointer, CallersScan: c.Callers.Scan, Ends: c.Ends, Example: c.Example.Dump,
		Symbols: c.state(m), Unnamed: c.Unnamed, CutEnds: c.CutEnds, Cost: c.guessed() + c.Unnamed + c.Ends - c.CutEnds,
	}
	if r.Callers > 0 {
		r.LacksCFI = share(c.guessed(), r.Callers)
	}
	return r
}

func (c *Counts) state(m Module) SymbolState {
	switch {
	case m == Module{}:
		return StateNone
	case c.Corrupt > 0:
		return StateCorrupt
	case c.Found < c.Dumps && c.OtherID > 0:
		return StateOtherID
	case c.Found < c.Dumps:
		return StateMissing
	case c.guessed() > 0 && c.Callers.CFI+c.Callers.Code+c.Callers.CFIScan == 0:
		return StateNoCFI
	}
	return StateFound
}

// share returns part/whole, truncated to four digits with integer arithmetic, so that it is the same
// on every machine.
func share(part, whole int64) float64 {
	return float64(part*10000/whole) / 10000
}

// guessed returns the number of callers that were found without call frame information.
func (r *ModuleRow) guessed() int64 { return r.CallersFramePointer + r.CallersScan }

// ByName compares rows by name and id.
func ByName(a, b ModuleRow) int {
	return cmp.Or(cmp.Compare(a.Module, b.Module), cmp.Compare(a.DebugID, b.DebugID))
}

// byCost compares rows: those with the highest cost come first.
func byCost(a, b ModuleRow) int {
	return cmp.Or(cmp.Compare(b.Cost, a.Cost), cmp.Compare(b.Frames, a.Frames), ByName(a, b))
}

// byFrames compares rows: those with the most frames come first.
func byFrames(a, b ModuleRow) int { return cmp.Or(cmp.Compare(b.Frames, a.Frames), ByName(a, b)) }

// Lacking returns the rows with guessed callers, those with the most first.
func Lacking(rows []ModuleRow) (lacking []ModuleRow) {
	for _, x := range rows {
		if x.guessed() > 0 {
			lacking = append(lacking, x)
		}
	}
	slices.SortFunc(lacking, func(a, b ModuleRow) int { return cmp.Or(cmp.Compare(b.guessed(), a.guessed()), ByName(a, b)) })
	return lacking
}

// CrashRow is a signature in tables.
type CrashRow struct {
	Signature string  `json:"signature"`
	Dumps     int64   `json:"dumps"`
	Share     float64 `json:"share"` // of the dumps that were read, 0 to 1
	Reason    string  `json:"reason"`
	Example   string  `json:"example"` // the name of the first dump
}

// NewCrashRow returns the row of a signature; read is the number of dumps that were read.
func NewCrashRow(signature string, c Crashes, read int64) CrashRow {
	return CrashRow{Signature: signature, Dumps: c.Dumps, Share: share(c.Dumps, max(read, 1)), Reason: c.Reason, Example: c.Example.Dump}
}

func byDumps(a, b CrashRow) int {
	return cmp.Or(cmp.Compare(b.Dumps, a.Dumps), cmp.Compare(a.Signature, b.Signature))
}
