package summary_test

import (
	"context"
	"fmt"
	"log"

	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/batch"
	"github.com/symtool/symtool/walk/signature"
	"github.com/symtool/symtool/walk/summary"
)

// This example shows what two dumps together reveal.
func ExampleSummary() {
	binaries, err := supplier.NewBinaries([]string{"../../golden/input/walk-sources.elf"}, supplier.BinaryOptions{})
	if err != nil {
		log.Fatal(err)
	}
	runner := &batch.Runner{Sources: &walk.Sources{Symbols: binaries}}
	defer runner.Sources.Close()
	dumps := []string{"../../golden/input/walk-sources.core.gz", "../../golden/input/mini-linux.dmp"}
	all := summary.New(signature.Default())
	err = runner.Run(context.Background(), dumps, func(w *batch.Walked) error {
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
