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
	"github.com/symtool/symtool/walk/dump"
)

// DocThread is a thread.
type DocThread struct {
	FrameCount int       `json:"frame_count"`
	Frames     DocFrames `json:"frames"`
	// LastErrorValue is what GetLastError would return on Windows: the number in hexadecimal. Null
	// if the dump lacks the thread's block.
	LastErrorValue *string        `json:"last_error_value"`
	Symtool        DocThreadExtra `json:"symtool"`
	ThreadID       uint32         `json:"thread_id"`
	ThreadName     *string        `json:"thread_name"`
}

// DocCrashingThread is the thread that crashed, or asked for the dump, again,
// with the registers of its topmost frame.
type DocCrashingThread struct {
	DocThread
	ThreadsIndex int `json:"threads_index"`
}

// DocThreadExtra is what we add to the schema about a thread.
type DocThreadExtra struct {
	Clean bool     `json:"clean"` // the walk came to the end of the stack
	End   string   `json:"end"`   // why it ended: a name of End
	Index int      `json:"index"` // of the thread in the dump
	Notes []string `json:"notes"`
	Trace []string `json:"trace,omitempty"` // with --trace
	Why   string   `json:"why"`             // more about the end, for people
}

// DocFrames are the frames of a thread, the topmost first. Each is made when it is asked for: a
// stack may have a million.
type DocFrames struct {
	m      *documentMaker
	frames []walk.Frame
	top    bool // the topmost has registers
}

// Len returns the number of frames.
func (f DocFrames) Len() int { return len(f.frames) }

// At returns frame i.
func (f DocFrames) At(i int) DocFrame {
	doc := f.m.frame(i, &f.frames[i])
	if f.top && i == 0 {
		doc.Registers = f.m.registers(&f.frames[i])
	}
	return doc
}

// MarshalJSON makes all frames at once; Document.Write does not.
func (f DocFrames) MarshalJSON() ([]byte, error) {
	all := make([]DocFrame, f.Len())
	for i := range all {
		all[i] = f.At(i)
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false) // the caller's encoder escapes it
	err := enc.Encode(all)
	return buf.Bytes(), err
}

// DocFrame is a frame. Offsets and names are those of the instruction that the frame executes,
// which in a caller is the call.
type DocFrame struct {
	File           *string     `json:"file"`
	Frame          int         `json:"frame"`
	Function       *string     `json:"function"`
	FunctionOffset *string     `json:"function_offset"`
	Inlines        []DocInline `json:"inlines"` // innermost first
	Line           *uint32     `json:"line"`
	MissingSymbols bool        `json:"missing_symbols"` // function is null
	Module         *string     `json:"module"`
	ModuleOffset   *string     `json:"module_offset"`
	Offset         string      `json:"offset"`
	// Registers are the known registers of crashing_thread's topmost frame, or of all frames with
	// DocumentOptions.Registers.
	Registers map[string]string `json:"registers,omitempty"`
	Symtool   DocFrameExtra     `json:"symtool"`
	Trust     string            `json:"trust"`
	// UnloadedModules are the unloaded modules that were around the instruction of a frame without
	// a module.
	UnloadedModules []DocUnloadedAt `json:"unloaded_modules"`
}

// DocFrameExtra is what we add to the schema about a frame.
type DocFrameExtra struct {
	// FunctionGuessed says that the function is the nearest PUBLIC in front of the
	// instruction, and may have ended before it: see resolve.Symbols.Nearest.
	FunctionGuessed bool `json:"function_guessed"`

	Interrupted bool `json:"interrupted"` // it was not entered by a call
	// LinkageName is the name that the linker knows the function by, if the symbols have it.
	LinkageName string `json:"linkage_name,omitempty"`
	PC          string `json:"pc"` // of a caller the return address
	// SignalHandlerReturn says that the frame is the code that a signal handler
	// returns to.
	SignalHandlerReturn bool   `json:"signal_handler_return"`
	SP                  string `json:"sp"`
	Technique           string `json:"technique"` // a name of Technique
}

// DocInline is a function inlined into a frame's function.
type DocInline struct {
	File     *string `json:"file"`
	Function string  `json:"function"`
	Line     *uint32 `json:"line"`
}

// DocUnloadedAt is an unloaded module that was around an instruction.
type DocUnloadedAt struct {
	Module  string   `json:"module"`
	Offsets []string `json:"offsets"`
}

func (m *documentMaker) threads() []DocThread {
	all := make([]DocThread, len(m.r.Stacks))
	for i := range m.r.Stacks {
		all[i] = m.thread(&m.r.Stacks[i])
	}
	return all
}

func (m *documentMaker) thread(s *walk.Stack) DocThread {
	t := &m.d.Threads[s.Thread]
	notes := s.Notes
	if notes == nil {
		notes = []string{}
	}
	return DocThread{
		FrameCount: len(s.Frames), Frames: DocFrames{m: m, frames: s.Frames}, LastErrorValue: lastError(m.d, t),
		ThreadID: t.ID, ThreadName: textOrNull(t.Name),
		Symtool: DocThreadExtra{Clean: s.End.Clean(), End: s.End.String(), Index: s.Thread, Notes: notes, Trace: s.Trace, Why: s.Why},
	}
}

func (m *documentMaker) frame(i int, f *walk.Frame) DocFrame {
	doc := DocFrame{
		Frame: i, MissingSymbols: len(f.Names) == 0, Offset: m.hex(f.Inst), Trust: f.Trust.String(),
		Symtool: DocFrameExtra{
			FunctionGuessed: f.Guess, Interrupted: f.Interrupted, PC: m.hex(f.PC), SP: m.hex(f.SP), SignalHandlerReturn: f.Handler, Technique: f.By.String(),
		},
	}
	if f.Module >= 0 {
		module := &m.d.Modules[f.Module]
		doc.Module = textOrNull(m.d.System.OS.Base(module.Path))
		doc.ModuleOffset = m.hexPtr(f.Inst - module.Addr)
	} else {
		doc.UnloadedModules = m.unloadedAt(f.Inst)
	}
	if n := len(f.Names); n > 0 {
		own := &f.Names[n-1]
		doc.Function, doc.FunctionOffset = &own.Function, m.hexPtr(f.Inst-f.Start)
		doc.File, doc.Line = sourceLine(own)
		doc.Symtool.LinkageName = own.Linkage()
		for k := range n - 1 {
			in := DocInline{Function: f.Names[k].Function}
			in.File, in.Line = sourceLine(&f.Names[k])
			doc.Inlines = append(doc.Inlines, in)
		}
	}
	if m.o.Registers {
		doc.Registers = m.registers(f)
	}
	return doc
}

// sourceLine is the file and the line of a function.
func sourceLine(f *resolve.Frame) (file *string, line *uint32) {
	if f.Line != 0 {
		n := f.Line
		line = &n
	}
	return textOrNull(f.File), line
}

// registers are the registers of a frame by rust-minidump's names.
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

// crashedStack returns the place in Result.Stacks of the thread that crashed, or asked for the
// dump; -1 without.
func (m *documentMaker) crashedStack() int {
	thread := m.d.RequestingThread()
	if thread < 0 {
		return -1
	}
	return slices.IndexFunc(m.r.Stacks, func(s walk.Stack) bool { return s.Thread == thread })
}

func (m *documentMaker) crashingThread(i int, t DocThread) *DocCrashingThread {
	t.Frames.top = true
	return &DocCrashingThread{DocThread: t, ThreadsIndex: i}
}

// unloadedAt lists the unloaded modules that were around an address, by name.
func (m *documentMaker) unloadedAt(addr uint64) []DocUnloadedAt {
	offsets := map[string][]uint64{}
	for i := range m.d.Unloaded {
		if u := &m.d.Unloaded[i]; u.Contains(addr) {
			name := m.d.System.OS.Base(u.Path)
			offsets[name] = append(offsets[name], addr-u.Addr)
		}
	}
	var all []DocUnloadedAt
	for name, list := range offsets {
		slices.Sort(list)
		at := DocUnloadedAt{Module: name}
		for _, off := range slices.Compact(list) {
			at.Offsets = append(at.Offsets, m.hex(off))
		}
		all = append(all, at)
	}
	slices.SortFunc(all, func(a, b DocUnloadedAt) int { return cmp.Compare(a.Module, b.Module) })
	return all
}

// lastError reads LastErrorValue from a thread's environment block.
func lastError(d *dump.Dump, t *dump.Thread) *string {
	if d.System.OS != dump.Windows || t.TEB == 0 || d.Arch == nil {
		return nil
	}
	offset := uint64(0x34) // behind NT_TIB, the environment pointer, the client's id and three pointers
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
