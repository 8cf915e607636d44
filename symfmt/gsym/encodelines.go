package gsym

// window is the number of line differences that a table's special opcodes cover:
// with 15, they reach up to 16 bytes of code, which is what most rows need.
const window = 15

// deltaCounts counts small line differences.
type deltaCounts struct {
	n [2*maxDelta + 1]uint32
}

const maxDelta = 64

// rowsFrom returns the rows in force from an offset on: the row there, and those
// after it.
func rowsFrom(rows []row, from uint32) []row {
	i := 0
	for i+1 < len(rows) && rows[i+1].off <= from {
		i++
	}
	return rows[i:]
}

// lineTable appends the line table for code from an offset on.
func (e *encoder) lineTable(from uint32) {
	rows := rowsFrom(e.s.rows, from)
	low, high := e.s.deltas.best(rows)
	lines := rows[0].num
	e.sleb(low)
	e.sleb(high)
	e.uleb(uint64(lines))
	file, at := uint32(1), from
	for i := range rows {
		r := &rows[i]
		if f := e.rowFile(r); f != file {
			e.buf = append(e.buf, opSetFile)
			e.uleb(uint64(f))
			file = f
		}
		delta, advance := int64(r.num)-int64(lines), max(r.off, from)-at
		if op := specialOp(low, high, delta, advance); op != 0 {
			e.buf = append(e.buf, op)
		} else {
			if delta != 0 {
				e.buf = append(e.buf, opAdvanceLine)
				e.sleb(delta)
			}
			e.buf = append(e.buf, opAdvancePC)
			e.uleb(uint64(advance))
		}
		lines, at = r.num, at+advance
	}
	e.buf = append(e.buf, opEnd)
}

func (e *encoder) rowFile(r *row) uint32 {
	if r.none {
		return e.w.files.empty
	}
	return e.w.file(r.file)
}

// specialOp returns the special opcode for a step, or 0.
func specialOp(low, high, delta int64, advance uint32) byte {
	if delta < low || delta > high || advance > 255 {
		return 0
	}
	op := opFirstSpecial + (delta - low) + int64(advance)*(high-low+1)
	if op > 255 {
		return 0
	}
	return byte(op)
}

// best returns the line differences that special opcodes serve best: of all
// windows over them, the one with the most rows.
func (d *deltaCounts) best(rows []row) (low, high int64) {
	if len(rows) == 1 {
		return 0, 0
	}
	least, most := maxDelta, -maxDelta
	for i := 1; i < len(rows); i++ {
		if delta := int64(rows[i].num) - int64(rows[i-1].num); -maxDelta <= delta && delta <= maxDelta {
			d.n[delta+maxDelta]++
			least, most = min(least, int(delta)), max(most, int(delta))
		}
	}
	if least > most {
		return 0, 0
	}
	first, last := least, most
	if most-least >= window {
		first, last = d.bestWindow(least, most)
	}
	clear(d.n[least+maxDelta : most+maxDelta+1])
	return int64(first), int64(last)
}

// bestWindow finds that window and trims unused differences at its ends.
func (d *deltaCounts) bestWindow(least, most int) (first, last int) {
	sum, best := uint32(0), uint32(0)
	for end := least; end <= most; end++ {
		sum += d.n[end+maxDelta]
		if end-window >= least {
			sum -= d.n[end-window+maxDelta]
		}
		if sum > best {
			best, first = sum, end-window+1
		}
	}
	last = min(first+window-1, most)
	first = max(first, least)
	for d.n[first+maxDelta] == 0 {
		first++
	}
	for d.n[last+maxDelta] == 0 {
		last--
	}
	return first, last
}
