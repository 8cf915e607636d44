package walk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/damage"
	"github.com/symtool/symtool/symfmt/vars"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/eval"
	"github.com/symtool/symtool/walk/goroutine"
)

// readGoroutines is the type of goroutine.Read and goroutine.OfThreads.
type readGoroutines func(*dump.Dump, *eval.Frame) ([]goroutine.Goroutine, error)

// goroutines replaces the threads of the result's dump with goroutines, if the configuration wants them, and returns
// the goroutines. If they cannot be found, the dump gets a problem and keeps its threads.
func (w *Walker) goroutines(ctx context.Context, res *Result) (kept []goroutine.Goroutine) {
	if w.config.Goroutines == NoGoroutines {
		return nil
	}
	d := *res.Dump
	res.Dump = &d
	found, err := w.findGoroutines(ctx, res, goroutine.Read)
	if err != nil && ctx.Err() == nil {
		d.Problems = append(slices.Clip(d.Problems), damage.Problem{Lost: "goroutines", Err: err})
	}
	if len(found) == 0 {
		return nil
	}
	requested, shown := d.RequestingThread(), false
	threads := make([]dump.Thread, 0, len(found)+1)
	for i := range found {
		g := &found[i]
		if w.config.Goroutines == UserGoroutines && w.isSystem(ctx, res, g) {
			continue
		}
		t := dump.Thread{Context: g.Saved}
		if g.Thread >= 0 {
			t = d.Threads[g.Thread]
			shown = shown || g.Thread == requested
		}
		kept, threads = append(kept, *g), append(threads, t)
	}
	if requested >= 0 && !shown {
		threads = append(threads, d.Threads[requested])
	}
	d.Threads = threads
	return kept
}

// findGoroutines finds goroutines of the program with one of the functions of package goroutine.
func (w *Walker) findGoroutines(ctx context.Context, res *Result, read readGoroutines) ([]goroutine.Goroutine, error) {
	d := res.Dump
	if d.Arch == nil || d.Main < 0 {
		return nil, errors.New("the dump does not say which of its modules is the program")
	}
	m := &d.Modules[d.Main]
	name := d.System.OS.Base(m.Path)
	found := w.moduleState(res, d.Main).globals(ctx)
	switch {
	case found.err != nil:
		return nil, found.err
	case found.info == nil && len(found.problems) > 0:
		return nil, found.problems[0].Err
	case found.info == nil && res.Modules[d.Main].HasBinary(ctx):
		return nil, fmt.Errorf("%s has no debug information of Go's runtime: it is no Go program, or was built with -ldflags=-w or -s", name)
	case found.info == nil:
		return nil, fmt.Errorf("%s is needed for goroutines: use --binaries with it", strings.TrimSpace("the binary of "+name+" "+m.DebugID))
	}
	all, err := read(d, globalsFrame(d, m, found.info))
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return all, err
}

// globalsFrame returns a frame for evaluating the variables that goroutine.Globals names. It has no registers.
func globalsFrame(d *dump.Dump, m *dump.Module, info *vars.Info) *eval.Frame {
	return &eval.Frame{
		Arch: d.Arch, Order: d.Memory.Order, Memory: d.Tagged(), Info: info, Base: m.Addr, Func: info.Func(0), Scopes: info.At(0, nil),
		Register: func(int) ([]byte, bool) { return nil, false },
		CFA:      func() (uint64, bool) { return 0, false },
		TLS:      func(uint64) (uint64, string) { return 0, "it is not a thread's" },
		Caller:   func() (*eval.Frame, vars.CallSite, error) { return nil, vars.CallSite{}, eval.ErrNoCallSite },
	}
}

// isSystem reports whether the runtime started a goroutine for itself. Like debuggers, it assumes so if the goroutine's
// first function belongs to the runtime.
func (w *Walker) isSystem(ctx context.Context, res *Result, g *goroutine.Goroutine) bool {
	i := res.Dump.ModuleAt(g.Start)
	if i < 0 {
		return false
	}
	names := w.moduleState(res, i).names(ctx)
	if names == nil {
		return false
	}
	var at resolve.Location
	if ok, err := resolve.Find(ctx, names, symfmt.RVA(g.Start-res.Dump.Modules[i].Addr), &at); !ok || err != nil || len(at.Frames) == 0 {
		return false
	}
	name := at.Frames[len(at.Frames)-1].Function
	return strings.HasPrefix(name, "runtime.") && name != "runtime.main" && name != "runtime.handleAsyncEvent"
}

// leaves are the functions of the runtime that switch from a goroutine's stack to the thread's. The other frames on the
// thread's stack are of no interest: that stack begins in the scheduler.
var leaves = map[string]bool{"runtime.asmcgocall": true, "runtime.systemstack": true}

// runs returns the goroutine that the thread of a stack runs, or nil. If goroutines are not walked, they are read only
// if the stack has left a goroutine's stack. A failure to read them is then not a problem, because nobody asked for
// them.
func (u *unwinder) runs() *goroutine.Goroutine {
	s := u.stack
	if u.config.Goroutines != NoGoroutines || !s.leavesGoroutine() {
		return s.Goroutine
	}
	return u.goroutineOf(runsIt)
}

// running returns the goroutine that the thread of the stack runs, or nil.
func (u *unwinder) running() *goroutine.Goroutine { return u.goroutineOrBare(runsIt) }

// waitsFor returns the goroutine that the thread of the stack waits for, or nil.
func (u *unwinder) waitsFor() *goroutine.Goroutine {
	return u.goroutineOrBare(func(g *goroutine.Goroutine) int { return g.Locked })
}

func runsIt(g *goroutine.Goroutine) int { return g.Thread }

// goroutineOrBare is like goroutineOf but, if the runtime has no debug information, finds the goroutine through a
// register.
func (u *unwinder) goroutineOrBare(thread func(*goroutine.Goroutine) int) *goroutine.Goroutine {
	if g := u.goroutineOf(thread); g != nil || !u.result.bareRuntime {
		return g
	}
	i, d := u.stack.Thread, u.result.Dump
	at, ok := u.in.Get(u.cpu.Go.Current)
	if g := goroutine.OfThread(d, at, i); ok && g != nil && thread(g) == i {
		return g
	}
	if c := d.Threads[i].Context; c != nil {
		at, ok = c.At(int(u.cpu.Go.Current))
		if g := goroutine.OfThread(d, at, i); ok && g != nil && thread(g) == i {
			return g
		}
	}
	return nil
}

// goroutineOf returns the goroutine of the stack or, for a thread's stack, the goroutine for which thread returns that
// thread. It returns nil if there is none.
func (u *unwinder) goroutineOf(thread func(*goroutine.Goroutine) int) *goroutine.Goroutine {
	s, r := u.stack, u.result
	if s.Goroutine != nil {
		return s.Goroutine
	}
	if !r.readGoroutines {
		all, err := u.findGoroutines(u.ctx, r, goroutine.OfThreads)
		if err != nil {
			u.note("goroutines: %v", err)
		}
		r.running, r.readGoroutines, r.bareRuntime = all, true, err != nil
	}
	for i := range r.running {
		if thread(&r.running[i]) == s.Thread {
			return &r.running[i]
		}
	}
	return nil
}

// leavesGoroutine reports whether the stack has a function that leaves a goroutine's stack.
func (s *Stack) leavesGoroutine() bool {
	for i := range s.Frames { // by index: a frame is large, and few are Go's
		if name := s.Frames[i].Function(); strings.HasPrefix(name, "runtime.") && leaves[name] {
			return true
		}
	}
	return false
}

// savedElsewhere returns the registers that the runtime saved for a goroutine, if the thread that runs it is on another
// stack (the thread's own or C's) and the walk did not return from there. It drops the frames below the function that
// left the goroutine's stack.
func (s *Stack) savedElsewhere(g *goroutine.Goroutine) *dump.Context {
	if g == nil || g.Thread < 0 || g.Saved == nil {
		return nil
	}
	left := len(s.Frames)
	for i := range s.Frames {
		f := &s.Frames[i]
		if g.Stack.Contains(f.SP) {
			return nil
		}
		if left == len(s.Frames) && leaves[f.Function()] {
			left = i + 1
		}
	}
	s.Frames = s.Frames[:left]
	return g.Saved
}
