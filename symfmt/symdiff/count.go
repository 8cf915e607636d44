package symdiff

import "fmt"

// Count counts the records of a kind.
type Count struct {
	Before, After int
	Same          int // of After: equal in everything that is compared
	By            map[Aspect]int
	Regressions   int
}

// count counts changes by kind.
func (r *Result) count() {
	of := func(k Kind, before, after int) {
		r.Counts[k] = &Count{Before: before, After: after, Same: after, By: map[Aspect]int{}}
	}
	of(Functions, len(r.Old.Funcs), len(r.New.Funcs))
	of(Publics, len(r.Old.Publics), len(r.New.Publics))
	of(CFI, len(r.Old.pieces), len(r.New.pieces))
	of(Wins, len(r.Old.Wins), len(r.New.Wins))
	if v, w := r.Old.variables, r.New.variables; v != nil && w != nil {
		of(Types, len(v.types), len(w.types))
	}
	for _, c := range r.Changes {
		n := r.Counts[c.Kind]
		if c.New != None {
			n.Same--
		}
		if c.What.Regression() {
			n.Regressions++
		}
		for bit := Added; bit <= Lost; bit <<= 1 {
			if c.What&bit != 0 {
				n.By[bit]++
			}
		}
	}
}

// Coverage counts the code that has call frame information and lines.
type Coverage struct {
	Bytes   uint64 // size of all functions; overlapping bytes count twice
	CFI     uint64 // of Bytes, those with call frame information
	Lines   uint64 // of Bytes, those with lines
	AllCFI  uint64 // bytes with call frame information, inside functions or not
	Entries int    // functions whose first byte has call frame information
	Named   int    // functions with a name

	Variables int // functions with variables, if these are compared
}

// WorseCoverage describes which shares of the whole code are smaller than
// before, by more than Options.Tolerance. New functions alone may cause this.
func (r *Result) WorseCoverage() (out []string) {
	t := r.Options.Topics
	b, a := r.Before, r.After
	if (t == 0 || t&OnCFI != 0) && r.fell(b.CFI, b.Bytes, a.CFI, a.Bytes) {
		out = append(out, fmt.Sprintf("a smaller share of the code has call frame information: %s before, %s now", percent(b.CFI, b.Bytes), percent(a.CFI, a.Bytes)))
	}
	if (t == 0 || t&OnLines != 0) && r.fell(b.Lines, b.Bytes, a.Lines, a.Bytes) {
		out = append(out, fmt.Sprintf("a smaller share of the code has lines: %s before, %s now", b.LineShare(), a.LineShare()))
	}
	return out
}

// fell reports whether a share fell by more than the tolerance.
func (r *Result) fell(old, oldSize, new, newSize uint64) bool {
	if oldSize == 0 || newSize == 0 {
		return false
	}
	tolerance := r.Options.Tolerance
	if tolerance == 0 {
		tolerance = DefaultTolerance
	}
	return 100*(float64(old)/float64(oldSize)-float64(new)/float64(newSize)) > max(tolerance, 0)
}

// percent returns a share in percent. Only a complete share is shown as 100 %.
func percent(n, of uint64) string {
	switch {
	case of == 0:
		return "none"
	case n == 0:
		return "0 %"
	case n == of:
		return "100 %"
	}
	return fmt.Sprintf("%.2f %%", min(99.99, 100*float64(n)/float64(of)))
}

// CFIShare returns the share of the functions' code with call frame information or,
// in a file without functions, the number of bytes with it.
func (c *Coverage) CFIShare() string {
	if c.Bytes == 0 && c.AllCFI > 0 {
		return fmt.Sprintf("%d bytes", c.AllCFI)
	}
	return percent(c.CFI, c.Bytes)
}

// LineShare returns the share of the functions' code with lines.
func (c *Coverage) LineShare() string { return percent(c.Lines, c.Bytes) }

func (o *Outline) coverage() (c Coverage) {
	for i := range o.Funcs {
		f := &o.Funcs[i]
		c.Bytes += f.Size
		c.CFI += o.Covered(f.RVA, f.Size)
		c.Lines += f.Covered
		c.Entries += int(min(1, o.Covered(f.RVA, 1)))
		if f.Nameless == nameGood {
			c.Named++
		}
		if o.variables != nil && o.variables.of(f) != nil {
			c.Variables++
		}
	}
	for _, s := range o.CFI {
		if o.Rows.covers(s.Row) {
			c.AllCFI += uint64(s.Size)
		}
	}
	return c
}
