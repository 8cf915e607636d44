package main

import (
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/batch"
)

// Module is a module of any number of dumps. Frames outside of modules have the zero Module.
type Module struct {
	Name    string // of its file
	DebugID string
}

// Trusts counts frames by how they were found.
type Trusts struct {
	Context, CFI, CFIScan, FramePointer, Scan int64
}

// Counts are a module's counts, in one dump or in many.
type Counts struct {
	Dumps   int64 // with a frame in it
	Missing int64 // of them: its symbols were not found
	OtherID int64 // of them: there are symbols by its name with another id
	Corrupt int64 // of them: its symbols are there and cannot be used

	Frames  Trusts // those in it
	Callers Trusts // those right after them on the stacks, by what the module's unwinding rules gave
	Ends    int64  // stacks whose walk ended in it too soon

	// Example is the first dump with a caller that was guessed; ExampleAt is its
	// place among the dumps, from 1; 0 if there is none.
	Example   string
	ExampleAt int64
}

// Totals counts dumps.
type Totals struct {
	Dumps, OK, Damaged, Failed int64
	Threads, Unclean           int64 // stacks, and those whose walk ended too soon
	Frames                     Trusts
}

// Damage is a dump that could not be read, or only in part.
type Damage struct {
	At     int64  // place among the dumps, from 1
	Dump   string // name
	Failed bool   // it could not be read
	Errors []string
}

func (t *Trusts) count(trust walk.Trust) {
	switch trust {
	case walk.TrustContext:
		t.Context++
	case walk.TrustCFI:
		t.CFI++
	case walk.TrustCFIScan:
		t.CFIScan++
	case walk.TrustFramePtr:
		t.FramePointer++
	default:
		t.Scan++ // no other value is given
	}
}

func (t *Trusts) add(o Trusts) {
	t.Context += o.Context
	t.CFI += o.CFI
	t.CFIScan += o.CFIScan
	t.FramePointer += o.FramePointer
	t.Scan += o.Scan
}

func (t Trusts) all() int64 { return t.Context + t.CFI + t.CFIScan + t.FramePointer + t.Scan }

// guessed returns the number of callers that were found without call frame information.
func (c *Counts) guessed() int64 { return c.Callers.FramePointer + c.Callers.Scan }

// add adds the counts of other dumps. The order does not matter.
func (c *Counts) add(o Counts) {
	c.Dumps += o.Dumps
	c.Missing += o.Missing
	c.OtherID += o.OtherID
	c.Corrupt += o.Corrupt
	c.Frames.add(o.Frames)
	c.Callers.add(o.Callers)
	c.Ends += o.Ends
	if o.ExampleAt != 0 && (c.ExampleAt == 0 || o.ExampleAt < c.ExampleAt) {
		c.Example, c.ExampleAt = o.Example, o.ExampleAt
	}
}

func (t *Totals) add(o Totals) {
	t.Dumps += o.Dumps
	t.OK += o.OK
	t.Damaged += o.Damaged
	t.Failed += o.Failed
	t.Threads += o.Threads
	t.Unclean += o.Unclean
	t.Frames.add(o.Frames)
}

// text makes a text of a dump acceptable to every runner's coders: as in JSON, each byte that is
// not UTF-8 becomes U+FFFD.
func text(s string) string { return string([]rune(s)) }

// countModules counts what a dump says about modules. at is its place among the dumps.
func countModules(w *batch.Walked, at int64) map[Module]*Counts {
	places := map[int]*Counts{} // by place in the dump, which may have a module twice
	count := func(place int) *Counts {
		if places[place] == nil {
			places[place] = &Counts{}
		}
		return places[place]
	}
	for i := range w.Stacks {
		s := &w.Stacks[i]
		for k := range s.Frames {
			c := count(s.Frames[k].Module)
			c.Frames.count(s.Frames[k].Trust)
			if k+1 < len(s.Frames) {
				c.Callers.count(s.Frames[k+1].Trust)
			} else if !s.End.Clean() {
				c.Ends++
			}
		}
	}
	modules := map[Module]*Counts{}
	for place, c := range places {
		m := Module{}
		if place >= 0 {
			d := &w.Dump.Modules[place]
			m = Module{text(w.Dump.System.OS.Base(d.Path)), text(d.DebugID)}
			c.symbols(&w.Modules[place])
		}
		if modules[m] == nil {
			modules[m] = &Counts{}
		}
		modules[m].merge(c)
	}
	for _, c := range modules {
		c.Dumps = 1
		if c.guessed() > 0 {
			c.Example, c.ExampleAt = text(w.Path), at
		}
	}
	return modules
}

// symbols counts the state of a module's symbols.
func (c *Counts) symbols(s *walk.Symbols) {
	if s.Looked() && s.Resolver == nil {
		c.Missing = 1
	}
	if s.Resolver == nil && s.Err != nil {
		c.Corrupt = 1
	}
	if len(resolve.OtherModules(s.Tried)) > 0 {
		c.OtherID = 1
	}
}

// merge adds the counts of another mapping of the module in the same dump.
func (c *Counts) merge(o *Counts) {
	missing, other, corrupt := max(c.Missing, o.Missing), max(c.OtherID, o.OtherID), max(c.Corrupt, o.Corrupt)
	c.add(*o)
	c.Missing, c.OtherID, c.Corrupt = missing, other, corrupt
}

// totals counts a dump.
func totals(w *batch.Walked) Totals {
	t := Totals{Dumps: 1}
	switch {
	case w.Err != nil:
		t.Failed = 1
		return t
	case len(w.Dump.Problems) > 0:
		t.Damaged = 1
	default:
		t.OK = 1
	}
	for i := range w.Stacks {
		t.Threads++
		if !w.Stacks[i].End.Clean() {
			t.Unclean++
		}
		for k := range w.Stacks[i].Frames {
			t.Frames.count(w.Stacks[i].Frames[k].Trust)
		}
	}
	return t
}

// maxErrors is the number of errors in a dump's row: a hostile dump has as many as
// records.
const maxErrors = 100

// damageOf returns what is wrong with a dump; ok is false if nothing is.
func damageOf(w *batch.Walked, at int64) (d Damage, ok bool) {
	d = Damage{At: at, Dump: text(w.Path)}
	if w.Err != nil {
		d.Failed, d.Errors = true, []string{text(w.Err.Error())}
		return d, true
	}
	for _, p := range w.Dump.Problems[:min(len(w.Dump.Problems), maxErrors)] {
		d.Errors = append(d.Errors, text(p.String()))
	}
	return d, len(d.Errors) > 0
}
