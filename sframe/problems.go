package sframe

import "fmt"

// maxShared bounds the bytes of rows that are read for all functions together, in
// sizes of the rows: functions may share rows, and in a damaged section each of many
// may refer to all of them.
const maxShared = 2

// RowBytes returns how many bytes of rows the section has.
func (s *Section) RowBytes() uint64 {
	sum := uint64(0)
	for i := range s.Headers {
		sum += uint64(len(s.Headers[i].rows))
	}
	return min(sum, uint64(len(s.data)))
}

// shared counts what is left of it.
type shared uint64

func (s *Section) shared() shared { return shared(1<<12 + maxShared*s.RowBytes()) }

// next returns the rows of FDE i, or none but the error that there were too many.
func (b *shared) next(s *Section, i int) Rows {
	rows := s.Rows(i)
	if *b == 0 {
		rows.left = 0
		rows.fail("rows of FDE %d left out: functions share them more than %d times over", i, maxShared)
	}
	return rows
}

// took takes what was read of rows.
func (b *shared) took(rows *Rows) { *b -= min(*b, shared(rows.pos-rows.f.rows)) }

// Damage calls report with everything that cannot be read: Problems, and rows.
func (s *Section) Damage(report func(Problem)) {
	known := map[string]bool{}
	for _, p := range s.Problems {
		known[p.Lost] = true
		report(p)
	}
	left := s.shared()
	for i := range s.FDEs {
		rows := left.next(s, i)
		for rows.Next() {
		}
		left.took(&rows)
		if rows.err == nil {
			continue
		}
		if p := (Problem{Lost: fmt.Sprintf("rows of FDE %d", i), Err: rows.err}); !known[p.Lost] {
			report(p)
		}
	}
}
