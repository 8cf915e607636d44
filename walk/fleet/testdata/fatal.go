// A program that ends by one of the runtime's fatal errors.
package main

import (
	"os"
	"sync"
)

//go:noinline
func unlock(m *sync.Mutex) { m.Unlock() }

//go:noinline
func write(m map[int]int) {
	for i := 0; ; i++ {
		m[i%100]++
	}
}

//go:noinline
func wait(c chan int) int { return <-c }

//go:noinline
func read(p *int) int { return *p }

func main() {
	switch os.Args[1] {
	case "unlock":
		unlock(new(sync.Mutex))
	case "maps":
		m := map[int]int{}
		for i := 0; i < 3; i++ {
			go write(m)
		}
		write(m)
	case "deadlock":
		println(wait(nil))
	case "panic":
		println(read(nil))
	}
}
