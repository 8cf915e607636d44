package cli

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

// goal returns the garbage collector's goal, GOGC.
func goal() int {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return int(sample[0].Value.Uint64())
}

// TestPutOffCollector checks that the goal that a command sets applies from the second
// collection on. The first collection is late.
func TestPutOffCollector(t *testing.T) {
	t.Setenv("GOGC", "")
	defer debug.SetGCPercent(goal())
	putOffCollector()
	TuneCollector(50)
	collector.Lock()
	begun, early := collector.begun, goal()
	collector.Unlock()
	if !begun && early != 400 {
		t.Errorf("before the first collection: %d", early)
	}
	for end := time.Now().Add(10 * time.Second); goal() != 50; time.Sleep(time.Millisecond) {
		if runtime.GC(); time.Now().After(end) {
			t.Fatalf("after a collection: %d", goal())
		}
	}
	if TuneCollector(100); goal() != 100 {
		t.Errorf("after it, tuned: %d", goal())
	}
}
