package dwarf2sym

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

// While all units of a file are read, names in .debug_str are not examined: that section may be larger than
// .debug_info, and the names of a unit are all over it. Workers note their offsets, and each name is read once, in the
// order of the section, when the units are done.

// laterName marks a nameID that is an index into nameTable.later.
const laterName nameID = 1 << 31

// Offsets are sorted together with the numbers of their names, of all workers.
const (
	laterBits    = 28                    // of a number
	mostLater    = 1 << laterBits        // names
	mostLaterOff = 1 << (64 - laterBits) // bytes of .debug_str
)

// readLater returns the number of the name at an offset, if it can be read later.
func (t *nameTable) readLater(d *units.Data, off uint64) (nameID, bool) {
	if d != t.main || len(t.later) >= t.most || off >= min(uint64(len(d.Str)), mostLaterOff) {
		return 0, false
	}
	t.later = append(t.later, off)
	return laterName | nameID(len(t.later)-1), true
}

// size returns the length of a name, 0 if it is read later.
func (t *nameTable) size(id nameID) int {
	if id&laterName != 0 {
		return 0
	}
	return len(t.At(uint32(id)))
}

// errNamesNow means that names must be read together with units: one of them is empty, and another attribute has the
// name then, or .debug_str has become unreadable.
var errNamesNow = errors.New("names must be read with the units")

// joinNames gives the names of all workers common numbers, and reads those that were left for later from d, which is
// nil if there are none. It returns the names by number.
func joinNames(ctx context.Context, d *units.Data, workers []*worker, jobs int) (*intern.Table, error) {
	names := &intern.Table{}
	texts := make([][]uint32, len(workers)) // by the workers' numbers; those of the first one stay
	for i, w := range workers {
		if i == 0 {
			*names = w.names.Table
		} else {
			texts[i] = names.Join(&w.names.Table)
		}
	}
	later := laterNames{d: d, names: names, numbers: make([][]uint32, len(workers))}
	if err := later.read(ctx, workers, jobs); err != nil {
		return nil, err
	}
	return names, par.Each(ctx, jobs, len(workers), func(_ context.Context, _, i int) error {
		workers[i].renumber(texts[i], later.numbers[i])
		return nil
	})
}

// renumber replaces the numbers of names by the common ones: texts, or nil if they stay, and those of names that were
// read later.
func (w *worker) renumber(texts, later []uint32) {
	w.names = nameTable{}
	if texts == nil && later == nil {
		return
	}
	common := func(id nameID) nameID {
		switch {
		case id&laterName != 0:
			return nameID(later[id&^laterName])
		case int(id) < len(texts):
			return nameID(texts[id])
		}
		return id
	}
	for i := range w.funcs {
		w.funcs[i].name = common(w.funcs[i].name)
	}
	for i := range w.origins {
		w.origins[i] = common(w.origins[i])
	}
}

// laterNames reads names from .debug_str.
type laterNames struct {
	d       *units.Data
	names   *intern.Table
	numbers [][]uint32 // by worker and index in nameTable.later
}

// laterStep is the number of bytes of .debug_str from which names are read at once.
const laterStep = 1 << 20

// read reads the names of all workers.
func (l *laterNames) read(ctx context.Context, workers []*worker, jobs int) error {
	order, bases, err := sortLater(ctx, workers, jobs)
	if err != nil || len(order) == 0 {
		return err
	}
	common := make([]uint32, len(order))
	for i, w := range workers {
		l.numbers[i] = common[bases[i]:][:len(w.names.later)]
	}
	pieces := cutLater(order)
	return par.Ordered(ctx, jobs, len(pieces),
		func(_ context.Context, _, i int) (*intern.Table, error) { return l.piece(pieces[i]) },
		func(i int, texts *intern.Table) error {
			l.join(pieces[i], texts, common)
			return nil
		})
}

// sortLater returns the offsets of all names, in order, each with the number of the name in its low bits. Those of
// worker i begin with bases[i].
func sortLater(ctx context.Context, workers []*worker, jobs int) (order []uint64, bases []int, err error) {
	n := 0
	for _, w := range workers {
		bases = append(bases, n)
		n += len(w.names.later)
	}
	lists := make([][]uint64, len(workers))
	err = par.Each(ctx, jobs, len(workers), func(_ context.Context, _, i int) error {
		list := workers[i].names.later
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

// cutLater cuts sorted names into pieces of about laterStep bytes of .debug_str. Equal offsets are in one piece.
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

// piece reads the names of a piece, of which each offset is read once. A name that begins within the one before is a
// suffix of it: as many of these may be long, they count as work.
func (l *laterNames) piece(order []uint64) (texts *intern.Table, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // as in batch
	defer func() {
		if recover() != nil {
			err = errNamesNow
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
			return nil, errNamesNow
		}
		if off < end && !meter.Spend(uint64(len(name))) {
			name = name[:1] // all functions are given up
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
