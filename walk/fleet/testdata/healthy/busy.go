// Goroutines that allocate, collect garbage, grow stacks, look at clocks and wake each other.
package main

import (
	"runtime"
	"sort"
	"time"
)

type node struct{ l, r *node }

func build(n int) *node {
	if n == 0 {
		return nil
	}
	return &node{build(n - 1), build(n - 1)}
}

func grow(n int, b [64]byte) int {
	if n == 0 {
		return int(b[0]) + time.Now().Nanosecond()
	}
	return grow(n-1, b) + 1
}

var sink any

func main() {
	c := make(chan int)
	for range 3 {
		go func() {
			for {
				sink = build(12)
				x := []int{}
				for k := range 10000 {
					x = append(x, -k)
				}
				sort.Ints(x)
				go func() { sink = grow(500, [64]byte{}) }()
				c <- 1
			}
		}()
	}
	go func() {
		for {
			time.Sleep(time.Millisecond)
			runtime.GC()
		}
	}()
	for range c {
	}
}
