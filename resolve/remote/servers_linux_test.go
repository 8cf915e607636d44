package remote

import (
	"context"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// full returns the address of a listener that never accepts and whose queue is full:
// Linux then answers no more connections.
func full(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	listener := os.NewFile(uintptr(fd), "listener")
	t.Cleanup(func() { listener.Close() })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	address := (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: name.(*syscall.SockaddrInet4).Port}).String()
	late := 0
	for range 64 {
		c, err := net.DialTimeout("tcp", address, 200*time.Millisecond)
		if err == nil {
			late = 0
			t.Cleanup(func() { c.Close() })
		} else if late++; late == 3 { // once may be due to a slow machine
			return address
		}
	}
	t.Skip("this system accepts connections for a listener whose queue is full")
	return ""
}

// silent returns the address of a listener that accepts connections and sends nothing.
func silent(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { c.Close() })
		}
	}()
	return l.Addr().String()
}

// A server that does not accept connections costs the connection time-out, not the
// time-out of files, and only once.
func TestServerConnectTimeout(t *testing.T) {
	const connect = 300 * time.Millisecond
	for _, c := range []struct {
		name, scheme string
		address      func(*testing.T) string
		want         string
	}{
		{"not accepted", "http", full, "i/o timeout"},
		{"not accepted, TLS", "https", full, "i/o timeout"},
		{"no TLS", "https", silent, "TLS handshake timeout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			url := c.scheme + "://" + c.address(t)
			s := newServers(t, Servers{URLs: []string{url}, Connect: connect, Timeout: 10 * time.Minute})
			start := time.Now()
			r, tried, err := s.Symbols(context.Background(), testModule)
			if took := time.Since(start); took < connect/2 || took > 2*time.Minute {
				t.Errorf("took %v, want about %v", took, connect)
			}
			if r != nil || len(tried) != 1 || err == nil || !strings.HasPrefix(err.Error(), url+"/my%20app/") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, tried %q, error %v", r, tried, err)
			}
			if _, _, err := s.Symbols(context.Background(), testModule); err == nil || !strings.Contains(err.Error(), "not asked again: ") {
				t.Errorf("again: %v", err)
			}
		})
	}
	// A server that accepts and sends nothing costs the time-out of files.
	s := newServers(t, Servers{URLs: []string{"http://" + silent(t)}, Connect: time.Minute, Timeout: connect})
	if _, _, err := s.Symbols(context.Background(), testModule); err == nil || !strings.Contains(err.Error(), "too slow: less than 102400 bytes in 300ms") {
		t.Errorf("silent: %v", err)
	}
}
