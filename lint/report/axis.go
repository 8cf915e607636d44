package report

import (
	"fmt"
	"sort"

	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/lint/internal/extent"
	"github.com/symtool/symtool/symfmt"
)

// axis is the address axis of a chart: the pieces of the module, concatenated. A position on the
// axis is in bytes from its start.
type axis struct {
	pieces []coverage.Extent
	starts []uint64 // positions on the axis
	width  int      // columns
	step   uint64   // bytes per column
}

func hexAddr(v uint64) string { return fmt.Sprintf("%x", v) }

// newAxis returns the axis of the given joined pieces, with at most the given number of columns.
func newAxis(list []coverage.Extent, columns int) *axis {
	var code uint64
	for _, e := range list {
		code = extent.Sum(code, e.Size())
	}
	a := &axis{pieces: list}
	for hole := max(code/holePart, minHole); ; hole = extent.Sum(hole, hole) {
		a.pieces = bridged(list, hole)
		if len(a.pieces) <= maxPieces {
			break
		}
	}
	var end uint64
	for _, p := range a.pieces {
		a.starts = append(a.starts, end)
		end = extent.Sum(end, p.Size())
	}
	a.step = max(1, end/uint64(columns))
	if a.step < ^uint64(0)/uint64(columns) && a.step*uint64(columns) < end {
		a.step++
	}
	a.width = int(min(uint64(columns), max(1, (end-min(end, 1))/a.step+1)))
	return a
}

// bridged joins pieces across holes smaller than hole.
func bridged(list []coverage.Extent, hole uint64) (out []coverage.Extent) {
	for _, e := range list {
		if n := len(out); n > 0 && uint64(e.RVA-out[n-1].End) < hole {
			out[n-1].End = e.End
			continue
		}
		out = append(out, e)
	}
	return out
}

// at returns the position of an address, which is in a piece or at the end of one.
func (a *axis) at(rva uint64) uint64 {
	i := sort.Search(len(a.pieces), func(i int) bool { return uint64(a.pieces[i].RVA) > rva }) - 1
	if i < 0 {
		return 0
	}
	return a.starts[i] + rva - uint64(a.pieces[i].RVA)
}

// address returns the address at a position on the axis.
func (a *axis) address(at uint64) symfmt.RVA {
	i := sort.Search(len(a.starts), func(i int) bool { return a.starts[i] > at }) - 1
	if i < 0 {
		return 0
	}
	return a.pieces[i].RVA + symfmt.RVA(min(at-a.starts[i], a.pieces[i].Size()))
}

// columns returns how much of each column a list covers, in thousandths. The list is sorted,
// without overlaps.
func (a *axis) columns(list []coverage.Extent) []uint16 {
	bytes := make([]uint64, a.width)
	for _, e := range list {
		from := a.at(uint64(e.RVA))
		for size := e.Size(); size > 0; {
			i := from / a.step
			n := min(size, (i+1)*a.step-from)
			if i >= uint64(a.width) || n == 0 {
				break // rounding: beyond the last column
			}
			bytes[i] += n
			from, size = from+n, size-n
		}
	}
	shares := make([]uint16, a.width)
	for i, n := range bytes {
		shares[i] = uint16(min(1000, float64(n)*1000/float64(a.step)+0.5))
		if n > 0 && shares[i] == 0 {
			shares[i] = 1
		}
	}
	return shares
}
