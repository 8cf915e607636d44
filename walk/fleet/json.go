package fleet

import "github.com/symtool/symtool/walk/verify"

// schemaVersion is the version of the JSON documents. Fields may be added; no field changes its
// meaning without a new version.
const schemaVersion = 1

// Numbers are the totals of tables as JSON.
type Numbers struct {
	Dumps   int64 `json:"dumps"`
	OK      int64 `json:"ok"`
	Damaged int64 `json:"damaged"` // read in part
	Failed  int64 `json:"failed"`  // not read
	Threads int64 `json:"threads"`
	Unclean int64 `json:"unclean"` // threads whose walk ended too soon
}

// FrameNumbers are numbers of frames as JSON.
type FrameNumbers struct {
	Frames       int64 `json:"frames"`
	Context      int64 `json:"context"`
	CFI          int64 `json:"cfi"`
	Code         int64 `json:"code"` // by rules derived from instructions
	CFIScan      int64 `json:"cfi_scan"`
	FramePointer int64 `json:"frame_pointer"`
	Scan         int64 `json:"scan"`
}

// Numbers returns the numbers of dumps and threads.
func (t *Totals) Numbers() Numbers {
	return Numbers{Dumps: t.Dumps, OK: t.OK, Damaged: t.Damaged, Failed: t.Failed, Threads: t.Threads, Unclean: t.Unclean}
}

// FrameNumbers returns the numbers of frames.
func (t *Totals) FrameNumbers() FrameNumbers {
	f := t.Frames
	return FrameNumbers{Frames: f.all(), Context: f.Context, CFI: f.CFI, Code: f.Code, CFIScan: f.CFIScan, FramePointer: f.FramePointer, Scan: f.Scan}
}

// Document is a summary as JSON.
type Document struct {
	Schema    int    `json:"schema"`
	Generator string `json:"generator"`
	Numbers
	FrameNumbers
	Holds      bool                  `json:"holds"`
	Verdict    string                `json:"verdict"`
	Signatures []CrashRow            `json:"signatures"`
	Modules    []ModuleRow           `json:"modules"`
	Verify     *verify.TallyDocument `json:"verify,omitempty"`
}

// Document returns tables as JSON; generator is the program and its version.
func (t *Tables) Document(generator string) *Document {
	return &Document{
		Schema: schemaVersion, Generator: generator, Numbers: t.Totals.Numbers(), FrameNumbers: t.Totals.FrameNumbers(),
		Holds: t.Holds(), Verdict: t.Verdict(), Signatures: t.Crashes, Modules: t.Modules, Verify: t.Verify,
	}
}
