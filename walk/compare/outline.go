package compare

import "github.com/symtool/symtool/walk"

// outline is the part of a walk that is compared. It is made from a walk.Result, or from the JSON
// of a walk, including rust-minidump's.
type outline struct {
	Dump     string // name of the dump; "" if unknown
	Crashing int    // index in Threads, or -1
	Threads  []outlineThread
}

// outlineThread is a stack, the topmost frame first.
type outlineThread struct {
	ID        uint32
	HasID     bool
	Goroutine uint64 // whose stack it is; 0 for a thread's stack. Goroutines that no thread runs have the same ID
	Name      string
	Frames    []OutlineFrame
}

// threadKey is the key by which the stacks of two walks are paired.
type threadKey struct {
	goroutine uint64
	id        uint32 // for a thread's stack
}

func (t *outlineThread) key() threadKey {
	if t.Goroutine != 0 {
		return threadKey{goroutine: t.Goroutine}
	}
	return threadKey{id: t.ID}
}

// OutlineFrame is a frame. Unknown fields are empty or 0.
type OutlineFrame struct {
	Addr     uint64 // of the instruction; in a caller, of the call, like walk.Frame.Inst
	SP       uint64 // 0 in other programs' documents
	Offset   uint64 // Addr relative to the module
	Trust    walk.Trust
	Code     bool // by rules derived from instructions, with TrustCFI
	Line     uint32
	Module   string // without folders
	Function string
	File     string
	Inlines  []outlineInline // innermost first
}

// rank orders frames by their trust: rules that were derived are less than those that a compiler wrote.
func (f *OutlineFrame) rank() int {
	if f.Code {
		return 2*int(f.Trust) - 1
	}
	return 2 * int(f.Trust)
}

// trust returns the name of the frame's trust.
func (f *OutlineFrame) trust() string {
	if f.Code {
		return walk.ByCode.String()
	}
	return f.Trust.String()
}

// outlineInline is a function inlined into a frame's function.
type outlineInline struct {
	Function, File string
	Line           uint32
}

// outlineFrom returns the outline of a walk. name is the dump's name.
func outlineFrom(r *walk.Result, name string) *outline {
	o := &outline{Dump: name, Crashing: -1}
	crashed := r.Dump.CrashedThread()
	for i := range r.Stacks {
		s := &r.Stacks[i]
		if s.Thread == crashed {
			o.Crashing = i
		}
		t := &r.Dump.Threads[s.Thread]
		x := outlineThread{ID: t.ID, HasID: true, Name: t.Name, Frames: make([]OutlineFrame, len(s.Frames))}
		if s.Goroutine != nil {
			x.Goroutine = s.Goroutine.ID
		}
		for k := range s.Frames {
			x.Frames[k] = outlineFrame(r, &s.Frames[k])
		}
		o.Threads = append(o.Threads, x)
	}
	return o
}

func outlineFrame(r *walk.Result, f *walk.Frame) OutlineFrame {
	x := OutlineFrame{Addr: f.Inst, SP: f.SP, Trust: f.Trust, Code: f.By == walk.ByCode}
	if f.Module >= 0 {
		m := &r.Dump.Modules[f.Module]
		x.Module, x.Offset = r.Dump.System.OS.Base(m.Path), f.Inst-m.Addr
	}
	if n := len(f.Names); n > 0 {
		own := &f.Names[n-1]
		x.Function, x.File, x.Line = own.Function, own.File, own.Line
		for _, name := range f.Names[:n-1] {
			x.Inlines = append(x.Inlines, outlineInline{name.Function, name.File, name.Line})
		}
	}
	return x
}
