package binfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/symfmt"
)

// CFICheck is the share of the code without STACK CFI, as lint measures it in the symbol file
// being written.
type CFICheck struct {
	Of      string         `json:"of"`      // "code bytes"
	Total   uint64         `json:"total"`   // number of them
	Without uint64         `json:"without"` // number of them without STACK CFI
	Worst   []coverage.Gap `json:"worst,omitempty"`

	Blocks int `json:"-"` // STACK CFI INIT records
}

// maxNamedGaps is the maximum number of functions that the finding names. JSON lists more.
const maxNamedGaps = 3

// NameGaps sets, in gaps, the names of the functions that contain them.
func NameGaps(m *symfmt.Module, gaps []coverage.Gap) {
	for i := range gaps {
		g := &gaps[i]
		switch g.Kind {
		case coverage.GapFunc:
			if k := slices.IndexFunc(m.Funcs, func(f symfmt.Func) bool { return f.RVA == g.RVA && f.Size == g.Size }); k >= 0 {
				g.Name = m.Funcs[k].Name
			}
		case coverage.GapPublic:
			if k := slices.IndexFunc(m.Publics, func(p symfmt.Public) bool { return p.RVA == g.RVA }); k >= 0 {
				g.Name = m.Publics[k].Name
			}
		}
	}
}

// Finding returns the sentence about code without CFI, or "" if at least atLeast percent of the
// code has CFI.
func (c *CFICheck) Finding(atLeast float64) string {
	switch {
	case c.Total == 0 && c.Blocks > 0:
		return "the share of the code with STACK CFI is unknown: the file has no code and no names"
	case c.Total == 0:
		return "no STACK CFI, and no code but padding"
	case 100*float64(c.Total-c.Without) >= atLeast*float64(c.Total):
		return ""
	}
	percent := max(0.01, 100*float64(c.Without)/float64(c.Total))
	return fmt.Sprintf("%d of %d %s (%.2f %%) without STACK CFI: %s", c.Without, c.Total, c.Of, percent, LargestGaps(c.Worst))
}

// LargestGaps lists the functions with the largest gaps, and the number of bytes in each gap.
func LargestGaps(gaps []coverage.Gap) string {
	var list []string
	for _, g := range gaps[:min(len(gaps), maxNamedGaps)] {
		name := g.Name
		if name == "" {
			name = "no name"
		}
		list = append(list, fmt.Sprintf("%s (%d at %x)", name, g.Missing, g.RVA))
	}
	if len(gaps) > maxNamedGaps {
		list = append(list, "...")
	}
	return strings.Join(list, ", ")
}
