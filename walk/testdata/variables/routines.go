//go:build ignore

// A program with goroutines that wait, of which one crashes.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"sort"
	"sync"
	"time"
)

type task struct {
	id    int
	name  string
	after time.Duration
	deps  []*task
}

type queue struct {
	sync.Mutex
	waiting []*task
	done    map[int]bool
	results chan<- result
}

type result struct {
	id  int
	out [4]byte
	err error
}

//go:noinline
func (q *queue) work(ctx context.Context, worker int, in <-chan *task) {
	count := 0
	var last *task
	for {
		select {
		case t, ok := <-in:
			if !ok {
				return
			}
			count++
			last = t
			q.run(t, worker, float64(count)/2)
		case <-ctx.Done():
			fmt.Fprintln(os.Stderr, worker, count, last)
			return
		}
	}
}

//go:noinline
func (q *queue) run(t *task, worker int, load float64) {
	q.Lock()
	defer q.Unlock()
	sort.Slice(t.deps, func(i, j int) bool {
		a, b := t.deps[i], t.deps[j]
		if a.id == b.id && t.id == 3 {
			fail(t, load, worker)
		}
		return a.id < b.id
	})
	q.done[t.id] = true
	q.results <- result{id: t.id, out: [4]byte{byte(t.id), byte(worker)}}
}

//go:noinline
func fail(t *task, load float64, worker int) {
	index := len(t.deps) + 5
	names := make([]string, 0, 4)
	for _, d := range t.deps {
		names = append(names, d.name)
	}
	fmt.Fprintln(os.Stderr, names, load, worker)
	fmt.Fprintln(os.Stderr, t.deps[index].name)
}

func main() {
	debug.SetTraceback("crash")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	results := make(chan result, 10)
	q := &queue{done: map[int]bool{}, results: results}
	in := make(chan *task)
	var wg sync.WaitGroup
	for worker := range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			q.work(ctx, worker, in)
		}()
	}
	base := &task{id: 1, name: "base"}
	for i := range 5 {
		t := &task{id: i, name: fmt.Sprint("task ", i), after: time.Duration(i) * time.Millisecond, deps: []*task{base, base}}
		in <- t
	}
	close(in)
	wg.Wait()
	fmt.Println(len(results))
}
