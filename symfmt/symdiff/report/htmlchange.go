package report

import (
	"unicode/utf8"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/symfmt/symdiff"
)

// htmlChange is a change on the page.
type htmlChange struct {
	Kind     string
	Aspects  string // names, separated by blanks
	Sign     string
	Class    string // CSS class of the sign
	Worse    bool
	Address  string
	Size     string
	Name     string
	Text     string
	Together int // number of functions that moved together, if more than one
	Sections []htmlSection
	Unlisted bool // it has lines for which the page has no room

	what symdiff.Aspect
}

// htmlSection holds the lines of a part of a function, before and now.
type htmlSection struct {
	Name string
	Rows []htmlRow
	Cut  int
}

// htmlRow is a pair of lines, one of each side. Skipped lines are a row of their own.
type htmlRow struct {
	Class    string // "same", "gone", "new", "other", "skipped"
	Old, New htmlText
	Skipped  int
}

// htmlText is a line: Mid is the part that differs from the other side's line.
type htmlText struct{ Head, Mid, Tail string }

func newHTMLChange(r *symdiff.Result, c symdiff.Change, d *symdiff.Detail) htmlChange {
	sign, _, s := signOf(c, d)
	x := htmlChange{
		Kind: c.Kind.String(), Aspects: c.What.String(), Worse: c.What.Regression(), what: c.What,
		Sign: sign, Address: hex(uint64(s.RVA)), Name: oneLine(nameOf(s), maxPageName), Text: oneLine(sentence(r, c, d), 2*maxPageName),
	}
	x.Class = map[string]string{"-": "gone", "+": "new", "~": "other"}[sign]
	if sign == "-" {
		x.Sign = "\u2212" // as wide as the other signs
	}
	if s.Size > 0 {
		x.Size = hex(s.Size)
	}
	return x
}

func (x *htmlChange) cost() int {
	return changeCost + len(x.Name) + len(x.Text) + len(x.Aspects)
}

// sideBySide puts removed lines next to added ones. cost is their size on the page in bytes.
func sideBySide(sections []symdiff.Section) (out []htmlSection, cost int) {
	for _, s := range sections {
		x := htmlSection{Name: s.Name, Cut: s.Cut}
		for i := 0; i < len(s.Ops); {
			if len(x.Rows) >= maxPageRows {
				x.Cut += len(s.Ops) - i
				break
			}
			var n int
			if s.Ops[i].Sign == ' ' {
				n = x.same(s.Ops, i)
			} else {
				n = x.differ(s.Ops[i:])
			}
			i += n
		}
		for i := range x.Rows {
			cost += rowCost + x.Rows[i].length()
		}
		out = append(out, x)
	}
	return out, cost
}

func (r *htmlRow) length() int { return r.Old.length() + r.New.length() }
func (t htmlText) length() int { return len(t.Head) + len(t.Mid) + len(t.Tail) }

// same adds the unchanged lines starting at i: those next to a difference, and the
// number of the others. It returns how many there are.
func (x *htmlSection) same(ops []symdiff.Op, i int) (n int) {
	const context = 2
	skipped := 0
	skip := func() {
		if skipped > 0 {
			x.Rows = append(x.Rows, htmlRow{Class: "skipped", Skipped: skipped})
		}
		skipped = 0
	}
	for ; i+n < len(ops) && ops[i+n].Sign == ' '; n++ {
		if !near(ops, i+n, context) {
			skipped++
			continue
		}
		skip()
		text := htmlText{Head: text.Printable(ops[i+n].Text)}
		x.Rows = append(x.Rows, htmlRow{Class: "same", Old: text, New: text})
	}
	skip()
	return n
}

// differ adds the changed lines at the start of ops and returns their number.
func (x *htmlSection) differ(ops []symdiff.Op) int {
	n := 0
	var old, new []string
	for ; n < len(ops) && ops[n].Sign != ' '; n++ {
		if ops[n].Sign == '-' {
			if new != nil {
				break // removed lines come first
			}
			old = append(old, text.Printable(ops[n].Text))
		} else {
			new = append(new, text.Printable(ops[n].Text))
		}
	}
	for i := range max(len(old), len(new)) {
		switch {
		case i >= len(new):
			x.Rows = append(x.Rows, htmlRow{Class: "gone", Old: htmlText{Mid: old[i]}})
		case i >= len(old):
			x.Rows = append(x.Rows, htmlRow{Class: "new", New: htmlText{Mid: new[i]}})
		default:
			a, b := unlike(old[i], new[i])
			x.Rows = append(x.Rows, htmlRow{Class: "other", Old: a, New: b})
		}
	}
	return n
}

// unlike splits two lines into what they share at their starts and ends and what differs.
func unlike(a, b string) (x, y htmlText) {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	for head > 0 && head < len(a) && !utf8.RuneStart(a[head]) || head > 0 && head < len(b) && !utf8.RuneStart(b[head]) {
		head--
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	for tail > 0 && !utf8.RuneStart(a[len(a)-tail]) {
		tail--
	}
	return htmlText{a[:head], a[head : len(a)-tail], a[len(a)-tail:]}, htmlText{b[:head], b[head : len(b)-tail], b[len(b)-tail:]}
}
