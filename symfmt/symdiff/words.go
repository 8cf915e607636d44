package symdiff

import (
	"fmt"
	"strings"

	"github.com/symtool/symtool/symfmt"
)

// aspectWords are the words for aspects, in the order in which they are written.
var aspectWords = [...]struct {
	what  Aspect
	name  string // in JSON
	one   string // of one function
	lost  string // "functions ...": of a regression
	plain bool   // described by its words alone
}{
	{Added, "added", "added", "", false},
	{Removed, "removed", "removed", "", false},
	{Lost, "lost", "gone", "are gone", true},
	{Split, "split", "split off another function", "", false},
	{Merged, "merged", "now a part of another", "", false},
	{BecamePublic, "became-public", "a PUBLIC now, without size and lines", "are PUBLIC now, without size and lines", true},
	{BecameFunc, "became-function", "a PUBLIC before", "", true},
	{Renamed, "renamed", "renamed", "", false},
	{LostName, "lost-name", "its name is less specific", "have a less specific name", true},
	{Moved, "moved", "moved", "", false},
	{Resized, "resized", "resized", "", false},
	{LinesChanged, "lines", "lines differ", "", true},
	{LinesShifted, "lines-shifted", "line numbers shifted", "", true},
	{PathsChanged, "paths", "other folders of source files", "", true},
	{LostLines, "lost-lines", "more code without lines", "have more code without lines", false},
	{InlinesChanged, "inlines", "inlined calls differ", "", true},
	{InlinesShifted, "inlines-shifted", "lines of inlined calls shifted", "", true},
	{LostInlines, "lost-inlines", "no inlined calls any more", "have no inlined calls any more", false},
	{CFIChanged, "cfi", "STACK CFI differs", "", true},
	{LostCFI, "lost-cfi", "more code without call frame information", "have more code without call frame information", false},
	{WinChanged, "win", "STACK WIN differs", "", true},
	{ParamsChanged, "parameter-size", "other size of parameters", "", true},
	{MultipleChanged, "multiple", "the mark m differs", "", true},
}

// Names returns the names of the aspects in a set, as they are in outputs.
func (a Aspect) Names() (names []string) {
	for _, w := range aspectWords {
		if a&w.what != 0 {
			names = append(names, w.name)
		}
	}
	return names
}

// matchNames say in JSON by what two functions are one.
var matchNames = map[match]string{
	byName: "name", byContents: "contents", byShifted: "shifted-contents", byBase: "base-name", byNeighbour: "place",
}

// sentence returns what differs in a change, in words.
func (r *Result) sentence(c Change, d *Detail) string {
	var parts []string
	for _, w := range aspectWords {
		if c.What&w.what == 0 {
			continue
		}
		switch text := r.describe(w.what, c, d); {
		case text != "":
			parts = append(parts, text)
		case w.plain:
			parts = append(parts, w.one)
		}
	}
	return strings.Join(parts, "; ")
}

// describe returns the text for one aspect of a change, with its numbers, or "" if the
// aspect's words, or nothing, are to be written.
func (r *Result) describe(a Aspect, c Change, d *Detail) string {
	switch {
	case a == Lost && c.Kind == Functions:
		return "gone, its code seems to be there"
	case a == Split && d.Part != nil:
		return "split off " + d.Part.name()
	case a == Merged && d.Part != nil:
		return "now in " + d.Part.name()
	case d.Old == nil && a == LostCFI, d.New == nil && a == LostCFI:
		return "its call frame information is gone"
	case d.Old == nil || d.New == nil:
		return ""
	case a == Renamed:
		return "was " + d.Old.name()
	case a == Moved:
		return "moved " + distance(d.Old.RVA, d.New.RVA)
	case a == Resized:
		return fmt.Sprintf("%s, was %#x", byteCount(d.New.Size), d.Old.Size)
	case a == LostLines && c.Kind == Functions:
		return "lines for " + lessThan(r.Old.Funcs[c.Old].Covered, d.Old.Size, r.New.Funcs[c.New].Covered, d.New.Size)
	case a == LostInlines && c.Kind == Functions:
		return fmt.Sprintf("no inlined calls, had %d", r.Old.Funcs[c.Old].NumInline)
	case a == LostCFI:
		return "call frame information for " + lessThan(r.Old.covered(d.Old.RVA, d.Old.Size), d.Old.Size, r.New.covered(d.New.RVA, d.New.Size), d.New.Size)
	}
	return ""
}

// lessThan says how many bytes are covered now, and were before.
func lessThan(old, oldSize, new, newSize uint64) string {
	return fmt.Sprintf("%#x of %#x bytes, was %#x of %#x", new, newSize, old, oldSize)
}

// name returns the name of a subject in messages.
func (s *Subject) name() string {
	if s.Name == "" {
		return "code without a symbol"
	}
	return s.Name
}

func hex(n uint64) string { return fmt.Sprintf("%#x", n) }

func byteCount(n uint64) string { return fmt.Sprintf("%#x bytes", n) }

// distance returns how far something moved: "by +0x40".
func distance(from, to symfmt.RVA) string {
	if to < from {
		return "by -" + hex(uint64(from-to))
	}
	return "by +" + hex(uint64(to-from))
}

func countOf(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func orNone(s string) string {
	if s == "" {
		return "?"
	}
	return s
}
