package symfmt

import (
	"slices"
	"strings"
)

// canonicalize sorts blocks and rows, and makes each block's rows follow those
// of the previous block. A row at the same address as the record before it is
// joined with that record, because the specification requires ascending
// addresses.
func (t *CFITable) canonicalize() {
	t.cleanRules()
	if t.inOrder() {
		return
	}
	blocks := slices.Clone(sorted(t.Blocks, compareBlocks))
	rows := make([]CFIRow, 0, len(t.Rows))
	for i := range blocks {
		b := &blocks[i]
		own := sorted(t.Rows[b.First:b.First+b.Count], compareRows)
		b.First = uint32(len(rows))
		marks := b.Marks
		for _, row := range own {
			changed := row.Marks != marks
			marks = row.Marks
			switch {
			case t.Rules.isEmpty(row.Rules) && !changed:
			case len(rows) > int(b.First) && rows[len(rows)-1].RVA == row.RVA:
				last := &rows[len(rows)-1]
				last.Rules, last.Marks = t.join(last.Rules, row.Rules), row.Marks
			case len(rows) == int(b.First) && row.RVA == b.RVA:
				b.Init, b.Marks = t.join(b.Init, row.Rules), row.Marks
			default:
				rows = append(rows, row)
			}
		}
		b.Count = uint32(len(rows)) - b.First
	}
	t.Blocks, t.Rows = blocks, rows
}

// join interns the rules in force after a and then b: b's rules replace a's for
// the same registers. A rule extends to the next word that ends in a colon.
func (t *CFITable) join(a, b RuleID) RuleID {
	var names []string
	rules := make(map[string][]string)
	for _, text := range []string{t.Rules.Text(a), t.Rules.Text(b)} {
		name := ""
		for word := range strings.FieldsSeq(text) {
			if !strings.HasSuffix(word, ":") {
				rules[name] = append(rules[name], word)
				continue
			}
			name = word
			if _, ok := rules[name]; !ok {
				names = append(names, name)
			}
			rules[name] = nil
		}
	}
	var words []string
	for _, name := range names {
		words = append(append(words, name), rules[name]...)
	}
	return t.Rules.Parse([]byte(strings.Join(words, " ")))
}

// cleanRules brings the texts that were read into the form in which they are
// written. A block without rules gets noRules; rows may have none.
func (t *CFITable) cleanRules() {
	for id := range RuleID(t.Rules.Len()) {
		if text := t.Rules.sets[id].text; text != "" {
			if c := cleanRules(text); c != text {
				t.Rules.replaceText(id, c)
			}
		}
	}
	for i := range t.Blocks {
		if b := &t.Blocks[i]; t.Rules.isEmpty(b.Init) {
			b.Init = t.Rules.Parse([]byte(noRules))
		}
	}
}

// inOrder reports whether canonicalize has nothing to move, join or drop.
func (t *CFITable) inOrder() bool {
	var next uint32
	for i := range t.Blocks {
		b := &t.Blocks[i]
		if b.First != next || i > 0 && compareBlocks(&t.Blocks[i-1], b) > 0 {
			return false
		}
		next += b.Count
		last, marks := b.RVA, b.Marks
		for _, row := range t.Rows[b.First:next] {
			if row.RVA <= last || row.Marks == marks && t.Rules.isEmpty(row.Rules) {
				return false
			}
			last, marks = row.RVA, row.Marks
		}
	}
	return int(next) == len(t.Rows)
}
