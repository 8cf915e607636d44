// Thousands of goroutines that wait for each other, and some locked to threads.
package main

import (
	"os"
	"runtime"
	"sync"
	"time"
)

func waits(wg *sync.WaitGroup, c chan int, n int) {
	if n == 0 {
		wg.Done()
		<-c
	}
	waits(wg, c, n-1)
}

func main() {
	var wg sync.WaitGroup
	c := make(chan int)
	for range 5000 {
		wg.Add(1)
		go waits(&wg, c, 3)
	}
	r, _, _ := os.Pipe()
	for i := range 4 {
		wg.Add(1)
		go func() {
			runtime.LockOSThread()
			wg.Done()
			if i%2 == 0 {
				r.Fd() // blocking
				r.Read(make([]byte, 1))
			}
			<-c
		}()
	}
	wg.Wait()
	time.Sleep(time.Hour)
}
