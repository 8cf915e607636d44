package symserver_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/symtool/symtool/resolve/symserver"
)

// A store, served by a program of your own.
func ExampleNew() {
	folder, err := os.MkdirTemp("", "store")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	const path = "app.pdb/000000000000000000000000004000001/app.sym"
	text, err := os.ReadFile("../../golden/input/crashes/win.sym")
	if err != nil {
		log.Fatal(err)
	}
	file := filepath.Join(folder, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o666); err != nil {
		log.Fatal(err)
	}
	symbols, err := symserver.New(symserver.Config{Dirs: []string{folder}})
	if err != nil {
		log.Fatal(err)
	}
	defer symbols.Close()
	mux := http.NewServeMux()
	mux.Handle("/symbols/", http.StripPrefix("/symbols", symbols))
	server := httptest.NewServer(mux)
	defer server.Close()
	answer, err := http.Get(server.URL + "/symbols/" + path)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	n, err := io.Copy(io.Discard, answer.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.StatusCode, n == int64(len(text)))
	// Output:
	// 200 true
}
