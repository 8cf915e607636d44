package dwarf

import (
	"errors"
	"sync/atomic"
)

// Effort is the work spent on the units of a file and of the files that belong to it, with its limit.
type Effort struct {
	Limit uint64
	Spent atomic.Uint64
}

// Over reports whether the limit was exceeded.
func (e *Effort) Over() bool { return e.Spent.Load() > e.Limit }

// ErrExhausted ends work whose result will be discarded.
var ErrExhausted = errors.New("too much work")

// effortStep is the amount of work that a worker does before it charges the
// shared budget.
const effortStep = 1 << 20

// Meter counts the work of one goroutine.
type Meter struct {
	Effort    *Effort
	spent     uint64 // since the last flush
	Exhausted bool   // the shared budget is used up
}

// Spend charges work. It returns false once the budget is exhausted: the
// caller's results will be discarded.
func (m *Meter) Spend(n uint64) bool {
	if m.spent += n; m.spent >= effortStep {
		m.Flush()
	}
	return !m.Exhausted
}

// Flush charges the work since the last Flush to the shared budget.
func (m *Meter) Flush() {
	if m.Effort.Spent.Add(m.spent) > m.Effort.Limit {
		m.Exhausted = true
	}
	m.spent = 0
}
