package testenv

import (
	"syscall"
	"testing"
	"time"
)

// waitLimit bounds a wait. A busy machine may need a thousand times as long as an idle
// one.
const waitLimit = 2 * time.Minute

// Until waits until ok returns true.
func Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(waitLimit); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %v for %s", waitLimit, what)
		}
	}
}

// Longer is for checks that depend on a timeout, which a slow machine may miss. It calls try with
// increasing limits, up to a minute, while try returns a failure. The last failure fails the
// test, as lack of time cannot explain it.
func Longer(t testing.TB, first time.Duration, try func(limit time.Duration) (wrong string)) {
	t.Helper()
	for limit := first; ; limit *= 4 {
		wrong := try(limit)
		if wrong == "" {
			return
		}
		if limit > 15*time.Second {
			t.Errorf("even within %v: %s", limit, wrong)
			return
		}
		t.Logf("within %v: %s", limit, wrong)
	}
}

// Stopwatch measures how long a computation takes.
type Stopwatch struct {
	begun time.Time
	cpu   time.Duration
}

// StartWatch starts a Stopwatch.
func StartWatch() Stopwatch { return Stopwatch{time.Now(), ProcessTime()} }

// Took returns the elapsed time or the processor time of this process, whichever is less: other
// processes increase the former, and concurrent tests the latter.
func (s Stopwatch) Took() time.Duration { return min(time.Since(s.begun), ProcessTime()-s.cpu) }

// ProcessTime returns the processor time that this process has used: the clock means little on a busy machine.
func ProcessTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Allocations is like testing.AllocsPerRun, but returns the least of some measurements, as that
// also counts what other goroutines allocate, such as those of an earlier test.
func Allocations(runs int, f func()) float64 {
	least := testing.AllocsPerRun(runs, f)
	for range 9 {
		if least == 0 {
			break
		}
		least = min(least, testing.AllocsPerRun(runs, f))
	}
	return least
}
