package symdiff

import (
	"slices"
	"strings"
)

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
	VariablesChanged
	MembersChanged // of a type
	LostLines      // more bytes without lines, and a smaller share with lines
	LostInlines    // inlined calls are gone, in code of the same size
	LostCFI        // more bytes without call frame information, and a smaller share with it
	LostVariables  // all variables are gone
	LostName       // the name is gone, or is mangled now
	Lost           // removed, and not found under another name

	lost = LostLines | LostInlines | LostCFI | LostVariables | LostName | Lost | BecamePublic
)

// Regression reports whether something is worse than before.
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
	{VariablesChanged, "variables"},
	{LostVariables, "lost-variables"},
	{MembersChanged, "members"},
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

// Topic is a part of the differences that can be selected.
type Topic uint8

// The topics.
const (
	OnFunctions Topic = 1 << iota // functions that exist, their names, addresses and sizes
	OnLines
	OnInlines
	OnCFI // STACK CFI and STACK WIN
	OnPublics
	OnModule    // MODULE, INFO
	OnVariables // parameters, local variables and their types; only if asked for

	// AllTopics are those that are compared if none is selected.
	AllTopics = OnFunctions | OnLines | OnInlines | OnCFI | OnPublics | OnModule
)

// Topics are the names of the topics in order of their bits.
var Topics = []string{"functions", "lines", "inlines", "cfi", "public", "module", "variables"}

// TopicOf returns the topic with the given name, or 0.
func TopicOf(name string) Topic {
	if i := slices.Index(Topics, name); i >= 0 {
		return 1 << i
	}
	return 0
}

// aspects returns the aspects of a change of kind k that belong to t.
func (t Topic) aspects(k Kind) (a Aspect) {
	switch k {
	case Publics:
		if t&OnPublics != 0 {
			return ^Aspect(0)
		}
		return 0
	case Types:
		if t&OnVariables != 0 {
			return ^Aspect(0)
		}
		return 0
	case CFI, Wins:
		if t&OnCFI != 0 {
			return ^Aspect(0)
		}
		return 0
	}
	const all = ^Aspect(0)
	const (
		lines   = LinesChanged | LinesShifted | PathsChanged | LostLines
		inlines = InlinesChanged | InlinesShifted | LostInlines
		rules   = CFIChanged | WinChanged | LostCFI
		values  = VariablesChanged | LostVariables
	)
	if t&OnFunctions != 0 {
		a |= all &^ (lines | inlines | rules | values)
	}
	if t&OnLines != 0 {
		a |= lines
	}
	if t&OnInlines != 0 {
		a |= inlines
	}
	if t&OnCFI != 0 {
		a |= rules
	}
	if t&OnVariables != 0 {
		a |= values
	}
	return a
}

// choose drops the differences of topics that are not selected.
func (r *Result) choose() {
	t := r.Options.Topics
	if t == 0 || t&AllTopics == AllTopics {
		return
	}
	kept := r.Changes[:0]
	for _, c := range r.Changes {
		if c.What &= t.aspects(c.Kind); c.What != 0 {
			kept = append(kept, c)
		}
	}
	r.Changes = kept
	if t&OnModule == 0 {
		r.Module = nil
	}
	if t&OnLines == 0 {
		r.Paths = nil
	}
}

// On reports whether a topic is compared.
func (o Options) On(t Topic) bool {
	on := o.Topics
	if on == 0 {
		on = AllTopics
	}
	return on&t != 0
}

// Kinds returns the kinds that are compared.
func (o Options) Kinds() (kinds []Kind) {
	for k := Functions; k <= Types; k++ {
		topic := [...]Topic{OnFunctions | OnLines | OnInlines | OnCFI | OnVariables, OnPublics, OnCFI, OnCFI, OnVariables}[k]
		if o.On(topic) {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// TopicNames returns the topics that are compared.
func (o Options) TopicNames() []string {
	names := []string{}
	for i, name := range Topics {
		if o.On(1 << i) {
			names = append(names, name)
		}
	}
	return names
}

// Ignored returns the names of the differences that are ignored.
func (o Options) Ignored() []string {
	names := []string{}
	for _, x := range []struct {
		name string
		on   bool
	}{{"addresses", o.IgnoreAddresses}, {"generator", o.IgnoreGenerator}, {"paths", o.IgnorePaths}} {
		if x.on {
			names = append(names, x.name)
		}
	}
	return names
}
