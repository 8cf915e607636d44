package remote_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/resolve/remote"
)

// Symbols from a server, here one with a single file.
func ExampleNewServers() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/app.pdb/000000000000000000000000004000001/app.sym" {
			http.NotFound(w, r)
			return
		}
		http.ServeFile(w, r, "../../golden/input/crashes/win.sym")
	}))
	defer server.Close()
	cache, err := os.MkdirTemp("", "cache")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(cache)
	servers, err := remote.NewServers(remote.Servers{URLs: []string{server.URL}, Cache: cache})
	if err != nil {
		log.Fatal(err)
	}
	symbols, _, err := servers.Symbols(context.Background(), resolve.Module{Name: "app.pdb", DebugID: "000000000000000000000000004000001"})
	if err != nil {
		log.Fatal(err)
	}
	defer symbols.Close()
	var at resolve.Location
	if _, err := resolve.Find(context.Background(), symbols, 0x1010, &at); err != nil {
		log.Fatal(err)
	}
	fmt.Println(at.Frames[0].Function, at.Frames[0].Line)
	// Output:
	// main 10
}
