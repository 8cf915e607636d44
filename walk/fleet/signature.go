package fleet

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/symtool/symtool/walk"
)

// maxSignature is the maximum length of a signature in bytes.
const maxSignature = 255

// Limits on the work for a signature.
const (
	maxFrames  = 1000    // frames that are examined, including inlined ones
	maxActions = 1 << 16 // cached actions of names
)

// The signatures of dumps without a usable stack.
const (
	noThread = "EMPTY: no crashing thread"
	noFrames = "EMPTY: no frames"
)

// SignatureMaker makes signatures according to rules. A signature is made from the functions at the top of
// the stack that crashed, in the way of Mozilla's crash statistics: frames that say nothing are left out,
// and those that say little are followed by their callers. A SignatureMaker must not be used concurrently.
type SignatureMaker struct {
	rules   *Rules
	actions map[string]action // by name
}

// NewSignatureMaker returns a SignatureMaker.
func NewSignatureMaker(rules *Rules) *SignatureMaker {
	return &SignatureMaker{rules: rules, actions: map[string]action{}}
}

// Of returns the signature of a walked dump, which is made from the thread that crashed or requested the dump.
func (m *SignatureMaker) Of(r *walk.Result) string {
	want := r.Dump.RequestingThread()
	for i := range r.Stacks {
		if r.Stacks[i].Thread == want {
			return m.stack(r, &r.Stacks[i])
		}
	}
	return noThread
}

// frame is a frame as a signature shows it.
type frame struct {
	name   string
	module string // of a frame without a function; or ""
	moves  bool   // the name is an address that differs between processes
}

// noModule replaces addresses in no module in signatures: the addresses of code that a program generated differ in
// each process.
const noModule = "(code in no module)"

// lowest is the limit below which addresses in no module are meaningful: null pointers with an offset.
const lowest = 64 << 10

// label returns the text of a frame in a signature.
func (f *frame) label() string {
	if f.moves {
		return noModule
	}
	return f.name
}

// stack returns the signature of a stack.
func (m *SignatureMaker) stack(r *walk.Result, s *walk.Stack) string {
	frames := framesOf(r, s)
	if len(frames) == 0 {
		return noFrames
	}
	var parts []string
	var c cause
	c.of(r.Dump, s)
	for _, f := range frames[m.start(frames):] {
		act := m.action(f.name)
		if act == actOOM {
			c.memory = cmp.Or(c.memory, memoryUnknown)
		}
		if act == actReset {
			parts = parts[:0]
		}
		if act == actSkip || act == actReset || act == actOOM {
			continue
		}
		name := f.label()
		if act == actTrim && f.module != "" {
			if name = f.module; len(parts) > 0 && parts[len(parts)-1] == name {
				continue
			}
		}
		parts = append(parts, name)
		if act == actKeep {
			break
		}
	}
	if len(parts) == 0 {
		parts = []string{frames[0].label()}
	}
	return join(c.before(parts))
}

// start returns the index of the first frame with the action start, or 0.
func (m *SignatureMaker) start(frames []frame) int {
	if m.rules.hasStart {
		for i := range frames {
			if m.action(frames[i].name) == actStart {
				return i
			}
		}
	}
	return 0
}

func (m *SignatureMaker) action(name string) action {
	act, ok := m.actions[name]
	if !ok {
		if len(m.actions) == maxActions {
			clear(m.actions)
		}
		act = m.rules.action(name)
		m.actions[name] = act
	}
	return act
}

// framesOf returns the frames of a stack, inlined ones included.
func framesOf(r *walk.Result, s *walk.Stack) (frames []frame) {
	for i := range s.Frames {
		f := &s.Frames[i]
		for k := range f.Names {
			if f.Names[k].Function != "" {
				frames = append(frames, frame{name: functionName(f.Names[k].Function)})
			}
		}
		if f.Function() == "" {
			frames = append(frames, unnamed(r, f))
		}
		if len(frames) >= maxFrames {
			return frames[:maxFrames]
		}
	}
	return frames
}

// unnamed returns a frame without a function, named by its module and its offset there, "libfoo.so@0x1234", or by its
// address, "@0x1234".
func unnamed(r *walk.Result, f *walk.Frame) frame {
	if f.Module < 0 {
		return frame{name: "@0x" + strconv.FormatUint(f.Inst, 16), moves: f.Inst >= lowest}
	}
	m := &r.Dump.Modules[f.Module]
	name := r.Dump.System.OS.Base(m.Path)
	if r.Dump.System.OS.IsLinux() && m.DebugFile != "" { // DT_SONAME, which is the same in all kinds of dumps
		name = m.DebugFile
	}
	name = cut(name, maxFunction)
	return frame{name: name + "@0x" + strconv.FormatUint(f.Inst-m.Addr, 16), module: name}
}

// join returns the parts of a signature as one text of valid UTF-8.
func join(parts []string) string {
	s := strings.ToValidUTF8(strings.Join(parts, " | "), "\ufffd")
	if len(s) > maxSignature {
		s = cut(s, maxSignature-3) + "..."
	}
	return s
}
