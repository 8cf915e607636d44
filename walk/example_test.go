package walk_test

import (
	"context"
	"fmt"
	"log"

	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/show"
)

// This example prints the stacks of a core, with symbols from its binary.
func ExampleWalker_Walk() {
	binaries, err := supplier.NewBinaries([]string{"../golden/input/walk-sources.elf"}, supplier.BinaryOptions{})
	if err != nil {
		log.Fatal(err)
	}
	file, err := dumpfile.Open(context.Background(), "../golden/input/walk-sources.core.gz", dumpfile.Options{})
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
	for _, f := range result.Stacks[0].Frames[:3] {
		fmt.Println(f.Trust, f.Function())
	}
	// Output:
	// context crash
	// cfi variable
	// cfi aligned
}

// This example prints the variables of the topmost frame of a core, from the debug information of
// its binary.
func ExampleResult_Variables() {
	binaries, err := supplier.NewBinaries([]string{"../golden/input/walk-sources.elf"}, supplier.BinaryOptions{})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	file, err := dumpfile.Open(ctx, "../golden/input/walk-sources.core.gz", dumpfile.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	sources := &walk.SymbolSet{Binaries: binaries}
	defer sources.Close()
	result, err := walk.NewWalker(sources, walk.Config{}).Walk(ctx, file.Dump)
	if err != nil {
		log.Fatal(err)
	}
	frame, functions := result.Variables(ctx).Of(0, 0)
	printer := show.New(show.Options{})
	for _, v := range functions[0] { // Names[0]: no function is inlined there
		fmt.Println(frame.Info.TypeName(v.Type), v.Name, "=", printer.Text(frame, &v), v.Status(), v.Hex()[:16])
	}
	// Output:
	// long int depth = 3 value 0300000000000000
	// long int[4] local = {3, 1, 2, 3} value 0300000000000000
}
