package walk

import (
	"strings"

	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/walk/coroutine"
)

// suspensions are the lines at which a coroutine's function sets the number of the suspension point.
type suspensions struct {
	lines map[uint64]resolve.Frame // by number; Line is 0 if there are several
	end   uint32                   // the last line of the function
}

// line returns the file and line of the expression at which a coroutine is suspended; Line is 0 if they are not certain.
// The code at which it goes on may begin with the next statement, so its line counts only if it takes the result of
// the expression, and otherwise the line counts at which the number of the suspension point is set. GCC gives some of
// these the last line of the function. p is nil if that code is not known, as on other CPUs than x86-64.
func (c *coroutines) line(co *coroutine.Coroutine, p *coroutine.Point) resolve.Frame {
	if p != nil {
		if names := c.namesAt(p.PC); len(names) > 1 && takesResult(names[len(names)-2].Function) {
			return names[len(names)-1]
		}
	}
	index, ok := c.follower.Index(&co.Frame, co.Layout)
	if !ok {
		return resolve.Frame{}
	}
	s := c.suspensionsOf(co)
	gcc := co.Layout.IndexStep > 1
	if at := s.lines[index]; at.Line != 0 && !(gcc && at.Line == s.end) {
		return at
	}
	if p == nil {
		return resolve.Frame{}
	}
	if at, target, ok := c.follower.FirstCall(p.PC); ok {
		called, own := c.namesAt(target), c.namesAt(at)
		if len(called) > 0 && len(own) == 1 && takesResult(called[len(called)-1].Function) {
			return own[0]
		}
	}
	return resolve.Frame{}
}

// takesResult reports whether a function is the one that returns the result of what a coroutine waited for.
func takesResult(function string) bool {
	name, _, _ := strings.Cut(function, "(")
	return name == "await_resume" || strings.HasSuffix(name, "::await_resume")
}

// suspensionsOf returns the lines at which the functions of a coroutine set the number of the suspension point.
func (c *coroutines) suspensionsOf(co *coroutine.Coroutine) *suspensions {
	if s := c.points[co.Resume]; s != nil {
		return s
	}
	s := &suspensions{lines: map[uint64]resolve.Frame{}}
	c.points[co.Resume] = s
	for _, start := range []uint64{co.Resume, c.makers[co.Resume]} {
		s.add(c, start, co.Layout)
	}
	return s
}

// add adds the lines of a function.
func (s *suspensions) add(c *coroutines, start uint64, l *coroutine.Layout) {
	i := c.res.Dump.ModuleAt(start)
	if i < 0 {
		return
	}
	names := c.moduleState(c.res, i).names(c.ctx)
	var at resolve.Location
	if ok, err := resolve.Find(c.ctx, names, rva(start-c.res.Dump.Modules[i].Addr), &at); !ok || err != nil {
		return
	}
	stores := c.follower.Stores(start, at.Size, l, func(addr uint64) {
		if own := c.namesAt(addr); len(own) > 0 {
			s.end = max(s.end, own[len(own)-1].Line)
		}
	})
	for _, store := range stores {
		own := c.namesAt(store.Addr)
		if len(own) == 0 {
			continue
		}
		line := own[len(own)-1]
		if before, ok := s.lines[store.Index]; ok && (before.Line != line.Line || before.File != line.File) {
			line.Line = 0
		}
		s.lines[store.Index] = line
	}
}

// namesAt returns the functions at an address.
func (c *coroutines) namesAt(addr uint64) []resolve.Frame {
	i := c.res.Dump.ModuleAt(addr)
	if i < 0 {
		return nil
	}
	names := c.moduleState(c.res, i).names(c.ctx)
	if names == nil {
		return nil
	}
	if p := c.u.places.find(c.ctx, names, rva(addr-c.res.Dump.Modules[i].Addr)); p.found && p.err == nil {
		return p.at.Frames
	}
	return nil
}
