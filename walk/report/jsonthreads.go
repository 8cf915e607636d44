package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/coroutine"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/goroutine"
)

// docThread is a thread.
type docThread struct {
	FrameCount int       `json:"frame_count"`
	Frames     docFrames `json:"frames"`
	// LastErrorValue is what GetLastError would return on Windows: the number in hexadecimal. It is
	// null if the dump lacks the thread's environment block.
	LastErrorValue *string        `json:"last_error_value"`
	Symtool        docThreadExtra `json:"symtool"`
	ThreadID       uint32         `json:"thread_id"`
	ThreadName     *string        `json:"thread_name"`
}

// docCrashingThread repeats the thread that crashed, or requested the dump,
// with the registers of its topmost frame.
type docCrashingThread struct {
	docThread
	ThreadsIndex int `json:"threads_index"`
}

// docThreadExtra is what we add to the schema for a thread.
type docThreadExtra struct {
	Clean bool   `json:"clean"` // the walk reached the end of the stack
	End   string `json:"end"`   // why the walk ended: a name of walk.End

	Goroutine *docGoroutine `json:"goroutine,omitempty"` // the goroutine whose stack it is, if goroutines were walked

	// Coroutine is the first of the coroutines whose stack it is, if coroutines were walked.
	Coroutine *docCoroutine `json:"coroutine,omitempty"`

	Index int      `json:"index"` // index of the thread in the dump
	Notes []string `json:"notes"`
	Trace []string `json:"trace,omitempty"` // with --trace
	Why   string   `json:"why"`             // details about the end, for people
}

// docGoroutine is a goroutine. If no thread runs it, thread_id is 0.
type docGoroutine struct {
	ID      uint64  `json:"id"`
	Running bool    `json:"running"` // thread_id is the thread that runs it
	Status  string  `json:"status"`  // a name of goroutine.Status
	Wait    *string `json:"wait"`    // why it waits, in the runtime's words
}

func newDocGoroutine(g *goroutine.Goroutine) *docGoroutine {
	if g == nil {
		return nil
	}
	return &docGoroutine{ID: g.ID, Running: g.Thread >= 0, Status: g.Status.String(), Wait: textOrNull(g.Wait)}
}

// docCoroutine is a coroutine.
type docCoroutine struct {
	Address string `json:"address"` // of its frame in memory, or of its saved registers
	Kind    string `json:"kind"`    // a name of coroutine.Kind
	State   string `json:"state"`   // "suspended" or "running"
}

func (m *documentMaker) newDocCoroutine(c *coroutine.Coroutine) *docCoroutine {
	if c == nil {
		return nil
	}
	return &docCoroutine{Address: m.hex(c.Addr), Kind: c.Kind.String(), State: c.State()}
}

// docFrames are the frames of a thread, the topmost first. Each is made when it is needed: a
// stack may have a million.
type docFrames struct {
	m      *documentMaker
	frames []walk.Frame
	stack  int  // its index in Result.Stacks
	top    bool // the topmost frame has registers
}

// size returns the number of frames.
func (f docFrames) size() int { return len(f.frames) }

// at returns frame i.
func (f docFrames) at(i int) docFrame {
	doc := f.m.frame(f.stack, i, &f.frames[i])
	if f.top && i == 0 {
		doc.Registers = f.m.registers(&f.frames[i])
	}
	return doc
}

// MarshalJSON encodes all frames at once; Document.Write does not use it.
func (f docFrames) MarshalJSON() ([]byte, error) {
	all := make([]docFrame, f.size())
	for i := range all {
		all[i] = f.at(i)
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false) // the caller's encoder escapes it
	err := enc.Encode(all)
	return buf.Bytes(), err
}

// docFrame is a frame. Offsets and names are for the instruction that the frame executes, which in
// a caller is the call.
type docFrame struct {
	File           *string     `json:"file"`
	Frame          int         `json:"frame"`
	Function       *string     `json:"function"`
	FunctionOffset *string     `json:"function_offset"`
	Inlines        []docInline `json:"inlines"` // innermost first
	Line           *uint32     `json:"line"`
	MissingSymbols bool        `json:"missing_symbols"` // function is null
	Module         *string     `json:"module"`
	ModuleOffset   *string     `json:"module_offset"`
	Offset         string      `json:"offset"`
	// Registers are the known registers of crashing_thread's topmost frame, or of all frames with
	// DocumentOptions.Registers.
	Registers map[string]string `json:"registers,omitempty"`
	Symtool   docFrameExtra     `json:"symtool"`
	Trust     string            `json:"trust"`
	// UnloadedModules are the unloaded modules that contained the instruction of a frame without a
	// module.
	UnloadedModules []docUnloadedAt `json:"unloaded_modules"`
}

// docFrameExtra is what we add to the schema for a frame.
type docFrameExtra struct {
	// FunctionGuessed means that the function is the nearest PUBLIC before the
	// instruction, and may end before it: see resolve.Symbols.Nearest.
	FunctionGuessed bool `json:"function_guessed"`

	Interrupted bool `json:"interrupted"` // not entered by a call
	// JIT is the perf map or jitdump file that has the function of a frame outside of modules.
	JIT string `json:"jit,omitempty"`
	// LinkageName is the name by which the linker knows the function, if the symbols have it.
	LinkageName string `json:"linkage_name,omitempty"`
	PC          string `json:"pc"` // in a caller, the return address
	// SignalHandlerReturn means that the frame is the code that a signal
	// handler returns to.
	SignalHandlerReturn bool       `json:"signal_handler_return"`
	Source              *docSource `json:"source,omitempty"` // with DocumentOptions.Sources
	SP                  string     `json:"sp"`
	Technique           string     `json:"technique"` // a name of walk.Technique

	Variables []docVariable `json:"variables,omitzero"` // with DocumentOptions.Variables: those of the function itself, innermost scope first
}

// docInline is a function inlined into a frame's function.
type docInline struct {
	File     *string `json:"file"`
	Function string  `json:"function"`
	Line     *uint32 `json:"line"`

	Symtool *docInlineExtra `json:"symtool,omitempty"` // with DocumentOptions.Sources or Variables
}

// docInlineExtra is what we add to the schema for an inlined function.
type docInlineExtra struct {
	Source    *docSource    `json:"source,omitempty"`
	Variables []docVariable `json:"variables,omitzero"`
}

// docUnloadedAt is an unloaded module that contained an instruction.
type docUnloadedAt struct {
	Module  string   `json:"module"`
	Offsets []string `json:"offsets"`
}

func (m *documentMaker) threads() []docThread {
	all := make([]docThread, len(m.r.Stacks))
	for i := range m.r.Stacks {
		all[i] = m.thread(i)
	}
	return all
}

func (m *documentMaker) thread(stack int) docThread {
	s := &m.r.Stacks[stack]
	t := &m.d.Threads[s.Thread]
	notes := s.Notes
	if notes == nil {
		notes = []string{}
	}
	return docThread{
		FrameCount: len(s.Frames), Frames: docFrames{m: m, frames: s.Frames, stack: stack}, LastErrorValue: lastError(m.d, t),
		ThreadID: t.ID, ThreadName: textOrNull(t.Name),
		Symtool: docThreadExtra{Clean: s.End.Clean(), End: s.End.String(), Goroutine: newDocGoroutine(s.Goroutine), Coroutine: m.newDocCoroutine(s.Coroutine), Index: s.Thread, Notes: notes, Trace: s.Trace, Why: s.Why},
	}
}

func (m *documentMaker) frame(stack, i int, f *walk.Frame) docFrame {
	doc := docFrame{
		Frame: i, MissingSymbols: len(f.Names) == 0, Offset: m.hex(f.Inst), Trust: f.Trust.String(),
		Symtool: docFrameExtra{
			FunctionGuessed: f.Guess, Interrupted: f.Interrupted, PC: m.hex(f.PC), SP: m.hex(f.SP), SignalHandlerReturn: f.Handler, Technique: f.By.String(),
		},
	}
	if f.Module >= 0 {
		module := &m.d.Modules[f.Module]
		doc.Module = textOrNull(m.d.System.OS.Base(module.Path))
		doc.ModuleOffset = m.hexPtr(f.Inst - module.Addr)
	} else {
		doc.UnloadedModules = m.unloadedAt(f.Inst)
		doc.Symtool.JIT = m.r.NamedBy(f)
	}
	if n := len(f.Names); n > 0 {
		own := &f.Names[n-1]
		doc.Function, doc.FunctionOffset = &own.Function, m.hexPtr(f.Inst-f.Start)
		doc.File, doc.Line = sourceLine(own)
		doc.Symtool.LinkageName = own.Linkage()
		doc.Symtool.Source = m.source(f, n-1)
		for k := range n - 1 {
			in := docInline{Function: f.Names[k].Function}
			in.File, in.Line = sourceLine(&f.Names[k])
			if src := m.source(f, k); src != nil {
				in.more().Source = src
			}
			doc.Inlines = append(doc.Inlines, in)
		}
	}
	if m.o.Registers {
		doc.Registers = m.registers(f)
	}
	if m.o.Variables != nil {
		m.variables(&doc, stack, i)
	}
	return doc
}

// sourceLine returns the file and the line of a function.
func sourceLine(f *resolve.Frame) (file *string, line *uint32) {
	if f.Line != 0 {
		n := f.Line
		line = &n
	}
	return textOrNull(f.File), line
}

// registers returns the registers of a frame by rust-minidump's names.
func (m *documentMaker) registers(f *walk.Frame) map[string]string {
	a := m.d.Arch
	if a == nil {
		return nil
	}
	regs := make(map[string]string, len(f.Registers))
	for _, r := range f.Registers {
		regs[a.Label(a.Regs[r.Index].Name)] = m.hex(r.Value)
	}
	return regs
}

// crashedStack returns the index in Result.Stacks of the thread that crashed or requested the
// dump, or -1.
func (m *documentMaker) crashedStack() int {
	thread := m.d.RequestingThread()
	if thread < 0 {
		return -1
	}
	return slices.IndexFunc(m.r.Stacks, func(s walk.Stack) bool { return s.Thread == thread })
}

func (m *documentMaker) crashingThread(i int, t docThread) *docCrashingThread {
	t.Frames.top = true
	return &docCrashingThread{docThread: t, ThreadsIndex: i}
}

// unloadedAt lists the unloaded modules that contained an address, by name.
func (m *documentMaker) unloadedAt(addr uint64) []docUnloadedAt {
	offsets := map[string][]uint64{}
	for i := range m.d.Unloaded {
		if u := &m.d.Unloaded[i]; u.Contains(addr) {
			name := m.d.System.OS.Base(u.Path)
			offsets[name] = append(offsets[name], addr-u.Addr)
		}
	}
	var all []docUnloadedAt
	for name, list := range offsets {
		slices.Sort(list)
		at := docUnloadedAt{Module: name}
		for _, off := range slices.Compact(list) {
			at.Offsets = append(at.Offsets, m.hex(off))
		}
		all = append(all, at)
	}
	slices.SortFunc(all, func(a, b docUnloadedAt) int { return cmp.Compare(a.Module, b.Module) })
	return all
}

// lastError reads LastErrorValue from a thread's environment block.
func lastError(d *dump.Dump, t *dump.Thread) *string {
	if d.System.OS != dump.Windows || t.TEB == 0 || d.Arch == nil {
		return nil
	}
	offset := uint64(0x34) // after NT_TIB, the environment pointer, the client's id and three pointers
	if d.Arch.PtrSize == 8 {
		offset = 0x68
	}
	v, ok := d.Memory.Word(t.TEB+offset, 4)
	if !ok {
		return nil
	}
	s := "0x" + strings.Repeat("0", 8-len(strconv.FormatUint(v, 16))) + strconv.FormatUint(v, 16)
	return &s
}
