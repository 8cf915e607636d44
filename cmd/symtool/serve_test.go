package main

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/symtool/symtool/internal/testenv"
)

// serveFiles starts a server until the script ends, and sets a variable to its URL:
//
//	serve VARIABLE DIR       the files below DIR
//	serve VARIABLE STATUS    this HTTP status for everything
//	serve VARIABLE away      nothing: its port is closed
//	serve VARIABLE accept=DIR   keeps what is sent with PUT below DIR, and its headers
//	                            in NAME.headers
func serveFiles(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: serve VARIABLE DIR|STATUS|away")
	}
	if args[1] == "away" {
		address, release, err := testenv.HoldPort()
		ts.Check(err)
		ts.Defer(release)
		ts.Setenv(args[0], "http://"+address)
		return
	}
	var handler http.Handler
	if dir, ok := strings.CutPrefix(args[1], "accept="); ok {
		handler = accept(ts.MkAbs(dir))
	} else {
		handler = http.FileServer(http.Dir(ts.MkAbs(args[1])))
	}
	if status, err := strconv.Atoi(args[1]); err == nil {
		handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "", status) })
	}
	s := httptest.NewUnstartedServer(handler)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Start()
	ts.Defer(s.Close)
	ts.Setenv(args[0], s.URL)
}

// accept keeps files below dir.
func accept(dir string) http.Handler {
	files := http.FileServer(http.Dir(dir))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPut {
			files.ServeHTTP(w, r)
			return
		}
		name := filepath.Join(dir, filepath.FromSlash(path.Clean("/"+r.URL.Path)))
		var head strings.Builder
		text, err := io.ReadAll(r.Body)
		for _, step := range []func() error{
			func() error { return err },
			func() error { return r.Header.Write(&head) },
			func() error { return os.MkdirAll(filepath.Dir(name), 0o777) },
			func() error { return os.WriteFile(name, text, 0o666) },
			func() error { return os.WriteFile(name+".headers", []byte(head.String()), 0o666) },
		} {
			if err := step(); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
		}
		w.WriteHeader(http.StatusCreated)
	})
}
