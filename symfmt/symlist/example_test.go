package symlist_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/symlist"
)

// A symbol file from nm's output.
func ExampleRead() {
	const list = "0000000000001000 0000000000000024 T main\n0000000000001030 T recurse\n"
	result, err := symlist.Read(context.Background(), strings.NewReader(list), int64(len(list)), symlist.ReadOptions{
		Format: symlist.NM, Module: symfmt.Module{OS: "Linux", Arch: "x86_64", Name: "app"},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range result.Problems {
		fmt.Println(p)
	}
	if err := symfmt.Write(os.Stdout, result.Module, symfmt.WriteOptions{}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// MODULE Linux x86_64 000000000000000000000000000000000 app
	// FUNC 1000 24 0 main
	// PUBLIC 1030 0 recurse
}
