package verify_test

import (
	"context"
	"fmt"
	"log"

	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/verify"
)

// This example judges whether the symbols of a binary hold for the stacks of a core.
func ExampleJudge() {
	binaries, err := supplier.NewBinaries([]string{"../../golden/input/walk-sources.elf"}, supplier.BinaryOptions{})
	if err != nil {
		log.Fatal(err)
	}
	file, err := dumpfile.Open(context.Background(), "../../golden/input/walk-sources.core.gz", dumpfile.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	sources := &walk.SymbolSet{Symbols: binaries} // for any number of dumps and walkers
	defer sources.Close()
	walker := walk.NewWalker(sources, walk.Config{})
	result, err := walker.Walk(context.Background(), file.Dump)
	if err != nil {
		log.Fatal(err)
	}
	verdict, err := verify.Judge(context.Background(), walker, result, verify.Default())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(verdict.Conclusion)
	// Output:
	// the symbols hold: 12 of 12 caller frames by CFI
}
