package par

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var workers = []int{1, 2, 3, 8, 64}

// bubble returns a test whose clock advances when all goroutines wait, and which fails if goroutines
// are left.
func bubble(test func(t *testing.T)) func(t *testing.T) {
	return func(t *testing.T) { synctest.Test(t, test) }
}

// later makes items finish out of order, according to the bubble's clock.
func later(item int) { time.Sleep(time.Duration((item*7919)%5) * 200 * time.Microsecond) }

func TestOrderedKeepsOrder(t *testing.T) {
	for _, jobs := range workers {
		for _, n := range []int{0, 1, 2, 7, 100} {
			t.Run(fmt.Sprintf("jobs%d/n%d", jobs, n), bubble(func(t *testing.T) {
				var got []int
				err := Ordered(t.Context(), jobs, n,
					func(_ context.Context, worker, item int) (int, error) {
						if worker < 0 || worker >= jobs {
							t.Errorf("worker %d of %d", worker, jobs)
						}
						later(item)
						return item * item, nil
					},
					func(item, result int) error {
						if result != item*item {
							t.Errorf("item %d: result %d, want %d", item, result, item*item)
						}
						got = append(got, item)
						return nil
					})
				if err != nil {
					t.Fatal(err)
				}
				if len(got) != n || !slices.IsSorted(got) {
					t.Errorf("handed over: %v", got)
				}
			}))
		}
	}
}

// A worker's number is never used by two goroutines at once.
func TestWorkerIsExclusive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const jobs = 8
		var busy [jobs]atomic.Bool
		err := Each(t.Context(), jobs, 500, func(_ context.Context, worker, item int) error {
			if busy[worker].Swap(true) {
				t.Errorf("item %d: worker %d is busy", item, worker)
			}
			later(item)
			busy[worker].Store(false)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// Items from 30 on fail, and item 30 is slow; its error is still the one returned, and
// the results of all items before it are delivered.
func TestLowestFailureWins(t *testing.T) {
	for _, jobs := range workers {
		t.Run(fmt.Sprint(jobs), bubble(func(t *testing.T) {
			last := -1
			err := Ordered(t.Context(), jobs, 1000,
				func(_ context.Context, _, item int) (int, error) {
					if item == 30 {
						time.Sleep(5 * time.Millisecond) // on the bubble's clock
					}
					if item >= 30 {
						return 0, fmt.Errorf("item %d", item)
					}
					return item, nil
				},
				func(item, _ int) error { last = item; return nil })
			if err == nil || err.Error() != "item 30" {
				t.Errorf("error %v, want that of item 30", err)
			}
			if last != 29 {
				t.Errorf("last item handed over: %d, want 29", last)
			}
		}))
	}
}

// The ctx of an item before the failed one is not cancelled.
func TestFailureLeavesEarlierItemsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fast = make(chan struct{})
		err := Each(t.Context(), 2, 2, func(ctx context.Context, _, item int) error {
			if item == 1 {
				close(fast)
				return errors.New("item 1")
			}
			<-fast
			time.Sleep(5 * time.Millisecond) // on the bubble's clock
			return ctx.Err()
		})
		if err == nil || err.Error() != "item 1" {
			t.Errorf("error %v, want that of item 1", err)
		}
	})
}

// The ctx of an item after the failed one is cancelled.
func TestFailureEndsLaterItems(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started := make(chan struct{})
		err := Each(t.Context(), 2, 2, func(ctx context.Context, _, item int) error {
			if item == 0 {
				<-started
				return errors.New("item 0")
			}
			close(started)
			<-ctx.Done()
			return ctx.Err()
		})
		if err == nil || err.Error() != "item 0" {
			t.Errorf("error %v, want that of item 0", err)
		}
	})
}

// Each worker may start an item before one of them fails, and none after that.
func TestFailureStartsNothingMore(t *testing.T) {
	const jobs = 2
	var started atomic.Int64
	_ = Each(t.Context(), jobs, 1_000_000, func(context.Context, int, int) error {
		started.Add(1)
		return errors.New("no")
	})
	if n := started.Load(); n > jobs {
		t.Errorf("%d items started by %d workers", n, jobs)
	}
}

func TestDoneFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		want := errors.New("full")
		err := Ordered(t.Context(), 4, 100,
			func(_ context.Context, _, item int) (int, error) { return item, nil },
			func(item, _ int) error {
				if item == 10 {
					return want
				}
				return nil
			})
		if err != want {
			t.Errorf("error %v, want %v", err, want)
		}
	})
}

func TestContextEnds(t *testing.T) {
	for _, jobs := range workers {
		t.Run(fmt.Sprint(jobs), bubble(func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			want := errors.New("signal")
			var started atomic.Int64
			err := Each(ctx, jobs, 1_000_000, func(ctx context.Context, _, item int) error {
				started.Add(1)
				if item == 5 {
					cancel(want)
				}
				later(item)
				return nil
			})
			if err != want {
				t.Errorf("error %v, want the cause of ctx", err)
			}
			if n := started.Load(); n > int64(5+2*jobs*waiting) {
				t.Errorf("%d items started", n)
			}
		}))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Each(ctx, 1, 0, nil); err != context.Canceled {
		t.Errorf("no items, ctx ended: %v", err)
	}
}

func TestPanicBecomesError(t *testing.T) {
	for name, value := range map[string]any{"text": "bad", "error": context.DeadlineExceeded} {
		t.Run(name, bubble(func(t *testing.T) {
			_, err := Map(t.Context(), 3, 50, func(_ context.Context, _, item int) (int, error) {
				if item >= 20 {
					panic(value)
				}
				return item, nil
			})
			var p *PanicError
			if !errors.As(err, &p) {
				t.Fatalf("error %v, want a PanicError", err)
			}
			if p.Item != 20 || p.Value != value || !strings.Contains(string(p.Stack), "par_test.go") {
				t.Errorf("item %d, value %v, stack\n%s", p.Item, p.Value, p.Stack)
			}
			if asError, ok := value.(error); ok && !errors.Is(err, asError) {
				t.Errorf("%v does not wrap %v", err, asError)
			}
			if want := fmt.Sprintf("panic: %v", value); err.Error() != want {
				t.Errorf("message %q, want %q", err.Error(), want)
			}
		}))
	}
}

// The number of results that wait for a slow item is limited, and smaller for large results.
func TestWindow(t *testing.T) {
	none := func(int, struct{}) error { return nil }
	for _, c := range []struct {
		name    string
		jobs    int
		want    int64
		ordered func(context.Context, int, int, func(context.Context, int, int) (struct{}, error), func(int, struct{}) error) error
	}{
		{"large results", 4, 4 * waiting, Ordered[struct{}]},
		{"light results", 2, 2 * waitingLight, OrderedLight[struct{}]},
		{"light results of many workers", 20, maxWaiting, OrderedLight[struct{}]},
		{"light results of very many workers", 100, 100 * waiting, OrderedLight[struct{}]},
	} {
		synctest.Test(t, func(t *testing.T) {
			var ahead atomic.Int64
			release := make(chan struct{})
			time.AfterFunc(20*time.Millisecond, func() { close(release) }) // once all others wait
			err := c.ordered(t.Context(), c.jobs, 1000, func(_ context.Context, _, item int) (struct{}, error) {
				if item == 0 {
					<-release
					if n := ahead.Load(); n != c.want-1 {
						t.Errorf("%s: %d items finished before the first, want %d", c.name, n, c.want-1)
					}
				}
				ahead.Add(1)
				return struct{}{}, nil
			}, none)
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestMap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got, err := Map(t.Context(), 0, 100, func(_ context.Context, _, item int) (string, error) {
			later(item)
			return fmt.Sprint(item), nil
		})
		if err != nil || len(got) != 100 {
			t.Fatalf("%d results, %v", len(got), err)
		}
		for i, s := range got {
			if s != fmt.Sprint(i) {
				t.Errorf("result %d: %q", i, s)
			}
		}
	})
}

func TestJobs(t *testing.T) {
	for in, want := range map[int]int{-1: runtime.GOMAXPROCS(0), 0: runtime.GOMAXPROCS(0), 1: 1, 7: 7} {
		if got := Jobs(in); got != want {
			t.Errorf("Jobs(%d) = %d, want %d", in, got, want)
		}
	}
}

func BenchmarkOrdered(b *testing.B) {
	for _, jobs := range []int{1, 2} {
		b.Run(fmt.Sprint(jobs), func(b *testing.B) {
			err := Each(b.Context(), jobs, b.N, func(context.Context, int, int) error { return nil })
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}
