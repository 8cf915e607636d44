// States has goroutines in many states. When they have been reached, it prints a line and sleeps or,
// with an argument, panics.
package main

import (
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

var (
	never  = make(chan int)
	never2 = make(chan int)
	nilch  chan int
	mu     sync.Mutex
	rw     sync.RWMutex
	wg     sync.WaitGroup
	cmu    sync.Mutex
	cond   = sync.NewCond(&cmu)
	sink   int
)

//go:noinline
func receive() { <-never }

//go:noinline
func send() { never2 <- 1 }

//go:noinline
func choose() {
	select {
	case <-never:
	case never2 <- 1:
	}
}

//go:noinline
func lock() { mu.Lock() }

//go:noinline
func rlock() { rw.RLock() }

//go:noinline
func sleep() { time.Sleep(time.Hour) }

//go:noinline
func waitGroup() { wg.Wait() }

//go:noinline
func waitCond() { cmu.Lock(); cond.Wait() }

//go:noinline
func nilReceive() { <-nilch }

//go:noinline
func spin() {
	for {
		sink++
	}
}

//go:noinline
func sys(fd int) { var b [1]byte; syscall.Read(fd, b[:]) }

//go:noinline
func accept(l net.Listener) { l.Accept() }

func deep(n int, f func()) {
	var pad [64]byte
	if n > 0 {
		deep(n-1, f)
	} else {
		f()
	}
	_ = pad
}

func main() {
	mu.Lock()
	rw.Lock()
	wg.Add(1)
	for i := 0; i < 6; i++ {
		go deep(i*3, receive)
		go send()
		go choose()
		go lock()
		go rlock()
		go sleep()
		go waitGroup()
		go waitCond()
		go nilReceive()
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go accept(l)
	var p [2]int
	if err := syscall.Pipe(p[:]); err != nil {
		panic(err)
	}
	go sys(p[0])
	go spin()
	go func() {}() // ends
	time.Sleep(300 * time.Millisecond)
	if len(os.Args) > 1 {
		panic("crash")
	}
	fmt.Println("ready")
	time.Sleep(time.Hour)
}
