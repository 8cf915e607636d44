package store_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/symtool/symtool/resolve/store"
)

// A symbol file is added to a new store, which is then checked.
func ExampleStore_Add() {
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	s, err := store.Create(dir, store.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	file, err := os.Open("../../golden/input/crashes/win.sym")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	added, err := s.Add(file, store.AddOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(added.Outcome, added.Path)
	report, err := s.Verify(context.Background(), 1, time.Now())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(report.Findings), "findings")
	// Output:
	// added app.pdb/000000000000000000000000004000001/app.sym
	// 0 findings
}
