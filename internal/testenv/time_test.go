package testenv

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestUntil(t *testing.T) {
	n := 0
	Until(t, "the third time", func() bool { n++; return n == 3 })
	if n != 3 {
		t.Error(n)
	}
}

func TestLonger(t *testing.T) {
	for _, enough := range []time.Duration{1, 3 * time.Second, time.Hour} {
		var tried []time.Duration
		r := record(t, func(t testing.TB) {
			Longer(t, time.Second, func(limit time.Duration) string {
				if tried = append(tried, limit); limit < enough {
					return "too slow"
				}
				return ""
			})
		})
		want := map[time.Duration]string{1: "[1s]", 3 * time.Second: "[1s 4s]", time.Hour: "[1s 4s 16s]"}[enough]
		if got := fmt.Sprint(tried); got != want || (r.failed != "") != (enough == time.Hour) || r.failed != "" && r.failed != "even within 16s: too slow" {
			t.Errorf("%v: tried %s, want %s; %q", enough, got, want, r.failed)
		}
	}
}

var sink []byte

func TestStopwatch(t *testing.T) {
	idle := StartWatch()
	time.Sleep(300 * time.Millisecond) // must not count
	if took := idle.Took(); took > 200*time.Millisecond {
		t.Errorf("sleeping took %v", took)
	}
	busy := StartWatch()
	for start := time.Now(); ProcessTime()-busy.cpu < 50*time.Millisecond; {
		if time.Since(start) > waitLimit {
			t.Fatal("no processor time is counted")
		}
	}
	if took := busy.Took(); took < 25*time.Millisecond { // by the clock a little less, on several processors
		t.Errorf("50 ms of work took %v", took)
	}
	if n := Allocations(10, func() { sink = make([]byte, 100) }); n != 1 {
		t.Errorf("%v allocations, want 1", n)
	}
	if n := Allocations(10, func() {}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func TestPorts(t *testing.T) {
	closed := ClosedPort(t)
	if _, err := net.Dial("tcp", closed); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("%s: %v", closed, err)
	}
	if _, err := net.Listen("tcp", closed); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("%s is free: %v", closed, err)
	}
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", FreePort(t)))
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if !strings.HasPrefix(closed, "127.0.0.1:") {
		t.Error(closed)
	}
}
