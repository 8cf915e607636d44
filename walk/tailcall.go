package walk

import (
	"slices"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/vars"
	"github.com/symtool/symtool/walk/eval"
)

// through returns the call that entered frame i, if it is certain: the call of its caller, or the
// last of the tail calls that lead from there to the frame's function. No stack has the functions
// that ended with those tail calls. If there are several such paths, none is certain.
func (v *Variables) through(i int, callee, caller *eval.Frame, site vars.CallSite) (*eval.Frame, vars.CallSite, error) {
	if callee == nil || callee.Func == nil {
		return nil, vars.CallSite{}, eval.ErrNoCallSite
	}
	target, err := caller.Target(&site)
	if err != nil {
		return nil, vars.CallSite{}, err
	}
	target -= callee.Base
	entry := callee.Func.Entry()
	if symfmt.RVA(target) == entry {
		if v.callsItself(callee.Info, entry) {
			return nil, vars.CallSite{}, eval.ErrNoCallSite
		}
		return caller, site, nil
	}
	calls := v.tailCalls(callee.Info)
	chain, ok := calls.chain(symfmt.RVA(target), entry)
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
	from *vars.Func
	site vars.CallSite
}

// tailCalls holds the tail calls of the functions of a module.
type tailCalls struct {
	by   map[symfmt.RVA][]tailCall // by the function that makes them
	open map[symfmt.RVA]bool       // functions with tail calls to unknown targets
}

// tailCalls returns the tail calls of a module.
func (v *Variables) tailCalls(in *vars.Info) *tailCalls {
	if c := v.tails[in]; c != nil {
		return c
	}
	c := &tailCalls{map[symfmt.RVA][]tailCall{}, map[symfmt.RVA]bool{}}
	for i := range in.Funcs {
		f := &in.Funcs[i]
		for site := range f.CallSites() {
			switch {
			case !site.Tail:
			case !site.HasTarget: // through a pointer, or to another module
				c.open[f.Entry()] = true
			default:
				c.by[f.Entry()] = append(c.by[f.Entry()], tailCall{f, site})
			}
		}
	}
	v.tails[in] = c
	return c
}

// callsItself reports whether a function may enter itself by tail calls, so that what its caller
// passed is not what it was last entered with.
func (v *Variables) callsItself(in *vars.Info, entry symfmt.RVA) bool {
	calls := v.tailCalls(in)
	_, found := calls.chain(entry, entry)
	return found || calls.open[entry]
}

// maxTailCalls limits the tail calls in a chain, and maxTried those that are examined to find
// one.
const (
	maxTailCalls = 16
	maxTried     = 1000
)

// chain returns the only tail calls that lead from the entry of one function to that of another.
// ok is false if there are none, or several, or if some may lead anywhere.
func (c *tailCalls) chain(from, to symfmt.RVA) (chain []tailCall, ok bool) {
	var found [][]tailCall
	certain, tried := true, 0
	seen := map[symfmt.RVA]bool{}
	var follow func(at symfmt.RVA, way []tailCall)
	follow = func(at symfmt.RVA, way []tailCall) {
		if seen[at] || len(way) >= maxTailCalls || len(found) > 1 {
			return
		}
		seen[at] = true
		certain = certain && !c.open[at]
		for _, call := range c.by[at] {
			if tried++; tried > maxTried {
				certain = false
				return
			}
			next := append(slices.Clone(way), call)
			if call.site.Target == to {
				found = append(found, next)
			}
			follow(call.site.Target, next)
		}
		delete(seen, at)
	}
	follow(from, nil)
	if len(found) != 1 || !certain {
		return nil, false
	}
	return found[0], true
}

// ended returns the frame of a function at its tail call, after another function called it at
// site. The registers that functions preserve are the caller's again, and the frame ends where
// frame i does. Other registers are unknown.
func (v *Variables) ended(i int, callee, caller *eval.Frame, site vars.CallSite, tail tailCall) *eval.Frame {
	a := caller.Arch
	e := &eval.Frame{
		Arch: a, Memory: caller.Memory, Info: callee.Info, Base: callee.Base, Func: tail.from,
		Scopes: callee.Info.At(tail.site.Return-1, nil), TLS: callee.TLS,
	}
	e.Register = func(reg int) ([]byte, bool) {
		if !slices.Contains(a.CalleeSaved, a.Regs[reg].Name) {
			return nil, false
		}
		return caller.Register(reg)
	}
	e.CFA = func() (uint64, bool) { return v.cfa(i) }
	e.Caller = func() (*eval.Frame, vars.CallSite, error) { return caller, site, nil }
	return e
}
