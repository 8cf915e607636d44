package dumpfile_test

import (
	"context"
	"fmt"
	"log"

	"github.com/symtool/symtool/walk/dumpfile"
)

// This example opens a dump of any format, compressed or not.
func ExampleOpen() {
	file, err := dumpfile.Open(context.Background(), "../../golden/input/walk-sources.core.gz", dumpfile.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	for _, p := range file.Dump.Problems { // what was damaged; the rest is there
		fmt.Println(p)
	}
	fmt.Println(file.Kind, file.Dump.Arch.Name, len(file.Dump.Threads))
	fmt.Println(file.Dump.Modules[0].Path)
	// Output:
	// core x86_64 1
	// /src/walk-sources.elf
}
