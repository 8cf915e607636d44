package report

import (
	"fmt"
	"strings"

	"github.com/symtool/symtool/lint"
	"github.com/symtool/symtool/lint/coverage"
)

// The picture has a band each for functions, lines and call frame information. The page's script
// and style know these units, too.
const (
	bandHeight = 40
	bandPitch  = 44
	// leastHas and leastLacks are the minimum heights for what is present, or missing, in a column.
	leastHas, leastLacks = 1, 9
)

// picture is the whole map, drawn.
type picture struct {
	Width, Height int
	Bands         []pictureBand
	Cuts          string // positions where addresses are left out
	Ticks         []pictureTick
}

type pictureBand struct {
	Class string
	Path  string
}

// pictureTick is an address below the picture.
type pictureTick struct {
	Percent string
	Address string
}

// pictureTicks is the number of addresses shown.
const pictureTicks = 6

func newPicture(a *axis, m *lint.Map, funcs []coverage.Extent) *picture {
	p := &picture{Width: a.width, Height: 3 * bandPitch}
	add := func(row int, class string, list []coverage.Extent, least int) {
		p.Bands = append(p.Bands, pictureBand{class, bandPath(a.columns(list), row*bandPitch+bandHeight, least)})
	}
	add(0, "func", funcs, leastHas)
	add(0, "nofunc", without(m.CFI, funcs), leastLacks)
	add(1, "lines", m.Lines, leastHas)
	add(1, "gap", without(funcs, m.Lines), leastLacks)
	add(2, "cfi", m.CFI, leastHas)
	add(2, "gap", without(funcs, m.CFI), leastLacks)
	var cuts strings.Builder
	for _, start := range a.starts[min(1, len(a.starts)):] {
		fmt.Fprintf(&cuts, "M%.1f 0V%d", float64(start)/float64(a.step), p.Height)
	}
	p.Cuts = cuts.String()
	if len(a.pieces) == 0 {
		return p
	}
	for i := range pictureTicks {
		at := uint64(a.width) * a.step / pictureTicks * uint64(i)
		p.Ticks = append(p.Ticks, pictureTick{fmt.Sprintf("%.2f", 100*float64(i)/pictureTicks), hexAddr(uint64(a.address(at)))})
	}
	return p
}

// bandPath returns the outline of columns that stand on a line.
func bandPath(shares []uint16, ground, least int) string {
	var b strings.Builder
	last := 0
	for x := 0; x <= len(shares); x++ {
		h := 0
		if x < len(shares) && shares[x] > 0 {
			h = max(least, int(shares[x])*bandHeight/1000)
		}
		switch {
		case h == last:
			continue
		case last == 0:
			fmt.Fprintf(&b, "M%d %dV%d", x, ground, ground-h)
		case h == 0:
			fmt.Fprintf(&b, "H%dV%dz", x, ground)
		default:
			fmt.Fprintf(&b, "H%dV%d", x, ground-h)
		}
		last = h
	}
	return b.String()
}
