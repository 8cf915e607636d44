package testenv

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// Serve answers requests by h until the test ends, and returns the server's URL.
func Serve(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}
