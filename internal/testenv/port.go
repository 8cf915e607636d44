package testenv

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
)

// ClosedPort returns an address that refuses connections until the test ends. A socket that does
// not listen is bound to it, so that no other program gets the port.
func ClosedPort(t testing.TB) (address string) {
	t.Helper()
	address, release, err := HoldPort()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	return address
}

// HoldPort is like ClosedPort, for use outside tests; release frees the address.
func HoldPort() (address string, release func(), err error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return "", nil, err
	}
	release = func() { _ = syscall.Close(fd) }
	err = syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	var name syscall.Sockaddr
	if err == nil {
		name, err = syscall.Getsockname(fd)
	}
	if err != nil {
		release()
		return "", nil, err
	}
	return fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port), release, nil
}

// FreePort returns a port of 127.0.0.1 for a server that needs a fixed one. It is below the
// ephemeral range, from which other running tests get their ports.
func FreePort(t testing.TB) int {
	t.Helper()
	for range 100 {
		port := 10_000 + rand.IntN(20_000)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("no free port")
	return 0
}

// Serve serves h until the test ends, and returns the server's URL.
func Serve(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}
