package symfmt

import (
	"fmt"
	"slices"
	"strings"
)

// Loss is a kind of information in a module that a format cannot hold. A writer of
// such a format has a function Losses, which returns its losses before anything is
// written.
type Loss struct {
	What  string // in the plural: "STACK CFI records", "line numbers over 65535"
	Count int
	Why   string // "GSYM has no call frame information"; "" where What says it all

	// Whole is the kind of record that What refers to, if none of them is written.
	Whole Kind
}

// String returns a text such as "3 FUNC records of size 0 (why)" or "1 FUNC record of size 0
// (why)".
func (l Loss) String() string {
	what := l.What
	if l.Count == 1 {
		what = singular(what)
	}
	if l.Why == "" {
		return fmt.Sprintf("%d %s", l.Count, what)
	}
	return fmt.Sprintf("%d %s (%s)", l.Count, what, l.Why)
}

// singular removes the s of the first word in What that ends in one.
func singular(what string) string {
	words := strings.Split(what, " ")
	for i, w := range words {
		if one, ok := strings.CutSuffix(w, "s"); ok {
			words[i] = one
			break
		}
	}
	return strings.Join(words, " ")
}

// LossList collects the losses of a module.
type LossList []Loss

// Add adds a loss unless count is 0.
func (l *LossList) Add(what string, count int, why string) {
	if count > 0 {
		*l = append(*l, Loss{What: what, Count: count, Why: why})
	}
}

// AddWhole adds records that are not written at all. which follows the name of
// the kind and says which records they are: "FUNC records of size 0".
func (l *LossList) AddWhole(k Kind, which string, count int, why string) {
	if count > 0 {
		*l = append(*l, Loss{What: strings.TrimSpace(k.plural() + " " + which), Count: count, Why: why, Whole: k})
	}
}

// Kept returns how many records of the given kinds a writer with these losses writes.
func (m *Module) Kept(losses []Loss, kinds ...Kind) int {
	counts, kept := m.counts(), 0
	for _, k := range kinds {
		kept += counts[k]
	}
	for _, l := range losses {
		if slices.Contains(kinds, l.Whole) {
			kept -= l.Count
		}
	}
	return kept
}

// counts returns the number of records of each kind, indexed by Kind.
func (m *Module) counts() (n [KindCFI + 1]int) {
	n[KindModule], n[KindInfo] = 1, len(m.Infos)
	n[KindFile], n[KindInlineOrigin] = len(m.Files), len(m.Origins)
	n[KindFunc], n[KindPublic] = len(m.Funcs), len(m.Publics)
	for i := range m.Funcs {
		inlines, lines := m.Funcs[i].Body.Counts()
		n[KindInline] += inlines
		n[KindLine] += lines
	}
	n[KindStackWin], n[KindCFIInit], n[KindCFI] = len(m.Wins), len(m.CFI.Blocks), m.CFI.TextRows()
	return n
}

// AddVars adds the variables of m, for a format that cannot hold them.
func (l *LossList) AddVars(m *Module) {
	if m.Vars != nil {
		l.Add("variables", len(m.Vars.Vars)-1, "the format has no place for them")
	}
}

// LossOf returns the loss of all the module's records of the given kinds.
func (m *Module) LossOf(why string, kinds ...Kind) (losses []Loss) {
	counts := m.counts()
	for _, k := range kinds {
		if n := counts[k]; n > 0 {
			losses = append(losses, Loss{What: k.plural(), Count: n, Why: why, Whole: k})
		}
	}
	return losses
}

// plural returns the name for several records of a kind.
func (k Kind) plural() string {
	if k == KindLine {
		return "line records"
	}
	return k.String() + " records"
}
