package goroutine

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/eval"
)

// OfThreads returns the goroutines that threads of a dump run or wait for. It does not read the
// others. There may be a million of them. globals has the variables of Globals. If the error is
// not nil, OfThreads returns the goroutines that it could read.
func OfThreads(d *dump.Dump, globals *eval.Frame) (list []Goroutine, err error) {
	r := newReader(d, globals)
	next, err := r.global(allm)
	if err != nil {
		return nil, err
	}
	var lost error
	for met := map[uint64]bool{}; ; {
		at, err := next.uint()
		if err == nil && met[at] {
			err = fmt.Errorf("%s: the list leads back to %#x", allm, at)
		}
		if err != nil || at == 0 {
			return list, errors.Join(lost, err)
		}
		met[at], next.name = true, fmt.Sprintf("%s %#x", allm, at)
		m, err := next.target()
		if err != nil {
			return list, errors.Join(lost, err)
		}
		g, err := r.ofThread(&m)
		if err != nil {
			lost = cmp.Or(lost, err)
		} else if g != nil {
			list = append(list, *g)
		}
		if next, err = m.member("alllink"); err != nil {
			return list, errors.Join(lost, err)
		}
	}
}

// ofThread returns the goroutine that a thread, a runtime.m, runs or waits for, or nil.
func (r *reader) ofThread(m *object) (*Goroutine, error) {
	runs, err := m.member("curg")
	if err != nil {
		return nil, err
	}
	at, err := runs.uint()
	if err == nil && at == 0 {
		at, err = m.number("lockedg")
	}
	if err != nil || at == 0 {
		return nil, err
	}
	o, err := runs.at(runs.name, at, runs.typ.Elem) // lockedg is declared as a number
	if err != nil {
		return nil, err
	}
	g, err := r.goroutine(&o)
	if err != nil || g.Thread < 0 && g.Locked < 0 {
		return nil, err
	}
	return &g, nil
}
