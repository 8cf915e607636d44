package walk

import (
	"slices"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/vars"
	"github.com/symtool/symtool/walk/eval"
)

// through returns the call that entered frame i, if it is certain: the call of its caller, or the last of the tail
// calls that lead from the caller to the frame's function. The functions that ended with those tail calls are not on
// the stack. If there are several such paths, none is certain.
func (v *Variables) through(i int, callee, caller *eval.Frame, site vars.CallSite) (*eval.Frame, vars.CallSite, error) {
	if callee == nil || callee.Func == nil {
		return nil, vars.CallSite{}, eval.ErrNoCallSite
	}
	target, err := caller.Target(&site)
	if err != nil {
		return nil, vars.CallSite{}, err
	}
	entry := callee.Base + uint64(callee.Func.Entry())
	if target == entry {
		if v.mayReenter(entry) {
			return nil, vars.CallSite{}, eval.ErrNoCallSite
		}
		return caller, site, nil
	}
	chain, ok := v.chain(target, entry)
	if !ok {
		return nil, vars.CallSite{}, eval.ErrNoCallSite
	}
	for _, tail := range chain {
		caller, site = v.ended(i, callee, caller, site, tail), tail.site
	}
	return caller, site, nil
}

// tailCall is a tail call of a function.
type tailCall struct {
	of   *tailCalls
	from *vars.Func
	site vars.CallSite
}

// tailCalls holds the tail calls of the functions of a module.
type tailCalls struct {
	module *eval.Frame // has no function; its registers are unknown
	by     map[symfmt.RVA][]tailCall
}

// tailCallsAt returns the tail calls of the function at an address; certain is false if they are not known.
func (v *Variables) tailCallsAt(addr uint64) (calls []tailCall, certain bool) {
	i := v.result.Dump.ModuleAt(addr)
	if i < 0 {
		return nil, false
	}
	c, met := v.tails[i]
	if !met {
		c = v.readTailCalls(i)
		v.tails[i] = c
	}
	if c == nil {
		return nil, false
	}
	return c.by[symfmt.RVA(addr-c.module.Base)], true
}

// readTailCalls returns the tail calls of a module, or nil if it has no variables.
func (v *Variables) readTailCalls(module int) *tailCalls {
	state := v.stateOf(module)
	if state == nil {
		return nil
	}
	info := state.variables(v.ctx).info
	if info == nil {
		return nil
	}
	c := &tailCalls{by: map[symfmt.RVA][]tailCall{}, module: &eval.Frame{
		Arch: v.result.Dump.Registers(v.result.Stacks[v.stack].Thread).Arch, Order: v.result.Dump.Memory.Order, Memory: v.result.Dump.Tagged(),
		Info: info, Base: v.result.Dump.Modules[module].Addr,
		Register: func(int) ([]byte, bool) { return nil, false },
		CFA:      func() (uint64, bool) { return 0, false },
		TLS:      func(uint64) (uint64, string) { return 0, "a function that is not on the stack" },
		Caller:   func() (*eval.Frame, vars.CallSite, error) { return nil, vars.CallSite{}, eval.ErrNoCallSite },
	}}
	for i := range info.Funcs {
		f := &info.Funcs[i]
		for site := range f.CallSites() {
			if site.Tail {
				c.by[f.Entry()] = append(c.by[f.Entry()], tailCall{c, f, site})
			}
		}
	}
	return c
}

// stateOf returns the state of a module's symbols. The module may be on no stack.
func (v *Variables) stateOf(module int) *moduleState {
	if st := v.result.Modules[module].state; st != nil {
		return st
	}
	for i := range v.result.Modules {
		if st := v.result.Modules[i].state; st != nil {
			return st.sources.module(v.result.Dump, module)
		}
	}
	return nil
}

// maxTailCalls limits the tail calls in a chain, and maxTried those that are examined to find one.
const (
	maxTailCalls = 16
	maxTried     = 1000
)

// mayReenter reports whether a function may enter itself by tail calls, so that its last arguments may differ from
// what its caller passed. The tail calls may pass through any modules. Calls through pointers and unknown calls count
// as possible.
func (v *Variables) mayReenter(entry uint64) bool {
	may, met := v.reenters[entry]
	if !met {
		may = v.findsItself(entry)
		v.reenters[entry] = may
	}
	return may
}

func (v *Variables) findsItself(entry uint64) bool {
	seen := map[uint64]bool{}
	for todo := []uint64{entry}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		calls, certain := v.tailCallsAt(at)
		if !certain || len(seen) > maxTried {
			return true
		}
		for _, call := range calls {
			next, err := call.of.module.Target(&call.site)
			if err != nil || next == entry {
				return true
			}
			if !seen[next] {
				seen[next] = true
				todo = append(todo, next)
			}
		}
	}
	return false
}

// chain returns the only sequence of tail calls that leads from the entry of one function to the entry of another,
// through any modules. ok is false if there is none or several, or if some tail call may lead anywhere.
func (v *Variables) chain(from, to uint64) (chain []tailCall, ok bool) {
	var found [][]tailCall
	certain, tried := true, 0
	seen := map[uint64]bool{}
	var follow func(at uint64, way []tailCall)
	follow = func(at uint64, way []tailCall) {
		if seen[at] || len(way) >= maxTailCalls || len(found) > 1 || !certain {
			return
		}
		seen[at] = true
		var calls []tailCall
		calls, certain = v.tailCallsAt(at)
		for _, call := range calls {
			next, err := call.of.module.Target(&call.site)
			if tried++; tried > maxTried || err != nil {
				certain = false
				return
			}
			longer := append(slices.Clone(way), call)
			if next == to {
				found = append(found, longer)
			}
			follow(next, longer)
		}
		delete(seen, at)
	}
	follow(from, nil)
	if len(found) != 1 || !certain {
		return nil, false
	}
	return found[0], true
}

// ended returns the frame of a function at its tail call, after another function called it at site. The registers
// that functions preserve have the caller's values again, and the frame ends where frame i does. Other registers are
// unknown.
func (v *Variables) ended(i int, callee, caller *eval.Frame, site vars.CallSite, tail tailCall) *eval.Frame {
	a, in := caller.Arch, tail.of.module
	e := &eval.Frame{
		Arch: a, Order: caller.Order, Memory: caller.Memory, Info: in.Info, Base: in.Base, Func: tail.from,
		Scopes: in.Info.At(tail.site.Return-1, nil), TLS: callee.TLS,
	}
	e.Register = func(reg int) ([]byte, bool) {
		if name := a.Regs[reg].Name; !slices.Contains(a.CalleeSaved, name) && !slices.Contains(a.Constant, name) {
			return nil, false
		}
		return caller.Register(reg)
	}
	e.CFA = func() (uint64, bool) { return v.cfa(i) }
	e.Caller = func() (*eval.Frame, vars.CallSite, error) { return caller, site, nil }
	return e
}
