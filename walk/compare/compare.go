// Package compare compares walks of the same dumps frame by frame: with different symbols, by
// different versions of a program, or by rust-minidump, whose JSON it reads. Walks compares two
// outlines, Documents two files.
package compare

import (
	"fmt"
	"strings"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/walk"
)

// The results of comparing a frame in two walks.
const (
	Same    = "same"
	Better  = "better"  // more trust, or a name that was unknown before
	Worse   = "worse"   // less trust, or a name that is unknown now
	Changed = "changed" // different module, function, file, line, inlined functions or stack pointer, or both better and worse
	Lost    = "lost"    // in the first walk only
	New     = "new"     // in the second walk only
)

// Counts counts frames by result.
type Counts struct {
	Same    int `json:"same"`
	Better  int `json:"better"`
	Worse   int `json:"worse"`
	Changed int `json:"changed"`
	Lost    int `json:"lost"`
	New     int `json:"new"`
}

func (c *Counts) add(o Counts) {
	c.Same += o.Same
	c.Better += o.Better
	c.Worse += o.Worse
	c.Changed += o.Changed
	c.Lost += o.Lost
	c.New += o.New
}

func (c *Counts) count(result string) {
	switch result {
	case Same:
		c.Same++
	case Better:
		c.Better++
	case Worse:
		c.Worse++
	case Changed:
		c.Changed++
	case Lost:
		c.Lost++
	case New:
		c.New++
	}
}

// differs reports whether any frame is not the same.
func (c *Counts) differs() bool {
	return c.Better+c.Worse+c.Changed+c.Lost+c.New > 0
}

func (c *Counts) String() string {
	total := c.Same + c.Better + c.Worse + c.Changed + c.Lost + c.New
	list := []string{fmt.Sprintf("%d same", c.Same)}
	for _, x := range []struct {
		n    int
		name string
	}{{c.Better, Better}, {c.Worse, Worse}, {c.Changed, Changed}, {c.Lost, Lost}, {c.New, New}} {
		if x.n > 0 {
			list = append(list, fmt.Sprintf("%d %s", x.n, x.name))
		}
	}
	return text.Count(total, "frame") + ": " + strings.Join(list, ", ")
}

// Comparison compares two walks of one dump.
type Comparison struct {
	Dump    string   `json:"dump"` // "" if unknown
	Differs bool     `json:"differs"`
	Frames  Counts   `json:"frames"`
	Threads []Thread `json:"threads"` // in the order of the first walk, then those only in the second
}

// Thread compares two stacks of a thread.
type Thread struct {
	ID        uint32  `json:"thread_id"`
	Goroutine uint64  `json:"goroutine,omitempty"` // whose stack it is; 0 for a thread's stack
	Name      string  `json:"thread_name,omitempty"`
	Crashed   bool    `json:"crashed,omitempty"`
	Only      string  `json:"only,omitempty"` // "a" or "b" if only one walk has the thread
	Counts    Counts  `json:"counts"`
	Frames    []Frame `json:"frames"` // the frames that differ, from the top
}

// Frame is a frame that differs between two walks.
type Frame struct {
	Result string   `json:"result"`
	What   []string `json:"what,omitempty"` // what differs: "trust", "function", ...
	A      *Shown   `json:"a,omitempty"`    // in the first walk
	B      *Shown   `json:"b,omitempty"`    // in the second walk
}

// Shown describes a frame in one of the walks.
type Shown struct {
	Frame    int          `json:"frame"`
	Addr     walk.Address `json:"offset"`
	SP       walk.Address `json:"sp,omitempty"`
	Module   string       `json:"module,omitempty"`
	Offset   walk.Address `json:"module_offset,omitempty"`
	Function string       `json:"function,omitempty"`
	File     string       `json:"file,omitempty"`
	Line     uint32       `json:"line,omitempty"`
	Inlines  []string     `json:"inlines,omitempty"` // "function (file:line)", innermost first
	Trust    string       `json:"trust"`
}

// Walks compares two walks of a dump. name is the dump's name. Threads are paired by thread id and goroutines by goroutine id or, if one of
// the walks has no ids, by position.
func Walks(a, b *walk.Result, name string) *Comparison {
	return compareOutlines(outlineFrom(a, name), outlineFrom(b, name))
}

func compareOutlines(a, b *outline) *Comparison {
	c := &Comparison{Dump: a.Dump, Threads: []Thread{}}
	if c.Dump == "" {
		c.Dump = b.Dump
	}
	partners := threadPartners(a, b)
	used := make([]bool, len(b.Threads))
	none := &outlineThread{}
	for i := range a.Threads {
		t, other := &a.Threads[i], none
		only := "a"
		if k := partners[i]; k >= 0 {
			used[k], other, only = true, &b.Threads[k], ""
		}
		c.thread(t, other, only, i == a.Crashing, t)
	}
	for k := range b.Threads {
		if !used[k] {
			c.thread(none, &b.Threads[k], "b", k == b.Crashing, &b.Threads[k])
		}
	}
	c.Differs = c.Frames.differs()
	for i := range c.Threads {
		c.Differs = c.Differs || c.Threads[i].Only != ""
	}
	return c
}

// threadPartners returns for each of a's threads the index of its partner in b, or -1.
func threadPartners(a, b *outline) []int {
	partners := make([]int, len(a.Threads))
	byID := map[threadKey]int{}
	for k := len(b.Threads) - 1; k >= 0; k-- { // the first thread with an id counts
		if b.Threads[k].HasID {
			byID[b.Threads[k].key()] = k
		}
	}
	taken := map[int]bool{}
	for i := range a.Threads {
		t := &a.Threads[i]
		partners[i] = -1
		k, ok := byID[t.key()]
		if !t.HasID || !ok {
			k, ok = i, i < len(b.Threads) && !(t.HasID && b.Threads[i].HasID)
		}
		if ok && !taken[k] {
			partners[i], taken[k] = k, true
		}
	}
	return partners
}

func (c *Comparison) thread(a, b *outlineThread, only string, crashed bool, named *outlineThread) {
	t := Thread{ID: named.ID, Goroutine: named.Goroutine, Name: named.Name, Crashed: crashed, Only: only, Frames: []Frame{}}
	i, k := 0, 0
	flush := func(toI, toK int) {
		for ; i < toI; i++ {
			t.add(Frame{Result: Lost, A: shown(a.Frames, i)})
		}
		for ; k < toK; k++ {
			t.add(Frame{Result: New, B: shown(b.Frames, k)})
		}
	}
	for _, p := range alignFrames(a.Frames, b.Frames) {
		flush(p.a, p.b)
		result, what := compareFrames(&a.Frames[p.a], &b.Frames[p.b])
		if result == Same {
			t.Counts.Same++
		} else {
			t.add(Frame{Result: result, What: what, A: shown(a.Frames, p.a), B: shown(b.Frames, p.b)})
		}
		i, k = p.a+1, p.b+1
	}
	flush(len(a.Frames), len(b.Frames))
	c.Frames.add(t.Counts)
	c.Threads = append(c.Threads, t)
}

func (t *Thread) add(f Frame) {
	t.Counts.count(f.Result)
	t.Frames = append(t.Frames, f)
}

// compareFrames compares two frames at the same address.
func compareFrames(a, b *OutlineFrame) (result string, what []string) {
	var better, worse, changed bool
	// known compares values that may be unknown.
	known := func(name string, hasA, hasB, differ bool) {
		switch {
		case hasA && hasB && differ:
			changed = true
		case hasA && !hasB:
			worse = true
		case !hasA && hasB:
			better = true
		default:
			return
		}
		what = append(what, name)
	}
	known("sp", a.SP != 0 && b.SP != 0, a.SP != 0 && b.SP != 0, a.SP != b.SP)
	known("module", a.Module != "", b.Module != "", a.Module != b.Module || a.Offset != b.Offset)
	known("function", a.Function != "", b.Function != "", a.Function != b.Function)
	known("file", a.File != "", b.File != "", a.File != b.File)
	known("line", a.Line != 0, b.Line != 0, a.Line != b.Line)
	known("inlines", len(a.Inlines) > 0, len(b.Inlines) > 0, !sameInlines(a.Inlines, b.Inlines))
	if x, y := a.rank(), b.rank(); x != y {
		better, worse = better || y > x, worse || y < x
		what = append(what, "trust")
	}
	switch {
	case changed || better && worse:
		return Changed, what
	case better:
		return Better, what
	case worse:
		return Worse, what
	}
	return Same, nil
}

func sameInlines(a, b []outlineInline) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func shown(frames []OutlineFrame, i int) *Shown {
	f := &frames[i]
	x := &Shown{Frame: i, Addr: walk.Address(f.Addr), SP: walk.Address(f.SP), Module: f.Module, Offset: walk.Address(f.Offset),
		Function: f.Function, File: f.File, Line: f.Line, Trust: f.trust()}
	for _, in := range f.Inlines {
		x.Inlines = append(x.Inlines, withPlace(in.Function, in.File, in.Line))
	}
	return x
}

// withPlace returns "function (file:line)".
func withPlace(function, file string, line uint32) string {
	switch {
	case file == "":
		return function
	case line == 0:
		return fmt.Sprintf("%s (%s)", function, file)
	}
	return fmt.Sprintf("%s (%s:%d)", function, file, line)
}
