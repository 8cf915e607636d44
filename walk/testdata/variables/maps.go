//go:build ignore

// A program that crashes with maps of all sizes, interfaces, closures and generic types.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"
)

type Kind uint8

const (
	Small Kind = iota + 1
	Large
)

type Shape interface{ Area() float64 }
type Square struct{ side float64 }
type Circle struct {
	r    float64
	tags []string
}

func (s Square) Area() float64  { return s.side * s.side }
func (c *Circle) Area() float64 { return 3 * c.r * c.r }

type Pair[K comparable, V any] struct {
	Key K
	Val V
}
type List[T any] struct {
	head *node[T]
	size int
}
type node[T any] struct {
	value T
	next  *node[T]
}

func (l *List[T]) Push(v T) { l.head, l.size = &node[T]{v, l.head}, l.size+1 }

type Config struct {
	Name    string
	Limits  map[string]int
	Shapes  []Shape
	Nested  struct{ A, B int16 }
	When    time.Duration
	Err     error
	Any     any
	mu      sync.Mutex
	Array   [3]Kind
	Func    func(int) int
	Ch      chan Pair[string, int]
	Complex complex128
	Bytes   []byte
	private *Config
}

//go:noinline
func crash[K comparable, V any](m map[K]V, key K, shape Shape, list *List[V], cfg *Config, rest ...any) (n int, err error) {
	v, ok := m[key]
	defer func(at time.Duration) {
		n += int(at)
		recovered := recover()
		fmt.Fprintln(os.Stderr, recovered, n, ok)
		panic(recovered)
	}(cfg.When)
	local := Pair[K, V]{key, v}
	area := shape.Area()
	first := rest[0].(string)
	switch x := rest[1].(type) {
	case int:
		n = x * 2
	}
	err = fmt.Errorf("wrapped: %w", cfg.Err)
	var null *Config
	fmt.Fprintln(os.Stderr, local, area, first, list.size)
	null.Name = strings.Repeat(first, n)
	return n, err
}

func main() {
	debug.SetTraceback("crash")
	small := map[string]int{"one": 1, "two": 2}
	large := make(map[int]string)
	for i := range 100 {
		large[i] = strings.Repeat("x", i%5)
	}
	structs := map[Pair[int, string]]*Circle{{1, "a"}: {r: 1}}
	empty := map[string]bool{}
	var none map[Kind]Kind
	set := map[[2]int8]struct{}{{1, 2}: {}}
	list := &List[int]{}
	list.Push(4)
	list.Push(5)
	total := 0
	cfg := &Config{Name: "main", Limits: small, Shapes: []Shape{Square{2}, &Circle{3, []string{"c"}}}, When: 3 * time.Second,
		Err: errors.New("broken"), Any: Small, Array: [3]Kind{Small, Large}, Ch: make(chan Pair[string, int], 2), Complex: 1 - 2i, Bytes: []byte("by\x00te")}
	cfg.Func = func(n int) int { total += n; return total + len(cfg.Name) }
	cfg.Ch <- Pair[string, int]{"sent", 1}
	cfg.private = cfg
	escaped := &total
	slice := []string{"a", "bc", "def"}[1:2:3]
	matrix := [2][2]float32{{1, 2}, {3, 4}}
	r := 'é'
	n, err := crash(small, "two", cfg.Shapes[1], list, cfg, "s", 7)
	fmt.Println(n, err, large, structs, empty, none, set, *escaped, slice, matrix, r, cfg.Func(1))
}
