package report

import "strings"

// columns are the rows of a text table. The first row holds the titles.
type columns struct {
	rows [][]string
	left int // number of left-aligned columns at the start; the last column is left-aligned if tail is set
	tail bool
}

func (c *columns) add(cells ...string) { c.rows = append(c.rows, cells) }

// lines returns the table's lines without trailing blanks.
func (c *columns) lines() []string {
	var widths []int
	for _, row := range c.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], width(cell))
		}
	}
	out := make([]string, len(c.rows))
	for n, row := range c.rows {
		var b strings.Builder
		for i, cell := range row {
			blanks := strings.Repeat(" ", widths[i]-width(cell))
			if i > 0 {
				b.WriteString("  ")
			}
			switch {
			case i < c.left || c.tail && i == len(widths)-1:
				b.WriteString(cell + blanks)
			default:
				b.WriteString(blanks + cell)
			}
		}
		out[n] = strings.TrimRight(b.String(), " ")
	}
	return out
}

// width returns the number of columns that s takes on a terminal.
func width(s string) int {
	n := 0
	for range s {
		n++
	}
	return n
}
