package symdiff

import "strings"

// Aspect is a set of differences.
type Aspect uint32

// The aspects. From LostLines on, something is worse than before.
const (
	Added Aspect = 1 << iota
	Removed
	Moved
	Renamed
	Resized
	PathsChanged // folders of source files only
	LinesChanged
	LinesShifted // line numbers only, all by the same distance in each file
	InlinesChanged
	InlinesShifted
	CFIChanged
	WinChanged
	ParamsChanged   // bytes of arguments on the stack
	MultipleChanged // the mark "m"
	Split           // added: a part of a function of the old file
	Merged          // removed: a part of a function of the new file
	BecamePublic    // a FUNC before, a PUBLIC now
	BecameFunc      // a PUBLIC before, a FUNC now
	LostLines       // more bytes without lines, and a smaller share with
	LostInlines     // more bytes without lines, and a smaller share with lines
	LostCFI         // inlined calls are gone, in code of the same size
	LostName        // more bytes without call frame information, and a smaller share with it
	Lost            // the name is gone, or is mangled now

	lost = LostLines | LostInlines | LostCFI | LostName | Lost | BecamePublic
)

// removed, and not found under another name
func (a Aspect) Regression() bool { return a&lost != 0 }

// aspectNames lists the names in output order.
var aspectNames = [...]struct {
	what Aspect
	name string
}{
	{Added, "added"},
	{Removed, "removed"},
	{Lost, "lost"},
	{Split, "split"},
	{Merged, "merged"},
	{BecamePublic, "became-public"},
	{BecameFunc, "became-function"},
	{Renamed, "renamed"},
	{LostName, "lost-name"},
	{Moved, "moved"},
	{Resized, "resized"},
	{LinesChanged, "lines"},
	{LinesShifted, "lines-shifted"},
	{PathsChanged, "paths"},
	{LostLines, "lost-lines"},
	{InlinesChanged, "inlines"},
	{InlinesShifted, "inlines-shifted"},
	{LostInlines, "lost-inlines"},
	{CFIChanged, "cfi"},
	{LostCFI, "lost-cfi"},
	{WinChanged, "win"},
	{ParamsChanged, "parameter-size"},
	{MultipleChanged, "multiple"},
}

// Names returns the names of the aspects in a set, as outputs show them.
func (a Aspect) Names() (names []string) {
	for _, x := range aspectNames {
		if a&x.what != 0 {
			names = append(names, x.name)
		}
	}
	return names
}

// String returns the names, separated by spaces.
func (a Aspect) String() string { return strings.Join(a.Names(), " ") }
