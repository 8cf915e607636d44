package supplier_test

import (
	"context"
	"fmt"
	"log"

	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/resolve/supplier"
)

// Symbols of a module that is known by name and id, from a symbol file or otherwise from binaries.
func ExampleNewChain() {
	files, err := supplier.NewSymbols("../../golden/input/crashes/win.sym", nil)
	if err != nil {
		log.Fatal(err)
	}
	binaries, err := supplier.NewBinaries([]string{"../../golden/input/walk-sources.elf"}, supplier.BinaryOptions{})
	if err != nil {
		log.Fatal(err)
	}
	chain := supplier.NewChain(files, binaries)
	defer chain.Close()
	chain.MaxMemory = 1 << 30 // of modules that are not in use
	symbols, tried, err := chain.Symbols(context.Background(), resolve.Module{Name: "app", DebugID: "17F473446FAE06D27ECE5A270227EC290"})
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range tried { // places without them
		fmt.Println(t)
	}
	defer symbols.Close()
	fmt.Println(symbols.Identity().Name, symbols.Detail(context.Background()) == resolve.LineDetail)
	// Output:
	// ../../golden/input/crashes/win.sym: has the symbols of "app.pdb" 000000000000000000000000004000001
	// walk-sources.elf true
}
