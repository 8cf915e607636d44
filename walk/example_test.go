package walk_test

import (
	"context"
	"fmt"
	"log"

	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dumpfile"
)

// The stacks of a core, with symbols from its binary.
func ExampleWalker_Walk() {
	binaries, err := supplier.NewBinaries([]string{"../golden/input/walk-sources.elf"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	file, err := dumpfile.Open(context.Background(), "../golden/input/walk-sources.core.gz", dumpfile.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	sources := &walk.Sources{Symbols: binaries} // for any number of dumps and walkers
	defer sources.Close()
	walker := walk.NewWalker(sources, walk.Config{})
	result, err := walker.Walk(context.Background(), file.Dump)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range result.Stacks[0].Frames[:3] {
		fmt.Println(f.Trust, f.Function())
	}
	// Output:
	// context crash
	// cfi variable
	// cfi aligned
}
