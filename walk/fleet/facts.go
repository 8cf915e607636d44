package fleet

import (
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/walk"
)

// Module is a module of any number of dumps. Frames outside of modules have the zero Module.
type Module struct {
	Name    string // of its file
	DebugID string
}

// Trusts counts frames by how they were found.
type Trusts struct {
	Context, CFI, Code, CFIScan, FramePointer, Scan int64
}

// Counts are a module's counts, in one or many dumps.
type Counts struct {
	Dumps   int64 // dumps with a frame in it
	Missing int64 // of Dumps, those without symbols
	OtherID int64 // of Dumps, those for which there are symbols with its name but another id
	Corrupt int64 // of Dumps, those whose symbols exist but cannot be used
	Found   int64 // of Dumps, those whose symbols were found

	Frames  Trusts // frames in it
	Callers Trusts // callers of those frames, by how the module's unwinding rules found them
	Ends    int64  // stacks whose walk ended in it too soon
	CutEnds int64  // of Ends, those because the dump lacks registers or memory, or has too many frames
	Unnamed int64  // frames in it without a function

	Example Example // the first dump with a caller that was guessed
}

// Example is a dump.
type Example struct {
	Dump string
	At   int64 // index among the dumps, from 1; 0 if there is none
}

// first makes e the first of two dumps.
func (e *Example) first(o Example) {
	if o.At != 0 && (e.At == 0 || o.At < e.At) {
		*e = o
	}
}

// Totals counts dumps.
type Totals struct {
	Dumps, OK, Damaged, Failed int64
	Threads, Unclean           int64 // stacks, and those whose walk ended too soon
	Frames                     Trusts
}

func (t *Trusts) count(f *walk.Frame) {
	switch {
	case f.By == walk.ByCode:
		t.Code++
	case f.Trust == walk.TrustContext:
		t.Context++
	case f.Trust == walk.TrustCFI:
		t.CFI++
	case f.Trust == walk.TrustCFIScan:
		t.CFIScan++
	case f.Trust == walk.TrustFramePtr:
		t.FramePointer++
	default:
		t.Scan++ // no other value is given
	}
}

func (t *Trusts) add(o Trusts) {
	t.Context += o.Context
	t.CFI += o.CFI
	t.Code += o.Code
	t.CFIScan += o.CFIScan
	t.FramePointer += o.FramePointer
	t.Scan += o.Scan
}

func (t Trusts) all() int64 { return t.Context + t.CFI + t.Code + t.CFIScan + t.FramePointer + t.Scan }

// guessed returns the number of callers that were found without call frame information.
func (c *Counts) guessed() int64 { return c.Callers.FramePointer + c.Callers.Scan }

// Add adds the counts of other dumps. The order does not matter.
func (c *Counts) Add(o Counts) {
	c.Dumps += o.Dumps
	c.Missing += o.Missing
	c.OtherID += o.OtherID
	c.Corrupt += o.Corrupt
	c.Found += o.Found
	c.Frames.add(o.Frames)
	c.Callers.add(o.Callers)
	c.Ends += o.Ends
	c.CutEnds += o.CutEnds
	c.Unnamed += o.Unnamed
	c.Example.first(o.Example)
}

// Add adds the totals of other dumps.
func (t *Totals) Add(o Totals) {
	t.Dumps += o.Dumps
	t.OK += o.OK
	t.Damaged += o.Damaged
	t.Failed += o.Failed
	t.Threads += o.Threads
	t.Unclean += o.Unclean
	t.Frames.add(o.Frames)
}

// plain makes a text from a dump valid UTF-8: as in JSON, each invalid byte becomes U+FFFD.
func plain(s string) string { return string([]rune(s)) }

// maxModuleName is the length in bytes to which names of modules are cut: every module may have a different
// one.
const maxModuleName = 1 << 10

// shortened returns a name as shown in tables.
func shortened(name string) string {
	if len(name) > maxModuleName {
		name = name[:maxModuleName]
	}
	return plain(name)
}

// ModulesOf returns the counts of a dump that was read, by module. at is its index among the dumps,
// from 1.
func ModulesOf(w *Walked, at int64) map[Module]*Counts {
	places := map[int]*Counts{} // by index in the dump, which may have a module twice
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
			c.Frames.count(&s.Frames[k])
			if f := &s.Frames[k]; f.Module >= 0 && f.Function() == "" {
				c.Unnamed++
			}
			if k+1 < len(s.Frames) {
				c.Callers.count(&s.Frames[k+1])
			} else if !s.End.Clean() {
				c.Ends++
				if cutByDump(s.End) {
					c.CutEnds++
				}
			}
		}
	}
	modules := map[Module]*Counts{}
	for place, c := range places {
		m := Module{}
		if place >= 0 {
			d := &w.Dump.Modules[place]
			m = Module{shortened(w.Dump.System.OS.Base(d.Path)), shortened(d.DebugID)}
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
			c.Example = Example{plain(w.Path), at}
		}
	}
	return modules
}

// cutByDump reports whether a walk ended because of the dump rather than because of symbols.
func cutByDump(e walk.End) bool {
	return e == walk.EndNoContext || e == walk.EndNoMemory || e == walk.EndLimit || e == walk.EndBudget
}

// symbols counts the state of a module's symbols.
func (c *Counts) symbols(s *walk.Symbols) {
	switch {
	case s.Resolver != nil:
		c.Found = 1
	case s.Looked():
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
	missing, other, corrupt, found := max(c.Missing, o.Missing), max(c.OtherID, o.OtherID), max(c.Corrupt, o.Corrupt), max(c.Found, o.Found)
	c.Add(*o)
	c.Missing, c.OtherID, c.Corrupt, c.Found = missing, other, corrupt, found
}

// TotalsOf returns the totals of one dump.
func TotalsOf(w *Walked) Totals {
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
			t.Frames.count(&w.Stacks[i].Frames[k])
		}
	}
	return t
}

// Crashes counts the dumps with a signature.
type Crashes struct {
	Dumps   int64
	Example Example
	Reason  string // why the example crashed; "" without a crash
}

// Add adds the counts of other dumps with the signature. The order does not matter.
func (c *Crashes) Add(o Crashes) {
	c.Dumps += o.Dumps
	if c.Example.first(o.Example); c.Example == o.Example {
		c.Reason = o.Reason
	}
}

// CrashOf returns the signature of a dump that was read, and its counts.
func CrashOf(w *Walked, at int64, m *SignatureMaker) (string, Crashes) {
	return m.Of(w.Result), Crashes{Dumps: 1, Example: Example{plain(w.Path), at}, Reason: plain(w.Dump.Reason())}
}

// Read returns the number of dumps that were read, in whole or in part.
func (t *Totals) Read() int64 { return t.OK + t.Damaged }
