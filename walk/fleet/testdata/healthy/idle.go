// A server that waits for requests.
package main

import (
	"net"
	"net/http"
)

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		select {}
	}
	http.Serve(l, http.NotFoundHandler())
}
