package serve

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
)

// connections limits the number of open connections. A new connection beyond the limit closes the
// one that has been idle longest, so that clients that send nothing, or send a request byte by
// byte, cannot lock others out.
type connections struct {
	limit int

	mu      sync.Mutex
	changed sync.Cond // a connection was closed or became idle, or the listener ended
	open    int
	waiting list.List // of *limitedConn, the longest idle first
	ended   bool
}

func newConnections(limit int) *connections {
	c := &connections{limit: limit}
	c.changed.L = &c.mu
	return c
}

// listen returns a listener that enforces the limit.
func (c *connections) listen(l net.Listener) net.Listener { return &limitedListener{l, c} }

type limitedListener struct {
	net.Listener
	all *connections
}

func (l *limitedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return conn, nil
	}
	return l.all.add(tcp)
}

func (l *limitedListener) Close() error {
	l.all.mu.Lock()
	l.all.ended = true
	l.all.changed.Broadcast()
	l.all.mu.Unlock()
	return l.Listener.Close()
}

// add adds a connection. It may close another to make room, or wait until one becomes idle.
func (c *connections) add(tcp *net.TCPConn) (net.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.open >= c.limit && !c.ended {
		if longest := c.waiting.Front(); longest != nil {
			longest.Value.(*limitedConn).forget()
		} else {
			c.changed.Wait() // all are being answered
		}
	}
	if c.ended {
		tcp.Close()
		return nil, net.ErrClosed
	}
	conn := &limitedConn{TCPConn: tcp, all: c}
	conn.place = c.waiting.PushBack(conn)
	c.open++
	return conn, nil
}

// limitedConn embeds a TCPConn, so that the system can copy files directly. Its fields are guarded
// by all.mu.
type limitedConn struct {
	*net.TCPConn
	all      *connections
	place    *list.Element // in all.waiting; nil while a request is being answered
	requests int           // number being answered: several at once in HTTP/2
	gone     bool
}

// forget closes a connection and frees its slot, once.
func (c *limitedConn) forget() error {
	if !c.gone {
		c.gone = true
		c.all.open--
		c.wait(false)
		c.all.changed.Signal()
	}
	return c.TCPConn.Close()
}

// wait records whether the connection is idle (waits for a request).
func (c *limitedConn) wait(waits bool) {
	switch {
	case waits && c.place == nil && !c.gone:
		c.place = c.all.waiting.PushBack(c)
		c.all.changed.Signal()
	case !waits && c.place != nil:
		c.all.waiting.Remove(c.place)
		c.place = nil
	}
}

func (c *limitedConn) Close() error {
	c.all.mu.Lock()
	defer c.all.mu.Unlock()
	return c.forget()
}

// count adds n to the number of requests being answered.
func (c *limitedConn) count(n int) {
	c.all.mu.Lock()
	defer c.all.mu.Unlock()
	c.requests += n
	c.wait(c.requests == 0)
}

// connKey is the key of a request's limitedConn in its context.
type connKey struct{}

// context implements http.Server.ConnContext.
func (c *connections) context(ctx context.Context, conn net.Conn) context.Context {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	return context.WithValue(ctx, connKey{}, conn)
}

// handler wraps h to track which connections have a request that is being answered.
func (c *connections) handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if conn, ok := r.Context().Value(connKey{}).(*limitedConn); ok {
			conn.count(1)
			defer conn.count(-1)
		}
		h.ServeHTTP(w, r)
	})
}
