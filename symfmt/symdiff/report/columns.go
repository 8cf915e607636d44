package report

import "strings"

// columns are the rows of a table in text. The first row are the titles.
type columns struct {
	rows [][]string
	left int // how many columns in front are aligned to the left; the last one always is if tail
	tail bool
}

func (c *columns) add(cells ...string) { c.rows = append(c.rows, cells) }

// lines returns the table's lines, without blanks at their ends.
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

// width returns how many characters a terminal shows.
func width(s string) int {
	n := 0
	for range s {
		n++
	}
	return n
}
