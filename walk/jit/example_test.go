package jit_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/jit"
)

// The functions of a perf map.
func ExampleFinder_Find() {
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "perf-4711.map")
	if err := os.WriteFile(path, []byte("7f00 40 LazyCompile:~add\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	finder := &jit.Finder{Files: []string{path}}
	found, _ := finder.Find(context.Background(), &dump.Dump{})
	for _, c := range found {
		var at resolve.Location
		if ok, err := resolve.Find(context.Background(), c.Symbols, 0x7f10, &at); ok && err == nil {
			fmt.Println(at.Frames[0].Function)
		}
	}
	// Output:
	// LazyCompile:~add
}
