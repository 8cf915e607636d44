package main

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

// serve starts a server until the script ends, and sets a variable to its URL:
//
//	serve VARIABLE DIR       the files below DIR
//	serve VARIABLE STATUS    this HTTP status for everything
//	serve VARIABLE away      nothing: its port is closed
func serve(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: serve VARIABLE DIR|STATUS|away")
	}
	if args[1] == "away" {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		ts.Check(err)
		ts.Check(l.Close())
		ts.Setenv(args[0], "http://"+l.Addr().String())
		return
	}
	handler := http.FileServer(http.Dir(ts.MkAbs(args[1])))
	if status, err := strconv.Atoi(args[1]); err == nil {
		handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "", status) })
	}
	s := httptest.NewUnstartedServer(handler)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Start()
	ts.Defer(s.Close)
	ts.Setenv(args[0], s.URL)
}
