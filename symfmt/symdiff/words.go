package symdiff

import (
	"fmt"
	"strings"

	"github.com/symtool/symtool/symfmt"
)

// aspectWords are the words for aspects, in the order in which they are told.
var aspectWords = [...]struct {
	what  Aspect
	name  string // in JSON
	one   string // of one function
	lost  string // "functions ...": of a regression
	plain bool   // told by its words alone
}{
	{Added, "added", "added", "", false},
	{Removed, "removed", "removed", "", false},
	{Lost, "lost", "gone", "are gone", false},
	{Split, "split", "a part of", "", false},
	{Merged, "merged", "now a part of", "", false},
	{BecamePublic, "became-public", "a PUBLIC now, without size and lines", "are PUBLIC now, without size and lines", true},
	{BecameFunc, "became-function", "a PUBLIC before", "", true},
	{Renamed, "renamed", "renamed", "", false},
	{LostName, "lost-name", "its name is worse", "have a worse name", true},
	{Moved, "moved", "moved", "", false},
	{Resized, "resized", "size", "", false},
	{LinesChanged, "lines", "lines differ", "", true},
	{LinesShifted, "lines-shifted", "line numbers shifted", "", true},
	{PathsChanged, "paths", "other folders of source files", "", true},
	{LostLines, "lost-lines", "more code without lines", "have more code without lines", true},
	{InlinesChanged, "inlines", "inlined calls differ", "", true},
	{InlinesShifted, "inlines-shifted", "lines of inlined calls shifted", "", true},
	{LostInlines, "lost-inlines", "no inlined calls any more", "have no inlined calls any more", true},
	{CFIChanged, "cfi", "STACK CFI differs", "", true},
	{LostCFI, "lost-cfi", "more code without call frame information", "have more code without call frame information", true},
	{WinChanged, "win", "STACK WIN differs", "", true},
	{ParamsChanged, "parameter-size", "other size of parameters", "", true},
	{MultipleChanged, "multiple", "the mark m differs", "", true},
}

// Names are the names of the aspects in a set, as outputs have them.
func (a Aspect) Names() (names []string) {
	for _, w := range aspectWords {
		if a&w.what != 0 {
			names = append(names, w.name)
		}
	}
	return names
}

// sentence is what differs in a change, in words.
func (d *Detail) sentence(c Change) string {
	var parts []string
	for _, w := range aspectWords {
		if c.What&w.what == 0 {
			continue
		}
		switch {
		case w.plain:
			parts = append(parts, w.one)
		case w.what == Renamed:
			parts = append(parts, "was "+d.Old.name())
		case w.what == Moved:
			parts = append(parts, "moved from "+hex(uint64(d.Old.RVA))+" "+distance(d.Old.RVA, d.New.RVA))
		case w.what == Resized:
			parts = append(parts, fmt.Sprintf("size %#x, was %#x", d.New.Size, d.Old.Size))
		case w.what == Split && d.Part != nil:
			parts = append(parts, "split off "+d.Part.name())
		case w.what == Merged && d.Part != nil:
			parts = append(parts, "now in "+d.Part.name())
		}
	}
	return strings.Join(parts, "; ")
}

// name is how a subject is called.
func (s *Subject) name() string {
	if s.Name == "" {
		return "code without a symbol"
	}
	return s.Name
}

func hex(n uint64) string { return fmt.Sprintf("%#x", n) }

// distance is how far something moved: "by +0x40".
func distance(from, to symfmt.RVA) string {
	if to < from {
		return "by -" + hex(uint64(from-to))
	}
	return "by +" + hex(uint64(to-from))
}
