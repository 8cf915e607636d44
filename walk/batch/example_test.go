package batch_test

import (
	"context"
	"fmt"
	"log"

	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/batch"
)

// This example prints the topmost function of each dump. A dump that cannot be read does not end
// the run.
func ExampleRunner() {
	binaries, err := supplier.NewBinaries([]string{"../../golden/input/walk-sources.elf"}, supplier.BinaryOptions{})
	if err != nil {
		log.Fatal(err)
	}
	runner := &batch.Runner{Sources: &walk.Sources{Symbols: binaries}}
	defer runner.Sources.Close()
	dumps := []string{"../../golden/input/walk-sources.core.gz", "none.dmp"}
	err = runner.Run(context.Background(), dumps, func(w *batch.Walked) error {
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
