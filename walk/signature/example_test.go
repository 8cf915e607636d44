package signature_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/signature"
)

// This example prints the signature of a core, made with custom rules followed by the
// default rules.
func ExampleMaker() {
	binaries, err := supplier.NewBinaries([]string{"../../golden/input/walk-sources.elf"}, supplier.BinaryOptions{})
	if err != nil {
		log.Fatal(err)
	}
	file, err := dumpfile.Open(context.Background(), "../../golden/input/walk-sources.core.gz", dumpfile.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	sources := &walk.Sources{Symbols: binaries}
	defer sources.Close()
	result, err := walk.NewWalker(sources, walk.Config{}).Walk(context.Background(), file.Dump)
	if err != nil {
		log.Fatal(err)
	}
	own, err := signature.Parse(strings.NewReader("skip crash\nprefix variable"), "own.rules")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(signature.NewMaker(signature.Default()).Of(result))
	fmt.Println(signature.NewMaker(own.Before(signature.Default())).Of(result))
	// Output:
	// crash
	// variable | aligned
}
