package dwarf2sym

import (
	"errors"
	"sync/atomic"
)

// effort is the work on the units of one file, and of those that belong to it.
type effort struct {
	limit uint64
	spent atomic.Uint64
}

// over reports whether the limit was passed.
func (e *effort) over() bool { return e.spent.Load() > e.limit }

// errExhausted ends work whose result is thrown away.
var errExhausted = errors.New("too much work")

// effortStep is how much work a worker does before it charges the shared budget.
const effortStep = 1 << 20

// meter counts the work of one goroutine.
type meter struct {
	effort    *effort
	spent     uint64 // since the last flush
	exhausted bool   // the shared budget is used up
}

// spend counts work. It reports false when there was too much of it: whatever
// the caller makes from then on is thrown away.
func (m *meter) spend(n uint64) bool {
	if m.spent += n; m.spent >= effortStep {
		m.flush()
	}
	return !m.exhausted
}

// flush adds the work since the last flush to the shared budget.
func (m *meter) flush() {
	if m.effort.spent.Add(m.spent) > m.effort.limit {
		m.exhausted = true
	}
	m.spent = 0
}
