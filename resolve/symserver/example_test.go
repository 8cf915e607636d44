package symserver_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/symtool/symtool/resolve/store"
	"github.com/symtool/symtool/resolve/symserver"
)

// A store is served below a path of a program of your own. The requests are for a symbol file, for
// one that the store does not have, for the functions at addresses, and whether the server is ready.
func ExampleNew() {
	folder, err := os.MkdirTemp("", "store")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	files, err := store.Create(folder, store.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer files.Close()
	file, err := os.Open("../../golden/input/crashes/win.sym")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	if _, err := files.Add(file, store.AddOptions{}); err != nil {
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
	const id = "000000000000000000000000004000001"
	for _, ask := range []struct{ method, path, body string }{
		{"GET", "/app.pdb/" + id + "/app.sym", ""},
		{"GET", "/other.pdb/" + id + "/other.sym", ""},
		{"POST", "/symbolicate/v5", `{"memoryMap":[["app.pdb","` + id + `"]],"stacks":[[[0,4112]]]}`},
		{"GET", "/readyz", ""},
	} {
		request, err := http.NewRequest(ask.method, server.URL+"/symbols"+ask.path, strings.NewReader(ask.body))
		if err != nil {
			log.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			log.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(answer.StatusCode, ask.path)
		if ask.method == "POST" {
			fmt.Printf("%s", body)
		}
	}
	// Output:
	// 200 /app.pdb/000000000000000000000000004000001/app.sym
	// 404 /other.pdb/000000000000000000000000004000001/other.sym
	// 200 /symbolicate/v5
	// {"results": [{"stacks": [[{"frame": 0, "module": "app.pdb", "module_offset": "0x1010", "function": "main", "function_offset": "0x10", "file": "c:\\src\\app.c", "line": 10}]], "found_modules": {"app.pdb/000000000000000000000000004000001": true}}]}
	// 200 /readyz
}
