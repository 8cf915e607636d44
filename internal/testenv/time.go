package testenv

import (
	"syscall"
	"testing"
	"time"
)

// waitLimit bounds a wait. A busy machine may need a thousand times as long as an idle
// one.
const waitLimit = 2 * time.Minute

// Until waits for a condition.
func Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(waitLimit); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %v in vain for %s", waitLimit, what)
		}
	}
}

// Longer is for checks that pass if the machine keeps up with a time-out: it calls try
// with increasing limits, up to a minute, as long as try returns a failure. The last
// failure fails the test, as lack of time cannot explain it.
func Longer(t testing.TB, first time.Duration, try func(limit time.Duration) (wrong string)) {
	t.Helper()
	for limit := first; ; limit *= 4 {
		wrong := try(limit)
		if wrong == "" {
			return
		}
		if limit > 15*time.Second {
			t.Errorf("also within %v: %s", limit, wrong)
			return
		}
		t.Logf("within %v: %s", limit, wrong)
	}
}

// Stopwatch measures how long something that computes takes.
type Stopwatch struct {
	begun time.Time
	cpu   time.Duration
}

// StartWatch starts one.
func StartWatch() Stopwatch { return Stopwatch{time.Now(), processTime()} }

// Took returns the time by the clock or the processor time of all of this process,
// whichever is less: other processes make the first one long, and tests beside this one
// the second.
func (s Stopwatch) Took() time.Duration { return min(time.Since(s.begun), processTime()-s.cpu) }

func processTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Allocations is testing.AllocsPerRun, which counts what other goroutines allocate as
// well, such as those of an earlier test: the least of some measurements.
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
