package once

import (
	"context"
	"sync"
	"testing"
)

// The value is computed once, whichever goroutine asks for it.
func TestValue(t *testing.T) {
	var s Value[int]
	if *s.Peek() != 0 {
		t.Error("a value is known before anyone asked for it")
	}
	ended, end := context.WithCancel(context.Background())
	if n := *s.Do(ended, func(n *int) { end(); *n = 1 }); n != 1 || *s.Peek() != 0 {
		t.Errorf("%d, known %d", n, *s.Peek())
	}
	if n := *s.Do(ended, func(n *int) { *n = 2 }); n != 0 {
		t.Errorf("%d is returned although the context has ended", n)
	}
	var wait sync.WaitGroup
	calls := 0
	for range 8 {
		wait.Go(func() {
			if n := *s.Do(context.Background(), func(n *int) { calls++; *n = 3 }); n != 3 {
				t.Errorf("%d, want 3", n)
			}
		})
	}
	wait.Wait()
	if n := *s.Do(ended, nil); calls != 1 || n != 3 || *s.Peek() != 3 {
		t.Errorf("%d after %d calls, known %d", n, calls, *s.Peek())
	}
}
