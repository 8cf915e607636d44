package report

import (
	"fmt"
	"strings"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/symdiff"
)

// aspectWords are the words for aspects, in output order.
var aspectWords = [...]struct {
	what  symdiff.Aspect
	one   string // for one function
	lost  string // "functions ...": for a regression
	plain bool   // nothing but the words is written
}{
	{symdiff.Added, "added", "", false},
	{symdiff.Removed, "removed", "", false},
	{symdiff.Lost, "gone", "are gone", true},
	{symdiff.Split, "split off another function", "", false},
	{symdiff.Merged, "now part of another function", "", false},
	{symdiff.BecamePublic, "a PUBLIC now, without size and lines", "are PUBLIC now, without size and lines", true},
	{symdiff.BecameFunc, "a PUBLIC before", "", true},
	{symdiff.Renamed, "renamed", "", false},
	{symdiff.LostName, "its name is less specific", "have a less specific name", true},
	{symdiff.Moved, "moved", "", false},
	{symdiff.Resized, "resized", "", false},
	{symdiff.LinesChanged, "lines differ", "", true},
	{symdiff.LinesShifted, "line numbers shifted", "", true},
	{symdiff.PathsChanged, "different folders of source files", "", true},
	{symdiff.LostLines, "more code without lines", "have more code without lines", false},
	{symdiff.InlinesChanged, "inlined calls differ", "", true},
	{symdiff.InlinesShifted, "lines of inlined calls shifted", "", true},
	{symdiff.LostInlines, "inlined calls are gone", "have lost their inlined calls", false},
	{symdiff.CFIChanged, "STACK CFI differs", "", true},
	{symdiff.LostCFI, "more code without call frame information", "have more code without call frame information", false},
	{symdiff.WinChanged, "STACK WIN differs", "", true},
	{symdiff.VariablesChanged, "variables differ", "", true},
	{symdiff.LostVariables, "its variables are gone", "have lost their variables", true},
	{symdiff.MembersChanged, "members differ", "", true},
	{symdiff.ParamsChanged, "different size of parameters", "", true},
	{symdiff.MultipleChanged, "the mark m differs", "", true},
}

// sentence describes the differences of a change in words.
func sentence(r *symdiff.Result, c symdiff.Change, d *symdiff.Detail) string {
	var parts []string
	for _, w := range aspectWords {
		if c.What&w.what == 0 {
			continue
		}
		switch text := describe(r, w.what, c, d); {
		case text != "":
			parts = append(parts, text)
		case w.plain:
			parts = append(parts, w.one)
		}
	}
	return strings.Join(parts, "; ")
}

// describe returns the text for one aspect of a change, with its numbers, or "" if
// only the aspect's words, or nothing, are to be written.
func describe(r *symdiff.Result, a symdiff.Aspect, c symdiff.Change, d *symdiff.Detail) string {
	switch {
	case a == symdiff.Lost && c.Kind == symdiff.Functions:
		return "gone, although its code seems to be there"
	case a == symdiff.Split && d.Part != nil:
		return "split off " + nameOf(d.Part)
	case a == symdiff.Merged && d.Part != nil:
		return "now in " + nameOf(d.Part)
	case d.Old == nil && a == symdiff.LostCFI, d.New == nil && a == symdiff.LostCFI:
		return "its call frame information is gone"
	case d.Old == nil || d.New == nil:
		return ""
	case a == symdiff.Renamed:
		return "was " + nameOf(d.Old)
	case a == symdiff.Moved:
		return "moved " + distance(d.Old.RVA, d.New.RVA)
	case a == symdiff.Resized:
		return fmt.Sprintf("%s, was %#x", byteCount(d.New.Size), d.Old.Size)
	case a == symdiff.LostLines && c.Kind == symdiff.Functions:
		return "lines for " + lessThan(r.Old.Funcs[c.Old].Covered, d.Old.Size, r.New.Funcs[c.New].Covered, d.New.Size)
	case a == symdiff.LostInlines && c.Kind == symdiff.Functions:
		return fmt.Sprintf("no inlined calls, had %d", r.Old.Funcs[c.Old].NumInline)
	case a == symdiff.LostCFI:
		return "call frame information for " + lessThan(r.Old.Covered(d.Old.RVA, d.Old.Size), d.Old.Size, r.New.Covered(d.New.RVA, d.New.Size), d.New.Size)
	}
	return ""
}

// lessThan describes how many bytes are covered now and how many were before.
func lessThan(old, oldSize, new, newSize uint64) string {
	return fmt.Sprintf("%#x of %#x bytes, was %#x of %#x", new, newSize, old, oldSize)
}

// nameOf returns a subject's name for messages.
func nameOf(s *symdiff.Subject) string {
	if s.Name == "" {
		return "code without a symbol"
	}
	return s.Name
}

func hex(n uint64) string { return fmt.Sprintf("%#x", n) }

func byteCount(n uint64) string { return fmt.Sprintf("%#x bytes", n) }

// distance returns how far something moved, as in "by +0x40".
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
