package names

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/intern"
	"github.com/symtool/symtool/internal/par"
)

// laterName marks an ID that is an index into Table.later.
const laterName ID = 1 << 31

// Offsets of all tables are sorted together with the numbers of their names.
const (
	laterBits    = 28                    // of a number
	mostLater    = 1 << laterBits        // names
	mostLaterOff = 1 << (64 - laterBits) // bytes of .debug_str
)

// ReadLater leaves names in .debug_str of d for [Join], as far as there is room. Up to jobs tables may do so.
func (t *Table) ReadLater(d *units.Data, jobs int) { t.main, t.most = d, mostLater/jobs }

// readLater returns the number of the name at an offset. It reports false if the name must be read now.
func (t *Table) readLater(d *units.Data, off uint64) (ID, bool) {
	if d != t.main || len(t.later) >= t.most || off >= min(uint64(len(d.Str)), mostLaterOff) {
		return 0, false
	}
	t.later = append(t.later, off)
	return laterName | ID(len(t.later)-1), true
}

// ErrNow means that names must be read together with units: a name is empty, so that another attribute provides it,
// or .debug_str has become unreadable.
var ErrNow = errors.New("names must be read with the units")

// Common maps the names of a [Table] to their common numbers.
type Common struct {
	texts []uint32 // nil if the Table's numbers are the common ones
	later []uint32 // of names that were read later
}

// Changed reports whether any common number differs from the Table's.
func (c *Common) Changed() bool { return c.texts != nil || c.later != nil }

// Of returns the common number of a name.
func (c *Common) Of(id ID) ID {
	switch {
	case id&laterName != 0:
		return ID(c.later[id&^laterName])
	case int(id) < len(c.texts):
		return ID(c.texts[id])
	}
	return id
}

// Join gives the names of all tables common numbers, which are those in the first result. It reads the names that
// were left for later from d, which is nil if there are none. The tables are empty afterwards.
func Join(ctx context.Context, d *units.Data, tables []*Table, jobs int) (*intern.Table, []Common, error) {
	all := &intern.Table{}
	common := make([]Common, len(tables)) // texts of the first one stays nil
	for i, t := range tables {
		if i == 0 {
			*all = t.texts
		} else {
			common[i].texts = all.Join(&t.texts)
		}
	}
	later := laterNames{d: d, names: all, common: common}
	if err := later.read(ctx, tables, jobs); err != nil {
		return nil, nil, err
	}
	for _, t := range tables {
		*t = Table{}
	}
	return all, common, nil
}

// laterNames reads names from .debug_str.
type laterNames struct {
	d      *units.Data
	names  *intern.Table
	common []Common // by table
}

// laterStep is the number of bytes of .debug_str from which names are read at once.
const laterStep = 1 << 20

// read reads the names of all tables.
func (l *laterNames) read(ctx context.Context, tables []*Table, jobs int) error {
	order, bases, err := sortLater(ctx, tables, jobs)
	if err != nil || len(order) == 0 {
		return err
	}
	common := make([]uint32, len(order))
	for i, t := range tables {
		l.common[i].later = common[bases[i]:][:len(t.later)]
	}
	pieces := cutLater(order)
	return par.Ordered(ctx, jobs, len(pieces),
		func(_ context.Context, _, i int) (*intern.Table, error) { return l.piece(pieces[i]) },
		func(i int, texts *intern.Table) error {
			l.join(pieces[i], texts, common)
			return nil
		})
}

// sortLater returns the offsets of all names, in order, each with the number of its name in the low bits. The
// numbers of table i start at bases[i].
func sortLater(ctx context.Context, tables []*Table, jobs int) (order []uint64, bases []int, err error) {
	n := 0
	for _, t := range tables {
		bases = append(bases, n)
		n += len(t.later)
	}
	lists := make([][]uint64, len(tables))
	err = par.Each(ctx, jobs, len(tables), func(_ context.Context, _, i int) error {
		list := tables[i].later
		for k, off := range list {
			list[k] = off<<laterBits | uint64(bases[i]+k)
		}
		slices.Sort(list)
		lists[i] = list
		return nil
	})
	for len(lists) > 1 {
		merged := lists[:0]
		for i := 0; i < len(lists); i += 2 {
			if i+1 < len(lists) {
				merged = append(merged, mergeSorted(lists[i], lists[i+1]))
			} else {
				merged = append(merged, lists[i])
			}
		}
		lists = merged
	}
	if len(lists) > 0 {
		order = lists[0]
	}
	return order, bases, err
}

// mergeSorted returns the elements of two sorted lists in order.
func mergeSorted(a, b []uint64) []uint64 {
	if len(a) == 0 {
		return b
	}
	out := make([]uint64, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0] <= b[0] {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// cutLater cuts sorted names into pieces of about laterStep bytes of .debug_str. Equal offsets stay in one piece.
func cutLater(order []uint64) (pieces [][]uint64) {
	first := 0
	for i := range order {
		if order[i]>>laterBits-order[first]>>laterBits >= laterStep {
			pieces = append(pieces, order[first:i])
			first = i
		}
	}
	return append(pieces, order[first:])
}

// piece reads the names of a piece, each offset once. A name that begins within the one before is a suffix of it. As
// many of these may be long, they are charged as work.
func (l *laterNames) piece(order []uint64) (texts *intern.Table, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // the section is mapped: if the file shrinks, an access faults
	defer func() {
		if recover() != nil {
			err = ErrNow
		}
	}()
	texts = &intern.Table{}
	meter := dwarf.Meter{Effort: l.d.Effort}
	defer meter.Flush()
	end, last := uint64(0), ^uint64(0)
	for _, o := range order {
		off := o >> laterBits
		if off == last {
			continue
		}
		last = off
		name, _ := dwarf.CString(l.d.Str, off)
		if len(name) == 0 {
			return nil, ErrNow
		}
		if off < end && !meter.Spend(uint64(len(name))) {
			name = name[:1] // all functions are discarded
		}
		end = max(end, off+uint64(len(name)))
		texts.Append(name)
	}
	return texts, nil
}

// join gives the names of a piece common numbers.
func (l *laterNames) join(order []uint64, texts *intern.Table, common []uint32) {
	numbers := l.names.Join(texts)
	k, last := -1, ^uint64(0)
	for _, o := range order {
		if off := o >> laterBits; off != last {
			k, last = k+1, off
		}
		common[o&(mostLater-1)] = numbers[k]
	}
	l.d.Drop()
}
