// A program that crashes with values of Go's types.
package main

import (
	"errors"
	"strings"
	"time"
)

type animal interface{ legs() int }

type dog struct {
	name string
	age  int
}

func (d *dog) legs() int { return 4 }

type bird struct{ wings int8 }

func (b bird) legs() int { return 2 }

type pair[K comparable, V any] struct {
	key K
	val V
}

type order struct {
	id     int
	name   string
	tags   []string
	matrix [2][3]int
	prices map[string]float64
	many   map[int]string
	none   map[string]int
	owner  *dog
	pet    animal
	any    any
	err    error
	call   func(int) int
	c      chan int
	z      complex128
	r      rune
	f      float32
	flags  [4]bool
	sub    []order
	depth  struct{ x, y int }
}

//go:noinline
func crash(o *order, why string, items []pair[string, int], rest ...any) int {
	total := 0
	for i, it := range items {
		total += it.val * i
		if it.key == "c" {
			var p *int
			local := strings.ToUpper(it.key)
			m := map[string]int{"x": i}
			sub := items[1:]
			*p = total + len(rest) + len(local) + len(m) + len(sub)
			println(local, m, sub)
		}
	}
	return total + o.id + len(why)
}

//go:noinline
func middle(o order, f func(int) int, c chan<- string, a animal) (res int, err error) {
	x := f(3)
	words := strings.Fields("one two three")
	e := errors.New("wrapped")
	st := struct {
		a int
		b string
	}{x, "anonymous"}
	res = crash(&o, "because", []pair[string, int]{{"a", 1}, {"b", 2}, {"c", 3}}, x, words, e)
	c <- words[0] + st.b
	return res + a.legs(), e
}

func worker(id int, jobs <-chan order) {
	count := id
	for j := range jobs {
		count += j.id
	}
	println(count)
}

func main() {
	d, base, many := &dog{"Rex", 7}, 7, map[int]string{}
	for i := range 40 {
		many[i] = strings.Repeat("v", i%3)
	}
	o := order{
		id: 42, name: "naïve", tags: []string{"x", "yy"}, matrix: [2][3]int{{1, 2, 3}, {4, 5, 6}}, prices: map[string]float64{"apple": 1.5, "pear": 2},
		many: many, owner: d, pet: d, any: 12, err: errors.New("inner"), call: func(i int) int { return i * base }, c: make(chan int, 3), z: complex(1, -2),
		r: 'é', f: 0.1, flags: [4]bool{true, false, true}, sub: []order{{id: 1}, {id: 2}},
	}
	o.depth.x = 5
	jobs := make(chan order)
	for i := range 2 {
		go worker(i, jobs)
	}
	time.Sleep(20 * time.Millisecond)
	r, err := middle(o, o.call, make(chan string, 1), bird{3})
	println(r, err, d)
}
