package sframe

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
)

// maxFindings is the number of findings that are reported for each rule; the others are
// only counted. A producer's mistake is usually in every function.
const maxFindings = 20

// checker is one run of the rules.
type checker struct {
	s   *Section
	p   Profile
	ctx Context

	section, header, fde, row, parts []*rule // the rules that apply in the profile, by kind

	at    *rule // the current rule
	seen  map[*rule]*tally
	found []Finding

	visit   visit
	extents []extent // extents of the rows of the header's functions
	shared  shared
	left    bool // there were more rows than shared allowed
}

// tally counts a rule's findings beyond maxFindings.
type tally struct {
	n     int
	first uint64 // the lowest offset of the unreported findings
}

// visit is a function being checked and, for rules of rows, one of its rows.
type visit struct {
	i    int // of the FDE
	f    *FDE
	h    *Header
	rows Rows
	prev Row
	n    int // number of rows before this one
}

// extent is the range of a function's rows.
type extent struct{ lo, hi uint64 }

// choose selects the rules of the profile.
func (c *checker) choose() {
	c.seen = map[*rule]*tally{}
	for _, r := range rules {
		if r.in.at(c.p) == 0 {
			continue
		}
		switch {
		case r.section != nil:
			c.section = append(c.section, r)
		case r.header != nil:
			c.header = append(c.header, r)
		case r.fde != nil:
			c.fde = append(c.fde, r)
		case r.row != nil:
			c.row = append(c.row, r)
		case r.parts != nil:
			c.parts = append(c.parts, r)
		}
	}
}

// report reports a finding of the current rule.
func (c *checker) report(offset uint64, format string, args ...any) {
	t := c.seen[c.at]
	if t == nil {
		t = new(tally)
		c.seen[c.at] = t
	}
	if t.n++; t.n <= maxFindings {
		c.add(c.at, offset, fmt.Sprintf(format, args...))
	} else if t.n == maxFindings+1 || offset < t.first {
		t.first = offset
	}
}

func (c *checker) add(r *rule, offset uint64, msg string) {
	c.found = append(c.found, Finding{offset, r.in.at(c.p), r.id, msg, r.ref})
}

// findings returns the findings, in order.
func (c *checker) findings() []Finding {
	for _, r := range rules {
		if t := c.seen[r]; t != nil && t.n > maxFindings {
			c.add(r, t.first, fmt.Sprintf("%d more of this rule", t.n-maxFindings))
		}
	}
	// Package sort is used because functions of package slices would be instantiated
	// anew.
	sort.SliceStable(c.found, func(i, j int) bool {
		a, b := &c.found[i], &c.found[j]
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Rule, b.Rule)) < 0
	})
	return slices.Compact(c.found) // functions that share rows cause duplicates
}

func (c *checker) checkHeader(h *Header) {
	for _, r := range c.header {
		c.at = r
		r.header(c, h)
	}
	c.extents = c.extents[:0]
	for i := h.First; i < h.First+h.Count; i++ {
		c.visit = visit{i: i, f: &c.s.FDEs[i], h: h}
		c.checkFunc(&c.visit)
	}
	sort.Slice(c.extents, func(i, j int) bool {
		a, b := c.extents[i], c.extents[j]
		return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.hi, b.hi)) < 0
	})
	for _, r := range c.parts {
		c.at = r
		r.parts(c, h)
	}
}

func (c *checker) checkFunc(v *visit) {
	for _, r := range c.fde {
		c.at = r
		r.fde(c, v)
	}
	if v.f.addrSize == 0 || v.f.lost || v.f.NumRows == 0 && v.h.Version < 3 {
		return
	}
	if c.shared == 0 {
		c.left = true
		return
	}
	v.rows = c.s.Rows(v.i)
	for ; v.rows.Next(); v.n++ {
		for _, r := range c.row {
			c.at = r
			r.row(c, v)
		}
		v.prev = v.rows.Row
	}
	c.rowsEnd(v)
}

// rowsEnd records the range of the function's rows, and the damage that ended them.
func (c *checker) rowsEnd(v *visit) {
	e := extent{c.s.RowsOffset(v.i), v.h.fres + uint64(v.rows.pos)}
	c.shared.took(&v.rows)
	if v.h.Version >= 3 {
		e.lo -= attrSize
	}
	if err := v.rows.Err(); err != nil {
		c.at = checkDamage
		c.damage(err)
		return
	}
	c.extents = append(c.extents, e)
}
