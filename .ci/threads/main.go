// The program of `.ci/bench walk`: many threads, each deep in its own functions. It
// prints a line when they are all there, and waits to be killed.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
)

var (
	there sync.WaitGroup
	never = make(chan int)
	sink  int
)

// asleep waits in a system call.
//
//go:noinline
func asleep() int {
	there.Done()
	for {
		t := syscall.Timespec{Sec: 3600}
		syscall.Nanosleep(&t, nil)
	}
}

// blocked waits forever. Its thread runs nothing else, so it sleeps in the scheduler.
//
//go:noinline
func blocked() int {
	there.Done()
	return <-never
}

// deep calls f at a depth of depth frames.
//
//go:noinline
func deep(depth int, f func() int) int {
	if depth == 0 {
		return f() + 1
	}
	return deep(depth-1, f) + depth
}

func main() {
	threads, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	there.Add(threads)
	for i := range threads {
		go func() {
			runtime.LockOSThread()
			f := asleep
			if i%2 == 1 {
				f = blocked
			}
			sink += deep(i%51, f)
		}()
	}
	there.Wait()
	fmt.Println("ready")
	select {}
}
