package testenv

import (
	"fmt"
	"math/rand/v2"
	"net"
	"syscall"
	"testing"
)

// ClosedPort returns an address at which nobody listens until the test ends: a socket
// has it that takes no connections, so that no other program gets it meanwhile.
func ClosedPort(t testing.TB) (address string) {
	t.Helper()
	address, release, err := HoldPort()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	return address
}

// HoldPort is ClosedPort where there is no test; release gives the address back.
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

// FreePort returns a port of 127.0.0.1 for a server that is to be told one. It is below
// those that systems give to who asks for any, such as the other tests that run now.
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
