package fleet_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/fleet"
)

// This example prints the topmost function of each dump. A dump that cannot be read does not end
// the run.
func ExampleRunner() {
	binaries, err := supplier.NewBinaries([]string{"../../golden/input/walk-sources.elf"}, supplier.BinaryOptions{})
	if err != nil {
		log.Fatal(err)
	}
	runner := &fleet.Runner{Symbols: &walk.SymbolSet{Symbols: binaries}}
	defer runner.Symbols.Close()
	dumps := []string{"../../golden/input/walk-sources.core.gz", "none.dmp"}
	err = runner.Run(context.Background(), dumps, func(w *fleet.Walked) error {
		if w.Err != nil {
			fmt.Println(w.Err)
			return nil
		}
		fmt.Println(w.Stacks[0].Frames[0].Function())
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// crash
	// none.dmp: no such file or directory
}

// This example shows what two dumps together reveal.
func ExampleSummary() {
	binaries, err := supplier.NewBinaries([]string{"../../golden/input/walk-sources.elf"}, supplier.BinaryOptions{})
	if err != nil {
		log.Fatal(err)
	}
	runner := &fleet.Runner{Symbols: &walk.SymbolSet{Symbols: binaries}}
	defer runner.Symbols.Close()
	dumps := []string{"../../golden/input/walk-sources.core.gz", "../../golden/input/mini-linux.dmp"}
	all := fleet.NewSummary(fleet.DefaultRules())
	err = runner.Run(context.Background(), dumps, func(w *fleet.Walked) error {
		all.Add(w)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	tables := all.Tables()
	for _, crash := range tables.Crashes {
		fmt.Println(crash.Dumps, crash.Signature, crash.Reason)
	}
	fmt.Println(tables.Verdict())
	// Output:
	// 1 @0x110 SIGSEGV / SEGV_MAPERR
	// 1 crash SIGSEGV / SEGV_MAPERR
	// the symbols hold: 12 callers in 2 dumps, none guessed
}

// This example prints the signature of a core, made with custom rules followed by the
// default rules.
func ExampleSignatureMaker() {
	binaries, err := supplier.NewBinaries([]string{"../../golden/input/walk-sources.elf"}, supplier.BinaryOptions{})
	if err != nil {
		log.Fatal(err)
	}
	file, err := dumpfile.Open(context.Background(), "../../golden/input/walk-sources.core.gz", dumpfile.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	sources := &walk.SymbolSet{Symbols: binaries}
	defer sources.Close()
	result, err := walk.NewWalker(sources, walk.Config{}).Walk(context.Background(), file.Dump)
	if err != nil {
		log.Fatal(err)
	}
	own, err := fleet.ParseRules(strings.NewReader("skip crash\nprefix variable"), "own.rules")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(fleet.NewSignatureMaker(fleet.DefaultRules()).Of(result))
	fmt.Println(fleet.NewSignatureMaker(own.Before(fleet.DefaultRules())).Of(result))
	// Output:
	// crash
	// variable | aligned
}
