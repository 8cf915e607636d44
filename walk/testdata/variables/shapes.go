//go:build ignore

// Values in code as the compiler optimizes it: inlined functions, deferred calls, generics, select, closures.
package main

import (
	"fmt"
	"os"
	"sort"
	"strings"
	"time"
)

type Number interface{ ~int | ~float64 | ~uint8 }

type Pair[K comparable, V any] struct {
	Key   K
	Value V
}

type Tree[T any] struct {
	Left, Right *Tree[T]
	Item        T
}

type Shape interface{ Area() float64 }

type Square struct{ Side float64 }

func (s Square) Area() float64 { return s.Side * s.Side }

type Named struct {
	*Square
	Name  string
	Tags  map[string][]int
	Extra any
}

type Grade uint8

//go:noinline
func sum[T Number](all []T, start T) (total T) {
	total = start
	for i, x := range all {
		total += x
		if i == len(all)-1 {
			fail(i, fmt.Sprint(total))
		}
	}
	return total
}

func clamp(n, low, high int) int { // inlined
	span := high - low
	if n > high {
		return high
	}
	return n + span - span
}

//go:noinline
func fail(at int, text string) {
	var p *Pair[string, Grade]
	limit := clamp(at, 0, 5)
	parts := strings.Split(text, ".")
	defer func(n int) {
		if n > 100 {
			recover()
		}
	}(limit)
	parts[0] = p.Key
	fmt.Println(p.Value, parts)
}

func (t *Tree[T]) Walk(visit func(T) bool) bool {
	return t == nil || t.Left.Walk(visit) && visit(t.Item) && t.Right.Walk(visit)
}

//go:noinline
func gather(shapes []Shape, named *Named, done <-chan struct{}) (areas []float64, err error) {
	tree := &Tree[Pair[string, float64]]{Item: Pair[string, float64]{"root", 1}}
	results := make(chan float64, 4)
	for i, s := range shapes {
		results <- s.Area()
		if i%2 == 0 {
			tree.Left = &Tree[Pair[string, float64]]{Item: Pair[string, float64]{named.Name, s.Area()}, Left: tree.Left}
		}
	}
	timeout := time.After(time.Hour)
	for range shapes {
		select {
		case a := <-results:
			areas = append(areas, a)
		case <-done:
			return nil, fmt.Errorf("done")
		case <-timeout:
		}
	}
	count := 0
	tree.Walk(func(p Pair[string, float64]) bool {
		count++
		named.Tags[p.Key] = append(named.Tags[p.Key], count)
		return true
	})
	sort.Slice(areas, func(i, j int) bool { return areas[i] < areas[j] })
	grades := []Grade{1, 2, Grade(count)}
	total := sum(grades, 10)
	fmt.Println(total, sum(areas, 0.5))
	return areas, err
}

func main() {
	named := &Named{Square: &Square{3}, Name: "named", Tags: map[string][]int{"a": {1, 2}}, Extra: Pair[int, error]{7, nil}}
	array := [...]complex128{1 + 2i, 3}
	var empty Shape
	shapes := []Shape{Square{2}, named, &Square{1.5}}
	areas, err := gather(shapes, named, nil)
	fmt.Fprintln(os.Stderr, areas, err, array, empty)
}
