package symfmt

// canon is a module in canonical form: the order of its records, and what the text needs that the
// module does not hold. It is not modified once it is made.
type canon struct {
	m       *Module
	old     bool   // INLINE and INLINE_ORIGIN have the old form
	mixed   bool   // INLINEs with and without a call file: noFile is declared
	noFile  FileID // stands for unknown call files
	funcs   order
	files   order
	origins order
	publics order
	wins    order
	blocks  order
	rules   []string // cleaned, indexed by RuleID
}

// newCanon orders the records of m; passed is WriteOptions.Passed.
func newCanon(m *Module, passed func()) canon {
	c := canon{
		m:       m,
		funcs:   orderOf(m.Funcs, compareFuncs),
		files:   orderOf(m.Files, compareFiles),
		origins: orderOf(m.Origins, compareOrigins),
		publics: orderOf(m.Publics, comparePublics),
		wins:    orderOf(m.Wins, compareWins),
		blocks:  orderOf(m.CFI.Blocks, compareBlocks),
	}
	for id := range m.CFI.Rules.Len() {
		c.rules = append(c.rules, cleanRules(m.CFI.Rules.Text(RuleID(id))))
	}
	forms := m.inlineForms(passed)
	c.old = forms == bodyOldInlines
	if c.mixed = forms == bodyOldInlines|bodyNewInlines; c.mixed {
		c.noFile = m.freeFileID()
	}
	return c
}

// repeatsFile and repeatsOrigin report whether the ith record has the number of the record before
// it, in which case it is not written.
func (c *canon) repeatsFile(i int) bool {
	return i > 0 && c.m.Files[c.files.at(i-1)].ID == c.m.Files[c.files.at(i)].ID
}

func (c *canon) repeatsOrigin(i int) bool {
	return i > 0 && c.m.Origins[c.origins.at(i-1)].ID == c.m.Origins[c.origins.at(i)].ID
}
