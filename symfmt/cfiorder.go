package symfmt

import "slices"

// canonicalize sorts blocks and rows, and makes the rows of a block follow
// those of the block before it.
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
		for _, row := range own {
			if t.Rules.Text(row.Rules) != "" {
				rows = append(rows, row)
			}
		}
		b.Count = uint32(len(rows)) - b.First
	}
	t.Blocks, t.Rows = blocks, rows
}

// cleanRules makes the rule texts as they are written. A block without rules
// gets noRules; an empty text stays for rows, which are then dropped.
func (t *CFITable) cleanRules() {
	for i, text := range t.Rules.texts {
		if c := cleanRules(text); c != text {
			t.Rules.texts[i] = c
			delete(t.Rules.ids, text)
			if _, ok := t.Rules.ids[c]; !ok {
				t.Rules.ids[c] = RuleID(i)
			}
		}
	}
	for i := range t.Blocks {
		if b := &t.Blocks[i]; t.Rules.Text(b.Init) == "" {
			b.Init = t.Rules.Intern([]byte(noRules))
		}
	}
}

// inOrder reports whether canonicalize has nothing to move or drop.
func (t *CFITable) inOrder() bool {
	var next uint32
	for i := range t.Blocks {
		b := &t.Blocks[i]
		if b.First != next || i > 0 && compareBlocks(&t.Blocks[i-1], b) > 0 {
			return false
		}
		next += b.Count
		rows := t.Rows[b.First:next]
		for j := range rows {
			if j > 0 && rows[j-1].RVA > rows[j].RVA || t.Rules.Text(rows[j].Rules) == "" {
				return false
			}
		}
	}
	return int(next) == len(t.Rows)
}
