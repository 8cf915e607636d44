package sframe

import (
	"fmt"

	"github.com/symtool/symtool/symfmt/damage"
)

// maxShared bounds the bytes of rows that are read for all functions together, as a multiple of
// the rows' size: functions may share rows, and in a damaged section many functions may each
// refer to all of them.
const maxShared = 2

// RowBytes returns the total size of the rows in the section, in bytes.
func (s *Section) RowBytes() uint64 {
	sum := uint64(0)
	for i := range s.Headers {
		sum += uint64(len(s.Headers[i].rows))
	}
	return min(sum, uint64(len(s.data)))
}

// shared is the number of bytes of rows that may still be read.
type shared uint64

func (s *Section) shared() shared { return shared(1<<12 + maxShared*s.RowBytes()) }

// next returns the rows of FDE i, or only an error if too many rows have been read.
func (b *shared) next(s *Section, i int) Rows {
	rows := s.Rows(i)
	if *b == 0 {
		rows.left = 0
		rows.fail("rows of FDE %d left out: functions share rows more than %d times over", i, maxShared)
	}
	return rows
}

// took charges the rows that have been read.
func (b *shared) took(rows *Rows) { *b -= min(*b, shared(rows.pos-rows.f.rows)) }

// Damage calls report for everything that cannot be read: Problems, and damaged rows.
func (s *Section) Damage(report func(damage.Problem)) {
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
		if p := (damage.Problem{Lost: fmt.Sprintf("rows of FDE %d", i), Err: rows.err}); !known[p.Lost] {
			report(p)
		}
	}
}
